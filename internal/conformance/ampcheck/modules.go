package ampcheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gotorch-dev/torch/amp"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/conformance/modcheck"
	"github.com/gotorch-dev/torch/internal/conformance/opcheck"
	"github.com/gotorch-dev/torch/internal/conformance/programs"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// moduleRecord is a module or a loss with its runs under autocast.
type moduleRecord struct {
	Ctor   json.RawMessage
	Params map[string]json.RawMessage
	Args   []json.RawMessage
	Runs   []moduleRun
	CUDA   map[string]json.RawMessage
}

type moduleRun struct {
	Lo, In       string
	Out          json.RawMessage
	Error        *struct{ Type, Message string }
	GradParams   map[string]json.RawMessage `json:"grad_params"`
	GradInputs   []json.RawMessage          `json:"grad_inputs"`
	BuffersAfter map[string]json.RawMessage `json:"buffers_after"`
}

func modules(dir string, d *golden.Decoder, t *golden.Tally, chosen func(string) bool) error {
	var file struct{ Modules []moduleRecord }
	if err := golden.ReadJSON(filepath.Join(dir, "modules.json"), &file); err != nil {
		return err
	}
	for i := range file.Modules {
		rec := &file.Modules[i]
		ctor, err := d.Module(rec.Ctor)
		if err != nil {
			return err
		}
		name := "module " + ctor.Cls
		if !chosen(name) {
			continue
		}
		for j := range rec.Runs {
			run := &rec.Runs[j]
			t.Add(name, fmt.Sprintf("%d/%s.%s", i, run.Lo, run.In), golden.Guard(func() error { return rec.check(d, run) }))
		}
		for lo, out := range rec.CUDA {
			var want string
			if json.Unmarshal(out, &want) != nil {
				t.Add(name, fmt.Sprintf("%d/cuda.%s", i, lo), golden.Skip("the result of the fake device is no dtype"))
				continue
			}
			t.Add(name, fmt.Sprintf("%d/cuda.%s", i, lo), golden.Guard(func() error { return rec.checkCUDA(d, lo, want) }))
		}
	}
	return nil
}

// build makes the module and its arguments.
func (rec *moduleRecord) build(d *golden.Decoder) (nn.Module, []any, error) {
	d.Reset()
	ctor, err := d.Module(rec.Ctor)
	if err != nil {
		return nil, nil, err
	}
	m, err := modcheck.Build(ctor)
	if err != nil {
		return nil, nil, golden.Skip(err.Error())
	}
	state := map[string]*tensor.Tensor{}
	for n, p := range nn.NamedParameters(m) {
		state[n] = p
	}
	for n, b := range nn.NamedBuffers(m) {
		state[n] = b
	}
	for n, raw := range rec.Params {
		v, err := d.Decode(raw)
		if err != nil {
			return nil, nil, err
		}
		t, ok := v.(*tensor.Tensor)
		if !ok || state[n] == nil {
			return nil, nil, fmt.Errorf("parameter %s: not there", n)
		}
		tensor.CopyRaw(state[n], t)
	}
	args, err := d.Args(rec.Args)
	return m, args, err
}

// converted gives the floating-point tensors of a value another type. leaves collects those that want gradients.
func converted(v any, dt tensor.DType, leaves *[]*tensor.Tensor) any {
	switch x := v.(type) {
	case *tensor.Tensor:
		if !x.DType().IsFloat() {
			return x
		}
		y := x.Detach().ToDType(dt)
		if x.RequiresGrad() {
			y = y.Clone().SetRequiresGrad(true)
			*leaves = append(*leaves, y)
		}
		return y
	case golden.Tuple:
		out := make(golden.Tuple, len(x))
		for i := range x {
			out[i] = converted(x[i], dt, leaves)
		}
		return out
	case golden.List:
		out := make(golden.List, len(x))
		for i := range x {
			out[i] = converted(x[i], dt, leaves)
		}
		return out
	}
	return v
}

func (rec *moduleRecord) check(d *golden.Decoder, run *moduleRun) error {
	m, args, err := rec.build(d)
	if err != nil {
		return err
	}
	lo := dtype.Parse(run.Lo)
	in := tensor.Float32
	if run.In == "lo" {
		in = lo
	}
	var leaves []*tensor.Tensor
	for i := range args {
		args[i] = converted(args[i], in, &leaves)
	}
	var got any
	failed := golden.Guard(func() error {
		amp.Autocast(tensor.CPUDevice, lo, func() { got = modcheck.Forward(m, args, map[string]any{}) })
		return nil
	})
	if run.Error != nil {
		return programs.Matches(failed, run.Error.Message)
	}
	if failed != nil {
		return failed
	}
	want, err := d.Decode(run.Out)
	if err != nil {
		return err
	}
	if err := sameOut(got, want, lo); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	var roots, gs, ins []*tensor.Tensor
	for _, o := range opcheck.Flatten(got) {
		if o.RequiresGrad() {
			roots, gs = append(roots, o), append(gs, opcheck.Weights(o))
		}
	}
	var raws []json.RawMessage
	var names []string
	for n, p := range nn.NamedParameters(m) {
		if raw, ok := run.GradParams[n]; ok {
			ins, raws, names = append(ins, p), append(raws, raw), append(names, n)
		}
	}
	for i, raw := range run.GradInputs {
		if i < len(leaves) {
			ins, raws, names = append(ins, leaves[i]), append(raws, raw), append(names, fmt.Sprint("input ", i))
		}
	}
	if len(ins) > 0 && len(roots) > 0 {
		grads := tensor.Grad(roots, ins, tensor.GradOptions{GradOutputs: gs, AllowUnused: true})
		for i, g := range grads {
			v, err := d.Decode(raws[i])
			if err != nil {
				return err
			}
			w, ok := v.(*tensor.Tensor)
			if !ok {
				continue // none, or one that is not there
			}
			if why := golden.Close(g, w, tolerance(lo, 4)); why != "" {
				return fmt.Errorf("gradient of %s: %s", names[i], why)
			}
		}
	}
	buffers := map[string]*tensor.Tensor{}
	for n, b := range nn.NamedBuffers(m) {
		buffers[n] = b
	}
	for n, raw := range run.BuffersAfter {
		v, err := d.Decode(raw)
		if err != nil {
			return err
		}
		if why := golden.Close(buffers[n], v.(*tensor.Tensor), tolerance(lo, 1)); why != "" {
			return fmt.Errorf("buffer %s: %s", n, why)
		}
	}
	return nil
}

// tolerance is how far numbers may be off that went through the lower type.
func tolerance(lo tensor.DType, times float64) golden.Tolerance {
	if lo == tensor.Float16 {
		return golden.Tolerance{RTol: 2e-3, ATol: 1e-3}.Times(times)
	}
	return golden.Tolerance{RTol: 1.6e-2, ATol: 8e-3}.Times(times)
}

func sameOut(got, want any, lo tensor.DType) error {
	g, w := opcheck.Flatten(got), opcheck.Flatten(want)
	if len(g) != len(w) {
		return fmt.Errorf("%d results, want %d", len(g), len(w))
	}
	for i := range w {
		if why := golden.Close(g[i], w[i], tolerance(lo, 1)); why != "" {
			return errors.New(why)
		}
	}
	return nil
}

// checkCUDA compares the types of the results only, by the meta device.
func (rec *moduleRecord) checkCUDA(d *golden.Decoder, lo, want string) error {
	m, args, err := rec.build(d)
	if err != nil {
		return err
	}
	nn.ToDevice(m, tensor.Device{Type: tensor.MetaDevice})
	for i := range args {
		args[i] = onMeta(args[i])
	}
	var got any
	failed := golden.Guard(func() error {
		amp.Autocast(tensor.CUDADevice, dtype.Parse(lo), func() { got = modcheck.Forward(m, args, map[string]any{}) })
		return nil
	})
	if message, ok := strings.CutPrefix(want, "error: "); ok {
		return programs.Matches(failed, message)
	}
	if failed != nil {
		return failed
	}
	var types []string
	for _, t := range opcheck.Flatten(got) {
		types = append(types, t.DType().Name())
	}
	if s := strings.Join(types, ","); s != want {
		return fmt.Errorf("results of %s, want %s", s, want)
	}
	return nil
}

// onMeta moves the tensors of a value to the meta device.
func onMeta(v any) any {
	switch x := v.(type) {
	case *tensor.Tensor:
		y := x.Detach().To(tensor.Device{Type: tensor.MetaDevice})
		if x.RequiresGrad() {
			y.SetRequiresGrad(true)
		}
		return y
	case golden.Tuple:
		out := make(golden.Tuple, len(x))
		for i := range x {
			out[i] = onMeta(x[i])
		}
		return out
	case golden.List:
		out := make(golden.List, len(x))
		for i := range x {
			out[i] = onMeta(x[i])
		}
		return out
	}
	return v
}
