package recordio

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/gotorch-dev/torch/internal/shared"
)

func exists(p string) bool { _, err := os.Stat(p); return err == nil }

func encode(t testing.TB, payloads ...[]byte) []byte {
	t.Helper()
	var out []byte
	for _, p := range payloads {
		var err error
		if out, err = AppendRecord(out, p); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func readAll(r *Reader) ([][]byte, error) {
	var out [][]byte
	for b, err := range r.All() {
		if err != nil {
			return out, err
		}
		out = append(out, b)
	}
	return out, nil
}

// readers opens the same bytes in every way the package can read them.
func readers(t *testing.T, data []byte, opt ReaderOptions) map[string]*Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.rec")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	out := map[string]*Reader{
		"seekable": NewReader(bytes.NewReader(data), opt),
		"pipe":     NewReader(io.MultiReader(bytes.NewReader(data)), opt),
		"tiny":     NewReader(oneByte{bytes.NewReader(data)}, opt),
		"readerat": NewReaderAt(bytes.NewReader(data), int64(len(data)), opt),
	}
	for _, no := range []bool{false, true} {
		o := opt
		o.NoMmap = no
		r, err := Open(path, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		out[fmt.Sprintf("open nommap=%v", no)] = r
	}
	return out
}

type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) {
	if len(p) > 1 {
		p = p[:1]
	}
	return o.r.Read(p)
}

func TestWriteKnownBytes(t *testing.T) {
	m := "\x0a\x23\xd7\xce"
	cases := []struct{ name, payload, hex string }{
		{"plain", "record_0", "0a23d7ce08000000" + "7265636f72645f30"},
		{"empty", "", "0a23d7ce00000000"},
		{"four bytes take twelve", "abcd", "0a23d7ce0400000061626364"},
		{"padding", "abcde", "0a23d7ce05000000" + "6162636465000000"},
		{"magic inside", "abcd" + m + "efgh" + m + "xyz", "0a23d7ce0400002061626364" + "0a23d7ce0400004065666768" +
			"0a23d7ce0300006078797a00"},
		{"magic alone", m, "0a23d7ce00000020" + "0a23d7ce00000060"},
		{"magic twice", m + m, "0a23d7ce00000020" + "0a23d7ce00000040" + "0a23d7ce00000060"},
		{"magic unaligned", "a" + m + "bcd", "0a23d7ce08000000" + "610a23d7ce626364"},
		{"magic then tail", m + "ab", "0a23d7ce00000020" + "0a23d7ce02000060" + "61620000"},
		{"unaligned then aligned", "a" + m + "bcd" + m, "0a23d7ce08000020" + "610a23d7ce626364" + "0a23d7ce00000060"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var buf bytes.Buffer
			w := NewWriter(&buf)
			n, err := w.Write([]byte(c.payload))
			if err != nil || n != len(c.payload) {
				t.Fatalf("Write = %d, %v", n, err)
			}
			if got := hex.EncodeToString(buf.Bytes()); got != c.hex {
				t.Fatalf("bytes\n got %s\nwant %s", got, c.hex)
			}
			if w.Tell() != int64(buf.Len()) {
				t.Errorf("Tell = %d, want %d", w.Tell(), buf.Len())
			}
			for name, r := range readers(t, buf.Bytes(), ReaderOptions{}) {
				got, err := r.Next()
				if err != nil || string(got) != c.payload {
					t.Errorf("%s: Next = %q, %v", name, got, err)
				}
				if _, err := r.Next(); err != io.EOF {
					t.Errorf("%s: after the last record: %v, want io.EOF", name, err)
				}
			}
		})
	}
}

func TestRecordStartsAndReset(t *testing.T) {
	var recs [][]byte
	for _, n := range []int{5760, 6742, 6773} {
		recs = append(recs, bytes.Repeat([]byte{7}, n))
	}
	data := encode(t, recs...)
	for name, r := range readers(t, data, ReaderOptions{}) {
		for i, want := range []int64{0, 5768, 12520} {
			if r.Tell() != want {
				t.Errorf("%s: Tell before record %d = %d, want %d", name, i, r.Tell(), want)
			}
			b, err := r.Next()
			if err != nil || !bytes.Equal(b, recs[i]) {
				t.Fatalf("%s: record %d: %d bytes, %v", name, i, len(b), err)
			}
		}
		if r.Tell() != 19304 {
			t.Errorf("%s: end at %d, want 19304", name, r.Tell())
		}
		err := r.Reset()
		if name == "pipe" || name == "tiny" {
			if err == nil {
				t.Errorf("%s: Reset of a stream that cannot seek succeeded", name)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: Reset: %v", name, err)
		}
		if b, err := r.Next(); err != nil || len(b) != 5760 {
			t.Errorf("%s: after Reset: %d bytes, %v", name, len(b), err)
		}
	}
}

func TestReaderStartsAtCurrentPosition(t *testing.T) {
	data := append([]byte("prefix"), encode(t, []byte("one"), []byte("two"))...)
	src := bytes.NewReader(data)
	src.Seek(6, io.SeekStart)
	r := NewReader(src)
	for range 2 {
		b, err := r.Next()
		if err != nil || string(b) != "one" {
			t.Fatalf("Next = %q, %v", b, err)
		}
		if r.Tell() != 18 {
			t.Fatalf("Tell = %d, want 18", r.Tell())
		}
		if err := r.Reset(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCorruptionHasOffset(t *testing.T) {
	good := encode(t, []byte("record_0"), []byte("record_1"), []byte("record_2"))
	mut := func(f func(b []byte) []byte) []byte { return f(bytes.Clone(good)) }
	multi := encode(t, []byte("abcd\x0a\x23\xd7\xceefgh"))
	cases := []struct {
		name   string
		data   []byte
		before int // records that can be read first
		offset int64
		text   string
	}{
		{"bad magic", mut(func(b []byte) []byte { b[16] ^= 1; return b }), 1, 16, "bad magic"},
		{"cut header", good[:37], 2, 32, "cut record header"},
		{"cut payload", good[:42], 2, 32, "only 10 left"},
		{"lying length", mut(func(b []byte) []byte { b[20], b[21] = 0xff, 0xff; return b }), 1, 16, "only 32 left"},
		{"huge length", mut(func(b []byte) []byte { copy(b[20:], "\xff\xff\xff\x1f"); return b }), 1, 16, "536870911"},
		{"short length", mut(func(b []byte) []byte { b[20] = 4; return b }), 2, 28, "bad magic"},
		{"flag 4", mut(func(b []byte) []byte { b[23] = 0x80; return b }), 1, 16, "continuation flag 4"},
		{"starts with a middle part", mut(func(b []byte) []byte { b[23] = 0x40; return b }), 1, 16,
			"continuation flag 2"},
		{"never finished", mut(func(b []byte) []byte { b[39] = 0x20; return b }), 2, 48, "ends inside"},
		{"new record inside a split one", mut(func(b []byte) []byte { b[23] = 0x20; return b }), 1, 32,
			"continuation flag 0"},
		{"second part cut", multi[:len(multi)-4], 0, 12, "only 8 left"},
		{"second part with a bad magic", append(bytes.Clone(multi[:12]), make([]byte, 12)...), 0, 12, "bad magic"},
		{"not a record file", []byte("hello, world"), 0, 0, "bad magic"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for name, r := range readers(t, c.data, ReaderOptions{}) {
				got, err := readAll(r)
				var ce *CorruptError
				if !errors.As(err, &ce) || !errors.Is(err, ErrCorrupt) {
					t.Fatalf("%s: error %v, want a CorruptError", name, err)
				}
				if len(got) != c.before || ce.Offset != c.offset || !strings.Contains(err.Error(), c.text) {
					t.Errorf("%s: %d records then %v; want %d records, offset %d, text %q", name, len(got), err,
						c.before, c.offset, c.text)
				}
				if _, again := r.Next(); again == nil || again.Error() != err.Error() {
					t.Errorf("%s: second Next: %v, want the same error", name, again)
				}
			}
		})
	}
}

func TestSkipBad(t *testing.T) {
	var recs [][]byte
	for i := range 6 {
		recs = append(recs, fmt.Appendf(nil, "record_%d", i))
	}
	good := encode(t, recs...) // 16 bytes each
	mut := func(f func(b []byte) []byte) []byte { return f(bytes.Clone(good)) }
	cases := []struct {
		name string
		data []byte
		want string
		bad  int
	}{
		{"nothing wrong", good, "012345", 0},
		{"bad magic", mut(func(b []byte) []byte { b[32] = 0; return b }), "01345", 1},
		{"two apart", mut(func(b []byte) []byte { b[16] = 0; b[48] = 0; return b }), "0245", 2},
		{"two together", mut(func(b []byte) []byte { b[16] = 0; b[32] = 0; return b }), "0345", 1},
		{"lying length", mut(func(b []byte) []byte { copy(b[20:], "\xff\xff\xff\x1f"); return b }), "02345", 1},
		{"first", mut(func(b []byte) []byte { b[0] = 0; return b }), "12345", 1},
		{"last cut", good[:90], "01234", 1},
		{"garbage between", append(append(bytes.Clone(good[:48]), "????????"...), good[48:]...), "012345", 1},
		{"all garbage", bytes.Repeat([]byte("x"), 4096), "", 1},
		{"split record without end", mut(func(b []byte) []byte { b[39] = 0x20; return b }), "01345", 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			calls := 0
			opt := ReaderOptions{SkipBad: true, OnBad: func(err error, next int64) {
				calls++
				if !errors.Is(err, ErrCorrupt) || next%4 != 0 && next != int64(len(c.data)) {
					t.Errorf("OnBad(%v, %d)", err, next)
				}
			}}
			for name, r := range readers(t, c.data, opt) {
				calls = 0
				got, err := readAll(r)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				var s string
				for _, b := range got {
					s += strings.TrimPrefix(string(b), "record_")
				}
				if s != c.want || calls != c.bad || r.Skipped() != c.bad {
					t.Errorf("%s: records %q, %d bad (%d calls); want %q, %d", name, s, r.Skipped(), calls, c.want,
						c.bad)
				}
			}
		})
	}
}

func TestResync(t *testing.T) {
	data := encode(t, []byte("record_0"), []byte("record_1"))
	data[0] = 0
	for name, r := range readers(t, data, ReaderOptions{}) {
		if _, err := r.Next(); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%s: %v", name, err)
		}
		if off, err := r.Resync(); off != 16 || err != nil {
			t.Fatalf("%s: Resync = %d, %v", name, off, err)
		}
		if b, err := r.Next(); string(b) != "record_1" || err != nil {
			t.Fatalf("%s: Next = %q, %v", name, b, err)
		}
	}
}

// Recovery across the border of the search window, which is 64 KiB.
func TestSkipBadFarAway(t *testing.T) {
	for _, gap := range []int{65524, 65528, 65532, 65536, 65540, 131064, 200000} {
		data := append(make([]byte, gap), encode(t, []byte("found"))...)
		for name, r := range readers(t, data, ReaderOptions{SkipBad: true}) {
			if b, err := r.Next(); string(b) != "found" || err != nil {
				t.Fatalf("gap %d, %s: %q, %v", gap, name, b, err)
			}
		}
	}
}

// A file of many false heads that all run into the same broken chain must not
// take quadratic time.
func TestSkipBadHostile(t *testing.T) {
	const heads, tail = 40000, 40000
	var data []byte
	chain := heads * 8
	for i := range heads {
		skip := chain - (i+1)*8
		data = append(data, magicBytes[:]...)
		data = append(data, byte(skip), byte(skip>>8), byte(skip>>16), byte(skip>>24)|0x20)
	}
	for range tail {
		data = append(data, magicBytes[:]...)
		data = append(data, 0, 0, 0, 0x40)
	}
	r := NewReaderAt(bytes.NewReader(data), int64(len(data)), ReaderOptions{SkipBad: true})
	if _, err := r.Next(); err != io.EOF {
		t.Fatal(err)
	}
	// The same from a stream, behind false heads that claim all that follows.
	lies := bytes.Repeat([]byte("\x0a\x23\xd7\xce\xff\xff\xff\x1f"), 100000)
	for _, d := range [][]byte{data, lies} {
		s := NewReader(bytes.NewReader(d), ReaderOptions{SkipBad: true})
		if _, err := s.Next(); err != io.EOF {
			t.Fatal(err)
		}
	}
}

// A length that lies must not make a stream reader allocate what it claims.
func TestStreamAllocatesByInput(t *testing.T) {
	data := append(magicBytes[:4:4], 0xff, 0xff, 0xff, 0x1f)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := NewReader(bytes.NewReader(data)).Next()
	runtime.ReadMemStats(&after)
	if !errors.Is(err, ErrCorrupt) {
		t.Fatal(err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes allocated for an input of 8", n)
	}
}

func TestIndexed(t *testing.T) {
	dir := t.TempDir()
	idx, rec := filepath.Join(dir, "t.idx"), filepath.Join(dir, "t.rec")
	w, err := CreateIndexed(idx, rec)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if err := w.WriteIdx(i, fmt.Appendf(nil, "record_%d", i)); err != nil {
			t.Fatal(err)
		}
		if w.Tell() != int64(16*(i+1)) {
			t.Errorf("Tell = %d", w.Tell())
		}
	}
	if exists(idx) || exists(rec) {
		t.Error("files appear before Close")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(idx); string(b) != "0\t0\n1\t16\n2\t32\n3\t48\n4\t64\n" {
		t.Errorf("index %q", b)
	}
	left, _ := os.ReadDir(dir)
	if len(left) != 2 {
		t.Errorf("files left behind: %v", left)
	}
	r, err := OpenIndexed(idx, rec)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if b, err := r.ReadIdx(3); string(b) != "record_3" || err != nil {
		t.Errorf("ReadIdx(3) = %q, %v", b, err)
	}
	if r.Tell() != 0 {
		t.Errorf("ReadIdx moved the position to %d", r.Tell())
	}
	if _, err := r.ReadIdx(9); !errors.Is(err, ErrKey) {
		t.Errorf("unknown key: %v", err)
	}
	if err := r.Seek(2); err != nil {
		t.Error(err)
	}
	if b, err := r.Next(); string(b) != "record_2" || err != nil {
		t.Errorf("Next after Seek(2) = %q, %v", b, err)
	}
	if err := r.Verify(); err != nil {
		t.Error(err)
	}
	built, err := BuildIndex(mustClone(t, r.Reader))
	if err != nil || len(built) != 5 || built[4] != (IndexEntry{4, 64}) {
		t.Errorf("BuildIndex = %v, %v", built, err)
	}
}

func mustClone(t *testing.T, r *Reader) *Reader {
	t.Helper()
	c, err := r.Clone()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestIndexAstray(t *testing.T) {
	data := encode(t, []byte("abcd\x0a\x23\xd7\xceefgh"), []byte("second"))
	entries := []IndexEntry{{0, 0}, {1, 12}, {2, 2}, {3, 4000}, {4, 4}, {5, 24}, {6, int64(len(data))}}
	r, err := NewIndexedReader(NewReaderAt(bytes.NewReader(data), int64(len(data))), entries)
	if err != nil {
		t.Fatal(err)
	}
	for key, ok := range map[int]bool{0: true, 1: false, 2: false, 3: false, 4: false, 5: true, 6: false} {
		b, err := r.ReadIdx(key)
		var ce *CorruptError
		switch {
		case ok && err != nil:
			t.Errorf("key %d: %v", key, err)
		case !ok && (!errors.As(err, &ce) || ce.Offset != entries[key].Offset):
			t.Errorf("key %d: %q, %v; want an error at offset %d", key, b, err, entries[key].Offset)
		}
	}
	if err := r.Verify(); err == nil || strings.Count(err.Error(), "\n") != 4 {
		t.Errorf("Verify: %v", err)
	}
}

// TestShiftedRecord: an index made of a file that has lost bytes finds the records
// behind the loss.
func TestShiftedRecord(t *testing.T) {
	file, _ := AppendRecord(nil, []byte("first"))
	file, _ = AppendRecord(append(file, 'x'), []byte("second"))
	r := NewReaderAt(bytes.NewReader(file), int64(len(file)))
	if p, err := r.RecordAt(17); err != nil || string(p) != "second" {
		t.Errorf("record at 17: %q, %v", p, err)
	}
	if _, err := r.RecordAt(18); err == nil || !strings.Contains(err.Error(), "multiples of 4") {
		t.Errorf("record at 18: %v", err)
	}
}

func TestParseIndex(t *testing.T) {
	cases := []struct {
		in   string
		want string // formatted again, or the error text
		ok   bool
	}{
		{"1\t0\n2\t5768\n", "1\t0\n2\t5768\n", true},
		{"1\t0\r\n 2 \t 5768 \n", "1\t0\n2\t5768\n", true},
		{"-3\t8\textra\n\n7\t9", "-3\t8\n7\t9\n", true},
		{"", "", true},
		{"1 0\n", "line 1", false},
		{"1\t0\nx\t5\n", "line 2", false},
		{"1\t-4\n", "line 1", false},
		{"1\t99999999999999999999\n", "line 1", false},
		{"\t5\n", "line 1", false},
		{"5\t\n", "line 1", false},
	}
	for _, c := range cases {
		e, err := ParseIndex([]byte(c.in))
		if c.ok && (err != nil || string(AppendIndex(nil, e)) != c.want) {
			t.Errorf("%q: %v, %v", c.in, e, err)
		}
		if !c.ok && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: error %v, want %q in it", c.in, err, c.want)
		}
	}
}

func TestConcurrentReaders(t *testing.T) {
	dir := t.TempDir()
	idx, rec := filepath.Join(dir, "t.idx"), filepath.Join(dir, "t.rec")
	w, err := CreateIndexed(idx, rec)
	if err != nil {
		t.Fatal(err)
	}
	const n = 200
	var wg sync.WaitGroup
	for i := range n { // writers too
		wg.Go(func() {
			if err := w.WriteIdx(i, fmt.Appendf(nil, "payload %d", i)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, no := range []bool{false, true} {
		r, err := OpenIndexed(idx, rec, ReaderOptions{NoMmap: no})
		if err != nil {
			t.Fatal(err)
		}
		for g := range 8 {
			wg.Go(func() {
				for i := range n {
					k := (i*7 + g) % n
					if b, err := r.ReadIdx(k); string(b) != fmt.Sprint("payload ", k) || err != nil {
						t.Errorf("key %d: %q, %v", k, b, err)
						return
					}
				}
			})
		}
		wg.Go(func() {
			if all, err := readAll(r.Reader); len(all) != n || err != nil {
				t.Errorf("%d records, %v", len(all), err)
			}
		})
		wg.Wait()
		// Close may come while others read: they get an error, no crash.
		for range 4 {
			wg.Go(func() {
				for i := range 10000 {
					if _, err := r.ReadIdx(i % n); err != nil {
						if !errors.Is(err, ErrClosed) {
							t.Error(err)
						}
						return
					}
				}
			})
		}
		r.Close()
		wg.Wait()
		if _, err := r.Next(); err != ErrClosed {
			t.Errorf("Next after Close: %v", err)
		}
	}
}

// A file cut while it is mapped gives an error instead of ending the process.
func TestMappedFileShrinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a mapped file cannot be cut on Windows")
	}
	path := filepath.Join(t.TempDir(), "x.rec")
	big := make([]byte, 256<<10)
	if err := os.WriteFile(path, encode(t, big, []byte("end")), 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := os.Truncate(path, 16); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); err == nil {
		t.Error("reading a cut file succeeded")
	}
}

func TestWriterFailures(t *testing.T) {
	w := NewWriter(failAfter{1})
	if _, err := w.Write([]byte("x")); err == nil {
		t.Error("failing stream: no error")
	}
	if _, err := w.Write([]byte("x")); err == nil {
		t.Error("a writer goes on after a failed write")
	}
	if _, err := AppendRecord(nil, make([]byte, MaxRecordSize+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	dir := t.TempDir()
	c, err := Create(filepath.Join(dir, "a.rec"))
	if err != nil {
		t.Fatal(err)
	}
	c.Write([]byte("dropped"))
	if err := c.Reset(); err != nil || c.Tell() != 0 {
		t.Errorf("Reset: %v, Tell %d", err, c.Tell())
	}
	c.Write([]byte("kept"))
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "a.rec")); !bytes.Equal(b, encode(t, []byte("kept"))) {
		t.Errorf("file after Reset: %x", b)
	}
	if _, err := c.Write(nil); err != ErrClosed {
		t.Errorf("Write after Close: %v", err)
	}
	a, _ := Create(filepath.Join(dir, "b.rec"))
	a.Abort()
	ix, _ := CreateIndexed(filepath.Join(dir, "c.idx"), filepath.Join(dir, "c.rec"))
	ix.Abort()
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("Abort left files: %v", left)
	}
}

type failAfter struct{ n int }

func (f failAfter) Write(p []byte) (int, error) { return 0, errors.New("disk full") }

func TestPackUnpack(t *testing.T) {
	cases := []struct {
		name string
		h    IRHeader
		hex  string
	}{
		{"number", IRHeader{Flag: 9, Label: 4, ID: 2574}, "00000000000080400e0a0000000000000000000000000000"},
		{"array", IRHeader{Label: 4, Labels: []float32{1, 2, 3}, ID: 2574},
			"03000000000000000e0a00000000000000000000000000000000803f0000004000004040"},
		{"empty array", IRHeader{Labels: []float32{}, ID: 1, ID2: 2},
			"000000000000000001000000000000000200000000000000"},
	}
	for _, c := range cases {
		b := Pack(c.h, []byte("data"))
		if got := hex.EncodeToString(b); got != c.hex+"64617461" {
			t.Errorf("%s: %s", c.name, got)
		}
		h, p, err := Unpack(b)
		if err != nil || string(p) != "data" || h.ID != c.h.ID || h.ID2 != c.h.ID2 || int(h.Flag) != len(c.h.Labels) {
			t.Errorf("%s: Unpack = %+v, %q, %v", c.name, h, p, err)
		}
		if !bytes.Equal(Pack(h, p), b) {
			t.Errorf("%s: packing again gives other bytes", c.name)
		}
	}
	for _, bad := range []string{"", "short", strings.Repeat("\xff", 24), strings.Repeat("\xff", 100)} {
		if _, _, err := Unpack([]byte(bad)); err == nil {
			t.Errorf("Unpack(%d bytes) succeeded", len(bad))
		}
	}
}

func TestIndexPath(t *testing.T) {
	for in, want := range map[string]string{"a/b.rec": "a/b.idx", "b": "b.idx", "x.y/b": "x.y/b.idx",
		"a/.rec": "a/.rec.idx", "t.v1.rec": "t.v1.idx"} {
		if got := IndexPath(in); got != want {
			t.Errorf("IndexPath(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSharedSample(t *testing.T) {
	dir := shared.Path(t, "testdata/recordio/generated")
	r, err := OpenIndexed(filepath.Join(dir, "sample.idx"), filepath.Join(dir, "sample.rec"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Verify(); err != nil {
		t.Error(err)
	}
	if b, err := r.ReadIdx(13); err != nil || string(b) != "abcd\x0a\x23\xd7\xceefgh\x0a\x23\xd7\xcexyz" {
		t.Errorf("record with the magic inside: %q, %v", b, err)
	}
	if b, err := r.ReadIdx(14); err != nil || len(b) != 0 {
		t.Errorf("empty record: %q, %v", b, err)
	}
	b, err := r.ReadIdx(12)
	if err != nil {
		t.Fatal(err)
	}
	h, p, err := Unpack(b)
	if err != nil || string(p) != "multi-label" || fmt.Sprint(h.Labels) != "[1.5 2.5 3.5]" || h.ID != 12 {
		t.Errorf("label array: %+v %q %v", h, p, err)
	}
	// Writing the same records again gives the same two files.
	var idx, rec bytes.Buffer
	w := NewIndexedWriter(&idx, &rec)
	for _, k := range r.Keys() {
		b, err := r.ReadIdx(k)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.WriteIdx(k, b); err != nil {
			t.Fatal(err)
		}
	}
	for name, got := range map[string][]byte{"sample.idx": idx.Bytes(), "sample.rec": rec.Bytes()} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: written again it differs (%v)", name, err)
		}
	}
}
