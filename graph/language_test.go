package graph_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/tensor"
)

// TestText compares the text of values with what TorchScript's str() gives in PyTorch.
func TestText(t *testing.T) {
	strs := graph.NewList(graph.Str, tensor.StrValue("a"), tensor.StrValue("b c"))
	d := graph.NewDict(graph.Str, graph.Float)
	d.Set(tensor.StrValue("k"), tensor.FloatValue(0.1))
	vec := func(dt torch.DType, x ...float64) tensor.Value {
		return tensor.TensorValue(torch.FromSlice(x, len(x)).To(dt))
	}
	for _, c := range []struct {
		v    tensor.Value
		want string
	}{
		{strs, "[a, b c]"},
		{graph.NewTuple(tensor.IntValue(1), tensor.StrValue("x")), "(1, x)"},
		{graph.Box(d), "{k: 0.10000000000000001}"},
		{tensor.FloatValue(1e16), "10000000000000000."},
		{tensor.FloatValue(math.Copysign(0, -1)), "0."},
		{tensor.FloatValue(-(1 << 63)), "-9223372036854775808."},
		{tensor.FloatValue(1 << 63), "9.2233720368547758e+18"},
		{tensor.ComplexValue(1 - 2i), "1.-2.j"},
		{tensor.TensorValue(torch.FromSlice([]float32{3}, 1).Reshape([]int{})), "3\n[ CPUFloatType{} ]"},
		{vec(torch.Float32, 1, 2), " 1\n 2\n[ CPUFloatType{2} ]"},
		{vec(torch.Int64, 10, -200), "  10\n-200\n[ CPULongType{2} ]"},
		{vec(torch.Float64, 0.5, -1.25), " 0.5000\n-1.2500\n[ CPUDoubleType{2} ]"},
	} {
		if got := graph.Text(c.v); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// TestHelpers calls operators of the language with the arguments for which PyTorch differs from Python, or from what
// one expects.
func TestHelpers(t *testing.T) {
	s, n, f := tensor.StrValue, tensor.IntValue, tensor.FloatValue
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		op   string
		args []tensor.Value
		want string // of the result, or "!" and the error
	}{
		{"aten::splitlines", []tensor.Value{s("a\nb\r\nc")}, "[a, b, , c]"},
		{"aten::splitlines", []tensor.Value{s("a\n"), tensor.BoolValue(true)}, "[a, \n]"},
		{"aten::count", []tensor.Value{s(""), s("")}, "0"},
		{"aten::count", []tensor.Value{s("hello"), s("lo"), n(0), n(4)}, "1"},
		{"aten::startswith", []tensor.Value{s(""), s("e"), n(1)},
			"!basic_string::substr: __pos (which is 1) > this->size() (which is 0)"},
		{"aten::__getitem__.str", []tensor.Value{s("abc"), n(5)},
			"!basic_string::at: __n (which is 5) >= this->size() (which is 3)"},
		{"aten::center", []tensor.Value{s("4242"), n(5), s(".")}, ".4242"},
		{"aten::center", []tensor.Value{s("424"), n(6), s(".")}, ".424.."},
		{"aten::sum.int", []tensor.Value{graph.NewList(graph.Int, n(1<<40), n(7))}, "7"},
		{"aten::mul.left_t", []tensor.Value{graph.NewList(graph.Int, n(1)), n(-2)}, "!vector::reserve"},
		{"aten::ord", []tensor.Value{s("ab")}, "!String for ord() must be 1 character, found 2"},
		{"aten::percentFormat", []tensor.Value{s("%f|%d|%s"), graph.NewTuple(f(123456.789), f(1.9), s("x"))},
			"123456.789062|1|x"},
		{"aten::percentFormat", []tensor.Value{s("%g"), f(1)},
			"!The specifier %g is not supported in TorchScript format strings"},
		{"aten::percentFormat", []tensor.Value{s("%d"), s("x")},
			"!%d requires a number for formatting, but got String"},
		{"aten::remainder.float", []tensor.Value{f(1), f(0)}, "nan"},
		{"aten::floordiv.float", []tensor.Value{f(1), f(0)}, "inf"},
		{"aten::divmod.float", []tensor.Value{f(inf), f(1)}, "(nan, nan)"},
		{"aten::pow.int", []tensor.Value{n(0), n(-1)}, "!0.0 cannot be raised to a negative power"},
		{"prim::min.float", []tensor.Value{f(nan), f(2)}, "2."},
		{"prim::max.float", []tensor.Value{f(nan), f(2)}, "2."},
		{"aten::floor.float", []tensor.Value{f(inf)}, "!Cannot convert float inf to integer"},
		{"aten::modf", []tensor.Value{f(-inf)}, "(0., -inf)"},
		{"aten::__lshift__.int", []tensor.Value{n(1), n(64)}, "1"},
		{"aten::Bool.Tensor", []tensor.Value{tensor.TensorValue(torch.Ones([]int{2}))},
			"!Boolean value of Tensor with more than one value is ambiguous"},
		{"aten::IntImplicit", []tensor.Value{tensor.TensorValue(torch.Ones([]int{1}))},
			"!Cannot input a tensor of dimension other than 0 as a scalar argument"},
		{"gotorch::tuple_index", []tensor.Value{graph.NewTuple(n(4), n(5)), n(-1)}, "5"},
		{"aten::device", []tensor.Value{s("cuda:1")}, "cuda:1"},
	} {
		o := graph.Lookup(c.op)
		if o == nil {
			t.Errorf("%s is missing", c.op)
			continue
		}
		got := ""
		if res, err := o.Call(c.args...); err != nil {
			got = "!" + err.(*tensor.Error).Msg
		} else if got = graph.Text(res[0]); len(res) > 1 {
			got = graph.Text(graph.NewTuple(res...))
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.op, got, c.want)
		}
	}
	d := graph.NewDict(graph.Str, graph.Int)
	d.Set(s("a"), n(1))
	d.Set(s("b"), n(2))
	if res, err := graph.Lookup("aten::popitem.str").Call(graph.Box(d)); err != nil || graph.Text(res[0]) != "(a, 1)" {
		t.Errorf("popitem gives %v, %v", res, err)
	}
	empty := graph.NewList(graph.ListOf(graph.Int), graph.NewList(graph.Int))
	res, err := graph.Lookup("aten::tensor").Call(empty, tensor.Value{}, tensor.Value{}, tensor.BoolValue(false))
	if err != nil || res[0].T.DType() != torch.Int64 {
		t.Errorf("tensor of empty lists of ints: %v, %v", res, err)
	}
	// TorchScript makes a tensor of the default dtype before one of the wanted dtype
	double := tensor.Value{K: tensor.KInt, N: 7}
	for _, c := range []struct {
		op   string
		data tensor.Value
	}{{"aten::tensor", graph.NewList(graph.Float, tensor.FloatValue(0.1))},
		{"aten::tensor.float", tensor.FloatValue(0.1)},
		{"aten::as_tensor.list", graph.NewList(graph.Float, tensor.FloatValue(0.1))}} {
		args := []tensor.Value{c.data, double, {}}
		if !strings.Contains(c.op, "as_tensor") {
			args = append(args, tensor.BoolValue(false))
		}
		res, err := graph.Lookup(c.op).Call(args...)
		if err != nil || res[0].T.DType() != torch.Float64 || res[0].T.Item() != float64(float32(0.1)) {
			t.Errorf("%s of 0.1 as float64: %v, %v; PyTorch gives %v", c.op, res, err, float64(float32(0.1)))
		}
	}
}

// TestSharedResult: a result that shares memory with an argument although the schema does not say so keeps that memory,
// also where the program hands the result on at once.
func TestSharedResult(t *testing.T) {
	f := graph.NewFunction("f")
	x := f.Body.Param("x", graph.Tensor)
	copied := f.Body.Call1("aten::clone", x)
	view := f.Body.Call1("aten::_unsafe_view", copied, f.Body.List(graph.Int, f.Body.Const(3), f.Body.Const(2)))
	f.Body.Return(view)
	for range 3 {
		res, err := f.Run(context.Background(), tensor.TensorValue(torch.Ones([]int{2, 3})))
		if err != nil {
			t.Fatal(err)
		}
		if got := res[0].T.Sum().Item(); got != 6 {
			t.Errorf("the sum is %v, want 6", got)
		}
	}
}

// TestSortObjects: objects are sorted by the method __lt__ of their class, in the run that sorts them.
func TestSortObjects(t *testing.T) {
	c := graph.NewClass("__torch__.C", graph.ClassType)
	c.AddAttr(graph.Attr{Name: "n", Type: graph.Int})
	lt := graph.NewFunction("__lt__")
	a, b := lt.Body.Param("a", c.Type), lt.Body.Param("b", c.Type)
	lt.Body.Return(lt.Body.Call1("aten::lt.int", lt.Body.GetAttr(a, "n"), lt.Body.GetAttr(b, "n")))
	c.AddMethod("__lt__", lt)
	f := graph.NewFunction("f")
	l := f.Body.Param("l", graph.ListOf(c.Type))
	f.Body.Return(f.Body.Call1("aten::sorted.any", l))
	var items []tensor.Value
	for _, n := range []int{3, 1, 2} {
		o := graph.NewObject(c)
		o.SetAttr("n", tensor.IntValue(n))
		items = append(items, graph.Box(o))
	}
	res, err := f.Run(context.Background(), graph.NewList(c.Type, items...))
	if err != nil {
		t.Fatal(err)
	}
	sorted, _ := graph.ItemsOf(res[0])
	for i, v := range sorted {
		if n, _ := v.X.(*graph.Object).Attr("n"); n.N != int64(i+1) {
			t.Errorf("element %d has n = %d", i, n.N)
		}
	}
	if _, err := f.RunWith(context.Background(), graph.Options{MaxSteps: 4},
		graph.NewList(c.Type, items...)); err == nil {
		t.Error("the steps of __lt__ are not counted")
	}
}

// TestSame: operators by another name are found in the registry, and give what those give.
func TestSame(t *testing.T) {
	x := torch.FromSlice([]float32{1, -2, 3, -4, 5, -6}, 3, 2)
	sizes := graph.NewList(graph.Int, tensor.IntValue(1), tensor.IntValue(2))
	for _, c := range []struct {
		name, op string
		args     []tensor.Value
	}{
		{"prim::abs", "aten::abs", []tensor.Value{tensor.TensorValue(x)}},
		{"aten::mT.a", "aten::mT", []tensor.Value{tensor.TensorValue(x)}},
		{"aten::split", "aten::split_with_sizes", []tensor.Value{tensor.TensorValue(x), sizes, tensor.IntValue(0)}},
		{"aten::neg", "aten::neg", []tensor.Value{tensor.TensorValue(x)}},
	} {
		o := graph.Lookup(c.name)
		s := o.Same()
		if s.FullName() != c.op || s.Same() != s {
			t.Errorf("%s is %s, want %s", c.name, s.FullName(), c.op)
		}
		got, err := o.Call(c.args...)
		want, err2 := s.Call(c.args...)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		a, _ := graph.ItemsOf(got[0])
		b, _ := graph.ItemsOf(want[0])
		if a == nil {
			a, b = got, want
		}
		if len(a) != len(b) || len(a) == 0 {
			t.Fatalf("%s: %d results, want %d", c.name, len(a), len(b))
		}
		for i := range a {
			if !a[i].T.Equal(b[i].T) {
				t.Errorf("%s: result %d is %v, want %v", c.name, i, a[i].T, b[i].T)
			}
		}
	}
}
