// Package einopscheck compares package einops with recorded results of the Python package.
package einopscheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/einops"
	"github.com/gotorch-dev/torch/einops/layers"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/tensor"
)

type record struct {
	Fn           string
	X            json.RawMessage
	Pattern      string
	Args         []json.RawMessage
	Kwargs       map[string]int
	PackedShapes [][]int `json:"packed_shapes"`
	Out          json.RawMessage
	View         *bool
	Grad         []json.RawMessage
	Error        *struct{ Type, Message string }
}

// Run compares the cases of a directory; only matches names of functions.
func Run(dir string, only *regexp.Regexp, verbose func(string, ...any)) ([]golden.Result, error) {
	var f struct{ Cases []record }
	if err := golden.ReadJSON(filepath.Join(dir, "index.json"), &f); err != nil {
		return nil, err
	}
	dec, err := golden.NewDecoder(filepath.Join(dir, "einops.npz"))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	t := &golden.Tally{Verbose: verbose}
	for i := range f.Cases {
		r := &f.Cases[i]
		if only != nil && !only.MatchString(r.Fn) {
			continue
		}
		dec.Reset()
		var err error
		if msg := r.check(dec); msg != "" {
			err = fmt.Errorf("%q: %s", r.Pattern, msg)
		}
		t.Add(r.Fn, strconv.Itoa(i), err)
	}
	return t.Results(), nil
}

// tensors are a tensor, or a list of them.
func tensors(v any) (one *tensor.Tensor, list []*tensor.Tensor) {
	switch x := v.(type) {
	case *tensor.Tensor:
		return x, nil
	case golden.List:
		for _, e := range x {
			if t, ok := e.(*tensor.Tensor); ok {
				list = append(list, t)
			}
		}
	}
	return nil, list
}

// call runs a case.
func (r *record) call(x *tensor.Tensor, xs []*tensor.Tensor, reduction string) (out any, err error) {
	axes := einops.Axes(r.Kwargs)
	err = tensor.Try(func() {
		switch r.Fn {
		case "rearrange":
			if x == nil {
				out = einops.RearrangeList(xs, r.Pattern, axes)
			} else {
				out = einops.Rearrange(x, r.Pattern, axes)
			}
		case "repeat":
			if x == nil {
				out = einops.RepeatList(xs, r.Pattern, axes)
			} else {
				out = einops.Repeat(x, r.Pattern, axes)
			}
		case "reduce":
			if x == nil {
				out = einops.ReduceList(xs, r.Pattern, reduction, axes)
			} else {
				out = einops.Reduce(x, r.Pattern, reduction, axes)
			}
		case "einsum":
			if x != nil {
				xs = []*tensor.Tensor{x}
			}
			out = einops.Einsum(r.Pattern, xs...)
		case "Rearrange":
			out = layers.NewRearrange(r.Pattern, axes).Forward(x)
		case "Reduce":
			out = layers.NewReduce(r.Pattern, reduction, axes).Forward(x)
		case "pack":
			p, shapes := einops.Pack(xs, r.Pattern)
			out = []any{p, shapes}
		case "unpack":
			out = einops.Unpack(x, r.PackedShapes, r.Pattern)
		case "parse_shape":
			out = einops.ParseShape(x, r.Pattern)
		default:
			tensor.Fail(tensor.ErrNotFound, "einopscheck: function %q", r.Fn)
		}
	})
	return out, err
}

// setText are the parts of a message whose entries have an order of no meaning: Python's sets, and the sizes of axes,
// which are a map in Go.
var setText = regexp.MustCompile(`\{[^{}]*\}|(, \w+=-?\d+)+`)

func sortSets(s string) string {
	return setText.ReplaceAllStringFunc(s, func(m string) string {
		parts := strings.Split(strings.Trim(m, "{}"), ", ")
		slices.Sort(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	})
}

// check runs a case and returns what is wrong, or "".
func (r *record) check(dec *golden.Decoder) (msg string) {
	defer func() {
		if p := recover(); p != nil {
			msg = golden.Recovered(p).Error()
		}
	}()
	v, err := dec.Decode(r.X)
	if err != nil {
		return err.Error()
	}
	x, xs := tensors(v)
	reduction := ""
	if len(r.Args) > 0 {
		a, err := dec.Decode(r.Args[0])
		if err != nil {
			return err.Error()
		}
		reduction, _ = a.(string)
	}
	all := xs
	if x != nil {
		all = []*tensor.Tensor{x}
	}
	for _, t := range all {
		if r.Grad != nil {
			t.SetRequiresGrad(true)
		}
	}
	got, err := r.call(x, xs, reduction)
	if r.Error != nil {
		return r.refused(got, err)
	}
	if err != nil {
		return err.Error()
	}
	want, err := dec.Decode(r.Out)
	if err != nil {
		return err.Error()
	}
	if msg := r.same(dec, got, want); msg != "" {
		return msg
	}
	if y, ok := got.(*tensor.Tensor); ok {
		if r.View != nil && *r.View != (y.Storage() == x.Storage()) {
			return fmt.Sprintf("view: %v, want %v", !*r.View, *r.View)
		}
		if r.Grad != nil {
			return gradients(dec, y, all, r.Grad)
		}
	}
	return ""
}

// refused compares the message of an error.
func (r *record) refused(got any, err error) string {
	if err == nil {
		return fmt.Sprintf("no error, got %v, want %s", got, r.Error.Message)
	}
	var e *tensor.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	if sortSets(e.Msg) != sortSets(r.Error.Message) {
		return fmt.Sprintf("message %q, want %q", e.Msg, r.Error.Message)
	}
	if want := r.Error.Type == "NotImplementedError"; want != errors.Is(err, tensor.ErrNotImpl) {
		return fmt.Sprintf("cause %v for a %s", e.Err, r.Error.Type)
	}
	return ""
}

func (r *record) same(dec *golden.Decoder, got, want any) string {
	switch w := want.(type) {
	case *tensor.Tensor:
		g, ok := got.(*tensor.Tensor)
		if !ok {
			return fmt.Sprintf("%T, want a tensor", got)
		}
		tol := golden.ToleranceOf(w.DType())
		if r.Fn == "rearrange" || r.Fn == "repeat" || r.Fn == "Rearrange" {
			tol = golden.Tolerance{}
		}
		if msg := golden.Close(g, w, tol); msg != "" {
			return msg
		}
		if st := dec.Info[w].Stride; st != nil && g.Numel() > 0 && !slices.Equal(g.Strides(), st) {
			return fmt.Sprintf("strides %v, want %v", g.Strides(), st)
		}
		return ""
	case golden.Tuple: // what pack returns
		p, ok := got.([]any)
		if !ok || len(w) != 2 {
			return fmt.Sprintf("%v, want %v", got, want)
		}
		if msg := r.same(dec, p[0], w[0]); msg != "" {
			return msg
		}
		if g, s := fmt.Sprint(p[1]), fmt.Sprint(w[1]); g != s {
			return fmt.Sprintf("packed shapes %s, want %s", g, s)
		}
		return ""
	case golden.List:
		g, ok := got.([]*tensor.Tensor)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%v, want %d tensors", got, len(w))
		}
		for i := range w {
			if msg := r.same(dec, g[i], w[i]); msg != "" {
				return fmt.Sprintf("result %d: %s", i, msg)
			}
		}
		return ""
	case golden.Dict:
		g, ok := got.(einops.Axes)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%v, want %v", got, w)
		}
		for _, e := range w {
			if n, ok := g[e.Key]; !ok || n != e.Val {
				return fmt.Sprintf("%v, want %v", got, w)
			}
		}
		return ""
	}
	return fmt.Sprintf("a recorded result of type %T", want)
}

// gradients compares those of the weighted sum that the data describe.
func gradients(dec *golden.Decoder, y *tensor.Tensor, xs []*tensor.Tensor, raws []json.RawMessage) string {
	w := make([]float64, y.Numel())
	for i := range w {
		w[i] = float64(math.Mod(float64(i), 7)-3) / 3
	}
	y.Mul(tensor.FromSlice(w, y.Shape()...).ToDType(y.DType()).To(y.Device())).Sum().Backward()
	for i, raw := range raws {
		want, err := dec.Decode(raw)
		if err != nil {
			return err.Error()
		}
		t, ok := want.(*tensor.Tensor)
		if !ok || i >= len(xs) {
			return "gradients in the data that belong to no input"
		}
		if msg := golden.Close(xs[i].Grad(), t, golden.ToleranceOf(t.DType()).Times(10)); msg != "" {
			return fmt.Sprintf("gradient %d: %s", i, msg)
		}
	}
	return ""
}
