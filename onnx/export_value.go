package onnx

import (
	"fmt"
	"slices"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxform"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

// exporter writes a program by running it with stand-ins for tensors.
//
// Values flow as in a run: numbers, lists, dictionaries and objects are those of package graph, and helpers compute
// with them. A tensor, and a number that is known only when the file runs, is a *sym. Each sym is computed twice on the
// meta device, in two worlds in which the sizes that may differ have different values: a size that comes out equal is
// a constant of the file, another one is computed by it.
type exporter struct {
	p   *program
	opt ExportOptions

	scale    func(n, k int) int
	dims     map[string][2]int
	dimNames map[[2]int]string
	fresh    int

	root, block *xblock
	used        map[string]int // names, with the number of the last one of the kind
	inits       map[string]*onnxpb.Tensor
	order       []string          // of the initializers
	small       map[string]string // names of small constants by dtype, shape and elements
	functions   []*onnxpb.Function
	fnByBytes   map[string]*onnxpb.Function
	domains     map[string]bool
	ports       []exportPort
	between     map[string]*sym // values that nodes compute, by name

	syms      map[*tensor.Tensor]*sym // constants and parameters
	paths     map[*graph.Object]string
	slots     map[*graph.Object]map[int]tensor.Value // attributes that the program has set
	seqs      map[*graph.List]*sym                   // lists that are sequences of the file
	scope     []string
	nodeScope map[*onnxpb.Node]string // the paths of the modules that nodes belong to
	classes   map[string]string       // of the modules, by their paths
	calls     []*graph.Function       // that are being exported

	missing  map[string][]string
	causes   []error
	warnings []string
	steps    int
}

// xblock is a graph of the file that is being filled.
type xblock struct {
	parent *xblock
	nodes  []*onnxpb.Node
	undo   map[*sym]sym // what tensors from outside were before nodes of this block changed them
	joined *xblock      // the block that the nodes went into after all
}

// home is the block that the nodes of b are in.
func (b *xblock) home() *xblock {
	for b != nil && b.joined != nil {
		b = b.joined
	}
	return b
}

// sym is a tensor of the program, or a number that is known only when the file runs.
type sym struct {
	v   *onnxform.Value
	w   [2]tensor.Value // in the two worlds; None where it is not known
	num bool            // a number: v has no dimensions

	holds *[2]tensor.Value // the number that was made a tensor

	block   *xblock // that made it, nil for what has been there from the start
	version int     // counts writes
	base    *sym    // whose memory it shows
	view    *view   // how it is made of base
	seen    int     // the version of base that it shows
}

// view is the call that shows a part of a tensor.
type view struct {
	op    *graph.Operator
	args  []tensor.Value // args[0] is base
	which int            // of the call's results
}

func newExporter(p *program, o ExportOptions, scale func(n, k int) int) *exporter {
	root := &xblock{undo: map[*sym]sym{}}
	return &exporter{p: p, opt: o, scale: scale, dims: map[string][2]int{}, dimNames: map[[2]int]string{}, fresh: 13,
		root: root, block: root, used: map[string]int{}, inits: map[string]*onnxpb.Tensor{},
		small: map[string]string{}, fnByBytes: map[string]*onnxpb.Function{}, domains: map[string]bool{},
		syms: map[*tensor.Tensor]*sym{}, paths: map[*graph.Object]string{},
		slots: map[*graph.Object]map[int]tensor.Value{}, missing: map[string][]string{},
		between: map[string]*sym{}, seqs: map[*graph.List]*sym{}, nodeScope: map[*onnxpb.Node]string{},
		classes: map[string]string{}}
}

// stop ends the export of a step.
func stop(format string, args ...any) { panic(onnxform.Failure{Err: fmt.Errorf(format, args...)}) }

// try runs f and gives its failure.
func (x *exporter) try(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case onnxform.Failure:
			err = r.Err
		case *tensor.Error:
			err = r
		default:
			panic(r)
		}
	}()
	f()
	return nil
}

// cause notes a reason why the export fails.
func (x *exporter) cause(err error) {
	for _, c := range x.causes {
		if c.Error() == err.Error() {
			return
		}
	}
	if len(x.causes) < 20 {
		x.causes = append(x.causes, err)
	}
}

func (x *exporter) Warn(text string) {
	if !slices.Contains(x.warnings, text) {
		x.warnings = append(x.warnings, text)
	}
}

// meta is a tensor without elements.
func meta(shape []int, dt tensor.DType) *tensor.Tensor {
	res, err := tensor.CallOp("aten::empty.memory_format", tensor.IntsValue(shape), tensor.DTypeValue(dt),
		tensor.Value{},
		tensor.DeviceValue(tensor.Device{Type: tensor.MetaDevice}), tensor.Value{}, tensor.Value{})
	if err != nil {
		panic(err)
	}
	return res[0].T
}

// facts fills in what the worlds tell about a value.
func (x *exporter) facts(s *sym) {
	a, b := s.w[0], s.w[1]
	if a.K != tensor.KTensor || b.K != tensor.KTensor || a.T == nil || b.T == nil {
		return
	}
	s.v.DType = a.T.DType()
	if len(a.T.Shape()) != len(b.T.Shape()) {
		s.v.Known, s.v.Shape = false, nil
		return
	}
	s.v.Known, s.v.Shape = true, slices.Clone(a.T.Shape())
	for i, n := range b.T.Shape() {
		if n != s.v.Shape[i] {
			s.v.Shape[i] = -1
		}
	}
}

// imagine gives worlds to a value of which only v is known. Sizes that are not known get values of their own.
func (x *exporter) imagine(s *sym) {
	if !s.v.Known || s.v.DType == 0 || s.v.Seq {
		return
	}
	shapes := [2][]int{slices.Clone(s.v.Shape), slices.Clone(s.v.Shape)}
	for d, n := range s.v.Shape {
		if n < 0 {
			p := x.freshDim()
			shapes[0][d], shapes[1][d] = p[0], p[1]
		}
	}
	for i := range s.w {
		s.w[i] = tensor.TensorValue(meta(shapes[i], s.v.DType))
	}
}

// freshDim is a pair that stands for a size which nothing is known about.
func (x *exporter) freshDim() [2]int {
	x.fresh += 2
	return [2]int{x.fresh, x.fresh + 1}
}

// constSym is the sym of a tensor whose elements are known. One tensor has one sym, whatever way it is reached.
func (x *exporter) constSym(t *tensor.Tensor) *sym {
	if s := x.syms[t]; s != nil {
		return s
	}
	_, param := x.p.state[t]
	s := &sym{v: &onnxform.Value{DType: t.DType(), Shape: t.Shape(), Known: true, Const: t, Param: param}}
	m := tensor.TensorValue(meta(t.Shape(), t.DType()))
	s.w = [2]tensor.Value{m, m}
	x.syms[t] = s
	return s
}

// lift is the sym of a tensor or a number.
func (x *exporter) lift(v tensor.Value) *sym {
	if s, ok := v.X.(*sym); ok {
		return s
	}
	switch v.K {
	case tensor.KTensor:
		if v.T != nil {
			return x.constSym(v.T)
		}
	case tensor.KInt, tensor.KFloat, tensor.KBool:
		s := x.constSym(v.Num().Tensor())
		return &sym{v: s.v, w: [2]tensor.Value{v, v}, num: true}
	}
	stop("a value of type %s cannot stand in an ONNX graph", graph.TypeOf(v))
	return nil
}

// hasSym reports a value that is not known as a whole while the file is written.
func hasSym(v tensor.Value) bool {
	switch l := v.X.(type) {
	case *sym:
		return true
	case *graph.List:
		return slices.ContainsFunc(l.Items, hasSym)
	case *graph.Tuple:
		return slices.ContainsFunc(l.Items, hasSym)
	case *graph.Dict:
		found := false
		l.Each(func(_, e tensor.Value) { found = found || hasSym(e) })
		return found
	}
	return false
}

// inWorld is a value as it is in one of the worlds; ok is false where a part of it is not known.
func (x *exporter) inWorld(v tensor.Value, i int) (w tensor.Value, ok bool) {
	switch l := v.X.(type) {
	case *sym:
		return l.w[i], l.w[i].K != tensor.KNone
	case *graph.List:
		items := make([]tensor.Value, len(l.Items))
		for k, e := range l.Items {
			if items[k], ok = x.inWorld(e, i); !ok {
				return w, false
			}
		}
		return graph.NewList(l.Elem, items...), true
	case *graph.Tuple:
		items := make([]tensor.Value, len(l.Items))
		for k, e := range l.Items {
			if items[k], ok = x.inWorld(e, i); !ok {
				return w, false
			}
		}
		return graph.Box(&graph.Tuple{Type: l.Type, Items: items}), true
	case tensor.Device:
		return tensor.DeviceValue(tensor.Device{Type: tensor.MetaDevice}), true
	}
	if v.K == tensor.KTensor && v.T != nil {
		return x.constSym(v.T).w[i], true
	}
	return v, true
}

// unique is a name that nothing in the file has yet.
func (x *exporter) unique(name string) string {
	for base, k := name, x.used[name]; ; {
		if x.used[name] == 0 {
			x.used[name] = 1
			return name
		}
		k++
		name = fmt.Sprintf("%s_%d", base, k-1)
		x.used[base] = k
	}
}
