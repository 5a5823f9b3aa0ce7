package norm

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/tensor"
)

var (
	opGroupNorm    = tensor.Slot("aten::group_norm")
	opInstanceNorm = tensor.Slot("aten::instance_norm")
	opGroup        = tensor.Slot("aten::native_group_norm")
)

// groups is the shape of a group norm: p.n images of g groups of cg channels.
type groups struct {
	p     planes
	g, cg int
}

// channelAffine sets what normalises the channels of a group with the given statistics, from channel first on:
// (x-center)*scale + shift. The center is 0, and the result false, unless the mean is so large, beside the deviations
// from it, that x*scale would lose them.
func channelAffine[E float](w, b []E, first int, mean, rstd float64, center, scale, shift []E) (centered bool) {
	var mid E
	if math.Abs(mean)*rstd > 16 {
		mid = E(mean)
	}
	off := float64(mid) - mean
	for c := range center {
		center[c], scale[c] = mid, E(rstd)
	}
	if w != nil {
		for c, v := range w[first:][:len(scale)] {
			scale[c] = E(rstd * float64(v))
		}
	}
	if b == nil {
		for c := range shift {
			shift[c] = E(off * float64(scale[c]))
		}
	} else {
		for c, v := range b[first:][:len(shift)] {
			shift[c] = E(off*float64(scale[c]) + float64(v))
		}
	}
	return mid != 0
}

// channelsPerBlock is the number of channels of a plane each that are taken at once: as many as one block holds, a
// single one if it is longer than the call.
func (p planes) channelsPerBlock() int {
	if p.l > 512 || p.l == 0 {
		return 1
	}
	return statBlock / p.l
}

func groupForward[E float](d groups, out, x field[E], w, b, mean, rstd []E, eps float64) {
	p := d.p
	note := func(r int, m moments) (mu, rs float64) {
		mu, rs = m.mean, 1/math.Sqrt(m.m2/m.n+eps)
		mean[r], rstd[r] = E(mu), E(rs)
		return
	}
	if !p.last {
		size := d.cg * p.l
		par.For(p.n*d.g, max(1, 16*1024/max(1, size)), func(lo, hi int) {
			buf := half.Borrow[E](statBlock + 3*(hi-lo)*d.cg)
			defer half.Return(buf)
			tmp, nums := (*buf)[:statBlock], (*buf)[statBlock:]
			center, scale, shift := nums[:(hi-lo)*d.cg], nums[(hi-lo)*d.cg:], nums[2*(hi-lo)*d.cg:]
			centered := false
			for r, k := lo, 0; r < hi; r++ {
				var m moments
				pieces(r*size, r*size+size, func(i, n int) { addMoments(&m, x.load(i, tmp[:n])) })
				mu, rs := note(r, m)
				to := k + d.cg
				centered = channelAffine(w, b, r%d.g*d.cg, mu, rs, center[k:to], scale[k:to], shift[k:to]) || centered
				k = to
			}
			some := p.channelsPerBlock()
			for k := 0; k < len(center); k += some {
				n := min(some, len(center)-k)
				at := (lo*d.cg + k) * p.l
				if some > 1 && !centered {
					v := x.load(at, tmp[:n*p.l])
					o := out.place(at, tmp[:n*p.l])
					scaleShiftLines(o, v, p.l, scale[k:][:n], shift[k:])
					out.store(at, o)
					continue
				}
				for j := k; j < k+n; j++ {
					at := (lo*d.cg + j) * p.l
					pieces(at, at+p.l, func(i, n int) {
						o, v := out.place(i, tmp[:n]), x.load(i, tmp[:n])
						if center[j] != 0 {
							addNumber(o, v, -center[j])
							v = o
						}
						scaleShift(o, v, scale[j], shift[j], false)
						out.store(i, o)
					})
				}
			}
		})
		return
	}
	one := planes{1, p.c, p.l, true}
	grain := max(1, 16*1024/max(1, p.c*p.l))
	if p.l <= blockRows(p.c) {
		par.For(p.n, grain, func(lo, hi int) {
			rows := borrowRows[E](one)
			defer rows.free()
			wide, scale, shift := rows.wide[0], rows.wide[1], rows.wide[2]
			means, size := make([]float64, d.g), float64(d.cg*p.l)
			for i := lo; i < hi; i++ {
				xi := x.from(i * p.c * p.l)
				sums := rows.sums(xi, func(acc, v []E) { add(acc, v) })
				for r := range means {
					means[r] = total(sums[r*d.cg:][:d.cg]) / size
					fill(wide[r*d.cg:][:d.cg], E(means[r]))
				}
				rows.repeat(wide)
				sums = rows.sums(xi, func(acc, v []E) { addSquares(acc, v, wide[:len(v)]) })
				centered := false
				for r, mean := range means {
					m := moments{size, mean, total(sums[r*d.cg:][:d.cg])}
					if mean*mean*size > 256*m.m2 { // hardly varies, see addMoments
						m = moments{}
						for j := range p.l {
							addMoments(&m, xi.load(j*p.c+r*d.cg, rows.tmp[0][:d.cg]))
						}
					}
					mu, rs := note(i*d.g+r, m)
					c, to := r*d.cg, (r+1)*d.cg
					centered = channelAffine(w, b, c, mu, rs, wide[c:to], scale[c:to], shift[c:to]) || centered
				}
				rows.repeat(wide, scale, shift)
				rows.each(func(at, n int) {
					at += i * p.c * p.l
					o, v := out.place(at, rows.tmp[0][:n]), x.load(at, rows.tmp[0][:n])
					if centered {
						sub(o, v, wide[:n])
						v = o
					}
					mulAdd(o, v, scale[:n], shift[:n], false)
					out.store(at, o)
				})
			}
		})
		return
	}
	par.For(p.n, grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			xi, oi := x.from(i*p.c*p.l), out.from(i*p.c*p.l)
			ms := rowMoments(one, xi)
			center, scale, shift := make([]E, p.c), make([]E, p.c), make([]E, p.c)
			centered := false
			for g := range d.g {
				var m moments
				for _, mc := range ms[g*d.cg:][:d.cg] {
					m.merge(mc)
				}
				mu, rs := note(i*d.g+g, m)
				c, to := g*d.cg, (g+1)*d.cg
				centered = channelAffine(w, b, c, mu, rs, center[c:to], scale[c:to], shift[c:to]) || centered
			}
			if !centered {
				center = nil
			}
			rowAffine(one, oi, xi, center, scale, shift)
		}
	})
}

// groupBackward gives the gradients of input and parameters; nil ones are not wanted.
func groupBackward[E float](d groups, gx field[E], gw, gb []E, g, x field[E], w, mean, rstd []E) {
	p := d.p
	c := p.c
	s0, s1 := make([]float64, p.n*c), make([]float64, p.n*c) // sums of g and of g*(x-mean) per image and channel
	one := planes{1, c, p.l, true}
	short := p.last && p.l <= blockRows(c)
	switch {
	case short: // with the gradient of the input, below
	case !p.last:
		par.For(p.n*c, max(1, 16*1024/max(1, p.l)), func(lo, hi int) {
			some := p.channelsPerBlock()
			buf := half.Borrow[E](2*statBlock + 3*some)
			defer half.Return(buf)
			if some > 1 {
				t0, t1, mu := (*buf)[2*statBlock:][:some], (*buf)[2*statBlock+some:], (*buf)[2*statBlock+2*some:]
				for r := lo; r < hi; r += some {
					n := min(some, hi-r)
					for j := range n {
						mu[j] = mean[(r+j)/d.cg]
					}
					vec.GradSumsRows(t0[:n], t1[:n], g.load(r*p.l, (*buf)[:n*p.l]),
						x.load(r*p.l, (*buf)[statBlock:][:n*p.l]), p.l, mu[:n])
					for j := range n {
						s0[r+j], s1[r+j] = float64(t0[j]), float64(t1[j])
					}
				}
				return
			}
			for r := lo; r < hi; r++ {
				pieces(r*p.l, r*p.l+p.l, func(i, n int) {
					a, b := gradSums(g.load(i, (*buf)[:n]), x.load(i, (*buf)[statBlock:][:n]), mean[r/d.cg])
					s0[r] += a
					s1[r] += b
				})
			}
		})
	default:
		par.For(p.n, max(1, 16*1024/max(1, c*p.l)), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				mu := make([]E, c)
				for j := range mu {
					mu[j] = mean[i*d.g+j/d.cg]
				}
				a, b := rowGradSums(one, g.from(i*c*p.l), x.from(i*c*p.l), mu)
				copy(s0[i*c:], a)
				copy(s1[i*c:], b)
			}
		})
	}
	// coefficients gives those of gx = kg*g + kx*x + k0 for the channels of run r
	coefficients := func(r int, kg []E) (kx, k0 E) {
		mu, rs := float64(mean[r]), float64(rstd[r])
		s, t := 0.0, 0.0
		for k := range d.cg {
			v := 1.0
			if w != nil {
				v = float64(w[r%d.g*d.cg+k])
			}
			s += v * s0[r*d.cg+k]
			t += v * s1[r*d.cg+k]
			kg[k] = E(v * rs)
		}
		size := float64(d.cg * p.l)
		x := -rs * rs * rs * t / size
		return E(x), E(-rs*s/size - x*mu)
	}
	switch {
	case short:
		par.For(p.n, max(1, 16*1024/max(1, c*p.l)), func(lo, hi int) {
			rows := borrowRows[E](one)
			defer rows.free()
			kg, kx, k0 := rows.wide[0], rows.wide[1], rows.wide[2]
			for i := lo; i < hi; i++ {
				gi, xi := g.from(i*c*p.l), x.from(i*c*p.l)
				for r, mu := range mean[i*d.g:][:d.g] {
					fill(kx[r*d.cg:][:d.cg], mu)
				}
				rows.repeat(kx)
				for ch, v := range rows.sums(gi, func(acc, v []E) { add(acc, v) }) {
					s0[i*c+ch] = float64(v)
				}
				at := 0
				for ch, v := range rows.sums(gi, func(acc, v []E) {
					addCentered(acc, v, xi.load(at, rows.tmp[1][:len(v)]), kx[:len(v)])
					at += len(v)
				}) {
					s1[i*c+ch] = float64(v)
				}
				if !gx.given() {
					continue
				}
				for r := range d.g {
					x, z := coefficients(i*d.g+r, kg[r*d.cg:][:d.cg])
					fill(kx[r*d.cg:][:d.cg], x)
					fill(k0[r*d.cg:][:d.cg], z)
				}
				rows.repeat(kg, kx, k0)
				rows.each(func(at, n int) {
					o := gx.place(i*c*p.l+at, rows.tmp[0][:n])
					combineColumns(o, gi.load(at, rows.tmp[0][:n]), xi.load(at, rows.tmp[1][:n]), kg[:n], kx[:n],
						k0[:n], false)
					gx.store(i*c*p.l+at, o)
				})
			}
		})
	case !gx.given():
	case !p.last:
		par.For(p.n*d.g, max(1, 16*1024/max(1, d.cg*p.l)), func(lo, hi int) {
			lines := (hi - lo) * d.cg
			buf := half.Borrow[E](2*statBlock + 3*lines)
			defer half.Return(buf)
			tg, tx, nums := (*buf)[:statBlock], (*buf)[statBlock:][:statBlock], (*buf)[2*statBlock:]
			kg, kx, k0 := nums[:lines], nums[lines:], nums[2*lines:]
			for r := lo; r < hi; r++ {
				k := (r - lo) * d.cg
				x, z := coefficients(r, kg[k:])
				fill(kx[k:][:d.cg], x)
				fill(k0[k:][:d.cg], z)
			}
			some := p.channelsPerBlock()
			for k := 0; k < lines; k += some {
				n := min(some, lines-k)
				at := (lo*d.cg + k) * p.l
				if some > 1 {
					o := gx.place(at, tg[:n*p.l])
					combineLines(o, g.load(at, tg[:n*p.l]), x.load(at, tx[:n*p.l]), p.l, kg[k:][:n], kx[k:], k0[k:])
					gx.store(at, o)
					continue
				}
				pieces(at, at+p.l, func(i, n int) {
					o := gx.place(i, tg[:n])
					combine(o, g.load(i, tg[:n]), x.load(i, tx[:n]), kg[k], kx[k], k0[k], false)
					gx.store(i, o)
				})
			}
		})
	default:
		par.For(p.n, max(1, 16*1024/max(1, c*p.l)), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				kg, kx, k0 := make([]E, c), make([]E, c), make([]E, c)
				for r := range d.g {
					x, z := coefficients(i*d.g+r, kg[r*d.cg:][:d.cg])
					fill(kx[r*d.cg:][:d.cg], x)
					fill(k0[r*d.cg:][:d.cg], z)
				}
				at := i * c * p.l
				rowCombine(one, gx.from(at), g.from(at), x.from(at), kg, kx, k0)
			}
		})
	}
	if p.n == 0 || gw == nil && gb == nil {
		clear(gw)
		clear(gb)
		return
	}
	for r, rs := range rstd {
		for ch := r * d.cg; ch < (r+1)*d.cg; ch++ {
			s1[ch] *= float64(rs)
		}
	}
	for i := 1; i < p.n; i++ {
		for ch := range c {
			s0[ch] += s0[i*c+ch]
			s1[ch] += s1[i*c+ch]
		}
	}
	for ch := range gw {
		gw[ch] = E(s1[ch])
	}
	for ch := range gb {
		gb[ch] = E(s0[ch])
	}
}

// rowGrad is the input gradient of a normalisation over axes, in plain operators so that it can be differentiated
// again: x and the gradient g (already times the weight) have the shape in which axes are the normalised dimensions.
func rowGrad(x, g *T, axes []int, eps float64) (gx, xh *T) {
	n := 1
	for _, a := range axes {
		n *= x.Size(a)
	}
	avg := func(t *T) *T {
		return t.SumDim(axes, tensor.SumDimOptions{KeepDim: true}).MulScalar(1 / float64(n))
	}
	d := x.Add(avg(x).MulScalar(-1))
	rs := call(opRsqrt, avg(d.Mul(d)).AddScalar(eps))[0]
	xh = d.Mul(rs)
	gx = rs.Mul(g.Add(avg(g).MulScalar(-1)).Add(xh.Mul(avg(g.Mul(xh))).MulScalar(-1)))
	return gx, xh
}

func init() {
	back := tensor.Slot("aten::native_group_norm_backward")
	tensor.Register(tensor.Def{
		Schema: "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group, float eps) -> (Tensor, Tensor, Tensor)",
		Doc: "normalises groups of channels; the results are the output, and the mean and inverse standard " +
			"deviation of each image and group.",
		AMP: tensor.AMPFP32,
		Infer: func(c *Ctx) {
			x := c.T(0)
			n, ch, group := c.Int(3), c.Int(4), c.Int(6)
			if group <= 0 {
				c.Fail(tensor.ErrValue, "Expected num groups to be greater than 0, got %d", group)
			}
			if ch%group != 0 {
				c.Fail(tensor.ErrShape, "Expected number of channels in input to be divisible by num_groups, but got "+
					"input of shape %s and num_groups=%d", tensor.ShapeString(x.Shape()), group)
			}
			if x.Numel() != n*ch*c.Int(5) {
				c.Fail(tensor.ErrShape, "native_group_norm(): input of shape %s does not hold N*C*HxW = %d elements",
					tensor.ShapeString(x.Shape()), n*ch*c.Int(5))
			}
			checkMixed(c, x, c.T(1), c.T(2))
			for i, name := range []string{"weight", "bias"} {
				if p := c.T(1 + i); p != nil && (p.Dim() != 1 || p.Numel() != ch) {
					c.Fail(tensor.ErrShape,
						"Expected %s to be a vector of size equal to the number of channels in input, but got %s of "+
							"shape %s and input of shape %s", name, name, tensor.ShapeString(p.Shape()),
						tensor.ShapeString(x.Shape()))
				}
			}
			if !x.DType().IsFloat() {
				c.FailDType(tensor.ErrDType, "GroupNormKernelImpl", x.DType())
			}
			c.AllocStrided(0, x.Shape(), tensor.FormatStrides(x.Shape(), x.SuggestFormat()), x.DType())
			st := x.DType()
			if c.Device().Type != tensor.MetaDevice { // as on a GPU, where parameters do not count
				st = statType(st, c.T(1), c.T(2))
			}
			c.Alloc(1, []int{n, group}, st)
			c.Alloc(2, []int{n, group}, st)
		},
		CPU: func(c *Ctx) {
			if c.T(0).DType() == tensor.Float64 {
				groupRun[float64](c)
			} else {
				groupRun[float32](c)
			}
		},
		Save: "input weight result1 result2",
		VJP: func(c *Ctx, g *T) []*T {
			r := make([]*T, 3)
			x, w := c.T(0), c.T(1)
			n, ch, l, group := c.Int(3), c.Int(4), c.Int(5), c.Int(6)
			mask := []bool{c.Needs(0), c.Has(1) && c.Needs(1), c.Has(2) && c.Needs(2)}
			if !tensor.IsGradEnabled() && c.G(1) == nil && c.G(2) == nil {
				q := call(back, g, x, c.Out(1), c.Out(2), w, n, ch, l, group, mask)
				for i := range q {
					if mask[i] {
						r[i] = q[i]
					}
				}
				return r
			}
			x4, g4 := x.Reshape([]int{n, group, ch / group, l}), g.Reshape([]int{n, group, ch / group, l})
			gw := g4
			if w != nil {
				gw = g4.Mul(w.Reshape([]int{1, group, ch / group, 1}))
			}
			gx, xh := rowGrad(x4, gw, []int{2, 3}, c.Float(7))
			size := float64(ch / group * l)
			per := []int{n, group, 1, 1}
			if m := c.G(1); m != nil { // mean
				gx = gx.Add(m.Reshape(per).MulScalar(1 / size))
			}
			if v := c.G(2); v != nil { // rstd: its derivative is -rstd²·xh/size
				rs := c.Out(2).Reshape(per)
				gx = gx.Add(v.Reshape(per).Mul(rs).Mul(rs).Mul(xh).MulScalar(-1 / size))
			}
			r[0] = gx.Reshape(x.Shape())
			if mask[1] {
				r[1] = g4.Mul(xh).SumDim([]int{0, 3}).Reshape(c.Shape(1))
			}
			if mask[2] {
				r[2] = g4.SumDim([]int{0, 3}).Reshape(c.Shape(2))
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema: "native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, SymInt N, SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
		Doc: "are the gradients of group norm's input, weight and bias; output_mask says which are wanted, the " +
			"others come back empty.",
		NoGrad: "group_norm is differentiated twice through plain operators",
		Infer: func(c *Ctx) {
			checkGroupBackward(c)
			mask := c.Bools(9)
			dt := c.ArgDType(1)
			if w := c.T(4); w != nil {
				dt = w.DType()
			}
			for i, sh := range [][]int{c.Shape(1), {c.Int(6)}, {c.Int(6)}} {
				d := dt
				if i == 0 {
					d = c.ArgDType(1)
				}
				switch {
				case !mask[i]:
					c.Alloc(i, []int{0}, d)
				case i == 0:
					c.AllocStrided(0, sh, tensor.FormatStrides(sh, c.T(1).SuggestFormat()), d)
				default:
					c.Alloc(i, sh, d)
				}
			}
		},
		CPU: func(c *Ctx) {
			if c.T(1).DType() == tensor.Float64 {
				groupBackwardRun[float64](c)
			} else {
				groupBackwardRun[float32](c)
			}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1.0000000000000001e-05, bool cudnn_enabled=True) -> Tensor",
		Doc: "normalises num_groups groups of the channels of an input [n, c, ...]; weight and bias have an " +
			"element for each channel." + site + "group_norm.html",
		Go:   "-",
		Body: groupBody,
	})
	tensor.Register(tensor.Def{
		Schema: "F::group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> Tensor",
		Doc: "normalises num_groups groups of the channels of an input [n, c, ...], then scales and shifts by " +
			"channel." + site + "group_norm.html",
		Body: func(c *Ctx) {
			if x, n := c.T(0), c.Int(1); x.Dim() >= 2 && x.Numel() == n && x.Size(0)*x.Size(1) == n {
				c.Fail(tensor.ErrShape, "Expected more than 1 value per channel when training, got input size %s in "+
					"%d groups", tensor.ShapeString(x.Shape()), n)
			}
			c.Return(call(opGroupNorm, c.T(0), c.Int(1), c.T(2), c.T(3), c.Float(4), true)[0])
		},
	})
	instance := func(c *Ctx, x, rm, rv, w, b *T, stats bool, momentum, eps float64) *T {
		if x.Dim() < 2 {
			c.Fail(tensor.ErrShape, "instance_norm(): expected an input of at least 2 dimensions, got shape %s",
				tensor.ShapeString(x.Shape()))
		}
		if !stats && (rm == nil || rv == nil) {
			c.Fail(tensor.ErrValue, "Expected running_mean and running_var to be defined when use_input_stats is false")
		}
		// every image's channels are channels of one image, which needs their planes in memory
		x = x.Contiguous()
		n, ch := x.Size(0), x.Size(1)
		for i, t := range []*T{w, b, rm, rv} {
			if t != nil && (t.Dim() > 1 || t.Numel() != ch || t.Dim() == 0) {
				c.Fail(tensor.ErrShape, "%s should contain %d elements not %d",
					[...]string{"weight", "bias", "running_mean", "running_var"}[i], n*ch, n*t.Numel())
			}
		}
		// weights of all images are views where one image needs no copy; running statistics are copies, which
		// batch_norm writes to
		rep := func(t *T) *T {
			if t == nil {
				return nil
			}
			return t.Expand([]int{n, ch}).Reshape([]int{n * ch})
		}
		own := func(t *T) *T {
			if t == nil {
				return nil
			}
			return t.Repeat([]int{n})
		}
		rm2, rv2 := own(rm), own(rv)
		y := call(opBatchNorm, x.Reshape(append([]int{1, n * ch}, x.Shape()[2:]...)), rep(w), rep(b), rm2, rv2, stats,
			momentum, eps, true)[0]
		if stats && n > 0 {
			back := func(t, t2 *T) {
				if t != nil {
					t.CopyInPlace(t2.View([]int{n, ch}).MeanDim([]int{0}))
				}
			}
			back(rm, rm2)
			back(rv, rv2)
		}
		return y.Reshape(x.Shape())
	}
	tensor.Register(tensor.Def{
		Schema: "instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor",
		Doc: "normalises each channel of each image, as batch_norm of one image with all their channels." + site +
			"instance_norm.html",
		Go: "-",
		Body: func(c *Ctx) {
			c.Return(instance(c, c.T(0), c.T(3), c.T(4), c.T(1), c.T(2), c.Bool(5), c.Float(6), c.Float(7)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "F::instance_norm(Tensor input, Tensor? running_mean=None, Tensor? running_var=None, Tensor? weight=None, Tensor? bias=None, bool use_input_stats=True, float momentum=0.1, float eps=1e-05) -> Tensor",
		Doc: "normalises each channel of each image of an input [n, c, ...] and moves the running statistics, " +
			"where given, towards the mean of the images'." + site + "instance_norm.html",
		Body: func(c *Ctx) {
			x := c.T(0)
			if c.Bool(5) && x.Dim() >= 2 {
				l := 1
				for _, s := range x.Shape()[2:] {
					l *= s
				}
				if l == 1 {
					c.Fail(tensor.ErrShape,
						"Expected more than 1 spatial element when training, got input size torch.Size(%s)",
						tensor.ShapeString(x.Shape()))
				}
			}
			c.Return(call(opInstanceNorm, x, c.T(3), c.T(4), c.T(1), c.T(2), c.Bool(5), c.Float(6), c.Float(7),
				true)[0])
		},
	})
}

func groupBody(c *Ctx) {
	x := c.T(0)
	if x.Dim() < 2 {
		c.Fail(tensor.ErrShape, "Expected at least 2 dimensions for input tensor but received %d", x.Dim())
	}
	n, ch, l := x.Size(0), x.Size(1), 1
	for _, s := range x.Shape()[2:] {
		l *= s
	}
	if g := c.Int(1); g > 0 && ch%g != 0 {
		c.Fail(tensor.ErrShape, "Expected number of channels in input to be divisible by num_groups, but got input "+
			"of shape %s and num_groups=%d", tensor.ShapeString(x.Shape()), g)
	}
	if ch <= 0 {
		c.Fail(tensor.ErrShape, "Expected number of channels to be greater than 0, got %d", ch)
	}
	if l <= 0 {
		c.Fail(tensor.ErrShape, "Expected HxW to be greater than 0, got %d", l)
	}
	c.Return(call(opGroup, x, c.T(2), c.T(3), n, ch, l, c.Int(1), c.Float(4))[0])
}

func groupRun[E float](c *Ctx) {
	x := c.T(0)
	n, ch, l, group := c.Int(3), c.Int(4), c.Int(5), c.Int(6)
	if n == 0 {
		return
	}
	d, f := groupsOf(x, n, ch, l, group)
	intoField(c.Out(0), f, func(out field[E]) {
		into(c.Out(1), false, func(mean []E) {
			into(c.Out(2), false, func(rstd []E) {
				groupForward(d, out, fieldIn[E](x, f), dense[E](c.T(1)), dense[E](c.T(2)), mean, rstd, c.Float(7))
			})
		})
	})
}

// groupsOf is the shape of a group norm of x and the memory format in which it is processed.
func groupsOf(x *T, n, ch, l, group int) (groups, tensor.MemoryFormat) {
	f := x.SuggestFormat()
	return groups{planes{n, ch, l, f != tensor.ContiguousFormat}, group, ch / group}, f
}

// checkGroupBackward refuses sizes that do not fit the input, which the kernel would count by.
func checkGroupBackward(c *Ctx) {
	n, ch, l, group := c.Int(5), c.Int(6), c.Int(7), c.Int(8)
	if group <= 0 || ch < 0 || ch%group != 0 || c.T(1).Numel() != n*ch*l {
		c.Fail(tensor.ErrShape, "native_group_norm_backward: N=%d, C=%d, HxW=%d and %d groups do not fit an input of "+
			"shape %s", n, ch, l, group, tensor.ShapeString(c.Shape(1)))
	}
	want := [...]int{0: c.T(1).Numel(), 2: n * group, 3: n * group, 4: ch}
	for i, k := range want {
		if p := c.T(i); i != 1 && p != nil && p.Numel() != k {
			c.Fail(tensor.ErrShape, "native_group_norm_backward: %s of shape %s must have %d elements",
				c.Op().Sch.Params[i].Name, tensor.ShapeString(p.Shape()), k)
		}
	}
}

func groupBackwardRun[E float](c *Ctx) {
	outs := gradientsWanted(c, c.Bools(9))
	n, ch, l, group := c.Int(5), c.Int(6), c.Int(7), c.Int(8)
	if c.T(1).Numel() == 0 {
		clearAll(outs[:])
		return
	}
	d, f := groupsOf(c.T(1), n, ch, l, group)
	intoField(outs[0], f, func(gx field[E]) {
		into(outs[1], false, func(gw []E) {
			into(outs[2], false, func(gb []E) {
				groupBackward(d, gx, gw, gb, fieldIn[E](c.T(0), f), fieldIn[E](c.T(1), f), dense[E](c.T(4)),
					dense[E](c.T(2)), dense[E](c.T(3)))
			})
		})
	})
}

// last lists the last n of nd dimensions.
func last(nd, n int) []int {
	var l []int
	for i := max(0, nd-n); i < nd; i++ {
		l = append(l, i)
	}
	return slices.Clip(l)
}
