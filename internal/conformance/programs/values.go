package programs

import (
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/pylite"
	"github.com/gotorch-dev/torch/tensor"
)

// ToPython turns a decoded value of the reference data into a value of a program.
func ToPython(v any) any {
	switch x := v.(type) {
	case golden.List:
		return &pylite.List{Elts: toPythonList(x)}
	case golden.Tuple:
		return pylite.Tuple(toPythonList(x))
	case golden.Dict:
		d := pylite.NewDict()
		for _, e := range x {
			d.Set(e.Key, ToPython(e.Val))
		}
		return d
	case golden.Slice:
		return pylite.Slice{Lo: x.Start, Hi: x.Stop, Step: x.Step}
	case golden.Ellipsis:
		return pylite.Ellipsis{}
	case []int: // a shape
		t := pylite.Tuple{}
		for _, n := range x {
			t = append(t, n)
		}
		return t
	}
	return v
}

func toPythonList(l []any) []any {
	out := make([]any, len(l))
	for i, v := range l {
		out[i] = ToPython(v)
	}
	return out
}

// FromPython turns a value of a program into one that package golden would have decoded.
func FromPython(v any) any {
	switch x := v.(type) {
	case *pylite.List:
		return golden.List(fromPythonList(x.Elts))
	case pylite.Tuple:
		return golden.Tuple(fromPythonList(x))
	case *pylite.Dict:
		d := golden.Dict{}
		for _, k := range x.Keys {
			e, _ := x.Get(k)
			d = append(d, golden.Item{Key: pylite.Str(k), Val: FromPython(e)})
		}
		return d
	case pylite.Slice:
		return golden.Slice{Start: x.Lo, Stop: x.Hi, Step: x.Step}
	case pylite.Ellipsis:
		return golden.Ellipsis{}
	case *Param:
		return x.Tensor
	}
	return v
}

func fromPythonList(l []any) []any {
	out := make([]any, len(l))
	for i, v := range l {
		out[i] = FromPython(v)
	}
	return out
}

// Param is a tensor that nn.Parameter made.
type Param struct{ Tensor *tensor.Tensor }

// asTensor is the tensor of a value, nil for others.
func asTensor(v any) *tensor.Tensor {
	switch x := v.(type) {
	case *tensor.Tensor:
		return x
	case *Param:
		return x.Tensor
	}
	return nil
}

// tensorsOf lists the tensors of a list, or the one tensor.
func tensorsOf(v any) []*tensor.Tensor {
	var out []*tensor.Tensor
	switch x := v.(type) {
	case *pylite.List:
		for _, e := range x.Elts {
			out = append(out, tensorsOf(e)...)
		}
	case pylite.Tuple:
		for _, e := range x {
			out = append(out, tensorsOf(e)...)
		}
	default:
		if t := asTensor(v); t != nil {
			out = append(out, t)
		}
	}
	return out
}
