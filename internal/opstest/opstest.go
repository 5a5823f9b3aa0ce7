// Package opstest holds the checks that several packages' tests share: finite differences, what a call panics with, and
// the same bits for every number of threads.
package opstest

import (
	"bytes"
	"math"
	"testing"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

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
