package board

import (
	"math"
	"net/http"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/gotorch-dev/torch/tensorboard"
)

// ---- histograms ----

type histogramReply struct {
	Step   int64   `json:"step"`
	Wall   number  `json:"wall"`
	Counts numbers `json:"counts"`
}

func (s *Server) histograms(r *http.Request, a tagArgs) (any, error) {
	steps, err := intArg(r, "steps", 50, 1, 500)
	if err != nil {
		return nil, err
	}
	bins, err := intArg(r, "bins", 40, 2, 500)
	if err != nil {
		return nil, err
	}
	var hs []tensorboard.HistogramPoint
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, i := range pick(a.info.Count, steps) {
		h, err := s.log.HistogramAt(a.run, a.tag, i)
		if err != nil {
			return nil, err
		}
		for _, b := range h.Buckets {
			if b.Count > 0 && finite(b.Left) && finite(b.Right) {
				lo, hi = min(lo, b.Left), max(hi, b.Right)
			}
		}
		hs = append(hs, h)
	}
	if !(lo <= hi) {
		lo, hi = 0, 1
	}
	if hi-lo < 1e-12*max(math.Abs(lo), math.Abs(hi), 1e-12) {
		pad := max(math.Abs(lo)*0.05, 0.5)
		lo, hi = lo-pad, hi+pad
	}
	out := make([]histogramReply, 0, len(hs))
	for _, h := range hs {
		out = append(out, histogramReply{h.Step, number(h.Wall), rebin(h.Buckets, lo, hi, bins)})
	}
	return map[string]any{"n": a.info.Count, "lo": number(lo), "hi": number(hi), "points": out}, nil
}

func finite(v float64) bool { return v-v == 0 }

// rebin counts buckets over in equal bins, as if values lay evenly in each bucket.
func rebin(buckets []tensorboard.Bucket, lo, hi float64, n int) numbers {
	out := make(numbers, n)
	// The width is taken in halves: hi-lo may be more than a float64 holds.
	width := hi/float64(n) - lo/float64(n)
	at := func(x float64) int {
		p := (x/2 - lo/2) / (width / 2)
		if !(p > 0) {
			return 0
		}
		return min(int(min(p, float64(n))), n-1)
	}
	for _, b := range buckets {
		if !(b.Count > 0) || !finite(b.Left) || !finite(b.Right) || b.Right < lo || b.Left > hi {
			continue
		}
		w := b.Right - b.Left
		if !(w > 0) || !finite(w) {
			out[at(b.Left)] += b.Count
			continue
		}
		for i := at(b.Left); i <= at(b.Right); i++ {
			l, r := lo+float64(i)*width, lo+float64(i+1)*width
			if part := (min(r, b.Right) - max(l, b.Left)) / w; part > 0 {
				out[i] += b.Count * part
			}
		}
	}
	for i, v := range out {
		out[i] = float64(float32(v)) // seven digits are enough to draw
	}
	return out
}

// ---- text ----

func (s *Server) text(r *http.Request, a tagArgs) (any, error) {
	limit, err := intArg(r, "limit", 20, 1, 200)
	if err != nil {
		return nil, err
	}
	type reply struct {
		Step int64  `json:"step"`
		Wall number `json:"wall"`
		HTML string `json:"html"`
	}
	out := []reply{}
	for i := a.info.Count - 1; i >= 0 && len(out) < limit; i-- {
		p, err := s.log.TextAt(a.run, a.tag, i)
		if err != nil {
			return nil, err
		}
		out = append(out, reply{p.Step, number(p.Wall), renderTexts(p.Shape, p.Texts)})
	}
	return map[string]any{"n": a.info.Count, "points": out}, nil
}

// ---- precision and recall ----

func (s *Server) prCurves(r *http.Request, a tagArgs) (any, error) {
	steps, err := intArg(r, "steps", 50, 1, 200)
	if err != nil {
		return nil, err
	}
	type reply struct {
		Step      int64   `json:"step"`
		Wall      number  `json:"wall"`
		Precision numbers `json:"precision"`
		Recall    numbers `json:"recall"`
		TP        numbers `json:"tp"`
		FP        numbers `json:"fp"`
		TN        numbers `json:"tn"`
		FN        numbers `json:"fn"`
	}
	out := []reply{}
	for _, i := range pick(a.info.Count, steps) {
		p, err := s.log.PRCurveAt(a.run, a.tag, i)
		if err != nil {
			return nil, err
		}
		out = append(out, reply{p.Step, number(p.Wall), p.Precision, p.Recall, p.TP, p.FP, p.TN, p.FN})
	}
	return map[string]any{"n": a.info.Count, "points": out}, nil
}

// ---- graph ----

const (
	maxNodes = 20000
	maxAttr  = 1000
)

type nodeReply struct {
	Name   string            `json:"name"`
	Op     string            `json:"op"`
	Inputs []string          `json:"inputs"`
	Device string            `json:"device,omitempty"`
	Attrs  map[string]string `json:"attrs,omitempty"`
	Shapes [][]int64         `json:"shapes,omitempty"`
}

func (s *Server) graph(r *http.Request) (any, error) {
	run, _, err := s.runName(r.URL.Query().Get("run"))
	if err != nil {
		return nil, err
	}
	g, err := s.log.Graph(run)
	if err != nil {
		return nil, err
	}
	nodes := []nodeReply{}
	for _, n := range g.Nodes[:min(len(g.Nodes), maxNodes)] {
		x := nodeReply{Name: n.Name, Op: n.Op, Inputs: []string{}, Device: n.Device, Shapes: n.OutputShapes}
		for _, in := range n.Inputs {
			// "^name" is a control edge, "name:1" the second output.
			in = strings.TrimPrefix(in, "^")
			if i := strings.LastIndexByte(in, ':'); i > 0 && strings.Trim(in[i+1:], "0123456789") == "" {
				in = in[:i]
			}
			x.Inputs = append(x.Inputs, in)
		}
		for k, v := range n.Attrs {
			if x.Attrs == nil {
				x.Attrs = map[string]string{}
			}
			if len(v) > maxAttr {
				v = strings.ToValidUTF8(v[:maxAttr], "") + "…"
			}
			x.Attrs[k] = v
		}
		nodes = append(nodes, x)
	}
	return map[string]any{"nodes": nodes, "total": len(g.Nodes)}, nil
}

// ---- hyperparameters ----

type sessionReply struct {
	Run     int    `json:"run"`
	Status  string `json:"status"`
	Group   string `json:"group,omitempty"`
	Values  []any  `json:"values"`  // numbers, strings, truth values, null
	Metrics []any  `json:"metrics"` // numbers, null
}

func (s *Server) hparams(*http.Request) (any, error) {
	sessions := s.log.Sessions()
	params, metrics := []string{}, []string{}
	for _, x := range sessions {
		for _, p := range x.Params {
			params = append(params, p.Name)
		}
		metrics = append(metrics, x.Metrics...)
	}
	slices.Sort(params)
	slices.Sort(metrics)
	params, metrics = slices.Compact(params), slices.Compact(metrics)
	runs := s.log.Runs()
	out := []sessionReply{}
	for _, x := range sessions {
		s.mu.RLock()
		id, ok := s.ids[x.Run]
		s.mu.RUnlock()
		if !ok {
			continue // came between two looks
		}
		y := sessionReply{Run: id, Status: x.Status, Group: x.Group, Values: make([]any, len(params)),
			Metrics: make([]any, len(metrics))}
		for _, p := range x.Params {
			i, _ := slices.BinarySearch(params, p.Name)
			switch p.Value.Kind {
			case tensorboard.HParamString:
				y.Values[i] = p.Value.Str
			case tensorboard.HParamBool:
				y.Values[i] = p.Value.Bool
			default:
				y.Values[i] = number(p.Value.Number)
			}
		}
		for i, m := range metrics {
			if v, ok := s.lastValue(runs, x.Run, m); ok {
				y.Metrics[i] = number(v)
			}
		}
		out = append(out, y)
	}
	return map[string]any{"params": params, "metrics": metrics, "sessions": out}, nil
}

// lastValue is a metric's newest value in a session's run, or else in a run below
// it, since programs often log training and validation in directories of their own.
func (s *Server) lastValue(runs []string, run, tag string) (float64, bool) {
	for _, r := range append([]string{run}, runs...) {
		if r != run && !strings.HasPrefix(r, run+"/") {
			continue
		}
		t, err := s.log.Tag(r, tensorboard.PluginScalars, tag)
		if err != nil || t.Count == 0 {
			continue
		}
		c, err := s.log.ScalarsFrom(r, tag, t.Count-1)
		if err == nil && c.Len() > 0 {
			return c.Values[c.Len()-1], true
		}
	}
	return 0, false
}

// ---- custom scalars ----

type marginReply struct {
	Value string `json:"value"`
	Lower string `json:"lower"`
	Upper string `json:"upper"`
}

type chartReply struct {
	Title   string        `json:"title"`
	Tags    []string      `json:"tags"`
	Margins []marginReply `json:"margins"`
	Error   string        `json:"error,omitempty"`
}

type categoryReply struct {
	Title  string       `json:"title"`
	Closed bool         `json:"closed"`
	Charts []chartReply `json:"charts"`
}

func (s *Server) custom(*http.Request) (any, error) {
	var tags []string
	runs := s.log.Runs()
	for _, r := range runs {
		tags = append(tags, s.log.Tags(r, tensorboard.PluginScalars)...)
	}
	sort.Strings(tags)
	tags = slices.Compact(tags)
	out := []categoryReply{}
	at := map[string]int{}
	for _, r := range runs {
		layout, err := s.log.CustomScalars(r)
		if err != nil {
			continue // most runs have none
		}
		for _, c := range layout {
			i, ok := at[c.Title]
			if !ok {
				i = len(out)
				at[c.Title] = i
				out = append(out, categoryReply{Title: c.Title, Closed: c.Closed, Charts: []chartReply{}})
			}
			for _, ch := range c.Charts {
				x := chartReply{Title: ch.Title, Tags: []string{}, Margins: []marginReply{}}
				for _, pattern := range ch.Tags {
					x.match(pattern, tags)
				}
				for _, m := range ch.Margins {
					x.Margins = append(x.Margins, marginReply{m.Value, m.Lower, m.Upper})
				}
				slices.Sort(x.Tags)
				x.Tags = slices.Compact(x.Tags)
				if !slices.ContainsFunc(out[i].Charts, func(y chartReply) bool {
					return y.Title == x.Title && slices.Equal(y.Tags, x.Tags) && slices.Equal(y.Margins, x.Margins)
				}) {
					out[i].Charts = append(out[i].Charts, x)
				}
			}
		}
	}
	return map[string]any{"categories": out}, nil
}

// match adds the tags that a layout's pattern stands for. Patterns are regular
// expressions that match from the beginning. They are evaluated here because Go's
// take linear time, whatever a hostile log says; the browser's do not.
func (c *chartReply) match(pattern string, tags []string) {
	if _, ok := slices.BinarySearch(tags, pattern); ok {
		c.Tags = append(c.Tags, pattern)
		return
	}
	if len(pattern) > 10000 {
		c.Error = "a pattern of this chart is too long"
		return
	}
	re, err := regexp.Compile("^(?:" + pattern + ")")
	if err != nil {
		c.Error = "a pattern of this chart is no regular expression"
		return
	}
	for _, t := range tags {
		if re.MatchString(t) {
			c.Tags = append(c.Tags, t)
		}
	}
}

// ---- arguments shared by embeddings ----

func (s *Server) embeddingArg(r *http.Request) (tensorboard.Embedding, string, error) {
	run, _, err := s.runName(r.URL.Query().Get("run"))
	if err != nil {
		return tensorboard.Embedding{}, "", err
	}
	list, err := s.log.Embeddings(run)
	if err != nil {
		return tensorboard.Embedding{}, "", err
	}
	i, err := intArg(r, "i", 0, 0, 1<<20)
	if err != nil {
		return tensorboard.Embedding{}, "", err
	}
	if i >= len(list) {
		return tensorboard.Embedding{}, "", &apiError{http.StatusNotFound, "there is no such embedding"}
	}
	info, err := s.log.Run(run)
	return list[i], info.Dir, err
}
