package sparse_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/nn/utils"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/tensor"
)

type T = torch.Tensor

// sample is [[0 0 3] [4 0 12]] with the position (1, 2) listed twice, out of order.
func sample() *T {
	return torch.SparseCOOTensor(torch.FromSlice([]int64{1, 0, 1, 1, 2, 2, 0, 2}, 2, 4),
		torch.FromSlice([]float32{5, 3, 4, 7}), []int{2, 3})
}

func dense() *T { return torch.FromSlice([]float32{0, 0, 3, 4, 0, 12}, 2, 3) }

func list(t *T) []float32 { return torch.Data[float32](t.Detach().ToDense().Contiguous()) }

func TestParts(t *testing.T) {
	x := sample()
	if x.IsCoalesced() || x.NNZ() != 4 || x.SparseDim() != 2 || x.DenseDim() != 0 || !x.IsSparse() ||
		x.Layout() != tensor.SparseCOO || x.Numel() != 6 {
		t.Errorf("coalesced %v, nnz %d, %d sparse and %d dense dimensions", x.IsCoalesced(), x.NNZ(), x.SparseDim(),
			x.DenseDim())
	}
	c := x.Coalesce()
	if !c.IsCoalesced() || c.NNZ() != 3 || !slices.Equal(torch.Data[int64](c.Indices()), []int64{0, 1, 1, 2, 0, 2}) ||
		!slices.Equal(torch.Data[float32](c.Values()), []float32{3, 4, 12}) {
		t.Errorf("coalesced: %v", c)
	}
	if d := torch.Ones([]int{2, 3}); d.SparseDim() != 0 || d.DenseDim() != 2 || d.IsSparse() {
		t.Error("a dense tensor has all dimensions dense")
	}
	h := dense().ToSparse(torch.ToSparseOptions{DenseDim: torch.Some(1)})
	if h.SparseDim() != 1 || h.DenseDim() != 1 || h.NNZ() != 2 || !slices.Equal(h.Values().Shape(), []int{2, 3}) {
		t.Errorf("with a dense dimension: %v", h)
	}
	if y := torch.SparseCOOTensor(torch.FromSlice([]int64{4, 1}, 1, 2), torch.Ones([]int{2}), []int{5},
		torch.SparseCOOTensorOptions{DType: torch.Float64}); y.DType() != torch.Float64 ||
		y.Coalesce().Values().DType() != torch.Float64 {
		t.Errorf("of the dtype float64: %v", y)
	}
	if i := torch.SparseCOOTensorIndices(torch.FromSlice([]int64{4, 1}, 1, 2), torch.Ones([]int{2, 3})); !slices.Equal(
		i.Shape(), []int{5, 3}) {
		t.Errorf("the smallest size is %v", i.Shape())
	}
}

// The expected numbers are those of the dense tensor.
func TestArithmetic(t *testing.T) {
	ones := torch.Ones([]int{2, 3})
	for _, c := range []struct {
		name      string
		got, want *T
		sparse    bool
	}{
		{"sparse + sparse", sample().Add(sample()), dense().MulScalar(2), true},
		{"sparse - sparse", sample().Sub(sample(), torch.SubOptions{Alpha: 3}), dense().MulScalar(-2), true},
		{"nothing + sparse", sample().ZerosLike().Add(sample()), dense(), true},
		{"dense + sparse", ones.Add(sample(), torch.AddOptions{Alpha: 2}), ones.Add(dense().MulScalar(2)), false},
		{"sparse * number", sample().MulScalar(2), dense().MulScalar(2), true},
		{"sparse / number", sample().DivScalar(2), dense().DivScalar(2), true},
		{"sparse * dense", sample().Mul(dense()), dense().Mul(dense()), true},
		{"sparse * sparse", sample().Mul(sample()), dense().Mul(dense()), true},
		{"neg", sample().Neg(), dense().Neg(), true},
		{"sqrt", sample().Sqrt(), dense().Sqrt(), true},
		{"clone", sample().Clone(), dense(), true},
		{"double", sample().Double().Float(), dense(), true},
		{"transpose", sample().Transpose(0, 1), dense().Transpose(0, 1), true},
		{"t", sample().T(), dense().Transpose(0, 1), true},
		{"to_sparse", dense().ToSparse(), dense(), true},
		{"sparse_mask", dense().AddScalar(1).SparseMask(dense().ToSparse()),
			dense().AddScalar(1).Mul(dense().Ne(torch.Zeros([]int{})).Float()), true},
		{"sum", sample().Sum(), dense().Sum(), false},
		{"norm", sample().Norm(), dense().Norm(), false},
		{"zeros_like", sample().ZerosLike(), torch.Zeros([]int{2, 3}), true},
		{"in place", sample().MulScalarInPlace(2).AddInPlace(sample()), dense().MulScalar(3), true},
		{"dense in place", torch.Ones([]int{3, 2}).Transpose(0, 1).AddInPlace(sample()), ones.Add(dense()), false},
		{"copy_", sample().ZerosLike().CopyInPlace(sample()), dense(), true},
	} {
		if c.got.IsSparse() != c.sparse || !slices.Equal(list(c.got), list(c.want)) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	if x := torch.FromSlice([]int64{1, 2}, 2).ToSparse(); x.Coalesce().Values().DType() != torch.Int64 {
		t.Error("integers stay integers")
	}
}

func TestRefusals(t *testing.T) {
	ones := torch.Ones([]int{2, 3})
	at := func(i ...int64) *T { return torch.FromSlice(i, 1, len(i)) }
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"Could not run 'aten::exp' with arguments from the 'SparseCPU' backend", func() { sample().Exp() }},
		{"Could not run 'aten::view'", func() { sample().View([]int{6}) }},
		{"Could not run 'aten::addmm'", func() { torch.AddMM(ones, sample(), torch.Ones([]int{3, 3})) }},
		{"Cannot access data pointer", func() { torch.Data[float32](sample()) }},
		{"add(sparse, dense) is not supported", func() { sample().Add(ones) }},
		{"on an uncoalesced tensor", func() { sample().Indices() }},
		{"coalesce expected sparse coordinate tensor layout but got Strided", func() { ones.Coalesce() }},
		{"found index 3", func() { torch.SparseCOOTensor(at(0, 3), torch.Ones([]int{2}), []int{3}) }},
		{"found index -1", func() { torch.SparseCOOTensor(at(0, -1), torch.Ones([]int{2}), []int{3}) }},
		{"must have same nnz", func() { torch.SparseCOOTensor(at(0, 1), torch.Ones([]int{3}), []int{3}) }},
		{"len(size) == sparse_dim + dense_dim",
			func() { torch.SparseCOOTensor(at(0), torch.Ones([]int{1}), []int{3, 4}) }},
		{"values has incorrect size, expected [1, 5], got [1, 4]",
			func() { torch.SparseCOOTensor(at(0), torch.Ones([]int{1, 4}), []int{3, 5}) }},
		{"integer multiplication overflow", func() {
			torch.SparseCOOTensor(torch.FromSlice([]int64{0, 0}, 2, 1), torch.Ones([]int{1}), []int{1 << 40, 1 << 40})
		}},
		{"indices must be an int tensor", func() {
			torch.SparseCOOTensor(torch.Ones([]int{1, 2}), torch.Ones([]int{2}), []int{3})
		}},
		{"is_coalesced to true", func() {
			torch.SparseCOOTensor(at(1, 0), torch.Ones([]int{2}), []int{3},
				torch.SparseCOOTensorOptions{IsCoalesced: torch.Some(true)})
		}},
	} {
		err := torch.Try(c.f)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
		if e := (*torch.Error)(nil); err != nil && !errors.As(err, &e) {
			t.Errorf("%v is a %T", err, err)
		}
	}
}

// Gradients of sparse tensors themselves, and through conversions.
func TestGradients(t *testing.T) {
	x := dense().SetRequiresGrad(true)
	x.ToSparse().Coalesce().Values().Square().Sum().Backward()
	if want := []float32{0, 0, 6, 8, 0, 24}; !slices.Equal(list(x.Grad()), want) {
		t.Errorf("through values: %v, want %v", x.Grad(), want)
	}
	v := torch.FromSlice([]float32{5, 3, 4, 7}).SetRequiresGrad(true)
	torch.SparseCOOTensor(torch.FromSlice([]int64{1, 0, 1, 1, 2, 2, 0, 2}, 2, 4), v, []int{2, 3}).ToDense().
		Mul(torch.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)).Sum().Backward()
	if want := []float32{6, 3, 4, 6}; !slices.Equal(list(v.Grad()), want) {
		t.Errorf("of values: %v, want %v", v.Grad(), want)
	}
	s := dense().ToSparse().SetRequiresGrad(true)
	s.ToDense().Square().Sum().Backward()
	if want := []float32{0, 0, 6, 8, 0, 24}; !s.Grad().IsSparse() || !slices.Equal(list(s.Grad()), want) {
		t.Errorf("of a sparse leaf: %v, want %v", s.Grad(), want)
	}
}

// An embedding's gradient lists the rows that were looked up, and is that of the dense form when it is made dense.
func TestEmbeddingGradient(t *testing.T) {
	ix := torch.FromSlice([]int64{1, 2, 1, 0, 5, 0}, 2, 3)
	w := torch.Randn([]int{6, 4})
	g := torch.Randn([]int{2, 3, 4})
	bagGrad := torch.Randn([]int{2, 4})
	weights := torch.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	forms := map[string]func(sparse bool) *T{
		"embedding": func(sparse bool) *T {
			m := nn.NewEmbedding(6, 4, nn.EmbeddingOptions{Sparse: sparse, Weight: w.Clone(),
				PaddingIdx: torch.Some(0)})
			m.Forward(ix).Backward(torch.BackwardOptions{Gradient: g})
			return m.Weight.Grad()
		},
		"mean": func(sparse bool) *T {
			m := nn.NewEmbeddingBag(6, 4, nn.EmbeddingBagOptions{Sparse: sparse, Weight: w.Clone(),
				PaddingIdx: torch.Some(0)})
			m.Forward(ix).Backward(torch.BackwardOptions{Gradient: bagGrad})
			return m.Weight.Grad()
		},
		"weights": func(sparse bool) *T {
			m := nn.NewEmbeddingBag(6, 4, nn.EmbeddingBagOptions{Sparse: sparse, Weight: w.Clone(), Mode: nn.BagSum})
			m.Forward(ix, nn.BagInput{PerSampleWeights: weights}).Backward(torch.BackwardOptions{Gradient: bagGrad})
			return m.Weight.Grad()
		},
		"offsets": func(sparse bool) *T {
			m := nn.NewEmbeddingBag(6, 4, nn.EmbeddingBagOptions{Sparse: sparse, Weight: w.Clone(), Mode: nn.BagSum,
				IncludeLastOffset: true})
			m.Forward(ix.Reshape([]int{-1}), nn.BagInput{Offsets: torch.FromSlice([]int64{0, 2, 4})}).
				Backward(torch.BackwardOptions{Gradient: bagGrad})
			return m.Weight.Grad()
		},
	}
	for name, f := range forms {
		got, want := f(true), f(false)
		if !got.IsSparse() || got.SparseDim() != 1 || want.IsSparse() {
			t.Errorf("%s: %v", name, got)
		}
		if !torch.AllClose(got.ToDense(), want) {
			t.Errorf("%s: %v, want %v", name, got.ToDense(), want)
		}
	}
	err := torch.Try(func() {
		m := nn.NewEmbedding(6, 4, nn.EmbeddingOptions{Sparse: true, ScaleGradByFreq: true})
		m.Forward(ix).Sum().Backward()
	})
	if err == nil || !strings.Contains(err.Error(), "scale_grad_by_freq not supported with sparse gradients") {
		t.Errorf("scale_grad_by_freq: %v", err)
	}
}

// Sparse gradients are listed one after the other; with a dense one they become dense. All of it also inside Tidy,
// which frees what the pass made but not the gradients.
func TestAccumulation(t *testing.T) {
	for _, tidy := range []bool{false, true} {
		m := nn.NewEmbedding(6, 2, nn.EmbeddingOptions{Sparse: true})
		in := func(f func()) {
			if tidy {
				torch.Tidy(f)
			} else {
				f()
			}
		}
		row := func(i ...int64) { in(func() { m.Forward(torch.FromSlice(i)).Sum().Backward() }) }
		row(1, 2, 1)
		row(4)
		g := m.Weight.Grad()
		if !g.IsSparse() || g.NNZ() != 4 || !slices.Equal(list(g), []float32{0, 0, 2, 2, 1, 1, 0, 0, 1, 1, 0, 0}) {
			t.Errorf("two sparse gradients (tidy: %v): %v", tidy, g)
		}
		// twice in one pass, and together with a dense gradient
		m.Weight.SetGrad(nil)
		in(func() {
			x := torch.FromSlice([]int64{1, 3})
			m.Forward(x).Add(m.Forward(x).MulScalar(2)).Sum().Backward()
		})
		if g := m.Weight.Grad(); !g.IsSparse() ||
			!slices.Equal(list(g), []float32{0, 0, 3, 3, 0, 0, 3, 3, 0, 0, 0, 0}) {
			t.Errorf("twice in a pass (tidy: %v): %v", tidy, g)
		}
		in(func() { m.Weight.Sum().Backward() })
		row(0)
		if g := m.Weight.Grad(); g.IsSparse() || !slices.Equal(list(g), []float32{2, 2, 4, 4, 1, 1, 4, 4, 1, 1, 1, 1}) {
			t.Errorf("with a dense gradient (tidy: %v): %v", tidy, g)
		}
		m.Weight.SetGrad(nil)
		in(func() { m.Weight.Sum().Add(m.Forward(torch.FromSlice([]int64{0})).Sum()).Backward() })
		if g := m.Weight.Grad(); g.IsSparse() || !slices.Equal(list(g), []float32{2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}) {
			t.Errorf("dense and sparse in a pass (tidy: %v): %v", tidy, g)
		}
	}
}

// A training loop inside Tidy with the gradients dropped each step gives the same table as with dense gradients.
func TestTrainingInTidy(t *testing.T) {
	w := torch.Randn([]int{500, 40})
	run := func(sparse bool) *T {
		m := nn.NewEmbeddingBag(500, 40, nn.EmbeddingBagOptions{Sparse: sparse, Weight: w.Clone(), Mode: nn.BagSum})
		opt := optim.NewSGD([]*T{m.Weight}, 0.1)
		torch.ManualSeed(3)
		for range 5 {
			ix := torch.Randint(500, []int{300, 4})
			torch.Tidy(func() {
				opt.ZeroGrad()
				m.Forward(ix).Square().Mean().Backward()
				opt.Step()
			})
		}
		return m.Weight.Detach()
	}
	if got, want := run(true), run(false); !torch.AllClose(got, want) {
		t.Error("tables differ")
	}
}

// Clipping scales the values, as PyTorch does: of the gradients together, the sparse ones coalesced for the norm.
func TestClip(t *testing.T) {
	p, q := torch.Ones([]int{2, 3}).SetRequiresGrad(true), torch.Ones([]int{2}).SetRequiresGrad(true)
	p.SetGrad(sample())
	q.SetGrad(torch.FromSlice([]float32{0, 84}))
	norm := utils.ClipGradNorm([]*T{p, q}, 8.5)
	if norm.Item() < 84.99 || norm.Item() > 85.01 {
		t.Errorf("norm %v, want 85 of 3, 4, 12 and 84", norm)
	}
	if got := p.Grad().ToDense().MulScalar(10); !p.Grad().IsSparse() || !torch.AllClose(got, dense()) {
		t.Errorf("clipped to %v", got)
	}
	opt := optim.NewSGD([]*T{p, q}, 1)
	opt.ZeroGrad(optim.KeepZeros)
	if g := p.Grad(); !g.IsSparse() || g.NNZ() != 0 {
		t.Errorf("after ZeroGrad: %v", g)
	}
}

func TestOptimizersThatRefuse(t *testing.T) {
	p := torch.Ones([]int{2, 3}).SetRequiresGrad(true)
	ps := []*T{p}
	for _, c := range []struct {
		opt  optim.Optimizer
		want string
	}{
		{optim.NewAdam(ps, 1), "Adam does not support sparse gradients, please consider SparseAdam instead"},
		{optim.NewAdamW(ps, 1), "Adam does not support sparse gradients, please consider SparseAdam instead"},
		{optim.NewRMSprop(ps, 1), "RMSprop does not support sparse gradients"},
		{optim.NewAdafactor(ps, 1), "Adafactor does not support sparse gradients"},
		{optim.NewSGD(ps, 1, optim.SGDOptions{WeightDecay: 1}), "add(sparse, dense) is not supported"},
		{optim.NewAdagrad(ps, 1, optim.AdagradOptions{WeightDecay: 1}), "not compatible with sparse gradients"},
	} {
		p.SetGrad(sample())
		err := torch.Try(c.opt.Step)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T: %v, want %q", c.opt, err, c.want)
		}
		if !torch.Equal(p.Detach(), torch.Ones([]int{2, 3})) {
			t.Errorf("%T has changed the parameter", c.opt)
		}
	}
	p.SetGrad(torch.Ones([]int{2, 3}))
	if err := torch.Try(optim.NewSparseAdam(ps, 1).Step); err == nil ||
		!strings.Contains(err.Error(), "SparseAdam does not support dense gradients, please consider Adam instead") {
		t.Errorf("SparseAdam: %v", err)
	}
}

// What PyTorch 2.15 gives after two steps with the gradient [[0 0 3] [4 0 5]].
func TestSteps(t *testing.T) {
	grad := torch.FromSlice([]float32{0, 0, 3, 4, 0, 5}, 2, 3).ToSparse()
	for _, c := range []struct {
		name string
		opt  func(ps []*T) optim.Optimizer
		want []float32
	}{
		{"plain", func(ps []*T) optim.Optimizer { return optim.NewSGD(ps, 0.1) }, []float32{1, 1, 0.4, 0.2, 1, 0}},
		{"momentum", func(ps []*T) optim.Optimizer { return optim.NewSGD(ps, 0.1, optim.SGDOptions{Momentum: 0.9}) },
			[]float32{1, 1, 0.13, -0.16, 1, -0.45}},
		{"nesterov", func(ps []*T) optim.Optimizer {
			return optim.NewSGD(ps, 0.1, optim.SGDOptions{Momentum: 0.9, Nesterov: true})
		}, []float32{1, 1, -0.383, -0.844, 1, -1.305}},
		{"dampening", func(ps []*T) optim.Optimizer {
			return optim.NewSGD(ps, 0.1, optim.SGDOptions{Momentum: 0.9, Dampening: 0.5})
		}, []float32{1, 1, 0.28, 0.04, 1, -0.2}},
		{"maximize", func(ps []*T) optim.Optimizer { return optim.NewSGD(ps, 0.1, optim.SGDOptions{Maximize: true}) },
			[]float32{1, 1, 1.6, 1.8, 1, 2}},
		{"Adagrad", func(ps []*T) optim.Optimizer {
			return optim.NewAdagrad(ps, 0.1, optim.AdagradOptions{LRDecay: 0.9})
		}, []float32{1, 1, 0.86278385, 0.86278385, 1, 0.86278385}},
		{"Adagrad from 0.5", func(ps []*T) optim.Optimizer {
			return optim.NewAdagrad(ps, 0.1, optim.AdagradOptions{InitialAccumulatorValue: 0.5})
		}, []float32{1, 1, 0.83291858, 0.83136219, 1, 0.83062547}},
	} {
		p := torch.Ones([]int{2, 3}).SetRequiresGrad(true)
		opt := c.opt([]*T{p})
		for range 2 {
			p.SetGrad(grad.Clone())
			opt.Step()
		}
		if want := torch.FromSlice(c.want, 2, 3); !torch.AllClose(p.Detach(), want) {
			t.Errorf("%s: %v, want %v", c.name, p.Detach(), want)
		}
	}
}

// As PyTorch prints.
func TestPrint(t *testing.T) {
	for _, c := range []struct {
		x    *T
		want string
	}{
		{sample(), "tensor(indices=tensor([[1, 0, 1, 1],\n                       [2, 2, 0, 2]]),\n" +
			"       values=tensor([5., 3., 4., 7.]),\n       size=(2, 3), nnz=4, layout=torch.sparse_coo)"},
		{torch.SparseCOOTensor(torch.Zeros([]int{1, 0}, torch.ZerosOptions{DType: torch.Int64}),
			torch.Zeros([]int{0, 2}),
			[]int{5, 2}), "tensor(indices=tensor([], size=(1, 0)),\n       values=tensor([], size=(0, 2)),\n" +
			"       size=(5, 2), nnz=0, layout=torch.sparse_coo)"},
		{sample().Double().SetRequiresGrad(true), "tensor(indices=tensor([[1, 0, 1, 1],\n" +
			"                       [2, 2, 0, 2]]),\n       values=tensor([5., 3., 4., 7.]),\n" +
			"       size=(2, 3), nnz=4, dtype=torch.float64, layout=torch.sparse_coo,\n       requires_grad=True)"},
	} {
		if got := c.x.String(); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}

func Example() {
	table := nn.NewEmbedding(1000, 2, nn.EmbeddingOptions{Sparse: true})
	opt := optim.NewSparseAdam(table.Parameters(), 0.01)

	table.Forward(torch.FromSlice([]int64{7, 3, 7})).Sum().Backward()
	g := table.Weight.Grad().Coalesce() // the rows that were looked up
	fmt.Println(g.Indices())
	fmt.Println(g.Values())
	opt.Step() // changes these rows only
	// Output:
	// tensor([[3, 7]])
	// tensor([[1., 1.],
	//         [2., 2.]])
}
