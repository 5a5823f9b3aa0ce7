package torch_test

import (
	"errors"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/tensor"
)

func released(t *testing.T, x *tensor.Tensor) {
	t.Helper()
	if err := tensor.Try(func() { x.MulScalar(2) }); !errors.Is(err, tensor.ErrReleased) {
		t.Errorf("using a freed tensor: %v", err)
	}
}

func TestTidy(t *testing.T) {
	for _, n := range []int{1, 5, 20_000} {
		before := tensor.New([]int{n}, tensor.Float32)
		tensor.ZeroRaw(before)
		w := tensor.New([]int{n}, tensor.Float32).SetRequiresGrad(true)
		tensor.NoGrad(func() { tensor.ZeroRaw(w) })
		var kept, lost, view, inner *tensor.Tensor
		tensor.Tidy(func() {
			lost = before.AddScalar(1)
			view = lost.View([]int{1, n})
			kept = before.AddScalar(2).View([]int{1, n}).Keep()
			before.AddScalarInPlace(3)
			got := tensor.TidyReturn(func() *tensor.Tensor {
				inner = before.AddScalar(1)
				return inner.AddScalar(1)
			})
			released(t, inner)
			if got.Select(0, 0).Item() != 5 {
				t.Errorf("result of an inner Tidy: %v", got)
			}
			w.MulScalar(2).Mul(before).SumDim(nil).Backward()
			inner = got
		})
		released(t, lost)
		released(t, view)
		released(t, inner)
		if kept.Select(1, n-1).Item() != 2 || before.Select(0, n-1).Item() != 3 || w.Grad().Select(0, n-1).Item() != 6 {
			t.Error("something was freed that must not be")
		}
		if _, err := before, tensor.Try(func() { lost.Backward() }); err == nil {
			t.Error("Backward of a freed tensor")
		}
	}
}

// A result that requires grad brings along what its graph has saved.
func TestTidyReturnsGraph(t *testing.T) {
	x := leaf(1, 2, 3)
	loss := tensor.TidyReturn(func() *tensor.Tensor {
		h := x.MulScalar(2)
		return sum(h.Mul(h).Exp())
	})
	loss.Backward()
	if x.Grad() == nil {
		t.Fatal("no gradient")
	}
}

// What is not a tensor with memory is handed through.
func TestTidyReturnsNothing(t *testing.T) {
	zero := new(tensor.Tensor)
	for _, x := range []*tensor.Tensor{nil, zero} {
		if y := tensor.TidyReturn(func() *tensor.Tensor { return x }); y != x {
			t.Errorf("%v becomes %v", x, y)
		}
		if l := tensor.TidyReturnN(func() []*tensor.Tensor { return []*tensor.Tensor{x} }); len(l) != 1 || l[0] != x {
			t.Errorf("[%v] becomes %v", x, l)
		}
	}
}

func TestTidyPanics(t *testing.T) {
	var x *tensor.Tensor
	err := tensor.Try(func() {
		tensor.Tidy(func() {
			x = tensor.FromSlice([]float32{1, 2})
			x.Add(tensor.FromSlice([]float32{1, 2, 3}))
		})
	})
	if !errors.Is(err, tensor.ErrShape) {
		t.Fatal(err)
	}
	released(t, x)
}

func TestTidyOtherGoroutines(t *testing.T) {
	var x *tensor.Tensor
	tensor.Tidy(func() {
		done := make(chan bool)
		go func() {
			x = tensor.FromSlice([]float32{1})
			done <- true
		}()
		<-done
	})
	want(t, x.AddScalar(1), 2)
}

// mlp is a training step of 8 MiB of activations and their gradients.
func mlp(w, x *tensor.Tensor) {
	h := x.Mul(w).ReLU()
	h = h.Mul(w).ReLU()
	loss := h.Mul(h).Mean()
	loss.Backward()
	tensor.NoGrad(func() {
		w.AddInPlace(w.Grad().MulScalar(-0.1))
		w.SetGrad(nil)
	})
}

func TestTrainingIsFlat(t *testing.T) {
	w := tensor.New([]int{1 << 18}, tensor.Float32)
	tensor.ZeroRaw(w)
	w.AddScalarInPlace(0.5)
	w.SetRequiresGrad(true).SetParameter()
	x := tensor.New([]int{1 << 18}, tensor.Float32)
	tensor.ZeroRaw(x)
	mlp(w, x)
	steps := 300
	if testing.Short() {
		steps = 50
	}
	for _, tidy := range []bool{true, false} {
		mem.EmptyCache()
		mem.ResetPeak()
		start := mem.ReadStats()
		for range steps {
			if tidy {
				tensor.Tidy(func() { mlp(w, x) })
			} else {
				mlp(w, x)
			}
		}
		s := mem.ReadStats()
		limit := 300 << 20
		if tidy {
			limit = 20 << 20
		}
		if got := s.PeakReserved - start.Allocated; got > limit {
			t.Errorf("tidy %v: %d steps reserved %d MiB", tidy, steps, got>>20)
		}
		t.Logf("tidy %v: %+v", tidy, s)
	}
}

// TestManySteps trains something tiny for long: nothing may pile up anywhere.
func TestManySteps(t *testing.T) {
	steps := 10_000
	if testing.Short() {
		steps = 500
	}
	w := leaf(0.5, 0.5)
	for i := range steps {
		tensor.Tidy(func() {
			sum(w.Mul(w)).Backward()
			tensor.NoGrad(func() { w.AddInPlace(w.Grad().MulScalar(-0.01)) })
		})
		w.SetGrad(nil)
		if i == steps-1 && !(w.Select(0, 0).Item() < 1e-3) && steps == 10_000 {
			t.Errorf("w = %v", w.Select(0, 0).Item())
		}
	}
}

// A slice of a freed tensor keeps its elements.
func TestSliceOutlivesTidy(t *testing.T) {
	var s []float32
	for range 4 {
		torch.Tidy(func() {
			x := tensor.New([]int{50_000}, torch.Float32)
			x.FillScalarInPlace(7)
			s = torch.Data[float32](x)
		})
		torch.Tidy(func() { tensor.New([]int{50_000}, torch.Float32).FillScalarInPlace(8) })
		if s[0] != 7 || s[49_999] != 7 {
			t.Fatal("overwritten")
		}
	}
}

// ReleaseAfter frees a value when the rule that reads it last has run, and not before.
func TestReleaseAfter(t *testing.T) {
	graph := func() (x, c, y *tensor.Tensor) {
		x = leaf(1, 2, 3)
		c = x.MulScalar(2)
		y = c.Mul(c)
		tensor.ReleaseAfter(y, c)
		return x, c, sum(y)
	}
	check := func(what string, c *tensor.Tensor, freed bool) {
		t.Helper()
		if c.IsReleased() != freed {
			t.Errorf("%s: released %v", what, c.IsReleased())
		}
	}
	x, c, y := graph()
	check("before", c, false)
	y.Backward(tensor.BackwardOptions{RetainGraph: true})
	check("kept graph", c, false)
	y.Backward()
	check("backward", c, true)
	if got := x.Grad().Select(0, 2).Item(); got != 2*24 {
		t.Errorf("gradient %v, want 48", got)
	}

	_, c, y = graph()
	y.Keep().Backward()
	check("Keep", c, false)

	x, c, y = graph()
	g := tensor.Grad([]*tensor.Tensor{y}, []*tensor.Tensor{x}, tensor.GradOptions{CreateGraph: true})
	y.Backward()
	check("recorded pass", c, false)
	if got := g[0].Select(0, 1).Item(); got != 16 {
		t.Errorf("recorded gradient %v, want 16", got)
	}
}

// A gradient set to none inside Tidy is freed at once, but not while the program may use it.
func TestDroppedGradients(t *testing.T) {
	for _, fetch := range []string{"never", "inside", "outside"} {
		w := tensor.New([]int{20_000}, tensor.Float32).SetRequiresGrad(true)
		tensor.NoGrad(func() { tensor.ZeroRaw(w) })
		var g *tensor.Tensor
		tensor.Tidy(func() { w.MulScalar(3).Sum().Backward() })
		raw := tensor.GradRaw(w)
		if fetch == "outside" {
			g = w.Grad()
		}
		tensor.Tidy(func() {
			if fetch == "inside" {
				g = w.Grad()
			}
			w.SetGrad(nil)
			if raw.IsReleased() != (fetch == "never") {
				t.Errorf("asked for %s: released %v inside Tidy", fetch, raw.IsReleased())
			}
			if g != nil && g.Select(0, 19_999).Item() != 3 {
				t.Errorf("asked for %s: wrong gradient", fetch)
			}
		})
		if raw.IsReleased() == (fetch == "outside") {
			t.Errorf("asked for %s: released %v after Tidy", fetch, raw.IsReleased())
		}
	}
}

// Operators that move elements let go of all their memory: a kernel that shows its memory to the program would have it
// wait for the garbage collector, and every result come from fresh pages.
func TestTidyFreesAtOnce(t *testing.T) {
	x := torch.Rand([]int{100, 100})
	ix := torch.Randint(100, []int{100, 100})
	row := torch.Randint(100, []int{100})
	for name, f := range map[string]func(){
		"cat":          func() { torch.Cat([]*torch.Tensor{x, x}) },
		"stack":        func() { torch.Stack([]*torch.Tensor{x, x}) },
		"roll":         func() { x.Roll([]int{3}) },
		"diag_embed":   func() { x.DiagEmbed() },
		"tril":         func() { x.Tril() },
		"full":         func() { torch.Full([]int{100, 100}, 3) },
		"zeros":        func() { torch.Zeros([]int{100, 100}) },
		"eye":          func() { torch.Eye(100) },
		"gather":       func() { x.Gather(1, ix) },
		"scatter":      func() { x.Scatter(1, ix, x) },
		"scatter_add":  func() { x.ScatterAdd(1, ix, x) },
		"index_select": func() { x.IndexSelect(0, row) },
		"index_add":    func() { x.IndexAdd(0, row, x) },
		"take":         func() { x.Take(ix) },
		"embedding":    func() { torch.Embedding(x, row) },
	} {
		before := mem.ReadStats()
		torch.NoGrad(func() { torch.Tidy(f) })
		after := mem.ReadStats()
		if made, freed := after.Allocations-before.Allocations, after.FreedAtOnce-before.FreedAtOnce; made == 0 ||
			made != freed {
			t.Errorf("%s: made %d blocks of memory, freed %d at once", name, made, freed)
		}
	}
}

// A Tidy frees what another goroutine has made for it, but neither what that one keeps nor what it has viewed.
func TestHandover(t *testing.T) {
	for _, n := range []int{3, 20_000} {
		data := torch.Ones([]int{2, n})
		var batch, cached, view *tensor.Tensor
		var made torch.Handover
		done := make(chan struct{})
		go func() {
			defer close(done)
			made = torch.MakeFor(func() []*tensor.Tensor {
				cached, view = torch.Ones([]int{n}), data.Select(0, 0)
				batch = cached.MulScalar(2)
				return []*tensor.Tensor{batch, nil, view}
			})
		}()
		<-done
		made.Adopt() // outside Tidy
		if batch.Sum().Item() != float64(2*n) {
			t.Errorf("%v was freed", batch)
		}
		torch.Tidy(made.Adopt)
		released(t, batch)
		for _, x := range []*tensor.Tensor{cached, data, view} {
			if x.Sum().Item() != float64(x.Numel()) {
				t.Errorf("%v was freed", x)
			}
		}
	}
}
