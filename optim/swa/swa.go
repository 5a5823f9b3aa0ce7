// Package swa averages the parameters of a model over the steps of training: stochastic weight averaging (Izmailov et
// al., Averaging weights leads to wider optima and better generalization, 2018) and exponential moving averages. It is
// PyTorch's torch.optim.swa_utils; its schedule SWALR is in package optim/lr.
//
//	averaged := swa.NewAveragedModel(model)
//	for batch := range batches {
//		…
//		opt.Step()
//		averaged.UpdateParameters(model)
//	}
//	err := swa.UpdateBN(batches, averaged, func(b Batch) { averaged.Module.Forward(b.X) })
package swa

import (
	"iter"

	"github.com/gotorch-dev/torch/internal/pyfmt"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// Tensor is a tensor.
type Tensor = tensor.Tensor

// AvgFn gives the new average of a parameter from its average, its current value and the number of values averaged.
type AvgFn func(averaged, current *Tensor, numAveraged int) *Tensor

// MultiAvgFn updates the averages of many parameters of one dtype and device in place.
type MultiAvgFn func(averaged, current []*Tensor, numAveraged int)

// Options are the options of NewAveragedModel; the zero value is PyTorch's default.
type Options struct {
	Device     tensor.Device // where the averages lie; that of the model unless given
	AvgFn      AvgFn         // default GetSWAAvgFn()
	MultiAvgFn MultiAvgFn    // instead of AvgFn
	UseBuffers bool          // average buffers, too, instead of copying them
}

// AveragedModel holds a copy of a model whose parameters are averages of the model's. Its state dict is that of Python's
// class: the entries of the copy under "module.", and "n_averaged".
// https://pytorch.org/docs/stable/generated/torch.optim.swa_utils.AveragedModel.html
type AveragedModel[M nn.Module] struct {
	nn.Base
	Module     M
	NAveraged  *Tensor `torch:",buffer"` // how often UpdateParameters was called
	avg        AvgFn
	multi      MultiAvgFn
	useBuffers bool
}

// NewAveragedModel copies a model (nn.DeepCopy). The first call of UpdateParameters copies the parameters, later ones
// average.
func NewAveragedModel[M nn.Module](model M, opts ...Options) *AveragedModel[M] {
	var o Options
	if len(opts) > 0 {
		o = opts[0]
	}
	if o.AvgFn != nil && o.MultiAvgFn != nil {
		tensor.Fail(tensor.ErrValue, "Only one of avg_fn and multi_avg_fn should be provided")
	}
	a := &AveragedModel[M]{Module: nn.DeepCopy(model), NAveraged: tensor.FromSlice([]int64{0}, []int{}...),
		avg: o.AvgFn, multi: o.MultiAvgFn, useBuffers: o.UseBuffers}
	if o.Device != (tensor.Device{}) {
		nn.ToDevice(a.Module, o.Device)
		a.NAveraged = a.NAveraged.To(o.Device)
	}
	if a.avg == nil && a.multi == nil {
		a.avg = GetSWAAvgFn()
	}
	return nn.New(a)
}

// Forward applies the averaged model, which must be an nn.Layer; for others call the method of Module.
func (a *AveragedModel[M]) Forward(x *Tensor) *Tensor {
	l, ok := any(a.Module).(nn.Layer)
	if !ok {
		tensor.Fail(tensor.ErrType, "AveragedModel: a %s has no Forward of one tensor: call that of the field Module",
			nn.ClassName(a.Module))
	}
	return a.Run(a, x, func(x *Tensor) *Tensor { return nn.Call(l, x) })
}

// UpdateParameters takes the model's present parameters into the averages. The model must be the one that was copied, or
// one of the same parameters.
func (a *AveragedModel[M]) UpdateParameters(model M) {
	tensor.NoGrad(func() {
		averaged, current := nn.Parameters(a.Module), nn.Parameters(model)
		if a.useBuffers {
			averaged, current = append(averaged, nn.Buffers(a.Module)...), append(current, nn.Buffers(model)...)
		}
		check(averaged, current)
		n := int(a.NAveraged.Item())
		for i, t := range averaged {
			averaged[i], current[i] = t.Detach(), current[i].Detach().To(t.Device())
		}
		switch {
		case n == 0:
			for i, t := range averaged {
				t.CopyInPlace(current[i])
			}
		case a.multi != nil:
			for _, part := range parts(averaged) {
				x, y := make([]*Tensor, len(part)), make([]*Tensor, len(part))
				for k, i := range part {
					x[k], y[k] = averaged[i], current[i]
				}
				a.multi(x, y, n)
			}
		default:
			for i, t := range averaged {
				t.CopyInPlace(a.avg(t, current[i], n))
			}
		}
		if !a.useBuffers {
			own, theirs := nn.Buffers(a.Module), nn.Buffers(model)
			check(own, theirs)
			for i, b := range own {
				b.Detach().CopyInPlace(theirs[i].Detach())
			}
		}
		nn.Refresh(a.Module)
		a.NAveraged.FillScalarInPlace(n + 1)
	})
}

// check refuses a model that is not like the one that was copied.
func check(averaged, current []*Tensor) {
	if len(averaged) != len(current) {
		tensor.Fail(tensor.ErrValue, "AveragedModel: the model has %d tensors, the averaged one %d", len(current),
			len(averaged))
	}
	for i, t := range averaged {
		if !tensor.SameShape(t.Shape(), current[i].Shape()) {
			tensor.Fail(tensor.ErrShape, "AveragedModel: tensor %d of the model has shape %s, that of the averaged one %s",
				i, tensor.ShapeString(current[i].Shape()), tensor.ShapeString(t.Shape()))
		}
	}
}

// parts are the indices of tensors of one device and dtype, in order of their first.
func parts(ts []*Tensor) (out [][]int) {
	type kind struct {
		device tensor.Device
		dtype  tensor.DType
	}
	at := map[kind]int{}
	for i, t := range ts {
		k := kind{t.Device(), t.DType()}
		j, ok := at[k]
		if !ok {
			j = len(out)
			at[k], out = j, append(out, nil)
		}
		out[j] = append(out[j], i)
	}
	return out
}

// checkDecay refuses a decay that is no fraction.
func checkDecay(decay float64) {
	if !(decay >= 0 && decay <= 1) {
		tensor.Fail(tensor.ErrValue, "Invalid decay value %s provided. Please provide a value in [0,1] range.",
			pyfmt.Float(decay))
	}
}

// interpolate moves each tensor by a weight towards another, in place.
func interpolate(averaged, current []*Tensor, weight float64) {
	tensor.NoGrad(func() {
		for i, t := range averaged {
			if t.DType().IsDifferentiable() {
				t.LerpScalarInPlace(current[i], weight)
			} else {
				t.CopyInPlace(t.MulScalar(1 - weight).Add(current[i].MulScalar(weight)))
			}
		}
	})
}

// GetEMAMultiAvgFn gives a function for exponential moving averages of many parameters at once; PyTorch's decay is
// 0.999.
func GetEMAMultiAvgFn(decay float64) MultiAvgFn {
	checkDecay(decay)
	return func(averaged, current []*Tensor, _ int) { interpolate(averaged, current, 1-decay) }
}

// GetSWAMultiAvgFn gives a function for equal averages of many parameters at once.
func GetSWAMultiAvgFn() MultiAvgFn {
	return func(averaged, current []*Tensor, n int) { interpolate(averaged, current, 1/float64(n+1)) }
}

// GetEMAAvgFn gives a function for the exponential moving average of a parameter; PyTorch's decay is 0.999.
func GetEMAAvgFn(decay float64) AvgFn {
	checkDecay(decay)
	return func(averaged, current *Tensor, _ int) *Tensor {
		return averaged.MulScalar(decay).Add(current.MulScalar(1 - decay))
	}
}

// GetSWAAvgFn gives a function for the equal average of a parameter.
func GetSWAAvgFn() AvgFn {
	return func(averaged, current *Tensor, n int) *Tensor {
		return averaged.Add(current.Sub(averaged).DivScalar(n + 1))
	}
}

// UpdateBN computes the running statistics of a model's batch norms anew, as the mean over batches, with the parameters
// as they are: those of an averaged model have never been used in training. forward runs the model on a batch; the
// model is in training mode meanwhile. An error of the batches ends it.
// https://pytorch.org/docs/stable/generated/torch.optim.swa_utils.update_bn.html
func UpdateBN[B any](batches iter.Seq2[B, error], model nn.Module, forward func(B)) error {
	var norms []*nn.NormBase
	for m := range nn.Modules(model) {
		if b := nn.BatchNormOf(m); b != nil {
			b.ResetRunningStats()
			norms = append(norms, b)
		}
	}
	if len(norms) == 0 {
		return nil
	}
	cumulative := make([]bool, len(norms))
	for i, b := range norms {
		cumulative[i], b.CumulativeMean = b.CumulativeMean, true
	}
	training := nn.IsTraining(model)
	nn.Train(model, true)
	defer func() {
		for i, b := range norms {
			b.CumulativeMean = cumulative[i]
		}
		nn.Train(model, training)
	}()
	for b, err := range batches {
		if err != nil {
			return err
		}
		forward(b)
	}
	return nil
}
