package rnn

import (
	"slices"

	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// This file holds packing: sequences of different lengths without padding, step by step. At each step those sequences
// stand one after the other that reach it, the longest first, and batch_sizes says how many these are.

// numbers reads a short int64 tensor.
func numbers(c *Ctx, i int, name string) []int {
	t := c.T(i)
	if t.Dim() != 1 || t.DType() != tensor.Int64 {
		c.Fail(tensor.ErrDType, "'%s' argument should be a 1D CPU int64 tensor, but got %dD %s %s tensor", name,
			t.Dim(),
			t.Device(), t.DType().ClassName())
	}
	out := make([]int, t.Numel())
	for k := range out {
		out[k] = int(t.Select(0, k).Item())
	}
	return out
}

// batchSizes reads and checks batch_sizes.
func batchSizes(c *Ctx, i int) []int {
	return checkBatchSizes(c, numbers(c, i, "batch_sizes"))
}

func checkBatchSizes(c *Ctx, sizes []int) []int {
	for k, n := range sizes {
		if n <= 0 || k > 0 && n > sizes[k-1] {
			c.Fail(tensor.ErrValue, "batch_sizes must be positive and not increase, got %s", tensor.ShapeString(sizes))
		}
	}
	if len(sizes) == 0 {
		c.Fail(tensor.ErrValue, "batch_sizes must not be empty")
	}
	return sizes
}

// packedRows are the rows of a padded batch, seen as (steps·batch) or (batch·steps), in packed order.
func packedRows(sizes []int, steps, batch int, batchFirst bool) []int64 {
	var rows []int64
	for t, n := range sizes {
		for b := range n {
			if batchFirst {
				rows = append(rows, int64(b*steps+t))
			} else {
				rows = append(rows, int64(t*batch+b))
			}
		}
	}
	return rows
}

func packPadded(c *Ctx) {
	x, lengths, batchFirst := c.T(0), numbers(c, 1, "lengths"), c.Bool(2)
	if x.Dim() < 2 {
		c.Fail(tensor.ErrShape, "expected a batch of padded sequences, got shape %s", tensor.ShapeString(x.Shape()))
	}
	steps, batch := x.Size(0), x.Size(1)
	if batchFirst {
		steps, batch = batch, steps
	}
	if x.Numel() == 0 {
		c.Fail(tensor.ErrShape, "Cannot pack empty tensors.")
	}
	if len(lengths) != batch {
		c.Fail(tensor.ErrShape, "Expected `len(lengths)` to be equal to batch_size, but got %d (batch_size=%d)",
			len(lengths), batch)
	}
	if lengths[batch-1] <= 0 {
		c.Fail(tensor.ErrValue, "Length of all samples has to be greater than 0, but found an element in 'lengths' "+
			"that "+
			"is <= 0")
	}
	if !slices.IsSortedFunc(lengths, func(a, b int) int { return b - a }) {
		c.Fail(tensor.ErrValue, "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You "+
			"can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this "+
			"requirement if "+
			"you do not need ONNX exportability.")
	}
	if lengths[0] > steps {
		c.Fail(tensor.ErrValue, "Expected lengths of at most %d, the number of steps, got %d", steps, lengths[0])
	}
	sizes := make([]int, lengths[0])
	counts := make([]int64, lengths[0])
	for t, n := 0, batch; t < len(sizes); t++ {
		for lengths[n-1] <= t {
			n--
		}
		sizes[t], counts[t] = n, int64(n)
	}
	rows := op.Numbers(x, packedRows(sizes, steps, batch, batchFirst))
	flat := x.Reshape(append([]int{steps * batch}, x.Shape()[2:]...))
	c.Return(op.Call1("aten::index_select", flat, 0, rows), op.Numbers(c.T(1), counts))
}

// unpacked puts packed rows into a padded batch of the value fill.
func unpacked(data *T, sizes []int, steps int, batchFirst bool, fill tensor.Scalar) *T {
	batch := sizes[0]
	shape := []int{steps, batch}
	if batchFirst {
		shape = []int{batch, steps}
	}
	rest := data.Shape()[1:]
	rows := op.Numbers(data, packedRows(sizes, steps, batch, batchFirst))
	flat := op.Full(data, append([]int{steps * batch}, rest...), fill, data.DType())
	return op.Call1("aten::index_copy", flat, 0, rows, data).Reshape(append(shape, rest...))
}

func padPacked(c *Ctx) {
	data, sizes, total := c.T(0), batchSizes(c, 1), c.Int(4)
	steps, rows := len(sizes), 0
	for _, n := range sizes {
		rows += n
	}
	if data.Dim() == 0 || data.Size(0) != rows {
		c.Fail(tensor.ErrShape, "batch_sizes count %d elements, data has shape %s", rows,
			tensor.ShapeString(data.Shape()))
	}
	if total > 0 {
		if total < steps {
			c.Fail(tensor.ErrValue, "Expected total_length to be at least the length of the longest sequence in input, "+
				"but got total_length=%d and max sequence length being %d", total, steps)
		}
		if total > steps+maxPadding {
			c.Fail(tensor.ErrValue, "total_length=%d is too large", total)
		}
		steps = total
	}
	lengths := make([]int64, sizes[0])
	for _, n := range sizes {
		for b := range n {
			lengths[b]++
		}
	}
	c.Return(unpacked(data, sizes, steps, c.Bool(2), c.Num(3)), op.Numbers(c.T(1), lengths))
}

// maxPadding bounds the steps that padding may add.
const maxPadding = 1 << 32

func padSequence(c *Ctx) {
	list, side := c.Tensors(0), c.Str(3)
	if len(list) == 0 {
		c.Fail(tensor.ErrValue, "received an empty list of sequences")
	}
	if side != "left" && side != "right" {
		c.Fail(tensor.ErrValue, "Expected padding_side to be one of left or right, but got %s.", side)
	}
	longest := 0
	for i, s := range list {
		if s.Dim() == 0 || !tensor.SameShape(s.Shape()[1:], list[0].Shape()[1:]) {
			c.Fail(tensor.ErrShape, "the sequences must agree in all dimensions but the first: sequence 0 has shape "+
				"%s, "+
				"sequence %d %s", tensor.ShapeString(list[0].Shape()), i, tensor.ShapeString(s.Shape()))
		}
		longest = max(longest, s.Size(0))
	}
	padded := make([]*T, len(list))
	var own []*T
	for i, s := range list {
		s = s.ToDType(list[0].DType())
		padded[i] = s
		if n := longest - s.Size(0); n > 0 {
			pad := make([]int, 2*s.Dim()) // in pairs, the last dimension first
			if side == "left" {
				pad[2*s.Dim()-2] = n
			} else {
				pad[2*s.Dim()-1] = n
			}
			padded[i] = op.Call1("aten::constant_pad_nd", s, pad, c.Float(2))
			own = append(own, padded[i])
		}
	}
	dim := 1
	if c.Bool(1) {
		dim = 0
	}
	c.Return(op.Consumed(join(opStack, padded, dim), own...))
}

func init() {
	const site = "\nhttps://pytorch.org/docs/stable/generated/torch.nn.utils.rnn."
	for _, d := range []tensor.Def{
		{
			Schema: "_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) -> (Tensor, Tensor)",
			Doc: "packs padded sequences (T, B, *), or (B, T, *) with batch_first, which are sorted by length, the " +
				"longest " +
				"first: the elements step by step, and the number of sequences that reach each step." + site +
				"pack_padded_sequence.html",
			Go: "-", DataDependent: true, CrossDevice: true, Body: packPadded,
		},
		{
			Schema: "_pack_padded_sequence_backward(Tensor grad, SymInt[] input_size, Tensor batch_sizes, bool batch_first) -> Tensor",
			Doc:    "is the gradient of _pack_padded_sequence's input.",
			Go:     "-", DataDependent: true, CrossDevice: true,
			Body: func(c *Ctx) {
				size, sizes, batchFirst := c.Ints(1), batchSizes(c, 2), c.Bool(3)
				if len(size) < 2 {
					c.Fail(tensor.ErrShape, "expected the size of a batch of padded sequences, got %s",
						tensor.ShapeString(size))
				}
				steps, batch := size[0], size[1]
				if batchFirst {
					steps, batch = batch, steps
				}
				c.WantDim(0, len(size)-1)
				if sizes[0] != batch || len(sizes) > steps {
					c.Fail(tensor.ErrShape, "batch_sizes do not fit the size %s", tensor.ShapeString(size))
				}
				c.Return(unpacked(c.T(0), sizes, steps, batchFirst, 0))
			},
		},
		{
			Schema: "_pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, Scalar padding_value, int total_length) -> (Tensor, Tensor)",
			Doc: "pads a packed sequence: a tensor (T, B, *), or (B, T, *) with batch_first, and the lengths." + site +
				"pad_packed_sequence.html",
			Go: "-", DataDependent: true, CrossDevice: true, Body: padPacked,
		},
		{
			Schema: "pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0.0, str padding_side=\"right\") -> Tensor",
			Doc: "stacks sequences (L, *) of different lengths to a tensor (T, B, *), or (B, T, *) with batch_first, " +
				"padded with padding_value on the right or the left. The result has the first one's dtype." + site + "pad_sequence.html",
			Go: "-", Body: padSequence,
		},
	} {
		tensor.Register(d)
	}
	samples.Table(
		"_pack_padded_sequence :: 4x3x2 {4,2,1} false ; 3x4x2 {3,3,2} true",
		"_pack_padded_sequence_backward :: 7x2 [4,3,2] {3,2,1,1} false ; 8x2 [3,4,2] {3,3,2} true",
		"_pad_packed_sequence :: 7x2 {3,2,1,1} false 0 0 ; 8x2 {3,3,2} true 1.5 4",
		"pad_sequence :: [4x2,2x2,1x2] ; [2,3] true 0.5 left",
	)
}
