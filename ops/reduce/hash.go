package reduce

import (
	"math"

	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor",
		Doc: "is the exclusive or of all elements' bits along the given dimensions, or of all, as uint64: floats count as " +
			"float64, integers as int64. It tells whether two tensors differ. Mode 0 is the only " +
			"one.\nhttps://docs.pytorch.org/docs/stable/generated/torch.hash_tensor.html",
		Out: true, NoGrad: "bits, not numbers", Raw: true,
		Infer: func(c *Ctx) {
			t := c.T(0)
			if c.Int(3) != 0 {
				c.Fail(tensor.ErrValue, "hash_tensor: Unknown hash_tensor mode: %d", c.Int(3))
			}
			if dt := t.DType(); dt.IsComplex() || dt.IsStorage() {
				c.FailDType(tensor.ErrNotImpl, "xor_sum_cpu", dt)
			}
			reduced, shape := dims(c, t, c.Ints(1), c.Bool(2))
			if len(c.Ints(1)) == 0 && t.Numel() == 0 {
				c.Fail(tensor.ErrIndex, "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. "+
					"Specify the reduction dim with the 'dim' argument.")
			}
			for d, r := range reduced {
				if r && t.Size(d) == 0 {
					c.Fail(tensor.ErrIndex, "hash_tensor: Expected reduction dim %d to have non-zero size.", d)
				}
			}
			c.Alloc(0, shape, tensor.Uint64)
		},
		CPU: func(c *Ctx) {
			t, o := c.T(0), c.Out(0)
			reduced, _ := dims(c, t, c.Ints(1), true)
			// the dimensions that stay come first, so that each hash is that of a row
			var shape, stride []int
			for _, last := range []bool{false, true} {
				for d, r := range reduced {
					if r == last {
						shape, stride = append(shape, t.Size(d)), append(stride, t.Stride(d))
					}
				}
			}
			rows := tensor.Alias(t, shape, stride, t.StorageOffset())
			hashes := tensor.Data[uint64](o)
			n := t.Numel() / max(1, len(hashes))
			if t.DType().IsFloat() {
				for i, x := range tensor.Data[float64](tensor.DenseAs(rows, tensor.Float64)) {
					mix(hashes, i, n, math.Float64bits(x))
				}
				return
			}
			for i, x := range tensor.Data[int64](tensor.DenseAs(rows, tensor.Int64)) {
				mix(hashes, i, n, uint64(x))
			}
		},
	})
}

// mix puts element i into the hash of its row of n elements.
func mix(hashes []uint64, i, n int, bits uint64) {
	if i%n == 0 {
		hashes[i/n] = 0
	}
	hashes[i/n] ^= bits
}
