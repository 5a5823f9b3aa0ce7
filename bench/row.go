package main

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"sort"
	"time"

	"github.com/gotorch-dev/torch"
)

// config is what the flags ask for.
type config struct {
	suite   string
	only    *regexp.Regexp
	threads []int
	pythons []string
	json    string
	md      string

	windows int           // windows of each side
	window  time.Duration // length of one
	tiny    bool          // small sizes: for the tests of this program
}

// size is n, or a small number in a test.
func (c *config) size(n, tiny int) int {
	if c.tiny {
		return tiny
	}
	return n
}

// work is something to measure.
type work struct {
	step func()
	// grad says that the step records gradients; the others run in torch.InferenceMode, as PyTorch's side does.
	grad bool
	// close frees what the step needs; may be nil.
	close func()
}

// unit is what a row's figures count.
type unit uint8

const (
	nanoseconds unit = iota
	bytesUsed
)

// row is one line of the report.
type row struct {
	suite, name string
	flops       float64 // of one call; 0: not bound by arithmetic
	bytes       float64 // that one call must move; 0: not bound by memory
	prepare     func() work

	// peer is the function of peer.py that does the same work, args its keyword arguments.
	peer string
	args map[string]any

	// ours and theirs measure rows that a loop cannot: one value of a fresh process.
	unit   unit
	ours   func(ctx context.Context) (float64, error)
	theirs func(ctx context.Context, python string, threads int) (float64, error)
}

// arg is a short name for the arguments of a row's peer.
type arg = map[string]any

// suites in the order of the report. Each has a file of its own.
var suites = []struct {
	name string
	rows func(c *config) []row
}{
	{"gemm", gemmRows},
	{"conv", convRows},
	{"pointwise", pointwiseRows},
	{"fft", fftRows},
	{"linalg", linalgRows},
	{"eager", eagerRows},
	{"func", funcRows},
	{"optim", optimRows},
	{"train", trainRows},
	{"amp", ampRows},
	{"networks", networkRows},
	{"onnx", onnxRows},
	{"quantized", quantizedRows},
	{"data", dataRows},
	{"io", ioRows},
	{"vision", visionRows},
	{"zoo", zooRows},
	{"start", startRows},
	{sweepName, sweepRows},
}

// sweepName is the suite of all operators, which has so many rows that it runs only when it is asked for.
const sweepName = "sweep"

func suiteNames() []string {
	var s []string
	for _, x := range suites {
		s = append(s, x.name)
	}
	return s
}

// choose lists the rows that the flags ask for.
func choose(c *config) []row {
	var out []row
	for _, s := range suites {
		if c.suite != s.name && (c.suite != "all" || s.name == sweepName) {
			continue
		}
		for _, r := range s.rows(c) {
			r.suite = s.name
			if c.only == nil || c.only.MatchString(r.suite+"/"+r.name) {
				out = append(out, r)
			}
		}
	}
	return out
}

// side is one of those that take turns.
type side struct {
	name    string
	window  func(d time.Duration) (ns float64, err error)
	samples []float64
	err     error
}

// sample lets the sides take turns until each has had its windows: whatever disturbs the machine for a while hits all
// of them.
func sample(ctx context.Context, c *config, sides []*side) {
	first := func(s *side) float64 { // warms caches up and tells how long a call takes
		ns, err := s.window(0)
		s.err = err
		return ns
	}
	slowest := 0.0
	for _, s := range sides {
		slowest = max(slowest, first(s))
	}
	n := c.windows
	if slowest > 4*float64(c.window) {
		n = min(n, 3) // a second call or two says enough about what takes so long
	}
	for range n {
		for _, s := range sides {
			if s.err != nil || ctx.Err() != nil {
				continue
			}
			ns, err := s.window(c.window)
			if err != nil {
				s.err = err
				continue
			}
			s.samples = append(s.samples, ns)
		}
	}
}

// loop calls step for about d, at least once, and returns the median time of a call.
func loop(step func(), d time.Duration) float64 {
	// Short calls are timed in groups, so that the clock costs nothing.
	const group = 30 * time.Microsecond
	start := time.Now()
	step()
	one := time.Since(start)
	if d <= 0 && one > group {
		return float64(one)
	}
	k := max(1, int(group/max(one, 1)))
	if k > 1 { // the first call was slower than the rest
		start = time.Now()
		for range k {
			step()
		}
		k = max(1, k*int(group)/max(int(time.Since(start)), 1))
	}
	var times []float64
	for end := time.Now().Add(d); ; {
		start := time.Now()
		for range k {
			step()
		}
		now := time.Now()
		times = append(times, float64(now.Sub(start))/float64(k))
		if !now.Before(end) {
			return median(times)
		}
	}
}

// own prepares our side of a row.
func own(r *row) (s *side, done func()) {
	var w work
	if err := torch.Try(func() { w = r.prepare() }); err != nil {
		return &side{name: "ours", window: func(time.Duration) (float64, error) { return 0, err }}, func() {}
	}
	s = &side{name: "ours", window: func(d time.Duration) (ns float64, err error) {
		err = torch.Try(func() {
			if w.grad {
				ns = loop(w.step, d)
			} else {
				torch.InferenceMode(func() { ns = loop(w.step, d) })
			}
		})
		return ns, err
	}}
	return s, func() {
		if w.close != nil {
			w.close()
		}
		w = work{}
		runtime.GC() // the next row starts without this one's tensors
	}
}

// measure runs one row on all sides.
func measure(ctx context.Context, c *config, r row, threads int, peers []*peer) result {
	res := result{Suite: r.suite, Name: r.name, Threads: threads, unit: r.unit}
	if r.ours != nil {
		once(ctx, &r, threads, peers, &res)
		return res
	}
	mine, done := own(&r)
	defer done()
	sides := []*side{mine}
	for _, p := range peers {
		if r.peer == "" || p.dead != nil {
			continue
		}
		theirs, notes := p.prepare(&r, threads)
		res.Notes = append(res.Notes, notes...)
		sides = append(sides, theirs...)
		defer p.drop()
	}
	sample(ctx, c, sides)
	for _, s := range sides {
		switch {
		case s.err != nil:
			res.note("%s: %v", s.name, s.err)
		case len(s.samples) == 0:
		case s == mine:
			res.set(r, median(s.samples))
		default:
			res.peer(s.name, median(s.samples))
		}
	}
	return res
}

// once measures a row that has its own way to do so: the median of three tries, in turns.
func once(ctx context.Context, r *row, threads int, peers []*peer, res *result) {
	const tries = 3
	vals := map[string][]float64{}
	for range tries {
		v, err := r.ours(ctx)
		if err != nil {
			res.note("ours: %v", err)
			return
		}
		vals[""] = append(vals[""], v)
		for _, p := range peers {
			if r.theirs == nil || p.dead != nil {
				continue
			}
			v, err := r.theirs(ctx, p.python, threads)
			if err != nil {
				res.note("%s: %v", p.name, err)
				continue
			}
			vals[p.name] = append(vals[p.name], v)
		}
	}
	res.set(*r, median(vals[""]))
	for _, p := range peers {
		if v := vals[p.name]; len(v) > 0 {
			res.peer(p.name, median(v))
		}
	}
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Clone(v)
	sort.Float64s(v)
	m := len(v) / 2
	if len(v)%2 == 1 {
		return v[m]
	}
	return (v[m-1] + v[m]) / 2
}

// result is what a row came to, and its record in the JSON file. Figures that do not apply are null.
type result struct {
	Suite     string   `json:"suite"`
	Name      string   `json:"name"`
	Threads   int      `json:"threads"`
	NS        *float64 `json:"ns"`
	GFlops    *float64 `json:"gflops"`
	GBps      *float64 `json:"gbps"`
	PeakShare *float64 `json:"peak_share"`
	TorchNS   *float64 `json:"torch_ns"`
	Ratio     *float64 `json:"ratio"`

	// Bytes stand in the place of nanoseconds in rows that count memory.
	Bytes      *float64 `json:"bytes,omitempty"`
	TorchBytes *float64 `json:"torch_bytes,omitempty"`
	// Peers are the medians of all peers by name, in the row's unit.
	Peers map[string]float64 `json:"peers,omitempty"`
	Notes []string           `json:"notes,omitempty"`

	unit unit
}

func (r *result) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// set takes our median.
func (r *result) set(row row, v float64) {
	if row.unit == bytesUsed {
		r.Bytes = &v
		return
	}
	r.NS = &v
	if row.flops > 0 {
		r.GFlops = ptr(row.flops / v)
	}
	if row.bytes > 0 {
		r.GBps = ptr(row.bytes / v)
	}
}

// peer takes the median of a peer. The ratio is against the fastest of them.
func (r *result) peer(name string, v float64) {
	if r.Peers == nil {
		r.Peers = map[string]float64{}
	}
	r.Peers[name] = v
	best := v
	for _, x := range r.Peers {
		best = min(best, x)
	}
	mine := r.NS
	if r.unit == bytesUsed {
		mine = r.Bytes
	}
	if mine != nil && *mine > 0 {
		r.Ratio = ptr(best / *mine)
	}
	// torch_ns is the best PyTorch; other libraries are in peers alone.
	if libOf(name) != "torch" {
		return
	}
	if r.unit == bytesUsed {
		r.TorchBytes = smaller(r.TorchBytes, v)
	} else {
		r.TorchNS = smaller(r.TorchNS, v)
	}
}

func smaller(p *float64, v float64) *float64 {
	if p != nil && *p <= v {
		return p
	}
	return &v
}

func ptr(v float64) *float64 { return &v }
