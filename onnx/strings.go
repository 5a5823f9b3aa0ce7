package onnx

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

// Tensors of strings (graph.Strings). What only moves elements (Reshape, Gather, …) is done by its own rule on the
// positions of the elements, after which the strings are taken from there.

func init() {
	define("", map[string]rule{
		"RegexFullMatch":   regexFullMatch,
		"StringConcat":     func(n *node) []*value { return one(n.text(n.call("onnx::string_concat", n.T(0), n.T(1)))) },
		"StringNormalizer": stringNormalizer,
		"StringSplit":      stringSplit,
	})

	helper("positions(Strings x) -> Tensor", func(a args) any { return positions(a.strs(0)) })
	helper("take_strings(Strings x, Tensor at) -> Strings", func(a args) any {
		return takeStrings(a.strs(0), a.T(1))
	})
	helper("find_strings(Strings x, Strings keys) -> Tensor", func(a args) any {
		x, keys := a.strs(0), a.strs(1)
		at := make(map[string]int64, len(keys.Data))
		for i, s := range slices.Backward(keys.Data) { // of equal keys the first counts
			at[s] = int64(i)
		}
		out := make([]int64, len(x.Data))
		for i, s := range x.Data {
			p, ok := at[s]
			if !ok {
				p = int64(len(keys.Data))
			}
			out[i] = p
		}
		return tensor.FromSlice(out, x.Shape...)
	})
	helper("join_strings(Strings[] list) -> Strings", func(a args) any {
		items, _ := graph.ItemsOf(a[0])
		var all []string
		for i := range items {
			all = append(all, args(items).strs(i).Data...)
		}
		return &graph.Strings{Shape: []int{len(all)}, Data: all}
	})
	helper("string_equal(Strings a, Strings b) -> Tensor", func(a args) any {
		x, y := broadcastStrings("Equal", a.strs(0), a.strs(1))
		out := make([]bool, len(x.Data))
		for i := range out {
			out[i] = x.Data[i] == y.Data[i]
		}
		return tensor.FromSlice(out, x.Shape...)
	})
	helper("string_concat(Strings a, Strings b) -> Strings", func(a args) any {
		x, y := broadcastStrings("StringConcat", a.strs(0), a.strs(1))
		for i, s := range y.Data {
			x.Data[i] += s
		}
		return x
	})
	helper("string_split(Strings x, str delimiter, int most) -> (Strings, Tensor)", func(a args) any {
		return splitStrings(a.strs(0), a.str(1), a.int(2))
	})
	helper("string_match(Strings x, Any pattern) -> Tensor", func(a args) any {
		x, re := a.strs(0), a[1].X.(*regexp.Regexp)
		out := make([]bool, len(x.Data))
		for i, s := range x.Data {
			out[i] = re.MatchString(s)
		}
		return tensor.FromSlice(out, x.Shape...)
	})
	helper("string_normalize(Strings x, str change, bool sensitive, str[] stop) -> Strings", func(a args) any {
		items, _ := graph.ItemsOf(a[3])
		stop := make([]string, len(items))
		for i := range items {
			stop[i] = args(items).str(i)
		}
		return normalizeStrings(a.strs(0), a.str(1), a.bool(2), stop)
	})
	helper("to_strings(Tensor x) -> Strings", func(a args) any { return formatStrings(a.T(0)) })
	helper("from_strings(Strings x, ScalarType dtype) -> Tensor", func(a args) any {
		return parseStrings(a.strs(0), a.dtype(1))
	})
}

// strs is the tensor of strings that is argument i.
func (a args) strs(i int) *graph.Strings {
	s, ok := a[i].X.(*graph.Strings)
	if !ok {
		tensor.Fail(tensor.ErrType, "want a tensor of strings, got %s", a[i])
	}
	return s
}

// checkStrings refuses a value that is no tensor of strings of the port's shape.
func checkStrings(p graph.Port, v tensor.Value) error {
	s, ok := v.X.(*graph.Strings)
	if !ok {
		return fmt.Errorf("input %q is %s, expected a tensor of strings", p.Name, v)
	}
	bad := !p.AnyShape && len(s.Shape) != len(p.Shape)
	for i := 0; i < len(s.Shape) && i < len(p.Shape); i++ {
		d := p.Shape[i]
		bad = bad || d.Name == "" && d.Size >= 0 && d.Size != s.Shape[i]
	}
	if bad || product(s.Shape) != len(s.Data) {
		return fmt.Errorf("input %q is %s with %d strings, expected shape %v", p.Name, s, len(s.Data), p.Shape)
	}
	return nil
}

// texts is a constant tensor of strings.
func (t *translator) texts(s *graph.Strings) *value {
	root := t.root
	return &value{kind: onnxpb.KindTensor, elem: onnxpb.String, rank: len(s.Shape),
		made: func() *graph.Value { return root.ConstOf(graph.Box(s), graph.StringTensor) }}
}

// textsOf is the constant that a message holds.
func (t *translator) textsOf(p *onnxpb.Tensor) *value {
	shape, elems, err := p.DecodeStrings()
	if err != nil {
		panic(failure{err})
	}
	return t.texts(&graph.Strings{Shape: shape, Data: elems})
}

// textList is a constant vector of strings.
func (t *translator) textList(l []string) *value {
	return t.texts(&graph.Strings{Shape: []int{len(l)}, Data: l})
}

// text makes a result of strings of unknown rank.
func (n *node) text(g *graph.Value) *value { return n.tensor(g, onnxpb.String) }

// hasStrings reports that an input is a tensor of strings, or a sequence of such tensors.
func (n *node) hasStrings() bool {
	return slices.ContainsFunc(n.in, func(v *value) bool { return v != nil && v.elem == onnxpb.String })
}

// takesStrings are the operators whose rules expect strings.
var takesStrings = map[string]bool{"Cast": true, "CastLike": true, "RegexFullMatch": true, "StringConcat": true,
	"StringNormalizer": true, "StringSplit": true, "TfIdfVectorizer": true, "LabelEncoder": true,
	"CategoryMapper": true, "OneHotEncoder": true}

// movesElements are the operators whose results are elements of input 0, whatever these are.
var movesElements = map[string]bool{"Compress": true, "DepthToSpace": true, "Expand": true, "Flatten": true,
	"Gather": true, "GatherElements": true, "GatherND": true, "Identity": true, "Reshape": true, "Slice": true,
	"SpaceToDepth": true, "Split": true, "Squeeze": true, "Tile": true, "Transpose": true, "Unsqueeze": true}

// stringRule is the rule for a node with inputs of strings; r is the one for other inputs.
func (n *node) stringRule(r rule) rule {
	for _, v := range n.in {
		if v != nil && v.kind != onnxpb.KindTensor {
			unsupported("sequences and optionals of strings")
		}
	}
	switch op := n.pb.Op; {
	case takesStrings[op]:
		return r
	case op == "Equal":
		return func(n *node) []*value {
			return one(n.tensor(n.call("onnx::string_equal", n.T(0), n.T(1)), onnxpb.Bool))
		}
	case op == "Shape" || op == "Size":
		return func(n *node) []*value {
			n.in = []*value{n.elements(n.T(0), nil)}
			return r(n)
		}
	case movesElements[op] && n.T(0).elem == onnxpb.String:
		return func(n *node) []*value { return n.moved(r, 0) }
	case op == "Concat":
		return func(n *node) []*value { return n.moved(r, count(len(n.in))...) }
	case op == "Where":
		return func(n *node) []*value { return n.moved(r, 1, 2) }
	}
	unsupported("elements of type string")
	return nil
}

// elements are the positions of the elements of v, counted from base on.
func (n *node) elements(v *value, base *graph.Value) *value {
	p := n.tensor(n.call("onnx::positions", v), onnxpb.Int64)
	if p.rank = v.rank; base != nil {
		p.g = n.call("aten::add.Tensor", p.g, base)
	}
	return p
}

// moved applies a rule that moves elements to the positions of the inputs at, in the strings of these inputs one after
// the other, and takes the strings from there.
func (n *node) moved(r rule, at ...int) []*value {
	n.in = slices.Clone(n.in)
	lists := make([]*graph.Value, len(at))
	var base *graph.Value
	for i, j := range at {
		v := n.T(j)
		if v.elem != onnxpb.String {
			fail("%w: input %d is no tensor of strings, another one is", onnxpb.ErrFormat, j)
		}
		lists[i] = n.get(v)
		n.in[j] = n.elements(v, base)
		if i+1 < len(at) {
			size := n.call("aten::numel", n.in[j])
			size = n.call("aten::scalar_tensor", size, tensor.Int64)
			if base != nil {
				size = n.call("aten::add.Tensor", size, base)
			}
			base = size
		}
	}
	from := lists[0]
	if len(lists) > 1 {
		from = n.call("onnx::join_strings", n.block.List(graph.StringTensor, lists...))
	}
	outs := r(n)
	for i, v := range outs {
		if v != nil {
			outs[i] = n.text(n.call("onnx::take_strings", from, v))
			outs[i].rank = v.rank
		}
	}
	return outs
}

// count are the numbers below n.
func count(n int) []int {
	l := make([]int, n)
	for i := range l {
		l[i] = i
	}
	return l
}

// positions are the numbers from 0 on in the shape of s.
func positions(s *graph.Strings) *T {
	return vector(count(len(s.Data))).Reshape(s.Shape)
}

func takeStrings(s *graph.Strings, at *T) *graph.Strings {
	l := hostInts(at)
	out := make([]string, len(l))
	for i, p := range l {
		if p < 0 || p >= len(s.Data) {
			wrong("strings", "element %d of %d", p, len(s.Data))
		}
		out[i] = s.Data[p]
	}
	return &graph.Strings{Shape: slices.Clone(at.Shape()), Data: out}
}

// broadcastStrings gives both the same shape; the results may be changed.
func broadcastStrings(op string, x, y *graph.Strings) (*graph.Strings, *graph.Strings) {
	p := calls("aten::broadcast_tensors", []*T{positions(x), positions(y)})
	if p[0].Numel() > maxList {
		wrong(op, "shapes %s and %s", tensor.ShapeString(x.Shape), tensor.ShapeString(y.Shape))
	}
	return takeStrings(x, p[0]), takeStrings(y, p[1])
}

// regexFullMatch tells which strings a regular expression matches whole. ONNX means those of RE2, as Go does.
func regexFullMatch(n *node) []*value {
	re, err := regexp.Compile(`\A(?:` + n.str("pattern", "") + `)\z`)
	if err != nil {
		fail("%w: attribute \"pattern\": %w", onnxpb.ErrFormat, err)
	}
	v := n.same(n.call("onnx::string_match", n.T(0), n.opaque(re)))
	v.elem = onnxpb.Bool
	return one(v)
}

func stringNormalizer(n *node) []*value {
	return one(n.same(n.call("onnx::string_normalize", n.T(0), n.str("case_change_action", "NONE"),
		n.bool("is_case_sensitive", false), n.stringList("stopwords"))))
}

// stringList is an attribute as a list of strings of the program.
func (n *node) stringList(name string) *graph.Value {
	l := n.strings(name)
	items := make([]*graph.Value, len(l))
	for i, s := range l {
		items[i] = n.root.Const(s)
	}
	return n.block.List(graph.Str, items...)
}

// normalizeStrings leaves out stop words and changes the case of what is left. Where nothing is left, there is one
// empty string.
func normalizeStrings(x *graph.Strings, change string, sensitive bool, stop []string) *graph.Strings {
	if len(x.Shape) < 1 || len(x.Shape) > 2 || len(x.Shape) == 2 && x.Shape[0] != 1 {
		wrong("StringNormalizer", "shape %s, want [C] or [1, C]", tensor.ShapeString(x.Shape))
	}
	key := func(s string) string {
		if !sensitive {
			s = strings.ToLower(s)
		}
		return s
	}
	skip := map[string]bool{}
	for _, s := range stop {
		skip[key(s)] = true
	}
	out := []string{}
	for _, s := range x.Data {
		if skip[key(s)] {
			continue
		}
		switch change {
		case "LOWER":
			s = strings.ToLower(s)
		case "UPPER":
			s = strings.ToUpper(s)
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		out = append(out, "")
	}
	shape := slices.Clone(x.Shape)
	shape[len(shape)-1] = len(out)
	return &graph.Strings{Shape: shape, Data: out}
}

func stringSplit(n *node) []*value {
	most := n.int("maxsplit", -1)
	if n.attrs["maxsplit"] == nil {
		most = -1
	}
	out := n.calls("onnx::string_split", n.T(0), n.str("delimiter", ""), most)
	v := n.text(out[0])
	if r := n.T(0).rank; r >= 0 {
		v.rank = r + 1
	}
	k := n.same(out[1])
	k.elem = onnxpb.Int64
	return []*value{v, k}
}

// splitStrings splits at a delimiter, or at white space for an empty one, at most so many times from the left; most is
// below 0 for no limit. Rows are filled with empty strings. As in ONNX Runtime an empty string has no parts, and white
// space around a string is no part of it when white space separates.
func splitStrings(x *graph.Strings, delimiter string, most int) []any {
	parts := make([][]string, len(x.Data))
	counts, width := make([]int64, len(x.Data)), 0
	for i, s := range x.Data {
		switch {
		case delimiter == "":
			parts[i] = splitFields(s, most)
		case s != "" && most < 0:
			parts[i] = strings.Split(s, delimiter)
		case s != "":
			parts[i] = strings.SplitN(s, delimiter, most+1)
		}
		counts[i], width = int64(len(parts[i])), max(width, len(parts[i]))
	}
	if len(parts) > 0 && width > maxList/len(parts) {
		wrong("StringSplit", "%d strings of up to %d parts", len(parts), width)
	}
	all := make([]string, 0, len(parts)*width)
	for _, p := range parts {
		all = append(all, p...)
		all = append(all, make([]string, width-len(p))...)
	}
	y := &graph.Strings{Shape: append(slices.Clone(x.Shape), width), Data: all}
	return []any{y, tensor.FromSlice(counts, x.Shape...)}
}

// splitFields splits at white space.
func splitFields(s string, most int) (parts []string) {
	s = strings.TrimFunc(s, isSpace)
	for s != "" {
		i := strings.IndexFunc(s, isSpace)
		if i < 0 || most >= 0 && len(parts) == most {
			return append(parts, s)
		}
		parts = append(parts, s[:i])
		s = strings.TrimLeftFunc(s[i:], isSpace)
	}
	return parts
}

func isSpace(r rune) bool { return strings.ContainsRune(" \t\n\v\f\r", r) }

// formatStrings writes numbers as ONNX Runtime does: floats with eight significant digits, bools as 0 and 1.
func formatStrings(x *T) *graph.Strings {
	out := make([]string, 0, x.Numel())
	if x.DType().IsFloat() {
		for _, f := range hostFloats(x) {
			out = append(out, formatFloat(f))
		}
	} else {
		for _, i := range hostInts(x) {
			out = append(out, strconv.Itoa(i))
		}
	}
	return &graph.Strings{Shape: slices.Clone(x.Shape()), Data: out}
}

func formatFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "INF"
	case math.IsInf(f, -1):
		return "-INF"
	}
	return graph.CGeneral(f, 8)
}

// parseStrings reads numbers: dt is float64 or int64. Characters behind a number are ignored as by C's strtod and
// strtoll, and a string that begins with no number is an error.
func parseStrings(s *graph.Strings, dt tensor.DType) *T {
	bad := func(t string) { tensor.Fail(tensor.ErrValue, "Cast: %q is no number", t) }
	if dt == tensor.Int64 {
		out := make([]int64, len(s.Data))
		for i, t := range s.Data {
			var err error
			if out[i], err = strconv.ParseInt(intPrefix.FindString(strings.TrimLeftFunc(t, isSpace)), 10, 64); err != nil {
				bad(t)
			}
		}
		return tensor.FromSlice(out, s.Shape...)
	}
	out := make([]float64, len(s.Data))
	for i, t := range s.Data {
		var err error
		if out[i], err = strconv.ParseFloat(floatPrefix.FindString(strings.TrimLeftFunc(t, isSpace)), 64); err != nil &&
			!math.IsInf(out[i], 0) {
			bad(t)
		}
	}
	return tensor.FromSlice(out, s.Shape...)
}

var (
	intPrefix   = regexp.MustCompile(`^[+-]?[0-9]+`)
	floatPrefix = regexp.MustCompile(`^[+-]?(?i:inf(inity)?|nan|([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?)`)
)
