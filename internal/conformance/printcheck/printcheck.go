// Package printcheck compares the text of tensors, modules and other objects with Python's, to the byte.
package printcheck

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/conformance/opcheck"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// Options choose what runs.
type Options struct {
	Only    *regexp.Regexp
	Verbose func(format string, args ...any)
	// Module checks one record of the modules; nil when there are no modules. ok is false when the class is not there.
	Module func(d *golden.Decoder, raw json.RawMessage) (ok bool, err error)
}

type tensorRecord struct {
	ID    int
	Note  string
	Value json.RawMessage
	Expr  *struct {
		Op     string
		Args   []json.RawMessage
		Kwargs json.RawMessage
	}
	Parameter    bool
	Options      map[string]any
	DefaultDType string `json:"default_dtype"`
	Text         string
}

// Run checks dir's index.json.
func Run(dir string, o Options) ([]golden.Result, error) {
	var index struct {
		Tensors []tensorRecord
		Objects []struct{ What, Text string }
		Modules []json.RawMessage
	}
	if err := golden.ReadJSON(filepath.Join(dir, "index.json"), &index); err != nil {
		return nil, err
	}
	d, err := golden.NewDecoder(filepath.Join(dir, "print.npz"))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	d.Sizes = true
	t := &golden.Tally{Verbose: o.Verbose}
	count := func(name, id, what string, ok bool, err error) {
		switch {
		case err != nil && !ok:
			err = golden.Skip(fmt.Sprintf("(%s) %v", what, err))
		case err != nil:
			err = fmt.Errorf("(%s) %w", what, err)
		}
		t.Add(name, id, err)
	}
	for i := range index.Tensors {
		r := &index.Tensors[i]
		if o.Only == nil || o.Only.MatchString("tensors") || o.Only.MatchString(r.Note) {
			ok, err := checkTensor(d, r)
			count("tensors", strconv.Itoa(r.ID), r.Note, ok, err)
		}
	}
	if o.Only == nil || o.Only.MatchString("objects") {
		for i, r := range index.Objects {
			got, ok := object(r.What)
			if !ok {
				count("objects", strconv.Itoa(i), r.What, false, fmt.Errorf("no such object"))
				continue
			}
			count("objects", strconv.Itoa(i), r.What, true, equal(got, r.Text))
		}
	}
	if o.Only == nil || o.Only.MatchString("modules") {
		for i, m := range index.Modules {
			if o.Module == nil {
				count("modules", strconv.Itoa(i), "module", false, fmt.Errorf("no modules"))
				continue
			}
			ok, err := try(func() (bool, error) { return o.Module(d, m) })
			count("modules", strconv.Itoa(i), "module", ok, err)
		}
	}
	return t.Results(), nil
}

func equal(got, want string) error {
	if got != want {
		return fmt.Errorf("got\n%s\nwant\n%s", got, want)
	}
	return nil
}

func try(f func() (bool, error)) (ok bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			ok, err = true, golden.Recovered(r)
		}
	}()
	return f()
}

func checkTensor(d *golden.Decoder, r *tensorRecord) (bool, error) {
	return try(func() (bool, error) {
		d.Reset()
		var t *tensor.Tensor
		if r.Expr != nil {
			args, err := d.Args(r.Expr.Args)
			if err != nil {
				return true, err
			}
			kwargs, err := d.Kwargs(r.Expr.Kwargs)
			if err != nil {
				return true, err
			}
			t, err = opcheck.CallTensor([]string{"torch::" + r.Expr.Op, "aten::" + r.Expr.Op, "F::" + r.Expr.Op}, args,
				kwargs)
			if err != nil {
				return false, err
			}
		} else {
			v, err := d.Decode(r.Value)
			if err != nil {
				return true, err
			}
			if u, ok := v.(golden.Unsupported); ok {
				return false, fmt.Errorf("not supported: %s", string(u))
			}
			t = v.(*tensor.Tensor)
		}
		if r.Parameter {
			t.SetParameter()
		}
		if r.Options != nil {
			defer tensor.SetPrintOptions(tensor.SetPrintOptions(options(r.Options)))
		}
		if r.DefaultDType != "" {
			defer tensor.SetDefaultDType(tensor.DefaultDType())
			tensor.SetDefaultDType(dtype.Parse(r.DefaultDType))
		}
		if t.Device().Type == tensor.MetaDevice {
			return false, fmt.Errorf("the elements are not there")
		}
		text := t.String()
		if t.Device() != (tensor.Device{}) { // what is recorded was printed on the CPU
			text = strings.Join(strings.Fields(onCPU.ReplaceAllString(text, "")), " ")
			return true, equal(text, strings.Join(strings.Fields(r.Text), " "))
		}
		return true, equal(text, r.Text)
	})
}

// onCPU matches what a tensor on another device prints more than one on the CPU does, also where a line was broken for
// it. Lines may be broken elsewhere then, and are not compared.
var onCPU = regexp.MustCompile(`,\s+device='\w+:\d+'|device='\w+:\d+', `)

func options(m map[string]any) tensor.PrintOptions {
	var o tensor.PrintOptions
	for key, dst := range map[string]*tensor.Opt[int]{"precision": &o.Precision, "threshold": &o.Threshold,
		"edgeitems": &o.EdgeItems, "linewidth": &o.LineWidth} {
		if f, ok := m[key].(float64); ok {
			*dst = tensor.Some(int(f))
		}
	}
	if b, ok := m["sci_mode"].(bool); ok {
		o.SciMode = tensor.Some(b)
	}
	switch m["profile"] {
	case "default":
		o.Profile = tensor.DefaultProfile
	case "short":
		o.Profile = tensor.ShortProfile
	case "full":
		o.Profile = tensor.FullProfile
	}
	return o
}

// between is what stands between two ends of s, "" where they are not its ends.
func between(s, begin, end string) string {
	s, ok := strings.CutPrefix(s, begin)
	s, also := strings.CutSuffix(s, end)
	if !ok || !also {
		return ""
	}
	return s
}

// call calls an operator.
func call(op string, args ...any) serialize.Tuple {
	boxed := make([]tensor.Value, len(args))
	for i, a := range args {
		boxed[i] = tensor.Box(a)
	}
	values, err := tensor.CallOp("aten::"+op, boxed...)
	if err != nil {
		panic(err)
	}
	var out serialize.Tuple
	for _, v := range values {
		out = append(out, v.T)
	}
	return out
}

// results is the text of the named tuple that a call of an operator gives in Python.
func results(op string, args ...any) string {
	name, _, _ := strings.Cut(op, ".")
	return serialize.Repr(&serialize.Object{Class: serialize.Global{Module: "torch.return_types", Name: name},
		Args: serialize.Tuple{call(op, args...)}})
}

// object makes the text of what an expression stands for.
func object(what string) (string, bool) {
	param := func() []*tensor.Tensor {
		t := tensor.New([]int{1}, tensor.Float32)
		tensor.ZeroRaw(t)
		return []*tensor.Tensor{t.SetRequiresGrad(true)}
	}
	cuda := tensor.Device{Type: tensor.CUDADevice, Index: 1}
	pi := func() *tensor.Tensor { return tensor.FromSlice([]float32{3.14159}, []int{}...) }
	switch what {
	case "torch.Size([2, 3])":
		return fmt.Sprint(tensor.Size{2, 3}), true
	case "torch.Size([])":
		return fmt.Sprint(tensor.Size{}), true
	case `torch.device("cpu")`:
		return fmt.Sprintf("%#v", tensor.Device{}), true
	case `str(torch.device("cpu"))`, "torch.Generator() device":
		return fmt.Sprint(tensor.Device{}), true
	case `torch.device("cuda:1")`:
		return fmt.Sprintf("%#v", cuda), true
	case `str(torch.device("cuda:1"))`:
		return fmt.Sprint(cuda), true
	case "torch.strided":
		return fmt.Sprint(tensor.Strided), true
	case "torch.max(tensor([[1.,5.],[7.,2.]]), 1)":
		return results("max.dim", tensor.FromSlice([]float32{1, 5, 7, 2}, 2, 2), 1), true
	case "torch.topk(tensor([1.,5.,3.]), 2)":
		return results("topk", tensor.FromSlice([]float32{1, 5, 3}), 2), true
	case "torch.linalg.slogdet(eye(2))":
		return results("linalg_slogdet", tensor.FromSlice([]float32{1, 0, 0, 1}, 2, 2)), true
	case "torch.sparse_coo_tensor([[0,1],[1,0]],[1.,2.],(2,2))":
		return fmt.Sprint(call("sparse_coo_tensor.indices_size", tensor.FromSlice([]int64{0, 1, 1, 0}, 2, 2),
			tensor.FromSlice([]float32{1, 2}), []int{2, 2})[0]), true
	case "torch.channels_last":
		return fmt.Sprint(tensor.ChannelsLast), true
	case `format(tensor(3.14159), ".3f")`:
		return fmt.Sprintf("%.3f", pi()), true
	case `f"{tensor(3.14159)}"`: // the item in full
		return fmt.Sprintf("%g", pi()), true
	case `f"{tensor([1.,2.])}"`:
		return fmt.Sprint(tensor.FromSlice([]float32{1, 2})), true
	case "list of tensors":
		return serialize.Repr([]any{tensor.FromSlice([]float32{1}, []int{}...), tensor.FromSlice([]int64{2, 3})}), true
	case "dict of tensors":
		d := serialize.NewDict()
		d.Set("a", tensor.FromSlice([]float32{1}, []int{}...))
		return serialize.Repr(d), true
	case "SGD([Parameter(zeros(1))], lr=0.1, momentum=0.9)":
		return fmt.Sprint(optim.NewSGD(param(), 0.1, optim.SGDOptions{Momentum: 0.9})), true
	case "Adam([Parameter(zeros(1))])":
		return fmt.Sprint(optim.NewAdam(param(), 1e-3)), true
	}
	if dt := dtype.Parse(between(what, "torch.finfo(", ")")); dt != 0 {
		return fmt.Sprint(tensor.FInfo(dt)), true
	}
	if dt := dtype.Parse(between(what, "torch.iinfo(", ")")); dt != 0 {
		return fmt.Sprint(tensor.IInfo(dt)), true
	}
	if name, ok := strings.CutPrefix(what, "torch."); ok && dtype.Parse(name) != 0 {
		return fmt.Sprint(dtype.Parse(name)), true
	}
	return "", false
}
