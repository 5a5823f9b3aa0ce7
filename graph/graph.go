package graph

import (
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/tensor"
)

// Value is a value of a graph: it is defined once, by a node or as a parameter of a block (static single assignment).
type Value struct {
	Name  string // for printing, "" for a number; unique in a function once printed
	Type  *Type
	Node  *Node  // that defines it, nil for a parameter of a block
	Block *Block // whose parameter it is, nil for a node's result
	Info  *Info  // of the tensor of the example that was recorded, nil when there was none

	reg int32 // of the executor
}

// Pos is a place in a front end's source.
type Pos struct {
	File string
	Line int
}

// String is "file:line", "" for no place.
func (p Pos) String() string {
	if p.File == "" && p.Line == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// Node is one step: a call of an operator, or one of the structural kinds that the constants of this package name.
type Node struct {
	Op     string // full name of an operator ("aten::add.Tensor"), or a structural kind ("prim::If")
	In     []*Value
	Out    []*Value
	Blocks []*Block
	Block  *Block // that holds the node
	Pos    Pos

	Operator *Operator        // of a call; nil when it is not known
	Const    tensor.Value     // of a constant
	Attr     string           // name of an attribute, a method, or the class of an exception
	Func     *Function        // of CallFunction, Within and Closure
	Around   func(run func()) // of Within
	Class    *Class           // of CreateObject
	Types    []*Type          // of IsInstance
	Index    int              // of TupleIndex, and of GetAttr and SetAttr with the name BySlot
	Scope    *Scope           // the call of a module that a recorded node is part of

	from string // the function that an inlined node comes from, "" for the function itself
}

// Scope is one call of a module's forward in a recording. Calls are numbered by identity: two calls of one module are
// two scopes.
type Scope struct {
	Path   string // of the module in the recorded one: "layer1.0.conv1", "" for that itself
	Class  string // the module's Python class: "torch.nn.modules.conv.Conv2d"
	Parent *Scope // nil for the outermost
}

// String names the place: "layer1.0.conv1 (torch.nn.modules.conv.Conv2d)".
func (s *Scope) String() string {
	switch {
	case s == nil:
		return ""
	case s.Path == "":
		return s.Class
	}
	return s.Path + " (" + s.Class + ")"
}

// Info is what a recording knows of a tensor.
type Info struct {
	DType        tensor.DType
	Device       tensor.Device
	Shape        []int // of the example
	Strides      []int // of the example
	RequiresGrad bool
	// Dims are the sizes with names where they follow sizes of inputs that may change: "batch", "2*time". A size that
	// changes in a way that no name tells is Dim{Size: -1}. Dims is nil when all sizes are those of the example.
	Dims []Dim
}

// The structural kinds of nodes. Their names and meanings are those of PyTorch's IR.
const (
	Constant       = "prim::Constant"         // Const
	If             = "prim::If"               // In: condition; two blocks, whose results are those of the node
	Loop           = "prim::Loop"             // In: most iterations, condition, carried values; see Block.Loop
	ListConstruct  = "prim::ListConstruct"    // In: the elements
	ListUnpack     = "prim::ListUnpack"       // as many results as the list must have elements
	TupleConstruct = "prim::TupleConstruct"   // In: the fields
	TupleUnpack    = "prim::TupleUnpack"      // as many results as the tuple must have fields
	TupleIndex     = "prim::TupleIndex"       // Index
	DictConstruct  = "prim::DictConstruct"    // In: key, value, key, value, …
	GetAttr        = "prim::GetAttr"          // In: object; Attr
	SetAttr        = "prim::SetAttr"          // In: object, value; Attr
	CallMethod     = "prim::CallMethod"       // In: object, arguments; Attr. The object's class chooses the function
	CallFunction   = "prim::CallFunction"     // In: arguments; Func. Without Func, In[0] is a function value
	Within         = "gotorch::within"        // CallFunction in a mode of its own: Around runs the function
	CreateObject   = "prim::CreateObject"     // Class
	Raise          = "prim::RaiseException"   // In: the text; Attr is the exception's class
	IsInstance     = "prim::isinstance"       // In: value; Types
	UncheckedCast  = "prim::unchecked_cast"   // In: value, which has the type of the result at this place
	Closure        = "prim::Closure"          // In: captured values; Func, whose first parameters they become
	Fork           = "prim::fork"             // In: arguments; Func
	Wait           = "aten::wait"             // In: future
	Uninitialized  = "prim::Uninitialized"    // a value that is never read
	SetGrad        = "aten::set_grad_enabled" // In: whether gradients are recorded from now on, to the end of the run
	GradEnabled    = "aten::is_grad_enabled"  // whether gradients are recorded
)

// BySlot as the name of an attribute means that Node.Index numbers it.
const BySlot = "*"

// Block is a sequence of nodes with parameters and results: the body of a function, a branch or a loop.
type Block struct {
	Params  []*Value
	Nodes   []*Node
	Results []*Value
	Owner   *Node     // the node whose block it is, nil for the body of a function
	Func    *Function // that the block is part of

	pos Pos // of the nodes to come
}

// Function is a program with parameters and results.
type Function struct {
	Name   string
	Schema *Schema // nil: parameters have no names and no defaults
	Body   *Block

	code program // once compiled
}

// NewFunction makes a function without parameters and nodes.
func NewFunction(name string) *Function {
	f := &Function{Name: name}
	f.Body = &Block{Func: f}
	return f
}

// Param adds a parameter to the block.
func (b *Block) Param(name string, t *Type) *Value {
	v := &Value{Name: name, Type: t, Block: b}
	b.Params = append(b.Params, v)
	return v
}

// At sets the place in the source of the nodes that are added from now on.
func (b *Block) At(p Pos) { b.pos = p }

// Add appends a node and gives it results of these types. The methods below are made of it.
//
//go:noinline // the translators would have hundreds of copies
func (b *Block) Add(n *Node, results ...*Type) *Node {
	n.Block = b
	if n.Pos == (Pos{}) {
		n.Pos = b.pos
	}
	for _, t := range results {
		n.Out = append(n.Out, &Value{Type: t, Node: n})
	}
	b.Nodes = append(b.Nodes, n)
	return n
}

// Const is a constant. v is a boxed value, a Go number, bool, string, []int, []float64, dtype, device or tensor, or nil
// for None.
func (b *Block) Const(v any) *Value {
	c := tensor.Box(v)
	return b.ConstOf(c, TypeOf(c))
}

// ConstOf is a constant with the type t.
func (b *Block) ConstOf(v tensor.Value, t *Type) *Value {
	return b.Add(&Node{Op: Constant, Const: v}, t).Out[0]
}

// values turns the arguments of a builder into values: a *Value stays, anything else becomes a constant.
func (b *Block) values(args []any) []*Value {
	in := make([]*Value, len(args))
	for i, a := range args {
		if v, ok := a.(*Value); ok && v != nil {
			in[i] = v
		} else if ok {
			in[i] = b.Const(nil)
		} else {
			in[i] = b.Const(a)
		}
	}
	return in
}

// Call calls an operator by its full name ("aten::add.Tensor") with arguments by position; missing ones get their
// defaults. An argument is a *Value or what Const takes. An operator that does not exist, and arguments that do not fit
// it, are errors of Function.Verify; the node then has one result.
func (b *Block) Call(op string, args ...any) *Node {
	n := &Node{Op: op, Operator: Lookup(op), In: b.values(args)}
	if n.Operator == nil {
		return b.Add(n, Any)
	}
	var types []*Type
	for _, r := range n.Operator.Results {
		types = append(types, r.Type)
	}
	return b.Add(n, types...)
}

// Call1 is the only result of Call.
func (b *Block) Call1(op string, args ...any) *Value { return b.Call(op, args...).Out[0] }

// If adds a branch. The functions fill the two blocks, and return as many values each, which become the node's results.
func (b *Block) If(cond *Value, then, otherwise func(b *Block) []*Value) *Node {
	n := &Node{Op: If, In: []*Value{cond}, Block: b, Pos: b.pos}
	for _, fill := range []func(*Block) []*Value{then, otherwise} {
		c := n.NewBlock()
		c.Results = fill(c)
	}
	var types []*Type
	for i, v := range n.Blocks[0].Results {
		t := v.Type
		if i < len(n.Blocks[1].Results) {
			t = Unify(t, n.Blocks[1].Results[i].Type)
		}
		types = append(types, t)
	}
	return b.Add(n, types...)
}

// Loop adds a loop. It runs while cond is true, most times at most; nil stands for no limit, or for true. body fills
// the block, whose parameters are the number of the iteration and the carried values, and returns the condition (nil:
// true) and the carried values of the next iteration. The results are the carried values after the last iteration.
func (b *Block) Loop(most, cond *Value, carried []*Value,
	body func(b *Block, i *Value, carried []*Value) (cond *Value, next []*Value)) *Node {
	if most == nil {
		most = b.Const(maxIterations)
	}
	if cond == nil {
		cond = b.Const(true)
	}
	n := &Node{Op: Loop, In: append([]*Value{most, cond}, carried...), Block: b, Pos: b.pos}
	c := n.NewBlock()
	i := c.Param("", Int)
	var params []*Value
	var types []*Type
	for _, v := range carried {
		params = append(params, c.Param("", v.Type))
		types = append(types, v.Type)
	}
	next, results := body(c, i, params)
	if next == nil {
		next = c.Const(true)
	}
	c.Results = append([]*Value{next}, results...)
	return b.Add(n, types...)
}

// maxIterations stands for no limit, as in PyTorch's IR.
const maxIterations = 1<<63 - 1

// NewBlock adds an empty block to the node.
func (n *Node) NewBlock() *Block {
	c := &Block{Owner: n, pos: n.Pos}
	if n.Block != nil {
		c.Func = n.Block.Func
		c.pos = n.Block.pos
	}
	n.Blocks = append(n.Blocks, c)
	return c
}

// List makes a list of values.
func (b *Block) List(elem *Type, items ...*Value) *Value {
	return b.Add(&Node{Op: ListConstruct, In: items}, ListOf(elem)).Out[0]
}

// Tuple makes a tuple of values.
func (b *Block) Tuple(items ...*Value) *Value {
	t := TupleOf()
	for _, v := range items {
		t.Elems = append(t.Elems, v.Type)
	}
	return b.Add(&Node{Op: TupleConstruct, In: items}, t).Out[0]
}

// Dict makes a dictionary; items are keys and values in turn.
func (b *Block) Dict(key, value *Type, items ...*Value) *Value {
	return b.Add(&Node{Op: DictConstruct, In: items}, DictOf(key, value)).Out[0]
}

// Unpack takes a tuple, or a list of exactly len(types) elements, apart.
func (b *Block) Unpack(v *Value, types ...*Type) []*Value {
	op := ListUnpack
	if v.Type.Kind == TupleType {
		op = TupleUnpack
	}
	return b.Add(&Node{Op: op, In: []*Value{v}}, types...).Out
}

// Index is field i of a tuple.
func (b *Block) Index(v *Value, i int) *Value {
	t := Any
	if v.Type.Kind == TupleType && i >= 0 && i < len(v.Type.Elems) {
		t = v.Type.Elems[i]
	}
	return b.Add(&Node{Op: TupleIndex, In: []*Value{v}, Index: i}, t).Out[0]
}

// GetAttr reads an attribute of an object.
func (b *Block) GetAttr(obj *Value, name string) *Value {
	t := Any
	if c := obj.Type.Class; c != nil {
		if i := c.AttrIndex(name); i >= 0 {
			t = c.Attrs[i].Type
		}
	}
	return b.Add(&Node{Op: GetAttr, In: []*Value{obj}, Attr: name}, t).Out[0]
}

// SetAttr changes an attribute of an object.
func (b *Block) SetAttr(obj *Value, name string, v *Value) *Node {
	return b.Add(&Node{Op: SetAttr, In: []*Value{obj, v}, Attr: name})
}

// Invoke calls a function of a program. A function returns one value as it is; several are the node's results.
func (b *Block) Invoke(f *Function, args ...*Value) *Node {
	var types []*Type
	for _, v := range f.Body.Results {
		types = append(types, v.Type)
	}
	return b.Add(&Node{Op: CallFunction, In: args, Func: f}, types...)
}

// InvokeWithin calls a function of a program in a mode: around sets it, runs what it is given, and sets it back, as
// tensor.NoGrad does.
func (b *Block) InvokeWithin(around func(run func()), f *Function, args ...*Value) *Node {
	n := b.Invoke(f, args...)
	n.Op, n.Around = Within, around
	return n
}

// Raise ends the program with an exception of a class, such as "builtins.ValueError".
func (b *Block) Raise(class string, text *Value) *Node {
	return b.Add(&Node{Op: Raise, In: []*Value{text}, Attr: class})
}

// Return sets the results of the block.
func (b *Block) Return(results ...*Value) { b.Results = results }

// TypeOf is the static type of a boxed value.
func TypeOf(v tensor.Value) *Type {
	switch x := v.X.(type) {
	case *List:
		if x.Elem != nil {
			return ListOf(x.Elem)
		}
		if len(x.Items) > 0 {
			return ListOf(TypeOf(x.Items[0]))
		}
		return ListOf(Tensor)
	case *Tuple:
		if x.Type != nil {
			return x.Type
		}
		t := TupleOf()
		for _, e := range x.Items {
			t.Elems = append(t.Elems, TypeOf(e))
		}
		return t
	case *Dict:
		k, e := x.Key, x.Elem
		if k == nil || e == nil {
			k, e = Str, Tensor
			x.Each(func(key, v tensor.Value) { k, e = TypeOf(key), TypeOf(v) })
		}
		return DictOf(k, e)
	case *Object:
		return x.Class.Type
	case *Enum:
		return x.Class.Type
	case *Future:
		return FutureOf(TypeOf(x.Value))
	case *FuncValue:
		return &Type{Kind: FunctionType}
	case *Strings:
		return StringTensor
	}
	return typeOfKind(v.K, false)
}

// Unify is the narrowest type that values of both types have.
func Unify(t, u *Type) *Type {
	switch {
	case t.Fits(u):
		return u
	case u.Fits(t):
		return t
	case t.Kind == NoneType:
		return OptionalOf(u)
	case u.Kind == NoneType:
		return OptionalOf(t)
	case t.Kind == OptionalType && u.Kind != OptionalType:
		if e := Unify(t.Elems[0], u); e.Kind != AnyType {
			return OptionalOf(e)
		}
	case u.Kind == OptionalType && t.Kind != OptionalType:
		return Unify(u, t)
	case t.Kind == TupleType && u.Kind == TupleType && len(t.Elems) == len(u.Elems) && t.Name == u.Name:
		e := &Type{Kind: TupleType, Name: t.Name, Fields: t.Fields}
		for i := range t.Elems {
			e.Elems = append(e.Elems, Unify(t.Elems[i], u.Elems[i]))
		}
		return e
	}
	return Any
}

// isStructural reports one of the kinds above.
func isStructural(op string) bool {
	switch op {
	case Constant, If, Loop, ListConstruct, ListUnpack, TupleConstruct, TupleUnpack, TupleIndex, DictConstruct, GetAttr,
		SetAttr, CallMethod, CallFunction, Within, CreateObject, Raise, IsInstance, UncheckedCast, Closure, Fork, Wait,
		Uninitialized, SetGrad, GradEnabled:
		return true
	}
	return false
}

// MissingError lists the operators of a program that do not exist here.
type MissingError struct{ Ops []string }

// Error names the operators.
func (e *MissingError) Error() string {
	return "operators that do not exist here: " + strings.Join(e.Ops, ", ")
}

// Unwrap is tensor.ErrNotFound.
func (e *MissingError) Unwrap() error { return tensor.ErrNotFound }
