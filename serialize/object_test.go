package serialize_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/pickle"
	"github.com/gotorch-dev/torch/internal/torchzip"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/serialize/npy"
)

// TestInert loads objects of classes and calls of functions: they come back as descriptions, nothing runs, and they are
// not saved.
func TestInert(t *testing.T) {
	for _, c := range []struct {
		name, pickle, repr string
	}{
		{"a call", "cos\nsystem\n" + pyStr("true") + "\x85R", "<os.system('true')>"},
		{"a reference", "cos\nsystem\n", "<os.system>"},
		{"an object with a state", "cargparse\nNamespace\n)\x81}" + pyStr("x") + "K\x01sb",
			"<argparse.Namespace {'x': 1}>"},
		{"a list of its own class", "cm\nL\n)\x81(K\x01K\x02e", "<m.L [1, 2]>"},
		{"a dict of its own class", "cm\nD\n)\x81(K\x01K\x02u", "<m.D {1: 2}>"},
		{"a call of what a call gives", "cbuiltins\ngetattr\n(cos\nenviron\n" + pyStr("copy") + "tR)R", ""},
		{"an object within itself", "cm\nA\n)\x81q\x00}" + pyStr("me") + "h\x00sb", ""},
		{"an object within its arguments", "cm\nA\n]q\x00\x85\x81q\x01h\x00h\x01a0h\x01", ""},
		{"a set of tuples", "c__builtin__\nset\n](K\x01K\x02\x86e\x85R", ""},
		{"an array of objects", "cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tU\x01btR(K\x01(K\x02t" +
			"cnumpy\ndtype\n(U\x02O8K\x00K\x01tR(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK?tb\x89](NNetb", ""},
	} {
		v, err := serialize.LoadBytes(container(c.pickle))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := serialize.Repr(v); c.repr != "" && got != c.repr || len(got) > 1000 {
			t.Errorf("%s prints as %s, want %s", c.name, got, c.repr)
		}
		if err := serialize.Save(&bytes.Buffer{}, v); !errors.Is(err, serialize.ErrNotData) {
			t.Errorf("%s: saving gives %v", c.name, err)
		}
		path := filepath.Join(t.TempDir(), "x.pt")
		if err := os.WriteFile(path, container(c.pickle), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := serialize.LoadStateDict(path); err == nil {
			t.Errorf("%s is a state dict", c.name)
		}
	}
	v, err := serialize.LoadBytes(container("cargparse\nNamespace\n)\x81}" + pyStr("x") + "K\x01sb"))
	if err != nil {
		t.Fatal(err)
	}
	o := v.(*serialize.Object)
	if o.Class.String() != "argparse.Namespace" || o.Attr("x") != 1 || o.Attr("y") != nil || o.IsModule() {
		t.Errorf("%+v", o)
	}
	if _, err := o.StateDict(); !errors.Is(err, serialize.ErrNotData) {
		t.Errorf("the state dict of no module: %v", err)
	}
}

// pyModule is a pickled nn.Module with a parameter, a buffer, a buffer that is not persistent, and a child.
func pyModule(child string) string {
	w := pyTensor("FloatStorage", "cpu", 2, pyInts(2), pyInts(1), "\x89", "")
	s := "cm\nNet\n)\x81}(" + pyStr("_parameters") + "}(" + pyStr("w") + w + pyStr("bias") + "Nu" +
		pyStr("_buffers") + "}(" + pyStr("mean") + w + pyStr("tmp") + w + "u" +
		pyStr("_non_persistent_buffers_set") + "c__builtin__\nset\n](" + pyStr("tmp") + "e\x85R" +
		pyStr("_modules") + "}"
	if child != "" {
		s += pyStr("fc") + child + "s"
	}
	return s + "ub"
}

// TestWholeModel takes the state dict out of models that were saved whole, in a dict or by themselves.
func TestWholeModel(t *testing.T) {
	data := "\x00\x00\x80\x3f\x00\x00\x00\x40"
	whole := pyModule(pyModule(""))
	want := []string{"w", "mean", "fc.w", "fc.mean"}
	path := filepath.Join(t.TempDir(), "x.pt")
	for name, file := range map[string][]byte{"": container(whole, data),
		"model": container("}"+pyStr("model")+whole+"s", data)} {
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		var o serialize.LoadOptions
		if name != "" {
			o.Entry = []string{name}
			if _, err := serialize.LoadStateDict(path); err == nil ||
				!strings.Contains(err.Error(), `v.(*serialize.Dict).Get("model").(*serialize.Object).StateDict()`) {
				t.Errorf("without Entry: %v", err)
			}
		}
		sd, err := serialize.LoadStateDict(path, o)
		if err != nil || !slices.Equal(sd.Keys(), want) {
			t.Errorf("%q: %v, want %v", name, err, want)
			continue
		}
		if got := torch.Data[float32](sd.Get("fc.w")); !slices.Equal(got, []float32{1, 2}) {
			t.Errorf("%v", got)
		}
	}
	if _, err := serialize.LoadStateDict(path, serialize.LoadOptions{Entry: []string{"ema"}}); err == nil ||
		!strings.Contains(err.Error(), `no entry "ema"`) {
		t.Errorf("an entry that is not there: %v", err)
	}
	// Modules that share children, each twice, have exponentially many names; those that contain themselves endless
	// ones.
	shared := pyModule("")
	shared += "q\x00"
	for range 40 {
		shared += "0cm\nNet\n)\x81}(" + pyStr("_parameters") + "}" + pyStr("_modules") + "}(" + pyStr("a") + "h\x00" +
			pyStr("b") + "h\x00uubq\x00"
	}
	self := "cm\nNet\n)\x81q\x00}(" + pyStr("_parameters") + "}" + pyStr("_modules") + "}" + pyStr("a") + "h\x00sub"
	for _, p := range []string{shared, self} {
		v, err := serialize.LoadBytes(container(p, data))
		if err != nil {
			t.Fatal(err)
		}
		within(t, func() {
			if _, err := v.(*serialize.Object).StateDict(); !errors.Is(err, serialize.ErrDepth) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestOpaque loads tensors of dtypes without operators, and quantized ones, and saves them again.
func TestOpaque(t *testing.T) {
	scales := &torchzip.TensorRef{Storage: &torchzip.StorageRef{DType: "DoubleStorage", NumElements: 2,
		Data: []byte("\x00\x00\x00\x00\x00\x00\xe0\x3f\x00\x00\x00\x00\x00\x00\xf0\x3f")}, DType: "float64",
		Shape:  []int{2},
		Stride: []int{1}}
	zeros := &torchzip.TensorRef{Storage: &torchzip.StorageRef{DType: "LongStorage", NumElements: 2,
		Data: append([]byte{1}, make([]byte, 15)...)}, DType: "int64", Shape: []int{2}, Stride: []int{1}}
	global := func(name string) *pickle.Global { return &pickle.Global{Module: "torch", Name: name} }
	bytesOf := func(class string, b ...byte) *torchzip.StorageRef {
		return &torchzip.StorageRef{DType: class, NumElements: len(b), Data: b}
	}
	for _, c := range []struct {
		ref  *torchzip.TensorRef
		want []float32 // what it dequantizes to
		text string
	}{
		{&torchzip.TensorRef{Storage: bytesOf("UntypedStorage", 1, 2), DType: "bits8", Shape: []int{2},
			Stride: []int{1}},
			nil, "tensor([1, 2], dtype=torch.bits8)"},
		{&torchzip.TensorRef{Storage: bytesOf("QUInt8Storage", 10, 12, 14, 16), DType: "quint8", Shape: []int{2, 2},
			Stride: []int{1, 2}, Quantizer: pickle.Tuple{global("per_tensor_affine"), 0.5, int64(10)}},
			[]float32{0, 2, 1, 3}, "tensor([[0., 2.],\n        [1., 3.]], size=(2, 2), dtype=torch.quint8,\n       " +
				"quantization_scheme=torch.per_tensor_affine, scale=0.5, zero_point=10)"},
		{&torchzip.TensorRef{Storage: bytesOf("QInt8Storage", 1, 2, 0xff, 4), DType: "qint8", Shape: []int{2, 2},
			Stride: []int{2, 1}, Quantizer: pickle.Tuple{global("per_channel_affine"), scales, zeros, int64(0)}},
			[]float32{0, 0.5, -1, 4}, "tensor([[ 0.0000,  0.5000],\n        [-1.0000,  4.0000]], size=(2, 2), " +
				"dtype=torch.qint8,\n       quantization_scheme=torch.per_channel_affine,\n       scale=tensor([0.5000, " +
				"1.0000], dtype=torch.float64),\n       zero_point=tensor([1, 0]), axis=0)"},
		{&torchzip.TensorRef{Storage: bytesOf("QUInt4x2Storage", 0x21, 0x43), DType: "quint4x2", Shape: []int{4},
			Stride: []int{1}, Quantizer: pickle.Tuple{global("per_channel_affine_float_qparams"), scales, zeros,
				int64(0)}},
			nil, ""},
	} {
		var buf bytes.Buffer
		if c.text == "" { // axis 0 has four scales, not two
			if err := torchzip.Save(&buf, c.ref, torchzip.SaveOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := serialize.LoadBytes(buf.Bytes()); !errors.Is(err, serialize.ErrFormat) {
				t.Errorf("scales of another length: %v", err)
			}
			continue
		}
		if err := torchzip.Save(&buf, c.ref, torchzip.SaveOptions{}); err != nil {
			t.Fatal(err)
		}
		first := buf.Bytes()
		v, err := serialize.LoadBytes(first)
		if err != nil {
			t.Fatal(err)
		}
		if s := fmt.Sprint(v); s != c.text {
			t.Errorf("got %s\nwant %s", s, c.text)
		}
		if c.want != nil {
			if x := v.(*torch.Tensor).Dequantize(); !slices.Equal(torch.Data[float32](x.Contiguous()), c.want) {
				t.Errorf("%s: dequantized %v, want %v", v, x, c.want)
			}
		}
		if again := saved(t, v); !bytes.Equal(again, first) {
			t.Errorf("%s: saved with other bytes", v)
		}
	}
}

// TestNumPy loads arrays and numbers of NumPy, and pickles of all protocols, which testdata/make.py wrote.
func TestNumPy(t *testing.T) {
	files, err := filepath.Glob("testdata/pickle/*.pkl")
	if err != nil || len(files) != 6 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		v, err := serialize.LoadPickle(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		d := v.(*serialize.Dict)
		for key, want := range map[string]string{"int": "1", "big": "-1180591620717411303424", "float": "2.5",
			"complex": "1j", "text": "'é'", "bytes": `b'\x00\xff'`, "list": "[1, [2], (3,)]", "bool": "True",
			"none":   "None",
			"number": "0.5", "count": "7", "flag": "True", "size": "torch.Size([2])"} {
			if got := serialize.Repr(d.Get(key)); got != want {
				t.Errorf("%s: %s is %s, want %s", path, key, got, want)
			}
		}
		for key, want := range map[string]string{"c": "[0 1 2 3 4 5]", "fortran": "[0 1 2 3 4 5]",
			"big-endian": "[0 1 2 3 4 5]"} {
			a, ok := d.Get(key).(*npy.Array)
			if !ok {
				t.Errorf("%s: %s is %T", path, key, d.Get(key))
				continue
			}
			x, err := a.Tensor()
			if err != nil || fmt.Sprint(x.Shape()) != "[2 3]" || fmt.Sprint(torch.Data[int16](x)) != want {
				t.Errorf("%s: %s is %v, %v", path, key, x, err)
			}
		}
		if w, ok := d.Get("tensor").(*torch.Tensor); !ok || !w.Equal(torch.Arange(3).To(torch.Float32)) {
			t.Errorf("%s: the tensor is %v", path, d.Get("tensor"))
		}
		if d.Get("list").([]any)[1].([]any)[0] != 2 || d.Get("again").([]any)[0] != 1 {
			t.Errorf("%s: lists", path)
		}
	}
}

// TestMapped loads a file that is mapped into memory: the tensors are the same, share memory as they did, can be
// written to, and outlive the file's name; the file stays as it is.
func TestMapped(t *testing.T) {
	base := torch.Arange(5000).To(torch.Float32)
	v := serialize.NewDict("a", base, "b", base.Narrow(0, 10, 20).Reshape([]int{4, 5}).Transpose(0, 1), "c",
		torch.Ones([]int{3}).To(torch.Float64),
		"d", torch.Zeros([]int{0, 2}), "e", torch.Ones([]int{2}).To(torch.Bool), "n", 3)
	path := filepath.Join(t.TempDir(), "x.pt")
	if err := serialize.SaveFile(path, v); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := serialize.LoadFile(path, serialize.LoadOptions{MMap: true})
	if err != nil {
		t.Fatal(err)
	}
	s := same{seen: map[[2]any]bool{}}
	if !s.value(v, got) {
		t.Errorf("got %s", serialize.Repr(got))
	}
	d := got.(*serialize.Dict)
	a, b := d.Get("a").(*torch.Tensor), d.Get("b").(*torch.Tensor)
	torch.NoGrad(func() { a.MulScalarInPlace(2.0) })
	if a.Storage() != b.Storage() || b.Select(0, 0).Select(0, 0).Item() != 20 {
		t.Error("views no longer share memory")
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed (%v)", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if a.Sum().Item() != 2*base.Sum().Item() {
		t.Error("the elements are gone with the file")
	}
	torch.Tidy(func() { // frees what it made: of a mapping nothing goes to the allocator
		if err := os.WriteFile(path, before, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := serialize.LoadFile(path, serialize.LoadOptions{MMap: true}); err != nil {
			t.Fatal(err)
		}
	})
}
