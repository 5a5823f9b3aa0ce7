package index

import (
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// parts turns the boxed index into its parts.
func parts(v tensor.Value) []any {
	switch x := v.X.(type) {
	case tensor.TupleIndex:
		return x
	case []tensor.Value:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = part(e)
		}
		return out
	case []*T: // a Python list or tuple of tensors
		out := make([]any, len(x))
		for i, e := range x {
			if e != nil {
				out[i] = e
			}
		}
		return out
	}
	return []any{part(v)}
}

func part(v tensor.Value) any {
	switch v.K {
	case tensor.KNone:
		return nil
	case tensor.KTensor:
		return v.T
	case tensor.KInt:
		return int(v.N)
	case tensor.KBool:
		return v.N != 0
	case tensor.KInts:
		return tensor.ListIndex(v.Ints())
	case tensor.KBools:
		return boolList(v.Ints())
	}
	return v.X
}

// boolList is a mask on the CPU made of the bools of an index.
func boolList(l []int) *T {
	m := make([]bool, len(l))
	for i, b := range l {
		m[i] = b != 0
	}
	return tensor.FromSlice(m)
}

// numberList is an index tensor on the CPU made of the numbers of an index.
func numberList(l []int) *T {
	x := make([]int64, len(l))
	for i, v := range l {
		x[i] = int64(v)
	}
	return tensor.FromSlice(x)
}

// listTensor makes a tensor from nested Go lists of ints or bools.
func listTensor(c *Ctx, l []any) *T {
	if len(l) == 0 {
		return numberList(nil)
	}
	var ts []*T
	for _, e := range l {
		switch x := e.(type) {
		case int:
			ts = append(ts, numberList([]int{x}).View([]int{}))
		case bool:
			b := 0
			if x {
				b = 1
			}
			ts = append(ts, boolList([]int{b}).View([]int{}))
		case []any:
			ts = append(ts, listTensor(c, x))
		case *T:
			ts = append(ts, x)
		default:
			c.Fail(tensor.ErrIndex, "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables "+
				"are valid indices (got %T)", e)
		}
	}
	return op.Call1("aten::stack", ts, 0)
}

// bound reads a slice's part.
func bound(c *Ctx, p any) (int, bool) {
	switch x := p.(type) {
	case nil:
		return 0, false
	case int:
		return x, true
	case *T:
		if x.Dim() == 0 && x.DType().IsInt() {
			return int(x.Num().I), true
		}
	}
	c.Fail(tensor.ErrType, "slice indices must be integers or None or have an __index__ method, got %T", p)
	return 0, false
}

// basic applies the parts that give views and collects the rest: a list of index tensors by dimension of the view, nil
// when all were basic.
func basic(c *Ctx, t *T, ps []any) (*T, []*T) {
	// how many dimensions the parts take
	takes, dots := 0, 0
	flat := make([]any, 0, len(ps))
	for _, p := range ps {
		switch x := p.(type) {
		case []int:
			p = tensor.ListIndex(x)
		case []bool:
			l := make([]int, len(x))
			for i, b := range x {
				if b {
					l[i] = 1
				}
			}
			p = boolList(l)
		case []any:
			p = listTensor(c, x)
		case tensor.TupleIndex:
			p = listTensor(c, x)
		case int64:
			p = int(x)
		case tensor.NewAxisIndex:
			p = nil
		}
		if l, ok := p.(tensor.ListIndex); ok {
			p = numberList(l)
		}
		switch x := p.(type) {
		case int, tensor.SliceIndex:
			takes++
		case *T:
			if x.DType() == tensor.Bool || x.DType() == tensor.Uint8 {
				takes += x.Dim()
			} else {
				takes++
			}
		case tensor.EllipsisIndex:
			dots++
		case nil, bool:
		default:
			c.Fail(tensor.ErrIndex, "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables "+
				"are valid indices (got %T)", p)
		}
		flat = append(flat, p)
	}
	if dots > 1 {
		c.Fail(tensor.ErrIndex, "an index can only have a single ellipsis ('...')")
	}
	if takes > t.Dim() {
		c.Fail(tensor.ErrIndex, "too many indices for tensor of dimension %d", t.Dim())
	}
	missing := t.Dim() - takes
	d := 0
	var list []*T
	some := false
	pick := func(d int, x *T) {
		for len(list) <= d {
			list = append(list, nil)
		}
		list[d] = x
		some = true
	}
	for at, p := range flat { // errors count the parts, as PyTorch's do
		switch x := p.(type) {
		case int:
			n := t.Shape()[d]
			if x < -n || x >= n {
				c.Fail(tensor.ErrIndex, "index %d is out of bounds for dimension %d with size %d", x, at, n)
			}
			t = t.Select(d, x)
		case tensor.SliceIndex:
			lo, hasLo := bound(c, x.Start)
			hi, hasHi := bound(c, x.Stop)
			step, hasStep := bound(c, x.Step)
			if !hasStep {
				step = 1
			}
			switch {
			case step == 0:
				c.Fail(tensor.ErrValue, "slice step cannot be zero")
			case step < 0:
				c.Fail(tensor.ErrValue, "step must be greater than zero")
			}
			if hasLo || hasHi || step != 1 {
				var a, b any
				if hasLo {
					a = lo
				}
				if hasHi {
					b = hi
				}
				t = op.Call1("aten::slice.Tensor", t, d, a, b, step)
			}
			d++
		case tensor.EllipsisIndex:
			d += missing
		case nil:
			t = t.Unsqueeze(d)
			d++
		case bool:
			t = t.Unsqueeze(d)
			b := 0
			if x {
				b = 1
			}
			pick(d, boolList([]int{b}))
			d++
		case *T:
			if x.Dim() == 0 && x.DType().IsInt() && x.DType() != tensor.Uint8 {
				n, i := t.Shape()[d], int(x.Num().I)
				if i < -n || i >= n {
					c.Fail(tensor.ErrIndex, "index %d is out of bounds for dimension %d with size %d", i, at, n)
				}
				t = t.Select(d, i)
				continue
			}
			if (x.DType() == tensor.Bool || x.DType() == tensor.Uint8) && x.Dim() == 0 {
				t = t.Unsqueeze(d)
				pick(d, x.Reshape([]int{1}))
				d++
				continue
			}
			pick(d, x)
			if x.DType() == tensor.Bool || x.DType() == tensor.Uint8 {
				d += x.Dim() // index.Tensor spreads a mask over its dimensions itself
				continue
			}
			d++
		}
	}
	if !some {
		return t, nil
	}
	return t, list
}

// compact drops the places that masks of several dimensions cover in list, because index.Tensor counts a mask as one
// entry.
func compact(list []*T) []*T {
	var out []*T
	for d := 0; d < len(list); d++ {
		x := list[d]
		out = append(out, x)
		if x != nil && (x.DType() == tensor.Bool || x.DType() == tensor.Uint8) && x.Dim() > 1 {
			d += x.Dim() - 1
		}
	}
	return out
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "Tensor::__getitem__(Tensor self, Any index) -> Tensor",
		Doc: "is Python's self[index]: views for numbers, slices, None and the ellipsis, and a copy of what index " +
			"tensors pick.",
		Go: "-", DataDependent: true, CrossDevice: true,
		Body: func(c *Ctx) {
			self := c.T(0)
			t, list := basic(c, self, parts(c.Value(1)))
			if list == nil {
				if t == self {
					t = t.AliasView()
				}
				c.Return(t)
				return
			}
			c.Return(op.Call1("aten::index.Tensor", t, compact(list)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "Tensor::__setitem__(Tensor(a!) self, Any index, Tensor value) -> ()",
		Doc: "writes value, which is broadcast, to the elements that Python's self[index] picks, by the operators " +
			"that Python calls for it.",
		Go: "-", CrossDevice: true,
		Body: func(c *Ctx) {
			self, v := c.T(0), c.T(2)
			t, list := basic(c, self, parts(c.Value(1)))
			lead := 0 // leading ones may be more than t has dimensions
			for lead < v.Dim() && v.Size(lead) == 1 {
				lead++
			}
			if list != nil {
				putIndexed(t, compact(list), v, lead)
				return
			}
			switch {
			case tensor.SameShape(v.Shape(), t.Shape()):
			case v.Dim() == 0 && v.Device().Type == tensor.CPUDevice:
				op.Call1("aten::fill_.Tensor", t, v)
				return
			default:
				if lead > 0 {
					v = v.Reshape(v.Shape()[lead:])
				}
				if !tensor.SameShape(v.Shape(), t.Shape()) {
					v = v.Expand(t.Shape())
				}
			}
			t.CopyInPlace(v)
		},
	})
}

// putIndexed writes v without its leading dimensions of size 1 to what an index list picks of t.
func putIndexed(t *T, list []*T, v *T, lead int) {
	if v.DType() != t.DType() {
		v = v.ToDType(t.DType())
	}
	if lead > 0 {
		v = v.Reshape(v.Shape()[lead:])
	}
	op.Call1("aten::index_put_", t, list, v, false)
}
