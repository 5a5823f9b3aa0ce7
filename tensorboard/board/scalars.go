package board

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gotorch-dev/torch/tensorboard"
)

// sample chooses at most about n points of a curve (n ≥ 4), by their numbers: the
// first, the last, and of equal stretches between them the least and the greatest,
// so that no spike is lost. A stretch with values that are no numbers keeps one of
// those too: that a loss became NaN must be seen.
func sample(v []float64, n int) []int {
	if len(v) <= n {
		return nil
	}
	buckets := max((n-2)/2, 1)
	out := make([]int, 0, n+8)
	out = append(out, 0)
	inner := len(v) - 2
	for b := range buckets {
		lo, hi := 1+b*inner/buckets, 1+(b+1)*inner/buckets
		least, most, odd := -1, -1, -1
		for i := lo; i < hi; i++ {
			switch x := v[i]; {
			case x != x || math.IsInf(x, 0):
				if odd < 0 {
					odd = i
				}
			case least < 0:
				least, most = i, i
			case x < v[least]:
				least = i
			case x > v[most]:
				most = i
			}
		}
		three := [3]int{least, most, odd}
		for i := range three { // three numbers: sort by hand
			for j := i; j > 0 && three[j] < three[j-1]; j-- {
				three[j], three[j-1] = three[j-1], three[j]
			}
		}
		last := -1
		for _, i := range three {
			if i >= 0 && i != last {
				out = append(out, i)
				last = i
			}
		}
	}
	return append(out, len(v)-1)
}

// curve is a part of a run's curve, thinned out.
type curve struct {
	n      int   // points of the whole curve
	index  []int // numbers of the points in the whole curve; nil: all from from on
	from   int
	series *tensorboard.ScalarSeries
}

// thin makes a curve of at most points points from those that begin at number from.
// keep chooses a stretch, or is nil.
func thin(s *tensorboard.ScalarSeries, from, points int, lo, hi int) curve {
	c := curve{n: from + s.Len(), from: from}
	part := &tensorboard.ScalarSeries{Steps: s.Steps[lo:hi], Walls: s.Walls[lo:hi], Values: s.Values[lo:hi]}
	idx := sample(part.Values, points)
	if idx == nil {
		c.series = part
		if lo > 0 || hi < s.Len() {
			for i := range part.Steps {
				c.index = append(c.index, from+lo+i)
			}
		}
		return c
	}
	c.series = &tensorboard.ScalarSeries{Steps: make([]int64, len(idx)), Walls: make([]float64, len(idx)),
		Values: make([]float64, len(idx))}
	for k, i := range idx {
		c.series.Steps[k], c.series.Walls[k], c.series.Values[k] = part.Steps[i], part.Walls[i], part.Values[i]
		idx[k] = from + lo + i
	}
	c.index = idx
	return c
}

// sampleCache keeps thinned curves, since thinning reads the whole curve and the
// page asks for a hundred at once. Entries are dropped at random when full.
type sampleCache struct {
	mu sync.Mutex
	m  map[sampleKey]sampleEntry
}

type sampleKey struct {
	run, tag, axis string
	points         int
	lo, hi         float64
}

type sampleEntry struct {
	version uint64
	count   int
	c       curve
}

const cachedCurves = 2000

func (c *sampleCache) get(k sampleKey, t tensorboard.TagInfo) (curve, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.m[k]
	if !ok || e.version != t.Version || e.count != t.Count {
		return curve{}, false
	}
	return e.c, true
}

func (c *sampleCache) put(k sampleKey, t tensorboard.TagInfo, v curve) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil {
		c.m = map[sampleKey]sampleEntry{}
	}
	for old := range c.m { // maps iterate in random order
		if len(c.m) < cachedCurves {
			break
		}
		delete(c.m, old)
	}
	c.m[k] = sampleEntry{t.Version, t.Count, v}
}

// stretch finds the points between lo and hi along an axis, with one more at
// either side so that lines run to the edge of the chart.
func stretch(s *tensorboard.ScalarSeries, axis string, lo, hi float64) (int, int) {
	first, last := s.Len(), -1
	for i := range s.Steps {
		var x float64
		switch axis {
		case "wall":
			x = s.Walls[i]
		case "relative":
			x = s.Walls[i] - s.Walls[0]
		default:
			x = float64(s.Steps[i])
		}
		if x >= lo && x <= hi {
			first, last = min(first, i), i
		}
	}
	if last < 0 {
		return 0, 0
	}
	return max(first-1, 0), min(last+2, s.Len())
}

// held is what a client has of a run's curve.
type held struct{ count, purged int }

func parseHave(q string) (map[int]held, error) {
	out := map[int]held{}
	for _, e := range strings.Split(q, ",") {
		if e == "" {
			continue
		}
		var v [3]int
		f := strings.Split(e, ":")
		if len(f) != 3 {
			return nil, badRequest("have must be a list of run:points:purged")
		}
		for i := range f {
			n, err := strconv.Atoi(f[i])
			if err != nil || n < 0 {
				return nil, badRequest("have must be a list of run:points:purged")
			}
			v[i] = n
		}
		out[v[0]] = held{v[1], v[2]}
	}
	return out, nil
}

func (s *Server) scalars(r *http.Request) (any, error) {
	q := r.URL.Query()
	points, err := intArg(r, "points", 1000, 10, 20000)
	if err != nil {
		return nil, err
	}
	have, err := parseHave(q.Get("have"))
	if err != nil {
		return nil, err
	}
	axis := q.Get("axis")
	switch axis {
	case "":
		axis = "step"
	case "step", "wall", "relative":
	default:
		return nil, badRequest("axis must be step, wall or relative")
	}
	lo, hi := math.Inf(-1), math.Inf(1)
	for name, p := range map[string]*float64{"lo": &lo, "hi": &hi} {
		if v := q.Get(name); v != "" {
			if *p, err = strconv.ParseFloat(v, 64); err != nil || *p != *p {
				return nil, badRequest("%s must be a number", name)
			}
		}
	}
	part := q.Has("lo") || q.Has("hi")
	tag := q.Get("tag")
	// First what each run has, then the curves that must be read, on all cores.
	type job struct {
		run     string
		id      int
		purged  int
		info    tensorboard.TagInfo
		have    int
		c       curve
		pending bool
	}
	var jobs []*job
	found := false
	seen := map[string]bool{}
	for _, id := range strings.Split(q.Get("runs"), ",") {
		if seen[id] {
			continue
		}
		seen[id] = true
		run, n, err := s.runName(id)
		if err != nil {
			return nil, err
		}
		info, err := s.log.Run(run)
		if err != nil {
			return nil, err
		}
		t, err := s.log.Tag(run, tensorboard.PluginScalars, tag)
		if err != nil {
			continue // not every run has every tag
		}
		found = true
		j := &job{run: run, id: n, purged: info.Purged, info: t, pending: true}
		if h, ok := have[n]; ok && !part && h.purged == info.Purged && h.count <= t.Count {
			j.have = h.count
		}
		if j.have > 0 && j.have == t.Count {
			continue
		}
		if j.have == 0 {
			c, ok := s.curves.get(sampleKey{run, tag, axis, points, lo, hi}, t)
			j.c, j.pending = c, !ok
		}
		jobs = append(jobs, j)
	}
	read := func(j *job) error {
		all, err := s.log.ScalarsFrom(j.run, tag, j.have)
		if err != nil {
			return err
		}
		a, b := 0, all.Len()
		if part && b > 0 {
			a, b = stretch(all, axis, lo, hi)
		}
		j.c = thin(all, j.have, points, a, b)
		if j.have == 0 {
			s.curves.put(sampleKey{j.run, tag, axis, points, lo, hi}, j.info, j.c)
		}
		return nil
	}
	var next atomic.Int64
	errs := make([]error, min(runtime.GOMAXPROCS(0), max(len(jobs), 1)))
	var wg sync.WaitGroup
	for k := range errs {
		wg.Go(func() {
			for errs[k] == nil {
				i := int(next.Add(1)) - 1
				if i >= len(jobs) || r.Context().Err() != nil {
					return
				}
				if jobs[i].pending {
					errs[k] = read(jobs[i])
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(append(errs, r.Context().Err())...); err != nil {
		return nil, err
	}
	b := []byte(`{"series":[`)
	for i, j := range jobs {
		if i > 0 {
			b = append(b, ',')
		}
		b = j.c.append(b, j.id, j.purged)
	}
	if !found {
		return nil, &apiError{http.StatusNotFound, "none of these runs has such a tag"}
	}
	return append(b, "]}"...), nil
}

func (c *curve) append(b []byte, run, purged int) []byte {
	b = fmt.Appendf(b, `{"run":%d,"n":%d,"from":%d,"purged":%d`, run, c.n, c.from, purged)
	if c.index != nil {
		b = append(b, `,"i":[`...)
		for k, i := range c.index {
			if k > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(i), 10)
		}
		b = append(b, ']')
	}
	b = append(b, `,"step":[`...)
	for k, i := range c.series.Steps {
		if k > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, i, 10)
	}
	b = append(b, `],"wall":[`...)
	for k, v := range c.series.Walls {
		if k > 0 {
			b = append(b, ',')
		}
		if math.Abs(v) < 1e15 {
			b = strconv.AppendFloat(b, math.Round(v*1000)/1000, 'f', -1, 64)
		} else {
			b = appendNumber(b, v)
		}
	}
	b = append(b, `],"value":[`...)
	for k, v := range c.series.Values {
		if k > 0 {
			b = append(b, ',')
		}
		b = appendNumber(b, v)
	}
	return append(b, "]}"...)
}

// appendNumber writes a number as JSON, as a string if JSON has no such number.
// Values of single precision get the few digits that they are worth.
func appendNumber(b []byte, v float64) []byte {
	switch {
	case v != v:
		return append(b, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(b, `"-Infinity"`...)
	case float64(float32(v)) == v:
		return strconv.AppendFloat(b, v, 'g', -1, 32)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

// number is a float64 that may be no number.
type number float64

func (n number) MarshalJSON() ([]byte, error) { return appendNumber(nil, float64(n)), nil }

// numbers is a list of them.
type numbers []float64

func (n numbers) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i, v := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendNumber(b, v)
	}
	return append(b, ']'), nil
}

func marshal(v any) ([]byte, error) { return json.Marshal(v) }

func (s *Server) scalarsCSV(w http.ResponseWriter, r *http.Request) error {
	a, err := s.tagArg(r, tensorboard.PluginScalars)
	if err != nil {
		return err
	}
	c, err := s.log.Scalars(a.run, a.tag)
	if err != nil {
		return err
	}
	b := []byte("wall_time,step,value\r\n")
	for i := range c.Steps {
		b = strconv.AppendFloat(b, c.Walls[i], 'f', -1, 64)
		b = append(b, ',')
		b = strconv.AppendInt(b, c.Steps[i], 10)
		b = append(b, ',')
		if v := c.Values[i]; float64(float32(v)) == v {
			b = strconv.AppendFloat(b, v, 'g', -1, 32)
		} else {
			b = strconv.AppendFloat(b, v, 'g', -1, 64)
		}
		b = append(b, '\r', '\n')
	}
	w.Header().Set("Content-Disposition", `attachment; filename="`+fileName(a.run+"_"+a.tag)+`.csv"`)
	send(w, r, http.StatusOK, "text/csv; charset=utf-8", b)
	return nil
}

// fileName makes a name that every file system takes and no header breaks on.
func fileName(s string) string {
	out := make([]byte, 0, len(s))
	for _, c := range s {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.' &&
			len(out) > 0:
			out = append(out, byte(c))
		case len(out) > 0 && out[len(out)-1] != '_':
			out = append(out, '_')
		}
		if len(out) >= 100 {
			break
		}
	}
	if len(out) == 0 {
		return "data"
	}
	return string(out)
}
