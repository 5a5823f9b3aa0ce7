package npy_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/serialize/npy"
)

// TestTensor turns arrays into tensors and back.
func TestTensor(t *testing.T) {
	for _, dt := range []torch.DType{torch.Bool, torch.Uint8, torch.Int8, torch.Int16, torch.Int32, torch.Int64,
		torch.Float16, torch.Float32, torch.Float64, torch.Complex64, torch.Complex128} {
		x := torch.Arange(6).Reshape([]int{2, 3}).To(dt)
		for _, y := range []*torch.Tensor{x, x.Transpose(0, 1), x.Select(0, 1), x.Narrow(0, 0, 0),
			x.Select(0, 0).Select(0, 1)} {
			a, err := npy.FromTensor(y)
			if err != nil {
				t.Fatal(err)
			}
			var buf bytes.Buffer
			if err := npy.Write(&buf, a); err != nil {
				t.Fatal(err)
			}
			if a, err = npy.Read(&buf); err != nil {
				t.Fatal(err)
			}
			back, err := a.Tensor()
			if err != nil || back.DType() != dt || !slices.Equal(back.Shape(), y.Shape()) || !back.Equal(y) {
				t.Errorf("%v: %v, was %v (%v)", dt, back, y, err)
			}
		}
	}
	// In Fortran order, and with the bytes of another machine.
	a, err := npy.New(">i2", []int{2, 3}, true, []byte{0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6})
	if err != nil {
		t.Fatal(err)
	}
	x, err := a.Tensor()
	if err != nil || fmt.Sprint(torch.Data[int16](x)) != "[1 3 5 2 4 6]" {
		t.Errorf("%v, %v", x, err)
	}
	if _, err := npy.FromTensor(torch.Ones([]int{1}).To(torch.BFloat16)); !errors.Is(err, npy.ErrDType) {
		t.Errorf("bfloat16: %v", err)
	}
	for _, c := range []struct {
		descr string
		shape []int
		data  int
		says  string
	}{
		{"O", []int{1}, 8, "Python objects"}, {"<f3", []int{1}, 3, "unsupported"},
		{"<f4", []int{2}, 4, "needs 8 bytes"},
		{"<f4", []int{-1}, 4, "negative"}, {"<f4", []int{1 << 62, 1 << 62}, 4, "too large"},
		{strings.Repeat("x", 5000), nil, 0, "unsupported"},
	} {
		if _, err := npy.New(c.descr, c.shape, false, make([]byte, c.data)); err == nil ||
			!strings.Contains(err.Error(), c.says) || len(err.Error()) > 1000 {
			t.Errorf("%.20s %v: got %v, want %s", c.descr, c.shape, err, c.says)
		}
	}
	if _, err := (&npy.Array{DType: "<U2", Shape: []int{1}, Data: make([]byte, 8)}).Tensor(); !errors.Is(err,
		npy.ErrDType) {
		t.Errorf("text: %v", err)
	}
	if _, err := (&npy.Array{DType: "float32", Shape: []int{1 << 60}}).Tensor(); !errors.Is(err, npy.ErrFormat) {
		t.Errorf("an array without its data: %v", err)
	}
}

// TestOddTypes reads types that are no tensors: dates, long doubles, with the bytes turned around where they have to
// be.
func TestOddTypes(t *testing.T) {
	for _, c := range []struct {
		descr, dtype string
		in, out      []byte
	}{
		{"<M8[ns]", "<M8[ns]", []byte{1, 2, 3, 4, 5, 6, 7, 8}, []byte{1, 2, 3, 4, 5, 6, 7, 8}},
		{">m8[25s]", "<m8[25s]", []byte{1, 2, 3, 4, 5, 6, 7, 8}, []byte{8, 7, 6, 5, 4, 3, 2, 1}},
		{"<M8", "<M8", make([]byte, 8), make([]byte, 8)},
		{"<f16", "float128", make([]byte, 16), make([]byte, 16)},
		{"<c32", "complex256", make([]byte, 32), make([]byte, 32)},
	} {
		a, err := npy.New(c.descr, []int{1}, false, c.in)
		if err != nil || a.DType != c.dtype || !bytes.Equal(a.Data, c.out) {
			t.Errorf("%s: %+v, %v", c.descr, a, err)
			continue
		}
		var buf bytes.Buffer
		if err := npy.Write(&buf, a); err != nil {
			t.Error(err)
		}
		b, err := npy.Read(&buf)
		if err != nil || b.DType != c.dtype || !bytes.Equal(b.Data, c.out) {
			t.Errorf("%s, written and read: %+v, %v", c.descr, b, err)
		}
		if _, err := b.Tensor(); !errors.Is(err, npy.ErrDType) {
			t.Errorf("%s is a tensor: %v", c.descr, err)
		}
	}
	for _, descr := range []string{"<M8[", "<M8[ns", "<M8[;]", "<M9[ns]", "<M8[1234567890s]", "M8[s]x"} {
		if _, err := npy.New(descr, []int{1}, false, make([]byte, 8)); !errors.Is(err, npy.ErrDType) {
			t.Errorf("%s: %v", descr, err)
		}
	}
}

// TestStruct reads structured types, and writes them with the same bytes. Fields of Python objects are refused.
func TestStruct(t *testing.T) {
	file := func(descr string, data int) []byte {
		head := "{'descr': " + descr + ", 'fortran_order': False, 'shape': (2,), }"
		head += strings.Repeat(" ", 21-1) // room for the shape to grow
		for (10+len(head)+1)%64 != 0 {
			head += " "
		}
		head += "\n"
		b := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), byte(len(head)>>8))
		return append(append(b, head...), make([]byte, data)...)
	}
	for _, c := range []struct {
		descr string
		size  int
	}{
		{"[('a', '<i4'), ('b', '>f8')]", 12},
		{"[('a', '<i4', (2, 3)), ('', '|V4'), ('c', '|S3', (2,)), ('d', '<U1', ())]", 24 + 4 + 6 + 4},
		{"[('in', [('x', '<f2'), ('y', '<M8[s]')]), (('title', 'name'), '|b1')]", 11},
	} {
		b := file(c.descr, 2*c.size)
		a, err := npy.Read(bytes.NewReader(b))
		if err != nil || a.DType != c.descr || npy.ElementSize(a.DType) != c.size || len(a.Data) != 2*c.size {
			t.Errorf("%s: %+v, %v", c.descr, a, err)
			continue
		}
		var buf bytes.Buffer
		if err := npy.Write(&buf, a); err != nil || !bytes.Equal(buf.Bytes(), b) {
			t.Errorf("%s, written: %v\n%q\n%q", c.descr, err, buf.Bytes(), b)
		}
		a.DType = "[('a', '<i1')]"
		if err := npy.Write(&buf, a); err == nil {
			t.Errorf("%s was written with elements of another size", c.descr)
		}
	}
	for descr, want := range map[string]error{
		"[('a', '|O')]": npy.ErrObject, "[('a', [('b', 'O')])]": npy.ErrObject, "[('a', '<f3')]": npy.ErrDType,
		"[('a',)]": npy.ErrFormat, "[1]": npy.ErrFormat, "[('a', 1)]": npy.ErrFormat,
		"[('a', '<f4', 3)]":     npy.ErrFormat,
		"[('a', '<f4', (-1,))]": npy.ErrFormat, "[('a', '<f4', (1000000, 1000000, 1000000))]": npy.ErrFormat,
		"[(1, '<f4')]": npy.ErrFormat, strings.Repeat("[('a', ", 10) + "'<f4'" +
			strings.Repeat(")]", 10): npy.ErrFormat,
	} {
		if _, err := npy.Read(bytes.NewReader(file(descr, 8))); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", descr, err, want)
		}
	}
}
