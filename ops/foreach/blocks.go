package foreach

import "github.com/gotorch-dev/torch/internal/cpu/vec"

// vectors are the operations that the rules below are written in. dst may be an operand.
type vectors[F float32 | float64] struct {
	div, mul, max  func(dst, a, b []F)
	addScaled      func(dst, a, b []F, s F)    // a + s·b
	addMul, addDiv func(dst, a, b, c []F, s F) // a + s·b·c, a + s·b/c
	lerp           func(dst, a, b []F, w F)    // a + w·(b-a)
	scale, shift   func(dst, a []F, s F)
	sqrt, abs      func(dst, a []F)
}

var (
	vectors32 = &vectors[float32]{div: vec.DivF32, mul: vec.MulF32, max: vec.MaximumF32,
		addScaled: vec.AddScaledF32, addMul: vec.AddcmulF32, addDiv: vec.AddcdivF32, lerp: vec.LerpF32,
		scale: vec.MulScalarF32, shift: vec.AddScalarF32, sqrt: vec.SqrtF32, abs: vec.AbsF32}
	vectors64 = &vectors[float64]{div: vec.DivF64, mul: vec.MulF64, max: vec.MaximumF64,
		addScaled: vec.AddScaledF64, addMul: vec.AddcmulF64, addDiv: vec.AddcdivF64, lerp: vec.LerpF64,
		scale: vec.MulScalarF64, shift: vec.AddScalarF64, sqrt: vec.SqrtF64, abs: vec.AbsF64}
)

// inBlocks updates a run by a rule that is written as vector operations. The run goes through in blocks, so that all
// operations on a block find its arrays in the first-level cache.
func inBlocks[F float32 | float64](v *vectors[F], h *hyper, p, g []F, s *[maxArrays][]F) {
	const size = 1024
	var tmp [3][size]F
	rest := *s
	for len(p) > 0 {
		n := min(len(p), size)
		var part [maxArrays][]F
		for k := range rest {
			if rest[k] != nil {
				part[k], rest[k] = rest[k][:n:n], rest[k][n:]
			}
		}
		x, d := p[:n:n], g[:n:n]
		if h.l2 != 0 {
			d = tmp[0][:n]
			v.addScaled(d, g[:n], x, F(h.l2))
		}
		if h.decay != 1 && h.decay != 0 {
			v.scale(x, x, F(h.decay))
		}
		oneBlock(v, h, x, d, &part, tmp[1][:n], tmp[2][:n])
		p, g = p[n:], g[n:]
	}
}

// oneBlock updates the elements p, whose gradient with weight decay is d, and their state s, in the order of the
// operator's lists. a and b are scratch memory. The formulas stand with the optimizers in package optim.
func oneBlock[F float32 | float64](v *vectors[F], h *hyper, p, d []F, s *[maxArrays][]F, a, b []F) {
	switch h.rule {
	case rmsprop:
		running(v, h, s[0], d)
		next := 1
		if h.momentum > 0 {
			next = 2
		}
		if h.centered {
			v.lerp(s[next], s[next], d, F(h.beta2c))
			v.addMul(a, s[0], s[next], s[next], -1)
			v.sqrt(a, a)
		} else {
			v.sqrt(a, s[0])
		}
		v.shift(a, a, F(h.eps))
		if h.momentum > 0 {
			v.scale(s[1], s[1], F(h.momentum))
			v.addDiv(s[1], s[1], d, a, 1)
			v.addScaled(p, p, s[1], F(-h.lr))
		} else {
			v.addDiv(p, p, d, a, F(-h.lr))
		}
	case adadelta:
		running(v, h, s[0], d)
		v.shift(a, s[0], F(h.eps))
		v.sqrt(a, a)
		v.shift(b, s[1], F(h.eps))
		v.sqrt(b, b)
		v.div(b, b, a)
		v.mul(b, b, d)
		running(v, h, s[1], b)
		v.addScaled(p, p, b, F(-h.lr))
	case adamax:
		v.lerp(s[0], s[0], d, F(h.beta1c))
		v.scale(s[1], s[1], F(h.beta2))
		v.abs(a, d)
		v.shift(a, a, F(h.eps))
		v.max(s[1], s[1], a)
		v.addDiv(p, p, s[0], s[1], F(-h.lr))
	case nadam:
		v.lerp(s[0], s[0], d, F(h.beta1c))
		running(v, h, s[1], d)
		v.scale(a, s[1], F(1/h.corr))
		v.sqrt(a, a)
		v.shift(a, a, F(h.eps))
		v.addDiv(p, p, d, a, F(h.lr))
		v.addDiv(p, p, s[0], a, F(h.step))
	case radam:
		v.lerp(s[0], s[0], d, F(h.beta1c))
		running(v, h, s[1], d)
		if h.rectified {
			v.sqrt(a, s[1])
			v.shift(a, a, F(h.eps))
			v.addDiv(p, p, s[0], a, F(-h.lr))
		} else {
			v.addScaled(p, p, s[0], F(-h.lr))
		}
	case asgd:
		v.addScaled(p, p, d, F(-h.lr))
		v.lerp(s[0], s[0], p, F(h.momentum))
		if h.momentum == 1 {
			copy(s[0], p)
		}
	case rprop:
		resilient(h, p, d, s[0], s[1])
	}
}

// running updates a running average of squares.
func running[F float32 | float64](v *vectors[F], h *hyper, avg, d []F) {
	v.scale(avg, avg, F(h.beta2))
	v.addMul(avg, avg, d, d, F(h.beta2c))
}

// resilient takes a step of resilient backpropagation: the sizes of steps grow where the gradient keeps its sign, and
// shrink where it turns; there the parameter stays and the gradient counts as 0 next time.
func resilient[F float32 | float64](h *hyper, p, d, prev, size []F) {
	minus, plus, least, most := F(h.beta1c), F(h.beta2), F(h.damp), F(h.corr)
	prev, size, d = prev[:len(p)], size[:len(p)], d[:len(p)]
	for i, g := range d {
		turn := g * prev[i]
		switch {
		case turn > 0:
			size[i] *= plus
		case turn < 0:
			size[i] *= minus
			g = 0
		}
		size[i] = min(max(size[i], least), most)
		switch {
		case g > 0:
			p[i] -= size[i]
		case g < 0:
			p[i] += size[i]
		case g != g: // the sign of NaN is NaN
			p[i] = g
		}
		prev[i] = g
	}
}
