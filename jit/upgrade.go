package jit

import (
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/tensor"
)

// Operators that have changed keep, in archives of an older version, the meaning that they had: this file does what
// PyTorch's upgraders do.
// https://github.com/pytorch/pytorch/blob/main/torch/csrc/jit/operator_upgraders/upgraders_entry.cpp

// The last versions of the format in which operators had their old meanings.
const (
	lastOldDiv      = 3 // division of integers truncates
	lastOldFull     = 4 // full makes floats of whole numbers
	lastOldLinspace = 7 // steps may be left out, and are 100
	lastOldLogspace = 8
)

// upgraded gives a call in an old archive its old meaning.
func (t *translator) upgraded(name string, args []*graph.Value, kwargs map[string]*graph.Value) (string,
	[]*graph.Value, map[string]*graph.Value) {
	v := t.u.version
	switch {
	case name == "aten::div" || name == "aten::div_":
		if v <= lastOldDiv && len(args) == 2 && args[0].Type.Kind == graph.TensorType &&
			kwargs["rounding_mode"] == nil {
			return "gotorch::old_" + name[len("aten::"):], args, kwargs
		}
	case name == "aten::full":
		if d := kwargs["dtype"]; v <= lastOldFull && len(args) == 2 && kwargs["out"] == nil &&
			(d == nil || d.Type.Kind == graph.NoneType) && args[1].Type.Kind != graph.FloatType {
			args = []*graph.Value{args[0], t.builtin1("aten::Float", args[1])}
		}
	case name == "aten::linspace" && v <= lastOldLinspace, name == "aten::logspace" && v <= lastOldLogspace:
		const steps = 100
		switch {
		case len(args) == 2 && kwargs["steps"] == nil:
			args = append(args[:2:2], t.b().Const(steps))
		case len(args) > 2 && args[2].Type.Kind == graph.NoneType:
			args = append([]*graph.Value{args[0], args[1], t.b().Const(steps)}, args[3:]...)
		case kwargs["steps"] != nil && kwargs["steps"].Type.Kind == graph.NoneType:
			kwargs["steps"] = t.b().Const(steps)
		}
	}
	return name, args, kwargs
}

// oldDivision is a division with the rule that integers are truncated. out is what the result is written to, nil for a
// new tensor.
func oldDivision(self *tensor.Tensor, other tensor.Value, inPlace bool, out *tensor.Tensor) tensor.Value {
	floats := self.DType().IsFloat() || other.K == tensor.KFloat || other.K == tensor.KTensor &&
		other.T.DType().IsFloat() ||
		out != nil && out.DType().IsFloat()
	name, form := "aten::div", "Tensor"
	if other.K != tensor.KTensor {
		form = "Scalar"
	}
	args := []tensor.Value{tensor.TensorValue(self), other}
	if inPlace {
		name = "aten::div_"
	}
	if !floats {
		form += "_mode"
		args = append(args, tensor.StrValue("trunc"))
	}
	if out != nil {
		if form = "out"; !floats {
			form = "out_mode"
		}
		args = append(args, tensor.TensorValue(out))
	}
	res, err := tensor.CallOp(name+"."+form, args...)
	if err != nil {
		panic(err)
	}
	return res[0]
}

func init() {
	tensorArg := func(v tensor.Value) *tensor.Tensor {
		if v.K != tensor.KTensor {
			tensor.Fail(tensor.ErrType, "div: want a Tensor")
		}
		return v.T
	}
	for _, kind := range []string{"Tensor", "Scalar"} {
		graph.Register("gotorch::old_div."+kind+"(Tensor self, "+kind+" other) -> Tensor",
			func(a []tensor.Value) tensor.Value { return oldDivision(tensorArg(a[0]), a[1], false, nil) })
		graph.Register("gotorch::old_div_."+kind+"(Tensor(a!) self, "+kind+" other) -> Tensor(a!)",
			func(a []tensor.Value) tensor.Value { return oldDivision(tensorArg(a[0]), a[1], true, nil) })
	}
	graph.Register("gotorch::old_div.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
		func(a []tensor.Value) tensor.Value { return oldDivision(tensorArg(a[0]), a[1], false, tensorArg(a[2])) })
}
