package records_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"github.com/gotorch-dev/torch/recordio"
)

// check stops on an error that nobody expects.
func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Write three records and read them back. A record is the magic number, its length, the bytes, and zeros up to a
// multiple of 4.
func Example() {
	var file bytes.Buffer
	w := recordio.NewWriter(&file)
	for i := range 3 {
		w.Write(fmt.Appendf(nil, "record_%d", i))
	}
	fmt.Println(file.Len(), "bytes:", hex.EncodeToString(file.Bytes()[:16]))

	r := recordio.NewReaderAt(bytes.NewReader(file.Bytes()), int64(file.Len()))
	for {
		b, err := r.Next()
		if err == io.EOF {
			break
		}
		fmt.Println(string(b))
	}
	r.Reset() // goes back to the first record
	b, _ := r.Next()
	fmt.Println(string(b))
	// Output:
	// 48 bytes: 0a23d7ce080000007265636f72645f30
	// record_0
	// record_1
	// record_2
	// record_0
}

// An index beside the file gives access by key. It keeps the order of its keys; an unknown key is an error.
func TestIndexed(t *testing.T) {
	idx, rec := filepath.Join(t.TempDir(), "data.idx"), filepath.Join(t.TempDir(), "data.rec")
	w, err := recordio.CreateIndexed(idx, rec)
	check(t, err)
	for i := range 5 {
		if w.Tell() != int64(16*i) {
			t.Errorf("record %d at %d", i, w.Tell())
		}
		check(t, w.WriteIdx(i, fmt.Appendf(nil, "record_%d", i)))
	}
	if w.Tell() != 80 {
		t.Errorf("the end is at %d", w.Tell())
	}
	check(t, w.Close())

	r, err := recordio.OpenIndexed(idx, rec)
	check(t, err)
	defer r.Close()
	if b, err := r.ReadIdx(3); err != nil || string(b) != "record_3" {
		t.Errorf("record 3: %q, %v", b, err)
	}
	if fmt.Sprint(r.Keys()) != "[0 1 2 3 4]" {
		t.Errorf("keys %v", r.Keys())
	}
	if _, err := r.ReadIdx(9); !errors.Is(err, recordio.ErrKey) {
		t.Errorf("key 9: %v", err)
	}
}

// Records of 5760, 6742 and 6773 bytes: the padding is not part of what is read, and the index is text, a key and an
// offset per line.
func TestPaddingAndIndexText(t *testing.T) {
	var rec, idx bytes.Buffer
	w := recordio.NewIndexedWriter(&idx, &rec)
	for i, n := range []int{5760, 6742, 6773, 4} {
		check(t, w.WriteIdx(i+1, make([]byte, n)))
	}
	check(t, w.Close())
	if idx.String() != "1\t0\n2\t5768\n3\t12520\n4\t19304\n" {
		t.Errorf("index %q", idx.String())
	}
	if n := rec.Len() - 19304; n != 12 { // the multiple is 4: with 8 this record would take 16 bytes
		t.Errorf("a record of 4 bytes takes %d", n)
	}
	r := recordio.NewReader(&rec)
	for _, n := range []int{5760, 6742, 6773, 4} {
		if b, err := r.Next(); err != nil || len(b) != n {
			t.Errorf("%d bytes, %v, want %d", len(b), err, n)
		}
	}
}

// The header in front of a picture is 24 bytes. With several labels the flag is their number; it is not free to use.
func TestHeader(t *testing.T) {
	one := recordio.Pack(recordio.IRHeader{Label: 4, ID: 2574}, []byte("data"))
	if got := hex.EncodeToString(one[:24]); got != "00000000"+"00008040"+"0e0a000000000000"+"0000000000000000" {
		t.Errorf("one label: %s", got)
	}
	three := recordio.Pack(recordio.IRHeader{Flag: 77, Labels: []float32{1, 2, 3}, ID: 2574}, []byte("data"))
	if got := hex.EncodeToString(three[:36]); got != "03000000"+"00000000"+"0e0a000000000000"+"0000000000000000"+"0000803f"+"00000040"+"00004040" {
		t.Errorf("three labels: %s", got)
	}
	h, payload, err := recordio.Unpack(three)
	check(t, err)
	if h.Flag != 3 || h.ID != 2574 || fmt.Sprint(h.LabelValues()) != "[1 2 3]" || string(payload) != "data" {
		t.Errorf("unpacked %+v, %q", h, payload)
	}
}

// A picture travels as JPEG or PNG, its channels in the order blue, green, red. PNG is exact, JPEG nearly.
func TestImages(t *testing.T) {
	grey, colour := recordio.NewImage(32, 32, 1), recordio.NewImage(32, 32, 3)
	for y := range 32 {
		for x := range 32 {
			grey.Pix[y*32+x] = uint8(8 * x)
			copy(colour.Pix[(y*32+x)*3:], []uint8{uint8(4 * (x + y)), uint8(8 * y), uint8(8 * x)}) // blue, green, red
		}
	}
	for _, c := range []struct {
		img     *recordio.Image
		format  string
		allowed int
	}{{grey, ".png", 0}, {colour, ".png", 0}, {grey, ".jpg", 0}, {colour, ".jpg", 5}} {
		// quality 95
		rec, err := recordio.PackImg(recordio.IRHeader{Label: 1}, c.img, recordio.ImgOptions{Format: c.format})
		check(t, err)
		h, got, err := recordio.UnpackImg(rec)
		check(t, err)
		if h.Label != 1 || got.H != 32 || got.W != 32 || got.C != c.img.C {
			t.Fatalf("%s: label %g, %d×%d×%d", c.format, h.Label, got.H, got.W, got.C)
		}
		worst := 0
		for i, v := range got.Pix {
			worst = max(worst, int(v)-int(c.img.Pix[i]), int(c.img.Pix[i])-int(v))
		}
		if worst > c.allowed {
			t.Errorf("%s, %d channels: off by %d, allowed %d", c.format, c.img.C, worst, c.allowed)
		}
	}
}

// A record file with an index is a dataset.
func TestDataset(t *testing.T) {
	idx, rec := filepath.Join(t.TempDir(), "data.idx"), filepath.Join(t.TempDir(), "data.rec")
	w, err := recordio.CreateIndexed(idx, rec)
	check(t, err)
	for i := range 3 {
		check(t, w.WriteIdx(i, recordio.Pack(recordio.IRHeader{Label: float32(i) / 2}, nil)))
	}
	check(t, w.Close())
	r, err := recordio.OpenIndexed(idx, rec)
	check(t, err)
	d := recordio.NewDataset(r, func(b []byte) (float32, error) {
		h, _, err := recordio.Unpack(b)
		return h.Label, err
	})
	defer d.Close()
	if label, err := d.Get(2); err != nil || label != 1 || d.Len() != 3 {
		t.Errorf("label %g, %v, %d samples", label, err, d.Len())
	}
}
