package foreach_test

import (
	"math"
	"strings"
	"testing"

	_ "github.com/gotorch-dev/torch/ops/all"
	"github.com/gotorch-dev/torch/tensor"
)

type T = tensor.Tensor

func vec(v ...float32) *T { return tensor.FromSlice(v) }

func num(v float32) *T { return tensor.FromSlice([]float32{v}, []int{}...) }

// call calls an operator with arguments by name.
func call(t *testing.T, name string, lists [][]*T, kw map[string]any) ([]tensor.Value, error) {
	t.Helper()
	op := tensor.LookupOp(name)
	if op == nil {
		t.Fatalf("there is no %s", name)
	}
	args := make([]tensor.Value, len(op.Sch.Params))
	for i := range args {
		p := &op.Sch.Params[i]
		switch v, given := kw[p.Name]; {
		case i < len(lists):
			args[i] = tensor.TensorsValue(lists[i])
		case given:
			args[i] = tensor.Box(v)
		case p.Default != nil:
			args[i] = *p.Default
		}
	}
	return op.Call(args...)
}

// TestSteps compares with the numbers of PyTorch 2.15's operators for the CPU.
func TestSteps(t *testing.T) {
	type kw = map[string]any
	adam := func(amsgrad bool) kw {
		return kw{"lr": 0.1, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.1, "eps": 1e-3, "amsgrad": amsgrad,
			"maximize": amsgrad, "grad_scale": num(2)}
	}
	sgd := func(nesterov, first bool, more kw) kw {
		k := kw{"weight_decay": 0.1, "momentum": 0.9, "lr": 0.1, "dampening": 0.5, "nesterov": nesterov,
			"maximize": nesterov, "is_first_step": first}
		for n, v := range more {
			k[n] = v
		}
		return k
	}
	p, g := []float32{1, -2, 3}, []float32{.5, 1, -2}
	m, v, most := []float32{.1, -.2, .3}, []float32{.04, .01, .09}, []float32{.05, .05, .05}
	for _, c := range []struct {
		name string
		in   [][]float32
		kw   kw
		want [][]float32
	}{
		{"_fused_adam_", [][]float32{p, g, m, v, nil, {3}}, adam(false),
			[][]float32{{0.9606909, -1.9083619, 2.9585392}, {0.25, 0.5, -1.0}, {0.125, -0.15, 0.2},
				{0.040825, 0.0108, 0.094}, nil, {3}}},
		{"_fused_adam_", [][]float32{p, g, m, v, most, {3}}, adam(true),
			[][]float32{{0.9786863, -1.9289545, 2.9219103}, {0.25, 0.5, -1.0}, {0.075, -0.25, 0.4},
				{0.039825, 0.0148, 0.106}, {0.05, 0.05, 0.106}, {3}}},
		{"_fused_adamw_", [][]float32{p, g, m, v, nil, {3}}, adam(false),
			[][]float32{{0.9535671, -1.9058729, 2.9356766}, {0.25, 0.5, -1.0}, {0.115, -0.13, 0.17},
				{0.040225, 0.0124, 0.0991}, nil, {3}}},
		{"_fused_adamw_", [][]float32{p, g, m, v, most, {3}}, adam(true),
			[][]float32{{0.9715282, -1.9146382, 2.8952961}, {0.25, 0.5, -1.0}, {0.065, -0.23, 0.37},
				{0.040225, 0.0124, 0.0991}, {0.05, 0.05, 0.0991}, {3}}},
		{"_fused_sgd_", [][]float32{p, g, m}, sgd(false, false, kw{"grad_scale": num(2)}),
			[][]float32{{0.9735, -1.997, 3.0079999}, {0.25, 0.5, -1.0}, {0.265, -0.03, -0.08}}},
		{"_fused_sgd_", [][]float32{p, g, m}, sgd(true, true, nil),
			[][]float32{{1.076, -1.772, 2.563}, {0.5, 1.0, -2.0}, {-0.4, -1.2, 2.3}}},
		{"_fused_sgd_", [][]float32{p, g, m}, sgd(true, true, kw{"found_inf": num(1)}), [][]float32{p, g, m}},
		{"_fused_adagrad_", [][]float32{p, g, v, {3}},
			kw{"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1, "eps": 1e-3, "maximize": false, "grad_scale": num(2)},
			[][]float32{{0.9278255, -2.0788078, 3.0764949}, {0.25, 0.5, -1.0}, {0.1625, 0.1, 0.58}, {3}}},
		{"_fused_adagrad_", [][]float32{p, g, v, {3}},
			kw{"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1, "eps": 1e-3, "maximize": true},
			[][]float32{{1.0743693, -1.9170234, 2.9174023}, {0.5, 1.0, -2.0}, {0.2, 1.4500002, 5.3799996}, {3}}},
	} {
		for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16} {
			for _, gaps := range []bool{false, true} {
				for _, tensorLR := range []bool{false, true} {
					var lists [][]*T
					for _, x := range c.in {
						switch {
						case x == nil:
							lists = append(lists, nil)
						case len(x) == 1:
							lists = append(lists, []*T{num(x[0])})
						default:
							a := vec(x...).To(dt)
							if gaps { // every other element of a longer tensor
								a = tensor.Alias(tensor.New([]int{6}, dt), []int{3}, []int{2}, 1).CopyInPlace(a)
							}
							lists = append(lists, []*T{a})
						}
					}
					name, k := "aten::"+c.name, c.kw
					if tensorLR {
						k = map[string]any{}
						for n, v := range c.kw {
							k[n] = v
						}
						name, k["lr"] = name+".tensor_lr", num(0.1)
					}
					version := lists[0][0].Version()
					if _, err := call(t, name, lists, k); err != nil {
						t.Errorf("%s, %s: %v", name, dt, err)
						continue
					}
					if lists[0][0].Version() == version {
						t.Errorf("%s: the change was not counted", name)
					}
					tol := 2e-6
					if dt == tensor.BFloat16 {
						tol = 2e-2
					}
					for i, want := range c.want {
						for j, w := range want {
							x := lists[i][0].To(tensor.Float64).View([]int{-1}).Select(0, j).Item()
							if math.Abs(x-float64(w)) > tol*math.Max(1, math.Abs(float64(w))) {
								t.Errorf("%s, %s: element %d of list %d is %v, want %v", name, dt, j, i, x, w)
							}
						}
					}
				}
			}
		}
	}
}

func TestErrors(t *testing.T) {
	type kw = map[string]any
	one, two := vec(1), vec(1, 2)
	sgd := kw{"weight_decay": 0.0, "momentum": 0.9, "lr": 0.1, "dampening": 0.0, "nesterov": false, "maximize": false,
		"is_first_step": false}
	for _, c := range []struct {
		want  string
		name  string
		lists [][]*T
		kw    kw
	}{
		{"Tensor lists must have the same number of tensors, got 1 and 2", "_foreach_add.List",
			[][]*T{{one}, {one, one}}, nil},
		{"Tensor list must have same number of elements as scalar list.", "_foreach_mul_.ScalarList", [][]*T{{one}},
			kw{"scalars": []float64{1, 2}}},
		{"Tensor list must have at least one tensor.", "_foreach_zero_", [][]*T{{}}, nil},
		{"there are 1 parameters and 2 tensors in grads", "_fused_sgd_", [][]*T{{one}, {one, one}, {one}}, sgd},
		{"momentum_buffer_list[0] has shape [2], its parameter [1]", "_fused_sgd_", [][]*T{{one}, {one}, {two}}, sgd},
		{"grads[0] is torch.float64, its parameter torch.float32", "_fused_sgd_",
			[][]*T{{one}, {one.To(tensor.Float64)}, {one}}, sgd},
		{"only floating-point and complex parameters", "_fused_sgd_", [][]*T{{one.To(tensor.Int64)}, {one}, {one}},
			sgd},
		{"more than one element of the written-to tensor", "_fused_sgd_", [][]*T{{one.Expand([]int{2})}, {two}, {two}},
			sgd},
	} {
		if _, err := call(t, "aten::"+c.name, c.lists, c.kw); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

// The kernel that raises step counters computes what the operator says for other tensors.
func TestCounters(t *testing.T) {
	for _, l := range [][]*T{{num(1), num(4)}, {vec(1), vec(4)}, {num(1).To(tensor.Float64), num(4)}} {
		if _, err := call(t, "aten::_foreach_add_.Scalar", [][]*T{l}, map[string]any{"scalar": 2}); err != nil {
			t.Fatal(err)
		}
		if a, b := l[0].Item(), l[1].Item(); a != 3 || b != 6 {
			t.Errorf("%v and %v, want 3 and 6", a, b)
		}
	}
	leaf := num(1).SetRequiresGrad(true)
	if _, err := call(t, "aten::_foreach_add_.Scalar", [][]*T{{leaf}}, map[string]any{"scalar": 2}); err == nil ||
		!strings.Contains(err.Error(), "a leaf Variable") {
		t.Errorf("a leaf: %v", err)
	}
}

// Gradients flow through the operators on lists.
func TestGradients(t *testing.T) {
	x, y := vec(1, 2).SetRequiresGrad(true), vec(3).SetRequiresGrad(true)
	out, err := call(t, "aten::_foreach_mul.ScalarList", [][]*T{{x, y}}, map[string]any{"scalars": []float64{2, 5}})
	if err != nil {
		t.Fatal(err)
	}
	l := out[0].X.([]*T)
	g := tensor.Grad([]*T{l[0].Sum(), l[1].Sum()}, []*T{x, y})
	if a, b := g[0].Sum().Item(), g[1].Item(); a != 4 || b != 5 {
		t.Errorf("gradients are %v and %v", g[0], g[1])
	}
}

// The kernel that multiplies a list by one number gives what single multiplications give.
func TestScale(t *testing.T) {
	for _, sizes := range [][]int{{5}, {0, 3, 0}, {70_000, 1, 16_384, 7}, {0}} {
		var list, want []*T
		by := tensor.FromSlice([]float32{0.37}).View([]int{})
		for k, n := range sizes {
			d := make([]float32, n)
			for i := range d {
				d[i] = float32(i%101) - 50 + float32(k)/3
			}
			x := tensor.FromSlice(d, n)
			list, want = append(list, x), append(want, x.Mul(by))
		}
		if _, err := tensor.CallOp("aten::_foreach_mul_.Tensor", tensor.TensorsValue(list),
			tensor.TensorValue(by)); err != nil {
			t.Fatal(err)
		}
		for i := range list {
			if !list[i].Equal(want[i]) || list[i].Version() == 0 {
				t.Errorf("sizes %v: tensor %d differs", sizes, i)
			}
		}
	}
}
