// Package rnn packs sequences of different lengths for the recurrent layers of package nn: PyTorch's
// torch.nn.utils.rnn.
//
//	packed := rnn.PackPaddedSequence(x, lengths, rnn.PackOptions{NoEnforceSorted: true})
//	out, h, c := lstm.ForwardPacked(packed)
//	y, lengths := rnn.PadPackedSequence(out)
//
// A layer that gets packed sequences computes nothing for padding, and its last states are those of each sequence's own
// last step.
package rnn

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// Tensor is a tensor.
type Tensor = tensor.Tensor

// PackedSequence holds sequences of different lengths without padding.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.rnn.PackedSequence.html
type PackedSequence struct {
	Data       *Tensor // (elements, *): step by step, the longest sequence first
	BatchSizes *Tensor // (T) int64, on the CPU: how many sequences reach each step
	// (B) int64: the sequence that stands at each place, and the place of each sequence; nil when they were sorted
	SortedIndices, UnsortedIndices *Tensor
}

// With is the packed sequence with other data, such as the results of a layer: one row for each element.
func (p PackedSequence) With(data *Tensor) PackedSequence {
	p.Data = data
	return p
}

// To converts the data to a dtype (tensor.DType), a device (tensor.Device) or that of another tensor, and moves the
// indices along; BatchSizes stays on the CPU.
func (p PackedSequence) To(to ...any) PackedSequence {
	p.Data = p.Data.To(to...)
	for _, t := range []**Tensor{&p.SortedIndices, &p.UnsortedIndices} {
		if *t != nil {
			*t = (*t).To(p.Data.Device())
		}
	}
	return p
}

// PackOptions are the options of packing; the zero value is PyTorch's default.
type PackOptions struct {
	BatchFirst      bool // the input is (B, T, *) instead of (T, B, *)
	NoEnforceSorted bool // the sequences need not be sorted by length
}

// InvertPermutation gives the place of each number in a permutation; nil for nil.
func InvertPermutation(permutation *Tensor) *Tensor {
	if permutation == nil {
		return nil
	}
	n := permutation.Numel()
	return permutation.EmptyLike().ScatterInPlace(0, permutation,
		torch.Arange(n, torch.ArangeOptions{DType: tensor.Int64, Device: permutation.Device()}))
}

// PackPaddedSequence packs padded sequences (T, B, *), or (B, T, *) with BatchFirst, of the given lengths (B): int64, on
// the CPU. Without NoEnforceSorted the longest sequence comes first and no sequence is longer than the one before.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pack_padded_sequence.html
func PackPaddedSequence(input, lengths *Tensor, opts ...PackOptions) PackedSequence {
	var o PackOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	lengths = lengths.To(tensor.Int64)
	var p PackedSequence
	if o.NoEnforceSorted {
		var order *Tensor
		lengths, order = lengths.Sort(tensor.SortOptions{Descending: true})
		p.SortedIndices = order.To(input.Device())
		p.UnsortedIndices = InvertPermutation(p.SortedIndices)
		batch := 1
		if o.BatchFirst {
			batch = 0
		}
		input = input.IndexSelect(batch, p.SortedIndices)
	}
	c := tensor.NewCall(opPack, 3)
	*c.Arg(0), *c.Arg(1), *c.Arg(2) = tensor.TensorValue(input), tensor.TensorValue(lengths),
		tensor.BoolValue(o.BatchFirst)
	p.Data, p.BatchSizes = c.Do2()
	return p
}

var (
	opPack = tensor.Slot("aten::_pack_padded_sequence")
	opPads = tensor.Slot("aten::_pad_packed_sequence")
	opPad  = tensor.Slot("aten::pad_sequence")
)

// PadPackedOptions are the options of PadPackedSequence; the zero value is PyTorch's default.
type PadPackedOptions struct {
	BatchFirst   bool // the result is (B, T, *) instead of (T, B, *)
	PaddingValue float64
	TotalLength  int // pad to that many steps; 0: as many as the longest sequence has
}

// PadPackedSequence is the reverse of PackPaddedSequence: the padded sequences, in their original order, and their
// lengths.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pad_packed_sequence.html
func PadPackedSequence(p PackedSequence, opts ...PadPackedOptions) (padded, lengths *Tensor) {
	var o PadPackedOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	c := tensor.NewCall(opPads, 5)
	*c.Arg(0), *c.Arg(1), *c.Arg(2) = tensor.TensorValue(p.Data), tensor.TensorValue(p.BatchSizes),
		tensor.BoolValue(o.BatchFirst)
	*c.Arg(3), *c.Arg(4) = tensor.FloatValue(o.PaddingValue), tensor.IntValue(o.TotalLength)
	padded, lengths = c.Do2()
	if p.UnsortedIndices != nil {
		batch := 1
		if o.BatchFirst {
			batch = 0
		}
		padded = padded.IndexSelect(batch, p.UnsortedIndices)
		lengths = lengths.IndexSelect(0, p.UnsortedIndices.CPU())
	}
	return padded, lengths
}

// PadOptions are the options of PadSequence; the zero value is PyTorch's default.
type PadOptions struct {
	BatchFirst   bool // the result is (B, T, *) instead of (T, B, *)
	PaddingValue float64
	PadLeft      bool // padding comes before the sequences instead of behind
}

// PadSequence stacks sequences (L, *) of different lengths L to one padded tensor (T, B, *), or (B, T, *) with
// BatchFirst.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pad_sequence.html
func PadSequence(sequences []*Tensor, opts ...PadOptions) *Tensor {
	var o PadOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	side := "right"
	if o.PadLeft {
		side = "left"
	}
	c := tensor.NewCall(opPad, 4)
	*c.Arg(0), *c.Arg(1) = tensor.TensorsValue(sequences), tensor.BoolValue(o.BatchFirst)
	*c.Arg(2), *c.Arg(3) = tensor.FloatValue(o.PaddingValue), tensor.StrValue(side)
	return c.Do1()
}

// UnpadSequence cuts padded sequences (T, B, *), or (B, T, *) with batchFirst, to their lengths (B).
// https://pytorch.org/docs/stable/generated/torch.nn.utils.rnn.unpad_sequence.html
func UnpadSequence(padded, lengths *Tensor, batchFirst bool) []*Tensor {
	batch := 1
	if batchFirst {
		batch = 0
	}
	if padded.Dim() < 2 || lengths.Dim() != 1 || lengths.Numel() != padded.Size(batch) {
		tensor.Fail(tensor.ErrShape, "unpad_sequence: expected one length for each padded sequence, got sequences of shape "+
			"%s and lengths of shape %s", tensor.ShapeString(padded.Shape()), tensor.ShapeString(lengths.Shape()))
	}
	out := make([]*Tensor, padded.Size(batch))
	for i := range out {
		s := padded.Select(batch, i)
		out[i] = s.Narrow(0, 0, max(0, min(s.Size(0), int(lengths.Select(0, i).Item()))))
	}
	return out
}

// PackSequence packs sequences (L, *) of different lengths L, the longest first unless NoEnforceSorted.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pack_sequence.html
func PackSequence(sequences []*Tensor, opts ...PackOptions) PackedSequence {
	var o PackOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	o.BatchFirst = false
	lengths := make([]int64, len(sequences))
	for i, s := range sequences {
		if s.Dim() > 0 {
			lengths[i] = int64(s.Size(0))
		}
	}
	return PackPaddedSequence(PadSequence(sequences), tensor.FromSlice(lengths), o)
}

// UnpackSequence is the reverse of PackSequence.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.rnn.unpack_sequence.html
func UnpackSequence(p PackedSequence) []*Tensor {
	padded, lengths := PadPackedSequence(p, PadPackedOptions{BatchFirst: true})
	return UnpadSequence(padded, lengths, true)
}
