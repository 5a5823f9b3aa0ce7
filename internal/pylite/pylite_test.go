package pylite

import (
	"errors"
	"strings"
	"testing"
)

// noHost knows nothing but Python.
type noHost struct{}

func (noHost) Import(string, string) (any, bool)           { return nil, false }
func (noHost) Attr(any, string) (any, bool)                { return nil, false }
func (noHost) SetAttr(any, string, any) bool               { return false }
func (noHost) Binary(string, any, any) (any, bool)         { return nil, false }
func (noHost) Unary(string, any) (any, bool)               { return nil, false }
func (noHost) Index(any, any) (any, bool)                  { return nil, false }
func (noHost) SetIndex(any, any, any) bool                 { return false }
func (noHost) Truth(any) (bool, bool)                      { return false, false }
func (noHost) Iter(any) ([]any, bool)                      { return nil, false }
func (noHost) Len(any) (int, bool)                         { return 0, false }
func (noHost) Call(any, []any, map[string]any) (any, bool) { return nil, false }
func (noHost) Enter(any, func(any)) bool                   { return false }
func (noHost) New(*Object) any                             { return nil }
func (noHost) IsInstance(any, any) (bool, bool)            { return false, false }
func (noHost) TypeOf(any) (any, bool)                      { return nil, false }
func (noHost) Str(any) (string, bool)                      { return "", false }
func (noHost) Exception(any) *Raise                        { return nil }

// TestRun compares what programs print with what Python 3.12 prints.
func TestRun(t *testing.T) {
	for _, tc := range []struct{ name, src, want string }{
		{"arithmetic", "print(7 // 2, -7 // 2, -7 % 3, 2 ** 10, 7 / 2, 2 ** -1, 1e3, 0x10, True + 1)",
			"3 -4 2 1024 3.5 0.5 1000.0 16 2"},
		{"precedence", "print(2 + 3 * 4 ** 2, -2 ** 2, not 1 == 2, 1 < 2 < 3, 1 if 0 else 2)", "50 -4 True True 2"},
		{"containers", "a, *b = [1, 2, 3]; d = {'k': (1,), **{'z': []}}; print(a, b, d, d['k'][0], [x * 2 for x in b " +
			"if x > 2])",
			"1 [2, 3] {'k': (1,), 'z': []} 1 [6]"},
		{"slices", "l = list(range(6)); print(l[1:-1:2], l[::-1], 'hello'[1:3], l[-1])",
			"[1, 3] [5, 4, 3, 2, 1, 0] el 5"},
		{"functions", "def f(a, b=2, *c, k=3, **d):\n  return a, b, c, k, d\nprint(f(1), f(1, 5, 6, k=7, z=8))",
			"(1, 2, (), 3, {}) (1, 5, (6,), 7, {'z': 8})"},
		{"closures", "def g():\n  n = [0]\n  def h():\n    n[0] += 1\n    return n[0]\n  return h\nh = g(); h(); " +
			"print(h())", "2"},
		{"nonlocal", "def g():\n  n = 0\n  def h():\n    nonlocal n\n    n += 1\n    return n\n  return h\nh = g(); " +
			"h(); print(h())", "2"},
		{"classes", "class A:\n  x = 1\n  def __init__(s, y): s.y = y\n  def sum(s): return s.x + s.y\n  " +
			"@staticmethod\n  def st(a): return a\n" +
			"class B(A):\n  def __init__(s, y): super().__init__(y * 10)\nb = B(2); print(b.sum(), B.st(4), " +
			"isinstance(b, A), b.__class__.__name__)",
			"21 4 True B"},
		{"loops", "for i in range(9):\n  if i == 2: continue\n  if i == 5: break\n  print(i)", "0\n1\n3\n4"},
		{"while", "n = 0\nwhile n < 3: n += 1\nprint(n)", "3"},
		{"exceptions", "try:\n  raise ValueError('bad')\nexcept (KeyError, ValueError) as e:\n  " +
			"print(str(e))\nfinally:\n  print('done')",
			"bad\ndone"},
		{"with", "class C:\n  def __enter__(s): print('in'); return 5\n  def __exit__(s, *a): print('out')\nwith C() " +
			"as v: print(v)", "in\n5\nout"},
		{"formats", "x = 1.5; print(f'{x:.2f} {x!r} {{}} {3:>3d}', '%s-%d' % ('a', 2), '{} {a}'.format(1, a=2))",
			"1.50 1.5 {}   3 a-2 1 2"},
		{"several", "x = 1; y = 2; print(x, y)\nif x: print('a'); print('b')", "1 2\na\nb"},
		{"decorator", "def twice(f): return lambda a: f(f(a))\n@twice\ndef inc(a): return a + 1\nprint(inc(1))", "3"},
		{"lines", "print((1,\n  2),\n  'a'\n  'b')", "(1, 2) ab"},
	} {
		in := New(noHost{})
		if err := in.Run(tc.src); err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if got := strings.Join(in.Printed, "\n"); got != tc.want {
			t.Errorf("%s prints\n%s\nPython prints\n%s", tc.name, got, tc.want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, tc := range []struct{ src, want string }{
		{"1 / 0", "ZeroDivisionError: division by zero"},
		{"x", "NameError: name 'x' is not defined"},
		{"[1][3]", "IndexError: list index out of range"},
		{"{}['a']", "KeyError: 'a'"},
		{"range(1, 2, 0)", "ValueError: range() arg 3 must not be zero"},
		{"a, b = 1, 2, 3", "ValueError: too many values to unpack (expected 2)"},
		{"def f(a): pass\nf()", "TypeError: f() missing 1 required positional argument: 'a'"},
		{"while True: pass", "RuntimeError: the program took more than 1000000 steps"},
		{"if 1:\nx = 2", "SyntaxError: line 2: want an indented block"},
		{"(1", "SyntaxError: line 1: want \")\", not \"\\n\""},
		{"'abc", "SyntaxError: line 1: the string does not end"},
	} {
		err := New(noHost{}).Run(tc.src)
		var r *Raise
		if !errors.As(err, &r) || err.Error() != tc.want {
			t.Errorf("%q: %v, want %s", tc.src, err, tc.want)
		}
	}
}

// FuzzRun feeds broken programs: every one ends in a result or an exception.
func FuzzRun(f *testing.F) {
	f.Add("a = [x for x in (1, 2)]\nif a: print(f'{a!r:>3}')")
	f.Add("class A(B):\n  @staticmethod\n  def f(s, *a, **k): return lambda: s")
	f.Fuzz(func(t *testing.T, src string) {
		in := New(noHost{})
		in.Limit = 1000
		_ = in.Run(src)
	})
}
