package named_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

type T = torch.Tensor

// of is a tensor of ones with dimensions of sizes 2, 3, 4 and 5; "_" is a dimension without a name.
func of(names string) *T {
	n := strings.Fields(strings.ReplaceAll(names, ",", " "))
	for i := range n {
		if n[i] == "_" {
			n[i] = ""
		}
	}
	return torch.Ones([]int{2, 3, 4, 5}[:len(n)]).RenameInPlace(n...)
}

func text(names []string) string { return tensor.NamesString(names) }

func TestResults(t *testing.T) {
	x := of("N C H")
	for _, c := range []struct {
		name string
		got  *T
		want string
	}{
		{"refine", of("_ _ _").RefineNames("N", "...", "W"), "['N', None, 'W']"},
		{"rename", x.Rename("...", "Z"), "['N', 'C', 'Z']"},
		{"rename map", x.RenameMap(map[string]string{"N": "C", "C": "N"}), "['C', 'N', 'H']"},
		{"without", x.RenameNone(), "[None, None, None]"},
		{"align_to", of("N C H W").AlignTo("W", "...", "N"), "['W', 'C', 'H', 'N']"},
		{"align_to new", of("N C").AlignTo("C", "Z", "N"), "['C', 'Z', 'N']"},
		{"align_as", of("N").AlignAs(of("C N H")), "['C', 'N', 'H']"},
		{"flatten", of("N C H W").FlattenNamed([]string{"C", "H"}, "F"), "['N', 'F', 'W']"},
		{"unflatten", torch.Ones([]int{2, 6}).Rename("N", "E").UnflattenNamed("E", []string{"A", "B"}, []int{-1, 3}),
			"['N', 'A', 'B']"},
		{"add", x.Add(torch.Ones([]int{4}).Rename("H")), "['N', 'C', 'H']"},
		{"add unnamed", torch.Ones([]int{2, 3, 4}).Add(x), "['N', 'C', 'H']"},
		{"number", x.AddScalar(1).ReLU(), "['N', 'C', 'H']"},
		{"sum", x.SumDim(x.DimsOf("C")), "['N', 'H']"},
		{"keepdim", x.SumDim(x.DimsOf("C"), torch.SumDimOptions{KeepDim: true}), "['N', 'C', 'H']"},
		{"all", x.Sum(), "[]"},
		{"softmax", x.Softmax(x.DimOf("C")), "['N', 'C', 'H']"},
		{"matmul", torch.MatMul(of("N C"), torch.Ones([]int{3, 4}).Rename("C", "D")), "['N', 'D']"},
		{"transpose", x.Transpose(x.DimOf("N"), x.DimOf("H")), "['H', 'C', 'N']"},
		{"select", x.Select(x.DimOf("C"), 1), "['N', 'H']"},
		{"detach", x.Detach(), "['N', 'C', 'H']"},
		{"clone", x.Clone(), "['N', 'C', 'H']"},
		{"double", x.Double(), "['N', 'C', 'H']"},
		{"in place", torch.Ones([]int{2, 3, 4}).AddInPlace(x), "['N', 'C', 'H']"},
		{"where", torch.Where(x.Gt(torch.Zeros([]int{})), x, x), "['N', 'C', 'H']"},
	} {
		if got := text(c.got.Names()); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// The forms with names are called by name, too.
func TestOverloads(t *testing.T) {
	for _, c := range []struct {
		op   string
		args []tensor.Value
		want string
	}{
		{"torch::sum.dim_DimnameList", []tensor.Value{tensor.StrsValue([]string{"N", "H"})}, "['C']"},
		{"Tensor::max.names_dim", []tensor.Value{tensor.StrValue("C")}, "['N', 'H']"},
		{"torch::softmax.Dimname", []tensor.Value{tensor.StrValue("C")}, "['N', 'C', 'H']"},
		{"torch::transpose.Dimname", []tensor.Value{tensor.StrValue("N"), tensor.StrValue("C")}, "['C', 'N', 'H']"},
		{"Tensor::unbind.Dimname", []tensor.Value{tensor.StrValue("N")}, "['C', 'H']"},
		{"torch::std.names_dim", []tensor.Value{tensor.StrsValue([]string{"N"})}, "['C', 'H']"},
		{"torch::cumsum.dimname", []tensor.Value{tensor.StrValue("N")}, "['N', 'C', 'H']"},
		{"Tensor::flatten.using_names", []tensor.Value{tensor.StrValue("N"), tensor.StrValue("C"),
			tensor.StrValue("F")}, "['F', 'H']"},
	} {
		r, err := tensor.CallOp(c.op, append([]tensor.Value{tensor.TensorValue(of("N C H"))}, c.args...)...)
		if err != nil {
			t.Errorf("%s: %v", c.op, err)
			continue
		}
		x := r[0].T
		if x == nil {
			x = r[0].X.([]*T)[0]
		}
		if got := text(x.Names()); got != c.want {
			t.Errorf("%s: %s, want %s", c.op, got, c.want)
		}
	}
	r, err := tensor.CallOp("Tensor::size.Dimname", tensor.TensorValue(of("N C")), tensor.StrValue("C"))
	if err != nil || r[0].N != 3 {
		t.Errorf("size of C: %v, %v", r, err)
	}
}

// PyTorch's sentences.
func TestRefusals(t *testing.T) {
	x, y := of("N C"), torch.Ones([]int{3, 2}).Rename("C", "N")
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"Name 'Z' not found in Tensor['N', 'C'].", func() { x.DimOf("Z") }},
		{"Name 'C' not found in Tensor['N', None].", func() { of("N _").DimOf("C") }},
		{"Invalid name: a valid identifier contains only digits", func() { x.Rename("1x", "y") }},
		{"Number of names (1) and number of dimensions in tensor (2) do not match", func() { x.Rename("A") }},
		{"Cannot construct a tensor with duplicate names. Got names: ['A', 'A'].", func() { x.Rename("A", "A") }},
		{"rename: Tried to rename dim 'Z' to dim b in Tensor[('N', 'C')] but dim 'Z' does not exist",
			func() { x.RenameMap(map[string]string{"Z": "b"}) }},
		{"refine_names: cannot coerce Tensor['N', 'C'] to Tensor['N', 'D'] because 'C' is different from 'D' at index 1",
			func() { x.RefineNames("N", "D") }},
		{"because 'C' is more specific than None at index 1", func() { x.RefineNames("N", "") }},
		{"More than one Ellipsis ('...') found in names ((Ellipsis, Ellipsis))", func() { x.AlignTo("...", "...") }},
		{"align_to: Cannot find dim 'C' from Tensor['N'] in desired alignment ['N'].", func() { x.AlignTo("N") }},
		{"align_to: All input dims must be named. Found unnamed dim at index 1 of Tensor['N', None]",
			func() { of("N _").AlignTo("C", "N") }},
		{"dims ['H', 'C'] must be consecutive in Tensor['N', 'C', 'H']",
			func() { of("N C H").FlattenNamed([]string{"H", "C"}, "F") }},
		{"unflatten: Provided sizes [2, 2] don't multiply up to the size of dim 1 ('C': 3) in Tensor['N', 'C']",
			func() { x.UnflattenNamed("C", []string{"A", "B"}, []int{2, 2}) }},
		{"don't multiply up", func() { x.UnflattenNamed("C", []string{"A", "B", "D"}, []int{1 << 62, 4, -1}) }},
		{"Error when attempting to broadcast dims ['N', 'C'] and dims ['A']: dim 'C' and dim 'A' are at the same " +
			"position " +
			"from the right but do not match.", func() { x.Add(torch.Ones([]int{3}).Rename("A")) }},
		{"Misaligned dims when attempting to broadcast dims [None, 'C'] and dims ['C', None]: dim 'C' appears in a " +
			"different position from the right across both lists.",
			func() { torch.Ones([]int{2, 2}).Rename("", "C").Sub(torch.Ones([]int{2, 2}).Rename("C", "")) }},
		{"Name mismatch: specified out tensor with names ['N', None] are not the same as the computed output names " +
			"['N', 'C'].", func() { of("N _").AddInPlace(x) }},
		{"would produce output tensor with duplicate names ['N', 'N']", func() { torch.MM(x, y) }},
		{"aten::view is not yet supported with named tensors. Please drop names via `tensor = tensor.rename(None)`",
			func() { x.View([]int{6}) }},
		{"aten::flip is not yet supported with named tensors", func() { x.Flip([]int{0}) }},
	} {
		err := torch.Try(c.f)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
		if e := (*torch.Error)(nil); err != nil && !errors.As(err, &e) {
			t.Errorf("%v is a %T", err, err)
		}
	}
}

// A refused call in place has written nothing.
func TestRefusedInPlace(t *testing.T) {
	x := of("N _")
	if torch.Try(func() { x.AddInPlace(of("N C")) }) == nil {
		t.Fatal("no error")
	}
	if !torch.Equal(x.RenameNone(), torch.Ones([]int{2, 3})) || text(x.Names()) != "['N', None]" {
		t.Errorf("changed to %v", x)
	}
}

// Gradients have no names, and flow through views by name.
func TestGradient(t *testing.T) {
	x := of("N C").SetRequiresGrad(true)
	x.AlignTo("C", "N").MulScalar(3).Mul(x.AlignTo("C", "N")).Sum().Backward()
	if g := x.Grad(); g.HasNames() || !torch.Equal(g, torch.Full([]int{2, 3}, 6.0)) {
		t.Errorf("gradient %v", g)
	}
}

func TestPrint(t *testing.T) {
	const want = "tensor([[1., 1.],\n        [1., 1.]], names=('N', None))"
	if got := torch.Ones([]int{2, 2}).Rename("N", "").String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Without names nothing is looked up: the flag is gone with the names.
func TestDropped(t *testing.T) {
	x := of("N C")
	if y := x.RenameNone().View([]int{6}); y.HasNames() || y.Dim() != 1 {
		t.Error("a view without names has names")
	}
	if x.RenameInPlace(); x.HasNames() || !slices.Equal(x.Names(), []string{"", ""}) {
		t.Errorf("names %v", x.Names())
	}
}

func Example() {
	images := torch.Zeros([]int{2, 3, 4, 5}).RefineNames("N", "C", "H", "W")
	means := torch.Ones([]int{3}).RefineNames("C")

	shifted := images.Sub(means.AlignAs(images)) // C to C, whatever the order
	fmt.Println(shifted.Names(), shifted.MeanDim(shifted.DimsOf("H", "W")).Names())

	err := torch.Try(func() { images.Add(torch.Ones([]int{5}).RefineNames("C")) })
	fmt.Println(strings.Contains(err.Error(), "dim 'W' and dim 'C' are at the same position from the right"))
	// Output:
	// [N C H W] [N C]
	// true
}
