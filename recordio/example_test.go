package recordio_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gotorch-dev/torch/recordio"
)

func ExampleNewReader() {
	var f bytes.Buffer
	w := recordio.NewWriter(&f)
	for i := range 3 {
		w.Write(fmt.Appendf(nil, "record_%d", i))
	}
	fmt.Println(f.Len(), "bytes")

	r := recordio.NewReader(&f)
	for {
		b, err := r.Next()
		if err == io.EOF {
			break
		}
		fmt.Println(string(b))
	}
	// Output:
	// 48 bytes
	// record_0
	// record_1
	// record_2
}

func ExampleOpenIndexed() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	idx, rec := filepath.Join(dir, "t.idx"), filepath.Join(dir, "t.rec")

	w, _ := recordio.CreateIndexed(idx, rec)
	for i := range 5 {
		w.WriteIdx(i, fmt.Appendf(nil, "record_%d", i))
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
	}

	r, err := recordio.OpenIndexed(idx, rec)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	b, _ := r.ReadIdx(3)
	fmt.Println(string(b))
	_, err = r.ReadIdx(9)
	fmt.Println(err)
	// Output:
	// record_3
	// recordio: no such key: 9 is not in the index of 5 entries
}

func ExamplePackImg() {
	img := recordio.NewImage(2, 2, 3)
	img.Pix[0] = 200 // blue of the upper left pixel
	rec, _ := recordio.PackImg(recordio.IRHeader{Label: 4, ID: 2574}, img, recordio.ImgOptions{Format: ".png"})

	h, out, err := recordio.UnpackImg(rec)
	fmt.Println(h.Label, h.ID, out.H, out.W, out.C, out.At(0, 0, 0), err)
	// Output: 4 2574 2 2 3 200 <nil>
}

// Reading on behind damage.
func ExampleReaderOptions() {
	var f bytes.Buffer
	w := recordio.NewWriter(&f)
	for i := range 3 {
		w.Write(fmt.Appendf(nil, "record_%d", i))
	}
	f.Bytes()[16] = 0 // the second record's magic

	r := recordio.NewReader(&f, recordio.ReaderOptions{
		SkipBad: true,
		OnBad:   func(err error, next int64) { fmt.Println("skipped to", next, "because of", err) },
	})
	for b := range r.All() {
		fmt.Println(string(b))
	}
	// Output:
	// record_0
	// skipped to 32 because of recordio: record file: offset 16: bad magic 0xced72300, expected 0xced7230a
	// record_2
}
