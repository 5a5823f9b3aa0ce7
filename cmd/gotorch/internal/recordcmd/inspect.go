package recordcmd

import (
	"bytes"
	"fmt"
	"image"
	"io"
	"os"
	"sort"
	"strings"

	"github.com/gotorch-dev/torch/recordio"
)

// CanInspect reports whether path is a file that [Inspect] describes: a record
// file by its first bytes, an index or a list by its extension.
func CanInspect(path string) bool {
	if strings.HasSuffix(path, ".idx") || strings.HasSuffix(path, ".lst") {
		return true
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var b [4]byte
	if _, err := io.ReadFull(f, b[:]); err != nil {
		return strings.HasSuffix(path, ".rec")
	}
	return b == [4]byte{0x0a, 0x23, 0xd7, 0xce} || strings.HasSuffix(path, ".rec")
}

// Inspect writes a description of a .rec, .idx or .lst file to w, with the first
// records one by one. Damage is described and then returned as an error, unless
// skipBad counts it and goes on.
func Inspect(w io.Writer, path string, records int, skipBad bool) error {
	switch {
	case strings.HasSuffix(path, ".lst"):
		return inspectList(w, path, records)
	case strings.HasSuffix(path, ".idx"):
		return inspectIndex(w, path, records)
	}
	return inspectRec(w, path, records, skipBad)
}

// describe says what a record holds, as a kind for counting and as a line.
func describe(rec []byte) (kind, line string, labels []float32) {
	// A protobuf record starts with the tag of its features; taken for an image
	// header, that would be a label array of impossible length.
	if p, err := recordio.ParseProto(rec); err == nil && len(p.Features) > 0 {
		return "protobuf", "protobuf " + describeProto(p), nil
	}
	h, body, err := recordio.Unpack(rec)
	if err != nil {
		return "bytes", fmt.Sprintf("%d bytes %q", len(rec), head(rec)), nil
	}
	cfg, format, err := image.DecodeConfig(bytes.NewReader(body))
	if err != nil {
		// Anything of 24 bytes passes for a header; an odd one is plain bytes.
		if h.ID2 != 0 || h.Flag > 1<<16 {
			return "bytes", fmt.Sprintf("%d bytes %q", len(rec), head(rec)), nil
		}
		return "header and bytes", fmt.Sprintf("id %d label %v, %d bytes %q", h.ID, h.LabelValues(), len(body),
			head(body)), h.LabelValues()
	}
	return format, fmt.Sprintf("id %d label %v, %s %d x %d, %d bytes", h.ID, h.LabelValues(), format, cfg.Width,
		cfg.Height, len(body)), h.LabelValues()
}

func describeProto(p *recordio.ProtoRecord) string {
	var parts []string
	for name, m := range map[string]map[string]recordio.ProtoValue{"features": p.Features, "label": p.Label} {
		for k, v := range m {
			s := fmt.Sprintf("%s[%q] %v", name, k, v.Kind)
			switch {
			case v.Kind == recordio.ProtoBytes:
				s += fmt.Sprintf(" x%d", len(v.Bytes))
			case v.Sparse():
				s += fmt.Sprintf(" sparse %d of %v", v.NumValues(), v.Shape)
			default:
				s += fmt.Sprintf(" x%d", v.NumValues())
			}
			parts = append(parts, s)
		}
	}
	sort.Strings(parts)
	return strings.Join(parts, ", ")
}

func head(b []byte) []byte { return b[:min(len(b), 24)] }

func inspectRec(w io.Writer, path string, records int, skipBad bool) error {
	var damage []string
	r, err := recordio.Open(path, recordio.ReaderOptions{SkipBad: skipBad, OnBad: func(err error, next int64) {
		if len(damage) < 20 {
			damage = append(damage, fmt.Sprintf("%v; goes on at offset %d", err, next))
		}
	}})
	if err != nil {
		return fmt.Errorf("inspect: %w", err)
	}
	defer func() { _ = r.Close() }() // only read
	fmt.Fprintf(w, "%s: RecordIO, %d bytes\n", path, r.Size())

	var n, split int
	var sum, smallest, largest int64
	kinds := map[string]int{}
	classes := map[float32]int{}
	multi := 0
	var failed error
	for {
		off, size, err := r.Skip()
		if err == io.EOF {
			break
		}
		var rec []byte
		if err == nil {
			rec, err = r.RecordAt(off)
		}
		if err != nil {
			failed = err
			break
		}
		if r.Tell()-off > 8+(size+3)&^3 { // more than one header
			split++
		}
		if n == 0 || size < smallest {
			smallest = size
		}
		largest = max(largest, size)
		sum += size
		kind, line, labels := describe(rec)
		kinds[kind]++
		switch len(labels) {
		case 0:
		case 1:
			if len(classes) < 1<<16 {
				classes[labels[0]]++
			}
		default:
			multi++
		}
		if n < records {
			fmt.Fprintf(w, "  record %d at offset %d: %s\n", n, off, line)
		}
		n++
	}
	fmt.Fprintf(w, "records: %d", n)
	if n > 0 {
		fmt.Fprintf(w, ", of %d to %d bytes, %d on average", smallest, largest, sum/int64(n))
	}
	if split > 0 {
		fmt.Fprintf(w, "; %d with the magic word inside", split)
	}
	fmt.Fprintln(w)
	names := make([]string, 0, len(kinds))
	for k := range kinds {
		names = append(names, k)
	}
	sort.Strings(names)
	for _, k := range names {
		fmt.Fprintf(w, "  %s: %d\n", k, kinds[k])
	}
	if len(classes) > 0 {
		labels := make([]float32, 0, len(classes))
		for c := range classes {
			labels = append(labels, c)
		}
		sort.Slice(labels, func(i, j int) bool { return labels[i] < labels[j] })
		fmt.Fprintf(w, "labels: %d different", len(labels))
		for i, c := range labels {
			if i == 10 {
				fmt.Fprint(w, " …")
				break
			}
			fmt.Fprintf(w, " %v:%d", c, classes[c])
		}
		fmt.Fprintln(w)
	}
	if multi > 0 {
		fmt.Fprintf(w, "label arrays: %d\n", multi)
	}
	for _, d := range damage {
		fmt.Fprintln(w, "damaged:", d)
	}
	if failed != nil {
		fmt.Fprintln(w, "damaged:", failed)
		return fmt.Errorf("inspect: %w", failed)
	}
	idx := recordio.IndexPath(path)
	if _, err := os.Stat(idx); err != nil {
		fmt.Fprintln(w, "index: none")
		return nil
	}
	return inspectIndex(w, idx, 0)
}

func inspectIndex(w io.Writer, path string, show int) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("inspect: %w", err)
	}
	entries, err := recordio.ParseIndex(text)
	if err != nil {
		return fmt.Errorf("inspect: %s: %w", path, err)
	}
	fmt.Fprintf(w, "index: %s, %d entries", path, len(entries))
	if len(entries) > 0 {
		lo, hi := entries[0].Key, entries[0].Key
		for _, e := range entries {
			lo, hi = min(lo, e.Key), max(hi, e.Key)
		}
		fmt.Fprintf(w, ", keys %d to %d", lo, hi)
	}
	fmt.Fprintln(w)
	for _, e := range entries[:min(max(show, 0), len(entries))] {
		fmt.Fprintf(w, "  key %d at offset %d\n", e.Key, e.Offset)
	}
	rec := strings.TrimSuffix(path, ".idx") + ".rec"
	if _, err := os.Stat(rec); err != nil {
		return nil // nothing to compare with
	}
	x, err := recordio.OpenIndexed(path, rec)
	if err != nil {
		return fmt.Errorf("inspect: %w", err)
	}
	defer func() { _ = x.Close() }() // only read
	if err := x.Verify(); err != nil {
		fmt.Fprintf(w, "  index astray: %v\n", err)
		return fmt.Errorf("inspect: %w", err)
	}
	fmt.Fprintln(w, "  every entry points at a record")
	return nil
}

func inspectList(w io.Writer, path string, show int) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("inspect: %w", err)
	}
	items, bad := recordio.ParseList(string(text))
	classes := map[float64]int{}
	for _, it := range items {
		classes[it.Labels[0]]++
	}
	fmt.Fprintf(w, "%s: image list, %d images, %d different first labels, %d unusable lines\n", path, len(items),
		len(classes), len(bad))
	for _, it := range items[:min(max(show, 0), len(items))] {
		fmt.Fprintf(w, "  %d %v %s\n", it.Index, it.Labels, it.Path)
	}
	for _, b := range bad[:min(len(bad), 20)] {
		fmt.Fprintln(w, " ", b)
	}
	return nil
}
