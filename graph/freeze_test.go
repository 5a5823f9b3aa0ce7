package graph

import (
	"context"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch/tensor"

	_ "github.com/gotorch-dev/torch/ops/all"
)

// TestFreezeState: a method that keeps a state in attributes is fused, too, and the state is what it would be: as often
// set, with the program's own layout, and as before where a call fails.
func TestFreezeState(t *testing.T) {
	c := NewClass("Cell", ClassType)
	c.AddAttr(Attr{Name: "weight", Type: Tensor, Parameter: true})
	c.AddAttr(Attr{Name: "state", Type: Tensor})
	c.AddAttr(Attr{Name: "calls", Type: Int})
	f := NewFunction("forward")
	b := f.Body
	self, x := b.Param("self", c.Type), b.Param("x", Tensor)
	b.SetAttr(self, "calls", b.Call1("aten::add.int", b.GetAttr(self, "calls"), 1))
	in := b.Call1("aten::add.Tensor", x, b.GetAttr(self, "state"))
	y := b.Call1("aten::conv2d", in, b.GetAttr(self, "weight"), nil, []int{1, 1}, []int{1, 1})
	y = b.Call1("aten::relu", y)
	b.SetAttr(self, "state", y)
	b.Return(b.Call1("aten::mul.Scalar", b.GetAttr(self, "state"), 2))

	object := func() *Object {
		w := tensor.New([]int{4, 4, 3, 3}, tensor.Float32)
		for i := range tensor.Data[float32](w) {
			tensor.Data[float32](w)[i] = float32(i%7)/7 - 0.4
		}
		o := NewObject(c)
		o.SetAttr("weight", tensor.TensorValue(w))
		o.SetAttr("state", tensor.TensorValue(zeros(1, 4, 6, 5)))
		o.SetAttr("calls", tensor.IntValue(0))
		return o
	}
	plain, fused := object(), object()
	z := Freeze(f, fused)
	if z.fn == nil {
		t.Fatal("a method that sets attributes is not fused")
	}
	input := zeros(1, 4, 6, 5)
	tensor.Data[float32](input)[7] = 1
	for i := range 4 {
		arg := tensor.TensorValue(input)
		want, err := f.Run(context.Background(), Box(plain), arg)
		if err != nil {
			t.Fatal(err)
		}
		got, err := z.Run(context.Background(), Options{}, Box(fused), arg)
		if err != nil {
			t.Fatal(err)
		}
		same := func(what string, g, w *tensor.Tensor) {
			if !slices.Equal(g.Strides(), w.Strides()) ||
				!g.AllClose(w, tensor.AllCloseOptions{Atol: tensor.Some(1e-5)}) {
				t.Errorf("call %d: %s is %v with strides %v, want %v with %v", i, what, g, g.Strides(), w, w.Strides())
			}
		}
		same("the result", got[0].T, want[0].T)
		g, _ := fused.Attr("state")
		w, _ := plain.Attr("state")
		same("the state", g.T, w.T)
		if i == 2 { // a call that fails behind the first attribute that it sets
			for _, o := range []struct {
				name string
				run  func() error
			}{{"plain", func() error {
				_, err := f.Run(context.Background(), Box(plain), tensor.TensorValue(zeros(1, 3, 6, 5)))
				return err
			}}, {"fused", func() error {
				_, err := z.Run(context.Background(), Options{}, Box(fused), tensor.TensorValue(zeros(1, 3, 6, 5)))
				return err
			}}} {
				if o.run() == nil {
					t.Errorf("%s: a wrong shape is no error", o.name)
				}
			}
		}
	}
	n, _ := fused.Attr("calls")
	if n.N != 5 {
		t.Errorf("%d calls were counted, want 5", n.N)
	}
	if z.Stale() {
		t.Error("the state makes what was prepared stale")
	}
}

func zeros(shape ...int) *tensor.Tensor {
	t := tensor.New(shape, tensor.Float32)
	t.ZeroInPlace()
	return t
}
