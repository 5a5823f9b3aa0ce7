package serialize

import (
	"github.com/gotorch-dev/torch/internal/pickle"
	"github.com/gotorch-dev/torch/internal/torchzip"
	"github.com/gotorch-dev/torch/tensor"
)

// Sparse tensors are calls of torch._utils._rebuild_sparse_tensor(layout, (indices, values, size, is_coalesced)), where
// the layout is a call of torch.serialization._get_layout with its name.
// https://github.com/pytorch/pytorch/blob/main/torch/_utils.py

func call(module, name string, args ...pickle.Value) *pickle.Object {
	return &pickle.Object{Class: &pickle.Global{Module: module, Name: name}, Args: args}
}

// sparse describes a sparse tensor.
func (e *encoder) sparse(t *tensor.Tensor) (pickle.Value, error) {
	ix, v, coalesced := tensor.SparseParts(t)
	indices, err := e.tensor(ix)
	if err != nil {
		return nil, err
	}
	values, err := e.tensor(v)
	if err != nil {
		return nil, err
	}
	layout := call("torch.serialization", "_get_layout", t.Layout().String())
	data := call("torch._utils", "_rebuild_sparse_tensor", layout,
		pickle.Tuple{indices, values, torchzip.Size(t.Shape()), coalesced})
	if !t.IsParameter() {
		return data, nil
	}
	return call("torch._utils", "_rebuild_parameter", data, t.RequiresGrad(), pickle.NewDict(pickle.OrderedDict)), nil
}

// isCall reports a call of a function of torch._utils with n arguments at least.
func isCall(o *pickle.Object, name string, n int) bool {
	args := o.Args
	return o.Global().Is("torch._utils", name) && len(args) >= n
}

// sparse makes the sparse tensor that o describes; ok is false where it describes something else.
func (d *decoder) sparse(o *pickle.Object) (t *tensor.Tensor, ok bool, err error) {
	if t := d.sparses[o]; t != nil {
		return t, true, nil
	}
	parameter, grad := false, false
	of := o
	if isCall(of, "_rebuild_parameter", 2) {
		if of, ok = of.Args[0].(*pickle.Object); !ok {
			return nil, false, nil
		}
		parameter = true
		grad, _ = o.Args[1].(bool)
	}
	if !isCall(of, "_rebuild_sparse_tensor", 2) {
		return nil, false, nil
	}
	fail := func(format string, args ...any) (*tensor.Tensor, bool, error) {
		return nil, true, d.path.errorf("sparse tensor: "+format, args...)
	}
	layout, _ := of.Args[0].(*pickle.Object)
	if layout == nil || !layout.Global().Is("torch.serialization", "_get_layout") || len(layout.Args) != 1 ||
		layout.Args[0] != tensor.SparseCOO.String() {
		return fail("its layout is not %s, which alone is supported", tensor.SparseCOO)
	}
	data, _ := of.Args[1].(pickle.Tuple)
	if len(data) != 3 && len(data) != 4 {
		return fail("%d parts, want indices, values, size and is_coalesced", len(data))
	}
	var parts [2]*tensor.Tensor
	for i := range parts {
		ref, ok := data[i].(*torchzip.TensorRef)
		if !ok {
			return fail("part %d is a %T, want a tensor", i, data[i])
		}
		v, err := d.decode(ref)
		if err != nil {
			return nil, true, err
		}
		parts[i] = v.(*tensor.Tensor)
	}
	size, ok := data[2].(torchzip.Size)
	if !ok {
		return fail("the size is a %T, want a torch.Size", data[2])
	}
	coalesced := false
	if len(data) == 4 {
		coalesced, _ = data[3].(bool)
	}
	r, err := tensor.CallOp("aten::sparse_coo_tensor.indices_size", tensor.TensorValue(parts[0].Detach()),
		tensor.TensorValue(parts[1].Detach()), tensor.IntsValue(size), tensor.Value{}, tensor.Value{}, tensor.Value{},
		tensor.Value{}, tensor.BoolValue(coalesced))
	if err != nil {
		return fail("%w", err)
	}
	t = r[0].T
	err = tensor.Try(func() {
		if parameter {
			t.SetParameter()
		}
		if grad {
			t.SetRequiresGrad(true)
		}
	})
	if err != nil {
		return fail("%w", err)
	}
	if d.sparses == nil {
		d.sparses = map[*pickle.Object]*tensor.Tensor{}
	}
	d.sparses[o] = t
	return t, true, nil
}
