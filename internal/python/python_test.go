package python

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// show writes an expression with all its brackets.
func show(x Expr) string {
	list := func(l []Expr) string {
		s := make([]string, len(l))
		for i, e := range l {
			s[i] = show(e)
		}
		return strings.Join(s, " ")
	}
	switch x := x.(type) {
	case nil:
		return "_"
	case *Name:
		return x.Name
	case *Const:
		return fmt.Sprintf("%#v", x.Value)
	case *Attr:
		return show(x.X) + "." + x.Name
	case *Call:
		s := show(x.Func) + "(" + list(x.Args)
		for _, k := range x.Kwargs {
			s += " " + k.Name + "=" + show(k.Value)
		}
		return s + ")"
	case *Index:
		return fmt.Sprintf("%s[%s %v]", show(x.X), list(x.Subs), x.Many)
	case *Slice:
		return show(x.Lo) + ":" + show(x.Hi) + ":" + show(x.Step)
	case *Tuple:
		return "(" + list(x.Items) + ",)"
	case *List:
		return "[" + list(x.Items) + "]"
	case *Set:
		return "{" + list(x.Items) + "}"
	case *Dict:
		s := "{"
		for i, k := range x.Keys {
			s += show(k) + ":" + show(x.Vals[i]) + " "
		}
		return s + "}"
	case *Comprehension:
		s := fmt.Sprint("<", x.Kind, " ", show(x.Key), " ", show(x.Elem))
		for _, l := range x.Loops {
			s += " for " + show(l.Target) + " in " + show(l.Iter) + " if " + list(l.Conds)
		}
		return s + ">"
	case *Unary:
		return "(" + x.Op + " " + show(x.X) + ")"
	case *Binary:
		return "(" + show(x.L) + x.Op + show(x.R) + ")"
	case *Bool:
		return "(" + show(x.L) + " " + x.Op + " " + show(x.R) + ")"
	case *Compare:
		s := "(" + show(x.L)
		for i, op := range x.Ops {
			s += " " + op + " " + show(x.R[i])
		}
		return s + ")"
	case *Conditional:
		return "(" + show(x.Cond) + " ? " + show(x.Then) + " : " + show(x.Other) + ")"
	case *Lambda:
		s := "(lambda"
		for _, p := range x.Params {
			s += fmt.Sprint(" ", strings.Repeat("*", p.Star), p.Name, "=", show(p.Default))
		}
		return s + ": " + show(x.Body) + ")"
	case *Star:
		return "*" + show(x.X)
	case *Format:
		return "f<" + list(x.Parts) + ">"
	case *FormatValue:
		return fmt.Sprintf("{%s!%d:%s}", show(x.X), x.Conv, x.Spec)
	}
	return fmt.Sprintf("?%T", x)
}

// TestExpressions compares trees with those that Python 3.12 makes.
func TestExpressions(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"1 + 2 * 3 ** -4", "(1+(2*(3**-4)))"},
		{"-2 ** 2", "(- (2**2))"},
		{"not a == b and c or d", "(((not (a == b)) and c) or d)"},
		{"a < b <= c != d", "(a < b <= c != d)"},
		{"a < (b < c)", "(a < (b < c))"},
		{"x not in y is not z", "(x not in y is not z)"},
		{"a if b else c if d else e", "(b ? a : (d ? c : e))"},
		{"a | b ^ c & d << e", "(a|(b^(c&(d<<e))))"},
		{"a @ b // c % d", "(((a@b)//c)%d)"},
		{"f(x, *y, k=1, **z)", "f(x *y k=1 =z)"},
		{"x[1], x[1,], x[:, ::2, ..., None]", "(x[1 false] x[1 true] x[_:_:_ _:_:2 ... <nil> true],)"},
		{"(), (1,), (1), [1, 2], {1, 2}, {'a': 1, **b}, {}", `((,) (1,) 1 [1 2] {1 2} {"a":1 _:b } {},)`},
		{"[a for a, *b in c if d if e for f in g]", "<0 _ a for (a *b,) in c if d e for f in g if >"},
		{"{k: v for k in x}, {k for k in x}, f(k for k in x)",
			"(<2 k v for k in x if > <1 _ k for k in x if > f(<3 _ k for k in x if >),)"},
		{"lambda a, b=2, *c, d, **e: a + b", "(lambda a=_ b=2 *c=_ d=_ **e=_: (a+b))"},
		{`'a' "b" r'\n' '\x41\n'`, `"ab\\nA\n"`},
		{`f'{x!r:>3}{{}}{y}' 'z'`, `f<{x!114:>3} "{}" {y!0:} "z">`},
		{`f'{x[{1: 2}[1]]} {a=}'`, `f<{x[{1:2 }[1 false] false]!0:} " a=" {a!114:}>`},
		{"0x1f, 1_000, 1e-3, 2.5j, True, None, inf", "(31 1000 0.001 (0+2.5i) true <nil> +Inf,)"},
	} {
		x, err := ParseExpr("test", c.src, map[string]any{"inf": 1 / zero})
		if err != nil {
			t.Errorf("%s: %v", c.src, err)
			continue
		}
		if got := show(x); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.src, got, c.want)
		}
	}
}

var zero float64

func TestStatements(t *testing.T) {
	src := `import a.b as c, d
from e import (f, g as h)
@deco(1)
class A(B, c.D):
    x: int = 1
    def m(self, a: int, /, *, b=2) -> str:
        global n
        for i, j in a:
            if i: continue
            elif j: break
            else: pass
        while True: a += 1; del a[0], b
        try:
            raise ValueError from None
        except (E, F) as e:
            return
        else:
            assert a, 'b'
        finally:
            with (p as q, r): x = y = 1
`
	body, err := Parse("test", src, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(body) != 5 {
		t.Fatalf("%d statements, want 5", len(body))
	}
	if i := body[0].(*Import); i.Module != "a.b" || i.Name != "" || i.As != "c" {
		t.Errorf("first import is %+v", i)
	}
	if i := body[3].(*Import); i.Module != "e" || i.Name != "g" || i.As != "h" {
		t.Errorf("last import is %+v", i)
	}
	c := body[4].(*Class)
	if c.Base() != "D" || len(c.Decorators) != 1 || c.At() != 4 || len(c.Body) != 2 {
		t.Errorf("class is %+v", c)
	}
	d := c.Body[1].(*Def)
	if len(d.Params) != 3 || d.Params[1].KwOnly || !d.Params[2].KwOnly || show(d.Result) != "str" {
		t.Errorf("method is %+v", d)
	}
	kinds := []string{"*python.Scope", "*python.For", "*python.While", "*python.Try"}
	for i, s := range d.Body {
		if got := fmt.Sprintf("%T", s); got != kinds[i] {
			t.Errorf("statement %d is %s, want %s", i, got, kinds[i])
		}
	}
	try := d.Body[3].(*Try)
	if len(try.Handlers) != 1 || try.Handlers[0].Name != "e" || len(try.Else) != 1 || len(try.Final) != 1 {
		t.Errorf("try is %+v", try)
	}
	if w := try.Final[0].(*With); len(w.Items) != 2 || show(w.Names[0]) != "q" || w.Names[1] != nil {
		t.Errorf("with is %+v", w)
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"x = (1", `t:1: want ")", not "\n"`},
		{"if x:\ny", "t:2: want an indented block"},
		{"  x", "t:1: the line is indented for no reason"},
		{"if x:\n  a\n b", "t:3: the indentation fits no block around it"},
		{"x = 'abc", "t:1: the string does not end"},
		{"x = f'{a'", "t:1: the formatted string has a single {"},
		{"x = {1: 2, 3}", "t:1: want either a dict or a set"},
		{"x = $", "t:1: what is '$'?"},
		{"def f(a b): pass", `t:1: want , or ) in the parameters, not "b"`},
		{"x = yield", "t:1: yield is not part of the language"},
		{"x = " + strings.Repeat("(", 1000), "t:1: the code is nested more than 300 deep"},
		{"x = " + strings.Repeat("-", 1000) + "y", "t:1: the code is nested more than 300 deep"},
		{"x = " + strings.Repeat("lambda: ", 1000) + "y", "t:1: the code is nested more than 300 deep"},
	} {
		_, err := Parse("t", c.src, nil)
		var e *SyntaxError
		if !errors.As(err, &e) || err.Error() != c.want {
			t.Errorf("%.40q: %v, want %s", c.src, err, c.want)
		}
	}
	if _, err := ParseExpr("t", "a b", nil); err == nil {
		t.Error("two expressions are taken for one")
	}
}

// FuzzParse feeds broken programs: every one ends in a tree or a SyntaxError.
func FuzzParse(f *testing.F) {
	f.Add("class A(B):\n  x: int = 1\n  def f(self, *a, **k): return f'{a!r:>3}'")
	f.Add("try:\n  a[1:2, ...] += {b: c for b, c in d if e}\nexcept E as e: pass\nfinally: del a")
	f.Fuzz(func(t *testing.T, src string) {
		var e *SyntaxError
		if _, err := Parse("fuzz", src, nil); err != nil && !errors.As(err, &e) {
			t.Errorf("%q: %v is no SyntaxError", src, err)
		}
	})
}
