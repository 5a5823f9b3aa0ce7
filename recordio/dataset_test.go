package recordio

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// indexed is what a data loader asks of a dataset.
type indexed[T any] interface {
	Len() int
	Get(i int) (T, error)
}

var _ indexed[ImageSample] = (*Dataset[ImageSample])(nil)

func writeImages(t *testing.T, withIndex bool) string {
	t.Helper()
	dir := t.TempDir()
	idx, rec := filepath.Join(dir, "i.idx"), filepath.Join(dir, "i.rec")
	w, err := CreateIndexed(idx, rec)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		m := NewImage(4, 5, 3)
		for k := range m.Pix {
			m.Pix[k] = uint8(i)
		}
		b, err := PackImg(IRHeader{Label: float32(i % 3), ID: uint64(i)}, m, ImgOptions{Format: ".png"})
		if err != nil {
			t.Fatal(err)
		}
		// Keys in no particular order: the dataset follows the index.
		if err := w.WriteIdx(100-i, b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.WriteIdx(7, Pack(IRHeader{ID: 6}, []byte("no picture"))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if !withIndex {
		os.Remove(idx)
	}
	return rec
}

func TestDataset(t *testing.T) {
	for _, withIndex := range []bool{true, false} {
		ds, err := OpenImages(writeImages(t, withIndex))
		if err != nil {
			t.Fatal(err)
		}
		defer ds.Close()
		if ds.Len() != 7 {
			t.Fatalf("Len = %d", ds.Len())
		}
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				for k := range 60 {
					i := (k + g) % 6
					s, err := ds.Get(i)
					if err != nil || s.Header.ID != uint64(i) || s.Image.C != 3 || s.Image.At(3, 4, 2) != uint8(i) {
						t.Errorf("Get(%d) = %+v, %v", i, s, err)
						return
					}
				}
			})
		}
		wg.Wait()
		if _, err := ds.Get(6); err == nil || !strings.Contains(err.Error(), "record 6") {
			t.Errorf("record without a picture: %v", err)
		}
		for _, i := range []int{-1, 7} {
			if _, err := ds.Get(i); err == nil {
				t.Errorf("Get(%d) succeeded", i)
			}
		}
	}
	gray, err := OpenImages(writeImages(t, true), Gray)
	if err != nil {
		t.Fatal(err)
	}
	defer gray.Close()
	if s, err := gray.Get(5); err != nil || s.Image.C != 1 || s.Image.At(0, 0, 0) != 5 {
		t.Errorf("grey: %+v, %v", s, err)
	}
}

func TestList(t *testing.T) {
	items, bad := ParseList("5\t1.000000\ta/b c.jpg\n7\t1\t2.5\t-3e2\tx.png\r\n\nz\t1\tq\n1\tz\tq\n1\tonly two\n 8 " +
		"\t 1e999 \t y \r9\t0\tlast")
	if len(bad) != 4 || !strings.Contains(bad[1].Error(), "line 4") {
		t.Errorf("bad lines: %v", bad)
	}
	text, err := AppendList(nil, items)
	want := "5\t1.000000\ta/b c.jpg\n7\t1.000000\t2.500000\t-300.000000\tx.png\n8\tinf\ty\n9\t0.000000\tlast\n"
	if err != nil || string(text) != want {
		t.Errorf("list again: %q, %v\nwant %q", text, err, want)
	}
	if _, err := AppendList(nil, []ListItem{{0, nil, "a\tb"}}); err == nil {
		t.Error("a path with a tab was written")
	}
}
