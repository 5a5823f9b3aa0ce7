package einops_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/einops"
	"github.com/gotorch-dev/torch/internal/second"
	"github.com/gotorch-dev/torch/tensor"
)

func arange(shape ...int) *tensor.Tensor {
	return torch.Arange(tensor.Size(shape).Numel(), torch.ArangeOptions{DType: torch.Float32}).View(shape)
}

func equal(t *testing.T, what string, got, want *tensor.Tensor) {
	t.Helper()
	if !slices.Equal(got.Shape(), want.Shape()) || !got.Equal(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// Patterns say the same as methods of tensors.
func TestAgainstMethods(t *testing.T) {
	x := arange(2, 3, 4, 6)
	for _, d := range []tensor.Device{{}, second.Device} {
		x := x.To(d)
		for _, c := range []struct {
			what      string
			got, want *tensor.Tensor
		}{
			{"transpose", einops.Rearrange(x, "b c h w -> b h w c"), x.Permute([]int{0, 2, 3, 1})},
			{"flatten", einops.Rearrange(x, "b ... -> b (...)"), x.Flatten(tensor.FlattenOptions{StartDim: 1})},
			{"split", einops.Rearrange(x, "b c (h k) w -> b c h k w", einops.Axes{"k": 2}), x.Reshape([]int{2, 3, 2, 2,
				6})},
			{"unsqueeze", einops.Rearrange(x, "b c h w -> b 1 c h w ()"), x.Unsqueeze(1).Unsqueeze(-1)},
			{"mean", einops.Reduce(x, "b c h w -> b c", "mean"), x.MeanDim([]int{2, 3})},
			{"pool", einops.Reduce(x, "b c (h 2) (w 2) -> b c h w", "max"), x.Reshape([]int{2, 3, 2, 2, 3,
				2}).Amax(tensor.AmaxOptions{Dim: []int{3, 5}})},
			{"sum", einops.Reduce(x, "... w -> ...", "sum"), x.SumDim([]int{-1})},
			{"custom", einops.ReduceFunc(x, "b c h w -> b w", func(x *tensor.Tensor,
				dims []int) *tensor.Tensor {
				return x.VarDim(dims)
			}), x.VarDim([]int{1, 2})},
			{"expand", einops.Repeat(x, "b c h w -> b c k h w", einops.Axes{"k": 5}), x.Unsqueeze(2).Expand([]int{2, 3,
				5, 4, 6})},
			{"tile", einops.Repeat(x, "b c h w -> b c (2 h) w"), x.Repeat([]int{1, 1, 2, 1})},
			{"stack", einops.RearrangeList([]*tensor.Tensor{x, x}, "k b c h w -> b k c h w"),
				torch.Stack([]*tensor.Tensor{x, x}, torch.StackOptions{Dim: 1})},
			{"cat", einops.RearrangeList([]*tensor.Tensor{x, x}, "k b c h w -> (k b) c h w"),
				torch.Cat([]*tensor.Tensor{x, x})},
			{"mean of a list", einops.ReduceList([]*tensor.Tensor{x, x}, "k b c h w -> b c h w", "mean"), x},
			{"repeat of a list", einops.RepeatList([]*tensor.Tensor{x, x}, "k b c h w -> k b c h w 2"),
				torch.Stack([]*tensor.Tensor{x, x}).Unsqueeze(-1).Expand([]int{2, 2, 3, 4, 6, 2})},
			{"einsum", einops.Einsum("batch c h w, batch c h w -> batch", x, x), x.Mul(x).SumDim([]int{1, 2, 3})},
		} {
			if c.got.Device() != d {
				t.Errorf("%s on %s is on %s", c.what, d, c.got.Device())
			}
			equal(t, c.what, c.got.CPU(), c.want.CPU())
		}
	}
}

func TestPackUnpack(t *testing.T) {
	xs := []*tensor.Tensor{arange(2, 5), arange(2, 7, 5), arange(2, 7, 9, 5)}
	packed, shapes := einops.Pack(xs, "i * k")
	if !slices.Equal(packed.Shape(), []int{2, 71, 5}) {
		t.Fatalf("packed shape %v", packed.Shape())
	}
	for i, y := range einops.Unpack(packed, shapes, "i * k") {
		equal(t, "unpacked", y, xs[i])
		if y.Storage() != packed.Storage() {
			t.Errorf("result %d is no view", i)
		}
	}
	if got := einops.Unpack(packed, nil, "i * k"); got != nil {
		t.Errorf("unpacked nothing into %v", got)
	}
}

func TestEmptyTensors(t *testing.T) {
	x := arange(0, 3, 4)
	if got := einops.Rearrange(x, "a b c -> (a b) c").Shape(); !slices.Equal(got, []int{0, 4}) {
		t.Errorf("shape %v", got)
	}
	if got := einops.Reduce(x, "a b c -> a", "sum").Shape(); !slices.Equal(got, []int{0}) {
		t.Errorf("shape %v", got)
	}
	if got := einops.Repeat(x, "a b c -> a b c d", einops.Axes{"d": 0}).Shape(); !slices.Equal(got, []int{0, 3, 4, 0}) {
		t.Errorf("shape %v", got)
	}
}

func TestRefusals(t *testing.T) {
	x := arange(2, 3)
	for _, c := range []struct {
		f    func()
		want string
	}{
		{func() { einops.Rearrange(x, "a b -> b") },
			"Identifiers only on one side of expression (should be on both): {'a'}"},
		{func() { einops.Rearrange(x, "a b -> b a ->") }, "too many values to unpack (expected 2)"},
		{func() { einops.Rearrange(x, "a b) -> a b") }, "Brackets are not balanced"},
		{func() { einops.Rearrange(x, "a b! -> a b") }, "Unknown character '!'"},
		{func() { einops.Rearrange(x, "a .. b -> a b") }, "Expression may contain dots only inside ellipsis (...)"},
		{func() { einops.Rearrange(x, "a ... b ... -> a b") }, "only one ellipsis for tensor"},
		{func() { einops.Rearrange(x, "(a ...) b -> a b ...") },
			"Ellipsis inside parenthesis in the left side is not allowed"},
		{func() { einops.Rearrange(x, "a 0 -> a 0") }, "Anonymous axis should have positive length, not 0"},
		{func() { einops.Rearrange(x, "a 99999999999999999999 -> a") }, "is too long"},
		{func() { einops.Rearrange(x, "a (b c) -> a b c", einops.Axes{"_c": 2}) }, "Invalid name for an axis"},
		{func() { einops.Rearrange(x, "a b c ... -> a b c ...") },
			"Wrong shape: expected >=3 dims. Received 2-dim tensor."},
		{func() { einops.Rearrange(x, "a (b 1) -> a b", einops.Axes{"b": 2}) }, "Shape mismatch, 3 != 2"},
		{func() { einops.Rearrange(x, "a (b c) -> a b c", einops.Axes{"c": 0}) },
			"Shape mismatch, can't divide axis of length 3 in chunks of 0"},
		{func() { einops.Repeat(x, "a b -> a") }, "Unexpected identifiers on the left side of repeat: {'b'}"},
		{func() { einops.Repeat(x, "a b -> a b c") }, "Specify sizes for new axes in repeat: {'c'}"},
		{func() { einops.Reduce(x, "a b -> c", "sum") },
			"Unexpected identifiers on the right side of reduce sum: {'c'}"},
		{func() { einops.Reduce(x, "a b -> a", "median") },
			"Unknown reduction median. Expect one of ('min', 'max', 'sum', 'mean', 'prod', 'any', 'all')."},
		{func() { einops.RearrangeList(nil, "a b -> a b") }, "can't be applied to an empty list"},
		{func() { einops.ParseShape(x, "a (b c)") },
			"Can't parse shape with composite axes: a (b c) torch.Size([2, 3])"},
		{func() { einops.ParseShape(x, "a") },
			"Can't parse shape with different number of dimensions: a torch.Size([2, 3])"},
		{func() { einops.ParseShape(x, "a b c ...") }, "Can't parse shape with this number of dimensions"},
		{func() { einops.ParseShape(x, "a 1") }, "Length of axis is not 1"},
		{func() { einops.ParseShape(x, "a 4") }, "Length of anonymous axis does not match"},
		{func() { einops.Einsum("a b, b c", x, x) }, "Einsum pattern must contain '->'."},
		{func() { einops.Einsum("a b -> c", x) }, "Unknown axis c on right side of einsum a b -> c."},
		{func() { einops.Einsum("a 2 -> a", x) }, "Anonymous axes are not yet supported in einsum."},
		{func() { einops.Einsum("a () -> a", x) }, "Singleton () axes are not yet supported in einsum."},
		{func() { einops.Einsum("(a b) -> a", x) }, "Shape rearrangement is not yet supported in einsum."},
		{func() { einops.Einsum("->") }, "takes at minimum two arguments"},
		{func() { einops.Pack([]*tensor.Tensor{x}, "a b") }, "No *-axis in pack(..., \"a b\")"},
		{func() { einops.Pack([]*tensor.Tensor{x}, "a a *") }, "Duplicates in axes names in pack(..., \"a a *\")"},
		{func() { einops.Pack([]*tensor.Tensor{x}, "2a *") }, "Invalid axis name 2a in pack(..., \"2a *\")"},
		{func() { einops.Pack([]*tensor.Tensor{x}, "a b c *") },
			"has shape torch.Size([2, 3]), while pattern a b c * assumes at least 3 axes"},
		{func() { einops.Pack(nil, "a *") }, "pack of no tensors"},
	} {
		err := torch.Try(c.f)
		var e *tensor.Error
		if !errors.As(err, &e) || !strings.Contains(e.Msg, c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	if err := einops.Validate("a b -> b", "rearrange"); err == nil || !strings.Contains(err.Error(), "{'a'}") {
		t.Errorf("Validate: %v", err)
	}
	if err := einops.Validate("a ... (b c) -> (a c) b ...", "rearrange", einops.Axes{"b": 2}); err != nil {
		t.Errorf("Validate: %v", err)
	}
}

// Patterns from anywhere are results or errors; results have the elements of the input.
func FuzzPattern(f *testing.F) {
	for _, s := range []string{"a b c -> c (a b)", "a ... -> (...) a", "a b (c 2) -> c", "-> ", "a b c > a", "((",
		"… a -> a", "a 1 () -> a", "é b_c c -> c b_c é", "a b c -> a b c 3"} {
		f.Add(s, "k", 2)
	}
	x := arange(2, 3, 4)
	f.Fuzz(func(t *testing.T, pattern, name string, length int) {
		if length < 0 || length > 8 || len(pattern) > 200 {
			return
		}
		for _, axes := range []einops.Axes{nil, {name: length}} {
			for _, op := range []string{"rearrange", "repeat", "sum", "max"} {
				var y *tensor.Tensor
				err := torch.Try(func() {
					switch op {
					case "rearrange":
						y = einops.Rearrange(x, pattern, axes)
					case "repeat":
						// A pattern can ask for any number of copies: look at the numbers before.
						if strings.ContainsFunc(pattern,
							func(c rune) bool { return c >= '3' && c <= '9' || c > 127 }) ||
							strings.Count(pattern, "2") > 3 || strings.Contains(pattern, "22") ||
							strings.ContainsAny(pattern, "01") {
							return
						}
						y = einops.Repeat(x, pattern, axes)
					default:
						y = einops.Reduce(x, pattern, op, axes)
					}
				})
				if err == nil && op == "rearrange" && y.Numel() != x.Numel() {
					t.Errorf("%q has %d elements", pattern, y.Numel())
				}
				if (err == nil) != (einops.Validate(pattern, op, axes) == nil) && err == nil && y != nil {
					t.Errorf("%q works and is refused by Validate", pattern)
				}
			}
		}
		_ = torch.Try(func() { einops.ParseShape(x, pattern) })
		_ = torch.Try(func() { einops.Einsum(pattern, x) })
		_ = torch.Try(func() { einops.Pack([]*tensor.Tensor{x}, pattern) })
		_, _ = einops.ParseMix(pattern, name, name, einops.Axes{name: length})
	})
}
