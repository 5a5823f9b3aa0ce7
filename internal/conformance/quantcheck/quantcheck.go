// Package quantcheck compares quantization with reference cases: quantized tensors and operators, observers, fake
// quantization, recurrent layers, weights of few bits, and whole flows of models.
package quantcheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/conformance/opcheck"
	"github.com/gotorch-dev/torch/internal/conformance/programs"
	"github.com/gotorch-dev/torch/quantization"
	"github.com/gotorch-dev/torch/tensor"
)

// record is a case.
type record struct {
	Group, Fn, Engine string
	Args              []json.RawMessage
	Kwargs            json.RawMessage
	Out               json.RawMessage
	Error             *struct{ Type, Message string }
	Reason            string
	Steps             []map[string]json.RawMessage
	StateDict         []string `json:"state_dict"`
}

// Run checks the cases and the flows of a directory.
func Run(dir string, only *regexp.Regexp, verbose func(format string, args ...any)) ([]golden.Result, error) {
	d, err := golden.NewDecoder(filepath.Join(dir, "quantization.npz"))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var file struct{ Cases []record }
	if err := golden.ReadJSON(filepath.Join(dir, "index.json"), &file); err != nil {
		return nil, err
	}
	t := &golden.Tally{Verbose: verbose}
	engine := quantization.Engine()
	defer quantization.SetEngine(engine)
	for i := range file.Cases {
		r := &file.Cases[i]
		name := strings.TrimSpace(r.Group + " " + r.Fn)
		if only != nil && !only.MatchString(name) {
			continue
		}
		t.Add(name, fmt.Sprint(i), golden.Guard(func() error { return r.check(d, engine) }))
	}
	if err := flows(dir, t, only); err != nil {
		return nil, err
	}
	return t.Results(), nil
}

// plainName is a dotted name, which is called; anything else says what was computed from the arguments.
var plainName = regexp.MustCompile(`^[\w.]+$`)

func (r *record) check(d *golden.Decoder, engine quantization.EngineKind) error {
	d.Reset()
	if r.Engine != "" {
		e, err := quantization.ParseEngine(r.Engine)
		if err != nil {
			return golden.Skip(err.Error())
		}
		engine = e
	}
	quantization.SetEngine(engine)
	switch r.Group {
	case "left_out":
		return golden.Skip(r.Reason)
	case "observer", "fake_module":
		return r.observe(d)
	}
	args, err := d.Args(r.Args)
	if err != nil {
		return err
	}
	kwargs, err := d.Kwargs(r.Kwargs)
	if err != nil {
		return err
	}
	got, err := r.compute(args, kwargs)
	if r.Error != nil {
		return refused(got, err, r.Error.Message)
	}
	if err != nil {
		return err
	}
	want, err := d.Decode(r.Out)
	if err != nil {
		return err
	}
	return same(d, got, want, tolerance{quanta: r.quanta(), times: 10})
}

// quanta is how far the integers of a result may be from the reference's: averages, interpolation and norms round in
// an order that differs between PyTorch's own kernels.
func (r *record) quanta() int64 {
	for _, s := range []string{"avg_pool", "interpolate", "_norm", "mean", "std"} {
		if strings.Contains(r.Fn, s) {
			return 1
		}
	}
	return 0
}

func refused(got any, err error, message string) error {
	if err == nil {
		return fmt.Errorf("got %v, want the error %q", got, message)
	}
	return programs.Matches(err, message)
}

// compute does what a case says.
func (r *record) compute(args []any, kwargs map[string]any) (any, error) {
	switch r.Group {
	case "gemm", "dynamic":
		return packed(r.Fn, args, kwargs)
	case "fake_quantize":
		return fake(r.Fn, args, kwargs, strings.Contains(string(r.Out), `"grads"`))
	case "embedding":
		return embedding(r.Fn, args, kwargs)
	case "rnn":
		return recurrent(r.Fn, args)
	case "weight_only":
		return weightOnly(r.Fn, args)
	case "torchao":
		return configured(r.Fn, args)
	}
	if plainName.MatchString(r.Fn) && r.Fn != "str" {
		return call(r.Fn, args, kwargs)
	}
	in, h := programs.New()
	if len(args) > 0 {
		in.Globals["t"], in.Globals["x"] = args[0], args[0]
	} else {
		in.Globals["x"] = tensor.FromSlice([]float32{0, 0.5, 1, -1, 2, 3}, 3, 2)
	}
	if t, ok := in.Globals["t"].(*tensor.Tensor); ok {
		in.Globals["ones"] = tensor.FromSlice([]float32{1}).Expand(t.Shape())
	}
	expr := r.Fn
	if expr == "str" {
		expr = "str(t)"
	}
	src := "out['y'] = " + expr
	if left, _, ok := strings.Cut(expr, " = "); ok && strings.Contains(left, ".") {
		src = expr
	}
	err := programs.Run(in, h, src)
	if bare := numbersOnly.ReplaceAllString(src, "$1 torch.tensor([$2])"); err != nil && bare != src {
		err = programs.Run(in, h, bare) // lists of numbers stand for tensors
	}
	if err != nil {
		return nil, err
	}
	return programs.Output(in, "y"), nil
}

// numbersOnly is a list of numbers behind another argument.
var numbersOnly = regexp.MustCompile(`(,) \[([-\d., ]+)\]`)

// call calls a function or operator by its Python name.
func call(dotted string, args []any, kwargs map[string]any) (any, error) {
	names := opcheck.Names(dotted)
	if !opcheck.Exists(names) {
		return nil, golden.Skip("not there yet: " + dotted)
	}
	return opcheck.Call(names, args, kwargs)
}

// packed calls an operator with packed parameters: args are input, weight, bias and what follows.
func packed(fn string, args []any, kwargs map[string]any) (any, error) {
	base := fn
	for _, s := range []string{"_fp16", "_dynamic", "_relu"} {
		base = strings.TrimSuffix(base, s)
	}
	prepack := base + "_prepack"
	if strings.HasSuffix(fn, "_fp16") {
		prepack += "_fp16"
	}
	if len(args) < 3 {
		return nil, golden.Skip("parameters are missing")
	}
	params := []any{args[1], args[2]}
	if strings.Contains(base, "conv") {
		w, ok := args[1].(*tensor.Tensor)
		if !ok {
			return nil, golden.Skip("no weight")
		}
		many := func(name string, def int) golden.List {
			v, ok := kwargs[name]
			if !ok {
				v = def
			}
			if l, ok := v.(golden.List); ok {
				return l
			}
			out := golden.List{}
			for range w.Dim() - 2 {
				out = append(out, v)
			}
			return out
		}
		params = append(params, many("stride", 1), many("padding", 0))
		if strings.Contains(base, "transpose") {
			params = append(params, many("output_padding", 0))
		}
		groups, ok := kwargs["groups"]
		if !ok {
			groups = 1
		}
		params = append(params, many("dilation", 1), groups)
	}
	p, err := call(prepack, params, nil)
	if err != nil {
		return nil, err
	}
	return call(fn, append([]any{args[0], p}, args[3:]...), nil)
}

// fake calls fake quantization and, where the case has gradients, the backward pass.
func fake(fn string, args []any, kwargs map[string]any, grads bool) (any, error) {
	var leaves []*tensor.Tensor
	if grads {
		for i, a := range args {
			if t, ok := a.(*tensor.Tensor); ok && t.DType().IsFloat() && (i == 0 || strings.Contains(fn, "learnable")) {
				leaves = append(leaves, t.SetRequiresGrad(true))
			}
		}
	}
	y, err := call(fn, args, kwargs)
	if err != nil || !grads {
		return y, err
	}
	t := y.(*tensor.Tensor)
	tensor.BackwardAll([]*tensor.Tensor{t}, []*tensor.Tensor{opcheck.Weights(t)}, tensor.BackwardOptions{})
	var l golden.List
	for _, x := range leaves {
		l = append(l, x.Grad())
	}
	return golden.Dict{{Key: "y", Val: t.Detach()}, {Key: "grads", Val: l}}, nil
}

var packedBag = regexp.MustCompile(`^([\w.]+)\(prepack\(w\), idx(, off, mode=sum, per_sample_weights)?\)$`)

// embedding calls an operator on a table, packed first where the case says so.
func embedding(fn string, args []any, kwargs map[string]any) (any, error) {
	m := packedBag.FindStringSubmatch(fn)
	if m == nil {
		return call(fn, args, kwargs)
	}
	p, err := call("torch.ops.quantized.embedding_bag_prepack", args[:1], nil)
	if err != nil {
		return nil, err
	}
	if m[2] == "" {
		return call(m[1], []any{p, args[1]}, nil)
	}
	return call(m[1], []any{p, args[1], args[2], false, 0, false, args[3], nil, args[4]}, nil)
}

// tolerance is how far results may be from the reference's.
type tolerance struct {
	quanta int64
	times  float64
}

// same compares results: quantized tensors by scale, zero point and integers, others as usual.
func same(d *golden.Decoder, got, want any, tol tolerance) error {
	switch w := want.(type) {
	case *tensor.Tensor:
		g, ok := got.(*tensor.Tensor)
		if !ok {
			return fmt.Errorf("got %v, want a tensor", got)
		}
		if w.IsQuantized() {
			if why := golden.CloseQuantized(g, w, tol.quanta); why != "" {
				return errors.New(why)
			}
		} else if why := golden.Close(g, w, golden.ToleranceOf(w.DType()).Times(tol.times)); why != "" {
			return errors.New(why)
		}
		if info, ok := d.Info[w]; ok && info.Stride != nil && !tensor.SameShape(g.Strides(), info.Stride) {
			return fmt.Errorf("strides %v, want %v", g.Strides(), info.Stride)
		}
		return nil
	case golden.List:
		return sameList(d, sequence(got), []any(w), tol)
	case golden.Tuple:
		return sameList(d, sequence(got), []any(w), tol)
	case golden.Dict:
		g, ok := got.(golden.Dict)
		if !ok {
			return fmt.Errorf("got %v, want a dict", got)
		}
		for _, e := range w {
			v, found := lookup(g, e.Key)
			if !found {
				return fmt.Errorf("%s is missing", e.Key)
			}
			if err := same(d, v, e.Val, tol); err != nil {
				return fmt.Errorf("%s: %w", e.Key, err)
			}
		}
		return nil
	}
	return programs.Same(got, want, tol.times)
}

func lookup(d golden.Dict, key string) (any, bool) {
	for _, e := range d {
		if e.Key == key {
			return e.Val, true
		}
	}
	return nil, false
}

func sequence(v any) []any {
	switch x := v.(type) {
	case golden.List:
		return x
	case golden.Tuple:
		return x
	}
	return nil
}

func sameList(d *golden.Decoder, got, want []any, tol tolerance) error {
	if len(got) != len(want) {
		return fmt.Errorf("got %d results, want %d", len(got), len(want))
	}
	for i := range want {
		if err := same(d, got[i], want[i], tol); err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return nil
}
