package einops

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// Tensor is torch.Tensor.
type Tensor = tensor.Tensor

// Axes are lengths of axes by name.
type Axes map[string]int

func named(axes []Axes) Axes {
	if len(axes) > 0 {
		return axes[0]
	}
	return nil
}

// sorted are the names in a fixed order.
func (a Axes) sorted() []string { return slices.Sorted(maps.Keys(a)) }

// String prints as Python prints a dict.
func (a Axes) String() string {
	s := []string{}
	for _, n := range a.sorted() {
		s = append(s, fmt.Sprintf("'%s': %d", n, a[n]))
	}
	return "{" + strings.Join(s, ", ") + "}"
}

// Rearrange reorders the elements of a tensor: transposes, splits and merges axes, and adds and removes axes of length
// 1. The result is a view where one can do.
// https://einops.rocks/api/rearrange/
func Rearrange(x *Tensor, pattern string, axes ...Axes) *Tensor {
	return transform(x, nil, pattern, "rearrange", nil, named(axes))
}

// RearrangeList is Rearrange of tensors of one shape, stacked along a new first axis.
func RearrangeList(xs []*Tensor, pattern string, axes ...Axes) *Tensor {
	return transform(nil, xs, pattern, "rearrange", nil, named(axes))
}

// Reduce removes the axes that the right side does not name by a reduction: "min", "max", "sum", "mean", "prod", "any"
// or "all".
// https://einops.rocks/api/reduce/
func Reduce(x *Tensor, pattern, reduction string, axes ...Axes) *Tensor {
	return transform(x, nil, pattern, reduction, nil, named(axes))
}

// ReduceList is Reduce of tensors of one shape, stacked along a new first axis.
func ReduceList(xs []*Tensor, pattern, reduction string, axes ...Axes) *Tensor {
	return transform(nil, xs, pattern, reduction, nil, named(axes))
}

// ReduceFunc is Reduce by a function that removes the given dimensions.
func ReduceFunc(x *Tensor, pattern string, reduction func(x *Tensor, dims []int) *Tensor, axes ...Axes) *Tensor {
	return transform(x, nil, pattern, custom, reduction, named(axes))
}

// Repeat copies elements along new axes, whose lengths are numbers in the pattern or given by name. The result is a
// view where one can do, as when a new axis is a dimension of its own.
// https://einops.rocks/api/repeat/
func Repeat(x *Tensor, pattern string, axes ...Axes) *Tensor {
	return transform(x, nil, pattern, "repeat", nil, named(axes))
}

// RepeatList is Repeat of tensors of one shape, stacked along a new first axis.
func RepeatList(xs []*Tensor, pattern string, axes ...Axes) *Tensor {
	return transform(nil, xs, pattern, "repeat", nil, named(axes))
}

func transform(x *Tensor, list []*Tensor, pattern, operation string, f func(x *Tensor, dims []int) *Tensor,
	axes Axes) *Tensor {
	if x == nil {
		if len(list) == 0 {
			tensor.Fail(tensor.ErrType, "Rearrange/Reduce/Repeat can't be applied to an empty list")
		}
		x = torch.Stack(list)
	}
	s, err := plan(x, pattern, operation, axes)
	if err != nil {
		fail(err,
			" Error while processing %s-reduction pattern \"%s\".\n Input tensor shape: %s. Additional info: %s.\n %s",
			operation, pattern, tensor.Size(x.Shape()), axes, err)
	}
	return s.apply(x, func(x *Tensor, dims []int) *Tensor {
		if f != nil {
			return f(x, dims)
		}
		return reduce(x, operation, dims)
	})
}

// plan finds the steps for a tensor.
func plan(x *Tensor, pattern, operation string, axes Axes) (steps, error) {
	r, err := prepare(pattern, operation, axes.sorted(), x.Dim())
	if err != nil {
		return steps{}, err
	}
	return r.solve(x.Shape(), axes)
}

// Apply is what the layers of package layers do: Rearrange, or the reduction that operation names. As Python's layers
// do, it says of shapes that do not fit nothing about the pattern, has the reductions of numbers only, not any and all,
// and leaves it to torch to refuse means of integers.
func Apply(x *Tensor, pattern, operation string, axes Axes) *Tensor {
	s, err := plan(x, pattern, operation, axes)
	if err != nil {
		tensor.Fail(tensor.ErrValue, "%s", err)
	}
	return s.apply(x, func(x *Tensor, dims []int) *Tensor {
		switch operation {
		case "any", "all":
			tensor.Fail(tensor.ErrNotImpl, "('Unknown reduction ', '%s')", operation)
		case "mean":
			return x.MeanDim(dims)
		}
		return reduce(x, operation, dims)
	})
}

// fail panics with a message about a pattern; one that stands alone is not explained further.
func fail(err error, format string, args ...any) {
	if StandsAlone(err) {
		tensor.Fail(tensor.ErrValue, "%s", err)
	}
	tensor.Fail(tensor.ErrValue, format, args...)
}

// StandsAlone reports an error of Validate that Python's einops passes on as it is, as for a pattern without "->",
// without saying what was being done.
func StandsAlone(err error) bool {
	var alone valueError
	return errors.As(err, &alone)
}

// apply does the steps.
func (s *steps) apply(x *Tensor, reduce func(x *Tensor, dims []int) *Tensor) *Tensor {
	if s.first != nil {
		x = x.Reshape(s.first)
	}
	if s.perm != nil {
		x = x.Permute(s.perm)
	}
	if len(s.reduced) > 0 {
		x = reduce(x, s.reduced)
	}
	if len(s.added) > 0 {
		size := slices.Repeat([]int{-1}, x.Dim()+len(s.added))
		for _, a := range s.added {
			x = x.Unsqueeze(a[0])
			size[a[0]] = a[1]
		}
		x = x.Expand(size)
	}
	if s.last != nil {
		x = x.Reshape(s.last)
	}
	return x
}

func reduce(x *Tensor, operation string, dims []int) *Tensor {
	switch operation {
	case "min":
		return x.Amin(tensor.AminOptions{Dim: dims})
	case "max":
		return x.Amax(tensor.AmaxOptions{Dim: dims})
	case "sum":
		return x.SumDim(dims)
	case "mean":
		if !x.DType().IsFloat() {
			tensor.Fail(tensor.ErrNotImpl, "reduce_mean is not available for non-floating tensors")
		}
		return x.MeanDim(dims)
	case "any":
		return x.AnyDims(tensor.AnyDimsOptions{Dim: dims})
	case "all":
		return x.AllDims(tensor.AllDimsOptions{Dim: dims})
	}
	for i := len(dims) - 1; i >= 0; i-- { // a product goes over one dimension at a time
		x = x.ProdDim(dims[i])
	}
	return x
}

// ParseShape names the dimensions of a tensor: the pattern has one axis name per dimension, "_" where a dimension does
// not matter, "..." for several of these.
// https://einops.rocks/api/parse_shape/
func ParseShape(x *Tensor, pattern string) Axes {
	shape := x.Shape()
	id := 0
	e, err := parse(pattern, rules{underscore: true}, &id)
	if err != nil {
		tensor.Fail(tensor.ErrValue, "%s", err)
	}
	size := tensor.Size(shape)
	switch {
	case e.composed():
		tensor.Fail(tensor.ErrValue, "Can't parse shape with composite axes: %s %s", pattern, size)
	case e.ellipsis && len(shape) < len(e.groups)-1:
		tensor.Fail(tensor.ErrValue, "Can't parse shape with this number of dimensions: %s %s", pattern, size)
	case !e.ellipsis && len(shape) != len(e.groups):
		tensor.Fail(tensor.ErrValue, "Can't parse shape with different number of dimensions: %s %s", pattern, size)
	}
	out := Axes{}
	i := 0
	for _, g := range e.groups {
		switch {
		case g.ellipsis:
			i += len(shape) - len(e.groups) + 1
			continue
		case len(g.axes) == 0:
			if shape[i] != 1 {
				tensor.Fail(tensor.ErrValue, "Length of axis is not 1: %s %s", pattern, size)
			}
		case g.axes[0].anonymous():
			if shape[i] != g.axes[0].length {
				tensor.Fail(tensor.ErrValue, "Length of anonymous axis does not match: %s %s", pattern, size)
			}
		case g.axes[0].name != "_":
			out[g.axes[0].name] = shape[i]
		}
		i++
	}
	return out
}

// Einsum sums products of elements of tensors over the axes that the right side does not name: "b i j, b j k -> b i k".
// Axes may have names of several letters; composed axes and numbers are not allowed.
// https://einops.rocks/api/einsum/
func Einsum(pattern string, xs ...*Tensor) *Tensor {
	if len(xs) == 0 {
		tensor.Fail(tensor.ErrValue,
			"`einops.einsum` takes at minimum two arguments: the tensors (at least one), followed by the pattern.")
	}
	return torch.Einsum(compact(pattern), xs)
}

// compact gives the axes names of one letter.
func compact(pattern string) string {
	if !strings.Contains(pattern, "->") {
		tensor.Fail(tensor.ErrValue, "Einsum pattern must contain '->'.")
	}
	lefts, rs, err := sides(pattern)
	if err != nil {
		tensor.Fail(tensor.ErrValue, "%s", err)
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	letter := map[string]byte{}
	var b strings.Builder
	id := 0
	write := func(s string, r rules, known bool) {
		e, err := parse(s, r, &id)
		if err != nil {
			tensor.Fail(tensor.ErrValue, "%s", err)
		}
		for _, g := range e.groups {
			switch {
			case g.ellipsis:
				b.WriteString("...")
				continue
			case len(g.axes) == 0:
				tensor.Fail(tensor.ErrNotImpl, "Singleton () axes are not yet supported in einsum.")
			case len(g.axes) > 1:
				tensor.Fail(tensor.ErrNotImpl, "Shape rearrangement is not yet supported in einsum.")
			case g.axes[0].anonymous():
				tensor.Fail(tensor.ErrNotImpl, "Anonymous axes are not yet supported in einsum.")
			}
			n := g.axes[0].name
			l, ok := letter[n]
			switch {
			case !ok && known:
				tensor.Fail(tensor.ErrValue, "Unknown axis %s on right side of einsum %s.", n, pattern)
			case !ok && len(letter) == len(letters):
				tensor.Fail(tensor.ErrValue, "Too many axes in einsum.")
			case !ok:
				l = letters[len(letter)]
				letter[n] = l
			}
			b.WriteByte(l)
		}
	}
	for i, s := range strings.Split(lefts, ",") {
		if i > 0 {
			b.WriteByte(',')
		}
		write(s, rules{underscore: true, duplicates: true}, false)
	}
	b.WriteString("->")
	write(rs, rules{underscore: true}, true)
	return b.String()
}

// Validate checks a pattern without a tensor, as far as it does not depend on shapes: the operation is "rearrange",
// "repeat", or a reduction. It returns an error with the message that Rearrange, Reduce or Repeat would panic with.
func Validate(pattern, operation string, axes ...Axes) error {
	left, _, err := sides(pattern)
	if err != nil {
		return err
	}
	id := 0
	e, err := parse(left, rules{}, &id)
	if err != nil {
		return err
	}
	ndim := len(e.groups)
	if e.ellipsis && !e.parenthesized {
		ndim--
	}
	_, err = prepare(pattern, operation, named(axes).sorted(), ndim)
	return err
}
