package jit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/pickle"
	"github.com/gotorch-dev/torch/internal/torchzip"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/tensor"
)

// archive writes an archive whose module M has the code of code/__torch__.py and the attributes of state.
func archive(t testing.TB, code string, version int, state ...pickle.Entry) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := torchzip.NewWriter(&buf, "m")
	if err != nil {
		t.Fatal(err)
	}
	d := pickle.NewDict(pickle.PlainDict)
	for _, e := range append([]pickle.Entry{{Key: "training", Value: true}}, state...) {
		if err := d.Set(e.Key, e.Value); err != nil {
			t.Fatal(err)
		}
	}
	obj := &pickle.Object{Class: &pickle.Global{Module: "__torch__", Name: "M"}, New: true, State: d, HasState: true}
	var data, constants bytes.Buffer
	for _, x := range []struct {
		to *bytes.Buffer
		v  any
	}{{&data, obj}, {&constants, pickle.Tuple{}}} {
		if err := pickle.NewEncoder(x.to, pickle.EncodeOptions{}).Encode(x.v); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range []struct {
		name string
		data []byte
	}{{"data.pkl", data.Bytes()}, {"code/__torch__.py", []byte(code)}, {"constants.pkl", constants.Bytes()},
		{"version", fmt.Appendf(nil, "%d\n", version)}} {
		if err := w.Record(r.name, r.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// module is the head of a module with a method f.
const module = "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n"

func load(t testing.TB, code string) *jit.Module {
	t.Helper()
	b := archive(t, code, 10)
	m, err := jit.Load(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatalf("%v\n%s", err, code)
	}
	return m
}

func call(t testing.TB, m *jit.Module, method string, args ...any) string {
	t.Helper()
	in := make([]tensor.Value, len(args))
	for i, a := range args {
		in[i] = tensor.Box(a)
	}
	v, err := m.Call(context.Background(), method, in, nil)
	if err != nil {
		var raised *graph.RaisedError
		if errors.As(err, &raised) {
			return "raises " + raised.Error()
		}
		t.Fatalf("%v\n%s", err, m.Graph(method))
	}
	return graph.Text(v)
}

// TestLanguage runs code in the language as a person writes it. PyTorch's printer writes only a part of that.
func TestLanguage(t *testing.T) {
	for _, c := range []struct {
		name, code string
		args       []any
		want       string
	}{
		{"break and else", `
  def f(self, n: int) -> int:
    s = 0
    for i in range(n):
      if i == 5:
        break
      if i % 2 == 1:
        continue
      s += i
    return s
`, []any{100}, "6"},
		{"return in a loop", `
  def f(self, n: int) -> str:
    i = 0
    while True:
      i = i + 1
      for j in range(i):
        if i * j > n:
          return f"{i} and {j}"
    return "never"
`, []any{11}, "4 and 3"},
		{"early return", `
  def f(self, n: int) -> int:
    if n < 0:
      return -1
    y = n * 2
    if n > 10:
      return y
    z = y + 1
    return z
`, []any{4}, "9"},
		{"early return, other side", `
  def f(self, n: int) -> int:
    if n < 0:
      return -1
    y = n * 2
    if n > 10:
      return y
    z = y + 1
    return z
`, []any{-4}, "-1"},
		{"comprehensions", `
  def f(self, n: int) -> Tuple[List[int], Dict[int, str]]:
    a = [i * i for i in range(n) if i != 1]
    return (a, {i: str(i) for i in a})
`, []any{4}, "([0, 4, 9], {0: 0, 4: 4, 9: 9})"},
		{"zip, enumerate, slices", `
  def f(self, s: str) -> List[str]:
    out : List[str] = []
    for i, (a, b) in enumerate(zip(s, s[::-1])):
      out.append(a + b + str(i))
    return out[1:]
`, []any{"abc"}, "[bb1, ca2]"},
		{"conditional, and, or", `
  def f(self, a: int, b: int) -> str:
    return "both" if a > 0 and b > 0 else ("one" if a > 0 or b > 0 else "none")
`, []any{0, 3}, "one"},
		{"short circuit", `
  def f(self, l: List[int]) -> bool:
    return len(l) > 3 and l[3] == 1
`, []any{graph.NewList(graph.Int)}, "False"},
		{"raise", `
  def f(self, n: int) -> int:
    if n > 1:
      raise ValueError("too large: " + str(n))
    return n
`, []any{2}, "raises builtins.ValueError: too large: 2"},
		{"assert", `
  def f(self, n: int) -> int:
    assert n < 3, "small"
    return n
`, []any{7}, "raises builtins.AssertionError: AssertionError: small"},
		{"optional", `
  def f(self, n: Optional[int]=None) -> int:
    if n is None:
      m = 7
    else:
      m = unchecked_cast(int, n)
    return m
`, nil, "7"},
		{"isinstance of a union", `
  def f(self, x: Union[int, List[int], str]) -> str:
    if isinstance(x, (int, str)):
      return "plain"
    return "list"
`, []any{[]int{1}}, "list"},
		{"in place and shared", `
  def f(self, n: int) -> List[int]:
    a = [n]
    b = a
    b += [n + 1]
    b[0] = 9
    del a[1]
    a.append(5)
    return b
`, []any{1}, "[9, 5]"},
		{"unpacking a loop variable", `
  def f(self, d: Dict[str, int]) -> int:
    s = 0
    for k, v in d.items():
      s += v * len(k)
    return s
`, []any{dict("a", 2, "bb", 3)}, "8"},
		{"tensor indices", `
  def f(self, x: Tensor) -> List[int]:
    y = x[1:, 0]
    z = x[..., -1]
    x[0] = 7
    return [int(y.sum()), int(z.sum()), int(x[0, 1])]
`, []any{torch.Arange(6).View([]int{3, 2})}, "[6, 15, 7]"},
		{"numbers", `
  def f(self) -> Tuple[int, int, float, float, int, bool, complex]:
    return (-7 // 2, -7 % 3, 7 / 2, 2.5 // 1., 2 ** 5, 1 < 2 == True, 3.+2.j)
`, nil, "(-4, 2, 3.5, 2., 32., True, 3.+2.j)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := call(t, load(t, module+c.code[1:]), "f", c.args...); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func dict(kv ...any) tensor.Value {
	d := graph.NewDict(nil, nil)
	for i := 0; i < len(kv); i += 2 {
		d.Set(tensor.Box(kv[i]), tensor.Box(kv[i+1]))
	}
	return graph.Box(d)
}

// TestOldDivision: up to version 3 of the format a division of integers truncated.
func TestOldDivision(t *testing.T) {
	code := module + "  def f(self, x: Tensor) -> Tensor:\n    return torch.div(x, 2)\n"
	for version, want := range map[int]string{3: " 3\n-3\n[ CPULongType{2} ]",
		4: " 3.5000\n-3.5000\n[ CPUFloatType{2} ]"} {
		b := archive(t, code, version)
		m, err := jit.Load(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		if got := call(t, m, "f", torch.TensorOf[int64](7, -7)); got != want {
			t.Errorf("version %d: got %s, want %s", version, got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{"syntax", "  def f(self) -> int:\n    return (1\n", "code/__torch__.py:"},
		{"unknown name", "  def f(self) -> int:\n    return x\n", "code/__torch__.py:6: x is not defined"},
		{"unknown type", "  def f(self, x: Foo) -> int:\n    return 1\n", "unknown type Foo"},
		{"indentation", "  def f(self) -> int:\n      x = 1\n    return x\n", "indentation"},
		{"break outside", "  def f(self) -> int:\n    break\n", "break outside of a loop"},
		{"no such class", "  def f(self, x: __torch__.N) -> int:\n    return 1\n", "unknown type __torch__.N"},
		{"deep", "  def f(self) -> int:\n    return " + strings.Repeat("(", 1000) + "\n", "nested"},
	} {
		b := archive(t, module+c.code, 10)
		_, err := jit.Load(bytes.NewReader(b), int64(len(b)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	m := load(t, module+"  def f(self, x: Tensor) -> Tensor:\n    return torch.no_such(ops.nowhere.thing(x))\n")
	_, err := m.Call(context.Background(), "f", []tensor.Value{tensor.TensorValue(torch.Ones([]int{1}))}, nil)
	var missing *graph.MissingError
	if !errors.As(err, &missing) || strings.Join(missing.Ops, " ") != "nowhere::thing aten::no_such" {
		t.Errorf("unknown operators: got %v", err)
	}
	b := archive(t, module, 11)
	if _, err := jit.Load(bytes.NewReader(b), int64(len(b))); !errors.Is(err, jit.ErrFormat) {
		t.Errorf("version 11: got %v", err)
	}
	b = archive(t, module, 10, pickle.Entry{Key: "training", Value: "yes"})
	if _, err := jit.Load(bytes.NewReader(b), int64(len(b))); err == nil || !strings.Contains(err.Error(), "training") {
		t.Errorf("an attribute of another type: got %v", err)
	}
}

func TestModule(t *testing.T) {
	m, err := jit.LoadFile("testdata/hooks.pt")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.String(), "RecursiveScriptModule(\n  original_name=Hooked\n  (l): "+
		"RecursiveScriptModule(original_name=Linear)\n)"; got != want {
		t.Errorf("prints %s, want %s", got, want)
	}
	var names []string
	for _, p := range m.StateDict() {
		names = append(names, p.Name)
	}
	if got := strings.Join(names, " "); got != "l.weight l.bias" {
		t.Errorf("state dict %s", got)
	}
	if !m.Training() || !m.Submodule("l").Training() {
		t.Error("not in training")
	}
	if m.Eval(); m.Training() || m.Submodule("l").Training() {
		t.Error("in training after Eval")
	}
	// y = l(2x) + sum(2x)
	x := torch.FromSlice([]float32{1, 2}, 1, 2)
	got, err := m.Forward(x)
	if err != nil {
		t.Fatal(err)
	}
	w, b := m.NamedParameters()[0].Tensor, m.NamedParameters()[1].Tensor
	want := x.MulScalar(2).MatMul(w.T()).Add(b).AddScalar(6)
	if !got.AllClose(want) {
		t.Errorf("got %s, want %s", got, want)
	}
	got.Sum().Backward() // a loaded module can be trained
	if g := w.Grad(); g == nil || !g.AllClose(torch.FromSlice([]float32{2, 4, 2, 4}, 2, 2)) {
		t.Errorf("gradient %s", g)
	}
	out, err := m.Run(context.Background(), map[string]*tensor.Tensor{"x": x})
	if err != nil || !out["output"].AllClose(want) || out["output"].RequiresGrad() {
		t.Errorf("Run: %v, %v", out, err)
	}
	if _, err := m.Run(context.Background(), map[string]*tensor.Tensor{"y": x}); err == nil ||
		!strings.Contains(err.Error(), `missing input "x"`) {
		t.Errorf("Run without its input: %v", err)
	}
}

// TestSubmodules: a module with modules is indexed by numbers that are known only when the program runs, and so is a
// tuple; min of two numbers is no min of a list, which differs for NaN.
func TestSubmodules(t *testing.T) {
	code := `class M(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  a : __torch__.L
  def f(self, i: int) -> int:
    y : __torch__.I = (self.a)[i]
    t = (4, 5, 6)
    return torch.add((y).g(i, ), (t)[i])
  def least(self, x: float) -> float:
    return ops.prim.min(x, 2.)
class L(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  __annotations__["0"] = __torch__.A
  __annotations__["1"] = __torch__.B
class A(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  def g(self, i: int) -> int:
    return torch.add(i, 1)
class B(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  def g(self, i: int) -> int:
    return torch.mul(i, 100)
class I(Interface):
  def g(self, i: int) -> int:
    pass
`
	object := func(class string, state ...pickle.Entry) *pickle.Object {
		d := pickle.NewDict(pickle.PlainDict)
		for _, e := range append([]pickle.Entry{{Key: "training", Value: true}}, state...) {
			if err := d.Set(e.Key, e.Value); err != nil {
				t.Fatal(err)
			}
		}
		return &pickle.Object{Class: &pickle.Global{Module: "__torch__", Name: class}, New: true, State: d,
			HasState: true}
	}
	l := object("L", pickle.Entry{Key: "0", Value: object("A")}, pickle.Entry{Key: "1", Value: object("B")})
	b := archive(t, code, 10, pickle.Entry{Key: "a", Value: l})
	m, err := jit.Load(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"5", "105"} {
		if got := call(t, m, "f", i); got != want {
			t.Errorf("f(%d) gives %s, want %s", i, got, want)
		}
	}
	if _, err := m.Call(context.Background(), "f", []tensor.Value{tensor.IntValue(2)}, nil); err == nil {
		t.Error("there is no third module")
	}
	if got := call(t, m, "least", math.NaN()); got != "2." {
		t.Errorf("the least of NaN and 2 is %s", got)
	}
}

// An operator with an argument that it writes to is called by bytecode with that argument last, and without the
// defaults in front of it: PyTorch saves torch.norm as linalg_vector_norm.out.
func TestLiteOutArgument(t *testing.T) {
	m, err := jit.LoadFile("testdata/out_argument.ptl")
	if err != nil {
		t.Fatal(err)
	}
	y, err := m.Forward(torch.TensorOf[float32](3, 5, 4, 12).View([]int{2, 2}))
	if err != nil {
		t.Fatal(err)
	}
	if got := torch.Data[float32](y); len(got) != 2 || got[0] != 5 || got[1] != 13 {
		t.Errorf("the norms of columns are %v, want [5 13]", got)
	}
}

// Members of enumerations in attributes are pickled without a tuple around their value.
func TestEnumAttributes(t *testing.T) {
	m, err := jit.LoadFile("testdata/enum_attributes.pt")
	if err != nil {
		t.Fatal(err)
	}
	back, err := again(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*jit.Module{m, back} {
		v, err := m.Call(context.Background(), "forward", nil, nil)
		if err != nil || graph.Text(v) != "(+, 2)" {
			t.Errorf("%s, %v", graph.Text(v), err)
		}
	}
}
