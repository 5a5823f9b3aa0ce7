package recordio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// sampleRecords makes records of many lengths, some with the magic word at every
// alignment, and the offset at which each begins.
func sampleRecords(rng *rand.Rand, n int) (file []byte, records [][]byte, starts []int) {
	for i := range n {
		p := make([]byte, rng.IntN(60))
		if i%9 == 0 {
			p = nil
		}
		for j := range p {
			p[j] = byte(rng.IntN(256))
		}
		for range rng.IntN(3) {
			if len(p) >= 4 {
				binary.LittleEndian.PutUint32(p[rng.IntN(len(p)-3):], 0xced7230a)
			}
		}
		starts = append(starts, len(file))
		records = append(records, p)
		file, _ = AppendRecord(file, p)
	}
	return file, records, starts
}

// TestEveryDamage damages files in every way, lost and added bytes that leave all
// later headers at odd offsets among them, and counts what SkipBad brings back.
func TestEveryDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for round := range 3000 {
		file, records, starts := sampleRecords(rng, 30)
		k := rng.IntN(28)
		lo, hi := starts[k], starts[k+1]
		at := lo + rng.IntN(hi-lo)
		var bad []byte
		kind := []string{"flip", "zeros", "noise", "cut 4", "insert 4", "cut odd", "insert odd"}[round%7]
		n := 1 + rng.IntN(min(12, hi-at))
		switch kind {
		case "flip":
			bad = bytes.Clone(file)
			bad[at] ^= 1 << rng.IntN(8)
		case "zeros", "noise":
			bad = bytes.Clone(file)
			for i := at; i < at+n; i++ {
				bad[i] = 0
				if kind == "noise" {
					bad[i] = byte(rng.IntN(256))
				}
			}
		case "cut 4", "cut odd":
			if n = 4 * (1 + rng.IntN(3)); kind == "cut odd" {
				n = 1 + rng.IntN(3)
			}
			n = min(n, len(file)-at)
			bad = append(bytes.Clone(file[:at]), file[at+n:]...)
		default:
			if n = 4; kind == "insert odd" {
				n = 1 + rng.IntN(3)
			}
			junk := make([]byte, n)
			for i := range junk {
				junk[i] = byte(rng.IntN(256))
			}
			bad = append(append(bytes.Clone(file[:at]), junk...), file[at:]...)
		}
		r := NewReaderAt(bytes.NewReader(bad), int64(len(bad)), ReaderOptions{SkipBad: true})
		var got [][]byte
		for {
			p, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, p)
		}
		for i := range k {
			if i >= len(got) || !bytes.Equal(got[i], records[i]) {
				t.Fatalf("round %d: %s: record %d before the damage is lost", round, kind, i)
			}
		}
		// Behind the damage nothing is lost, but the one record that the damaged one
		// may have run into.
		first := k + 1
		for first < len(starts) && starts[first] < at+n {
			first++
		}
		tail := records[min(first+1, len(records)):]
		ok := len(got) >= len(tail)
		for i := range tail {
			ok = ok && bytes.Equal(got[len(got)-len(tail)+i], tail[i])
		}
		if !ok {
			t.Errorf("round %d: %s at %d+%d of record %d (%d bytes): got %d records of %d", round, kind, at-lo, n, k,
				hi-lo, len(got), len(records))
		}
	}
}

// TestSwallowed: a length that covers the next record, up to its very end or into
// the middle of the one behind, is an error and not a longer record.
func TestSwallowed(t *testing.T) {
	for _, add := range []uint32{16, 20} {
		var file []byte
		for _, p := range []string{"first", "second..", "third...", "last"} {
			file, _ = AppendRecord(file, []byte(p))
		}
		binary.LittleEndian.PutUint32(file[20:], 8+add) // of the second, at offset 16
		for name, r := range map[string]*Reader{
			"file":   NewReaderAt(bytes.NewReader(file), int64(len(file))),
			"stream": NewReader(bytes.NewBuffer(bytes.Clone(file))),
		} {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
			p, err := r.Next()
			var bad *CorruptError
			if !errors.As(err, &bad) || bad.Offset != 16 ||
				!strings.Contains(bad.Reason, "runs over the record at offset 32") {
				t.Errorf("%s, %d more: %q, %v", name, add, p, err)
			}
		}
		r := NewReaderAt(bytes.NewReader(file), int64(len(file)), ReaderOptions{SkipBad: true})
		var got []string
		for p, err := range r.All() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(p))
		}
		if strings.Join(got, " ") != "first third... last" || r.Skipped() != 1 {
			t.Errorf("%d more: recovered %q, skipped %d", add, got, r.Skipped())
		}
	}
	// Writers of other tools do not split at the magic word: alone it is a payload's.
	word := append([]byte("....\x0a\x23\xd7\xce"), "1234"...)
	file := append([]byte("\x0a\x23\xd7\xce\x0c\x00\x00\x00"), word...)
	if p, err := NewReaderAt(bytes.NewReader(file), int64(len(file))).Next(); err != nil || !bytes.Equal(p, word) {
		t.Errorf("an unsplit magic word: %q, %v", p, err)
	}
}
