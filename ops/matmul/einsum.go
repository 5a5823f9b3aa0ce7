package matmul

import (
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

const ellipsis = -1 // marks the place of "..." among labels

// labels reads one operand's or the output's subscripts; the place of an ellipsis is marked.
func labels(c *Ctx, eq string, from, to int, what string) []int {
	var out []int
	seen := false
	for i := from; i < to; i++ {
		ch := eq[i]
		switch {
		case ch == ' ':
		case ch >= 'A' && ch <= 'Z':
			out = append(out, int(ch-'A'))
		case ch >= 'a' && ch <= 'z':
			out = append(out, int(ch-'a')+26)
		case ch == '.':
			if seen || i+2 >= to || eq[i+1] != '.' || eq[i+2] != '.' {
				if seen && i+2 < to && eq[i+1] == '.' && eq[i+2] == '.' {
					c.Fail(tensor.ErrValue, "einsum(): found '.' for %s for which an ellipsis was already found", what)
				}
				c.Fail(tensor.ErrValue, "einsum(): found '.' for %s that is not part of any ellipsis", what)
			}
			seen = true
			out = append(out, ellipsis)
			i += 2
		default:
			c.Fail(tensor.ErrValue, "einsum(): invalid subscript given at index %d in the equation string, "+
				"subscripts must be in [a-zA-Z]", i)
		}
	}
	return out
}

func labelName(l int) string {
	if l < 26 {
		return string(rune('A' + l))
	}
	return string(rune('a' + l - 26))
}

// diagonals takes the diagonals of operand i that its repeated labels ask for; its labels are then different.
func diagonals(c *Ctx, i int, t *T, sub []int) (*T, []int) {
	for b := 1; b < len(sub); b++ {
		a := slices.Index(sub, sub[b])
		if a == b {
			continue
		}
		l, dim := sub[b], func(at int) int { // labels behind the ellipsis count from the end
			if e := slices.Index(sub, ellipsis); e >= 0 && e < at {
				return t.Dim() - len(sub) + at
			}
			return at
		}
		da, db := dim(a), dim(b)
		if t.Size(da) != t.Size(db) {
			c.Fail(tensor.ErrShape, "einsum(): subscript %s is repeated for operand %d but the sizes don't match, %d "+
				"!= %d", labelName(l), i, t.Size(db), t.Size(da))
		}
		t = t.Diagonal(tensor.DiagonalOptions{Dim1: da, Dim2: tensor.Some(db)})
		sub = slices.Concat(sub[:a], sub[a+1:b], sub[b+1:], []int{l})
		b = 0 // the others have moved
	}
	return t, sub
}

// einsum is torch.einsum: operands are brought to one order of labels and contracted pair by pair from the left, or
// along path.
func einsum(c *Ctx, eq string, ops []*T, path []int) *T {
	if len(ops) == 0 {
		c.Fail(tensor.ErrValue, "einsum(): must provide at least one operand")
	}
	arrow := -1
	for i := 0; i+1 < len(eq); i++ {
		if eq[i] == '-' && eq[i+1] == '>' {
			arrow = i
			break
		}
	}
	end := len(eq)
	if arrow >= 0 {
		end = arrow
	}
	var subs [][]int
	for from, i := 0, 0; i <= end; i++ {
		if i == end || eq[i] == ',' {
			if len(subs) >= len(ops) {
				c.Fail(tensor.ErrValue, "einsum(): fewer operands were provided than specified in the equation")
			}
			subs = append(subs, labels(c, eq, from, i, "operand "+dims([]int{len(subs)})))
			from = i + 1
		}
	}
	if len(subs) < len(ops) {
		c.Fail(tensor.ErrValue, "einsum(): more operands were provided than specified in the equation")
	}
	// sizes of the dimensions that ellipses stand for
	const total = 52
	count := make([]int, total)
	ell, hasEll := 0, false
	for i, s := range subs {
		n, e := 0, false
		for _, l := range s {
			if l == ellipsis {
				e = true
			} else {
				n++
				count[l]++
			}
		}
		nd := ops[i].Dim()
		if e {
			hasEll = true
			if n > nd {
				c.Fail(tensor.ErrShape, "einsum(): the number of subscripts in the equation (%d) is more than the "+
					"number of dimensions (%d) for operand %d", n, nd, i)
			}
			ell = max(ell, nd-n)
		} else if n != nd {
			c.Fail(tensor.ErrShape, "einsum(): the number of subscripts in the equation (%d) does not match the "+
				"number of dimensions (%d) for operand %d and no ellipsis was given", n, nd, i)
		}
	}
	// order of dimensions: output, then the summed ones; label total+k is dimension k of the ellipsis
	at := make([]int, total+ell)
	for i := range at {
		at[i] = -1
	}
	nout, ellAt := 0, -1
	place := func(l int) {
		at[l] = nout
		nout++
	}
	if arrow < 0 {
		if hasEll {
			ellAt = 0
			for k := range ell {
				place(total + k)
			}
		}
		for l := range total {
			if count[l] == 1 {
				place(l)
			}
		}
	} else {
		for _, l := range labels(c, eq, arrow+2, len(eq), "the output") {
			if l == ellipsis {
				ellAt = nout
				for k := range ell {
					place(total + k)
				}
				continue
			}
			if at[l] >= 0 {
				c.Fail(tensor.ErrValue, "einsum(): output subscript %s appears more than once in the output",
					labelName(l))
			}
			if count[l] == 0 {
				c.Fail(tensor.ErrValue, "einsum(): output subscript %s does not appear in the equation for any input "+
					"operand", labelName(l))
			}
			place(l)
		}
	}
	nd := nout
	for k := range ell {
		if ellAt < 0 {
			at[total+k] = nd
			nd++
		}
	}
	for l := range total {
		if count[l] > 0 && at[l] < 0 {
			at[l] = nd
			nd++
		}
	}
	// every operand as an nd-dimensional tensor, missing dimensions of size 1
	size := slices.Repeat([]int{1}, nd)
	xs := make([]*T, len(ops))
	for i, t := range ops {
		t, subs[i] = diagonals(c, i, t, subs[i])
		sh := slices.Repeat([]int{1}, nd)
		own := 0
		for _, l := range subs[i] {
			if l != ellipsis {
				own++
			}
		}
		d := 0
		take := func(l int) {
			p := at[l]
			sh[p] = t.Size(d)
			if s := sh[p]; s != 1 {
				if size[p] != 1 && size[p] != s {
					c.Fail(tensor.ErrShape,
						"einsum(): subscript %s has size %d for operand %d which does not broadcast with previously "+
							"seen size %d", map[bool]string{true: "...", false: labelName(l % total)}[l >= total], s, i,
						size[p])
				}
				size[p] = s
			}
			d++
		}
		for _, l := range subs[i] {
			if l == ellipsis {
				n := t.Dim() - own
				for k := range n {
					take(total + ell - n + k)
				}
				continue
			}
			take(l)
		}
		perm := make([]int, 0, t.Dim())
		for p := range nd {
			d := 0
			for _, l := range subs[i] {
				n := 1
				first := l
				if l == ellipsis {
					n = t.Dim() - own
					first = total + ell - n
				}
				for k := range n {
					if at[first+k] == p {
						perm = append(perm, d)
					}
					d++
				}
			}
		}
		xs[i] = t.Permute(perm).Reshape(sh)
	}
	// contract; a label is summed as soon as no later operand has it
	last := make([]int, nd)
	for p := range nd {
		for i := range xs {
			if xs[i].Size(p) != 1 {
				last[p] = i
			}
		}
	}
	sumOver := func(x *T, ds []int) *T {
		if len(ds) == 0 {
			return x
		}
		return x.SumDim(ds, tensor.SumDimOptions{KeepDim: true}) // to which integers widen
	}
	if path != nil {
		xs = contractPath(c, xs, path, nout, nd, sumOver)
	} else {
		x := xs[0]
		var now []int
		for p := nout; p < nd; p++ {
			if last[p] == 0 && (len(xs) == 1 || x.Size(p) != 1) {
				now = append(now, p)
			}
		}
		x = sumOver(x, now)
		for i := 1; i < len(xs); i++ {
			var ds []int
			for p := nout; p < nd; p++ {
				if last[p] == i {
					ds = append(ds, p)
				}
			}
			x = pair(x, xs[i], ds, sumOver)
		}
		xs = []*T{x}
	}
	return xs[0].Reshape(xs[0].Shape()[:nout])
}

// contractPath contracts the pairs that path names; each result goes to the end of the list.
func contractPath(c *Ctx, xs []*T, path []int, nout, nd int, sumOver func(*T, []int) *T) []*T {
	if len(path) != 2*(len(xs)-1) {
		c.Fail(tensor.ErrValue, "einsum(): expected contraction path given in path parameter to have size %d but got %d", 2*(len(xs)-1), len(path))
	}
	xs = slices.Clone(xs)
	for k := 0; k < len(path); k += 2 {
		i, j := path[k], path[k+1]
		if i < 0 || j < 0 || i >= len(xs) || j >= len(xs) || i == j {
			c.Fail(tensor.ErrValue, "einsum(): invalid contraction path")
		}
		a, b := xs[i], xs[j]
		if i < j {
			i, j = j, i
		}
		xs = slices.Delete(xs, i, i+1)
		xs = slices.Delete(xs, j, j+1)
		var ds []int
		for p := nout; p < nd; p++ {
			if !slices.ContainsFunc(xs, func(t *T) bool { return t.Size(p) != 1 }) {
				ds = append(ds, p)
			}
		}
		xs = append(xs, pair(a, b, ds, sumOver))
	}
	if nd > nout && len(path) == 0 {
		var ds []int
		for p := nout; p < nd; p++ {
			ds = append(ds, p)
		}
		xs[0] = sumOver(xs[0], ds)
	}
	return xs
}

// pair multiplies two tensors of the same number of dimensions, broadcasting, and sums over ds: as one batched matrix
// product.
func pair(a, b *T, ds []int, sumOver func(*T, []int) *T) *T {
	var sum, batch, left, right []int
	var onlyA, onlyB []int
	for p := range a.Dim() {
		x, y := a.Size(p), b.Size(p)
		switch s := slices.Contains(ds, p); {
		case s && x != 1 && y != 1:
			sum = append(sum, p)
		case s && x != 1:
			onlyA = append(onlyA, p)
		case s && y != 1:
			onlyB = append(onlyB, p)
		case s:
		case x != 1 && y != 1:
			batch = append(batch, p)
		case x != 1:
			left = append(left, p)
		default:
			right = append(right, p)
		}
	}
	a, b = sumOver(a, onlyA), sumOver(b, onlyB)
	if len(sum) == 0 { // PyTorch multiplies element by element, which promotes; a product of matrices does not
		dt := tensor.PromoteTypes(a.DType(), b.DType())
		a, b = a.ToDType(dt), b.ToDType(dt)
	}
	for _, p := range ds {
		if !slices.Contains(sum, p) { // of size 1 in both now
			left = append(left, p)
		}
	}
	if len(sum) == 0 && len(left) == 0 && len(right) == 0 || len(sum) == 0 && a.Numel()+b.Numel() < 64 {
		return a.Mul(b)
	}
	n := func(t *T, l []int) int {
		k := 1
		for _, p := range l {
			k *= t.Size(p)
		}
		return k
	}
	nb, nl, nr, ns := n(a, batch), n(a, left), n(b, right), n(a, sum)
	x := a.Permute(slices.Concat(batch, left, sum, right)).Reshape([]int{nb, nl, ns})
	y := b.Permute(slices.Concat(batch, sum, right, left)).Reshape([]int{nb, ns, nr})
	order := slices.Concat(batch, left, right, sum)
	sh := make([]int, 0, len(order))
	back := make([]int, len(order))
	for i, p := range order {
		back[p] = i
		switch {
		case slices.Contains(sum, p):
			sh = append(sh, 1)
		case slices.Contains(right, p):
			sh = append(sh, b.Size(p))
		default:
			sh = append(sh, a.Size(p))
		}
	}
	return x.BMM(y).Reshape(sh).Permute(back)
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor",
		Doc: "sums products of the operands' elements along the dimensions that the equation names, for example " +
			"\"bij,bjk->bik\". Letters that the output lacks are summed; " +
			"without \"->\" the output has the letters that occur once, in alphabetical order; \"...\" stands for " +
			"further dimensions, which broadcast." + site + "einsum.html",
		Body: func(c *Ctx) { c.Return(einsum(c, c.Str(0), c.Tensors(1), c.Ints(2))) },
	})
	tensor.Register(tensor.Def{
		Schema: "tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",
		Doc:    "sums products over pairs of dimensions of the two tensors." + site + "tensordot.html",
		Out:    true,
		Body:   func(c *Ctx) { c.Return(tensordot(c, c.T(0), c.T(1), c.Ints(2), c.Ints(3))) },
	})
	tensor.Register(tensor.Def{
		Schema: "torch::tensordot(Tensor a, Tensor b, Any dims=2) -> Tensor",
		Doc: "sums products over the last dims dimensions of a and the first dims of b, or over the pairs of " +
			"dimensions that two lists name." + site + "tensordot.html",
		Go: "-",
		Body: func(c *Ctx) {
			a, b := c.T(0), c.T(1)
			v := c.Value(2)
			if v.K == tensor.KInt {
				n := int(v.N)
				if n < 0 {
					c.Fail(tensor.ErrValue, "tensordot expects dims >= 0, but got dims=%d", n)
				}
				if n > min(a.Dim(), b.Dim()) {
					c.Fail(tensor.ErrValue, "tensordot expects dims < ndim_a or ndim_b, but got dims=%d", n)
				}
				var x, y []int
				for i := range n {
					x, y = append(x, a.Dim()-n+i), append(y, i)
				}
				c.Return(call(opTensordot, a, b, x, y)[0])
				return
			}
			l, _ := v.X.([]tensor.Value)
			if ints := v.Ints(); len(ints) == 2 { // ([i], [j]) given as (i, j)
				l = []tensor.Value{tensor.IntsValue(ints[:1]), tensor.IntsValue(ints[1:])}
			}
			if len(l) != 2 {
				c.Fail(tensor.ErrType, "tensordot expects dims to be int or tuple[list[int], list[int]] or "+
					"list[list[int]] containing two lists, but got dims=%v", v)
			}
			c.Return(call(opTensordot, a, b, l[0].Ints(), l[1].Ints())[0])
		},
	})
}

func tensordot(c *Ctx, a, b *T, da, db []int) *T {
	if len(da) != len(db) {
		c.Fail(tensor.ErrShape, "both dimension lists should have same length")
	}
	if a.DType() != b.DType() {
		c.Fail(tensor.ErrDType, "both inputs should have same dtype")
	}
	usedA, usedB := make([]bool, a.Dim()), make([]bool, b.Dim())
	k := 1
	pa, pb := []int{}, []int{}
	var ia, ib []int
	for i := range da {
		x, y := tensor.WrapDim(da[i], a.Dim()), tensor.WrapDim(db[i], b.Dim())
		if usedA[x] || usedB[y] {
			c.Fail(tensor.ErrValue, "tensordot(): dim %d appears multiple times in the list of dims", da[i])
		}
		usedA[x], usedB[y] = true, true
		switch s1, s2 := a.Size(x), b.Size(y); {
		case s2 == 1 && s1 != 1:
			a = a.SumDim([]int{x}, tensor.SumDimOptions{KeepDim: true, DType: a.DType()})
		case s1 == 1 && s2 != 1:
			b = b.SumDim([]int{y}, tensor.SumDimOptions{KeepDim: true, DType: b.DType()})
		case s1 != s2:
			c.Fail(tensor.ErrShape, "contracted dimensions need to match, but first has size %d in dim %d and second "+
				"has size %d in dim %d", s1, x, s2, y)
		default:
			k *= s1
		}
		ia, ib = append(ia, x), append(ib, y)
	}
	var sh []int
	m, n := 1, 1
	for d, u := range usedA {
		if !u {
			pa = append(pa, d)
			sh = append(sh, a.Size(d))
			m *= a.Size(d)
		}
	}
	for d, u := range usedB {
		if !u {
			pb = append(pb, d)
			sh = append(sh, b.Size(d))
			n *= b.Size(d)
		}
	}
	x := a.Permute(append(pa, ia...)).Reshape([]int{m, k})
	y := b.Permute(append(slices.Clone(ib), pb...)).Reshape([]int{k, n})
	return x.MM(y).Reshape(sh)
}
