package summary

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// Call is one operator call as a tracer sees it.
type Call struct {
	Op      string `json:"op"`      // as torch.export prints it: "aten.conv2d.default"
	Module  string `json:"module"`  // in the state dict's notation, "" for the model itself
	Args    []any  `json:"args"`    // Spec of a tensor, []any of a list of tensors, else the value as text
	Results []any  `json:"results"` // likewise
}

// Spec is what is known of a tensor without its elements.
type Spec struct {
	Shape  []int  `json:"shape"`
	DType  string `json:"dtype"`
	Device string `json:"device"`
}

// Operators runs a model's forward pass once and lists the operators that a tracer sees: PyTorch's, composed ones
// whole. With train the model is in training mode and gradients are recorded; otherwise it is in evaluation mode and
// they are not.
func Operators(m nn.Module, x *tensor.Tensor, train bool) ([]Call, error) {
	forward, ok := m.(interface {
		Forward(*tensor.Tensor) *tensor.Tensor
	})
	if !ok {
		return nil, fmt.Errorf("summary: %T has no Forward with one input and one output", m)
	}
	was := true
	if t, ok := m.(interface{ Training() bool }); ok {
		was = t.Training()
	}
	nn.Train(m, train)
	defer nn.Train(m, was)
	r := &recorder{}
	for name, c := range nn.NamedModules(m) {
		defer nn.RegisterForwardPreHook(c, func(nn.Module, []*tensor.Tensor) []*tensor.Tensor {
			r.path = append(r.path, name)
			return nil
		}).Remove()
		defer nn.RegisterForwardHook(c, func(nn.Module, []*tensor.Tensor, *tensor.Tensor) *tensor.Tensor {
			r.path = r.path[:len(r.path)-1]
			return nil
		}).Remove()
	}
	err := tensor.Try(func() {
		tensor.SetGradEnabled(train, func() { tensor.WithLayer(r, func() { forward.Forward(x) }) })
	})
	return r.calls, err
}

// recorder is a tracer that takes every public operator whole.
type recorder struct {
	calls []Call
	path  []string
}

// Rank is that of a tracer.
func (r *recorder) Rank() tensor.Rank { return tensor.RankTrace }

// Call records one call.
func (r *recorder) Call(c *tensor.Ctx, next func()) {
	k := Call{Op: ExportName(c.Op())}
	if n := len(r.path); n > 0 {
		k.Module = r.path[n-1]
	}
	for i := range c.NumArgs() {
		k.Args = append(k.Args, describe(c.Value(i)))
	}
	next()
	for _, v := range c.Results() {
		k.Results = append(k.Results, describe(v))
	}
	r.calls = append(r.calls, k)
}

// ExportName is an operator's name as torch.export prints it: "aten.add.Tensor", "aten.relu.default".
func ExportName(op *tensor.Op) string {
	name := strings.Replace(op.FullName(), "::", ".", 1)
	if op.Sch.Overload == "" {
		name += ".default"
	}
	return name
}

func describe(v tensor.Value) any {
	switch v.K {
	case tensor.KTensor:
		return specOf(v.T)
	case tensor.KTensors:
		list := []any{}
		for _, t := range v.X.([]*tensor.Tensor) {
			list = append(list, specOf(t))
		}
		return list
	case tensor.KBool:
		return strings.ToUpper(v.String()[:1]) + v.String()[1:]
	}
	return v.String()
}

func specOf(t *tensor.Tensor) any {
	if t == nil {
		return "None"
	}
	return Spec{append([]int{}, t.Shape()...), t.DType().Name(), t.Device().String()}
}

// String prints the sizes, and the dtype unless it is float32: "(2,3)", "(2,3)i64".
func (s Spec) String() string {
	text := strings.ReplaceAll(strings.Trim(tensor.ShapeString(s.Shape), "[]"), " ", "")
	text = "(" + text + ")"
	if s.DType != "float32" {
		text += s.DType
	}
	return text
}

// String prints one call on a line: "aten.relu.default  (1,64,112,112) -> (1,64,112,112)".
func (c Call) String() string {
	words := func(l []any) string {
		var out []string
		for _, a := range l {
			text := fmt.Sprint(a)
			if _, ok := a.(string); ok {
				text = strings.ReplaceAll(text, ", ", ",")
			}
			out = append(out, text)
		}
		return strings.Join(out, " ")
	}
	return fmt.Sprintf("%s  %s -> %s", c.Op, words(c.Args), words(c.Results))
}

// PrintLines writes a JSON array with an element on each line.
func PrintLines[T any](w io.Writer, list []T) error {
	for i, x := range list {
		b, err := json.Marshal(x)
		if err != nil {
			return err
		}
		before := ",\n "
		if i == 0 {
			before = "["
		}
		if _, err := fmt.Fprintf(w, "%s%s", before, b); err != nil {
			return err
		}
	}
	if len(list) == 0 {
		fmt.Fprint(w, "[")
	}
	_, err := fmt.Fprintln(w, "]")
	return err
}

// FprintOperators writes the calls, a line each, or as a JSON array.
func FprintOperators(w io.Writer, calls []Call, asJSON bool) error {
	if asJSON {
		return PrintLines(w, calls)
	}
	for _, c := range calls {
		if _, err := fmt.Fprintln(w, c); err != nil {
			return err
		}
	}
	return nil
}
