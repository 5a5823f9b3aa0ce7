package modcheck

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/nn/utils/parametrizations"
	"github.com/gotorch-dev/torch/tensor"
)

// PrintRecord checks one module of the print data: text, state dict, names and number of parameters. ok is false when
// the class is not there.
func PrintRecord(d *golden.Decoder, raw json.RawMessage) (ok bool, err error) {
	var r struct {
		Ctor            json.RawMessage
		Text            string
		StateDict       [][]any  `json:"state_dict"`
		NamedModules    []string `json:"named_modules"`
		NamedParameters []string `json:"named_parameters"`
		NumParams       int      `json:"num_params"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return true, err
	}
	ctor, err := d.Module(r.Ctor)
	if err != nil {
		return true, err
	}
	if !Known(ctor.Cls) {
		return false, nil
	}
	m, err := Build(ctor)
	if err != nil {
		return true, err
	}
	if got := nn.Repr(m); got != r.Text {
		return true, fmt.Errorf("prints %q, want %q", got, r.Text)
	}
	// Python lists parameters that have no shape yet.
	shapeless := func(row []any) bool { return len(row) == 3 && row[1] == nil }
	for _, row := range r.StateDict {
		if shapeless(row) {
			r.NumParams = nn.NumParameters(m) // those without a shape have no number of elements
			r.NamedParameters = slices.DeleteFunc(r.NamedParameters, func(n string) bool { return n == row[0] })
		}
	}
	r.StateDict = slices.DeleteFunc(r.StateDict, shapeless)
	var sd [][]any
	for k, v := range nn.StateDict(m).All() {
		shape := []any{}
		for _, n := range v.Shape() {
			shape = append(shape, float64(n))
		}
		sd = append(sd, []any{k, v.DType().Name(), shape})
	}
	var mods, params []string
	for n := range nn.NamedModules(m) {
		mods = append(mods, n)
	}
	for n := range nn.NamedParameters(m) {
		params = append(params, n)
	}
	for _, c := range [][2]any{{sd, r.StateDict}, {mods, r.NamedModules}, {params, r.NamedParameters},
		{nn.NumParameters(m), r.NumParams}} {
		if a, b := fmt.Sprint(c[0]), fmt.Sprint(c[1]); a != b {
			return true, fmt.Errorf("got %s, want %s", a, b)
		}
	}
	return true, nil
}

// Init constructs a module and returns its state. ok is false when the class, or one of the arguments, is not there.
func Init(cls string, args []any, kwargs map[string]any, features int) (*tensor.StateDict, bool, error) {
	if !Known(cls) {
		return nil, false, nil
	}
	m, err := Build(golden.Module{Cls: cls, Args: whole(args).(golden.Tuple), Kwargs: wholeMap(kwargs)})
	if err != nil {
		return nil, true, err
	}
	if l, ok := m.(nn.Lazy); ok { // it draws when it sees its first input
		l.Materialize(tensor.NewOn(tensor.DefaultDevice(), []int{1, features}, nil, tensor.Float32))
	}
	return nn.StateDict(m), true, nil
}

// initPrograms construct several modules, or more than modules.
var initPrograms = map[string]func() []*tensor.Tensor{
	"TransformerEncoder(layer, 2): deep copies": func() (out []*tensor.Tensor) {
		layer := nn.NewTransformerEncoderLayer(8, 2, nn.TransformerLayerOptions{DimFeedforward: tensor.Some(16)})
		for _, t := range nn.StateDict(nn.NewTransformerEncoder(layer, 2, nil)).All() {
			out = append(out, t)
		}
		return out
	},
	"Sequential(Linear(4,3),Tanh,Linear(3,2)) then rand(2)": func() []*tensor.Tensor {
		m := nn.NewSequential(nn.NewLinear(4, 3), nn.NewTanh(), nn.NewLinear(3, 2))
		return append(nn.Parameters(m), torch.Rand([]int{2}))
	},
}

func init() {
	if tensor.LookupOp("aten::linalg_matrix_exp") == nil {
		return
	}
	initPrograms["utils.parametrizations.orthogonal(Linear(5,5)) weight, spectral_norm(Linear(4,6)) weight+u"] =
		func() []*tensor.Tensor {
			o := parametrizations.Orthogonal(nn.NewLinear(5, 5))
			s := parametrizations.SpectralNorm(nn.NewLinear(4, 6))
			u := nn.StateDict(s).Get("parametrizations.weight.0._u")
			return []*tensor.Tensor{o.Weight, s.Weight, u}
		}
}

// InitProgram runs a program of the rng cases that constructs modules; ok is false for one that is not known.
func InitProgram(text string) (outs []*tensor.Tensor, ok bool) {
	f, ok := initPrograms[text]
	if !ok {
		return nil, false
	}
	return f(), true
}

// Call constructs a module and calls it in training mode.
func Call(cls string, args []any, kwargs map[string]any, inputs []*tensor.Tensor) (outs []*tensor.Tensor, ok bool,
	err error) {
	if !Known(cls) {
		return nil, false, nil
	}
	m, err := Build(golden.Module{Cls: cls, Args: whole(args).(golden.Tuple), Kwargs: wholeMap(kwargs)})
	if err != nil {
		return nil, true, err
	}
	in := make([]any, len(inputs))
	for i, t := range inputs {
		in[i] = t
	}
	err = tensor.Try(func() { outs = tensors(forward(m, in, map[string]any{})) })
	return outs, true, err
}

func tensors(v any) []*tensor.Tensor {
	switch x := v.(type) {
	case *tensor.Tensor:
		return []*tensor.Tensor{x}
	}
	var out []*tensor.Tensor
	if l, ok := seq(v); ok {
		for _, e := range l {
			out = append(out, tensors(e)...)
		}
	}
	return out
}

// whole turns JSON's numbers into ints where they are whole, and its lists into tuples.
func whole(v any) any {
	switch x := v.(type) {
	case float64:
		if x == math.Trunc(x) {
			return int(x)
		}
	case []any:
		l := golden.Tuple{}
		for _, e := range x {
			l = append(l, whole(e))
		}
		return l
	}
	return v
}

func wholeMap(m map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		out[k] = whole(v)
	}
	return out
}
