package matfile

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"testing"
)

// example is a file with a row of two doubles named "ab".
func example(order binary.AppendByteOrder, mark string) []byte {
	b := append(make([]byte, 126), mark...)
	var body []byte
	u32 := func(v ...uint32) {
		for _, x := range v {
			body = order.AppendUint32(body, x)
		}
	}
	u32(6, 8, 6, 0) // flags: class double
	u32(5, 8, 1, 2) // sizes
	u32(2<<16 | 1)  // the name, as small data
	body = append(body, "ab\x00\x00"...)
	u32(9, 16)
	for _, v := range []float64{1.5, -2} {
		body = order.AppendUint64(body, math.Float64bits(v))
	}
	b = order.AppendUint32(b, 14)
	b = order.AppendUint32(b, uint32(len(body)))
	return append(b, body...)
}

func TestRead(t *testing.T) {
	for mark, order := range map[string]binary.AppendByteOrder{"IM": binary.LittleEndian, "MI": binary.BigEndian} {
		file := example(order, mark)
		m, err := Read(file)
		if err != nil {
			t.Fatal(err)
		}
		a := m["ab"]
		if a == nil || len(a.Dims) != 2 || a.Dims[1] != 2 || a.Len() != 2 || a.At(0) != 1.5 || a.At(1) != -2 {
			t.Errorf("%s: %+v", mark, m)
		}
		for n := range file { // cut anywhere, it is refused or has no array
			if m, err := Read(file[:n]); err == nil && len(m) > 0 || err != nil && !errors.Is(err, ErrFormat) {
				t.Errorf("%d bytes: %v, %v", n, m, err)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(example(binary.LittleEndian, "IM"))
	f.Add(example(binary.BigEndian, "MI"))
	if b, err := os.ReadFile("testdata/structs.mat"); err == nil {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Read(b)
		if err != nil && !errors.Is(err, ErrFormat) {
			t.Errorf("%v", err)
		}
		for name, a := range m {
			n := 1
			for _, d := range a.Dims {
				n *= d
			}
			stored := n
			switch {
			case a.Bytes != nil:
				stored = len(a.Bytes)
			case a.Numbers != nil:
				stored = len(a.Numbers)
			case a.Cells != nil:
				stored = len(a.Cells)
			}
			if n != a.Len() || n != stored {
				t.Errorf("array %q of sizes %v has %d elements, %d are stored", name, a.Dims, a.Len(), stored)
			}
		}
	})
}
