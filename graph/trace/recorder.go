package trace

import (
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// recorder is the layer that records. It takes composed operators whole, as PyTorch's tracer does.
type recorder struct {
	fn      *graph.Function
	block   *graph.Block
	self    *graph.Value                      // nil for a function without attributes
	attrs   map[*tensor.Tensor]string         // paths of the module's tensors
	loaded  []map[*tensor.Tensor]*graph.Value // attributes and constants by block, the innermost last
	values  map[*tensor.Tensor]*graph.Value
	keep    []*tensor.Tensor // so that no address is used twice
	traced  map[*tensor.Storage]bool
	paths   map[nn.Module]string
	scope   *graph.Scope
	mark    uint64
	strict  bool // what Go code does with elements is an error
	quiet   bool // no warnings: another recording has given them
	consts  int
	calls   []call
	objects map[*graph.Object]string // paths of modules whose calls are kept, nil without
	restore func() func()            // of the session

	containers bool         // lists and dictionaries are values of the program
	held       []*Container // that the recording has made

	undo      *[]written // while a trial runs
	trialMark uint64

	captured *Captured               // of Capture, nil otherwise
	own      map[*tensor.Tensor]bool // tensors that no operator makes
	depends  bool                    // the operator that runs depends on arguments of the recording
}

// Rank is that of a tracer.
func (r *recorder) Rank() tensor.Rank { return tensor.RankTrace }

// KeepsNoMemory says that what was recorded may be freed: only its shape is asked for.
func (r *recorder) KeepsNoMemory() {}

// SeesPrivate says that operators of our own without a body must not be missed.
func (r *recorder) SeesPrivate() {}

// Traces makes tensor.IsTracing true.
func (r *recorder) Traces() {}

// Enter opens the scope of a module.
func (r *recorder) Enter(g tensor.Region) {
	if g.Kind != tensor.RegionModule {
		return
	}
	m := g.Of.(nn.Module)
	p, ok := r.paths[m]
	if !ok || p == "" && r.scope.Parent == nil { // made by Forward itself, or the module that is recorded
		r.scope = &graph.Scope{Path: r.scope.Path, Class: r.scope.Class, Parent: r.scope}
		return
	}
	r.scope = &graph.Scope{Path: p, Class: nn.PythonClass(m), Parent: r.scope}
}

// Leave closes it.
func (r *recorder) Leave(g tensor.Region) {
	if g.Kind != tensor.RegionModule {
		return
	}
	c := call{scope: r.scope}
	if len(g.Out) > 0 && g.Out[0] != nil {
		c.result = r.values[g.Out[0]]
	}
	if n := len(r.block.Nodes); n > 0 {
		c.after = r.block.Nodes[n-1]
	}
	r.calls = append(r.calls, c)
	r.scope = r.scope.Parent
}

// call is a call of a module that has ended.
type call struct {
	scope  *graph.Scope
	result *graph.Value // the first one, nil when it is not known
	after  *graph.Node  // the last one before the end
}

// Read is called when Go code reads elements.
func (r *recorder) Read(s *tensor.Storage) {
	if !r.traced[s] {
		return
	}
	pos := place()
	if r.strict {
		fail(pos, "Go code reads the elements of a tensor that depends on the inputs, and what it does with them "+
			"cannot be recorded: use jit.If, jit.While or jit.For")
	}
	r.warn(pos, "Reading the elements of a tensor in Go might cause the trace to be incorrect. We can't record the "+
		"data "+
		"flow of Go values, so this value will be treated as a constant in the future. This means that the trace might "+
		"not generalize to other inputs!")
}

// Depends is called when the size of a result depends on elements, which a recorded operator finds out anew.
func (r *recorder) Depends(*tensor.Op) {}

func (r *recorder) warn(pos graph.Pos, format string, args ...any) {
	if !r.quiet {
		tensor.WarnTracer(pos.String(), format, args...)
	}
}

// fail is the error about a line of the recorded program.
func fail(pos graph.Pos, format string, args ...any) {
	msg := fmt.Sprintf(format, args...)
	if s := pos.String(); s != "" {
		msg = s + ": " + msg
	}
	panic(&tensor.Error{Op: "Trace", Msg: msg, Err: tensor.ErrValue})
}

// define makes a tensor known as a value.
func (r *recorder) define(t *tensor.Tensor, v *graph.Value) {
	v.Info = &graph.Info{DType: t.DType(), Device: t.Device(), Shape: slices.Clone(t.Shape()),
		RequiresGrad: t.RequiresGrad()}
	if !t.IsSparse() {
		v.Info.Strides = slices.Clone(t.Strides())
		if !r.traced[t.Storage()] {
			r.traced[t.Storage()] = true
			tensor.Trace(t)
		}
	}
	r.values[t] = v // also when a call wrote its argument: a new value from here on
	r.keep = append(r.keep, t)
}

// value is that of a tensor which a call reads.
func (r *recorder) value(t *tensor.Tensor) *graph.Value {
	if v := r.values[t]; v != nil {
		r.depends = true
		return v
	}
	for _, m := range r.loaded {
		if v := m[t]; v != nil {
			return v
		}
	}
	if u := r.detached(t); u != nil && !r.own[t] {
		r.block.At(place())
		n := r.block.Call("aten::detach", u)
		r.added(n)
		r.define(t, n.Out[0])
		return n.Out[0]
	}
	for _, c := range r.held {
		if c.key == t {
			return r.contained(c, place())
		}
	}
	var v *graph.Value
	if p, ok := r.attrs[t]; ok {
		v = r.block.GetAttr(r.self, p)
	} else {
		if r.captured != nil {
			r.outside(t)
		} else if !t.IsSparse() && !t.IsWrappedNumber() && t.Storage().MadeSince(r.mark) {
			if r.traced[t.Storage()] {
				fail(place(), "a tensor shares memory with one that depends on the inputs, but no operator has made it")
			}
			r.warn(place(), "a tensor of Go's numbers is registered as a constant in the trace. You can safely "+
				"ignore this "+
				"warning if you use this function to create tensors out of constant variables that would be the same "+
				"every "+
				"time you call this function. In any other case, this might cause the trace to be incorrect.")
		}
		v = r.block.ConstOf(tensor.TensorValue(t), graph.Tensor)
		v.Node.Attr = fmt.Sprintf("c%d", r.consts)
		r.consts++
	}
	r.added(v.Node)
	v.Info = &graph.Info{DType: t.DType(), Device: t.Device(), Shape: slices.Clone(t.Shape()),
		RequiresGrad: t.RequiresGrad()}
	if !t.IsSparse() {
		v.Info.Strides = slices.Clone(t.Strides())
	}
	r.loaded[len(r.loaded)-1][t] = v
	r.keep = append(r.keep, t)
	return v
}

// detached is the value of the tensor that t is the same elements of, where no operator has made t: Tensor.Detach calls
// none. It is nil for other tensors.
func (r *recorder) detached(t *tensor.Tensor) *graph.Value {
	if _, ok := r.attrs[t]; ok || t.IsSparse() {
		return nil
	}
	same := func(u *tensor.Tensor) bool {
		return !u.IsSparse() && u.Storage() == t.Storage() && u.DType() == t.DType() &&
			u.StorageOffset() == t.StorageOffset() && slices.Equal(u.Shape(), t.Shape()) &&
			slices.Equal(u.Strides(), t.Strides())
	}
	if r.traced[t.Storage()] {
		for _, u := range slices.Backward(r.keep) {
			if v := r.values[u]; v != nil && same(u) {
				return v
			}
		}
	}
	for u := range r.attrs {
		if same(u) {
			return r.value(u)
		}
	}
	return nil
}

// added notes where a node was recorded.
func (r *recorder) added(n *graph.Node) { n.Scope = r.scope }

// argument turns a boxed argument into a value.
func (r *recorder) argument(v tensor.Value, t *graph.Type) *graph.Value {
	switch v.K {
	case tensor.KTensor:
		return r.value(v.T)
	case tensor.KTensors:
		l, _ := v.X.([]*tensor.Tensor)
		items := make([]*graph.Value, len(l))
		for i, x := range l {
			if x != nil {
				items[i] = r.value(x)
			} else {
				items[i] = r.constant(tensor.Value{}, graph.None)
			}
		}
		if t.Kind == graph.OptionalType {
			t = t.Elems[0]
		}
		elem := graph.Tensor
		if t.Kind == graph.ListType {
			elem = t.Elems[0]
		}
		list := r.block.List(elem, items...)
		r.added(list.Node)
		return list
	case tensor.KGenerator:
		if r.captured == nil {
			v = tensor.Value{} // the program draws from the default generator
		}
	}
	v = graph.Normal(v)
	return r.constant(v, graph.TypeOf(v))
}

func (r *recorder) constant(v tensor.Value, t *graph.Type) *graph.Value {
	c := r.block.ConstOf(v, t)
	r.added(c.Node)
	return c
}

// Call records one call.
func (r *recorder) Call(c *tensor.Ctx, next func()) {
	op := graph.Lookup(c.Op().FullName())
	n := &graph.Node{Op: c.Op().FullName(), Operator: op, Pos: place(), Scope: r.scope}
	r.keepWritten(c)
	r.block.At(n.Pos)
	r.depends = false
	for i := range c.NumArgs() {
		t := graph.Any
		if i < len(op.Params) {
			t = op.Params[i].Type
		}
		n.In = append(n.In, r.argument(c.Value(i), t))
	}
	if r.depends && c.Op().DataDependent {
		r.refuseDependent(c.Op())
	}
	next()
	results := c.Results()
	var types []*graph.Type
	for i := range results {
		if i < len(op.Results) {
			types = append(types, op.Results[i].Type)
		} else {
			types = append(types, graph.TypeOf(results[i]))
		}
	}
	r.block.Add(n, types...)
	for i, v := range results {
		r.result(n.Out[i], v, n)
	}
}

// result makes a result of a call known.
func (r *recorder) result(v *graph.Value, got tensor.Value, n *graph.Node) {
	switch got.K {
	case tensor.KTensor:
		r.define(got.T, v)
	case tensor.KTensors:
		l, _ := got.X.([]*tensor.Tensor)
		types := make([]*graph.Type, len(l))
		for i := range types {
			types[i] = graph.Tensor
		}
		parts := r.block.Unpack(v, types...)
		r.block.Nodes[len(r.block.Nodes)-1].Scope = r.scope
		for i, t := range l {
			if t != nil {
				r.define(t, parts[i])
			}
		}
	case tensor.KNone:
	default:
		if r.captured != nil {
			return
		}
		if r.strict {
			fail(n.Pos, "%s returns a number to Go, and what Go code does with it cannot be recorded", n.Op)
		}
		r.warn(n.Pos, "The result of %s is a number of Go's, which will be treated as a constant in the future. This "+
			"means that the trace might not generalize to other inputs!", n.Op)
	}
}

// libraryFrames are the packages whose frames place passes over: those between a program and the registry.
var libraryFrames = []string{"tensor", "graph/trace", "nn/functional", "internal", "ops", "jit", ""}

// place is the line of Go code that has called an operator: of the recorded program, or of a layer of package nn.
func place() graph.Pos {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if !hidden(f) {
			return graph.Pos{File: f.File, Line: f.Line}
		}
		if !more {
			return graph.Pos{}
		}
	}
}

var modulePath = func() string {
	pc, _, _, _ := runtime.Caller(0)
	name := runtime.FuncForPC(pc).Name()
	return name[:strings.Index(name, "/graph/trace")]
}()

// hidden reports a frame between a program and the registry.
func hidden(f runtime.Frame) bool {
	if strings.HasSuffix(f.File, "_test.go") {
		return false
	}
	switch pkg, _, _ := strings.Cut(path.Base(f.Function), "."); pkg {
	case "runtime", "reflect", "slices", "sync", "iter", "maps":
		if !strings.Contains(f.Function, "/") {
			return true
		}
	}
	rest, ok := strings.CutPrefix(f.Function, modulePath)
	if !ok {
		return f.File == "<autogenerated>" || f.Function == ""
	}
	if strings.HasPrefix(rest, ".") { // the root package
		return true
	}
	rest = rest[1:]
	for _, p := range libraryFrames {
		if p != "" && (strings.HasPrefix(rest, p+".") || strings.HasPrefix(rest, p+"/")) {
			return true
		}
	}
	// what every module's forward goes through
	return strings.HasPrefix(rest, "nn.(*Base).") || strings.HasPrefix(rest, "nn.run") ||
		strings.HasPrefix(rest, "nn.observed") || strings.HasPrefix(rest, "nn.chain")
}
