// Package recordiocheck compares package recordio with a folder of RecordIO files.
//
// A file is a record file if it starts with the format's magic word, whatever it
// is called. Beside x.rec may stand, by name:
//
//	x.idx              its index
//	x.lst              the im2rec list it was made from
//	x.rec.json, x.json what it holds, see [Expected]
//
// Without any of them a file still has to be read in every way with the same
// result, written again with the same bytes, and its payloads taken apart and put
// together again.
package recordiocheck

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/recordio"
)

// Result is the outcome for one file; its cases are the checks in their order.
type Result = golden.Result

// Expected is the description of a record file in JSON. Absent members are not
// compared.
type Expected struct {
	Records []struct {
		Offset  *int64          `json:"offset"`
		Length  *int            `json:"length"` // of the payload
		SHA256  *string         `json:"sha256"` // of the payload
		Hex     *string         `json:"hex"`    // the payload itself
		Flag    *uint32         `json:"flag"`
		Label   json.RawMessage `json:"label"` // a number or an array
		ID      *uint64         `json:"id"`
		ID2     *uint64         `json:"id2"`
		Body    *string         `json:"body_sha256"` // of what follows header and labels
		Image   *[3]int         `json:"image"`       // height, width, channels as stored
		Feature []float64       `json:"features"`    // protobuf: the feature "values", dense
		Target  []float64       `json:"labels"`      // protobuf: the label "values", dense
	} `json:"records"`

	// ErrorOffset is where a damaged file's first error lies; Records are then
	// those before it, and Recovered the payloads that skipping damage gives.
	ErrorOffset *int64   `json:"error_offset"`
	Recovered   []string `json:"recovered_hex"`
}

var magic = []byte{0x0a, 0x23, 0xd7, 0xce}

// Run checks the files of dir and its folders, sorted by name. The error is about
// dir itself, not about files that fail.
func Run(dir string) (results []Result, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, rerr := filepath.Rel(dir, path)
		if rerr != nil {
			return rerr
		}
		r := recorder{Result: Result{Name: filepath.ToSlash(rel)}}
		if belongs := r.file(path); !belongs {
			results = append(results, r.Result)
		}
		return nil
	})
	if err != nil {
		return results, fmt.Errorf("recordiocheck: %w", err)
	}
	return results, nil
}

type recorder struct{ Result }

func (r *recorder) check(ok bool, format string, args ...any) bool {
	var err error
	if !ok {
		err = fmt.Errorf(format, args...)
	}
	r.Add(strconv.Itoa(len(r.Cases)), err)
	return ok
}

func (r *recorder) skip(format string, args ...any) {
	r.Add(strconv.Itoa(len(r.Cases)), golden.Skip(fmt.Sprintf(format, args...)))
}

// companion returns the text of a file beside path with another extension.
func companion(path string, exts ...string) (name string, text []byte) {
	stem := strings.TrimSuffix(path, filepath.Ext(path))
	for _, base := range []string{path, stem} {
		for _, e := range exts {
			if b, err := os.ReadFile(base + e); err == nil && base+e != path {
				golden.Note(base + e)
				return base + e, b
			}
		}
	}
	return "", nil
}

func isRecordFile(path string) bool {
	golden.Note(path)
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, 4)
	_, err = io.ReadFull(f, b)
	return err == nil && bytes.Equal(b, magic)
}

// file checks one file. It returns true if the file only describes another.
func (r *recorder) file(path string) (belongs bool) {
	_, exp := companion(path, ".json")
	_, idx := companion(path, ".idx")
	if !isRecordFile(path) {
		// A file with damage at its start, or an empty one, is known by what
		// stands beside it.
		ext := filepath.Ext(path)
		if ext == ".idx" || ext == ".lst" || ext == ".json" {
			stem := strings.TrimSuffix(path, ext)
			if matches, _ := filepath.Glob(globEscape(stem) + "*"); len(matches) > 1 {
				return true
			}
		}
		if exp == nil && idx == nil {
			r.skip("no record file: it does not start with the magic word")
			return false
		}
	}
	data, err := os.ReadFile(path)
	if !r.check(err == nil, "%v", err) {
		return false
	}
	var want *Expected
	if exp != nil {
		want = &Expected{}
		if err := json.Unmarshal(exp, want); err != nil || want.Records == nil {
			want = nil
			r.skip("the JSON file beside it has another form")
		}
	}
	records, offsets := r.read(path, data, want)
	for i, b := range records {
		r.payload(i, b)
	}
	if want != nil {
		r.expected(records, offsets, data, want)
	}
	if idx != nil {
		r.index(path, idx, records, offsets)
		if _, lst := companion(path, ".lst"); lst != nil {
			r.list(path, lst, idx)
		}
	}
	if exp == nil && idx == nil {
		r.skip("nothing beside it says what it holds")
	}
	return false
}

func globEscape(s string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(s)
}

// read reads the file through a mapping, through ReadAt and as a stream, which
// have to agree, and writes it again.
func (r *recorder) read(path string, data []byte, want *Expected) (records [][]byte, offsets []int64) {
	type reading struct {
		records [][]byte
		offsets []int64
		err     error
	}
	all := func(rd *recordio.Reader, err error) (g reading) {
		if g.err = err; err != nil {
			return g
		}
		defer func() { _ = rd.Close() }() // only read
		for {
			off := rd.Tell()
			b, err := rd.Next()
			if err == io.EOF {
				return g
			}
			if err != nil {
				g.err = err
				return g
			}
			g.records, g.offsets = append(g.records, b), append(g.offsets, off)
		}
	}
	first := all(recordio.Open(path))
	others := map[string]reading{
		"ReadAt":   all(recordio.Open(path, recordio.ReaderOptions{NoMmap: true})),
		"a stream": all(recordio.NewReader(io.MultiReader(bytes.NewReader(data))), nil),
	}
	for name, o := range others {
		ok := len(o.records) == len(first.records) && (o.err == nil) == (first.err == nil)
		for i := 0; ok && i < len(o.records); i++ {
			ok = bytes.Equal(o.records[i], first.records[i]) && o.offsets[i] == first.offsets[i]
		}
		r.check(ok, "read through %s: %d records, %v; mapped: %d records, %v", name, len(o.records), o.err,
			len(first.records), first.err)
	}
	if want != nil && want.ErrorOffset != nil {
		var ce *recordio.CorruptError
		r.check(errors.As(first.err, &ce) && ce.Offset == *want.ErrorOffset, "error %v, expected one at offset %d",
			first.err, *want.ErrorOffset)
		return first.records, first.offsets
	}
	if !r.check(first.err == nil, "%v", first.err) {
		return first.records, first.offsets
	}
	var again []byte
	for _, b := range first.records {
		again, _ = recordio.AppendRecord(again, b)
	}
	r.check(bytes.Equal(again, data), "written again, the file has other bytes")
	return first.records, first.offsets
}

// payload takes one payload apart and puts it together again, as far as it is of
// a known kind.
func (r *recorder) payload(i int, b []byte) {
	if p, err := recordio.ParseProto(b); err == nil && len(p.Features) > 0 {
		r.check(bytes.Equal(recordio.AppendProto(nil, p), b),
			"record %d: the protobuf message encoded again has other bytes", i)
		for _, m := range []map[string]recordio.ProtoValue{p.Features, p.Label} {
			for k, v := range m {
				if v.Kind == recordio.ProtoBytes || v.Kind == recordio.ProtoNone {
					continue
				}
				_, err := v.Dense(1 << 24)
				r.check(err == nil, "record %d: %q: %v", i, k, err)
			}
		}
		return
	}
	h, body, err := recordio.Unpack(b)
	if err != nil {
		return // any bytes may be a record
	}
	same := bytes.Equal(recordio.Pack(h, body), b)
	if jpg, png := bytes.HasPrefix(body, []byte("\xff\xd8\xff")), bytes.HasPrefix(body,
		[]byte("\x89PNG\r\n\x1a\n")); jpg || png {
		r.check(same, "record %d: the header packed again has other bytes", i)
		for _, flag := range []recordio.ColorFlag{recordio.Unchanged, recordio.Gray, recordio.Color} {
			m, err := recordio.DecodeImage(body, flag)
			r.check(err == nil && (flag != recordio.Gray || m.C == 1) && (flag != recordio.Color || m.C == 3),
				"record %d: image, colour flag %d: %v", i, flag, err)
		}
	} else if h.Labels == nil || h.Label == 0 {
		r.check(same, "record %d: the header packed again has other bytes", i)
	}
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

func (r *recorder) expected(records [][]byte, offsets []int64, data []byte, want *Expected) {
	if !r.check(len(records) == len(want.Records), "%d records, expected %d", len(records), len(want.Records)) {
		return
	}
	for i, w := range want.Records {
		b := records[i]
		if w.Offset != nil {
			r.check(offsets[i] == *w.Offset, "record %d at offset %d, expected %d", i, offsets[i], *w.Offset)
		}
		if w.Length != nil {
			r.check(len(b) == *w.Length, "record %d has %d bytes, expected %d", i, len(b), *w.Length)
		}
		if w.SHA256 != nil {
			r.check(sum(b) == *w.SHA256, "record %d: SHA-256 %s, expected %s", i, sum(b), *w.SHA256)
		}
		if w.Hex != nil {
			r.check(hex.EncodeToString(b) == *w.Hex, "record %d is %.80x, expected %.80s", i, b, *w.Hex)
		}
		if w.Flag != nil || w.Label != nil || w.ID != nil || w.ID2 != nil || w.Body != nil || w.Image != nil {
			h, body, err := recordio.Unpack(b)
			if !r.check(err == nil, "record %d: %v", i, err) {
				continue
			}
			if w.Flag != nil {
				r.check(h.Flag == *w.Flag, "record %d: flag %d, expected %d", i, h.Flag, *w.Flag)
			}
			if w.Label != nil {
				var one float32
				var many []float32
				if json.Unmarshal(w.Label, &one) == nil {
					r.check(h.Labels == nil && h.Label == one, "record %d: label %v, expected %v", i, h.LabelValues(),
						one)
				} else if json.Unmarshal(w.Label, &many) == nil {
					r.check(fmt.Sprint(h.Labels) == fmt.Sprint(many), "record %d: labels %v, expected %v", i, h.Labels,
						many)
				} else {
					r.skip("record %d: label %s is neither a number nor an array", i, w.Label)
				}
			}
			if w.ID != nil {
				r.check(h.ID == *w.ID, "record %d: id %d, expected %d", i, h.ID, *w.ID)
			}
			if w.ID2 != nil {
				r.check(h.ID2 == *w.ID2, "record %d: id2 %d, expected %d", i, h.ID2, *w.ID2)
			}
			if w.Body != nil {
				r.check(sum(body) == *w.Body, "record %d: SHA-256 of the body %s, expected %s", i, sum(body), *w.Body)
			}
			if w.Image != nil {
				m, err := recordio.DecodeImage(body, recordio.Unchanged)
				r.check(err == nil && [3]int{m.H, m.W, m.C} == *w.Image, "record %d: image %v, expected %v", i, err,
					*w.Image)
			}
		}
		if w.Feature != nil || w.Target != nil {
			p, err := recordio.ParseProto(b)
			if !r.check(err == nil, "record %d: %v", i, err) {
				continue
			}
			for name, pair := range map[string]struct {
				got  recordio.ProtoValue
				want []float64
			}{"features": {p.Features["values"], w.Feature}, "labels": {p.Label["values"], w.Target}} {
				if pair.want == nil {
					continue
				}
				got, err := pair.got.Dense(1 << 24)
				r.check(err == nil && fmt.Sprint(got) == fmt.Sprint(pair.want), "record %d: %s %v, %v; expected %v", i,
					name, got, err, pair.want)
			}
		}
	}
	if want.Recovered == nil {
		return
	}
	var got []string
	rd := recordio.NewReaderAt(bytes.NewReader(data), int64(len(data)), recordio.ReaderOptions{SkipBad: true})
	for b, err := range rd.All() {
		if !r.check(err == nil, "skipping damage: %v", err) {
			return
		}
		got = append(got, hex.EncodeToString(b))
	}
	r.check(fmt.Sprint(got) == fmt.Sprint(want.Recovered), "skipping damage gives %v, expected %v", got, want.Recovered)
}

// index follows every entry and writes the index again.
func (r *recorder) index(path string, text []byte, records [][]byte, offsets []int64) {
	entries, err := recordio.ParseIndex(text)
	if !r.check(err == nil, "index: %v", err) {
		return
	}
	r.check(bytes.Equal(recordio.AppendIndex(nil, entries), text), "index: written again, it has other bytes")
	rd, err := recordio.Open(path)
	if !r.check(err == nil, "%v", err) {
		return
	}
	defer func() { _ = rd.Close() }() // only read
	x, err := recordio.NewIndexedReader(rd, entries)
	if !r.check(err == nil, "%v", err) {
		return
	}
	at := map[int64]int{}
	for i, o := range offsets {
		at[o] = i
	}
	seen := map[int]int{}
	for _, k := range x.Keys() {
		seen[k]++
	}
	for _, e := range entries {
		if seen[e.Key] > 1 {
			r.skip("index: key %d occurs more than once", e.Key)
			continue
		}
		b, err := x.ReadIdx(e.Key)
		if !r.check(err == nil, "index: %v", err) {
			continue
		}
		i, ok := at[e.Offset]
		r.check(ok && bytes.Equal(b, records[i]), "index: key %d gives another record than reading in order", e.Key)
	}
}

// list compares an im2rec list with the headers of the records it became.
func (r *recorder) list(path string, text, idx []byte) {
	entries, err := recordio.ParseIndex(idx)
	if err != nil {
		return // reported by index
	}
	rd, err := recordio.Open(path)
	if !r.check(err == nil, "%v", err) {
		return
	}
	defer func() { _ = rd.Close() }() // only read
	x, err := recordio.NewIndexedReader(rd, entries)
	if !r.check(err == nil, "%v", err) {
		return
	}
	items, bad := recordio.ParseList(string(text))
	r.check(len(bad) == 0, "list: %v", errors.Join(bad...))
	for _, it := range items {
		b, err := x.ReadIdx(it.Index)
		if errors.Is(err, recordio.ErrKey) {
			r.skip("list: no record for index %d", it.Index) // an image that could not be read
			continue
		}
		h, _, uerr := recordio.Unpack(b)
		if !r.check(err == nil && uerr == nil, "list: index %d: %v", it.Index, errors.Join(err, uerr)) {
			continue
		}
		labels := it.Labels
		if h.Labels == nil {
			labels = labels[:1]
		}
		ok := h.ID == uint64(it.Index) && len(labels) == len(h.LabelValues())
		for i := 0; ok && i < len(labels); i++ {
			ok = h.LabelValues()[i] == float32(labels[i])
		}
		r.check(ok, "list: index %d: header id %d, labels %v; the list says %v", it.Index, h.ID, h.LabelValues(),
			it.Labels)
	}
}
