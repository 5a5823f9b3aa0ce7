package trace

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/tensor"
)

// Sizes are Go's ints, which leave no trace. What depends on a size is found by recording the program with other sizes:
// the recordings must be the same nodes, and a number in them that differs is an expression of sizes, which is looked
// for among sizes of inputs and of earlier results, their multiples, products and quotients, and must agree with all
// recordings.

// size is a size of the inputs that may differ.
type size struct {
	name string
	n    int // of the example
	at   []axis
}

// axis is a dimension of an input.
type axis struct{ leaf, dim int }

// dynamic are the sizes that the options name.
func (s *session) dynamic() []size {
	byName := map[string]*size{}
	var names, inputs []string
	for in := range s.opts.Dynamic {
		inputs = append(inputs, in)
	}
	sort.Strings(inputs)
	for _, in := range inputs {
		leaf := s.leaf(in)
		x := s.target.leaves[leaf]
		for d, name := range s.opts.Dynamic[in] {
			if d < -x.Dim() || d >= x.Dim() {
				tensor.Fail(tensor.ErrValue, "Trace: Dynamic names dimension %d of input %q, which has %d", d, in,
					x.Dim())
			}
			if d < 0 {
				d += x.Dim()
			}
			if name == "" {
				name = fmt.Sprintf("%s_dim_%d", in, d)
			}
			z := byName[name]
			if z == nil {
				z = &size{name: name, n: x.Size(d)}
				byName[name] = z
				names = append(names, name)
			}
			if x.Size(d) != z.n {
				tensor.Fail(tensor.ErrValue, "Trace: size %q is %d in one input and %d in dimension %d of %q", name,
					z.n,
					x.Size(d), d, in)
			}
			if z.n < 1 {
				tensor.Fail(tensor.ErrValue, "Trace: size %q is 0 in the example", name)
			}
			z.at = append(z.at, axis{leaf, d})
		}
	}
	sort.Strings(names)
	var out []size
	for _, n := range names {
		out = append(out, *byName[n])
	}
	return out
}

// batch are the leading sizes of all inputs, as one size; nil where they differ.
func (s *session) batch(base *take) []size {
	z := size{name: "batch"}
	for leaf, x := range base.in {
		if x.Dim() == 0 || len(z.at) > 0 && x.Size(0) != z.n || x.Size(0) < 1 {
			return nil
		}
		z.n = x.Size(0)
		z.at = append(z.at, axis{leaf, 0})
	}
	return []size{z}
}

// probe finds the sizes that the program takes others of: one more, and one that is so much larger that the step of a
// convolution or pool does not hide it.
func (s *session) probe(base *take) []size {
	var out []size
	works := func(z size) bool {
		return attempt(func() {
			s.record(s.resized([]size{z}, []int{z.n + 1}), true)
			s.record(s.resized([]size{z}, []int{2*z.n + 3}), true)
		}) == nil
	}
	failed := map[int][]axis{}
	var order []int
	for leaf, x := range base.in {
		for d, n := range x.Shape() {
			if n < 1 {
				continue
			}
			z := size{dimName(len(out)), n, []axis{{leaf, d}}}
			if works(z) {
				out = append(out, z)
				continue
			}
			if failed[n] == nil {
				order = append(order, n)
			}
			failed[n] = append(failed[n], axis{leaf, d})
		}
	}
	for _, n := range order { // sizes that must stay equal
		if at := failed[n]; len(at) > 1 {
			if z := (size{dimName(len(out)), n, at}); works(z) {
				out = append(out, z)
			}
		}
	}
	return out
}

// attempt is tensor.Try for a program that was not made for what it gets: any panic is an error.
func attempt(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			if e, ok := r.(error); ok {
				err = e
			} else {
				err = fmt.Errorf("%v", r)
			}
		}
	}()
	f()
	return nil
}

// resized are the inputs with other sizes. Elements are repeated, so that they stay what the program expects: indices
// stay in range.
func (s *session) resized(sizes []size, to []int) []*tensor.Tensor {
	leaves := slices.Clone(s.target.leaves)
	tensor.NoGrad(func() {
		for i, z := range sizes {
			idx := make([]int64, to[i])
			for k := range idx {
				idx[k] = int64(k % z.n)
			}
			for _, at := range z.at {
				x := leaves[at.leaf]
				y := x.Detach().IndexSelect(at.dim, tensor.FromSlice(idx, len(idx)))
				if x.RequiresGrad() {
					y.SetRequiresGrad(true)
				}
				leaves[at.leaf] = y
			}
		}
	})
	return leaves
}

// others are the sizes of the further recordings: small steps first, for networks that take no other size multiples of
// the example's. The steps of several sizes differ, so that their sums and products do.
var others = []func(i, n, round int) int{
	func(i, n, round int) int { return n + []int{1 + 2*i, 4 + 5*i + i*i}[round] },
	func(i, n, round int) int { return n * (2 + round) },
}

// generalize records the program with other sizes and makes expressions of the numbers that depend on them.
func (s *session) generalize(base *take, sizes []size) {
	takes := []*take{base}
	values := make([][]int, 3) // of the sizes in each recording
	for _, z := range sizes {
		values[0] = append(values[0], z.n)
	}
	var first error
	for _, step := range others {
		takes = takes[:1]
		err := attempt(func() {
			for round := range 2 {
				to := make([]int, len(sizes))
				for i, z := range sizes {
					to[i] = step(i, z.n, round)
				}
				values[round+1] = to
				takes = append(takes, s.record(s.resized(sizes, to), true))
			}
		})
		if err == nil {
			break
		}
		if first == nil {
			first = err
		}
	}
	if len(takes) < 3 {
		tensor.Fail(tensor.ErrValue, "Trace: the program does not take other sizes %s: %s", sizeNames(sizes), first)
	}
	bodies := at(takes, func(k *take) *graph.Block { return k.fn.Body })
	m := newMerger(bodies, sizes, values)
	m.leaves = base.fn.Body.Params
	if s.p.Self != nil {
		m.leaves = m.leaves[1:]
	}
	m.block(bodies)
}

func sizeNames(sizes []size) string {
	var l []string
	for _, z := range sizes {
		l = append(l, z.name)
	}
	return strings.Join(l, ", ")
}

// merger walks the recordings side by side.
type merger struct {
	sizes    []size
	values   [][]int
	base     []map[*graph.Value]*graph.Value // from values of a recording to those of the first one
	shapes   map[*graph.Value][][]int        // of tensors whose sizes differ: by dimension, then by recording
	leaves   []*graph.Value
	order    []*graph.Value                // of shapes, as they were defined
	replaced map[*graph.Value]*graph.Value // constants that expressions take the place of
	ints     map[*graph.Value][]int        // numbers of the program that differ, in intOrder
	outer    bool                          // values that are not known come from outside the blocks

	intOrder []*graph.Value
}

func newMerger(blocks []*graph.Block, sizes []size, values [][]int) *merger {
	m := &merger{sizes: sizes, values: values, base: make([]map[*graph.Value]*graph.Value, len(blocks)),
		ints: map[*graph.Value][]int{}, replaced: map[*graph.Value]*graph.Value{}}
	for i := range blocks {
		m.base[i] = map[*graph.Value]*graph.Value{}
	}
	return m
}

// same reports that value w of recording k is v in the first one.
func (m *merger) same(k int, w, v *graph.Value) bool {
	if b, ok := m.base[k][w]; ok || !m.outer {
		return b == v
	}
	return w == v
}

func (m *merger) fail(n *graph.Node, format string, args ...any) {
	var pos graph.Pos
	where := ""
	if n != nil {
		pos = n.Pos
		where = n.Op
		if n.Scope != nil && n.Scope.Path != "" {
			where += " in " + n.Scope.String()
		}
		where += ": "
	}
	fail(pos, "%s%s", where, fmt.Sprintf(format, args...))
}

// pair says that values of the recordings are the same one, and compares what is known of them.
func (m *merger) pair(vs []*graph.Value) {
	v := vs[0]
	for i, w := range vs {
		m.base[i][w] = v
	}
	if v.Info == nil {
		return
	}
	dims := make([][]int, len(v.Info.Shape))
	varies := false
	for _, w := range vs {
		if w.Info == nil || len(w.Info.Shape) != len(dims) {
			m.fail(v.Node, "the number of dimensions of a result depends on %s", sizeNames(m.sizes))
		}
		for d, n := range w.Info.Shape {
			dims[d] = append(dims[d], n)
			varies = varies || n != v.Info.Shape[d]
		}
	}
	if !varies {
		return
	}
	if m.shapes == nil {
		m.shapes = map[*graph.Value][][]int{}
	}
	m.shapes[v] = dims
	m.order = append(m.order, v)
	for _, counts := range dims {
		v.Info.Dims = append(v.Info.Dims, m.dim(counts))
	}
}

// dim names a size by those of the inputs.
func (m *merger) dim(counts []int) graph.Dim {
	if constant(counts) {
		return graph.Dim{Size: counts[0]}
	}
	for i, z := range m.sizes {
		s := m.column(i)
		if a, b, ok := linear(s, counts); ok && a > 0 {
			switch name := z.name; {
			case a == 1 && b == 0:
				return graph.Dim{Name: name}
			default:
				if a != 1 {
					name = fmt.Sprintf("%d*%s", a, name)
				}
				if b > 0 {
					name += fmt.Sprintf(" + %d", b)
				} else if b < 0 {
					name += fmt.Sprintf(" - %d", -b)
				}
				return graph.Dim{Name: name}
			}
		}
	}
	for i := range m.sizes {
		for j := i; j < len(m.sizes); j++ {
			prod := product(m.column(i), m.column(j))
			if a, b, ok := linear(prod, counts); ok && a > 0 && b == 0 {
				name := m.sizes[i].name + "*" + m.sizes[j].name
				if a != 1 {
					name = fmt.Sprintf("%d*%s", a, name)
				}
				return graph.Dim{Name: name}
			}
		}
	}
	return graph.Dim{Size: -1}
}

// column are the values of a size in the recordings.
func (m *merger) column(i int) []int {
	out := make([]int, len(m.values))
	for k := range out {
		out[k] = m.values[k][i]
	}
	return out
}

func constant(l []int) bool {
	return !slices.ContainsFunc(l, func(n int) bool { return n != l[0] })
}

// linear finds a and b with y = a*x + b.
func linear(x, y []int) (a, b int, ok bool) {
	if x[1] == x[0] || (y[1]-y[0])%(x[1]-x[0]) != 0 {
		return 0, 0, false
	}
	a = (y[1] - y[0]) / (x[1] - x[0])
	b = y[0] - a*x[0]
	for i := range x {
		if a*x[i]+b != y[i] {
			return 0, 0, false
		}
	}
	return a, b, a != 0
}

func product(x, y []int) []int {
	out := make([]int, len(x))
	for i := range x {
		out[i] = x[i] * y[i]
	}
	return out
}

// block merges blocks of the recordings into the first.
func (m *merger) block(bs []*graph.Block) {
	b := bs[0]
	for i := range b.Params {
		m.pair(at(bs, func(b *graph.Block) *graph.Value { return b.Params[i] }))
	}
	for i, n := range b.Nodes {
		for _, c := range bs[1:] {
			if i >= len(c.Nodes) {
				m.differs(n, nil)
			}
			if o := c.Nodes[i]; o.Op != n.Op || len(o.In) != len(n.In) || len(o.Out) != len(n.Out) ||
				len(o.Blocks) != len(n.Blocks) || o.Attr != n.Attr && n.Op != graph.Constant {
				m.differs(n, o)
			}
		}
	}
	for _, c := range bs[1:] {
		if len(c.Nodes) > len(b.Nodes) {
			m.differs(nil, c.Nodes[len(b.Nodes)])
		}
	}
	nodes := b.Nodes
	b.Nodes = make([]*graph.Node, 0, len(nodes))
	for i := range nodes {
		ns := at(bs, func(c *graph.Block) *graph.Node {
			if c == b {
				return nodes[i]
			}
			return c.Nodes[i]
		})
		m.node(b, ns)
	}
	for i := range b.Results {
		for k, c := range bs {
			if !m.same(k, c.Results[i], b.Results[i]) {
				m.fail(nil, "which value is returned depends on %s", sizeNames(m.sizes))
			}
		}
		if w := m.replaced[b.Results[i]]; w != nil {
			b.Results[i] = w
		}
	}
}

func at[T, U any](l []T, f func(T) U) []U {
	out := make([]U, len(l))
	for i, x := range l {
		out[i] = f(x)
	}
	return out
}

// differs is the error about recordings with other nodes.
func (m *merger) differs(n, o *graph.Node) {
	if n == nil || n.Op == graph.Constant && o != nil && o.Op != graph.Constant {
		n = o
	}
	m.fail(n, "which operators are called depends on %s: Go code loops over a size, or decides by it, which a "+
		"recording "+
		"cannot follow (jit.For and jit.If can)", sizeNames(m.sizes))
}

// node merges a node and appends it, behind the nodes that its numbers need.
func (m *merger) node(b *graph.Block, ns []*graph.Node) {
	n := ns[0]
	if n.Op == graph.Constant {
		m.constant(b, ns)
		m.pair(at(ns, func(n *graph.Node) *graph.Value { return n.Out[0] }))
		return
	}
	for i := range n.In {
		for k, o := range ns {
			if !m.same(k, o.In[i], n.In[i]) {
				m.fail(n, "which value is argument %d depends on %s", i, sizeNames(m.sizes))
			}
		}
	}
	for i, v := range n.In {
		if w := m.replaced[v]; w != nil {
			n.In[i] = w
		}
	}
	b.Nodes = append(b.Nodes, n)
	for i := range n.Blocks {
		m.block(at(ns, func(n *graph.Node) *graph.Block { return n.Blocks[i] }))
	}
	for i := range n.Out {
		m.pair(at(ns, func(n *graph.Node) *graph.Value { return n.Out[i] }))
	}
}

// constant merges a constant.
func (m *merger) constant(b *graph.Block, ns []*graph.Node) {
	n := ns[0]
	vs := at(ns, func(n *graph.Node) tensor.Value { return n.Const })
	if !slices.ContainsFunc(vs, func(v tensor.Value) bool { return !sameConst(v, vs[0]) }) {
		b.Nodes = append(b.Nodes, n)
		return
	}
	switch v := vs[0]; {
	case v.K == tensor.KInt && !slices.ContainsFunc(vs, func(v tensor.Value) bool { return v.K != tensor.KInt }):
		counts := at(vs, func(v tensor.Value) int { return int(v.N) })
		m.replaced[n.Out[0]] = m.expression(b, n, counts)
		return
	case isIntList(v):
		lists := at(vs, func(v tensor.Value) []tensor.Value {
			l, _ := graph.ItemsOf(v)
			return l
		})
		if slices.ContainsFunc(lists, func(l []tensor.Value) bool { return len(l) != len(lists[0]) }) {
			break
		}
		var items []*graph.Value
		for i := range lists[0] {
			counts := at(lists, func(l []tensor.Value) int { return int(l[i].N) })
			if constant(counts) {
				items = append(items, m.add(b, n, &graph.Node{Op: graph.Constant, Const: tensor.IntValue(counts[0])}))
			} else {
				items = append(items, m.expression(b, n, counts))
			}
		}
		list := b.List(graph.Int, items...)
		list.Node.Scope, list.Node.Pos = n.Scope, n.Pos
		m.replaced[n.Out[0]] = list
		return
	case v.K == tensor.KTensor:
		m.fail(n, "the elements of a tensor that Go code makes depend on %s: make it by operators (torch.Arange, "+
			"torch.Full)", sizeNames(m.sizes))
	}
	m.fail(n, "an argument (%s in the example) depends on %s in a way that is not known", vs[0], sizeNames(m.sizes))
}

func isIntList(v tensor.Value) bool {
	items, ok := graph.ItemsOf(v)
	return ok && !slices.ContainsFunc(items, func(e tensor.Value) bool { return e.K != tensor.KInt })
}

func sameConst(a, b tensor.Value) bool {
	if a.K != b.K || a.N != b.N {
		return false
	}
	if a.K == tensor.KTensor {
		if a.T == b.T {
			return true
		}
		if a.T.DType() != b.T.DType() || !tensor.SameShape(a.T.Shape(), b.T.Shape()) {
			return false
		}
		eq := false
		tensor.NoGrad(func() {
			res, err := tensor.CallOp("aten::equal", a, b)
			eq = err == nil && res[0].N != 0
		})
		return eq
	}
	x, ok := graph.ItemsOf(a)
	y, ok2 := graph.ItemsOf(b)
	if ok || ok2 {
		return ok == ok2 && slices.EqualFunc(x, y, sameConst)
	}
	return fmt.Sprint(a.X) == fmt.Sprint(b.X)
}

func (m *merger) add(b *graph.Block, like, n *graph.Node) *graph.Value {
	n.Scope, n.Pos = like.Scope, like.Pos
	return b.Add(n, graph.Int).Out[0]
}

func (m *merger) call(b *graph.Block, like *graph.Node, op string, args ...any) *graph.Value {
	before := len(b.Nodes)
	v := b.Call1(op, args...)
	for _, n := range b.Nodes[before:] {
		n.Scope, n.Pos = like.Scope, like.Pos
	}
	return v
}

// expression appends the nodes of a number that was counts in the recordings.
func (m *merger) expression(b *graph.Block, like *graph.Node, counts []int) *graph.Value {
	type source struct {
		v *graph.Value
		d int // dimension of a tensor; -1: the value is the number
		s []int
	}
	var sources []source
	for _, v := range m.intOrder {
		if visible(v, b) {
			sources = append(sources, source{v, -1, m.ints[v]})
		}
	}
	seen := map[string]bool{}
	add := func(v *graph.Value) {
		for d, s := range m.shapes[v] {
			if key := fmt.Sprint(s); !constant(s) && !seen[key] {
				seen[key] = true
				sources = append(sources, source{v, d, s})
			}
		}
	}
	for _, v := range m.leaves {
		add(v)
	}
	for i := len(m.order) - 1; i >= 0; i-- {
		if v := m.order[i]; visible(v, b) {
			add(v)
		}
	}
	read := func(s source) *graph.Value {
		if s.d < 0 {
			return s.v
		}
		return m.call(b, like, "aten::size.int", s.v, s.d)
	}
	scaled := func(v *graph.Value, a, c int) *graph.Value {
		if a != 1 {
			v = m.call(b, like, "aten::mul.int", v, a)
		}
		if c != 0 {
			v = m.call(b, like, "aten::add.int", v, c)
		}
		return v
	}
	for _, exact := range []bool{true, false} { // a multiple rather than one with a rest
		for _, s := range sources {
			if a, c, ok := linear(s.s, counts); ok && (c == 0) == exact {
				return scaled(read(s), a, c)
			}
		}
	}
	for i, s := range sources {
		for _, t := range sources[i:] {
			if a, c, ok := linear(product(s.s, t.s), counts); ok && c == 0 {
				return scaled(m.call(b, like, "aten::mul.int", read(s), read(t)), a, 0)
			}
		}
	}
	for _, s := range sources {
		for k := 2; k <= maxDivisor; k++ {
			for c := -k; c < k; c++ {
				if !slices.ContainsFunc(indices(counts),
					func(i int) bool { return floorDiv(s.s[i], k)+c != counts[i] }) {
					return scaled(m.call(b, like, "aten::floordiv.int", read(s), k), 1, c)
				}
				if !slices.ContainsFunc(indices(counts),
					func(i int) bool { return floorDiv(s.s[i]+c, k) != counts[i] }) {
					return m.call(b, like, "aten::floordiv.int", scaled(read(s), 1, c), k)
				}
			}
		}
	}
	m.fail(like, "an argument (%d in the example) depends on %s in a way that is not known", counts[0],
		sizeNames(m.sizes))
	return nil
}

// maxDivisor bounds the divisors that are tried.
const maxDivisor = 64

func indices(l []int) []int {
	out := make([]int, len(l))
	for i := range out {
		out[i] = i
	}
	return out
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// visible reports that a value is defined where a block reads it.
func visible(v *graph.Value, b *graph.Block) bool {
	home := v.Block
	if v.Node != nil {
		home = v.Node.Block
	}
	for b != nil {
		if b == home {
			return true
		}
		if b.Owner == nil {
			return false
		}
		b = b.Owner.Block
	}
	return false
}
