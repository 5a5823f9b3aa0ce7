package sort

import (
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// fewRanks is the number of fractions for which selecting elements is cheaper than sorting them all.
const fewRanks = 2

func init() {
	tensor.Register(tensor.Def{
		Schema: "gotorch::ranked(Tensor self, Tensor ranks) -> Tensor", Go: "-",
		Doc:    "gives the positions in the last dimension of the elements that a stable sort would put at the ranks.",
		NoGrad: "integer result",
		Infer: func(c *Ctx) {
			if dt := c.T(0).DType(); dt != tensor.Float32 && dt != tensor.Float64 || c.T(1).DType() != tensor.Int64 {
				c.Fail(tensor.ErrDType, "expected float or double elements and ranks of int64")
			}
			c.Alloc(0, c.T(1).Shape(), tensor.Int64)
		},
		CPU: func(c *Ctx) {
			switch {
			case c.Out(0).Numel() == 0:
			case c.T(0).DType() == tensor.Float64:
				ranked[float64](c)
			default:
				ranked[float32](c)
			}
		},
	})
}

func ranked[E ordered](c *Ctx) {
	x, ranks := tensor.Dense(c.T(0)), tensor.Dense(c.T(1))
	n, k := x.Size(-1), ranks.Size(-1)
	a, r, d := op.Raw[E](x), op.Raw[int64](ranks), op.Raw[int64](c.Out(0))
	par.For(len(d)/k, max(1, 4*1024/n), func(lo, hi int) {
		s := scratches.Get().(*scratch)
		defer scratches.Put(s)
		for i := lo; i < hi; i++ {
			positions(d[i*k:][:k], a[i*n:][:n], r[i*k:][:k], s)
		}
	})
}

// positions sets d to where the elements of a line of given ranks are. A rank that follows the one before it costs a look at the keys
// only.
func positions[E ordered](d []int64, line []E, ranks []int64, s *scratch) {
	keys := keysFor(line, false, s)
	var key uint64
	smaller, equal := 0, 0
	for j, rank := range ranks {
		k := int(rank)
		switch {
		case j > 0 && k >= smaller && k < smaller+equal: // the same key
		case j > 0 && k == smaller+equal:
			next := ^uint64(0)
			equal = 0
			for _, x := range keys {
				if x <= key || x > next {
					continue
				}
				if x < next {
					next, equal = x, 0
				}
				equal++
			}
			key, smaller = next, k
		default:
			key, smaller, equal = s.selectKey(keys, k)
		}
		nth := k - smaller
		for i, x := range keys {
			if x == key {
				if nth == 0 {
					d[j] = int64(i)
					break
				}
				nth--
			}
		}
	}
}
