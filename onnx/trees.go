package onnx

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

// How a node of a tree compares a feature with its value.
const (
	branchLE = iota
	branchLT
	branchGE
	branchGT
	branchEQ
	branchNE
	branchMember
	treeLeaf
)

// treeNode is a node of a decision tree. Leaves add weights to targets.
type treeNode struct {
	mode    int
	feature int
	value   float64
	members map[float64]bool
	missing bool // NaN takes the true branch
	yes, no int
	targets []int
	weights []float64
}

// forest is an ensemble of decision trees.
type forest struct {
	nodes     []treeNode
	roots     []int
	targets   int
	aggregate string
	base      []float64
	double    bool
}

// run sums, averages, or takes the extremes of what the leaves say for each row of x.
func (f *forest) run(x *T) *T {
	if x.Dim() == 1 {
		x = x.Unsqueeze(0)
	}
	if x.Dim() != 2 {
		wrong("TreeEnsemble", "a tensor with %d dimensions", x.Dim())
	}
	in, rows, width := hostFloats(x), x.Size(0), x.Size(1)
	if rows > maxList/f.targets {
		wrong("TreeEnsemble", "%d rows of %d targets", rows, f.targets)
	}
	out := make([]float64, rows*f.targets)
	seen := make([]bool, f.targets)
	for r := range rows {
		row, sum := in[r*width:(r+1)*width], out[r*f.targets:(r+1)*f.targets]
		clear(seen)
		for _, root := range f.roots {
			leaf := f.leaf(root, row)
			for i, t := range leaf.targets {
				w := leaf.weights[i]
				switch {
				case !seen[t] || f.aggregate == "SUM" || f.aggregate == "AVERAGE":
					if seen[t] {
						sum[t] += w
					} else {
						sum[t] = w
					}
				case f.aggregate == "MIN":
					sum[t] = min(sum[t], w)
				default:
					sum[t] = max(sum[t], w)
				}
				seen[t] = true
			}
		}
		for t := range sum {
			if f.aggregate == "AVERAGE" {
				sum[t] /= float64(len(f.roots))
			}
			if t < len(f.base) {
				sum[t] += f.base[t]
			}
		}
	}
	y := tensor.FromSlice(out, rows, f.targets)
	if f.double {
		return y
	}
	return y.ToDType(tensor.Float32)
}

// leaf goes down a tree. A tree has no more levels than there are nodes.
func (f *forest) leaf(at int, row []float64) *treeNode {
	for range len(f.nodes) + 1 {
		n := &f.nodes[at]
		if n.mode == treeLeaf {
			return n
		}
		if n.feature >= len(row) {
			wrong("TreeEnsemble", "feature %d of %d", n.feature, len(row))
		}
		x := row[n.feature]
		yes := false
		switch n.mode {
		case branchLE:
			yes = x <= n.value
		case branchLT:
			yes = x < n.value
		case branchGE:
			yes = x >= n.value
		case branchGT:
			yes = x > n.value
		case branchEQ:
			yes = x == n.value
		case branchNE:
			yes = x != n.value
		case branchMember:
			yes = n.members[x]
		}
		if yes || n.missing && math.IsNaN(x) {
			at = n.yes
		} else {
			at = n.no
		}
	}
	tensor.Fail(tensor.ErrValue, "TreeEnsemble: the nodes go round in a circle")
	return nil
}

// check refuses trees whose numbers point nowhere.
func (f *forest) check() {
	if f.targets <= 0 || f.targets > 1<<24 {
		fail("%w: %d targets", onnxpb.ErrFormat, f.targets)
	}
	for i := range f.nodes {
		n := &f.nodes[i]
		if n.mode != treeLeaf && (n.feature < 0 || n.yes < 0 || n.no < 0 || n.yes >= len(f.nodes) ||
			n.no >= len(f.nodes)) {
			fail("%w: node %d of a tree points to nodes %d and %d of %d", onnxpb.ErrFormat, i, n.yes, n.no,
				len(f.nodes))
		}
		for _, t := range n.targets {
			if t < 0 || t >= f.targets {
				fail("%w: target %d of %d", onnxpb.ErrFormat, t, f.targets)
			}
		}
	}
	for _, r := range f.roots {
		if r < 0 || r >= len(f.nodes) {
			fail("%w: root %d of %d nodes", onnxpb.ErrFormat, r, len(f.nodes))
		}
	}
}

// numbers is an attribute that holds floats or a tensor of them.
func (n *node) numbers(name string) []float64 {
	if a := n.attrs[name+"_as_tensor"]; a != nil && a.T != nil {
		name += "_as_tensor"
	}
	a := n.attrs[name]
	if a == nil {
		return nil
	}
	if a.Type == onnxpb.AttrTensor {
		x, err := a.T.Decode(n.external)
		if err != nil {
			panic(failure{err})
		}
		return hostFloats(x)
	}
	return n.floats(name)
}

// treeEnsemble reads the form of version 5 of the domain.
func treeEnsemble(n *node) []*value {
	var modes []float64
	if a := n.attr("nodes_modes", onnxpb.AttrTensor); a != nil {
		x, err := a.T.Decode(n.external)
		if err != nil {
			panic(failure{err})
		}
		modes = hostFloats(x)
	}
	features, yes, no := n.ints("nodes_featureids"), n.ints("nodes_truenodeids"), n.ints("nodes_falsenodeids")
	yesLeaf, noLeaf, splits := n.ints("nodes_trueleafs"), n.ints("nodes_falseleafs"), n.numbers("nodes_splits")
	missing, members := n.ints("nodes_missing_value_tracks_true"), n.numbers("membership_values")
	weights, targets := n.numbers("leaf_weights"), n.ints("leaf_targetids")
	k := len(modes)
	if len(features) != k || len(yes) != k || len(no) != k || len(yesLeaf) != k || len(noLeaf) != k ||
		len(splits) != k ||
		missing != nil && len(missing) != k || len(weights) != len(targets) {
		fail("%w: attributes of a tree with different lengths", onnxpb.ErrFormat)
	}
	f := &forest{targets: n.int("n_targets", 0), roots: n.ints("tree_roots"), double: n.T(0).elem == onnxpb.Double,
		aggregate: [...]string{"AVERAGE", "SUM", "MIN", "MAX"}[min(max(n.int("aggregate_function", 1), 0), 3)]}
	for i := range k {
		t := treeNode{mode: int(modes[i]), feature: features[i], value: splits[i], missing: missing != nil &&
			missing[i] != 0,
			yes: yes[i], no: no[i]}
		if t.mode < 0 || t.mode > branchMember {
			fail("%w: mode %d of a node", onnxpb.ErrFormat, t.mode)
		}
		if yesLeaf[i] != 0 {
			t.yes += k
		}
		if noLeaf[i] != 0 {
			t.no += k
		}
		if t.mode == branchMember { // the members of each such node end with a NaN
			t.members = map[float64]bool{}
			for len(members) > 0 && !math.IsNaN(members[0]) {
				t.members[members[0]] = true
				members = members[1:]
			}
			members = members[min(1, len(members)):]
		}
		f.nodes = append(f.nodes, t)
	}
	for i, w := range weights {
		f.nodes = append(f.nodes, treeNode{mode: treeLeaf, targets: []int{targets[i]}, weights: []float64{w}})
	}
	f.check()
	g := n.call("onnx::trees", n.T(0), n.opaque(f))
	if kind := n.int("post_transform", 0); kind != 0 {
		names := [...]string{"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"}
		if kind < 0 || kind >= len(names) {
			fail("%w: post_transform %d", onnxpb.ErrFormat, kind)
		}
		g = n.call("onnx::post_transform", g, names[kind])
	}
	return one(n.like(g))
}

// oldForest reads the forms of the versions before 5; what is the word for targets in the names of attributes.
func (n *node) oldForest(what string, targets int) *forest {
	trees, ids := n.ints("nodes_treeids"), n.ints("nodes_nodeids")
	features, yes, no := n.ints("nodes_featureids"), n.ints("nodes_truenodeids"), n.ints("nodes_falsenodeids")
	values, modes, missing := n.numbers("nodes_values"), n.strings("nodes_modes"),
		n.ints("nodes_missing_value_tracks_true")
	k := len(trees)
	if len(ids) != k || len(features) != k || len(yes) != k || len(no) != k || len(values) != k || len(modes) != k ||
		missing != nil && len(missing) != k {
		fail("%w: attributes of a tree with different lengths", onnxpb.ErrFormat)
	}
	type key struct{ tree, id int }
	place := map[key]int{}
	f := &forest{targets: targets, aggregate: n.str("aggregate_function", "SUM"), base: n.numbers("base_values")}
	codes := map[string]int{"BRANCH_LEQ": branchLE, "BRANCH_LT": branchLT, "BRANCH_GTE": branchGE,
		"BRANCH_GT": branchGT,
		"BRANCH_EQ": branchEQ, "BRANCH_NEQ": branchNE, "LEAF": treeLeaf}
	for i := range k {
		place[key{trees[i], ids[i]}] = i
		mode, ok := codes[modes[i]]
		if !ok {
			fail("%w: mode %q of a node", onnxpb.ErrFormat, modes[i])
		}
		f.nodes = append(f.nodes, treeNode{mode: mode, feature: features[i], value: values[i],
			missing: missing != nil && missing[i] != 0})
		if i == 0 || trees[i] != trees[i-1] {
			f.roots = append(f.roots, i)
		}
	}
	for i := range f.nodes {
		if f.nodes[i].mode == treeLeaf {
			continue
		}
		a, ok := place[key{trees[i], yes[i]}]
		b, ok2 := place[key{trees[i], no[i]}]
		if !ok || !ok2 {
			fail("%w: node %d of tree %d has a child that is not there", onnxpb.ErrFormat, ids[i], trees[i])
		}
		f.nodes[i].yes, f.nodes[i].no = a, b
	}
	lt, ln, lid, lw := n.ints(what+"_treeids"), n.ints(what+"_nodeids"), n.ints(what+"_ids"), n.numbers(what+"_weights")
	if len(ln) != len(lt) || len(lid) != len(lt) || len(lw) != len(lt) {
		fail("%w: attributes of leaves with different lengths", onnxpb.ErrFormat)
	}
	for i := range lt {
		j, ok := place[key{lt[i], ln[i]}]
		if !ok {
			fail("%w: a weight for node %d of tree %d, which is not there", onnxpb.ErrFormat, ln[i], lt[i])
		}
		f.nodes[j].targets = append(f.nodes[j].targets, lid[i])
		f.nodes[j].weights = append(f.nodes[j].weights, lw[i])
	}
	f.check()
	return f
}

func treeRegressor(n *node) []*value {
	f := n.oldForest("target", n.int("n_targets", 1))
	g := n.call("onnx::trees", n.T(0), n.opaque(f))
	return one(n.tensor(n.postTargets(g, f.targets), onnxpb.Float))
}

// treeClassifier gives the class with the highest score, and all scores. With two classes and weights for one of them
// only, the other has the rest.
func treeClassifier(n *node) []*value {
	labels := n.labels("classlabels_int64s", "classlabels_strings")
	f := n.oldForest("class", labels.count)
	single := labels.count == 2
	for _, t := range f.nodes {
		for _, id := range t.targets {
			single = single && id == f.firstTarget()
		}
	}
	g := n.call("onnx::trees", n.T(0), n.opaque(f))
	if single {
		at := f.firstTarget()
		both := n.calls("onnx::two_classes", g, at, at == 0 && len(f.base) < 2, f.positive(),
			n.str("post_transform", "NONE"))
		return []*value{n.label(n.call("aten::index_select", labels.ints, 0, both[0]), labels),
			n.tensor(both[1], onnxpb.Float)}
	}
	return []*value{n.label(n.call("onnx::classify", g, labels.ints), labels), n.tensor(n.post(g), onnxpb.Float)}
}

// positive reports that no leaf takes from a score.
func (f *forest) positive() bool {
	for _, t := range f.nodes {
		if slices.ContainsFunc(t.weights, func(w float64) bool { return w < 0 }) {
			return false
		}
	}
	return true
}

// firstTarget is the target of the first leaf.
func (f *forest) firstTarget() int {
	for _, t := range f.nodes {
		if len(t.targets) > 0 {
			return t.targets[0]
		}
	}
	return 0
}

// The scores of two classes, and the class, where a model has one score only: in the column of x. The specification
// leaves open what the other score is; here it is as in ONNX Runtime. A score alone stands for both classes: as a
// probability where all weights are positive, otherwise by its sign, and of the transformations only LOGISTIC and
// PROBIT change it. Else the other score is 0 before the transformation.
func init() {
	helper("two_classes(Tensor x, int column, bool alone, bool positive, str kind) -> (Tensor, Tensor)",
		func(a args) any {
			column, kind := a.int(1), a.str(4)
			s := a.T(0).Select(1, column)
			limit := 0.0
			if a.bool(3) {
				limit = 0.5
			}
			pair := []*T{s.Neg(), s}
			switch {
			case !a.bool(2):
				pair[1-column], pair[column] = call("aten::zeros_like", s), s
			case kind == "LOGISTIC":
			case kind == "PROBIT":
				pair, kind = []*T{postTransform(s, kind), call("aten::zeros_like", s)}, "NONE"
			case a.bool(3):
				pair[0], kind = s.Neg().AddScalar(1), "NONE"
			default:
				kind = "NONE"
			}
			return []any{s.GtScalar(limit).ToDType(tensor.Int64), postTransform(call("aten::stack", pair, 1), kind)}
		})
}
