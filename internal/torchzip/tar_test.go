package torchzip

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch/internal/pickle"
)

// oldest writes {"w": 2x3, "v": its elements 2 to 4} in the first format that torch.save had.
func oldest(t testing.TB, format tar.Format) []byte {
	t.Helper()
	id := func(v Value) (Value, bool, error) { // tensors are named by their key
		if r, ok := v.(*TensorRef); ok {
			return r.Storage.Key, true, nil
		}
		return nil, false, nil
	}
	var storages, tensors, value bytes.Buffer
	put := func(b *bytes.Buffer, v Value) {
		p, err := pickle.Marshal(v, pickle.EncodeOptions{PersistentID: id})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(p)
	}
	raw := func(b *bytes.Buffer, v ...any) {
		for _, v := range v {
			if err := binary.Write(b, binary.LittleEndian, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(&storages, int64(1))
	put(&storages, pickle.Tuple{int64(77), "cpu", &pickle.Global{Module: "torch", Name: "FloatStorage"}})
	raw(&storages, int64(6), []float32{0, 1, 2, 3, 4, 5})
	put(&storages, &pickle.List{})
	put(&tensors, int64(2))
	class := &pickle.Global{Module: "torch", Name: "FloatTensor"}
	put(&tensors, pickle.Tuple{int64(1001), int64(77), class})
	raw(&tensors, int32(2), int32(-1), []int64{2, 3}, []int64{3, 1}, int64(0))
	put(&tensors, pickle.Tuple{int64(1002), int64(77), class})
	raw(&tensors, int32(1), int32(0), []int64{3}, []int64{1}, int64(2))
	d := pickle.NewDict(pickle.PlainDict)
	for _, e := range [][2]string{{"w", "1001"}, {"v", "1002"}} {
		if err := d.Set(e[0], &TensorRef{Storage: &StorageRef{Key: e[1]}}); err != nil {
			t.Fatal(err)
		}
	}
	put(&value, d)

	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, m := range []struct {
		name string
		b    []byte
	}{{"sys_info", []byte("little")}, {"storages", storages.Bytes()}, {"tensors", tensors.Bytes()},
		{"pickle", value.Bytes()}} {
		h := &tar.Header{Name: m.name, Size: int64(len(m.b)), Typeflag: tar.TypeReg, Format: format}
		if format == tar.FormatPAX {
			h.PAXRecords = map[string]string{"GOTORCH.note": "a record of its own before the member"}
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(m.b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func loadBytes(b []byte) (Value, error) { return Load(bytes.NewReader(b), int64(len(b))) }

func TestOldestFormat(t *testing.T) {
	for _, format := range []tar.Format{tar.FormatUSTAR, tar.FormatGNU, tar.FormatPAX} {
		v, err := loadBytes(oldest(t, format))
		if err != nil {
			t.Errorf("%v: %v", format, err)
			continue
		}
		d := v.(*pickle.Dict)
		for name, want := range map[string]string{"w": "[2 3] [3 1] 0", "v": "[3] [1] 2"} {
			x, _ := d.Get(name)
			r, ok := x.(*TensorRef)
			if !ok {
				t.Fatalf("%v: %s is %T", format, name, x)
			}
			if got := fmt.Sprint(r.Shape, r.Stride, r.Offset); got != want {
				t.Errorf("%v: %s has shape, strides, offset %s, want %s", format, name, got, want)
			}
			if got := floats(t, r); !slices.Equal(got, []float32{0, 1, 2, 3, 4, 5}) {
				t.Errorf("%v: %s holds %v", format, name, got)
			}
		}
	}
}

// TestOldestBroken cuts the archive short, and changes each byte of its headers: none of them may be read as something
// else.
func TestOldestBroken(t *testing.T) {
	b := oldest(t, tar.FormatUSTAR)
	end := len(bytes.TrimRight(b, "\x00")) // what follows only fills blocks
	for n := range end {
		if _, err := loadBytes(b[:n]); err == nil {
			t.Errorf("%d bytes of %d: no error", n, len(b))
		}
	}
	for off := 512; off < len(b); off += 512 {
		if string(b[off+257:off+262]) != "ustar" {
			continue
		}
		for i := off; i < off+512; i++ {
			c := bytes.Clone(b)
			c[i] ^= 0x11
			if _, err := loadBytes(c); err == nil {
				t.Errorf("header byte %d changed: no error", i)
			}
		}
	}
}

func TestTarNumber(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int64
		ok   bool
	}{
		{"00000001750\x00", 1000, true}, {"  17 \x00", 15, true}, {"", 0, false}, {"00000000009", 0, false},
		{"-0000000001", 0, false},
		{"\x80\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00", 2 << 32, true},
		{"\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 0, false},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 0, false},
	} {
		var b [12]byte
		copy(b[:], c.in)
		if n, ok := tarNumber(b[:]); n != c.want || ok != c.ok {
			t.Errorf("%q: %d, %v", c.in, n, ok)
		}
	}
}
