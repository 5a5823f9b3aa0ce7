package functorch

import "github.com/gotorch-dev/torch/tensor"

// FunctionalizeOptions are the options of Functionalize.
type FunctionalizeOptions struct {
	// Remove is "mutations" (the default): no operator writes a tensor; or "mutations_and_views": views are copies,
	// too, such as select_copy for select.
	Remove string
}

// Functionalize is f without changes of tensors in place: layers around the result, such as those that record a program
// or map it, see the operators that give new tensors. f may change tensors and their views as usual, and the results
// are the same. An argument that f has changed gets its new elements once, by copy_, at the end.
//
// A tensor that f finds elsewhere than in its arguments is changed in place when f changes it. What Tensor.Detach gives
// inside f shares no later changes, nor do views that were taken in a map inside f before the tensor became another
// view of its memory (t_, unsqueeze_). Another Remove panics with ErrValue.
// https://pytorch.org/docs/stable/generated/torch.func.functionalize.html
func Functionalize(f Func, opts ...FunctionalizeOptions) Func {
	var o FunctionalizeOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	copies := false
	switch o.Remove {
	case "", "mutations":
	case "mutations_and_views":
		copies = true
	default:
		tensor.Fail(tensor.ErrValue, "Invalid opt argument. remove should be one of 'mutations' or "+
			"'mutations_and_views'. Got %q", o.Remove)
	}
	return func(args []*Tensor) []*Tensor {
		l := tensor.NewFunctionalLevel(copies)
		in := make([]*Tensor, len(args))
		for i, t := range args {
			in[i] = l.Input(t)
		}
		var out []*Tensor
		tensor.WithLayer(l, func() { out = f(in) })
		l.Finish()
		res := make([]*Tensor, len(out))
		for i, y := range out {
			if y != nil {
				res[i] = l.Result(y)
			}
		}
		return res
	}
}
