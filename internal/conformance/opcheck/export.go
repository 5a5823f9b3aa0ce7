package opcheck

import (
	"fmt"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/tensor"
)

// Names maps a public Python name ("torch.nn.functional.relu") to the names that the registry may have it under.
func Names(dotted string) []string { return registryNames(dotted) }

// Call calls an operator by its registry names with decoded arguments. Several results come as a golden.Tuple or
// golden.List.
func Call(names []string, args []any, kwargs map[string]any) (any, error) {
	return call(names, args, kwargs)
}

// Exists reports whether the registry has one of the names.
func Exists(names []string) bool {
	for _, n := range names {
		if len(tensor.Overloads(n)) > 0 {
			return true
		}
	}
	return false
}

// CallTensor is Call for operators with one tensor as result; of several results it is the first.
func CallTensor(names []string, args []any, kwargs map[string]any) (*tensor.Tensor, error) {
	v, err := call(names, args, kwargs)
	if err != nil {
		return nil, err
	}
	if l, ok := v.(golden.Tuple); ok && len(l) > 0 {
		v = l[0]
	}
	if l, ok := v.(golden.List); ok && len(l) > 0 {
		v = l[0]
	}
	t, ok := v.(*tensor.Tensor)
	if !ok {
		return nil, fmt.Errorf("the result is a %T, not a tensor", v)
	}
	return t, nil
}

// Inputs remembers what tensors hold before a call.
type Inputs struct{ inputs *inputs }

// Remember copies the memory of the tensors that d has decoded so far; [Inputs.Unchanged] compares.
func Remember(d *golden.Decoder) Inputs { return Inputs{remember(d)} }

// Unchanged fails when a call wrote to a tensor that was remembered.
func (m Inputs) Unchanged() error { return m.inputs.unchanged(nil) }
