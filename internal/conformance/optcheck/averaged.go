package optcheck

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/optim/swa"
	"github.com/gotorch-dev/torch/tensor"
)

// averagedRecord is a training run whose parameters are averaged.
type averagedRecord struct {
	I            int
	Kind         string // swa or ema
	Decay        float64
	Base         string // "SGD(lr=.1, momentum=.9) on mlp"
	Steps, Start int
	NAveraged    int `json:"n_averaged"`
	Key          string
}

// paramsModel is a module that has nothing but parameters.
type paramsModel struct {
	nn.Base
	P []*tensor.Tensor
}

// checkAveraged trains and averages, by the function for one parameter and by that for many.
func checkAveraged(d *golden.Decoder, r *averagedRecord) error {
	optimizer, problem, ok := strings.Cut(r.Base, " on ")
	var rate, momentum float64
	if _, err := fmt.Sscanf(optimizer, "SGD(lr=%g, momentum=%g)", &rate, &momentum); err != nil || !ok {
		return golden.Skip("cannot read " + r.Base)
	}
	for _, multi := range []bool{false, true} {
		var o swa.Options
		switch {
		case r.Kind == "swa" && multi:
			o.MultiAvgFn = swa.GetSWAMultiAvgFn()
		case r.Kind == "swa":
			o.AvgFn = swa.GetSWAAvgFn()
		case r.Kind == "ema" && multi:
			o.MultiAvgFn = swa.GetEMAMultiAvgFn(r.Decay)
		case r.Kind == "ema":
			o.AvgFn = swa.GetEMAAvgFn(r.Decay)
		default:
			return golden.Skip("no averaging " + r.Kind)
		}
		p, err := newProblem(d, problem, tensor.Float64)
		if err != nil {
			return err
		}
		m := &paramsModel{}
		for _, t := range p.params {
			m.P = append(m.P, t.SetParameter())
		}
		nn.New(m)
		a := swa.NewAveragedModel(m, o)
		opt := optim.NewSGD(p.params, rate, optim.SGDOptions{Momentum: momentum})
		for s := range r.Steps {
			_, grads := p.loss(s)
			for j, q := range p.params {
				q.SetGrad(tensor.FromSlice(grads[j], q.Shape()...).To(q.DType()).To(q.Device()))
			}
			opt.Step()
			if s >= r.Start {
				a.UpdateParameters(m)
			}
		}
		if n := int(a.NAveraged.Item()); n != r.NAveraged {
			return fmt.Errorf("n_averaged is %d, want %d", n, r.NAveraged)
		}
		for j, q := range a.Module.P {
			want, err := d.Array(strings.ReplaceAll(r.Key, "{j}", strconv.Itoa(j)))
			if err != nil {
				return err
			}
			if why := golden.Close(q, want, golden.Tolerance{RTol: 1e-6, ATol: 1e-7}); why != "" {
				return fmt.Errorf("p%d: %s", j, why)
			}
		}
	}
	return nil
}
