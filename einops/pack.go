package einops

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// star reads a pattern such as "batch * channel": how many axes stand before and after the star.
func star(pattern, operation string) (before, after int) {
	names := strings.Fields(pattern)
	seen := map[string]bool{}
	at := -1
	for i, n := range names {
		if seen[n] {
			tensor.Fail(tensor.ErrValue, "Duplicates in axes names in %s(..., \"%s\")", operation, pattern)
		}
		seen[n] = true
		if n == "*" {
			at = i
		}
	}
	if at < 0 {
		tensor.Fail(tensor.ErrValue, "No *-axis in %s(..., \"%s\")", operation, pattern)
	}
	for _, n := range names {
		if n != "*" && badName(n, false) != "" {
			tensor.Fail(tensor.ErrValue, "Invalid axis name %s in %s(..., \"%s\")", n, operation, pattern)
		}
	}
	return at, len(names) - at - 1
}

// Pack joins tensors along one axis: the dimensions at the star, any number of them in each tensor, are flattened and
// concatenated. The shapes returned are those of the star, for Unpack.
// https://einops.rocks/api/pack_unpack/
func Pack(xs []*Tensor, pattern string) (packed *Tensor, shapes [][]int) {
	before, after := star(pattern, "pack")
	if len(xs) == 0 {
		tensor.Fail(tensor.ErrType, "einops.pack of no tensors")
	}
	flat := make([]*Tensor, len(xs))
	for i, x := range xs {
		sh := x.Shape()
		if len(sh) < before+after {
			tensor.Fail(tensor.ErrValue,
				"packed tensor #%d (enumeration starts with 0) has shape %s, while pattern %s assumes at least %d axes",
				i, tensor.Size(sh), pattern, before+after)
		}
		end := len(sh) - after
		middle := slices.Clone(sh[before:end])
		shapes = append(shapes, middle)
		n := tensor.Size(middle).Numel()
		flat[i] = x.Reshape(slices.Concat(sh[:before], []int{n}, sh[end:]))
	}
	return torch.Cat(flat, torch.CatOptions{Dim: before}), shapes
}

// Unpack splits a tensor along the star of the pattern into tensors that have the given shapes there. One number of the
// shapes may be -1: it is inferred. The results are views.
func Unpack(x *Tensor, shapes [][]int, pattern string) []*Tensor {
	before, after := star(pattern, "unpack")
	sh := x.Shape()
	if len(sh) != before+1+after {
		tensor.Fail(tensor.ErrValue, "unpack(..., %s) received input of wrong dim with shape %s", pattern,
			tensor.Size(sh))
	}
	if len(shapes) == 0 {
		return nil
	}
	lengths := make([]int, len(shapes))
	unknown := -1
	for i, s := range shapes {
		lengths[i] = tensor.Size(s).Numel()
		if slices.Contains(s, -1) {
			if unknown >= 0 {
				tensor.Fail(tensor.ErrValue,
					"unpack(..., %s) received more than one -1 in %s and can't infer dimensions", pattern,
					lists(shapes))
			}
			unknown, lengths[i] = i, -1
		}
	}
	total := sh[before]
	failed := func() {
		tensor.Fail(tensor.ErrValue,
			"Error during unpack(..., \"%s\"): could not split axis of size %d into requested %s", pattern, total,
			lists(shapes))
	}
	sum := 0
	for i, n := range lengths {
		if i != unknown {
			sum += n
		}
	}
	if unknown >= 0 {
		lengths[unknown] = total - sum
		sum = total
	}
	if sum != total || slices.ContainsFunc(lengths, func(n int) bool { return n < 0 }) {
		failed()
	}
	out := make([]*Tensor, len(shapes))
	at := 0
	for i, s := range shapes {
		part := x.Narrow(before, at, lengths[i])
		at += lengths[i]
		if err := torch.Try(func() {
			out[i] = part.Reshape(slices.Concat(sh[:before], s,
				sh[before+1:]))
		}); err != nil {
			failed()
		}
	}
	return out
}

// lists prints shapes as Python prints lists.
func lists(shapes [][]int) string {
	s := make([]string, len(shapes))
	for i, x := range shapes {
		s[i] = strings.ReplaceAll(fmt.Sprint(x), " ", ", ")
	}
	return "[" + strings.Join(s, ", ") + "]"
}
