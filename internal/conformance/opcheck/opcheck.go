// Package opcheck runs the operator cases of a directory in the opinfo format against the operator registry.
package opcheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/tensor"
)

type opRecord struct {
	Op, File, Aten, Callable string
	Cases                    []json.RawMessage
}

type caseRecord struct {
	DType  string
	Src    string
	Input  json.RawMessage
	Args   []json.RawMessage
	Kwargs json.RawMessage
	Out    json.RawMessage
	Alias  json.RawMessage
	After  map[string]json.RawMessage
	Grad   []json.RawMessage
	LossOf []json.RawMessage `json:"loss_of"`
	Seed   *int64
	Error  *struct{ Type, Regex, Message string }
}

// Options choose what runs.
type Options struct {
	Only    *regexp.Regexp
	Verbose func(format string, args ...any)
}

// Run checks every case of dir's index files.
func Run(dir string, o Options) ([]golden.Result, error) {
	t := &golden.Tally{Verbose: o.Verbose}
	any := false
	for _, suffix := range []string{"", "random", "refused"} { // some operators have cases in several files
		name := "index.json"
		if suffix != "" {
			name, suffix = "index_"+suffix+".json", "@"+suffix
		}
		raw, err := golden.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		any = true
		var index struct{ Ops []opRecord }
		if err := json.Unmarshal(raw, &index); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for i := range index.Ops {
			rec := &index.Ops[i]
			if o.Only != nil && !o.Only.MatchString(rec.Op) {
				continue
			}
			if err := runOp(dir, rec, rec.Op+suffix, t); err != nil {
				return nil, fmt.Errorf("%s: %w", rec.Op, err)
			}
		}
	}
	if !any {
		return nil, fmt.Errorf("%s holds no index.json", dir)
	}
	return t.Results(), nil
}

func runOp(dir string, rec *opRecord, name string, t *golden.Tally) error {
	path, err := golden.Path(dir, rec.File)
	if err != nil {
		return err
	}
	golden.Note(path)
	call, err := parseCallable(rec.Callable)
	if err == nil {
		if missing := call.missing(); missing != "" {
			err = golden.Skip("operator not there yet: " + missing)
		}
	} else {
		err = golden.Skip(err.Error())
	}
	if err != nil {
		for i := range rec.Cases {
			t.Add(name, strconv.Itoa(i), err)
		}
		return nil
	}
	d, err := golden.NewDecoder(path)
	if err != nil {
		return err
	}
	defer d.Close()
	for i, raw := range rec.Cases {
		var c caseRecord
		if err := json.Unmarshal(raw, &c); err != nil {
			return fmt.Errorf("case %d: %w", i, err)
		}
		err := runCase(d, call, &c)
		if err != nil {
			err = fmt.Errorf("(%s %s) %w", c.Src, c.DType, err)
		}
		t.Add(name, strconv.Itoa(i), err)
	}
	return nil
}

func runCase(d *golden.Decoder, call *callable, c *caseRecord) (err error) {
	d.Reset()
	defer func() {
		if r := recover(); r != nil {
			err = golden.Recovered(r)
		}
	}()
	input, err := d.Decode(c.Input)
	if err != nil {
		return err
	}
	args, err := d.Args(c.Args)
	if err != nil {
		return err
	}
	kwargs, err := d.Kwargs(c.Kwargs)
	if err != nil {
		return err
	}
	if u := unsupported(input, args, kwargs); u != "" {
		return golden.Skip(u)
	}
	if c.Seed != nil {
		rng.Default.ManualSeed(*c.Seed)
	}
	d.Named = named(input, args, kwargs)
	tensors := len(d.Tensors)
	memory := remember(d)
	got, err := call.run(append([]any{input}, args...), kwargs)
	if c.Error != nil && golden.NeedsElements(err) {
		return err
	}
	if c.Error != nil {
		if err := checkError(c, err); err != nil {
			return err
		}
		return memory.unchanged(nil)
	}
	if err != nil {
		return err
	}
	want, err := d.Decode(c.Out)
	if err != nil {
		return err
	}
	dt := dtype.Parse(c.DType)
	if g, ok := got.(*tensor.Tensor); ok && tensors == 0 && g.Device() != golden.Device && g.Dim() == 0 {
		got = g.To(golden.Device) // PyTorch computes with two numbers on the CPU
	}
	if err := compare(d, got, want, dt, golden.Tolerance{}); err != nil {
		return err
	}
	var written []any
	for name, raw := range c.After {
		w, err := d.Decode(raw)
		if err != nil {
			return err
		}
		arg, err := argument(name, input, args, kwargs)
		if err != nil {
			return err
		}
		written = append(written, arg)
		if err := compare(d, arg, w, dt, golden.Tolerance{}); err != nil {
			return fmt.Errorf("%s after the call: %w", name, err)
		}
	}
	if err := memory.separate(d, got, want); err != nil {
		return err
	}
	if err := memory.unchanged(written); err != nil {
		return err
	}
	if len(c.Grad) > 0 {
		if err := checkGrad(d, c, got, dt, memory); err != nil {
			return err
		}
		return memory.unchanged(written)
	}
	return nil
}

func checkError(c *caseRecord, err error) error {
	if err == nil && golden.Device.Type == tensor.MetaDevice {
		return golden.Skip("an error that depends on elements")
	}
	if err == nil {
		return fmt.Errorf("no error; want %s: %.100s", c.Error.Type, c.Error.Message)
	}
	if re, e := regexp.Compile("(?s)" + c.Error.Regex); e == nil {
		if re.MatchString(err.Error()) {
			return nil
		}
	} else if strings.Contains(err.Error(), c.Error.Message) {
		return nil
	}
	return fmt.Errorf("error %q does not match %q", err, c.Error.Regex)
}

// unsupported finds a value of a type that is not there.
func unsupported(vals ...any) string {
	for _, v := range vals {
		switch x := v.(type) {
		case golden.Unsupported:
			return "not supported: " + string(x)
		case []any:
			if u := unsupported(x...); u != "" {
				return u
			}
		case golden.List:
			if u := unsupported([]any(x)...); u != "" {
				return u
			}
		case golden.Tuple:
			if u := unsupported([]any(x)...); u != "" {
				return u
			}
		case map[string]any:
			for _, e := range x {
				if u := unsupported(e); u != "" {
					return u
				}
			}
		}
	}
	return ""
}

// compare checks a result of any kind. A zero tolerance means the dtype's own.
func compare(d *golden.Decoder, got, want any, dt tensor.DType, tol golden.Tolerance) error {
	switch w := want.(type) {
	case *tensor.Tensor:
		g, ok := got.(*tensor.Tensor)
		if !ok {
			if l, isList := got.(golden.List); isList && len(l) == 1 {
				return compare(d, l[0], want, dt, tol)
			}
			return fmt.Errorf("got %T, want a tensor", got)
		}
		t := tol
		if t == (golden.Tolerance{}) {
			t = golden.ToleranceOf(w.DType())
		}
		if why := golden.CloseOnDevice(g, w, t); why != "" {
			return errors.New(why)
		}
		if info := d.Info[w]; info.Alias != "" {
			in := d.Named[info.Alias]
			if len(in) == 0 {
				return fmt.Errorf("the record says that it shares memory with %s, which is no tensor", info.Alias)
			}
			stride := info.Stride
			if stride == nil {
				stride = tensor.FormatStrides(w.Shape(), tensor.ContiguousFormat)
			}
			if !slices.ContainsFunc(in, func(t *tensor.Tensor) bool { return t.Storage() == g.Storage() }) {
				return fmt.Errorf("does not share memory with its input")
			}
			if g.IsConj() != w.IsConj() || g.IsNeg() != w.IsNeg() {
				return fmt.Errorf("conjugate bit %v, negative bit %v, want %v, %v", g.IsConj(), g.IsNeg(), w.IsConj(),
					w.IsNeg())
			}
			if g.Numel() > 0 && (!sameStride(g, stride) || g.StorageOffset() != info.Offset) {
				return fmt.Errorf("view has strides %v offset %d, want %v %d", g.Strides(), g.StorageOffset(), stride,
					info.Offset)
			}
		}
		return nil
	case golden.NoValues:
		g, ok := got.(*tensor.Tensor)
		if !ok || g.DType() != w.DType || !tensor.SameShape(g.Shape(), w.Shape) {
			return fmt.Errorf("got %v, want %s %v", got, w.DType, w.Shape)
		}
		if w.Stride != nil && !sameStride(g, w.Stride) {
			return fmt.Errorf("strides %v, want %v", g.Strides(), w.Stride)
		}
		return nil
	case golden.List:
		return compareSeq(d, got, w, dt, tol)
	case golden.Tuple:
		return compareSeq(d, got, w, dt, tol)
	case golden.Unsupported:
		return golden.Skip("not supported: " + string(w))
	case nil:
		if got != nil {
			return fmt.Errorf("got %v, want None", got)
		}
		return nil
	case float64:
		var g float64
		switch x := got.(type) {
		case float64:
			g = x
		case int:
			g = float64(x)
		default:
			return fmt.Errorf("got %v (%T), want %v", got, got, want)
		}
		t := golden.ToleranceOf(tensor.Float64)
		if dt != 0 && !dt.IsComplex() {
			t = golden.ToleranceOf(dt)
		}
		if g == w || math.IsNaN(g) && math.IsNaN(w) || math.Abs(g-w) <= t.ATol+t.RTol*math.Abs(w) {
			return nil
		}
		return fmt.Errorf("got %v, want %v", g, w)
	}
	if got != want {
		return fmt.Errorf("got %v (%T), want %v (%T)", got, got, want, want)
	}
	return nil
}

func sameStride(t *tensor.Tensor, want []int) bool {
	for i, s := range t.Shape() {
		if s > 1 && t.Strides()[i] != want[i] {
			return false
		}
	}
	return true
}

func compareSeq(d *golden.Decoder, got any, want []any, dt tensor.DType, tol golden.Tolerance) error {
	var l []any
	switch x := got.(type) {
	case golden.List:
		l = x
	case golden.Tuple:
		l = x
	default:
		if len(want) == 1 {
			l = []any{got}
			break
		}
		return fmt.Errorf("got %T, want %d values", got, len(want))
	}
	if len(l) != len(want) {
		return fmt.Errorf("got %d values, want %d", len(l), len(want))
	}
	for i := range want {
		if err := compare(d, l[i], want[i], dt, tol); err != nil {
			return fmt.Errorf("result %d: %w", i, err)
		}
	}
	return nil
}

// checkGrad compares the gradients of L = sum of out·w with w[i] = ((i mod 7) − 3)/3.
func checkGrad(d *golden.Decoder, c *caseRecord, got any, dt tensor.DType, memory *inputs) error {
	var outs []*tensor.Tensor
	flatten(got, &outs)
	if c.LossOf != nil {
		var err error
		if outs, err = lossParts(outs, c.LossOf); err != nil {
			return err
		}
	}
	var ins []*tensor.Tensor
	var wants []*tensor.Tensor
	type enc struct {
		Of   string
		None bool
	}
	for _, raw := range c.Grad {
		var e enc
		if err := json.Unmarshal(raw, &e); err != nil {
			return fmt.Errorf("%w in the gradient %.80s", err, raw)
		}
		in := d.Tensors[e.Of]
		if in == nil {
			return fmt.Errorf("gradient of unknown tensor %s", e.Of)
		}
		ins = append(ins, in)
		var w *tensor.Tensor
		if !e.None {
			v, err := d.Decode(raw)
			if err != nil {
				return err
			}
			w, _ = v.(*tensor.Tensor)
		}
		wants = append(wants, w)
	}
	var roots, gs []*tensor.Tensor
	for _, o := range outs {
		if o.RequiresGrad() {
			roots = append(roots, o)
			gs = append(gs, Weights(o))
		}
	}
	var grads []*tensor.Tensor
	if len(roots) == 0 {
		grads = make([]*tensor.Tensor, len(ins))
	} else if err := tensor.Try(func() {
		grads = tensor.Grad(roots, ins,
			tensor.GradOptions{GradOutputs: gs, AllowUnused: true})
	}); err != nil {
		return fmt.Errorf("backward: %w", err)
	}
	for i, w := range wants {
		if g := grads[i]; g != nil && g.Numel() > 0 && memory.names[g.Storage()] != "" {
			return fmt.Errorf("gradient %d lies in the memory of %s", i, memory.names[g.Storage()])
		}
		switch {
		case w == nil && grads[i] != nil:
			if golden.CloseOnDevice(grads[i], grads[i].Detach().ZerosLike(), golden.Tolerance{}) != "" {
				return fmt.Errorf("gradient %d: got one, want none", i)
			}
		case w == nil:
		case grads[i] == nil:
			return fmt.Errorf("gradient %d: got none", i)
		default:
			if why := golden.CloseOnDevice(grads[i], w, golden.ToleranceOf(w.DType()).Times(10)); why != "" {
				return fmt.Errorf("gradient %d: %s", i, why)
			}
		}
	}
	return nil
}

func flatten(v any, out *[]*tensor.Tensor) {
	switch x := v.(type) {
	case *tensor.Tensor:
		*out = append(*out, x)
	case golden.List:
		for _, e := range x {
			flatten(e, out)
		}
	case golden.Tuple:
		for _, e := range x {
			flatten(e, out)
		}
	}
}

// Weights is the gradient that the reference loss has with respect to an output.
func Weights(o *tensor.Tensor) *tensor.Tensor {
	n := o.Numel()
	w := make([]complex128, n)
	for i := range w {
		x := (float64(i%7) - 3) / 3
		w[i] = complex(x, 0)
		if o.DType().IsComplex() {
			w[i] = complex(x, x/2)
		}
	}
	t := tensor.FromSlice(w, append([]int{}, o.Shape()...)...)
	if len(o.Shape()) == 0 {
		t = tensor.FromSlice(w).View([]int{})
	}
	return t.To(o.DType()).To(o.Device())
}

// lossParts picks the parts of the output that the loss is made of.
func lossParts(outs []*tensor.Tensor, parts []json.RawMessage) ([]*tensor.Tensor, error) {
	var res []*tensor.Tensor
	for _, raw := range parts {
		t, err := lossPart(outs, raw)
		if err != nil {
			return nil, err
		}
		res = append(res, t)
	}
	return res, nil
}

func lossPart(outs []*tensor.Tensor, raw json.RawMessage) (*tensor.Tensor, error) {
	var p struct {
		Out    *int
		MH     bool
		Narrow []int
		Abs    bool
		MatMul []json.RawMessage `json:"matmul"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, err
	}
	one := func(name string, args ...tensor.Value) (*tensor.Tensor, error) {
		r, err := tensor.ResolveCall([]string{"aten::" + name}, args, nil)
		if err != nil {
			return nil, err
		}
		return r[0].T, nil
	}
	if p.MatMul != nil {
		a, err := lossPart(outs, p.MatMul[0])
		if err != nil {
			return nil, err
		}
		b, err := lossPart(outs, p.MatMul[1])
		if err != nil {
			return nil, err
		}
		return one("matmul", tensor.TensorValue(a), tensor.TensorValue(b))
	}
	if p.Out == nil || *p.Out >= len(outs) {
		return nil, golden.Skip("loss_of of another kind")
	}
	t := outs[*p.Out]
	var err error
	if p.MH {
		if t, err = one("mH", tensor.TensorValue(t)); err != nil {
			return nil, err
		}
	}
	if p.Narrow != nil {
		if t, err = one("narrow", tensor.TensorValue(t), tensor.IntValue(p.Narrow[0]), tensor.IntValue(0),
			tensor.IntValue(p.Narrow[1])); err != nil {
			return nil, err
		}
	}
	if p.Abs {
		return one("abs", tensor.TensorValue(t))
	}
	return t, nil
}
