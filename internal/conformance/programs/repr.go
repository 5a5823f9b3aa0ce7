package programs

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/pylite"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// shortNames are names of torch, torch.nn and torch.optim that an expression may use without the module.
var shortNames = map[string][]string{
	"torch": {"tensor", "zeros", "ones", "full", "empty", "arange", "linspace", "eye", "sparse_coo_tensor",
		"sparse_csr_tensor"},
	"torch.nn": {"Parameter", "Linear", "Conv2d", "Sequential", "ReLU"},
	"torch.optim": {"SGD", "Adam", "AdamW", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "RMSprop", "Rprop", "ASGD",
		"Adafactor", "Muon", "LBFGS", "SparseAdam"},
}

// torchCall is a call of a function of torch, methodCall one of a method at the end of an expression.
var (
	torchCall  = regexp.MustCompile(`^torch\.([a-z_0-9.]+)\(.*\)$`)
	methodCall = regexp.MustCompile(`\.([a-z_0-9]+)\([^()]*\)$`)
)

// Repr is what Python shows of the value of an expression: the text itself of a string, otherwise what repr gives.
func Repr(expression string) (text string, err error) {
	in, h := New()
	for module, names := range shortNames {
		for _, n := range names {
			in.Globals[n], _ = h.member(module, n)
		}
	}
	err = golden.Guard(func() error {
		v, err := in.Eval(expression)
		if err != nil {
			return err
		}
		function := ""
		for _, r := range []*regexp.Regexp{torchCall, methodCall} {
			if m := r.FindStringSubmatch(expression); m != nil {
				function = strings.ReplaceAll(m[1], ".", "_")
			}
		}
		if strings.HasSuffix(expression, ".shape") {
			function = "size"
		}
		v = structured(v, function)
		text = shown(v)
		return nil
	})
	return text, err
}

// structured is a tuple with the names of the fields that a function of torch gives its results; other values and
// functions without such names give the value itself.
func structured(v any, function string) any {
	if l, ok := v.(*pylite.List); ok && function != "" && !slices.ContainsFunc(l.Elts, func(e any) bool {
		return asTensor(e) == nil
	}) {
		return pylite.Tuple(l.Elts) // functions of torch give tensors as a tuple
	}
	if l, ok := v.([]int); ok {
		v = ToPython(l)
	}
	if l, ok := v.(golden.List); ok && (function == "stride" || function == "broadcast_shapes") {
		v = ToPython(golden.Tuple(l))
	}
	t, ok := v.(pylite.Tuple)
	switch {
	case !ok || function == "":
		return v
	case function == "size" || function == "broadcast_shapes":
		s := tensor.Size{}
		for _, n := range t {
			s = append(s, n.(int))
		}
		return s
	}
	o := &serialize.Object{Class: serialize.Global{Module: "torch.return_types", Name: function}, Args: serialize.Tuple{
		plainValue(t)}}
	if !strings.HasPrefix(serialize.Repr(o), "torch.return_types."+function+"(\n") {
		return v
	}
	return o
}

func shown(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case tensor.Device:
		return fmt.Sprintf("%#v", x)
	case *serialize.Object:
		return serialize.Repr(x)
	case *pylite.List, pylite.Tuple, *pylite.Dict, bool, int, float64, complex128, nil:
		return serialize.Repr(plainValue(v))
	case *Param:
		return fmt.Sprint(x.Tensor.SetParameter())
	}
	return fmt.Sprint(v)
}

// plainValue is a value in the types that package serialize prints.
func plainValue(v any) any {
	switch x := v.(type) {
	case *pylite.List:
		out := make([]any, len(x.Elts))
		for i, e := range x.Elts {
			out[i] = plainValue(e)
		}
		return out
	case pylite.Tuple:
		out := make(serialize.Tuple, len(x))
		for i, e := range x {
			out[i] = plainValue(e)
		}
		return out
	case *pylite.Dict:
		d := serialize.NewDict()
		for _, k := range x.Keys {
			e, _ := x.Get(k)
			d.Set(k, plainValue(e))
		}
		return d
	case *Param:
		return x.Tensor.SetParameter()
	}
	return v
}

// constant is a layout or a memory format of torch, or a class or function that describes types.
func constant(name string) (any, bool) {
	switch name {
	case "Size":
		return builtin(func(args []any) any {
			s := tensor.Size{}
			for _, n := range list(args, 0) {
				s = append(s, n.(int))
			}
			return s
		}), true
	case "finfo":
		return builtin(func(args []any) any { return tensor.FInfo(typeOf(args)) }), true
	case "iinfo":
		return builtin(func(args []any) any { return tensor.IInfo(typeOf(args)) }), true
	}
	for _, l := range []tensor.Layout{tensor.Strided, tensor.SparseCOO, tensor.SparseCSR} {
		if l.String() == "torch."+name {
			return l, true
		}
	}
	v, err := (&golden.Decoder{}).Decode(json.RawMessage(fmt.Sprintf(`{"s":%q}`, "torch."+name)))
	f, ok := v.(tensor.MemoryFormat)
	return f, err == nil && ok
}

func typeOf(args []any) tensor.DType {
	if len(args) == 0 {
		return tensor.DefaultDType()
	}
	d, ok := args[0].(tensor.DType)
	if !ok {
		d = dtype.Parse(strings.TrimPrefix(fmt.Sprint(args[0]), "torch."))
	}
	return d
}

// list are the elements of an argument that is a list or a tuple.
func list(args []any, i int) []any {
	if i >= len(args) {
		return nil
	}
	switch x := args[i].(type) {
	case *pylite.List:
		return x.Elts
	case pylite.Tuple:
		return x
	}
	return nil
}
