package trace

import (
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/tensor"
)

// Container is what a recording knows of a list or a dictionary of the recorded program. Go code has the elements; what
// it does with them is recorded as well.
type Container struct {
	typ  *graph.Type
	key  *tensor.Tensor // stands for the container among the recorded values; nil where nothing is recorded
	save func() (restore func())
}

// Held is a Go value whose elements belong to a Container.
type Held interface {
	Container() *Container
}

// NewContainer makes an empty list or dictionary of the type. In a recording that has such (Options.Containers) it
// becomes a value of the program, with the name. save keeps the elements until they are set back: a recording runs the
// bodies of branches and loops more often than the program does.
func NewContainer(name string, t *graph.Type, save func() (restore func())) *Container {
	c := &Container{typ: t, save: save}
	r := active()
	if r == nil || !r.containers {
		return c
	}
	r.block.At(place())
	var v *graph.Value
	if t.Kind == graph.DictType {
		v = r.block.Dict(t.Elems[0], t.Elems[1])
	} else {
		v = r.block.List(t.Elems[0])
	}
	r.added(v.Node)
	v.Name = name
	suspended(func() { c.key = tensor.FromSlice([]float32{0}, 1) })
	r.values[c.key] = v
	r.keep = append(r.keep, c.key)
	r.held = append(r.held, c)
	return c
}

// Type is the container's type in a program.
func (c *Container) Type() *graph.Type { return c.typ }

// Record notes a call of an operator on the container, with these numbers, strings, tensors and containers as further
// arguments. It does nothing while no recording goes on. results are the types of what the operator gives.
func (c *Container) Record(op string, results []*graph.Type, args ...any) {
	c.record(op, results, args)
}

// Tensor is Record for an operator whose only result is a tensor: x, or x as another value of the recording.
func (c *Container) Tensor(x *tensor.Tensor, op string, args ...any) *tensor.Tensor {
	n := c.record(op, []*graph.Type{graph.Tensor}, args)
	if n == nil || x == nil {
		return x
	}
	return active().handles([]*tensor.Tensor{x}, n.Out)[0]
}

func (c *Container) record(op string, results []*graph.Type, args []any) *graph.Node {
	r := active()
	if r == nil || !r.containers {
		return nil
	}
	pos := place()
	in := []*graph.Value{r.contained(c, pos)}
	for _, a := range args {
		switch a := a.(type) {
		case *tensor.Tensor:
			in = append(in, r.value(a))
		case Held:
			in = append(in, r.contained(a.Container(), pos))
		default:
			v := graph.Normal(tensor.Box(a))
			in = append(in, r.constant(v, graph.TypeOf(v)))
		}
	}
	r.block.At(pos)
	n := r.block.Add(&graph.Node{Op: op, Operator: graph.Lookup(op), In: in}, results...)
	r.added(n)
	return n
}

// contained is the value of a container.
func (r *recorder) contained(c *Container, pos graph.Pos) *graph.Value {
	v := r.values[c.key]
	if c.key == nil || v == nil {
		fail(pos, "a list or dictionary is used outside of the program, the branch or the loop that it was made in")
	}
	return v
}

// withContainers runs f and sets the elements of all containers back.
func (r *recorder) withContainers(f func()) {
	var restore []func()
	for _, c := range r.held {
		restore = append(restore, c.save())
	}
	f()
	for _, undo := range restore {
		undo()
	}
}
