package torch_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// opaque are the element types without operators, with their names and bytes in PyTorch 2.15.
var opaque = []struct {
	dt          torch.DType
	name, class string
	size        int
}{
	{torch.Int1, "int1", "Int1", 1}, {torch.Int4, "int4", "Int4", 1}, {torch.Int7, "int7", "Int7", 1},
	{torch.Uint1, "uint1", "UInt1", 1}, {torch.Uint3, "uint3", "UInt3", 1}, {torch.Uint7, "uint7", "UInt7", 1},
	{torch.Bits1x8, "bits1x8", "Bits1x8", 1}, {torch.Bits2x4, "bits2x4", "Bits2x4", 1},
	{torch.Bits4x2, "bits4x2", "Bits4x2", 1}, {torch.Bits8, "bits8", "Bits8", 1},
	{torch.Bits16, "bits16", "Bits16", 2},
	{torch.Float4E2M1FNx2, "float4_e2m1fn_x2", "Float4_e2m1fn_x2", 1},
}

func TestOpaqueTypes(t *testing.T) {
	for _, o := range opaque {
		if o.dt.Name() != o.name || o.dt.ClassName() != o.class || o.dt.Size() != o.size {
			t.Errorf("%s, %s, %d bytes: want %s, %s, %d", o.dt.Name(), o.dt.ClassName(), o.dt.Size(), o.name, o.class,
				o.size)
		}
		bytes4 := torch.FromSlice([]uint8{0, 1, 2, 130})
		x := bytes4.ViewDType(o.dt)
		want := "tensor([  0,   1,   2, 130], dtype=torch." + o.name + ")"
		switch o.dt {
		case torch.Bits16:
			want = "tensor([  256, 33282], dtype=torch.bits16)"
		case torch.Float4E2M1FNx2:
			want = "tensor([  0.,   1.,   2., 130.], dtype=torch.float4_e2m1fn_x2)"
		}
		if s := x.String(); s != want {
			t.Errorf("prints %s, want %s", s, want)
		}
		if y := x.Clone().ViewDType(torch.Uint8); !y.Equal(bytes4) {
			t.Errorf("%s: a clone has %v", o.dt, y)
		}
		if y := torch.Zeros([]int{4}, torch.ZerosOptions{DType: o.dt}).ViewDType(torch.Uint8); y.Any().Num().I != 0 {
			t.Errorf("%s: zeros are %v", o.dt, y)
		}
		for name, f := range map[string]func(){
			"add":     func() { x.Add(x) },
			"exp":     func() { x.Exp() },
			"sum":     func() { x.Sum() },
			"fill":    func() { x.FillScalarInPlace(1) },
			"float":   func() { x.Float() },
			"from":    func() { bytes4.To(o.dt) },
			"item":    func() { x.Select(0, 0).Num() },
			"product": func() { x.Unsqueeze(0).MM(x.Unsqueeze(1)) },
		} {
			err := torch.Try(f)
			if err == nil || !strings.Contains(err.Error(), "not implemented for '"+o.class+"'") {
				t.Errorf("%s, %s: %v", o.dt, name, err)
			}
		}
		if err := torch.Try(func() { x.AddScalar(1.5) }); err == nil {
			t.Errorf("%s + 1.5: no error", o.dt)
		}
		if err := torch.Try(func() { x.Add(bytes4.Float()) }); err == nil {
			t.Errorf("%s + float32: no error", o.dt)
		}
	}
	if torch.Bit != torch.Uint1 {
		t.Error("bit is another name of uint1")
	}
}

// Files keep the types, and complex numbers of bfloat16 parts.
func TestOpaqueTypesInFiles(t *testing.T) {
	var list []*torch.Tensor
	for _, o := range opaque {
		list = append(list, torch.FromSlice([]uint8{0, 1, 2, 130}).ViewDType(o.dt))
	}
	list = append(list, torch.FromSlice([]complex64{1 + 2i, 0.5}).To(torch.BComplex32))
	for _, x := range list {
		var b bytes.Buffer
		if err := serialize.Save(&b, x); err != nil {
			t.Errorf("%s: %v", x.DType(), err)
			continue
		}
		v, err := serialize.Load(bytes.NewReader(b.Bytes()), int64(b.Len()))
		y, ok := v.(*torch.Tensor)
		if err != nil || !ok || y.DType() != x.DType() || !y.ViewDType(torch.Uint8).Equal(x.ViewDType(torch.Uint8)) {
			t.Errorf("%s: %v, %v", x.DType(), v, err)
		}
	}
}

// What PyTorch 2.15 gives for complex numbers of bfloat16 parts.
func TestBComplex32(t *testing.T) {
	x := torch.FromSlice([]complex64{1 + 2i, 0.1}).To(torch.BComplex32)
	if s := x.String(); s != "tensor([1.0000+2.j, 0.1001+0.j], dtype=torch.bcomplex32)" {
		t.Errorf("prints %s", s)
	}
	if y := x.To(torch.Complex64); y.Select(0, 1).Num().C != 0.10009765625 {
		t.Errorf("as complex64: %v", y)
	}
	if y := x.To(torch.Complex32).To(torch.BComplex32); !y.ViewDType(torch.Int32).Equal(x.ViewDType(torch.Int32)) {
		t.Errorf("by complex32: %v", y)
	}
	for _, c := range [][2]torch.DType{{torch.Bool, torch.BComplex32}, {torch.Int64, torch.BComplex32},
		{torch.Float16, torch.Complex64}, {torch.BFloat16, torch.BComplex32}, {torch.Float32, torch.Complex64},
		{torch.Float64, torch.Complex128}, {torch.Complex32, torch.Complex64}, {torch.Complex64, torch.Complex64},
		{torch.Complex128, torch.Complex128}} {
		if got := torch.PromoteTypes(torch.BComplex32, c[0]); got != c[1] {
			t.Errorf("with %s: %s, want %s", c[0], got, c[1])
		}
	}
	err := torch.Try(func() { x.Add(x) })
	if !errors.Is(err, tensor.ErrNotImpl) || !strings.Contains(err.Error(), "not implemented for 'BComplex32'") {
		t.Errorf("x + x: %v", err)
	}
	if f := torch.FInfo(torch.BComplex32); f.DType != torch.BFloat16 {
		t.Errorf("finfo is of %s", f.DType)
	}
}
