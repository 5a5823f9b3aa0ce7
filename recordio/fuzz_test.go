package recordio

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// FuzzReader checks on any bytes that all ways of reading agree, that recovery
// ends, and that what can be read strictly is written back identically.
func FuzzReader(f *testing.F) {
	m := "\x0a\x23\xd7\xce"
	for _, s := range []string{"", "record_0", m, "abcd" + m + "efgh", m + m + "x"} {
		b, _ := AppendRecord(nil, []byte(s))
		b, _ = AppendRecord(b, []byte("second"))
		f.Add(b)
		f.Add(b[:len(b)-3])
	}
	f.Add([]byte(m + "\xff\xff\xff\x1f" + m + "\x00\x00\x00\x20" + m + "\x00\x00\x00\x40"))
	f.Fuzz(func(t *testing.T, data []byte) {
		strict, serr := readAll(NewReaderAt(bytes.NewReader(data), int64(len(data))))
		stream, terr := readAll(NewReader(bytes.NewReader(data)))
		if errors.Is(serr, errSwallowed) && len(stream) >= len(strict) {
			// Only a file is read ahead to tell a header inside a record from chance: see swallowed. Up to there both
			// agree.
			for i := range strict {
				if !bytes.Equal(strict[i], stream[i]) {
					t.Fatalf("record %d of the stream differs", i)
				}
			}
			return
		}
		if len(strict) != len(stream) || (serr == nil) != (terr == nil) {
			t.Fatalf("file: %d records, %v; stream: %d records, %v", len(strict), serr, len(stream), terr)
		}
		if serr != nil && !errors.Is(serr, ErrCorrupt) {
			t.Fatalf("error of another kind: %v", serr)
		}
		total := 0
		var again []byte
		for _, b := range strict {
			total += len(b)
			again, _ = AppendRecord(again, b)
		}
		if total > len(data) {
			t.Fatalf("%d bytes of payload in %d bytes of file", total, len(data))
		}
		back, err := readAll(NewReader(bytes.NewReader(again)))
		if err != nil || len(back) != len(strict) {
			t.Fatalf("written again: %d records, %v", len(back), err)
		}
		for i := range back {
			if !bytes.Equal(back[i], strict[i]) {
				t.Fatalf("record %d changed", i)
			}
		}
		opt := ReaderOptions{SkipBad: true}
		a, aerr := readAll(NewReaderAt(bytes.NewReader(data), int64(len(data)), opt))
		b, berr := readAll(NewReader(bytes.NewReader(data), opt))
		if aerr != nil || berr != nil || len(a) != len(b) || len(a) < len(strict) {
			t.Fatalf("recovery: %d records, %v; from a stream %d, %v; strictly %d", len(a), aerr, len(b), berr,
				len(strict))
		}
		r := NewReaderAt(bytes.NewReader(data), int64(len(data)))
		for n := 0; ; n++ {
			if _, err := r.Next(); err == io.EOF {
				break
			} else if err != nil {
				before := r.Tell()
				off, err := r.Resync()
				if err == io.EOF {
					break
				}
				if off <= before {
					t.Fatalf("Resync from %d to %d", before, off)
				}
			}
			if n > len(data) {
				t.Fatal("no end")
			}
		}
	})
}

// FuzzIndexed checks that no index makes a reader panic on any file.
func FuzzIndexed(f *testing.F) {
	rec, _ := AppendRecord(nil, []byte("abcd\x0a\x23\xd7\xceefgh"))
	f.Add([]byte("0\t0\n1\t12\n2\t99\n"), rec)
	f.Add([]byte("0\t9223372036854775807\n-1\t9223372036854775804\n"), rec)
	f.Fuzz(func(t *testing.T, idx, rec []byte) {
		entries, err := ParseIndex(idx)
		if err != nil {
			return
		}
		e2, err := ParseIndex(AppendIndex(nil, entries))
		if err != nil || len(e2) != len(entries) {
			t.Fatalf("index written again: %v", err)
		}
		r, err := NewIndexedReader(NewReaderAt(bytes.NewReader(rec), int64(len(rec))), entries)
		if err != nil {
			t.Fatal(err)
		}
		allGood := true
		for _, k := range r.Keys() {
			if b, err := r.ReadIdx(k); err != nil {
				allGood = false
			} else if len(b) > len(rec) {
				t.Fatal("record longer than its file")
			}
		}
		if (r.Verify() == nil) != allGood {
			t.Fatalf("Verify says %v, reading says %v", r.Verify(), allGood)
		}
	})
}

func FuzzList(f *testing.F) {
	f.Add("1\t0.000000\ta.jpg\n2\t1\t2\tb.png\r\n")
	f.Add("\t\t\n9\tnan\t-inf\tx")
	f.Fuzz(func(t *testing.T, text string) {
		items, _ := ParseList(text)
		out, err := AppendList(nil, items)
		if err != nil {
			t.Fatalf("a parsed list cannot be written: %v", err)
		}
		again, bad := ParseList(string(out))
		// An empty path or one of odd white space may not survive; anything else must.
		for _, it := range items {
			if it.Path == "" || strings.TrimSpace(it.Path) != it.Path {
				return
			}
		}
		if len(bad) != 0 || len(again) != len(items) {
			t.Fatalf("%d items, then %d and %v", len(items), len(again), bad)
		}
	})
}

func FuzzProto(f *testing.F) {
	f.Add([]byte("\x0a\x15\x0a\x06values\x12\x0b:\x09\x0a\x01\x01\x12\x01\x01\x1a\x01\x05"))
	f.Add(AppendProto(nil, &ProtoRecord{Features: map[string]ProtoValue{"x": {Kind: ProtoFloat64, Float64: []float64{1},
		Shape: []uint64{1}}}, UID: "u"}))
	f.Fuzz(func(t *testing.T, data []byte) {
		rec, err := ParseProto(data)
		if err != nil {
			return
		}
		for _, m := range []map[string]ProtoValue{rec.Features, rec.Label} {
			for _, v := range m {
				if 1*len(v.Int32)+4*len(v.Float32)+8*len(v.Float64)+len(v.Keys)+len(v.Shape) > len(data) {
					t.Fatal("more values than bytes")
				}
				v.Dense(1000)
			}
		}
		once := AppendProto(nil, rec)
		back, err := ParseProto(once)
		if err != nil {
			t.Fatalf("encoded again: %v", err)
		}
		if !bytes.Equal(AppendProto(nil, back), once) {
			t.Fatal("encoding is not stable")
		}
	})
}

func FuzzUnpack(f *testing.F) {
	f.Add(Pack(IRHeader{Labels: []float32{1, 2}}, []byte("x")))
	f.Add(Pack(IRHeader{Label: 1}, nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, p, err := Unpack(data)
		if err != nil {
			return
		}
		if h.Flag > 0 {
			clear(data[4:8]) // MXNet writes no number beside an array
		}
		if got := Pack(h, p); !bytes.Equal(got, data) {
			t.Fatalf("packed again\n got %x\nwant %x", got, data)
		}
	})
}

func FuzzDecodeImage(f *testing.F) {
	for _, o := range []ImgOptions{{}, {Format: ".png"}} {
		for _, c := range []int{1, 3, 4} {
			b, err := EncodeImage(NewImage(5, 9, c), o)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Add([]byte("\xff\xd8\xff\xe1\x00\x10Exif\x00\x00II*\x00\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		exifOrientation(data)
		for _, flag := range []ColorFlag{Unchanged, Gray, Color} {
			img, err := DecodeImage(data, flag)
			if err == nil && img.check() != nil {
				t.Fatal(img.check())
			}
		}
	})
}
