package gguf_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	_ "github.com/gotorch-dev/torch" // links the operators
	"github.com/gotorch-dev/torch/serialize/gguf"
	"github.com/gotorch-dev/torch/serialize/npy"
)

// TestFile compares metadata and tensors of every type with what llama.cpp's own package reads.
func TestFile(t *testing.T) {
	want, err := npy.ReadNPZ("testdata/quants.npz")
	if err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Open("testdata/quants.gguf")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for key, v := range map[string]any{"test.uint32": uint32(7), "test.float32": float32(1.5), "test.bool": true,
		"test.string": "é", "test.strings": []string{"a", "b"}, "test.ints": []int32{1, -2, 3},
		"general.architecture": "test", "nothing": nil} {
		if got := f.Get(key); !reflect.DeepEqual(got, v) {
			t.Errorf("%s is %v (%T), want %v", key, got, got, v)
		}
	}
	if f.Version() != 3 || len(f.Tensors()) != len(want) {
		t.Errorf("version %d, %d tensors, want %d", f.Version(), len(f.Tensors()), len(want))
	}
	for _, info := range f.Tensors() {
		x, err := f.Tensor(info.Name)
		if err != nil {
			t.Errorf("%s: %v", info.Name, err)
			continue
		}
		w, err := want[info.Name].Tensor()
		if err != nil {
			t.Fatal(err)
		}
		if info.Type != info.Name || !reflect.DeepEqual(x.Shape(), w.Shape()) || x.DType() != w.DType() {
			t.Errorf("%s: type %s, %v %v, want %v %v", info.Name, info.Type, x.DType(), x.Shape(), w.DType(), w.Shape())
			continue
		}
		// The order of the products differs by a rounding.
		if d := x.Sub(w).Abs().Max().Item() / math.Max(1, w.Abs().Max().Item()); d > 1e-6 {
			t.Errorf("%s is off by %g of its largest number", info.Name, d)
		}
	}
}

// small is a file of one tensor.
func small(shape []uint64, kind uint32, offset uint64, data []byte) []byte {
	var b bytes.Buffer
	put := func(v any) { _ = binary.Write(&b, binary.LittleEndian, v) }
	b.WriteString("GGUF")
	put(uint32(3))
	put([]uint64{1, 1})
	for _, s := range []string{"k"} {
		put(uint64(len(s)))
		b.WriteString(s)
	}
	put(uint32(4))
	put(uint32(9))
	put(uint64(1))
	b.WriteString("w")
	put(uint32(len(shape)))
	put(shape)
	put(kind)
	put(offset)
	for b.Len()%32 != 0 {
		b.WriteByte(0)
	}
	b.Write(data)
	return b.Bytes()
}

// TestBad gives what a broken or hostile file may hold.
func TestBad(t *testing.T) {
	good := small([]uint64{3, 2}, 0, 0, make([]byte, 24))
	f, err := gguf.NewFile(bytes.NewReader(good), int64(len(good)))
	if err != nil {
		t.Fatal(err)
	}
	if x, err := f.Tensor("w"); err != nil || !reflect.DeepEqual(x.Shape(), []int{2, 3}) {
		t.Fatalf("%v, %v", x, err)
	}
	count := bytes.Clone(good)
	binary.LittleEndian.PutUint64(count[8:], 1<<40)
	kvs := bytes.Clone(good)
	binary.LittleEndian.PutUint64(kvs[16:], 1<<60)
	text := bytes.Clone(good)
	binary.LittleEndian.PutUint64(text[24:], math.MaxUint64)
	for _, c := range []struct {
		name string
		file []byte
		err  error
		says string
	}{
		{"empty", nil, gguf.ErrFormat, ""},
		{"another file", []byte("GGML\x01\x02\x03\x04"), gguf.ErrFormat, "starts with"},
		{"version 1", append([]byte("GGUF\x01\x00\x00\x00"), make([]byte, 16)...), gguf.ErrFormat, "version 1"},
		{"tensors beyond the file", count, gguf.ErrFormat, "tensors"},
		{"entries beyond the file", kvs, gguf.ErrFormat, "entries"},
		{"text beyond the file", text, gguf.ErrFormat, "ends early"},
		{"a shape that overflows", small([]uint64{1 << 40, 1 << 40}, 0, 0, nil), gguf.ErrFormat, "too large"},
		{"data beyond the file", small([]uint64{100}, 0, 0, make([]byte, 24)), gguf.ErrFormat, "has 400 bytes"},
		{"an offset that overflows", small([]uint64{1}, 0, math.MaxUint64, make([]byte, 24)), gguf.ErrFormat,
			"begins at"},
		{"a row that is no whole block", small([]uint64{33}, 2, 0, make([]byte, 99)), gguf.ErrFormat, "whole blocks"},
		{"an unknown type", small([]uint64{1}, 999, 0, make([]byte, 24)), gguf.ErrFormat, "unknown type"},
		{"a type that is not decoded", small([]uint64{128}, 41, 0, make([]byte, 18)), gguf.ErrType, "Q1_0"},
	} {
		f, err := gguf.NewFile(bytes.NewReader(c.file), int64(len(c.file)))
		if err == nil {
			_, err = f.StateDict()
		}
		if !errors.Is(err, c.err) || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: got %v, want %v: %s", c.name, err, c.err, c.says)
		}
	}
	for n := range good {
		if _, err := gguf.NewFile(bytes.NewReader(good[:n]), int64(n)); err == nil {
			t.Errorf("cut to %d of %d bytes it opens", n, len(good))
		}
	}
}

func FuzzFile(f *testing.F) {
	if b, err := os.ReadFile("testdata/quants.gguf"); err == nil {
		f.Add(b)
	}
	f.Add(small([]uint64{32}, 2, 0, make([]byte, 18)))
	f.Add(small([]uint64{2, 0}, 0, 0, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := gguf.NewFile(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		for _, info := range x.Tensors() {
			if y, err := x.Tensor(info.Name); err == nil && !reflect.DeepEqual(y.Shape(), info.Shape) {
				t.Fatalf("%v, want %v", y.Shape(), info.Shape)
			}
		}
	})
}

func ExampleOpen() {
	f, err := gguf.Open("testdata/quants.gguf")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	fmt.Println(f.Get("general.architecture"))
	for _, info := range f.Tensors()[:2] {
		x, err := f.Tensor(info.Name)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(info.Name, info.Type, info.Size, x.Shape(), x.DType())
	}
	// Output:
	// test
	// Q4_0 Q4_0 72 [2 64] torch.float32
	// Q4_1 Q4_1 80 [2 64] torch.float32
}
