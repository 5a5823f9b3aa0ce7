// What a log holds: its runs, tags and values.

package tensorboard

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"sort"
)

// Runs lists the runs, sorted. The run of the log directory itself is ".".
func (l *Log) Runs() []string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	names := make([]string, 0, len(l.runs))
	for n := range l.runs {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// run returns a run, locked for reading.
func (l *Log) run(name string) (*run, error) {
	l.mu.RLock()
	r := l.runs[name]
	l.mu.RUnlock()
	if r == nil {
		return nil, fmt.Errorf("%w: run %q", ErrNotFound, name)
	}
	r.mu.RLock()
	return r, nil
}

// RunInfo describes a run.
type RunInfo struct {
	Name       string
	Dir        string
	Files      []string
	Start      float64 // time of the first event
	Purged     int     // points that a restart made void
	Generation uint64  // grows with every change
}

// Run describes a run.
func (l *Log) Run(name string) (RunInfo, error) {
	r, err := l.run(name)
	if err != nil {
		return RunInfo{}, err
	}
	defer r.mu.RUnlock()
	i := RunInfo{Name: r.name, Dir: r.dir, Start: r.start, Purged: r.purged, Generation: r.generation}
	for _, f := range r.files {
		i.Files = append(i.Files, f.path)
	}
	return i, nil
}

// Plugins lists the plugins that a run has data of, sorted.
func (l *Log) Plugins(run string) []string {
	var out []string
	if r, err := l.run(run); err == nil {
		defer r.mu.RUnlock()
		for k := range r.tags {
			out = append(out, k.plugin)
		}
	}
	sort.Strings(out)
	return slices.Compact(out)
}

// Tags lists a run's tags of a plugin ([PluginScalars], …), sorted.
func (l *Log) Tags(run, plugin string) []string {
	var out []string
	if r, err := l.run(run); err == nil {
		defer r.mu.RUnlock()
		for k := range r.tags {
			if k.plugin == plugin {
				out = append(out, k.tag)
			}
		}
	}
	sort.Strings(out)
	return out
}

// Problems lists the damage found so far, by run and file.
func (l *Log) Problems() []Problem {
	l.mu.RLock()
	defer l.mu.RUnlock()
	var out []Problem
	for _, r := range l.runs {
		r.mu.RLock()
		for _, f := range r.files {
			out = append(out, f.problems...)
			if f.tail != nil {
				out = append(out, *f.tail)
			}
		}
		r.mu.RUnlock()
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		if a.Run != b.Run {
			return a.Run < b.Run
		}
		if a.File != b.File {
			return a.File < b.File
		}
		return a.Offset < b.Offset
	})
	return out
}

// lookup finds a series. If it does, the run is locked for reading.
func (l *Log) lookup(run, plugin, tag string) (*runSeries, error) {
	r, err := l.run(run)
	if err != nil {
		return nil, err
	}
	s := r.tags[tagKey{plugin, tag}]
	if s == nil {
		r.mu.RUnlock()
		return nil, fmt.Errorf("%w: tag %q of %s in run %q", ErrNotFound, tag, plugin, run)
	}
	return &runSeries{r, s}, nil
}

type runSeries struct {
	*run
	s *series
}

// TagInfo describes a tag.
type TagInfo struct {
	Tag         string
	DisplayName string
	Description string
	Content     []byte // the plugin's own metadata
	Count       int    // points
	Version     uint64 // changes whenever the points do
}

// Tag describes a run's tag of a plugin.
func (l *Log) Tag(run, plugin, tag string) (TagInfo, error) {
	x, err := l.lookup(run, plugin, tag)
	if err != nil {
		return TagInfo{}, err
	}
	defer x.mu.RUnlock()
	m := x.s.meta
	return TagInfo{Tag: tag, DisplayName: m.DisplayName, Description: m.Description, Content: m.Content,
		Count: x.s.scalars.n + len(x.s.items), Version: x.s.version}, nil
}

// Scalars returns a curve. The columns are copies.
func (l *Log) Scalars(run, tag string) (*ScalarSeries, error) { return l.ScalarsFrom(run, tag, 0) }

// ScalarsFrom returns a curve from the point number from on, for those who have
// the points before it. A purge changes the numbers: [Log.Run] counts purges.
func (l *Log) ScalarsFrom(run, tag string, from int) (*ScalarSeries, error) {
	x, err := l.lookup(run, PluginScalars, tag)
	if err != nil {
		return nil, err
	}
	defer x.mu.RUnlock()
	return x.s.scalars.all(max(from, 0)), nil
}

// Point says when a value was logged.
type Point struct {
	Step int64
	Wall float64
}

// Points lists when the values of a tag were logged, without reading them.
func (l *Log) Points(run, plugin, tag string) ([]Point, error) {
	x, err := l.lookup(run, plugin, tag)
	if err != nil {
		return nil, err
	}
	defer x.mu.RUnlock()
	if plugin == PluginScalars {
		s := x.s.scalars.all(0)
		out := make([]Point, s.Len())
		for i := range out {
			out[i] = Point{s.Steps[i], s.Walls[i]}
		}
		return out, nil
	}
	out := make([]Point, len(x.s.items))
	for i, it := range x.s.items {
		out[i] = Point{it.step, it.wall}
	}
	return out, nil
}

// places copies the items of a tag (all, or number at), with the file paths.
func (l *Log) places(run, plugin, tag string, at int) ([]item, []string, *SummaryMetadata, error) {
	x, err := l.lookup(run, plugin, tag)
	if err != nil {
		return nil, nil, nil, err
	}
	defer x.mu.RUnlock()
	items := x.s.items
	if at >= 0 {
		if at >= len(items) {
			return nil, nil, nil, fmt.Errorf("%w: value %d of tag %q in run %q, which has %d", ErrNotFound, at, tag,
				run, len(items))
		}
		items = items[at : at+1]
	}
	paths := make([]string, len(x.files))
	for i, f := range x.files {
		paths[i] = f.path
	}
	return slices.Clone(items), paths, x.s.meta, nil
}

// event reads a record again.
func (it *item) event(paths []string, open map[uint16]*os.File) (*Event, error) {
	f := open[it.file]
	if f == nil {
		var err error
		if f, err = os.Open(paths[it.file]); err != nil {
			return nil, fmt.Errorf("tensorboard: %w", err)
		}
		open[it.file] = f
	}
	b := make([]byte, int(it.size)+recordFooter)
	if _, err := f.ReadAt(b, it.off+recordHeader); err != nil {
		return nil, fmt.Errorf("tensorboard: reading %s again: %w", paths[it.file], err)
	}
	p := b[:it.size]
	if binary.LittleEndian.Uint32(b[it.size:]) != maskedCRC(p) {
		return nil, fmt.Errorf("tensorboard: %s has changed: %w", paths[it.file],
			&CorruptError{Offset: it.off, Length: uint64(it.size), Part: "data"})
	}
	return ParseEvent(p)
}

// load reads the values of a tag, all or number at, and converts them.
func load[T any](l *Log, run, plugin, tag string, at int, conv func(it item, v *Value) (T, error)) ([]T, error) {
	items, paths, meta, err := l.places(run, plugin, tag, at)
	if err != nil {
		return nil, err
	}
	open := map[uint16]*os.File{}
	defer func() {
		for _, f := range open {
			f.Close()
		}
	}()
	out := make([]T, 0, len(items))
	for _, it := range items {
		e, err := it.event(paths, open)
		if err != nil {
			return nil, err
		}
		var v *Value
		switch {
		case e.What == EventGraphDef:
			v = blobEvent(e, tag, plugin, e.GraphDef).Summary.Values[0]
		case e.What == EventTaggedRunMetadata:
			v = blobEvent(e, tag, plugin, e.TaggedRunMetadata.RunMetadata).Summary.Values[0]
		case e.What == EventSummary && int(it.value) < len(e.Summary.Values):
			v = e.Summary.Values[it.value]
		default:
			return nil, fmt.Errorf("tensorboard: %s has changed at offset %d", paths[it.file], it.off)
		}
		if v.Metadata == nil {
			c := *v
			c.Metadata = meta
			v = &c
		}
		t, err := conv(it, v)
		if err != nil {
			return nil, fmt.Errorf("%w (%s, record at %d)", err, paths[it.file], it.off)
		}
		out = append(out, t)
	}
	return out, nil
}

func one[T any](v []T, err error) (t T, _ error) {
	if err != nil || len(v) == 0 {
		return t, err
	}
	return v[0], nil
}
