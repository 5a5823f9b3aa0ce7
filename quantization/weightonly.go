package quantization

import (
	"math"

	"github.com/gotorch-dev/torch/tensor"
)

// GroupQuantized is a matrix of integers of few bits with a scale and a zero point for each group of columns of a row:
// element (i, j) stands for (q - zero) * scale.
type GroupQuantized struct {
	Q             *Tensor // [rows, columns], int8 of a symmetric one and otherwise uint8
	Scales, Zeros *Tensor // float32 [rows, columns/group]
}

// QuantizeGroups quantizes the rows of a weight [rows, columns] in groups of columns to integers of the given number of
// bits, 2 to 8. Symmetric numbers have the scale max|w|/(2^(bits-1)-1) and the zero point 0; others span the range of
// the group, widened to hold 0, by 2^bits-1 steps, and are kept less 2^(bits-1), so that they fit int8. It panics with
// ErrShape where the columns are no multiple of the group.
func QuantizeGroups(w *Tensor, group, bits int, symmetric bool) *GroupQuantized {
	if w.Dim() != 2 || group < 1 || w.Size(1)%group != 0 {
		tensor.Fail(tensor.ErrShape, "QuantizeGroups: groups of %d do not divide a weight of shape %s", group,
			tensor.ShapeString(w.Shape()))
	}
	if bits < 2 || bits > 8 {
		tensor.Fail(tensor.ErrValue, "QuantizeGroups: bits must be from 2 to 8, got %d", bits)
	}
	src := numbers(w)
	n := len(src) / group
	q := make([]float32, len(src))
	scales, zeros := make([]float32, n), make([]float32, n)
	half := float32(int(1) << (bits - 1))
	for g := range n {
		part, out := src[g*group:(g+1)*group], q[g*group:(g+1)*group]
		var lo, hi float32
		for _, v := range part {
			lo, hi = min(lo, v), max(hi, v)
		}
		s, z, least, most := float32(0), float32(0), -half, half-1
		if symmetric {
			s = max(-lo, hi) / (half - 1)
		} else {
			s = (hi - lo) / (2*half - 1)
		}
		if s == 0 {
			s = 1
		}
		if !symmetric {
			z = min(max(even(-lo/s), 0), 2*half-1)
			least, most = 0, 2*half-1
		}
		for i, v := range part {
			out[i] = min(max(even(v/s)+z, least), most)
		}
		scales[g], zeros[g] = s, z
	}
	rows := w.Size(0)
	dt := tensor.Uint8
	if symmetric {
		dt = tensor.Int8
	}
	shape := []int{rows, w.Size(1) / group}
	return &GroupQuantized{Q: tensor.FromSlice(q, rows, w.Size(1)).To(dt), Scales: tensor.FromSlice(scales, shape...),
		Zeros: tensor.FromSlice(zeros, shape...)}
}

func even(x float32) float32 { return float32(math.RoundToEven(float64(x))) }

// Dequantize is the float32 matrix that the integers stand for.
func (q *GroupQuantized) Dequantize() *Tensor {
	rows, cols := q.Q.Size(0), q.Q.Size(1)
	groups := q.Scales.Size(1)
	x := q.Q.To(tensor.Float32).Reshape([]int{rows, groups, cols / groups})
	return x.Sub(q.Zeros.Unsqueeze(2)).Mul(q.Scales.Unsqueeze(2)).Reshape([]int{rows, cols})
}
