package autograd

import (
	"fmt"

	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// NaN says where the first number that is not finite was made.
type NaN struct {
	Path     string // of the module, as NamedModules gives it; "" for the network itself, and outside of it
	Class    string // of the module, "" outside of the network
	Backward bool   // in the backward pass, otherwise forward
	Op       string // the operator, "aten::log", or the gradient rule, "LogBackward0"
	Infinity bool   // an infinity, otherwise NaN
	// Given says that no operator made it: one of the tensors that the network was given, an input or a parameter, was
	// not finite before.
	Given bool
}

// String is a sentence for a person.
func (n *NaN) String() string {
	if n == nil {
		return "all numbers are finite"
	}
	what, pass, who := "NaN", "forward", "outside of the network"
	if n.Infinity {
		what = "an infinity"
	}
	if n.Backward {
		pass = "backward"
	}
	switch {
	case n.Class != "" && n.Path != "":
		who = fmt.Sprintf("module %s (%s)", n.Path, n.Class)
	case n.Class != "":
		who = "the network itself (" + n.Class + ")"
	}
	if n.Given {
		return fmt.Sprintf("%s was given to %s in %s, %s pass", what, n.Op, who, pass)
	}
	return fmt.Sprintf("%s was made by %s in %s, %s pass", what, n.Op, who, pass)
}

// DetectNaN runs f, which trains or runs the network m on the calling goroutine, and tells which module has made the
// first NaN or infinity, in the forward or the backward pass; nil when all numbers were finite. An operator has made
// one when its results hold one and its arguments do not: log(0) makes an infinity, but masked_fill with -inf does not.
// Every result of every operator is looked at, so it is slow, and meant for debugging.
func DetectNaN(m nn.Module, f func()) *NaN {
	d := &nanDetector{paths: map[nn.Module]place{}, makers: map[uint64]place{}}
	for path, c := range nn.NamedModules(m) {
		_, class := nn.PathOf(c)
		d.paths[c] = place{path, class}
	}
	tensor.WithLayer(d, f)
	if d.made != nil {
		return d.made
	}
	return d.given
}

// place is a module of the network.
type place struct{ path, class string }

// nanDetector looks at the results of operators and gradient rules.
type nanDetector struct {
	paths  map[nn.Module]place
	stack  []place          // modules of the network that run
	makers map[uint64]place // where the nodes of the tape were made
	made   *NaN
	given  *NaN
	rule   *tensor.Node // the gradient rule that runs
}

// Rank is that of a watcher.
func (d *nanDetector) Rank() tensor.Rank { return tensor.RankWatch }

// Enter notes the module that runs.
func (d *nanDetector) Enter(r tensor.Region) {
	if r.Kind != tensor.RegionModule {
		return
	}
	p := d.here()
	if m, ok := r.Of.(nn.Module); ok {
		if q, ok := d.paths[m]; ok {
			p = q
		}
	}
	d.stack = append(d.stack, p)
}

// Leave forgets it.
func (d *nanDetector) Leave(r tensor.Region) {
	if n := len(d.stack); r.Kind == tensor.RegionModule && n > 0 {
		d.stack = d.stack[:n-1]
	}
}

func (d *nanDetector) here() place {
	if n := len(d.stack); n > 0 {
		return d.stack[n-1]
	}
	return place{}
}

// Call looks at an operator.
func (d *nanDetector) Call(c *tensor.Ctx, next func()) {
	if d.made != nil {
		next()
		return
	}
	var in flaws // before the call, which may write to its arguments
	for i := range c.NumArgs() {
		in.add(c.Value(i))
	}
	next()
	if d.made != nil { // inside
		return
	}
	var out flaws
	for i := range c.NumOut() {
		if t := c.Out(i); t != nil {
			out.addTensor(t)
			if n := t.GradFn(); n != nil {
				if _, ok := d.makers[n.Seq()]; !ok {
					d.makers[n.Seq()] = d.here()
				}
			}
		}
	}
	if n := d.rule; n != nil {
		d.compare(in, out, NaN{Op: n.Name(), Backward: true}, d.makers[n.Seq()])
		return
	}
	d.compare(in, out, NaN{Op: c.Op().FullName()}, d.here())
}

// compare notes what results have and arguments have not.
func (d *nanDetector) compare(in, out flaws, n NaN, p place) {
	n.Path, n.Class = p.path, p.class
	n.Infinity = !out.nan
	switch {
	case !out.nan && !out.inf:
	case out.nan && !in.nan && !in.inf || out.inf && !in.inf && !in.nan:
		d.made = &n
	case out.nan && !in.nan: // of infinities that were there before
		d.made = &n
	case d.given == nil && in.tensor:
		n.Given, n.Infinity = true, !in.nan
		d.given = &n
	}
}

// RuleBegins notes the gradient rule that runs.
func (d *nanDetector) RuleBegins(n *tensor.Node) { d.rule = n }

// RuleFailed forgets it: the panic tells.
func (d *nanDetector) RuleFailed(*tensor.Node) { d.rule = nil }

// Allocated is no matter.
func (d *nanDetector) Allocated(int) {}

// Rule looks at a gradient rule.
func (d *nanDetector) Rule(n *tensor.Node, out, in []*Tensor) {
	d.rule = nil
	if d.made != nil {
		return
	}
	var before, after flaws
	for _, t := range out {
		before.addTensor(t)
	}
	for _, t := range in {
		after.addTensor(t)
	}
	d.compare(before, after, NaN{Op: n.Name(), Backward: true}, d.makers[n.Seq()])
}

// flaws says what is not finite among some values.
type flaws struct {
	nan, inf bool
	tensor   bool // one of them is a tensor that holds it
}

func (f *flaws) add(v tensor.Value) {
	switch v.K {
	case tensor.KTensor:
		f.addTensor(v.T)
	case tensor.KTensors:
		l, _ := v.X.([]*Tensor)
		for _, t := range l {
			f.addTensor(t)
		}
	case tensor.KFloat, tensor.KScalar:
		x := v.Num().F
		f.nan = f.nan || x != x
		f.inf = f.inf || x-x != 0 && x == x
	}
}

func (f *flaws) addTensor(t *Tensor) {
	if t == nil || !(t.DType().IsFloat() || t.IsComplex()) || t.Numel() == 0 || t.Device().Type == tensor.MetaDevice {
		return
	}
	if t.IsSparse() {
		_, t, _ = tensor.SparseParts(t)
	}
	tensor.NoGrad(func() {
		t = t.Detach()
		if t.IsFinite().All().Item() != 0 {
			return
		}
		f.tensor = true
		f.nan = f.nan || t.IsNaN().Any().Item() != 0
		f.inf = f.inf || t.IsInf().Any().Item() != 0
	})
}
