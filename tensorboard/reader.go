package tensorboard

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// IsEventFile says whether a path is named like an event file: TensorBoard takes
// every file with "tfevents" in its name.
func IsEventFile(path string) bool { return strings.Contains(filepath.Base(path), "tfevents") }

// StepOrder says what happens to points when a run goes back to an earlier step,
// as it does when it was restarted from a checkpoint.
type StepOrder uint8

const (
	// PurgeOnRestart is the rule of TensorBoard's EventAccumulator, the default. A
	// session start at step N, which a writer with a purge step logs, voids all
	// earlier points of step N and later. In files without a version of 2 or more
	// a step that goes back voids the later points of its own tags. Otherwise
	// points stay in the order in which they were written.
	PurgeOnRestart StepOrder = iota
	// PreemptSteps is the rule of TensorBoard's data server: any point voids the
	// earlier ones of its own tag with an equal or later step. Steps then always rise.
	PreemptSteps
	// KeepAll keeps every point.
	KeepAll
)

// OpenOptions are the options of [Open].
type OpenOptions struct {
	Order        StepOrder
	AllowMissing bool // the directory may be made later
	MaxSteps     int  // keep only the newest so many steps of each tag other than scalars; 0: all
}

// ErrNotFound says that a log has no such run or tag.
var ErrNotFound = errors.New("tensorboard: not found")

// Log is a log directory: every directory at or below it that holds event files
// is a run. A Log is safe for concurrent use.
//
// Scalars are in memory; of other values only the place in the file is, and the
// file is read when they are asked for.
type Log struct {
	dir  string
	opts OpenOptions

	poll sync.Mutex   // one Poll at a time
	mu   sync.RWMutex // guards the map; every run has a lock of its own
	runs map[string]*run
}

type run struct {
	name, dir string

	mu      sync.RWMutex // guards all that follows; Poll alone writes
	files   []*tailFile
	byPath  map[string]*tailFile
	tags    map[tagKey]*series
	scalars map[string]*series          // those of tags that are scalars
	last    *series                     // of the newest scalar: often the next is of the same tag
	meta    map[string]*SummaryMetadata // the first of each tag

	version    float64 // of the file format, as the files say
	recent     int64   // step of the newest event, for files without a version
	start      float64 // time of the first event
	purged     int
	generation uint64 // counts changes
}

type tagKey struct{ plugin, tag string }

type series struct {
	tag     string
	meta    *SummaryMetadata
	scalars scalarColumn // plugin scalars
	items   []item       // all others
	version uint64       // the run's generation at the last change
}

type tailFile struct {
	path     string
	index    uint16
	off      int64 // of the next record
	dead     bool  // the framing is broken: nothing can be read behind
	problems []Problem
	tail     *Problem // the state of its end at the last poll
}

// Problem is damage in an event file.
type Problem struct {
	Run, File string
	Offset    int64 // of the damaged record
	Err       error // [*CorruptError], [ErrTruncated], or why the payload makes no sense
	Pending   bool  // at the end of a file that may still be growing
}

// Open reads all event files at or below dir. dir may also be a single event file.
// Damaged records are no error: see [Log.Problems].
func Open(dir string, options ...OpenOptions) (*Log, error) {
	l := &Log{dir: dir, opts: opt(options), runs: map[string]*run{}}
	if _, err := os.Stat(dir); err != nil && !(l.opts.AllowMissing && errors.Is(err, fs.ErrNotExist)) {
		return nil, fmt.Errorf("tensorboard: %w", err)
	}
	if _, err := l.Poll(); err != nil {
		return nil, err
	}
	return l, nil
}

// Update says what a [Log.Poll] found.
type Update struct {
	Runs    []string // runs with new or purged data, sorted
	Records int      // new records
}

// find lists the event files by run. Links to directories are followed, once each.
func (l *Log) find() (map[string][]string, error) {
	found := map[string][]string{}
	st, err := os.Stat(l.dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return found, nil // not there yet, or gone: what was read stays
		}
		return nil, fmt.Errorf("tensorboard: %w", err)
	}
	if !st.IsDir() {
		found["."] = []string{l.dir}
		return found, nil
	}
	seen := map[string]bool{}
	var walk func(dir, name string, depth int)
	walk = func(dir, name string, depth int) {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil || seen[real] || depth > 64 {
			return
		}
		seen[real] = true
		entries, err := os.ReadDir(dir)
		if err != nil {
			return // without permission, or gone meanwhile
		}
		for _, e := range entries {
			p := filepath.Join(dir, e.Name())
			sub := e.IsDir()
			if e.Type()&fs.ModeSymlink != 0 {
				st, err := os.Stat(p)
				if err != nil {
					continue
				}
				sub = st.IsDir()
			}
			switch {
			case sub && name == ".":
				walk(p, e.Name(), depth+1)
			case sub:
				walk(p, name+"/"+e.Name(), depth+1)
			case IsEventFile(p):
				found[name] = append(found[name], p)
			}
		}
		slices.SortFunc(found[name], fileOrder)
	}
	walk(l.dir, ".", 0)
	return found, nil
}

// fileOrder sorts event files by age, which their names tell: by the time and
// then the serial number in them. Numbers are compared as such, since the tenth
// file of a process that opens several a second follows the ninth.
func fileOrder(a, b string) int {
	x, y := a, b
	digits := func(s string) int {
		n := 0
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		return n
	}
	for x != "" && y != "" {
		if n, m := digits(x), digits(y); n > 0 && m > 0 {
			p, q := strings.TrimLeft(x[:n], "0"), strings.TrimLeft(y[:m], "0")
			if c := cmp.Or(cmp.Compare(len(p), len(q)), strings.Compare(p, q)); c != 0 {
				return c
			}
			x, y = x[n:], y[m:]
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

// Poll reads what was appended to the event files since the last call, and new
// files. It is meant to be called every few seconds. Readers are not held up for
// long: each run is locked on its own, a piece at a time.
func (l *Log) Poll() (Update, error) {
	l.poll.Lock()
	defer l.poll.Unlock()
	found, err := l.find()
	if err != nil {
		return Update{}, err
	}
	names := make([]string, 0, len(found))
	for n := range found {
		names = append(names, n)
	}
	sort.Strings(names)
	// Runs are read side by side: the first look at many large ones takes a while.
	updates := make([]Update, len(names))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(len(names), runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(names); i = int(next.Add(1)) - 1 {
				updates[i] = l.pollRun(names[i], found[names[i]])
			}
		})
	}
	wg.Wait()
	var up Update
	for _, u := range updates {
		up.Runs = append(up.Runs, u.Runs...)
		up.Records += u.Records
	}
	return up, nil
}

// pollRun reads what is new in the files of one run.
func (l *Log) pollRun(name string, paths []string) (up Update) {
	l.mu.Lock()
	r := l.runs[name]
	if r == nil {
		r = &run{name: name, dir: filepath.Dir(paths[0]), byPath: map[string]*tailFile{}, tags: map[tagKey]*series{},
			scalars: map[string]*series{}, meta: map[string]*SummaryMetadata{}, recent: -1}
		l.runs[name] = r
	}
	l.mu.Unlock()
	r.mu.Lock()
	before := r.generation
	for _, p := range paths {
		if r.byPath[p] == nil && len(r.files) < math.MaxUint16 {
			f := &tailFile{path: p, index: uint16(len(r.files))}
			r.files = append(r.files, f)
			r.byPath[p] = f
		}
	}
	files := r.files
	r.mu.Unlock()
	for _, f := range files {
		k, err := l.follow(r, f)
		up.Records += k
		if err != nil {
			r.mu.Lock()
			f.tail = &Problem{Run: r.name, File: f.path, Offset: f.off, Err: err, Pending: true}
			r.mu.Unlock()
		}
	}
	if r.generation != before {
		up.Runs = []string{name}
	}
	return up
}

// lockRecords is how many records are taken in before readers get a turn.
const lockRecords = 4096

// follow reads the new records of one file.
func (l *Log) follow(r *run, f *tailFile) (records int, err error) {
	if f.dead {
		return 0, nil
	}
	st, err := os.Stat(f.path) // cheaper than opening: most files are idle
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return 0, nil // deleted: what was read stays
		}
		return 0, err
	}
	if st.Size() == f.off && f.tail == nil {
		return 0, nil
	}
	if st.Size() < f.off {
		return 0, fmt.Errorf("tensorboard: the file shrank to %d bytes, %d were read", st.Size(), f.off)
	}
	h, err := os.Open(f.path)
	if err != nil {
		return 0, err
	}
	defer h.Close()
	rd := NewRecordReader(h, f.off)
	for {
		more, k := l.take(r, f, rd, st.Size())
		records += k
		if !more {
			return records, nil
		}
	}
}

// take reads some records under the lock; more is false at the end of the file.
func (l *Log) take(r *run, f *tailFile, rd *RecordReader, size int64) (more bool, records int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	problem := func(off int64, err error, pending bool) Problem {
		return Problem{Run: r.name, File: f.path, Offset: off, Err: err, Pending: pending}
	}
	f.tail = nil
	for range lockRecords {
		start := rd.Offset()
		b, err := rd.Next()
		bad, corrupt := err.(*CorruptError) // Next does not wrap it
		switch {
		case err == nil:
		case err == io.EOF:
			f.off = start
			return false, records
		case corrupt && bad.Recoverable():
			if rd.Offset() >= size {
				// The last record of the file: on some file systems its length can
				// show up before its bytes do. Look again at the next poll.
				p := problem(start, err, true)
				f.tail, f.off = &p, start
				return false, records
			}
			f.problems = append(f.problems, problem(start, err, false))
			continue
		case corrupt:
			f.problems = append(f.problems, problem(start, err, false))
			f.dead, f.off = true, start
			return false, records
		default: // truncated, or the disk failed
			p := problem(start, err, true)
			f.tail, f.off = &p, start
			return false, records
		}
		records++
		if err := r.ingest(b, f.index, start, l.opts); err != nil {
			f.problems = append(f.problems, problem(start, err, false))
		}
		f.off = rd.Offset()
	}
	return true, records
}

// ingest takes in one event.
func (r *run) ingest(b []byte, file uint16, off int64, o OpenOptions) error {
	if tag, p, ok := scanScalar(b); ok {
		r.note(p.Wall)
		if r.version < 2 { // else the list would be made for nothing
			r.outOfOrder(p.Step, []string{string(tag)}, o)
		}
		s := r.last
		if s == nil || s.tag != string(tag) { // neither this nor the map makes a string of it
			s = r.scalars[string(tag)]
		}
		if s == nil {
			s = r.series(PluginScalars, &Value{Tag: string(tag)})
		}
		r.last = s
		r.addScalar(s, p, o)
		return nil
	}
	e, err := ParseEvent(b)
	if err != nil {
		return err
	}
	r.note(e.WallTime)
	place := item{step: e.Step, wall: e.WallTime, off: off, size: uint32(len(b)), file: file}
	switch e.What {
	case EventFileVersion:
		if v, err := strconv.ParseFloat(e.FileVersion[strings.LastIndexByte(e.FileVersion, ':')+1:], 64); err == nil {
			r.version = v
		}
	case EventSessionLog:
		if e.SessionLog.Status == SessionStart && o.Order == PurgeOnRestart && r.version >= 2 {
			for _, s := range r.tags {
				r.purge(s, e.Step)
			}
		}
	case EventGraphDef:
		s := r.series(PluginGraphs, &Value{Tag: runGraphTag})
		r.addItem(s, place, o)
	case EventTaggedRunMetadata:
		s := r.series(PluginRunMetadata, &Value{Tag: e.TaggedRunMetadata.Tag})
		r.addItem(s, place, o)
	case EventSummary:
		var tags []string
		for _, v := range e.Summary.Values {
			if v.Tag == "" && v.Kind == ValueTensor { // the first tensor summaries
				v.Tag = v.NodeName
			}
			tags = append(tags, v.Tag)
		}
		r.outOfOrder(e.Step, tags, o)
		for i, v := range e.Summary.Values {
			if i > math.MaxUint16 {
				return fmt.Errorf("tensorboard: an event of %d values", len(e.Summary.Values))
			}
			plugin, known := r.plugin(v)
			if !known {
				continue
			}
			s := r.series(plugin, v)
			if plugin == PluginScalars {
				x := float64(v.SimpleValue)
				if v.Kind != ValueSimple {
					t, err := v.Tensor.Float64s()
					if err != nil || len(t) == 0 {
						return fmt.Errorf("tensorboard: scalar %q holds no number", v.Tag)
					}
					x = t[0]
				}
				r.addScalar(s, ScalarPoint{e.Step, e.WallTime, x}, o)
				continue
			}
			place.value = uint16(i)
			r.addItem(s, place, o)
		}
	}
	if e.What != EventSummary && r.version < 2 {
		r.recent = e.Step
	}
	return nil
}

func (r *run) note(wall float64) {
	if r.start == 0 {
		r.start = wall
	}
	r.generation++
}

// plugin says who shows a value: its own metadata, else those of the first
// value of the tag, else the type of an old value.
func (r *run) plugin(v *Value) (string, bool) {
	switch v.Kind {
	case ValueSimple:
		return PluginScalars, true
	case ValueHistogram:
		return PluginHistograms, true
	case ValueImage:
		return PluginImages, true
	case ValueAudio:
		return PluginAudio, true
	case ValueObsoleteHistogram:
		return "", false
	}
	if v.Metadata != nil && v.Metadata.PluginName != "" {
		return v.Metadata.PluginName, true
	}
	if m := r.meta[v.Tag]; m != nil && m.PluginName != "" {
		return m.PluginName, true
	}
	return PluginTensor, v.Kind == ValueTensor
}

// series finds or makes the series of a value.
func (r *run) series(plugin string, v *Value) *series {
	k := tagKey{plugin, v.Tag}
	s := r.tags[k]
	if s == nil {
		s = &series{tag: v.Tag, meta: &SummaryMetadata{PluginName: plugin}}
		if v.Metadata != nil {
			c := *v.Metadata
			c.Content = bytes.Clone(c.Content) // not a piece of the read buffer
			s.meta = &c
		}
		r.tags[k] = s
		if plugin == PluginScalars {
			r.scalars[v.Tag] = s
		}
		if r.meta[v.Tag] == nil {
			r.meta[v.Tag] = s.meta
		}
	}
	return s
}

// outOfOrder is the old rule for files that do not mark restarts.
func (r *run) outOfOrder(step int64, tags []string, o OpenOptions) {
	if o.Order != PurgeOnRestart || r.version >= 2 {
		return
	}
	if step >= r.recent {
		r.recent = step
		return
	}
	for k, s := range r.tags {
		if slices.Contains(tags, k.tag) {
			r.purge(s, step)
		}
	}
}

func (r *run) purge(s *series, step int64) {
	n := s.scalars.purge(step)
	before := len(s.items)
	s.items = purgeItems(s.items, step)
	if n += before - len(s.items); n > 0 {
		r.purged += n
		r.generation++
		s.version = r.generation
	}
}

func (r *run) addScalar(s *series, p ScalarPoint, o OpenOptions) {
	if o.Order == PreemptSteps {
		if last, ok := s.scalars.last(); ok && p.Step <= last {
			r.purge(s, p.Step)
		}
	}
	s.scalars.add(p)
	s.version = r.generation
}

func (r *run) addItem(s *series, it item, o OpenOptions) {
	if n := len(s.items); o.Order == PreemptSteps && n > 0 && it.step <= s.items[n-1].step {
		r.purge(s, it.step)
	}
	s.items = append(s.items, it)
	if n := len(s.items); o.MaxSteps > 0 && n > o.MaxSteps {
		s.items = append(s.items[:0], s.items[n-o.MaxSteps:]...)
	}
	s.version = r.generation
}

// scanScalar decodes the commonest event, one simple value without metadata,
// without allocating. The tag is a piece of b.
func scanScalar(b []byte) (tag []byte, p ScalarPoint, ok bool) {
	summary := false
	for len(b) > 0 {
		switch b[0] {
		case 1<<3 | 1: // wall_time
			if len(b) < 9 {
				return nil, p, false
			}
			p.Wall = math.Float64frombits(binary.LittleEndian.Uint64(b[1:]))
			b = b[9:]
		case 2 << 3: // step
			v, n := binary.Uvarint(b[1:])
			if n <= 0 {
				return nil, p, false
			}
			p.Step = int64(v)
			b = b[1+n:]
		case 5<<3 | 2: // summary
			s, rest, ok := shortBytes(b[1:])
			if !ok || summary || len(s) == 0 || s[0] != 1<<3|2 {
				return nil, p, false
			}
			b = rest
			v, rest, ok := shortBytes(s[1:])
			if !ok || len(rest) > 0 || len(v) == 0 || v[0] != 1<<3|2 {
				return nil, p, false
			}
			t, v, ok := shortBytes(v[1:])
			if !ok || len(v) != 5 || v[0] != 2<<3|5 {
				return nil, p, false
			}
			p.Value = float64(math.Float32frombits(binary.LittleEndian.Uint32(v[1:])))
			tag, summary = t, true
		default:
			return nil, p, false
		}
	}
	return tag, p, summary
}

// shortBytes splits off a field of bytes whose length stands in a single byte;
// it leaves longer ones to the parser of all events.
func shortBytes(b []byte) (field, rest []byte, ok bool) {
	if len(b) == 0 || b[0] >= 0x80 || len(b)-1 < int(b[0]) {
		return nil, nil, false
	}
	n := 1 + int(b[0])
	return b[1:n], b[n:], true
}
