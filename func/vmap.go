package functorch

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// Tensor is a tensor.
type Tensor = tensor.Tensor

// Func is a function of several tensors with several results.
type Func = func(args []*Tensor) []*Tensor

// One makes a Func of a function with one argument and one result.
func One(f func(x *Tensor) *Tensor) Func {
	return func(args []*Tensor) []*Tensor { return []*Tensor{f(args[0])} }
}

// Two makes a Func of a function with two arguments and one result.
func Two(f func(x, y *Tensor) *Tensor) Func {
	return func(args []*Tensor) []*Tensor { return []*Tensor{f(args[0], args[1])} }
}

// None, among the dimensions of [VmapOptions], stands for a tensor that is not mapped over.
const None = tensor.NoBatch

// VmapOptions are the options of Vmap.
type VmapOptions struct {
	// InDims are the dimensions of the arguments along which the examples lie, None for an argument that all examples
	// share. Nil stands for dimension 0 of every argument, one entry for that dimension of every argument.
	InDims []int
	// OutDims are the dimensions of the results along which the examples are to lie; nil stands for dimension 0, one
	// entry for that dimension of every result. None needs a result that does not depend on the example.
	OutDims []int
	// Randomness is "error" (the default), "different" (for each example) or "same" (for all examples).
	Randomness string
	// ChunkSize is how many examples are computed at once; 0 stands for all of them.
	ChunkSize int
}

// Vmap is f mapped over a batch: the result computes f for every example at once, with the operators of the whole
// batch. f sees one example, without the dimension of the batch. Composed operators are mapped by what they are
// composed of, other operators by a batching rule; one that has none runs in a loop over the examples (the command
// gotorch ops shows which). Vmap may be nested, within itself and with the other transforms.
//
// The examples lie along dimension InDims of the arguments, which must agree in its size. Results are stacked along
// OutDims. An argument's dimension that does not exist, different sizes, a change in place of a shared tensor by a
// value of one example, random operators in the mode "error", and the reading of elements panic with *torch.Error.
// https://pytorch.org/docs/stable/generated/torch.func.vmap.html
func Vmap(f Func, opts ...VmapOptions) Func {
	var o VmapOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	r := randomness(o.Randomness)
	if o.ChunkSize < 0 {
		tensor.Fail(tensor.ErrValue, "vmap: chunk_size should be None or greater than 0. (got %d)", o.ChunkSize)
	}
	return func(args []*Tensor) []*Tensor {
		in, size := inDims(o.InDims, args)
		if o.ChunkSize == 0 || o.ChunkSize >= size {
			return mapOnce(f, args, in, o.OutDims, size, r)
		}
		var chunks [][]*Tensor
		for at := 0; at < size; at += o.ChunkSize {
			n := min(o.ChunkSize, size-at)
			part := make([]*Tensor, len(args))
			for i, t := range args {
				part[i] = t
				if in[i] != None {
					part[i] = t.Narrow(in[i], at, n)
				}
			}
			chunks = append(chunks, mapOnce(f, part, in, o.OutDims, n, r))
		}
		return joined(chunks, o.OutDims)
	}
}

// joined puts the results of chunks of the batch together.
func joined(chunks [][]*Tensor, outDims []int) []*Tensor {
	out := make([]*Tensor, len(chunks[0]))
	for k := range out {
		d := outDim(outDims, k, len(out))
		if d == None {
			out[k] = chunks[0][k]
			continue
		}
		parts := make([]*Tensor, len(chunks))
		for c := range chunks {
			parts[c] = chunks[c][k]
		}
		out[k] = torch.Cat(parts, torch.CatOptions{Dim: d})
	}
	return out
}

func randomness(s string) tensor.Randomness {
	switch s {
	case "", "error":
		return tensor.RandomError
	case "different":
		return tensor.RandomDifferent
	case "same":
		return tensor.RandomSame
	}
	tensor.Fail(tensor.ErrValue, "Only allowed values for randomness are 'error', 'different', or 'same'. Got %s", s)
	return 0
}

// inDims checks the dimensions of the arguments and finds the size of the batch.
func inDims(dims []int, args []*Tensor) (in []int, size int) {
	const what = "vmap(f, in_dims=%v, ...)(<inputs>)"
	in = make([]int, len(args))
	if len(args) == 0 {
		tensor.Fail(tensor.ErrValue, what+": got no inputs. Maybe you forgot to add inputs, or you are trying to "+
			"vmap over "+
			"a function with no inputs. The latter is unsupported.", dims)
	}
	switch {
	case len(dims) == 1:
		for i := range in {
			in[i] = dims[0]
		}
	case len(dims) > 1 && len(dims) != len(args):
		tensor.Fail(tensor.ErrValue, what+": in_dims is not compatible with the structure of inputs: it has %d "+
			"entries, "+
			"and there are %d inputs", dims, len(dims), len(args))
	case dims != nil:
		copy(in, dims)
	}
	size = -1
	sizes := []int{}
	for i, t := range args {
		if in[i] == None {
			continue
		}
		if t == nil || in[i] < -t.Dim() || in[i] >= t.Dim() {
			n := 0
			if t != nil {
				n = t.Dim()
			}
			tensor.Fail(tensor.ErrValue, what+": Got in_dim=%d for some input, but that input is a Tensor of "+
				"dimensionality %d so expected in_dim to satisfy -%d <= in_dim < %d.", dims, in[i], n, n, n)
		}
		if in[i] < 0 {
			in[i] += t.Dim()
		}
		sizes = append(sizes, t.Size(in[i]))
		if size >= 0 && t.Size(in[i]) != size {
			tensor.Fail(tensor.ErrValue,
				"vmap: Expected all tensors to have the same size in the mapped dimension, got "+
					"sizes %v for the mapped dimension", sizes)
		}
		size = t.Size(in[i])
	}
	if size < 0 {
		tensor.Fail(tensor.ErrValue, "vmap: Expected at least one Tensor to vmap over")
	}
	return in, size
}

func outDim(dims []int, k, n int) int {
	switch {
	case dims == nil:
		return 0
	case len(dims) == 1:
		return dims[0]
	case len(dims) != n:
		tensor.Fail(tensor.ErrValue, "vmap(f, ..., out_dims=%v): out_dims is not compatible with the structure of "+
			"outputs: "+
			"it has %d entries, and there are %d outputs", dims, len(dims), n)
	}
	return dims[k]
}

func mapOnce(f Func, args []*Tensor, in, out []int, size int, r tensor.Randomness) []*Tensor {
	l := tensor.NewVmapLevel(size, r)
	ex := make([]*Tensor, len(args))
	for i, t := range args {
		switch {
		case in[i] == None:
			ex[i] = t
		case in[i] == 0:
			ex[i] = l.Wrap(t)
		default:
			ex[i] = l.Wrap(t.MoveDim(in[i], 0))
		}
	}
	var res []*Tensor
	tensor.WithLayer(l, func() { res = f(ex) })
	ys := make([]*Tensor, len(res))
	for k, y := range res {
		if y == nil {
			continue
		}
		d := outDim(out, k, len(res))
		if d == None {
			if ys[k] = l.Shared(y); ys[k] == nil {
				tensor.Fail(tensor.ErrValue, "vmap(f, ...): `f` can not return a BatchedTensor when out_dim is None")
			}
			continue
		}
		p := l.Unwrap(y)
		if d < -p.Dim() || d >= p.Dim() {
			tensor.Fail(tensor.ErrValue,
				"vmap(f, ..., out_dims=%v): Dimension out of range (expected to be in range of "+
					"[%d, %d], but got %d)", out, -p.Dim(), p.Dim()-1, d)
		}
		if d != 0 {
			p = p.MoveDim(0, d)
		}
		ys[k] = p
	}
	return ys
}

// DebugUnwrap is the tensor, of all examples, that a tensor inside of a function which [Vmap] maps stands for, through
// all levels of nesting, or through one alone where recurse is false; another tensor is returned itself. It is for
// looking at values while debugging: what a mapped function computes with it is wrong.
// https://docs.pytorch.org/docs/stable/generated/torch.func.debug_unwrap.html
func DebugUnwrap(t *Tensor, recurse ...bool) *Tensor {
	for t.IsBatched() {
		t = tensor.Examples(t)
		if len(recurse) > 0 && !recurse[0] {
			break
		}
	}
	return t
}
