// Package opstest holds the checks that the operator families' tests share: PyTorch's golden cases, finite differences,
// and the same bits for every number of threads.
package opstest

import (
	"bytes"
	"math"
	"regexp"
	"testing"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/conformance/opcheck"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/internal/shared"
	"github.com/gotorch-dev/torch/tensor"
)

// Conformance runs the golden cases of the operators that only matches and fails when fewer than ratio of them pass, or
// when one panics with anything but an error. It skips where the golden data is absent.
func Conformance(t *testing.T, only string, ratio float64) {
	t.Helper()
	dir := shared.Path(t, "golden", "opinfo")
	res, err := opcheck.Run(dir, opcheck.Options{Only: regexp.MustCompile(only)})
	if err != nil {
		t.Fatal(err)
	}
	re := regexp.MustCompile(only)
	pass, fail := 0, 0
	for _, r := range res {
		if !re.MatchString(r.Name) {
			continue
		}
		pass, fail = pass+r.Passed, fail+r.Failed
		if r.Failed > 0 {
			t.Logf("%s: %d of %d failed: %s", r.Name, r.Failed, r.Passed+r.Failed, r.Reason)
		}
		if bytes.Contains([]byte(r.Reason), []byte("panic:")) {
			t.Errorf("%s: %s", r.Name, r.Reason)
		}
	}
	if pass+fail == 0 {
		t.Fatalf("no case of %s ran", only)
	}
	if got := float64(pass) / float64(pass+fail); got < ratio {
		t.Errorf("%.1f %% of the cases pass, want %.1f %%", 100*got, 100*ratio)
	}
}

// Fill makes a tensor of dt with smooth values between about -1 and 1 that differ everywhere.
func Fill(dt tensor.DType, seed int, shape ...int) *tensor.Tensor {
	n := 1
	for _, s := range shape {
		n *= s
	}
	v := make([]float64, n)
	for i := range v {
		v[i] = math.Sin(float64(i*7+seed*13)*0.37 + float64(seed))
	}
	t := tensor.FromSlice(v, append([]int{}, shape...)...)
	if dt == tensor.Float64 {
		return t
	}
	return tensor.FromSlice(v, append([]int{}, shape...)...).ToDType(dt)
}

// GradCheck compares the gradients of the sum of f's result times fixed weights with central differences in float64,
// then does the same for the gradients of the gradients. The inputs are float64 leaves.
func GradCheck(t *testing.T, name string, f func(x []*tensor.Tensor) *tensor.Tensor, inputs ...*tensor.Tensor) {
	t.Helper()
	scalar := func(x []*tensor.Tensor) *tensor.Tensor {
		y := f(x)
		return y.Mul(Fill(tensor.Float64, 5, y.Shape()...)).SumDim(nil)
	}
	compare(t, name, scalar, inputs)
	second := func(x []*tensor.Tensor) *tensor.Tensor {
		gs := tensor.Grad([]*tensor.Tensor{scalar(x)}, x, tensor.GradOptions{CreateGraph: true, AllowUnused: true})
		var s *tensor.Tensor
		for i, g := range gs {
			if g == nil {
				continue
			}
			v := g.Mul(Fill(tensor.Float64, 11+i, g.Shape()...)).SumDim(nil)
			if s == nil {
				s = v
			} else {
				s = s.Add(v)
			}
		}
		return s
	}
	compare(t, name+" (second order)", second, inputs)
}

func compare(t *testing.T, name string, f func(x []*tensor.Tensor) *tensor.Tensor, inputs []*tensor.Tensor) {
	t.Helper()
	leaves := make([]*tensor.Tensor, len(inputs))
	for i, x := range inputs {
		leaves[i] = tensor.CloneRaw(x).SetRequiresGrad(true)
	}
	y := f(leaves)
	var got []*tensor.Tensor
	if y.RequiresGrad() {
		got = tensor.Grad([]*tensor.Tensor{y}, leaves, tensor.GradOptions{AllowUnused: true})
	} else {
		got = make([]*tensor.Tensor, len(leaves)) // constant
	}
	const h = 1e-5
	for i, x := range inputs {
		data := tensor.Data[float64](leaves[i].Detach())
		var g []float64
		if got[i] != nil {
			g = tensor.Data[float64](tensor.Dense(got[i]))
		}
		// about sixteen elements of each input are enough
		for k := 0; k < x.Numel(); k += max(1, x.Numel()/16) {
			old := data[k]
			data[k] = old + h
			up := f(leaves).Num().F
			data[k] = old - h
			down := f(leaves).Num().F
			data[k] = old
			want, have := (up-down)/(2*h), 0.0
			if g != nil {
				have = g[k]
			}
			if math.Abs(have-want) > 1e-5*(1+math.Abs(want)) {
				t.Errorf("%s: gradient of input %d, element %d is %g, the difference quotient %g", name, i, k, have,
					want)
				return
			}
		}
	}
}

// SameBits runs f with one, two and three threads and fails when a result differs in a single bit.
func SameBits(t *testing.T, name string, f func() []*tensor.Tensor) {
	t.Helper()
	old := par.NumThreads()
	defer par.SetNumThreads(old)
	var want [][]byte
	for _, n := range []int{1, 2, 3} {
		par.SetNumThreads(n)
		for i, r := range f() {
			r = tensor.Dense(r)
			b := bytes.Clone(unsafe.Slice((*byte)(tensor.Ptr(r)), r.Numel()*r.ElementSize()))
			if n == 1 {
				want = append(want, b)
			} else if !bytes.Equal(b, want[i]) {
				t.Errorf("%s: result %d differs with %d threads", name, i, n)
			}
		}
	}
}
