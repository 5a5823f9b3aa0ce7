package torch_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

func complexes(requiresGrad bool) *tensor.Tensor {
	return torch.FromSlice([]complex64{1 + 2i, -3 + 4i, 5 - 6i, -7 - 8i}, 2, 2).SetRequiresGrad(requiresGrad)
}

// wantComplex compares elements, not memory.
func wantComplex(t *testing.T, what string, got *tensor.Tensor, want ...complex64) {
	t.Helper()
	g := torch.Data[complex64](got.Detach().ResolveConj().ResolveNeg().Contiguous())
	for i := range want {
		if g[i] != want[i] {
			t.Fatalf("%s is %v, want %v", what, g, want)
		}
	}
}

// The conjugate is a view: it shares memory, is read conjugated by every operator, and what is written to it is
// conjugated on its way into memory.
func TestConjIsAView(t *testing.T) {
	x := complexes(false)
	y := x.Conj()
	if !y.IsConj() || x.IsConj() || y.DataPtr() != x.DataPtr() {
		t.Fatal("conj() is no conjugated view")
	}
	if y.Conj().IsConj() || !y.T().IsConj() || !y.Select(0, 1).IsConj() || y.Clone().IsConj() ||
		y.MulScalar(2).IsConj() || !x.MH().IsConj() || !y.Detach().IsConj() || !y.View([]int{4}).IsConj() {
		t.Error("the bit is not that of PyTorch's results")
	}
	wantComplex(t, "y", y, 1-2i, -3-4i, 5+6i, -7+8i)
	wantComplex(t, "y*y", y.Mul(y), -3-4i, -7+24i, -11+60i, -15-112i)
	wantComplex(t, "cat", torch.Cat([]*tensor.Tensor{y, x}), 1-2i, -3-4i, 5+6i, -7+8i, 1+2i)
	wantComplex(t, "x@yT", x.MatMul(y.T()), 30, -18-36i)
	y.AddInPlace(torch.FromSlice([]complex64{1i}))
	wantComplex(t, "x after y += i", x, 1+1i, -3+3i, 5-7i, -7-9i)
	y.CopyInPlace(complexes(false))
	wantComplex(t, "x after y = z", x, 1-2i, -3-4i, 5+6i, -7+8i)
	y.Select(0, 0).FillScalarInPlace(2 + 1i)
	wantComplex(t, "x after y[0] = 2+i", x, 2-1i, 2-1i, 5+6i)
	out := complexes(false).ZerosLike().Conj()
	x.Add(x, tensor.AddOptions{Out: out})
	wantComplex(t, "out", out, 4-2i, 4-2i, 10+12i, -14+16i)
	x.CopyInPlace(y) // of its own memory
	wantComplex(t, "x = conj(x)", x, 2+1i, 2+1i, 5-6i, -7-8i)
}

// The imaginary part of a conjugated view is negated when it is read, the real part is not.
func TestNegativeBit(t *testing.T) {
	x := complexes(false)
	im, re := x.Conj().Imag(), torch.Real(x.Conj())
	if !im.IsNeg() || re.IsNeg() || im.DataPtr() != x.Imag().DataPtr() {
		t.Fatal("imag of a conjugated view is no negated view")
	}
	if got := fmt.Sprint(im); got != "tensor([[-2., -4.],\n        [ 6.,  8.]])" {
		t.Error(got)
	}
	if im.Sum().Item() != 8 || im.Select(0, 1).Select(0, 0).Item() != 6 || im.Add(im).Sum().Item() != 16 {
		t.Error("a kernel does not see the sign")
	}
	im.AddScalarInPlace(1)
	wantComplex(t, "x after im += 1", x, 1+1i, -3+3i, 5-7i, -7-9i)
	if im.ResolveNeg().IsNeg() || im.ResolveNeg().Sum().Item() != 12 {
		t.Error("resolve_neg")
	}
}

// Go code sees memory as it is, so a tensor with a bit does not give its memory out.
func TestLazyMemoryIsRefused(t *testing.T) {
	y := complexes(false).Conj()
	for name, f := range map[string]func(){
		"Data":       func() { torch.Data[complex64](y) },
		"ViewAsReal": func() { torch.ViewAsReal(y) },
		"imag":       func() { torch.Data[float32](torch.FromSlice([]complex64{1i}).Conj().Imag()) },
	} {
		var e *tensor.Error
		if err := torch.Try(f); !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestConjGradients(t *testing.T) {
	x := complexes(true)
	w := torch.FromSlice([]complex64{1i, 2, 3, 4}, 2, 2)
	torch.Real(x.Conj().Mul(w).Sum()).Backward()
	wantComplex(t, "gradient of Re(sum(conj(x) w))", x.Grad(), 1i, 2, 3, 4)

	// what is written to a conjugated view of a tensor arrives in the tensor, and so do the gradients
	x = complexes(true)
	z := x.Mul(torch.FromSlice([]complex64{1}))
	z.Conj().Select(0, 0).MulInPlace(torch.FromSlice([]complex64{2i}))
	torch.Real(z.Sum()).Backward()
	wantComplex(t, "gradient through a conjugated view", x.Grad(), 2i, 2i, 1, 1)
	wantComplex(t, "z", z, 4-2i, 8+6i, 5-6i)

	x = complexes(true)
	z = x.Mul(torch.FromSlice([]complex64{1}))
	z.Conj().Imag().MulScalarInPlace(3)
	z.Imag().Sum().Backward()
	wantComplex(t, "gradient through an imaginary part", x.Grad(), 3i, 3i, 3i, 3i)
}

// A file keeps the bits, as PyTorch's files do.
func TestLazyBitsAreSaved(t *testing.T) {
	x := complexes(false)
	y := saved(t, x.Conj())
	if !y.IsConj() {
		t.Error("the conjugate bit is lost")
	}
	wantComplex(t, "loaded", y, 1-2i, -3-4i, 5+6i, -7+8i)
	if im := saved(t, x.Conj().Imag()); !im.IsNeg() || im.Sum().Item() != 8 {
		t.Error(im)
	}
}

// saved is what a file gives back.
func saved(t *testing.T, x *tensor.Tensor) *tensor.Tensor {
	t.Helper()
	var b bytes.Buffer
	if err := serialize.Save(&b, x); err != nil {
		t.Fatal(err)
	}
	v, err := serialize.LoadBytes(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return v.(*tensor.Tensor)
}

func ExampleTensor_conj() {
	x := torch.FromSlice([]complex64{1 + 2i, 3 - 4i})
	y := x.Conj() // a view: nothing is computed
	fmt.Println(y.IsConj(), y)
	fmt.Println(y.Imag().IsNeg(), y.ResolveConj().IsConj())
	// Output:
	// true tensor([1.-2.j, 3.+4.j])
	// true false
}
