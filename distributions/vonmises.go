package distributions

import (
	"math"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/distributions/constraints"
)

// VonMises is the circular normal distribution: angles between -π and π around loc.
// https://pytorch.org/docs/stable/distributions.html#vonmises
type VonMises struct{ base }

// NewVonMises makes a VonMises.
func NewVonMises(loc, concentration *Tensor, opts ...Options) *VonMises {
	p := broadcast(loc, concentration)
	d := &VonMises{}
	d.init(d, "VonMises", p[0].Shape(), nil, validates(option(opts).ValidateArgs), entry{"loc", p[0]},
		entry{"concentration", p[1]})
	return d
}

// Loc is the mean angle.
func (d *VonMises) Loc() *Tensor { return d.lookup("loc") }

// Concentration says how closely the angles lie around loc.
func (d *VonMises) Concentration() *Tensor { return d.lookup("concentration") }

// ArgConstraints of a VonMises.
func (d *VonMises) ArgConstraints() []Arg {
	return []Arg{{"loc", constraints.Real}, {"concentration", constraints.Positive}}
}

// Support of a VonMises: any angle.
func (d *VonMises) Support() Constraint { return constraints.Real }

// Expand shares the parameters.
func (d *VonMises) Expand(batchShape []int) Distribution {
	n := &VonMises{}
	d.expandInto(&n.base, n, batchShape)
	return n
}

// Mean is loc, the circular mean.
func (d *VonMises) Mean() *Tensor { return d.Loc() }

// Mode is loc.
func (d *VonMises) Mode() *Tensor { return d.Loc() }

// Variance is the circular variance 1 - I₁(κ)/I₀(κ).
func (d *VonMises) Variance() *Tensor {
	k := d.Concentration()
	return rsub(1, logBessel(k, 1).Sub(logBessel(k, 0)).Exp())
}

// LogProb is the logarithm of the density.
func (d *VonMises) LogProb(value *Tensor) *Tensor {
	d.check(value)
	k := d.Concentration()
	return k.Mul(value.Sub(d.Loc()).Cos()).SubScalar(math.Log(2 * math.Pi)).Sub(logBessel(k, 0))
}

// Sample draws by the rejection method of D. Best and N. Fisher, Efficient simulation of the von Mises distribution
// (1979), in float64.
func (d *VonMises) Sample(sampleShape ...int) (x *Tensor) {
	torch.NoGrad(func() {
		loc, k := d.Loc().Double(), d.Concentration().Double()
		tau := k.PowScalar(2).MulScalar(4).AddScalar(1).Sqrt().AddScalar(1)
		rho := tau.Sub(tau.MulScalar(2).Sqrt()).Div(k.MulScalar(2))
		r := rho.PowScalar(2).AddScalar(1).Div(rho.MulScalar(2))
		r = torch.Where(k.LtScalar(1e-5), k.Reciprocal().Add(k), r) // the first terms of the series, where r cancels
		sh := d.shape(sampleShape)
		x = loc.NewZeros(sh)
		done := loc.NewZeros(sh).Bool()
		for done.All().Item() == 0 {
			u := rand(loc, join([]int{3}, sh)).Unbind()
			z := u[0].MulScalar(math.Pi).Cos()
			f := r.Mul(z).AddScalar(1).Div(r.Add(z))
			c := k.Mul(r.Sub(f))
			accept := c.Mul(rsub(2, c)).Sub(u[1]).GtScalar(0)
			accept = accept.BitwiseOr(c.Div(u[1]).Log().AddScalar(1).Sub(c).GeScalar(0))
			if accept.Any().Item() != 0 {
				x = torch.Where(accept, u[2].SubScalar(0.5).Sign().Mul(f.Acos()), x)
				done = done.BitwiseOr(accept)
			}
		}
		x = x.AddScalar(math.Pi).Add(loc).RemainderScalar(2 * math.Pi).SubScalar(math.Pi).ToDType(d.Loc().DType())
	})
	return x
}

// besselSmall and besselLarge are the polynomials of M. Abramowitz and I. Stegun, Handbook of Mathematical Functions,
// 9.8.1 to 9.8.4, for the modified Bessel functions of orders 0 and 1 below and above 3.75.
var (
	besselSmall = [2][]float64{
		{1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813},
		{0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411},
	}
	besselLarge = [2][]float64{
		{0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706, 0.02635537, -0.01647633, 0.00392377},
		{0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555, 0.02282967, -0.02895312, 0.01787654,
			-0.00420059},
	}
)

// logBessel is the logarithm of the modified Bessel function of the first kind; PyTorch uses the same approximation
// here, of about seven digits.
func logBessel(x *Tensor, order int) *Tensor {
	y := x.DivScalar(3.75)
	small := polynomial(y.Mul(y), besselSmall[order])
	if order == 1 {
		small = x.Abs().Mul(small)
	}
	large := x.Sub(x.Log().MulScalar(0.5)).Add(polynomial(over(3.75, x), besselLarge[order]).Log())
	return torch.Where(x.LtScalar(3.75), small.Log(), large)
}

// polynomial evaluates c[0] + c[1]·y + … by Horner's rule.
func polynomial(y *Tensor, c []float64) *Tensor {
	n := len(c) - 1
	r := y.MulScalar(c[n]).AddScalar(c[n-1])
	for i := n - 2; i >= 0; i-- {
		r = y.Mul(r).AddScalar(c[i])
	}
	return r
}
