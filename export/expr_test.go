package export

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gotorch-dev/torch/tensor"
)

// TestUnparse compares with what Python's ast.unparse(ast.parse(text)) gives.
func TestUnparse(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"x == ((-1) + y)", "x == -1 + y"},
		{"((3*x) % 12) == 0", "3 * x % 12 == 0"},
		{"12*(x // 4) >= 2", "12 * (x // 4) >= 2"},
		{"(a + b)*c - (d - e)", "(a + b) * c - (d - e)"},
		{"a - b - c", "a - b - c"},
		{"-x**2", "-x ** 2"},
		{"(-x)**2", "(-x) ** 2"},
		{"2**-x", "2 ** (-x)"},
		{"not (a and b or c)", "not (a and b or c)"},
		{"(a or b) and c", "(a or b) and c"},
		{"0 <= x < 5", "0 <= x < 5"},
		{`L["x"].size()[0] != 1`, "L['x'].size()[0] != 1"},
		{"Min(x, 3, key=y)", "Min(x, 3, key=y)"},
		{"1.0 / x", "1.0 / x"},
		{"x & 3 | y << 1", "x & 3 | y << 1"},
		{"None is not True", "None is not True"},
	} {
		e, err := parseExpr(c.in)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if got := unparse(e); got != c.want {
			t.Errorf("%s: %s, want %s", c.in, got, c.want)
		}
	}
	for _, bad := range []string{"", "x +", "(x", "x)", "f(x", "'x", "x..y", "1 2", "x[", "$", "lambda: 1",
		strings.Repeat("(", 1000)} {
		if e, err := parseExpr(bad); err == nil {
			t.Errorf("%q is read as %s", bad, unparse(e))
		}
	}
}

// TestGuardValues computes conditions as Python does.
func TestGuardValues(t *testing.T) {
	x := tensor.New([]int{6, 4}, tensor.Float32)
	for _, c := range []struct {
		cond string
		want any
	}{
		{"x.size()[0] % 4 == 2", true}, {"x.size()[-1] // 3 == 1", true}, {"-7 // 2 == -4", true},
		{"-7 % 4 == 1", true},
		{"x.size(1) == 4 and x.dim() == 2", true}, {"x.stride()[0] == 4", true}, {"x.numel() > 24 or False", false},
		{"Min(x.size()[0], 3) + Max(1, 2)", int64(5)}, {"2 ** 3", int64(8)}, {"2 ** -1", 0.5}, {"7 / 2", 3.5},
		{"math.ceil(2.1)", int64(3)}, {"math.isnan(1.0)", false}, {"1 < 2 < 2", false}, {"not 0", true},
		{"True == 1", true}, {"'a' == 'a'", true}, {"'a' == 1", false}, {"None is None", true}, {"3 & 5", int64(1)},
		{"FloorDiv(7, 2) + PythonMod(7, 4)", int64(6)}, {"1 << 4", int64(16)}, {"inf > 3", true},
		{"torch.sym_max(x.size()[0], 9) - torch.sym_min(2, 3)", int64(7)}, {"torch.sym_not(x.dim() == 2)", false},
		{"torch.sym_ite(x.dim() == 2, 1, 2)", int64(1)}, {"torch.sym_float(3)", 3.0},
	} {
		e, err := parseExpr(c.cond)
		if err != nil {
			t.Fatal(err)
		}
		got, err := evaluator{tensor.TensorValue(x)}.value(leafOf(e))
		if err != nil || got != c.want {
			t.Errorf("%s is %v, %v, want %v", c.cond, got, err, c.want)
		}
	}
	for _, bad := range []string{"1 // 0", "1 % 0", "y", "1 < 'a'", "'a' + 1", "1[0]", "math.floor('a')", "open(1)",
		"int(1e300)", "1 .size()"} {
		e, err := parseExpr(bad)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := (evaluator{}).value(e); err == nil {
			t.Errorf("%s is %v", bad, v)
		}
	}
}

// leafOf puts leaf 0 in the place of the name x.
func leafOf(e expr) expr {
	switch x := e.(type) {
	case name:
		if x.id == "x" {
			return leaf{0, "x"}
		}
	case attr:
		return attr{leafOf(x.x), x.name}
	case index:
		return index{leafOf(x.x), leafOf(x.at)}
	case call:
		out := call{fn: leafOf(x.fn)}
		for _, a := range x.args {
			out.args = append(out.args, leafOf(a))
		}
		return out
	case unary:
		return unary{x.op, leafOf(x.x)}
	case binary:
		return binary{x.op, leafOf(x.l), leafOf(x.r)}
	case compare:
		out := compare{l: leafOf(x.l), ops: x.ops}
		for _, r := range x.r {
			out.r = append(out.r, leafOf(r))
		}
		return out
	case logic:
		out := logic{op: x.op}
		for _, v := range x.x {
			out.x = append(out.x, leafOf(v))
		}
		return out
	}
	return e
}

// TestSizes reads sizes in both notations of archives.
func TestSizes(t *testing.T) {
	for _, c := range []struct{ srepr, printed string }{
		{"Symbol('s77', positive=True, integer=True)", "s77"},
		{"Add(Symbol('s77', positive=True, integer=True), Integer(1))", "s77 + 1"},
		{"Mul(Integer(2), Symbol('s17', integer=True))", "2*s17"},
		{"Add(Mul(Integer(2), Symbol('s17')), Integer(-3))", "2*s17 - 3"},
		{"Pow(Symbol('s1'), Integer(2))", "s1**2"},
		{"Mul(Symbol('s1'), Symbol('s0'))", "s0*s1"},
		{"Add(FloorDiv(Symbol('s0'), Integer(2)), Integer(1))", "(s0//2) + 1"},
		{"Max(Integer(1), Symbol('u0'))", "Max(1, u0)"},
		{"Mul(Rational(1, 2), Symbol('s0'))", "s0/2"},
		{"Mul(Integer(2), Add(Symbol('a'), Symbol('b')))", "2*a + 2*b"},
	} {
		a, err := parseSize(c.srepr)
		if err != nil {
			t.Fatal(err)
		}
		b, err := parseSize(c.printed)
		if err != nil {
			t.Fatal(err)
		}
		if a.String() != b.String() {
			t.Errorf("%s is %s, but %s is %s", c.srepr, a, c.printed, b)
		}
	}
	deep := "s"
	for range 20 {
		deep = "Pow(" + deep + ", Integer(16))"
	}
	if p, err := parseSize(strings.ReplaceAll(deep, "Pow(s", "Pow(Symbol('s')")); err == nil {
		t.Errorf("a power of 16**20 is %s", p)
	}
}

// FuzzExpr reads expressions: what is read is written and read again as the same.
func FuzzExpr(f *testing.F) {
	for _, s := range []string{"L['x'].size()[0] == (-1) + y", "Add(Symbol('s77', positive=True), Integer(1))",
		"not a or b and 1.5 < 2 ** -x // 3", "2*s17 + 1", "Pow(Min(a, 2), Integer(3))"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := parseExpr(s)
		if err != nil || !utf8.ValidString(s) {
			return
		}
		text := unparse(e)
		again, err := parseExpr(text)
		if err == nil && unparse(again) != text {
			t.Errorf("%q is written as %q, which is written as %q", s, text, unparse(again))
		}
		_, _ = parseSize(s)
		_, _ = evaluator{}.value(e)
	})
}
