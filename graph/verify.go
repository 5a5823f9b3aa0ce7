package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/tensor"
)

// Verify checks that the function is well formed: each value is defined once and before it is used, blocks have the
// parameters and results that their nodes ask for, operators exist and get the arguments they need. The error names the
// node. Operators that do not exist are gathered in a *MissingError.
func (f *Function) Verify() error {
	missing, _, err := f.verify()
	if err == nil && len(missing) > 0 {
		return &MissingError{Ops: missing}
	}
	return err
}

// verify lists the operators that do not exist, and reports whether one of them is met in every run.
func (f *Function) verify() (missing []string, always bool, err error) {
	v := verifier{f: f, visible: map[*Value]bool{}}
	err = v.block(f.Body, 0)
	return v.missing, v.always, err
}

// runnable is nil for a function that is well formed and can run as far as that is known: operators that do not exist
// and stand in a branch or a loop only are no mistake until they are met.
func (f *Function) runnable() error {
	missing, always, err := f.verify()
	if err == nil && always {
		return &MissingError{Ops: missing}
	}
	return err
}

type verifier struct {
	f       *Function
	visible map[*Value]bool
	missing []string
	always  bool // one of them does not stand in a branch or a loop
}

// maxNesting bounds the depth of blocks in blocks.
const maxNesting = 200

func (v *verifier) fail(n *Node, format string, args ...any) error {
	return &Error{Func: v.f.Name, Node: n, Err: &tensor.Error{Msg: fmt.Sprintf(format, args...), Err: tensor.ErrValue}}
}

func (v *verifier) define(n *Node, x *Value) error {
	if v.visible[x] {
		return v.fail(n, "value %s is defined twice", x.Name)
	}
	if x.Type == nil {
		return v.fail(n, "value %s has no type", x.Name)
	}
	v.visible[x] = true
	return nil
}

func (v *verifier) block(b *Block, depth int) error {
	if depth > maxNesting {
		return v.fail(b.Owner, "blocks are nested more than %d deep", maxNesting)
	}
	var local []*Value
	defer func() {
		for _, x := range local {
			delete(v.visible, x)
		}
	}()
	for _, p := range b.Params {
		if err := v.define(b.Owner, p); err != nil {
			return err
		}
		local = append(local, p)
	}
	for _, n := range b.Nodes {
		for i, x := range n.In {
			if x == nil || !v.visible[x] {
				return v.fail(n, "argument %d is not defined at this place", i)
			}
		}
		if err := v.node(n, depth); err != nil {
			return err
		}
		for _, x := range n.Out {
			if err := v.define(n, x); err != nil {
				return err
			}
			local = append(local, x)
		}
	}
	for i, x := range b.Results {
		if x == nil || !v.visible[x] {
			return v.fail(b.Owner, "result %d of the block is not defined in it", i)
		}
	}
	return nil
}

// shapes gives the number of inputs, blocks and results of structural nodes; -1 is for any number.
var shapes = map[string][3]int{
	Constant: {0, 0, 1}, If: {1, 2, -1}, Loop: {-1, 1, -1}, ListConstruct: {-1, 0, 1}, ListUnpack: {1, 0, -1},
	TupleConstruct: {-1, 0, 1}, TupleUnpack: {1, 0, -1}, TupleIndex: {1, 0, 1}, DictConstruct: {-1, 0, 1},
	GetAttr: {1, 0, 1}, SetAttr: {2, 0, 0}, CallMethod: {-1, 0, -1}, CallFunction: {-1, 0, -1}, Within: {-1, 0, -1},
	CreateObject: {0, 0, 1},
	Raise:        {-1, 0, 0}, IsInstance: {1, 0, 1}, UncheckedCast: {1, 0, 1}, Closure: {-1, 0, 1}, Fork: {-1, 0, 1},
	Wait: {1, 0, 1}, Uninitialized: {0, 0, 1}, SetGrad: {1, 0, 0}, GradEnabled: {0, 0, 1},
}

func (v *verifier) node(n *Node, depth int) error {
	if isStructural(n.Op) {
		s := shapes[n.Op]
		for i, got := range [...]int{len(n.In), len(n.Blocks), len(n.Out)} {
			if s[i] >= 0 && got != s[i] {
				return v.fail(n, "has %d %s, want %d", got, [...]string{"arguments", "blocks", "results"}[i], s[i])
			}
		}
		if err := v.structural(n); err != nil {
			return err
		}
		for _, b := range n.Blocks {
			if b.Owner != n {
				return v.fail(n, "a block belongs to another node")
			}
			if err := v.block(b, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	if n.Operator == nil {
		if !slices.Contains(v.missing, n.Op) {
			v.missing = append(v.missing, n.Op)
		}
		v.always = v.always || depth == 0
		return nil
	}
	s := n.Operator.Schema
	if len(n.In) > len(s.Params) && !s.VarArgs {
		return v.fail(n, "takes %d arguments, got %d", len(s.Params), len(n.In))
	}
	for i := len(n.In); i < len(s.Params); i++ {
		if s.Params[i].Default == nil {
			return v.fail(n, "missing argument '%s'", s.Params[i].Name)
		}
	}
	if len(n.Out) > len(s.Results) && len(s.Results) > 0 {
		return v.fail(n, "has %d results, want %d", len(n.Out), len(s.Results))
	}
	return nil
}

func (v *verifier) structural(n *Node) error {
	switch n.Op {
	case If:
		for _, b := range n.Blocks {
			if len(b.Params) != 0 || len(b.Results) != len(n.Out) {
				return v.fail(n, "a branch has %d parameters and %d results, want 0 and %d", len(b.Params),
					len(b.Results), len(n.Out))
			}
		}
	case Loop:
		b, carried := n.Blocks[0], len(n.Out)
		if len(n.In) != carried+2 || len(b.Params) != carried+1 || len(b.Results) != carried+1 {
			return v.fail(n, "%d values are carried, but there are %d arguments, %d parameters and %d results of the "+
				"body, want %d, %d and %d", carried, len(n.In), len(b.Params), len(b.Results), carried+2, carried+1,
				carried+1)
		}
	case DictConstruct:
		if len(n.In)%2 != 0 {
			return v.fail(n, "has a key without a value")
		}
	case CallMethod:
		if len(n.In) == 0 || n.Attr == "" {
			return v.fail(n, "has no object or no name of a method")
		}
		if len(n.Out) > 1 {
			return v.fail(n, "has %d results, want 1", len(n.Out))
		}
	case CallFunction, Within, Fork, Closure:
		if n.Op == Within && n.Around == nil {
			return v.fail(n, "has no mode to run in")
		}
		if n.Func == nil {
			if n.Op == CallFunction && len(n.In) > 0 {
				return nil
			}
			return v.fail(n, "has no function")
		}
		if n.Op != Closure && len(n.In) != len(n.Func.Body.Params) {
			return v.fail(n, "%s takes %d arguments, got %d", n.Func.Name, len(n.Func.Body.Params), len(n.In))
		}
		if n.Op != Fork && n.Op != Closure && len(n.Out) > len(n.Func.Body.Results) {
			return v.fail(n, "has %d results, but %s has %d", len(n.Out), n.Func.Name, len(n.Func.Body.Results))
		}
	case CreateObject:
		if n.Class == nil {
			return v.fail(n, "has no class")
		}
	case TupleIndex:
		if t := n.In[0].Type; t.Kind == TupleType && (n.Index < 0 || n.Index >= len(t.Elems)) {
			return v.fail(n, "takes field %d of a tuple of %d", n.Index, len(t.Elems))
		}
	case GetAttr, SetAttr:
		if c := n.In[0].Type.Class; c != nil && n.In[0].Type.Kind == ClassType && n.Attr != BySlot &&
			c.AttrIndex(n.Attr) < 0 {
			return v.fail(n, "%s has no attribute %s", c.Name, n.Attr)
		}
	}
	return nil
}

// Error is a mistake in a program or while it runs. Err is the cause: a *tensor.Error, a *RaisedError, or the error of
// a context.
type Error struct {
	Func string // the function's name
	Node *Node  // nil when no node is to blame
	Err  error
}

// Error names the function, the node and the place in the source.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Err.Error())
	if e.Func != "" {
		b.WriteString("; in " + e.Func)
	}
	if e.Node != nil {
		b.WriteString(", node " + e.Node.Op)
		if e.Node.Attr != "" {
			b.WriteString("[" + e.Node.Attr + "]")
		}
		if p := e.Node.Pos.String(); p != "" {
			b.WriteString(" at " + p)
		}
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// RaisedError is an exception that a program raises.
type RaisedError struct {
	Class string // "builtins.ValueError"
	Text  string
}

// Error is the exception as Python prints it.
func (e *RaisedError) Error() string {
	if e.Class == "" {
		return e.Text
	}
	return e.Class + ": " + e.Text
}
