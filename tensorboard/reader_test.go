package tensorboard_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gotorch-dev/torch/internal/shared"
	"github.com/gotorch-dev/torch/tensorboard"
)

// scalarEvent is a record with one simple value.
func scalarEvent(tag string, step int64, v float32) []byte {
	e := &tensorboard.Event{WallTime: 1e9 + float64(step), Step: step, What: tensorboard.EventSummary,
		Summary: &tensorboard.Summary{Values: []*tensorboard.Value{{Tag: tag, Kind: tensorboard.ValueSimple,
			SimpleValue: v}}}}
	return tensorboard.AppendRecord(nil, e.Append(nil))
}

func versionEvent(v string) []byte {
	return tensorboard.AppendRecord(nil,
		(&tensorboard.Event{WallTime: 1, What: tensorboard.EventFileVersion, FileVersion: v}).Append(nil))
}

func startEvent(step int64) []byte {
	return tensorboard.AppendRecord(nil, (&tensorboard.Event{WallTime: 1, Step: step, What: tensorboard.EventSessionLog,
		SessionLog: &tensorboard.SessionLog{Status: tensorboard.SessionStart}}).Append(nil))
}

func put(t testing.TB, path string, parts ...[]byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(bytes.Join(parts, nil)); err != nil {
		t.Fatal(err)
	}
}

func steps(t *testing.T, l *tensorboard.Log, run, tag string) []int64 {
	t.Helper()
	s, err := l.Scalars(run, tag)
	ok(t, err)
	return s.Steps
}

func TestFirstRecord(t *testing.T) {
	// PyTorch's first record is 72 bytes long with a file version and a source.
	dir := t.TempDir()
	w, err := tensorboard.NewSummaryWriter(dir)
	ok(t, err)
	b, err := os.ReadFile(eventFile(t, dir)) // readable before anything is added
	ok(t, err)
	ok(t, w.Close())
	if n := binary.LittleEndian.Uint64(b); n != 72 || len(b) != 88 {
		t.Errorf("record of %d bytes in a file of %d, want 72 in 88", n, len(b))
	}
	if !bytes.Contains(b, []byte("brain.Event:2")) {
		t.Error("no file version")
	}
	// A record with known checksums: the empty payload.
	want := []byte{0, 0, 0, 0, 0, 0, 0, 0, 0x29, 0x03, 0x98, 0x07, 0xd8, 0xea, 0x82, 0xa2}
	if got := tensorboard.AppendRecord(nil, nil); !bytes.Equal(got, want) {
		t.Errorf("empty record % x, want % x", got, want)
	}
}

func TestStepOrder(t *testing.T) {
	type ev struct {
		step  int64
		start bool
	}
	s := func(v ...int64) (out []ev) {
		for _, x := range v {
			out = append(out, ev{step: x})
		}
		return
	}
	back := append(append(s(0, 1, 2, 3, 4), ev{2, true}), s(2, 3)...)
	for _, c := range []struct {
		name    string
		version string
		events  []ev
		order   tensorboard.StepOrder
		want    []int64
	}{
		{"restart", "brain.Event:2", back, tensorboard.PurgeOnRestart, []int64{0, 1, 2, 3}},
		{"restart, keep", "brain.Event:2", back, tensorboard.KeepAll, []int64{0, 1, 2, 3, 4, 2, 3}},
		{"no restart", "brain.Event:2", s(0, 1, 2, 1, 2, 3), tensorboard.PurgeOnRestart, []int64{0, 1, 2, 1, 2, 3}},
		{"old file", "brain.Event:1", s(0, 1, 2, 1, 2, 3), tensorboard.PurgeOnRestart, []int64{0, 1, 2, 3}},
		{"no version", "", s(0, 5, 9, 5), tensorboard.PurgeOnRestart, []int64{0, 5}},
		{"preempt", "brain.Event:2", s(0, 1, 2, 1, 2, 2, 3), tensorboard.PreemptSteps, []int64{0, 1, 2, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			var b []byte
			if c.version != "" {
				b = versionEvent(c.version)
			}
			for _, e := range c.events {
				if e.start {
					b = append(b, startEvent(e.step)...)
				} else {
					b = append(b, scalarEvent("x", e.step, 1)...)
				}
			}
			put(t, filepath.Join(dir, "tfevents.1"), b)
			l, err := tensorboard.Open(dir, tensorboard.OpenOptions{Order: c.order})
			ok(t, err)
			if got := steps(t, l, ".", "x"); !slices.Equal(got, c.want) {
				t.Errorf("steps %v, want %v", got, c.want)
			}
		})
	}
}

// TestPurgeLong purges inside packed blocks, and keeps appending.
func TestPurgeLong(t *testing.T) {
	dir := t.TempDir()
	f := filepath.Join(dir, "tfevents.1")
	b := versionEvent("brain.Event:2")
	for i := range 1000 {
		b = append(b, scalarEvent("x", int64(i), float32(i))...)
	}
	put(t, f, b, startEvent(300))
	l, err := tensorboard.Open(dir)
	ok(t, err)
	b = nil
	for i := 300; i < 1500; i++ {
		b = append(b, scalarEvent("x", int64(i), float32(i))...)
	}
	put(t, f, b)
	up, err := l.Poll()
	ok(t, err)
	if up.Records != 1200 || !slices.Equal(up.Runs, []string{"."}) {
		t.Errorf("poll found %+v", up)
	}
	s, err := l.Scalars(".", "x")
	ok(t, err)
	if s.Len() != 1500 {
		t.Fatalf("%d points, want 1500", s.Len())
	}
	for i := range s.Len() {
		if p := s.At(i); p.Step != int64(i) || p.Value != float64(i) || p.Wall != 1e9+float64(i) {
			t.Fatalf("point %d: %+v", i, p)
		}
	}
	for _, from := range []int{0, 1, 127, 128, 129, 700, 1499, 1500, 9999} {
		part, err := l.ScalarsFrom(".", "x", from)
		ok(t, err)
		if !slices.Equal(part.Steps, s.Steps[min(from, 1500):]) {
			t.Errorf("from %d: %d points", from, part.Len())
		}
	}
	if i, _ := l.Run("."); i.Purged != 700 {
		t.Errorf("purged %d, want 700", i.Purged)
	}
	if sm := s.Sample(10); sm.Len() != 10 || sm.At(0) != s.At(0) || sm.At(9) != s.At(1499) {
		t.Errorf("sample %+v", sm)
	}
}

// TestResume continues a run with a purge step, as a restarted program does.
func TestResume(t *testing.T) {
	dir := t.TempDir()
	for k, from := range []int64{0, 6} {
		var o tensorboard.SummaryWriterOptions
		if k > 0 {
			o.PurgeStep = &from
		}
		w, err := tensorboard.NewSummaryWriter(dir, o)
		ok(t, err)
		for i := from; i < 10; i++ {
			ok(t, w.AddScalar("x", float64(k), i))
			ok(t, w.AddText("t", fmt.Sprint(k), i))
		}
		ok(t, w.Close())
	}
	l, err := tensorboard.Open(dir)
	ok(t, err)
	s, err := l.Scalars(".", "x")
	ok(t, err)
	if !slices.Equal(s.Steps, []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) ||
		!slices.Equal(s.Values, []float64{0, 0, 0, 0, 0, 0, 1, 1, 1, 1}) {
		t.Errorf("curve %+v", s)
	}
	tx, err := l.Texts(".", "t/text_summary")
	ok(t, err)
	if len(tx) != 10 || tx[5].Texts[0] != "0" || tx[6].Texts[0] != "1" {
		t.Errorf("texts %+v", tx)
	}
	if p, err := l.Points(".", tensorboard.PluginText, "t/text_summary"); err != nil || len(p) != 10 || p[9].Step != 9 {
		t.Errorf("points %v %v", p, err)
	}
	if x, err := l.TextAt(".", "t/text_summary", 9); err != nil || x.Texts[0] != "1" {
		t.Errorf("text 9: %+v %v", x, err)
	}
	if _, err := l.TextAt(".", "t/text_summary", 10); !errors.Is(err, tensorboard.ErrNotFound) {
		t.Errorf("text 10: %v", err)
	}
}

// TestShrunk reports a file that lost what was already read.
func TestShrunk(t *testing.T) {
	dir := t.TempDir()
	f := filepath.Join(dir, "tfevents.1")
	put(t, f, scalarEvent("x", 1, 1), scalarEvent("x", 2, 1))
	l, err := tensorboard.Open(dir, tensorboard.OpenOptions{MaxSteps: 1})
	ok(t, err)
	ok(t, os.Truncate(f, 10))
	_, err = l.Poll()
	ok(t, err)
	if p := l.Problems(); len(p) != 1 || !strings.Contains(p[0].Err.Error(), "shrank") {
		t.Errorf("problems %v", p)
	}
	ok(t, os.Remove(f))
	_, err = l.Poll()
	ok(t, err)
	if got := steps(t, l, ".", "x"); !slices.Equal(got, []int64{1, 2}) {
		t.Errorf("steps %v after the file is gone", got)
	}
}

// TestLinks follows a link to a run outside, and not one that goes in circles.
func TestLinks(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	put(t, filepath.Join(out, "tfevents.1"), scalarEvent("x", 1, 1))
	put(t, filepath.Join(dir, "a", "tfevents.1"), scalarEvent("x", 1, 1))
	if err := os.Symlink(out, filepath.Join(dir, "b")); err != nil {
		t.Skip(err)
	}
	ok(t, os.Symlink(dir, filepath.Join(dir, "a", "loop")))
	l, err := tensorboard.Open(dir)
	ok(t, err)
	if got := l.Runs(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("runs %v", got)
	}
}

// TestSeriesExact keeps every bit of odd numbers.
func TestSeriesExact(t *testing.T) {
	dir := t.TempDir()
	w, err := tensorboard.NewSummaryWriter(dir)
	ok(t, err)
	odd := []float64{0, math.Copysign(0, -1), math.Inf(1), math.NaN(), 1e300, 0.1, math.MaxFloat64, 5e-324}
	stepsOf := []int64{0, math.MaxInt64, math.MinInt64, -1, 5, 5, 4, math.MaxInt64}
	for i := range 1000 {
		ok(t, w.AddScalar("x", odd[i%8], stepsOf[(i+i/8)%8],
			tensorboard.ScalarOptions{NewStyle: true, DoublePrecision: true, WallTime: math.Abs(odd[(i+2)%8]) + 1}))
	}
	ok(t, w.Close())
	l, err := tensorboard.Open(dir)
	ok(t, err)
	s, err := l.Scalars(".", "x")
	ok(t, err)
	for i := range 1000 {
		p := s.At(i)
		wall := math.Abs(odd[(i+2)%8]) + 1
		if math.Float64bits(p.Value) != math.Float64bits(odd[i%8]) || p.Step != stepsOf[(i+i/8)%8] ||
			math.Float64bits(p.Wall) != math.Float64bits(wall) {
			t.Fatalf("point %d: %+v, want %v %v %v", i, p, odd[i%8], stepsOf[(i+i/8)%8], wall)
		}
	}
}

func TestDamage(t *testing.T) {
	a, b, c := scalarEvent("x", 1, 1), scalarEvent("x", 2, 2), scalarEvent("x", 3, 3)
	flip := func(b []byte, at int) []byte {
		b = bytes.Clone(b)
		b[at] ^= 1
		return b
	}
	off := int64(len(a))
	for _, k := range []struct {
		name    string
		parts   [][]byte
		steps   []int64
		offset  int64 // of the problem, -1: none
		pending bool
		part    string
	}{
		{"whole", [][]byte{a, b, c}, []int64{1, 2, 3}, -1, false, ""},
		{"data", [][]byte{a, flip(b, 20), c}, []int64{1, 3}, off, false, "data"},
		{"data checksum", [][]byte{a, flip(b, len(b)-1), c}, []int64{1, 3}, off, false, "data"},
		{"length", [][]byte{a, flip(b, 0), c}, []int64{1}, off, false, "length"},
		{"length checksum", [][]byte{a, flip(b, 9), c}, []int64{1}, off, false, "length"},
		{"last data", [][]byte{a, flip(b, 20)}, []int64{1}, off, true, "data"},
		{"in header", [][]byte{a, b[:5]}, []int64{1}, off, true, ""},
		{"in data", [][]byte{a, b[:20]}, []int64{1}, off, true, ""},
		{"in checksum", [][]byte{a, b[:len(b)-1]}, []int64{1}, off, true, ""},
		{"zeros", [][]byte{a, make([]byte, 100)}, []int64{1}, off, false, "length"},
		{"no message", [][]byte{a, tensorboard.AppendRecord(nil, []byte{0xff, 0xff}), c}, []int64{1, 3}, off, false,
			""},
	} {
		t.Run(k.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, filepath.Join(dir, "tfevents.1"), k.parts...)
			l, err := tensorboard.Open(dir)
			ok(t, err)
			if got := steps(t, l, ".", "x"); !slices.Equal(got, k.steps) {
				t.Errorf("steps %v, want %v", got, k.steps)
			}
			p := l.Problems()
			if k.offset < 0 {
				if len(p) != 0 {
					t.Errorf("problems %v", p)
				}
				return
			}
			if len(p) != 1 || p[0].Offset != k.offset || p[0].Pending != k.pending {
				t.Fatalf("problems %+v, want one at %d, pending %t", p, k.offset, k.pending)
			}
			var ce *tensorboard.CorruptError
			if errors.As(p[0].Err, &ce) != (k.part != "") || ce != nil && ce.Part != k.part {
				t.Errorf("error %v, want part %q", p[0].Err, k.part)
			}
		})
	}
}

// TestFollow appends byte by byte and polls in between.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	l, err := tensorboard.Open(filepath.Join(dir, "later"), tensorboard.OpenOptions{AllowMissing: true})
	ok(t, err)
	f := filepath.Join(dir, "later", "run", "tfevents.1")
	var all []byte
	for i := range 5 {
		all = append(all, scalarEvent("x", int64(i+1), 1)...)
	}
	n := len(all) / 5
	for i, b := range all {
		put(t, f, []byte{b})
		_, err := l.Poll()
		ok(t, err)
		got := 0
		if s, err := l.Scalars("run", "x"); err == nil {
			got = s.Len()
		}
		if got != (i+1)/n {
			t.Fatalf("after %d bytes: %d points, want %d", i+1, got, (i+1)/n)
		}
	}
	if p := l.Problems(); len(p) != 0 {
		t.Errorf("problems %v", p)
	}
	// A second file of the run, and a new run.
	put(t, filepath.Join(dir, "later", "run", "tfevents.2"), scalarEvent("x", 6, 1))
	put(t, filepath.Join(dir, "later", "other", "deep", "a.tfevents"), scalarEvent("y", 0, 1))
	up, err := l.Poll()
	ok(t, err)
	if !slices.Equal(up.Runs, []string{"other/deep", "run"}) || !slices.Equal(l.Runs(), up.Runs) {
		t.Errorf("poll %+v, runs %v", up, l.Runs())
	}
	if got := steps(t, l, "run", "x"); !slices.Equal(got, []int64{1, 2, 3, 4, 5, 6}) {
		t.Errorf("steps %v", got)
	}
	if up, _ := l.Poll(); up.Records != 0 || len(up.Runs) != 0 {
		t.Errorf("idle poll found %+v", up)
	}
	if _, err := l.Scalars("run", "z"); !errors.Is(err, tensorboard.ErrNotFound) {
		t.Errorf("missing tag: %v", err)
	}
	if _, err := tensorboard.Open(filepath.Join(dir, "nowhere")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing directory: %v", err)
	}
}

// TestWild reads logs of other writers.
func TestWild(t *testing.T) {
	l, err := tensorboard.Open(shared.Path(t, "testdata/tfevents/tests/runs"))
	ok(t, err)
	if p := l.Problems(); len(p) > 0 {
		t.Error(p)
	}
	want := []string{"duplicate_steps/run_1", "duplicate_steps/run_2", "duplicate_steps/run_3", "lax/run_1",
		"lax/run_2", "lax/run_3", "strict/run_1", "strict/run_2", "strict/run_3"}
	if !slices.Equal(l.Runs(), want) {
		t.Fatalf("runs %v", l.Runs())
	}
	for _, r := range l.Runs() {
		tags := l.Tags(r, tensorboard.PluginScalars)
		if len(tags) == 0 {
			t.Errorf("%s: no scalars", r)
		}
		for _, tag := range tags {
			s, err := l.Scalars(r, tag)
			ok(t, err)
			if s.Len() == 0 {
				t.Errorf("%s %s: no points", r, tag)
			}
			if dup := strings.HasPrefix(r, "duplicate"); dup == slices.IsSortedFunc(s.Steps, func(a, b int64) int {
				if a < b {
					return -1
				}
				return 1
			}) {
				t.Errorf("%s %s: duplicate steps %t not expected: %v", r, tag, !dup, s.Steps[:10])
			}
		}
	}
}

// TestMemory bounds what a long curve costs.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 40 MB")
	}
	dir := t.TempDir()
	const runs, points = 4, 100000
	for r := range runs {
		b := versionEvent("brain.Event:2")
		for i := range points {
			e := &tensorboard.Event{WallTime: 1.7e9 + float64(i)*0.05 + 0.001*math.Sin(float64(i*i)), Step: int64(i),
				What: tensorboard.EventSummary,
				Summary: &tensorboard.Summary{Values: []*tensorboard.Value{{Tag: "loss", Kind: tensorboard.ValueSimple,
					SimpleValue: float32(1 / float64(i+1))}}}}
			b = tensorboard.AppendRecord(b, e.Append(nil))
		}
		put(t, filepath.Join(dir, fmt.Sprint(r), "tfevents.1"), b)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	l, err := tensorboard.Open(dir)
	ok(t, err)
	took := time.Since(start)
	runtime.GC()
	runtime.ReadMemStats(&after)
	per := float64(int64(after.HeapAlloc)-int64(before.HeapAlloc)) / runs / points
	t.Logf("%.1f bytes a point, %v for %d points", per, took, runs*points)
	if per > 16 {
		t.Errorf("%.1f bytes a point, want at most 16", per)
	}
	if n := len(steps(t, l, "3", "loss")); n != points {
		t.Errorf("%d points", n)
	}
}

func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	data := versionEvent("brain.Event:2")
	for i := range 100000 {
		data = append(data, scalarEvent("loss/train", int64(i), 0.5)...)
	}
	put(b, filepath.Join(dir, "tfevents.1"), data)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tensorboard.Open(dir); err != nil {
			b.Fatal(err)
		}
	}
}
