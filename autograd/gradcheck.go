package autograd

import (
	"fmt"
	"math"

	"github.com/gotorch-dev/torch/tensor"
)

// GradcheckOptions are the options of Gradcheck and Gradgradcheck. The zero value holds PyTorch's defaults.
type GradcheckOptions struct {
	Eps  tensor.Opt[float64] // step of the numerical derivative, 1e-6
	Atol tensor.Opt[float64] // 1e-5
	Rtol tensor.Opt[float64] // 1e-3
	// NondetTol is how much two runs of the same gradient may differ.
	NondetTol float64
}

// Gradcheck compares the gradients of f with numerical derivatives, at the inputs that require grad. They should be
// float64: with less the differences are mostly noise. It returns nil or an error that shows where the two disagree;
// Python's raises it.
// https://pytorch.org/docs/stable/generated/torch.autograd.gradcheck.gradcheck.html
func Gradcheck(f Func, inputs []*Tensor, opts ...GradcheckOptions) error {
	var o GradcheckOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	f, inputs = realOnly(f, inputs)
	var which []int
	for i, t := range inputs {
		if t != nil && t.RequiresGrad() {
			which = append(which, i)
		}
	}
	if len(which) == 0 {
		return fmt.Errorf("gradcheck expects at least one input tensor to require gradient, but none of the them " +
			"have requires_grad=True")
	}
	in := append([]*Tensor(nil), inputs...)
	for _, i := range which {
		in[i] = inputs[i].Detach().Clone().Contiguous().SetRequiresGrad(true)
	}
	var bad error
	err := tensor.Try(func() {
		tensor.EnableGrad(func() { bad = check(f, in, which, o) })
	})
	if err != nil {
		return err
	}
	return bad
}

func check(f Func, in []*Tensor, which []int, o GradcheckOptions) error {
	eps, atol, rtol := o.Eps.Or(1e-6), o.Atol.Or(1e-5), o.Rtol.Or(1e-3)
	wrt := make([]*Tensor, len(which))
	for k, i := range which {
		wrt[k] = in[i]
	}
	numeric := make([][][]float64, len(which)) // input, element, all elements of all outputs
	for k, t := range wrt {
		numeric[k] = make([][]float64, t.Numel())
		flat := t.Detach().View([]int{-1})
		for e := range numeric[k] {
			at := flat.Select(0, e)
			x := at.Item()
			at.FillScalarInPlace(x + eps)
			hi := values(f, in)
			at.FillScalarInPlace(x - eps)
			lo := values(f, in)
			at.FillScalarInPlace(x)
			for j := range hi {
				hi[j] = (hi[j] - lo[j]) / (2 * eps)
			}
			numeric[k][e] = hi
		}
	}
	outs := f(in)
	base := 0
	for oi, y := range outs {
		if !y.DType().IsFloat() {
			continue
		}
		for e := range y.Numel() {
			rows := make([][]float64, len(wrt))
			if y.RequiresGrad() {
				v := y.Detach().ZerosLike().Contiguous()
				v.View([]int{-1}).Select(0, e).FillScalarInPlace(1)
				run := func() []*Tensor {
					return tensor.Grad([]*Tensor{y}, wrt,
						GradOptions{GradOutputs: []*Tensor{v}, RetainGraph: true, AllowUnused: true})
				}
				again := run()
				for k, g := range run() {
					if g == nil {
						continue
					}
					rows[k] = floats(g)
					for j, x := range floats(again[k]) {
						if d := math.Abs(x - rows[k][j]); d > o.NondetTol || d != d && !(x != x) {
							return fmt.Errorf("Backward is not reentrant, i.e., running backward with same input and "+
								"grad_output multiple times gives different values, although analytical gradient "+
								"matches numerical gradient.The tolerance for nondeterminism was %g.", o.NondetTol)
						}
					}
				}
			}
			for k := range wrt {
				for j := range numeric[k] {
					n, a := numeric[k][j][base+e], 0.0
					if rows[k] != nil {
						a = rows[k][j]
					}
					if !(math.Abs(a-n) <= atol+rtol*math.Abs(n)) && !(a != a && n != n) && a != n {
						return fmt.Errorf("Jacobian mismatch for output %d with respect to input "+
							"%d,\nnumerical:%g\nanalytical:%g\nat element %d of the output and element %d of the input",
							oi, which[k], n, a, e, j)
					}
				}
			}
		}
		base += y.Numel()
	}
	return nil
}

// values are all elements of all floating-point results.
func values(f Func, in []*Tensor) []float64 {
	var out []float64
	tensor.NoGrad(func() {
		for _, y := range f(in) {
			if y.DType().IsFloat() {
				out = append(out, floats(y)...)
			}
		}
	})
	return out
}

func floats(t *Tensor) []float64 {
	return append([]float64(nil), tensor.Data[float64](tensor.DenseAs(t.Detach().CPU(), tensor.Float64))...)
}

// realOnly turns complex inputs and results into pairs of real numbers.
func realOnly(f Func, inputs []*Tensor) (Func, []*Tensor) {
	in := append([]*Tensor(nil), inputs...)
	cplx := make([]bool, len(in))
	for i, t := range in {
		if t != nil && t.IsComplex() {
			cplx[i] = true
			in[i] = t.Detach().Clone().ViewAsReal().Detach().SetRequiresGrad(t.RequiresGrad())
		}
	}
	return func(ts []*Tensor) []*Tensor {
		args := append([]*Tensor(nil), ts...)
		for i := range args {
			if cplx[i] {
				args[i] = args[i].ViewAsComplex()
			}
		}
		ys := append([]*Tensor(nil), f(args)...)
		for i, y := range ys {
			if y.IsComplex() {
				ys[i] = y.ResolveConj().ViewAsReal()
			}
		}
		return ys
	}, in
}

// Gradgradcheck compares the gradients of f's gradients with numerical derivatives. gradOutputs are what the first
// gradient is taken with; nil gives random ones.
// https://pytorch.org/docs/stable/generated/torch.autograd.gradcheck.gradgradcheck.html
func Gradgradcheck(f Func, inputs, gradOutputs []*Tensor, opts ...GradcheckOptions) error {
	n := len(inputs)
	var wrt []int
	for i, t := range inputs {
		if t != nil && t.RequiresGrad() {
			wrt = append(wrt, i)
		}
	}
	var diff []int
	err := tensor.Try(func() {
		var ys []*Tensor
		tensor.EnableGrad(func() { ys = f(inputs) })
		fresh := gradOutputs == nil
		for i, y := range ys {
			if !y.RequiresGrad() {
				continue
			}
			diff = append(diff, i)
			if fresh {
				gradOutputs = append(gradOutputs, y.Detach().RandnLike().SetRequiresGrad(true))
			}
		}
	})
	if err != nil {
		return err
	}
	all := append(append([]*Tensor(nil), inputs...), gradOutputs...)
	return Gradcheck(func(ts []*Tensor) []*Tensor {
		in := append([]*Tensor(nil), ts[:n]...)
		var x []*Tensor
		for _, i := range wrt {
			if !in[i].RequiresGrad() {
				in[i] = in[i].Detach().SetRequiresGrad(true)
			}
			x = append(x, in[i])
		}
		var out []*Tensor
		tensor.EnableGrad(func() {
			ys := f(in)
			var sel []*Tensor
			for _, i := range diff {
				sel = append(sel, ys[i])
			}
			for i, g := range tensor.Grad(sel, x,
				GradOptions{GradOutputs: ts[n:], CreateGraph: true, AllowUnused: true}) {
				if g == nil {
					g = x[i].Detach().ZerosLike()
				}
				out = append(out, g)
			}
		})
		return out
	}, all, opts...)
}
