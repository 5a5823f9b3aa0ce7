package optim

import (
	"math"

	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// MuonOptions are the options of Muon. The zero value is PyTorch's default; others are given as torch.Some(x).
type MuonOptions struct {
	// WeightDecay shrinks the parameters by lr·WeightDecay each step (default 0.1).
	WeightDecay tensor.Opt[float64]
	// Momentum is the part of the running average that is kept (default 0.95).
	Momentum tensor.Opt[float64]
	// Nesterov looks ahead along the momentum (default true).
	Nesterov tensor.Opt[bool]
	// NSCoefficients are the coefficients a, b, c of the Newton-Schulz iteration (default 3.4445, -4.775, 2.0315).
	NSCoefficients tensor.Opt[[3]float64]
	// Eps is the least norm that a matrix is divided by (default 1e-7).
	Eps tensor.Opt[float64]
	// NSSteps is the number of iterations, below 100 (default 5).
	NSSteps tensor.Opt[int]
	// AdjustLRFn says how the learning rate follows from a parameter's shape (rows, columns): "original" (also "", the
	// default) takes lr·√max(1, rows/columns), "match_rms_adamw" 0.2·lr·√max(rows, columns), so that Adam's learning
	// rates serve, "spectral_unclamped" lr·√(rows/columns).
	AdjustLRFn string
}

// Muon makes the momentum of a weight matrix orthogonal before it is applied. With G the gradient and P the parameter:
//
//	B += (1-momentum)·(G - B)
//	O = NewtonSchulz(B)                 (Nesterov: of G + momentum·(B - G))
//	P -= lr·weight_decay·P
//	P -= lr'·O                          with lr' by AdjustLRFn
//
// One Newton-Schulz iteration takes X to a·X + (b·XXᵀ + c·(XXᵀ)²)·X, in bfloat16. Parameters must be matrices: biases
// and embeddings belong to another optimizer. See https://kellerjordan.github.io/posts/muon/,
// https://arxiv.org/abs/2502.16982 and https://docs.pytorch.org/docs/stable/generated/torch.optim.Muon.html. Its state
// is "momentum_buffer" (B).
type Muon struct{ base }

// NewMuon optimizes matrices with learning rate lr (PyTorch's default is 1e-3). It panics when a setting is out of
// range, a parameter is no matrix or not a leaf, or the list is empty.
func NewMuon(params []*Tensor, lr float64, opts ...MuonOptions) *Muon {
	return NewMuonGroups(one(params), lr, opts...)
}

// NewMuonGroups is NewMuon with several groups.
func NewMuonGroups(groups []Group, lr float64, opts ...MuonOptions) *Muon {
	o := first(opts)
	m := &Muon{}
	m.check = checkMuon
	m.update = m.step
	var adjust any
	if o.AdjustLRFn != "" {
		adjust = o.AdjustLRFn
	}
	ns := o.NSCoefficients.Or([3]float64{3.4445, -4.775, 2.0315})
	m.init(m, "Muon", []setting{
		{"lr", lr}, {"weight_decay", o.WeightDecay.Or(0.1)}, {"momentum", o.Momentum.Or(0.95)},
		{"nesterov", o.Nesterov.Or(true)}, {"ns_coefficients", serialize.Tuple{ns[0], ns[1], ns[2]}},
		{"eps", o.Eps.Or(1e-7)}, {"ns_steps", o.NSSteps.Or(5)}, {"adjust_lr_fn", adjust},
	}, groups)
	return m
}

func checkMuon(g *ParamGroup) {
	for _, c := range [][2]string{{"lr", "Learning rate"}, {"momentum", "momentum"}, {"weight_decay", "weight decay"}} {
		if f := g.Float(c[0]); !(f >= 0) {
			tensor.Fail(tensor.ErrValue, "%s should be >= 0 but is: %g", c[1], f)
		}
	}
	if g.Float("ns_steps") >= 100 {
		tensor.Fail(tensor.ErrValue, "Number of steps must be less than 100 for computational efficiency")
	}
	switch fn := g.Get("adjust_lr_fn"); fn {
	case nil, "original", "match_rms_adamw", "spectral_unclamped":
	default:
		tensor.Fail(tensor.ErrValue, "Adjust learning rate function %v is not supported: there are \"original\", "+
			"\"match_rms_adamw\" and \"spectral_unclamped\"", fn)
	}
	for _, p := range g.Params {
		if p != nil && p.Dim() != 2 {
			tensor.Fail(tensor.ErrShape, "Muon only supports 2D parameters whereas we found a parameter with size: %s",
				tensor.ShapeString(p.Shape()))
		}
	}
}

func (m *Muon) step(g *ParamGroup) {
	ns, momentum := muonCoefficients(g), g.Float("momentum")
	for _, p := range g.Params {
		grad := gradient(p)
		if grad == nil {
			continue
		}
		if p.IsComplex() {
			tensor.Fail(tensor.ErrDType, "Muon does not support complex parameters")
		}
		st := m.stateOf(p)
		buf := st.Tensor("momentum_buffer")
		if buf == nil {
			buf = zerosLike(p)
			st.Set("momentum_buffer", buf)
		}
		tensor.NoGrad(func() {
			buf.LerpScalarInPlace(grad, 1-momentum)
			update := buf
			if g.Bool("nesterov") {
				update = grad.LerpScalar(buf, momentum)
			}
			update = orthogonal(update, ns, int(g.Float("ns_steps")), g.Float("eps"))
			p.MulScalarInPlace(1 - g.LR()*g.Float("weight_decay"))
			p.AddInPlace(update, tensor.AddInPlaceOptions{Alpha: -muonRate(g, p)})
		})
	}
}

// muonCoefficients reads the setting ns_coefficients.
func muonCoefficients(g *ParamGroup) (out [3]float64) {
	l, _ := g.Get("ns_coefficients").(serialize.Tuple)
	if len(l) != 3 {
		tensor.Fail(tensor.ErrValue, "Coefficients must be a tuple of exactly 3 values")
	}
	for i := range out {
		out[i], _ = l[i].(float64)
	}
	return out
}

// orthogonal is nearly U·Vᵀ of a matrix with the singular value decomposition U·S·Vᵀ.
func orthogonal(x *Tensor, ns [3]float64, steps int, eps float64) *Tensor {
	tall := x.Size(0) > x.Size(1)
	y := x.To(tensor.BFloat16)
	if tall {
		y = y.T()
	}
	y = y.Div(y.Norm().ClampMinScalar(eps)) // the spectral norm is 1 at most
	for range steps {
		gram := y.MatMul(y.T())
		gram = gram.AddMM(gram, gram, tensor.AddMMOptions{Beta: ns[1], Alpha: ns[2]})
		y = y.AddMM(gram, y, tensor.AddMMOptions{Beta: ns[0]})
	}
	if tall {
		y = y.T()
	}
	return y
}

// muonRate is the learning rate for a parameter's shape.
func muonRate(g *ParamGroup, p *Tensor) float64 {
	rows, cols := float64(p.Size(0)), float64(p.Size(1))
	switch g.Get("adjust_lr_fn") {
	case "match_rms_adamw":
		return g.LR() * 0.2 * math.Sqrt(math.Max(rows, cols))
	case "spectral_unclamped":
		return g.LR() * math.Sqrt(rows/cols)
	}
	return g.LR() * math.Sqrt(math.Max(1, rows/cols))
}
