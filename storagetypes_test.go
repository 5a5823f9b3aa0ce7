package torch_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

var storageTypes = []torch.DType{torch.Uint16, torch.Uint32, torch.Uint64, torch.Complex32, torch.Float8E4M3FN,
	torch.Float8E5M2, torch.Float8E4M3FNUZ, torch.Float8E5M2FNUZ, torch.Float8E8M0FNU}

// refused reports whether a call fails with a message of PyTorch's.
func refused(t *testing.T, what, message string, f func()) {
	t.Helper()
	var e *tensor.Error
	if err := torch.Try(f); !errors.As(err, &e) || !strings.Contains(err.Error(), message) {
		t.Errorf("%s: %v, want an error with %q", what, err, message)
	}
}

// What all types do: made, filled, converted both ways, moved, joined, compared, saved and loaded.
func TestStorageTypes(t *testing.T) {
	for _, dt := range storageTypes {
		x := torch.FromSlice([]float32{1, 2, 4, 8, 16, 32}, 2, 3).To(dt)
		if x.DType() != dt || x.Storage().NumBytes() != 6*dt.Size() {
			t.Fatalf("%s: converted to %s", dt, x.DType())
		}
		sum := func(what string, y *tensor.Tensor, want float64) {
			t.Helper()
			if got := torch.Real(y.To(torch.Complex64)).Sum().Item(); y.DType() != dt || got != want {
				t.Errorf("%s: %s of %s sums up to %v, want %v", dt, what, y.DType(), got, want)
			}
		}
		sum("x", x, 63)
		sum("transposed", x.T().Contiguous(), 63)
		sum("cat", torch.Cat([]*tensor.Tensor{x, x}), 126)
		sum("stack", torch.Stack([]*tensor.Tensor{x, x}), 126)
		sum("index_select", x.IndexSelect(1, torch.FromSlice([]int64{2, 2})), 72)
		sum("select", x.Select(0, 1), 56)
		sum("flip", x.Flip([]int{0}), 63)
		sum("clone", x.Clone(), 63)
		sum("where", torch.Where(x.Eq(x.Flip([]int{0})).LogicalNot(), x, x), 63)
		sum("full", x.FullLike(4), 24)
		sum("ones", torch.Ones([]int{3}, torch.OnesOptions{DType: dt}), 3)
		y := x.Clone()
		y.Select(0, 0).CopyInPlace(torch.FromSlice([]int64{8, 8, 8}))
		y.Select(1, 0).FillScalarInPlace(2)
		sum("changed in place", y, 2+8+8+2+16+32)
		if !x.Equal(x.Clone()) || x.Equal(y) {
			t.Errorf("%s: equal", dt)
		}
		if v := x.ViewDType(torch.Uint8); v.Size(1) != 3*dt.Size() || !v.ViewDType(dt).Equal(x) {
			t.Errorf("%s: bytes %v", dt, v.Shape())
		}
		var b bytes.Buffer
		if err := serialize.Save(&b, x); err != nil {
			t.Fatal(err)
		}
		v, err := serialize.LoadBytes(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if l := v.(*tensor.Tensor); l.DType() != dt || !l.Equal(x) {
			t.Errorf("%s: loaded %v", dt, l)
		}
		if x.DType().IsComplex() {
			continue
		}
		if got := fmt.Sprint(x.Select(0, 0)); !strings.HasSuffix(got, "dtype="+dt.String()+")") {
			t.Error(got)
		}
		refused(t, dt.Name(), "not implemented for '"+dt.ClassName()+"'", func() { x.Add(x) })
	}
}

func TestUnsigned(t *testing.T) {
	x := torch.FromSlice([]uint64{3, math.MaxUint64, 1 << 63, 7})
	if got := fmt.Sprint(x); got != "tensor([                   3, 18446744073709551615,  9223372036854775808,\n"+
		"                           7], dtype=torch.uint64)" {
		t.Error(got)
	}
	if s, at := x.Sort(); fmt.Sprint(torch.Data[uint64](s)) != "[3 7 9223372036854775808 18446744073709551615]" ||
		fmt.Sprint(torch.Data[int64](at)) != "[0 3 2 1]" {
		t.Error(s, at)
	}
	if got := torch.Data[uint64](x.Maximum(torch.FromSlice([]uint64{5, 5, 5, 5}))); got[0] != 5 ||
		got[1] != math.MaxUint64 || got[2] != 1<<63 || got[3] != 7 {
		t.Error(got)
	}
	if got := torch.Data[uint64](x.ClampMaxScalar(1 << 62)); got[0] != 3 || got[1] != 1<<62 || got[2] != 1<<62 {
		t.Error(got)
	}
	if got := torch.Data[uint64](x.Mul(x)); got[0] != 9 || got[1] != 1 || got[2] != 0 || got[3] != 49 {
		t.Error(got)
	}
	if got := torch.Data[float32](x.Div(torch.FromSlice([]float32{2}))); got[1] != 1<<63 || got[2] != 1<<62 {
		t.Error(got)
	}
	if got := torch.Data[float32](x.Sqrt()); got[1] != 1<<32 {
		t.Error(got)
	}
	u := torch.FromSlice([]uint16{65535, 2})
	if s := u.Sum(); s.DType() != torch.Int64 || s.Item() != 65537 {
		t.Error(s)
	}
	if got := torch.Data[uint16](u.BitwiseAnd(torch.FromSlice([]uint16{0x0ff0, 3}))); got[0] != 0x0ff0 || got[1] != 2 {
		t.Error(got)
	}
	const promotion = "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote UInt16 and Long"
	refused(t, "uint16 * int64", promotion, func() { u.Mul(torch.FromSlice([]int64{1, 2})) })
	refused(t, "uint16 fill", "value cannot be converted to type uint16_t without overflow",
		func() { u.FillScalarInPlace(70000) })
	refused(t, "uint16 gradients", "", func() { u.SetRequiresGrad(true) })
	if i := torch.IInfo(torch.Uint64); i.Max != math.MaxUint64 || i.Min != 0 || i.Bits != 64 {
		t.Error(i)
	}
}

func TestComplexHalf(t *testing.T) {
	h := torch.FromSlice([]float32{1, 2, -3, 0.5}, 2, 2).Half()
	z := torch.ViewAsComplex(h)
	if got := fmt.Sprint(z); got != "tensor([ 1.+2.j, -3.+0.5j], dtype=torch.complex32)" && z.DType() != torch.Complex32 {
		t.Error(got)
	}
	p := z.Mul(z.Conj())
	if p.DType() != torch.Complex32 {
		t.Fatal(p.DType())
	}
	wantComplex(t, "|z|²", p.To(torch.Complex64), 5, 9.25)
	wantComplex(t, "z + complex64", z.Add(torch.FromSlice([]complex64{1i})), 1+3i, -3+1.5i)
	if a := z.Abs(); a.DType() != torch.Float16 || a.Select(0, 0).Item() != 2.236328125 {
		t.Error(a)
	}
	if c := torch.Complex(h.Select(1, 0), h.Select(1, 1)); !c.Equal(z) {
		t.Error(c)
	}
	x := torch.FromSlice([]float32{1, 2}).SetRequiresGrad(true)
	torch.Real(x.CHalf().Mul(z)).Float().Sum().Backward()
	if g := torch.Data[float32](x.Grad()); g[0] != 1 || g[1] != -3 {
		t.Error(g)
	}
}

// An 8-bit float rounds to the nearest of its numbers.
func ExampleTensor_To_float8() {
	x := torch.FromSlice([]float32{0.1, 1.3, 500})
	y := x.To(torch.Float8E4M3FN)
	fmt.Println(y)
	fmt.Println(y.Float(), y.Storage().NumBytes())
	// Output:
	// tensor([1.0156e-01, 1.2500e+00, 4.4800e+02], dtype=torch.float8_e4m3fn)
	// tensor([1.0156e-01, 1.2500e+00, 4.4800e+02]) 3
}
