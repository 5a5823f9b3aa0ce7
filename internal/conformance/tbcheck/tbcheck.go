// Package tbcheck compares event files with a listing of their events in JSON.
//
// A directory to check holds logdir, a log directory, and dump.json: an object
// that maps each event file (its path below logdir) to the list of its events in
// the JSON mapping of protocol buffers. A listing that shows values of the old
// format (simpleValue, histo, image, audio, taggedRunMetadata) is taken to show
// the events as they stand in the file, any other as TensorBoard migrates them.
package tbcheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/tensorboard"
)

// Result is one event file: which of its events are equal to the listing.
type Result = golden.Result

// Run checks the directory dir: one result per event file, sorted by name.
func Run(dir string) ([]Result, error) {
	raw, err := golden.ReadFile(filepath.Join(dir, "dump.json"))
	if err != nil {
		return nil, fmt.Errorf("tbcheck: %w", err)
	}
	var dump map[string][]json.RawMessage
	if err := json.Unmarshal(raw, &dump); err != nil {
		return nil, fmt.Errorf("tbcheck: dump.json: %w", err)
	}
	root := filepath.Join(dir, "logdir")
	names := map[string]bool{}
	for n := range dump {
		names[n] = true
	}
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !tensorboard.IsEventFile(p) {
			return err
		}
		rel, err := filepath.Rel(root, p)
		names[filepath.ToSlash(rel)] = true
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("tbcheck: %w", err)
	}
	var sorted []string
	for n := range names {
		sorted = append(sorted, n)
	}
	sort.Strings(sorted)
	var results []Result
	for _, n := range sorted {
		want, listed := dump[n]
		r := Result{Name: n}
		got, err := Events(filepath.Join(root, filepath.FromSlash(n)), !isRaw(want))
		switch {
		case !listed:
			for i := range max(1, len(got)) {
				r.Add(strconv.Itoa(i), golden.Skip("not in dump.json"))
			}
		case err != nil:
			for i := range max(1, len(want)) {
				r.Add(strconv.Itoa(i), err)
			}
		default:
			for i := range max(len(got), len(want)) {
				var err error
				switch {
				case i >= len(got):
					err = errors.New("missing")
				case i >= len(want):
					err = errors.New("not listed")
				default:
					if why := Diff(got[i], want[i]); why != "" {
						err = errors.New(why)
					}
				}
				r.Add(strconv.Itoa(i), err)
			}
		}
		results = append(results, r)
	}
	return results, nil
}

// isRaw says whether a listing shows events before migration.
func isRaw(events []json.RawMessage) bool {
	for _, e := range events {
		var v struct {
			TaggedRunMetadata *struct{}
			Summary           struct {
				Value []struct{ SimpleValue, Histo, Image, Audio any }
			}
		}
		if json.Unmarshal(e, &v) != nil {
			continue
		}
		if v.TaggedRunMetadata != nil {
			return true
		}
		for _, x := range v.Summary.Value {
			if x.SimpleValue != nil || x.Histo != nil || x.Image != nil || x.Audio != nil {
				return true
			}
		}
	}
	return false
}

// Events reads an event file and returns its events as JSON, as they stand or
// migrated. A file that ends inside a record ends with the record before.
func Events(path string, migrate bool) ([]json.RawMessage, error) {
	golden.Note(path)
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rd := tensorboard.NewRecordReader(f, 0)
	var m tensorboard.Migrator
	var out []json.RawMessage
	for {
		b, err := rd.Next()
		if err == io.EOF || errors.Is(err, tensorboard.ErrTruncated) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		e, err := tensorboard.ParseEvent(bytes.Clone(b))
		if err != nil {
			return out, err
		}
		events := []*tensorboard.Event{e}
		if migrate {
			events = m.Migrate(e)
		}
		for _, e := range events {
			j, err := json.Marshal(e)
			if err != nil {
				return out, err
			}
			out = append(out, j)
		}
	}
}

// Diff compares two JSON values and names the first place where they differ; it
// returns "" when they are equal. Numbers are compared by value.
func Diff(got, want []byte) string {
	dec := func(b []byte) (v any, err error) {
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		err = d.Decode(&v)
		return
	}
	g, err := dec(got)
	if err != nil {
		return err.Error()
	}
	w, err := dec(want)
	if err != nil {
		return err.Error()
	}
	return diff("", g, w)
}

func diff(path string, g, w any) string {
	say := func() string {
		return fmt.Sprintf("%s: got %s, want %s", strings.TrimPrefix(path, "."), brief(g), brief(w))
	}
	switch w := w.(type) {
	case map[string]any:
		m, ok := g.(map[string]any)
		if !ok {
			return say()
		}
		keys := map[string]bool{}
		for k := range m {
			keys[k] = true
		}
		for k := range w {
			keys[k] = true
		}
		var sorted []string
		for k := range keys {
			sorted = append(sorted, k)
		}
		sort.Strings(sorted)
		for _, k := range sorted {
			gv, in := m[k]
			wv, wanted := w[k]
			if in != wanted {
				return fmt.Sprintf("%s.%s: present %t, want %t", path, k, in, wanted)
			}
			if d := diff(path+"."+k, gv, wv); d != "" {
				return d
			}
		}
		return ""
	case []any:
		l, ok := g.([]any)
		if !ok || len(l) != len(w) {
			return say()
		}
		for i := range l {
			if d := diff(path+"["+strconv.Itoa(i)+"]", l[i], w[i]); d != "" {
				return d
			}
		}
		return ""
	case json.Number:
		n, ok := g.(json.Number)
		if !ok {
			return say()
		}
		a, err1 := n.Float64()
		b, err2 := w.Float64()
		if err1 != nil || err2 != nil || a != b {
			return say()
		}
		return ""
	}
	if g != w {
		return say()
	}
	return ""
}

func brief(v any) string {
	s := fmt.Sprint(v)
	if len(s) > 80 {
		s = s[:80] + "…"
	}
	return s
}
