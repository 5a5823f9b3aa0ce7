package functorch_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	functorch "github.com/gotorch-dev/torch/func"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
)

// wave has the elements sin(0.7 i), as the calls of PyTorch had that gave the figures below.
func wave(shape ...int) *T {
	n := 1
	for _, s := range shape {
		n *= s
	}
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(math.Sin(float64(float32(i) * 0.7)))
	}
	return torch.FromSlice(v, shape...)
}

func near(t *testing.T, what string, got *T, want ...float64) {
	t.Helper()
	v := torch.Data[float32](got.Contiguous())
	if len(v) != len(want) {
		t.Fatalf("%s has %d elements, want %d", what, len(v), len(want))
	}
	for i := range v {
		if math.Abs(float64(v[i])-want[i]) > 2e-5*(1+math.Abs(want[i])) {
			t.Errorf("%s: element %d is %v, PyTorch has %v", what, i, v[i], want[i])
		}
	}
}

func net() (*nn.Sequential, map[string]*T) {
	return nn.NewSequential(nn.NewLinear(3, 4), nn.NewTanh(), nn.NewLinear(4, 2)),
		map[string]*T{"0.weight": wave(4, 3), "0.bias": wave(4), "2.weight": wave(2, 4), "2.bias": wave(2)}
}

// Gradients of single examples, by PyTorch: vmap(grad(loss), in_dims=(None, None, 0, 0)).
func TestPerSampleGradients(t *testing.T) {
	lin := nn.NewLinear(4, 3)
	loss := func(a []*T) []*T {
		y := functorch.FunctionalCall(lin, a[2].Unsqueeze(0), map[string]*T{"weight": a[0], "bias": a[1]})
		return []*T{F.CrossEntropy(y, a[3].Unsqueeze(0))}
	}
	g := functorch.Vmap(functorch.Grad(loss, functorch.GradOptions{Argnums: []int{0, 1}}),
		functorch.VmapOptions{InDims: []int{functorch.None, functorch.None, 0, 0}})
	for _, chunk := range []int{0, 2} {
		if chunk > 0 {
			g = functorch.Vmap(functorch.Grad(loss, functorch.GradOptions{Argnums: []int{0, 1}}), functorch.VmapOptions{
				InDims: []int{functorch.None, functorch.None, 0, 0}, ChunkSize: chunk})
		}
		r := g([]*T{wave(3, 4), wave(3).MulScalar(0.5), wave(5, 4), torch.TensorOf[int64](0, 2, 1, 1, 0)})
		near(t, "weight's", r[0].Select(0, 1), 0.004741530865430832, -0.004965099040418863, -0.012336562387645245,
			-0.01390595082193613, 0.3210281729698181, -0.3361649513244629, -0.8352542519569397, -0.9415105581283569,
			-0.32576969265937805, 0.3411300480365753, 0.8475908041000366, 0.9554165005683899)
		near(t, "bias's", r[1], -0.47484326362609863, 0.012448624707758427, 0.4623946249485016, 0.014154322445392609,
			0.9583267569541931, -0.9724810719490051, 0.30749139189720154, -0.9839052557945251, 0.676413893699646,
			0.06584631651639938, -0.11782389879226685, 0.05197765678167343, -0.8416444659233093, 0.07949930429458618,
			0.7621451020240784)
	}
}

// Gradients of single images with respect to the weight of a convolution.
func TestPerSampleGradientsOfConvolution(t *testing.T) {
	f := functorch.Two(func(w, x *T) *T {
		y := F.Conv2d(x.Unsqueeze(0), w, F.Conv2dOptions{Padding: []int{1, 1}})
		return y.ReLU().Square().Sum()
	})
	g := functorch.Vmap(functorch.Grad(f), functorch.VmapOptions{InDims: []int{functorch.None, 0}})
	near(t, "the weight's", g([]*T{wave(2, 1, 3, 3), wave(4, 1, 5, 5)})[0].Select(0, 2), -7.176739692687988,
		-7.484898567199707, -3.051781177520752, 9.11471176147461, 7.312157154083252, 1.0946651697158813,
		-9.18851375579834, -7.534872531890869, 0.46779000759124756, -6.878535270690918, -6.897771835327148,
		-2.5958657264709473, 8.740802764892578, 6.70170783996582, 0.7490265965461731, -8.864031791687012,
		-7.118518829345703, 0.6434015035629272)
}

func TestJacobians(t *testing.T) {
	m, p := net()
	f := functorch.One(func(x *T) *T { return functorch.FunctionalCall(m, x, p) })
	x := wave(3)
	jac := []float64{-0.36726534366607666, -0.709470272064209, -0.7180003523826599, 0.47135409712791443,
		0.7260871529579163, 0.6393300890922546}
	near(t, "jacrev", functorch.Jacrev(f)([]*T{x})[0], jac...)
	near(t, "jacrev in chunks", functorch.Jacrev(f, functorch.JacOptions{ChunkSize: 1})([]*T{x})[0], jac...)
	near(t, "jacfwd", functorch.Jacfwd(f)([]*T{x})[0], jac...)
	sum := functorch.One(func(x *T) *T { return f([]*T{x})[0].Sum() })
	hess := []float64{-0.11822608858346939, -0.014445806853473186, 0.09612857550382614, -0.014445806853473186,
		-0.02039165608584881, -0.01674698293209076, 0.09612857550382614, -0.016746986657381058, -0.12174619734287262}
	near(t, "hessian", functorch.Hessian(sum)([]*T{x})[0], hess...)
	near(t, "jacrev of jacrev", functorch.Jacrev(functorch.Jacrev(sum))([]*T{x})[0], hess...)
	y, dy := functorch.JVP(f, []*T{x}, []*T{torch.TensorOf[float32](1, 0.5, -2)})
	near(t, "jvp", dy[0], 0.7140002846717834, -0.4442625343799591)
	if !y[0].AllClose(f([]*T{x})[0]) || y[0].RequiresGrad() || dy[0].RequiresGrad() {
		t.Errorf("jvp's result is %v", y[0])
	}
	_, pull := functorch.VJP(f, []*T{x})
	near(t, "vjp", pull([]*T{torch.TensorOf[float32](1, -1)})[0], -0.8386195302009583, -1.43555748462677,
		-1.3573304414749146)
	_, push := functorch.Linearize(f, []*T{x})
	near(t, "linearize", push([]*T{torch.TensorOf[float32](1, 0.5, -2)})[0], 0.7140002846717834, -0.4442625343799591)
	cubed := functorch.One(func(x *T) *T { return x.Sin().Mul(x.Mul(x).Mul(x)) })
	third := functorch.Grad(functorch.Grad(functorch.Grad(cubed)))([]*T{torch.TensorOf[float32](0.7).Select(0, 0)})[0]
	near(t, "the third derivative", third, 10.39897632598877)
	// a Hessian for each example: maps inside maps, over both directions
	batch := torch.Stack([]*T{x, x.MulScalar(0.5)})
	h := functorch.Vmap(functorch.Hessian(sum))([]*T{batch})[0]
	if want := functorch.Hessian(sum)([]*T{batch.Select(0, 1)})[0]; !h.Select(0, 1).AllClose(want) {
		t.Errorf("vmap of hessian: %v, want %v", h.Select(0, 1), want)
	}
	near(t, "vmap of hessian", h.Select(0, 0), hess...)
}

// An ensemble: vmap over stacked parameters.
func TestEnsemble(t *testing.T) {
	m, p := net()
	var models []nn.Module
	for i := range 3 {
		k, _ := net()
		for n, q := range nn.NamedParameters(k) {
			torch.NoGrad(func() { q.CopyInPlace(p[n].MulScalar(float64(i+1) * 0.5)) })
		}
		models = append(models, k)
	}
	params, buffers := functorch.StackModuleState(models...)
	if len(params) != 4 || len(buffers) != 0 || !params["0.weight"].RequiresGrad() {
		t.Fatalf("stacked: %v, %v", params, buffers)
	}
	names, list := functorch.Flatten(params)
	f := func(a []*T) []*T {
		return []*T{functorch.FunctionalCall(m, a[4], functorch.Unflatten(names, a[:4]))}
	}
	y := functorch.Vmap(f, functorch.VmapOptions{InDims: []int{0, 0, 0, 0, functorch.None}})(append(list,
		wave(2, 3)))[0]
	near(t, "the ensemble's results", y.Detach(), 0.3651091158390045, 0.038424283266067505, 0.4018391966819763,
		-0.009995073080062866, 0.8901728391647339, 0.04185223579406738, 1.2679150104522705, -0.45706063508987427,
		1.3507899045944214, 0.14369618892669678, 2.275209903717041, -1.0851805210113525)
	y.Sum().Backward() // gradients flow through the map
	if g := params["2.bias"].Grad(); g == nil || !g.AllClose(torch.FullLike(g, 2)) {
		t.Errorf("the gradient of the biases is %v", g)
	}
}

func TestErrors(t *testing.T) {
	id := functorch.One(func(x *T) *T { return x })
	ones := func(s ...int) *T { return torch.Ones(s) }
	opt := func(in ...int) functorch.VmapOptions { return functorch.VmapOptions{InDims: in} }
	for _, c := range []struct {
		f    func()
		want string
	}{
		{func() { functorch.Vmap(functorch.Two(func(x, y *T) *T { return x.Mul(y) }))([]*T{ones(3), ones(4)}) },
			"Expected all tensors to have the same size in the mapped dimension, got sizes [3 4]"},
		{func() { functorch.Vmap(id, opt(2))([]*T{ones(3)}) },
			"dimensionality 1 so expected in_dim to satisfy -1 <= in_dim < 1"},
		{func() { functorch.Vmap(id, opt(functorch.None))([]*T{ones(3)}) },
			"Expected at least one Tensor to vmap over"},
		{func() { functorch.Vmap(id)(nil) }, "got no inputs"},
		{func() { functorch.Vmap(id, functorch.VmapOptions{OutDims: []int{3}})([]*T{ones(3)}) },
			"Dimension out of range (expected to be in range of [-1, 0], but got 3)"},
		{func() {
			functorch.Vmap(functorch.One(func(x *T) *T { return x.MulScalar(x.Item()) }))([]*T{ones(3)})
		}, "calling .item() on a Tensor"},
		{func() {
			functorch.Vmap(functorch.One(func(x *T) *T { return x.MulScalar(float64(torch.Data[float32](x)[0])) }))([]*T{
				ones(3)})
		}, "reading the elements of a Tensor"},
		{func() {
			functorch.Vmap(functorch.Two(func(x, y *T) *T { return x.MulInPlace(y) }), opt(functorch.None, 0))([]*T{
				ones(3), ones(4, 3)})
		}, "being vmapped over but `self` not being vmapped over at level 1"},
		{func() {
			functorch.Vmap(functorch.One(func(x *T) *T { return x.Add(torch.Rand([]int{2})) }))([]*T{ones(3, 2)})
		}, "called random operation while in randomness error mode"},
		{func() { functorch.Vmap(functorch.One(func(x *T) *T { return x.Nonzero() }))([]*T{ones(3, 2)}) },
			"can output dynamic shape"},
		{func() { functorch.Vmap(id, functorch.VmapOptions{Randomness: "x"}) }, "Only allowed values for randomness"},
		{func() { functorch.Vmap(id, functorch.VmapOptions{OutDims: []int{functorch.None}})([]*T{ones(2)}) },
			"can not return a BatchedTensor when out_dim is None"},
		{func() { functorch.Grad(id)([]*T{ones(3)}) }, "return a scalar Tensor, got tensor with 1 dims"},
		{func() { functorch.Grad(id, functorch.GradOptions{Argnums: []int{1}})([]*T{ones(3)}) },
			"Got argnum=1, but only 1 positional inputs"},
		{func() { functorch.JVP(id, []*T{ones(2)}, nil) },
			"Expected primals and tangents to have the same python structure"},
		{func() { functorch.JVP(id, []*T{ones(2)}, []*T{ones(3)}) }, "tangent 0 has the shape [3]"},
		{func() { functorch.StackModuleState() }, "Expected at least one model, got 0."},
		{func() { functorch.StackModuleState(nn.NewLinear(1, 1), nn.NewTanh()) }, "all models to be of the same class"},
		{func() { functorch.FunctionalCall(nn.NewLinear(1, 1), ones(1), map[string]*T{"nope": ones(1)}) }, "'nope'"},
	} {
		err := torch.Try(c.f)
		var e *torch.Error
		if !errors.As(err, &e) || !strings.Contains(e.Error(), c.want) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
}

func TestRandomness(t *testing.T) {
	noise := functorch.One(func(x *T) *T { return x.Add(torch.Randn([]int{5})) })
	drop := functorch.One(func(x *T) *T { return F.Dropout(x) })
	for _, f := range []functorch.Func{noise, drop} {
		same := functorch.Vmap(f, functorch.VmapOptions{Randomness: "same"})([]*T{torch.Ones([]int{2, 5})})[0]
		diff := functorch.Vmap(f, functorch.VmapOptions{Randomness: "different"})([]*T{torch.Ones([]int{40, 5})})[0]
		if !same.Select(0, 0).Equal(same.Select(0, 1)) {
			t.Errorf("'same' gave %v", same)
		}
		if diff.Select(0, 0).Equal(diff.Select(0, 1)) && diff.Select(0, 0).Equal(diff.Select(0, 2)) {
			t.Errorf("'different' gave %v", diff)
		}
	}
}

// A change in place of a view of a tensor made in the mapped function has a gradient.
func TestInPlaceInMappedGradient(t *testing.T) {
	f := functorch.One(func(x *T) *T {
		y := x.MulScalar(1)
		y.Select(0, 0).MulScalarInPlace(3)
		y.AddScalarInPlace(1)
		return y.Square().Sum()
	})
	x := wave(4, 3)
	got := functorch.Vmap(functorch.Grad(f))([]*T{x})[0]
	for i := range 4 {
		if want := functorch.Grad(f)([]*T{x.Select(0, i)})[0]; !got.Select(0, i).AllClose(want) {
			t.Errorf("example %d: %v, want %v", i, got.Select(0, i), want)
		}
	}
}
