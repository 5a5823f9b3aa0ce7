// Package distcheck compares package distributions with recorded results of torch.distributions.
package distcheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/distributions"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/tensor"
)

type file struct {
	Dists      []map[string]json.RawMessage `json:"dists"`
	KL         []pair                       `json:"kl"`
	Transforms []map[string]json.RawMessage `json:"transforms"`
}

type pair struct {
	P, Q  string
	DType string
	KL    json.RawMessage
}

// draw is a recorded sample.
type draw struct {
	Seed  int64
	Shape []int
	Value json.RawMessage
	DType string
	Grad  map[string]json.RawMessage
}

// run is the state of one comparison.
type run struct {
	only *regexp.Regexp
	golden.Tally
}

// Run compares the cases of a directory.
func Run(dir string, only *regexp.Regexp, verbose func(string, ...any)) ([]golden.Result, error) {
	var f file
	if err := golden.ReadJSON(filepath.Join(dir, "distributions.json"), &f); err != nil {
		return nil, err
	}
	r := &run{only: only, Tally: golden.Tally{Verbose: verbose}}
	byName := map[string]map[string]json.RawMessage{}
	for _, d := range f.Dists {
		name, dt := text(d["name"]), text(d["dtype"])
		byName[name+" "+dt] = d
		if r.wanted(name) {
			r.distribution(name, d)
		}
	}
	for _, k := range f.KL {
		name := "KL " + k.P
		if !r.wanted(name) {
			continue
		}
		r.check(name, k.Q+" "+k.DType, func() string {
			p, _, err := make1(byName[k.P+" "+k.DType], false)
			if err != nil {
				return err.Error()
			}
			q, _, err := make1(byName[k.Q+" "+k.DType], false)
			if err != nil {
				return err.Error()
			}
			return same(distributions.KLDivergence(p, q), k.KL, dtype.Parse(k.DType), 1)
		})
	}
	for _, t := range f.Transforms {
		if name := text(t["name"]); r.wanted(name) {
			r.transform(name, t)
		}
	}
	return r.Results(), nil
}

func (r *run) wanted(name string) bool { return r.only == nil || r.only.MatchString(name) }

// check counts one comparison; f returns what is wrong, or "". Panics count as failures.
func (r *run) check(name, what string, f func() string) {
	var err error
	func() {
		defer func() {
			if p := recover(); p != nil {
				err = golden.Recovered(p)
			}
		}()
		if msg := f(); msg != "" {
			err = errors.New(msg)
		}
	}()
	r.Add(name, what, err)
}

func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// value reads nested lists of numbers, bools and the words inf, -inf and nan. Without a type, whole numbers are int64.
func value(raw json.RawMessage, dt tensor.DType) (*tensor.Tensor, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("distcheck: %w in %.60s", err, raw)
	}
	var shape []int
	for x := v; ; {
		l, ok := x.([]any)
		if !ok {
			break
		}
		shape = append(shape, len(l))
		if len(l) == 0 {
			break
		}
		x = l[0]
	}
	var out []float64
	whole := true
	var walk func(x any) error
	walk = func(x any) error {
		switch e := x.(type) {
		case []any:
			for _, y := range e {
				if err := walk(y); err != nil {
					return err
				}
			}
		case json.Number:
			f, err := e.Float64()
			if err != nil {
				return err
			}
			whole = whole && !strings.ContainsAny(e.String(), ".eE")
			out = append(out, f)
		case string:
			f, ok := map[string]float64{"inf": math.Inf(1), "-inf": math.Inf(-1), "nan": math.NaN()}[e]
			if !ok {
				return fmt.Errorf("distcheck: number %q", e)
			}
			whole = false
			out = append(out, f)
		default:
			return fmt.Errorf("distcheck: %T in a tensor", x)
		}
		return nil
	}
	if err := walk(v); err != nil {
		return nil, err
	}
	if shape == nil {
		shape = []int{}
	}
	t := tensor.FromSlice(out, shape...)
	if dt == 0 && whole {
		dt = torch.Int64
	}
	if dt != 0 {
		t = t.ToDType(dt)
	}
	return t.To(golden.Device), nil
}

// same compares a result with the recorded numbers, within the tolerance of the type times a factor. The result's own
// type may be an integer one.
func same(got *tensor.Tensor, raw json.RawMessage, dt tensor.DType, times float64) string {
	return within(got, raw, dt, golden.ToleranceOf(dt).Times(times))
}

func within(got *tensor.Tensor, raw json.RawMessage, dt tensor.DType, tol golden.Tolerance) string {
	if got == nil {
		return "got no tensor"
	}
	if !got.DType().IsIntOrBool() && got.DType() != dt {
		return fmt.Sprintf("dtype %s, want %s", got.DType(), dt)
	}
	want, err := value(raw, torch.Float64)
	if err != nil {
		return err.Error()
	}
	return golden.Close(got.Detach().Double(), want, tol)
}

// make1 makes the distribution of a record; with grad, its parameters are leaves that require grad.
func make1(rec map[string]json.RawMessage, grad bool) (d dist, params tensorMap, err error) {
	if rec == nil {
		return nil, nil, fmt.Errorf("no such distribution")
	}
	dt := dtype.Parse(text(rec["dtype"]))
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(rec["params"], &raw); err != nil {
		return nil, nil, fmt.Errorf("distcheck: parameters: %w", err)
	}
	params = tensorMap{}
	for k, v := range raw {
		t, err := value(v, dt)
		if err != nil {
			return nil, nil, err
		}
		params[k] = t.SetRequiresGrad(grad)
	}
	d, err = builder{dt}.distribution(text(rec["cls"]), text(rec["name"]), args{params, raw})
	return d, params, err
}

// loss is the weighted sum whose gradients are recorded.
func loss(x *tensor.Tensor) *tensor.Tensor {
	w := make([]float64, x.Numel())
	for i := range w {
		w[i] = float64(i%7-3) / 3
	}
	return x.Mul(tensor.FromSlice(w, x.Shape()...).ToDType(x.DType()).To(x.Device())).Sum()
}

// refused says that a call must fail.
func refused(what string, f func() *tensor.Tensor) string {
	err := tensor.Try(func() { f() })
	if err == nil {
		return what + " is a result, PyTorch has none"
	}
	return ""
}

func (r *run) distribution(name string, rec map[string]json.RawMessage) {
	dt := dtype.Parse(text(rec["dtype"]))
	var d dist
	built := ""
	r.check(name, "constructor "+dt.Name(), func() string {
		var err error
		if d, _, err = make1(rec, false); err != nil {
			built = err.Error()
		}
		return built
	})
	if d == nil {
		return
	}
	check := func(what string, f func() string) { r.check(name, what+" "+dt.Name(), f) }
	shape := func(key string, got []int) {
		check(key, func() string {
			var want []int
			if err := json.Unmarshal(rec[key], &want); err != nil {
				return err.Error()
			}
			if !slices.Equal(got, want) {
				return fmt.Sprintf("%v, want %v", got, want)
			}
			return ""
		})
	}
	shape("batch_shape", d.BatchShape())
	shape("event_shape", d.EventShape())
	check("has_rsample", func() string {
		if got := fmt.Sprint(d.HasRSample()); got != string(rec["has_rsample"]) {
			return got
		}
		return ""
	})
	for _, m := range []struct {
		key string
		f   func() *tensor.Tensor
	}{{"mean", d.Mean}, {"variance", d.Variance}, {"stddev", d.StdDev}, {"mode", d.Mode}, {"entropy",
		d.Entropy}, {"perplexity", d.Perplexity}} {
		raw, ok := rec[m.key]
		switch {
		case ok:
			check(m.key, func() string { return same(m.f(), raw, dt, 1) })
		case m.key != "perplexity": // recorded for numbers only
			check(m.key, func() string { return refused(m.key, m.f) })
		}
	}
	check("enumerate_support", func() string {
		raw := rec["enumerate_support"]
		if string(raw) == "null" {
			if d.HasEnumerateSupport() {
				return refused("enumerate_support", func() *tensor.Tensor { return d.EnumerateSupport() })
			}
			return ""
		}
		return same(d.EnumerateSupport(), raw, dt, 1)
	})
	r.values(name, rec, dt, d)
	for _, key := range []string{"sample", "sample2", "rsample"} {
		raw, ok := rec[key]
		if !ok {
			continue
		}
		var s draw
		if err := json.Unmarshal(raw, &s); err != nil {
			check(key, err.Error)
			continue
		}
		check(key, func() string { return sample(rec, key, s, dt) })
		if s.Grad != nil {
			check(key+" gradients", func() string { return sampleGrad(rec, s, dt) })
		}
	}
}

// values checks log_prob with its gradients, cdf and icdf.
func (r *run) values(name string, rec map[string]json.RawMessage, dt tensor.DType, d dist) {
	check := func(what string, f func() string) { r.check(name, what+" "+dt.Name(), f) }
	var at *tensor.Tensor
	check("value", func() string {
		var err error
		if at, err = value(rec["value"], 0); err != nil {
			return err.Error()
		}
		if at.IsFloatingPoint() {
			at = at.ToDType(dt)
		}
		return ""
	})
	if at == nil {
		return
	}
	at0 := at
	for key, f := range map[string]func(x *tensor.Tensor) *tensor.Tensor{"log_prob": d.LogProb, "cdf": d.CDF} {
		check(key, func() string {
			raw, ok := rec[key]
			if !ok {
				return refused(key, func() *tensor.Tensor { return f(at0) })
			}
			return same(f(at0), raw, dt, 1)
		})
	}
	check("icdf", func() string {
		raw, ok := rec["icdf"]
		if !ok {
			return refused("icdf", func() *tensor.Tensor { return d.ICDF(at0) })
		}
		var p struct{ Q, Value json.RawMessage }
		if err := json.Unmarshal(raw, &p); err != nil {
			return err.Error()
		}
		q, err := value(p.Q, dt)
		if err != nil {
			return err.Error()
		}
		return same(d.ICDF(q), p.Value, dt, 1)
	})
	var grads map[string]json.RawMessage
	if raw, ok := rec["log_prob_grad"]; ok {
		if err := json.Unmarshal(raw, &grads); err != nil {
			check("log_prob_grad", err.Error)
		}
	}
	if grads == nil {
		return
	}
	check("log_prob_grad", func() string {
		d, params, err := make1(rec, true)
		if err != nil {
			return err.Error()
		}
		x := at0.Detach().Clone()
		if _, ok := grads["value"]; ok {
			x.SetRequiresGrad(true)
		}
		params["value"] = x
		loss(d.LogProb(x)).Backward()
		return compareGrads(params, grads, dt)
	})
}

func compareGrads(params tensorMap, want map[string]json.RawMessage, dt tensor.DType) string {
	for k, raw := range want {
		p := params[k]
		if p == nil {
			return "a gradient of an unknown parameter " + k
		}
		g := p.Grad()
		if string(raw) == "null" {
			if g != nil && g.Ne(g.ZerosLike()).Any().Item() != 0 {
				return "gradient of " + k + ": PyTorch has none"
			}
			continue
		}
		if g == nil {
			g = p.Detach().ZerosLike()
		}
		if msg := same(g, raw, dt, 10); msg != "" {
			return "gradient of " + k + ": " + msg
		}
	}
	return ""
}

// tolerance of random numbers: a few units in the last place of the logarithms and powers that they go through; whole
// numbers are exact.
func tolerance(dt tensor.DType) golden.Tolerance {
	if dt == torch.Float64 {
		return golden.Tolerance{RTol: 1e-12, ATol: 1e-12}
	}
	return golden.Tolerance{RTol: 2e-6, ATol: 1e-6}
}

func sample(rec map[string]json.RawMessage, key string, s draw, dt tensor.DType) string {
	d, _, err := make1(rec, key == "rsample")
	if err != nil {
		return err.Error()
	}
	torch.ManualSeed(s.Seed)
	var x *tensor.Tensor
	if key == "rsample" {
		x = d.RSample(s.Shape...)
	} else {
		x = d.Sample(s.Shape...)
		if x.RequiresGrad() {
			return "a sample that requires grad"
		}
	}
	if s.DType != "" && x.DType() != dtype.Parse(s.DType) {
		return fmt.Sprintf("dtype %s, want %s", x.DType(), s.DType)
	}
	return within(x, s.Value, dt, tolerance(dt))
}

func sampleGrad(rec map[string]json.RawMessage, s draw, dt tensor.DType) string {
	d, params, err := make1(rec, true)
	if err != nil {
		return err.Error()
	}
	torch.ManualSeed(s.Seed)
	x := d.RSample(s.Shape...)
	if !x.RequiresGrad() {
		return "no gradient"
	}
	loss(x).Backward()
	return compareGrads(params, s.Grad, dt)
}

func (r *run) transform(name string, rec map[string]json.RawMessage) {
	var t transform
	var x, y *tensor.Tensor
	r.check(name, "constructor", func() string {
		n, rest, err := parse(name)
		if err == nil && rest != "" {
			err = errors.New("the expression ends in " + rest)
		}
		if err == nil {
			t, err = builder{torch.Float64}.transform(n)
		}
		if err == nil {
			x, err = value(rec["x"], torch.Float64)
		}
		if err == nil {
			y, err = value(rec["y"], torch.Float64)
		}
		if err != nil {
			t = nil
			return err.Error()
		}
		return ""
	})
	if t == nil {
		return
	}
	r.check(name, "y", func() string { return same(t.Forward(x), rec["y"], torch.Float64, 1) })
	r.check(name, "inverse", func() string {
		raw, ok := rec["inverse"]
		if !ok {
			return refused("inverse", func() *tensor.Tensor { return t.Inverse(y) })
		}
		return same(t.Inverse(y), raw, torch.Float64, 1)
	})
	r.check(name, "log_abs_det_jacobian", func() string {
		raw, ok := rec["log_abs_det_jacobian"]
		if !ok {
			return refused("log_abs_det_jacobian", func() *tensor.Tensor { return t.LogAbsDetJacobian(x, y) })
		}
		return same(t.LogAbsDetJacobian(x, y), raw, torch.Float64, 1)
	})
}
