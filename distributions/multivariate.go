package distributions

import (
	"fmt"
	"math"
	"slices"

	"github.com/gotorch-dev/torch/linalg"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/distributions/constraints"
	"github.com/gotorch-dev/torch/tensor"
)

// matrixVector multiplies each matrix of a batch with a vector.
func matrixVector(m, v *Tensor) *Tensor { return m.MatMul(v.Unsqueeze(-1)).SqueezeDim(-1) }

// mahalanobis is xᵀ·(L·Lᵀ)⁻¹·x for lower triangular L and vectors x, whose batch dimensions broadcast. The dimensions
// of x that L lacks become columns of one triangular system, so that no matrix is copied.
func mahalanobis(l, x *Tensor) *Tensor {
	n := x.Size(-1)
	batch := x.Shape()[:x.Dim()-1]
	lb := l.Dim() - 2
	outer := len(batch) - lb
	shape := slices.Clone(batch[:outer])
	for i, s := range l.Shape()[:lb] {
		shape = append(shape, batch[outer+i]/s, s)
	}
	x = x.Reshape(append(shape, n))
	var perm []int
	for i := range outer {
		perm = append(perm, i)
	}
	for i := range lb {
		perm = append(perm, outer+2*i)
	}
	for i := range lb {
		perm = append(perm, outer+2*i+1)
	}
	x = x.Permute(append(perm, outer+2*lb))
	fl := l.Reshape([]int{Size(l.Shape()[:lb]).Numel(), n, n})
	fx := x.Reshape([]int{Size(x.Shape()).Numel() / max(1, fl.Size(0)*n), fl.Size(0), n})
	m := solveLower(fl, fx.Permute([]int{1, 2, 0})).PowScalar(2).SumDim([]int{-2}).NumpyT()
	m = m.Reshape(x.Shape()[:x.Dim()-1])
	perm = perm[:0]
	for i := range outer {
		perm = append(perm, i)
	}
	for i := range lb {
		perm = append(perm, outer+i, outer+lb+i)
	}
	return m.Permute(perm).Reshape(batch)
}

// solveLower is L⁻¹·b.
func solveLower(l, b *Tensor) *Tensor { return linalg.SolveTriangular(l, b, false) }

// trilOfPrecision is the Cholesky factor of the inverse of p.
func trilOfPrecision(p *Tensor) *Tensor {
	f := linalg.Cholesky(p.Flip([]int{-2, -1}))
	inv := f.Flip([]int{-2, -1}).Transpose(-2, -1)
	return solveLower(inv, torch.Eye(p.Size(-1), torch.EyeOptions{DType: p.DType(), Device: p.Device()}))
}

// sumLogDiagonal is half the log-determinant of L·Lᵀ.
func sumLogDiagonal(l *Tensor) *Tensor { return sumLast(diagonal(l).Log()) }

// matrices is what families given by a covariance matrix, its inverse or its Cholesky factor share.
type matrices struct {
	base
	tril *Tensor // without the batch dimensions that broadcasting would add
}

// choose finds the one matrix that is given.
func choose(cov, prec, tril *Tensor) (name string, m *Tensor, n int) {
	for _, e := range []entry{{"covariance_matrix", cov}, {"precision_matrix", prec}, {"scale_tril", tril}} {
		if e.t != nil {
			name, m = e.name, e.t
			n++
		}
	}
	return name, m, n
}

// factor is the Cholesky factor of the covariance matrix.
func factor(name string, m *Tensor) *Tensor {
	switch name {
	case "covariance_matrix":
		return linalg.Cholesky(m)
	case "precision_matrix":
		return trilOfPrecision(m)
	}
	return m
}

func (d *matrices) expanded(m *Tensor) *Tensor {
	n := d.event[len(d.event)-1]
	return m.Expand(join(d.batch, []int{n, n}))
}

// ScaleTril is the Cholesky factor of the covariance matrix.
func (d *matrices) ScaleTril() *Tensor {
	return d.lazy("scale_tril", func() *Tensor { return d.expanded(d.tril) })
}

// CovarianceMatrix is the covariance matrix.
func (d *matrices) CovarianceMatrix() *Tensor {
	return d.lazy("covariance_matrix", func() *Tensor { return d.expanded(d.tril.MatMul(d.tril.MT())) })
}

// PrecisionMatrix is the inverse of the covariance matrix.
func (d *matrices) PrecisionMatrix() *Tensor {
	return d.lazy("precision_matrix", func() *Tensor { return d.expanded(d.tril.CholeskyInverse()) })
}

// MultivariateNormal is the normal distribution of vectors.
// https://pytorch.org/docs/stable/distributions.html#multivariatenormal
type MultivariateNormal struct{ matrices }

// MultivariateNormalOptions are the options of NewMultivariateNormal; exactly one matrix must be given.
type MultivariateNormalOptions struct {
	CovarianceMatrix *Tensor
	PrecisionMatrix  *Tensor
	ScaleTril        *Tensor // lower triangular with a positive diagonal
	ValidateArgs     tensor.Opt[bool]
}

// NewMultivariateNormal makes a MultivariateNormal. A Cholesky factor is the fastest of the three matrices: all work is
// done with it.
func NewMultivariateNormal(loc *Tensor, o MultivariateNormalOptions) *MultivariateNormal {
	if loc.Dim() < 1 {
		tensor.Fail(tensor.ErrValue, "loc must be at least one-dimensional.")
	}
	name, m, n := choose(o.CovarianceMatrix, o.PrecisionMatrix, o.ScaleTril)
	if n != 1 {
		tensor.Fail(tensor.ErrValue,
			"Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
	}
	if m.Dim() < 2 {
		what := name
		if name == "scale_tril" {
			what = "scale_tril matrix"
		}
		tensor.Fail(tensor.ErrValue, "%s must be at least two-dimensional, with optional leading batch dimensions",
			what)
	}
	batch := torch.BroadcastShapes(m.Shape()[:m.Dim()-2], loc.Shape()[:loc.Dim()-1])
	loc = loc.Expand(join(batch, []int{-1}))
	d := &MultivariateNormal{}
	d.rsample = true
	d.init(d, "MultivariateNormal", batch, loc.Shape()[len(batch):], validates(o.ValidateArgs), entry{"loc", loc},
		entry{name, m.Expand(join(batch, []int{-1, -1}))})
	d.tril = factor(name, m)
	return d
}

// Loc is the mean.
func (d *MultivariateNormal) Loc() *Tensor { return d.lookup("loc") }

// ArgConstraints of a MultivariateNormal.
func (d *MultivariateNormal) ArgConstraints() []Arg {
	return []Arg{{"loc", constraints.RealVector}, {"covariance_matrix", constraints.PositiveDefinite},
		{"precision_matrix", constraints.PositiveDefinite}, {"scale_tril", constraints.LowerCholesky}}
}

// Support of a MultivariateNormal.
func (d *MultivariateNormal) Support() Constraint { return constraints.RealVector }

// Expand shares the parameters.
func (d *MultivariateNormal) Expand(batchShape []int) Distribution {
	n := &MultivariateNormal{}
	n.tril = d.tril
	d.expandInto(&n.base, n, batchShape)
	return n
}

// Mean is loc.
func (d *MultivariateNormal) Mean() *Tensor { return d.Loc() }

// Mode is loc.
func (d *MultivariateNormal) Mode() *Tensor { return d.Loc() }

// Variance is the diagonal of the covariance matrix.
func (d *MultivariateNormal) Variance() *Tensor {
	return sumLast(d.tril.PowScalar(2)).Expand(join(d.batch, d.event))
}

// RSample is loc plus the Cholesky factor times standard normal vectors.
func (d *MultivariateNormal) RSample(sampleShape ...int) *Tensor {
	return d.Loc().Add(matrixVector(d.tril, normals(d.Loc(), d.shape(sampleShape))))
}

// LogProb is the logarithm of the density.
func (d *MultivariateNormal) LogProb(value *Tensor) *Tensor {
	d.check(value)
	m := mahalanobis(d.tril, value.Sub(d.Loc()))
	return m.AddScalar(float64(d.event[0]) * math.Log(2*math.Pi)).MulScalar(-0.5).Sub(sumLogDiagonal(d.tril))
}

// Entropy of a MultivariateNormal.
func (d *MultivariateNormal) Entropy() *Tensor {
	return spreadTo(sumLogDiagonal(d.tril).AddScalar(0.5*float64(d.event[0])*(1+math.Log(2*math.Pi))), d.batch)
}

// spreadTo expands a result to the batch shape.
func spreadTo(x *Tensor, batch []int) *Tensor {
	if len(batch) == 0 {
		return x
	}
	return x.Expand(batch)
}

// LowRankMultivariateNormal is the normal distribution of vectors with covariance W·Wᵀ + D, D diagonal. Everything is
// computed with matrices as small as the rank of W (Woodbury's identity, the matrix determinant lemma).
// https://pytorch.org/docs/stable/distributions.html#lowrankmultivariatenormal
type LowRankMultivariateNormal struct {
	base
	w, diag, tril *Tensor // without the batch dimensions that broadcasting would add; tril factors I + Wᵀ·D⁻¹·W
}

// NewLowRankMultivariateNormal makes a LowRankMultivariateNormal from the mean, W and the diagonal of D.
func NewLowRankMultivariateNormal(loc, covFactor, covDiag *Tensor, opts ...Options) *LowRankMultivariateNormal {
	if loc.Dim() < 1 {
		tensor.Fail(tensor.ErrValue, "loc must be at least one-dimensional.")
	}
	n := loc.Size(-1)
	if covFactor.Dim() < 2 {
		tensor.Fail(tensor.ErrValue,
			"cov_factor must be at least two-dimensional, with optional leading batch dimensions")
	}
	if covFactor.Size(-2) != n {
		tensor.Fail(tensor.ErrValue, "cov_factor must be a batch of matrices with shape %d x m", n)
	}
	if covDiag.Dim() < 1 || covDiag.Size(-1) != n {
		tensor.Fail(tensor.ErrValue, "cov_diag must be a batch of vectors with shape %s", Size{n})
	}
	var p []*Tensor
	if err := torch.Try(func() {
		p = torch.BroadcastTensors([]*Tensor{loc.Unsqueeze(-1), covFactor, covDiag.Unsqueeze(-1)})
	}); err != nil {
		tensor.Fail(tensor.ErrValue, "Incompatible batch shapes: loc %s, cov_factor %s, cov_diag %s", Size(loc.Shape()),
			Size(covFactor.Shape()), Size(covDiag.Shape()))
	}
	d := &LowRankMultivariateNormal{w: covFactor, diag: covDiag}
	d.tril = scaledTranspose(covFactor, covDiag).MatMul(covFactor)
	d.tril = linalg.Cholesky(plusIdentity(d.tril))
	d.rsample = true
	l, dg := selectLast(p[0], 0), selectLast(p[2], 0)
	d.init(d, "LowRankMultivariateNormal", l.Shape()[:l.Dim()-1], []int{n}, validates(option(opts).ValidateArgs),
		entry{"loc", l}, entry{"cov_factor", p[1]}, entry{"cov_diag", dg})
	return d
}

// scaledTranspose is Wᵀ·D⁻¹.
func scaledTranspose(w, diag *Tensor) *Tensor { return w.MT().Div(diag.Unsqueeze(-2)) }

func plusIdentity(m *Tensor) *Tensor {
	return m.Add(torch.Eye(m.Size(-1), torch.EyeOptions{DType: m.DType(), Device: m.Device()}))
}

// Loc is the mean.
func (d *LowRankMultivariateNormal) Loc() *Tensor { return d.lookup("loc") }

// CovFactor is W.
func (d *LowRankMultivariateNormal) CovFactor() *Tensor { return d.lookup("cov_factor") }

// CovDiag is the diagonal of D.
func (d *LowRankMultivariateNormal) CovDiag() *Tensor { return d.lookup("cov_diag") }

// ArgConstraints of a LowRankMultivariateNormal.
func (d *LowRankMultivariateNormal) ArgConstraints() []Arg {
	return []Arg{{"loc", constraints.RealVector}, {"cov_factor", constraints.Independent(constraints.Real, 2)},
		{"cov_diag", constraints.Independent(constraints.Positive, 1)}}
}

// Support of a LowRankMultivariateNormal.
func (d *LowRankMultivariateNormal) Support() Constraint { return constraints.RealVector }

// Expand shares the parameters.
func (d *LowRankMultivariateNormal) Expand(batchShape []int) Distribution {
	n := &LowRankMultivariateNormal{w: d.w, diag: d.diag, tril: d.tril}
	d.expandInto(&n.base, n, batchShape)
	return n
}

// Mean is loc.
func (d *LowRankMultivariateNormal) Mean() *Tensor { return d.Loc() }

// Mode is loc.
func (d *LowRankMultivariateNormal) Mode() *Tensor { return d.Loc() }

// Variance is the diagonal of the covariance matrix.
func (d *LowRankMultivariateNormal) Variance() *Tensor {
	return sumLast(d.w.PowScalar(2)).Add(d.diag).Expand(join(d.batch, d.event))
}

func (d *LowRankMultivariateNormal) square(m *Tensor) *Tensor {
	return m.Expand(join(d.batch, d.event, d.event))
}

// ScaleTril is the Cholesky factor of the covariance matrix.
func (d *LowRankMultivariateNormal) ScaleTril() *Tensor {
	return d.lazy("scale_tril", func() *Tensor {
		s := d.diag.Sqrt().Unsqueeze(-1)
		w := d.w.Div(s)
		return d.square(s.Mul(linalg.Cholesky(plusIdentity(w.MatMul(w.MT())))))
	})
}

// CovarianceMatrix is W·Wᵀ + D.
func (d *LowRankMultivariateNormal) CovarianceMatrix() *Tensor {
	return d.lazy("covariance_matrix", func() *Tensor { return d.square(d.w.MatMul(d.w.MT()).Add(d.diag.DiagEmbed())) })
}

// PrecisionMatrix is the inverse of the covariance matrix.
func (d *LowRankMultivariateNormal) PrecisionMatrix() *Tensor {
	return d.lazy("precision_matrix", func() *Tensor {
		a := solveLower(d.tril, scaledTranspose(d.w, d.diag))
		return d.square(d.diag.Reciprocal().DiagEmbed().Sub(a.MT().MatMul(a)))
	})
}

// RSample adds W times small normal vectors and scaled normal numbers.
func (d *LowRankMultivariateNormal) RSample(sampleShape ...int) *Tensor {
	sh := d.shape(sampleShape)
	w := normals(d.Loc(), join(sh[:len(sh)-1], []int{d.w.Size(-1)}))
	e := normals(d.Loc(), sh)
	return d.Loc().Add(matrixVector(d.w, w)).Add(d.diag.Sqrt().Mul(e))
}

// logDet is the log-determinant of the covariance matrix.
func (d *LowRankMultivariateNormal) logDet() *Tensor {
	return sumLogDiagonal(d.tril).MulScalar(2).Add(sumLast(d.diag.Log()))
}

// mahalanobis is xᵀ·(W·Wᵀ + D)⁻¹·x.
func (d *LowRankMultivariateNormal) mahalanobis(x *Tensor) *Tensor {
	wx := matrixVector(scaledTranspose(d.w, d.diag), x)
	return sumLast(x.PowScalar(2).Div(d.diag)).Sub(mahalanobis(d.tril, wx))
}

// LogProb is the logarithm of the density.
func (d *LowRankMultivariateNormal) LogProb(value *Tensor) *Tensor {
	d.check(value)
	m := d.mahalanobis(value.Sub(d.Loc()))
	return d.logDet().AddScalar(float64(d.event[0]) * math.Log(2*math.Pi)).Add(m).MulScalar(-0.5)
}

// Entropy of a LowRankMultivariateNormal.
func (d *LowRankMultivariateNormal) Entropy() *Tensor {
	return spreadTo(d.logDet().AddScalar(float64(d.event[0])*(1+math.Log(2*math.Pi))).MulScalar(0.5), d.batch)
}

// Wishart is the distribution of sums of outer products of normal vectors: of covariance matrices of samples, up to a
// factor.
// https://pytorch.org/docs/stable/distributions.html#wishart
type Wishart struct {
	matrices
	chi2 *Chi2
}

// WishartOptions are the options of NewWishart; exactly one matrix must be given.
type WishartOptions struct {
	CovarianceMatrix *Tensor
	PrecisionMatrix  *Tensor
	ScaleTril        *Tensor // lower triangular with a positive diagonal
	ValidateArgs     tensor.Opt[bool]
}

// NewWishart makes a Wishart; df must be above the number of dimensions - 1.
func NewWishart(df *Tensor, o WishartOptions) *Wishart {
	name, m, n := choose(o.CovarianceMatrix, o.PrecisionMatrix, o.ScaleTril)
	if n != 1 {
		tensor.Fail(tensor.ErrValue,
			"Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
	}
	if m.Dim() < 2 {
		tensor.Fail(tensor.ErrValue,
			"scale_tril must be at least two-dimensional, with optional leading batch dimensions")
	}
	batch := torch.BroadcastShapes(m.Shape()[:m.Dim()-2], df.Shape())
	event := m.Shape()[m.Dim()-2:]
	given := df
	df = df.Expand(batch)
	if df.Device().Type != tensor.MetaDevice && df.Detach().LeScalar(event[1]-1).Any().Item() != 0 {
		tensor.Fail(tensor.ErrValue, "Value of df=%s expected to be greater than ndim - 1 = %d.",
			constraints.Text(given), event[1]-1)
	}
	d := &Wishart{}
	d.rsample = true
	d.init(d, "Wishart", batch, event, validates(o.ValidateArgs), entry{name, m.Expand(join(batch, []int{-1, -1}))},
		entry{"df", df})
	d.tril = factor(name, m)
	d.chi2 = d.diagonalSquares()
	return d
}

// diagonalSquares is the distribution of the squares on the diagonal of a draw's Cholesky factor.
func (d *Wishart) diagonalSquares() *Chi2 {
	n := d.event[1]
	return NewChi2(d.DF().Unsqueeze(-1).Sub(arange(d.tril, n).Expand(join(d.batch, []int{n}))))
}

// DF are the degrees of freedom.
func (d *Wishart) DF() *Tensor { return d.lookup("df") }

// ArgConstraints of a Wishart.
func (d *Wishart) ArgConstraints() []Arg {
	return []Arg{{"covariance_matrix", constraints.PositiveDefinite}, {"precision_matrix",
		constraints.PositiveDefinite}, {"scale_tril", constraints.LowerCholesky},
		{"df", constraints.GreaterThanScalar(d.event[len(d.event)-1] - 1)}}
}

// Support of a Wishart.
func (d *Wishart) Support() Constraint { return constraints.PositiveDefinite }

// Expand shares the parameters.
func (d *Wishart) Expand(batchShape []int) Distribution {
	n := &Wishart{}
	n.tril = d.tril.Expand(join(batchShape, d.event))
	d.expandInto(&n.base, n, batchShape)
	n.chi2 = n.diagonalSquares()
	return n
}

// PrecisionMatrix is the inverse of the scale matrix.
func (d *Wishart) PrecisionMatrix() *Tensor {
	return d.lazy("precision_matrix", func() *Tensor {
		eye := torch.Eye(d.event[1], torch.EyeOptions{DType: d.tril.DType(), Device: d.tril.Device()})
		return d.expanded(eye.CholeskySolve(d.tril))
	})
}

// df11 is df with two more dimensions.
func (d *Wishart) df11() *Tensor { return d.DF().Unsqueeze(-1).Unsqueeze(-1) }

// Mean is df times the scale matrix.
func (d *Wishart) Mean() *Tensor { return d.df11().Mul(d.CovarianceMatrix()) }

// Mode is (df - n - 1) times the scale matrix, NaN where that factor is not positive.
func (d *Wishart) Mode() *Tensor {
	f := d.DF().SubScalar(d.event[1]).SubScalar(1)
	f = f.MaskedFillScalar(f.LeScalar(0), nan)
	return f.Unsqueeze(-1).Unsqueeze(-1).Mul(d.CovarianceMatrix())
}

// Variance of each element.
func (d *Wishart) Variance() *Tensor {
	v := d.CovarianceMatrix()
	g := diagonal(v)
	return d.df11().Mul(v.PowScalar(2).Add(g.Unsqueeze(-1).Mul(g.Unsqueeze(-2))))
}

// bartlett draws by M. Bartlett's decomposition (1933): the Cholesky factor has chi-distributed numbers on its diagonal
// and normal ones below.
func (d *Wishart) bartlett(sampleShape []int) *Tensor {
	n := d.event[1]
	x := d.chi2.RSample(sampleShape...).Sqrt()
	x = clamp(x, eps(x), nil).DiagEmbed()
	e := torch.Randn(join(sampleShape, d.batch, []int{n * (n - 1) / 2}), torch.RandnOptions{DType: x.DType(),
		Device: x.Device()})
	if n > 1 {
		x = x.Add(vectorToTril(e, -1))
	}
	l := d.tril.MatMul(x)
	return l.MatMul(l.MT())
}

// RSample draws matrices. PyTorch means to draw those anew that rounding made singular, up to ten times, but takes the
// regular ones for them at first, so that each regular matrix is drawn twice; the same numbers need the same.
func (d *Wishart) RSample(sampleShape ...int) *Tensor {
	x := d.bartlett(sampleShape)
	if x.Device().Type == tensor.MetaDevice {
		return x
	}
	again := d.inBatch(d.Support().Check(x.Detach()))
	const tries = 10
	for range tries {
		if again.Any().Item() == 0 {
			break
		}
		y := d.bartlett([]int{int(again.Sum().Item())})
		x = x.SetIndex(y, again)
		singular := d.inBatch(d.Support().Check(y.Detach()).LogicalNot())
		again = again.SetIndex(singular, again.Clone())
	}
	return x
}

// inBatch says for each draw of a whole batch whether a mask is set anywhere in it.
func (d *Wishart) inBatch(mask *Tensor) *Tensor {
	for range d.batch {
		mask = mask.AnyDim(-1)
	}
	return mask
}

// LogProb is the logarithm of the density.
func (d *Wishart) LogProb(value *Tensor) *Tensor {
	d.check(value)
	nu, n := d.DF(), d.event[1]
	_, logDet := logDeterminant(value)
	half := nu.DivScalar(2)
	trace := sumLast(diagonal(value.CholeskySolve(d.tril)))
	return nu.Neg().Mul(sumLogDiagonal(d.tril).AddScalar(float64(n) * math.Ln2 / 2)).Sub(half.Mvlgamma(n)).
		Add(nu.SubScalar(n + 1).DivScalar(2).Mul(logDet)).Sub(trace.DivScalar(2))
}

// logDeterminant is the sign and the logarithm of the absolute value of determinants.
func logDeterminant(x *Tensor) (sign, log *Tensor) { return linalg.Slogdet(x) }

// Entropy of a Wishart.
func (d *Wishart) Entropy() *Tensor {
	nu, n := d.DF(), d.event[1]
	half := nu.DivScalar(2)
	psi := sumLast(half.Unsqueeze(-1).Sub(arange(nu, n).DivScalar(2)).Digamma())
	return sumLogDiagonal(d.tril).AddScalar(float64(n) * math.Ln2 / 2).MulScalar(n + 1).Add(half.Mvlgamma(n)).
		Sub(nu.SubScalar(n + 1).DivScalar(2).Mul(psi)).Add(half.MulScalar(n))
}

// NaturalParams are half the negative precision matrix and (df - n - 1)/2.
func (d *Wishart) NaturalParams() []*Tensor {
	return []*Tensor{d.PrecisionMatrix().Neg().DivScalar(2), d.DF().SubScalar(d.event[1] + 1).DivScalar(2)}
}

// LogNormalizer is the log-partition function of the natural parameters.
func (d *Wishart) LogNormalizer(p ...*Tensor) *Tensor {
	checkNatural(p, 2)
	n := d.event[1]
	_, l := logDeterminant(p[0].MulScalar(-2))
	half := p[1].AddScalar(float64(n+1) / 2)
	return half.Mul(l.Neg().AddScalar(math.Ln2 * float64(n))).Add(half.Mvlgamma(n))
}

// LKJCholesky is the distribution of Cholesky factors of correlation matrices whose density is the determinant to the
// power concentration - 1 (D. Lewandowski, D. Kurowicka and H. Joe, Generating random correlation matrices based on
// vines and extended onion method, 2009).
// https://pytorch.org/docs/stable/distributions.html#lkjcholesky
type LKJCholesky struct {
	base
	dim  int
	beta *Beta
}

// LKJCholeskyOptions are the options of NewLKJCholesky.
type LKJCholeskyOptions struct {
	Concentration *Tensor // default 1: all correlation matrices are equally likely
	ValidateArgs  tensor.Opt[bool]
}

// NewLKJCholesky makes an LKJCholesky for dim×dim matrices.
func NewLKJCholesky(dim int, opts ...LKJCholeskyOptions) *LKJCholesky {
	if dim < 2 {
		tensor.Fail(tensor.ErrValue, "Expected dim to be an integer greater than or equal to 2. Found dim=%d.", dim)
	}
	o := option(opts)
	c := o.Concentration
	if c == nil {
		c = torch.ScalarTensor(1.0)
	}
	// Row i of the factor has length 1; the part of its square that is not on the diagonal is Beta distributed.
	offset := torch.Cat([]*Tensor{c.NewZeros([]int{1}), arange(c, dim-1)})
	marginal := c.AddScalar(0.5 * float64(dim-2)).Unsqueeze(-1)
	d := &LKJCholesky{dim: dim, beta: NewBeta(offset.AddScalar(0.5), marginal.Sub(offset.MulScalar(0.5)))}
	d.init(d, "LKJCholesky", c.Shape(), []int{dim, dim}, validates(o.ValidateArgs), entry{"concentration", c})
	return d
}

// Concentration is the parameter, often called η.
func (d *LKJCholesky) Concentration() *Tensor { return d.lookup("concentration") }

// ArgConstraints of an LKJCholesky.
func (d *LKJCholesky) ArgConstraints() []Arg {
	return []Arg{{"concentration", constraints.Positive}}
}

// Support of an LKJCholesky.
func (d *LKJCholesky) Support() Constraint { return constraints.CorrCholesky }

// Expand shares the parameters.
func (d *LKJCholesky) Expand(batchShape []int) Distribution {
	n := &LKJCholesky{dim: d.dim, beta: d.beta.Expand(join(batchShape, []int{d.dim})).(*Beta)}
	d.expandInto(&n.base, n, batchShape)
	return n
}

// Sample draws factors by the onion method.
func (d *LKJCholesky) Sample(sampleShape ...int) (w *Tensor) {
	torch.NoGrad(func() {
		y := d.beta.Sample(sampleShape...).Unsqueeze(-1)
		u := belowDiagonal(torch.Randn(d.shape(sampleShape), torch.RandnOptions{DType: y.DType(), Device: y.Device()}))
		u = u.Div(linalg.VectorNorm(u, linalg.VectorNormOptions{Dim: lastDim, KeepDim: true}))
		u.Select(-2, 0).ZeroInPlace() // the first row is 0/0
		w = y.Sqrt().Mul(u)
		diag := clamp(rsub(1, sumLast(w.PowScalar(2))), tiny(w), nil).Sqrt()
		w = w.Add(diag.DiagEmbed())
	})
	return w
}

// LogProb is the logarithm of the density.
func (d *LKJCholesky) LogProb(value *Tensor) *Tensor {
	d.check(value)
	c, n := d.Concentration(), d.dim
	diag := diagonal(value).Narrow(-1, 1, n-1)
	order := torch.ArangeStart(2, n+1, torch.ArangeStartOptions{Device: c.Device()})
	order = c.SubScalar(1).MulScalar(2).Unsqueeze(-1).AddScalar(n).Sub(order)
	l := sumLast(order.Mul(diag.Log()))
	m := n - 1
	a := c.AddScalar(0.5 * float64(m))
	norm := a.SubScalar(0.5).Mvlgamma(m).AddScalar(0.5 * float64(m) * math.Log(math.Pi)).Sub(a.Lgamma().MulScalar(m))
	return l.Sub(norm)
}

// MixtureSameFamily draws from one of several distributions of a family, chosen by a Categorical.
// https://pytorch.org/docs/stable/distributions.html#mixturesamefamily
type MixtureSameFamily struct {
	base
	mixture   *Categorical
	component Distribution
}

// NewMixtureSameFamily makes a MixtureSameFamily: the last batch dimension of the components is the one that the
// mixture chooses from.
func NewMixtureSameFamily(mixture *Categorical, component Distribution, opts ...Options) *MixtureSameFamily {
	mb, cb := mixture.BatchShape(), component.BatchShape()
	if len(cb) == 0 {
		tensor.Fail(tensor.ErrValue, "distributions: the components need a batch dimension to choose from, got %s",
			component)
	}
	k := cb[len(cb)-1]
	cb = cb[:len(cb)-1]
	for i, j := len(mb)-1, len(cb)-1; i >= 0 && j >= 0; i, j = i-1, j-1 {
		if mb[i] != 1 && cb[j] != 1 && mb[i] != cb[j] {
			tensor.Fail(tensor.ErrValue,
				"`mixture_distribution.batch_shape` (%s) is not compatible with "+
					"`component_distribution.batch_shape`(%s)", mb, cb)
		}
	}
	mixture.Logits() // computed at once, as in Python, where they print
	if mixture.k != k {
		tensor.Fail(tensor.ErrValue,
			"`mixture_distribution component` (%d) does not equal `component_distribution.batch_shape[-1]` (%d)",
			mixture.k, k)
	}
	d := &MixtureSameFamily{mixture: mixture, component: component}
	d.init(d, "MixtureSameFamily", cb, component.EventShape(), validates(option(opts).ValidateArgs))
	return d
}

// MixtureDistribution chooses the component.
func (d *MixtureSameFamily) MixtureDistribution() *Categorical { return d.mixture }

// ComponentDistribution holds the components.
func (d *MixtureSameFamily) ComponentDistribution() Distribution { return d.component }

// Support is that of all components.
func (d *MixtureSameFamily) Support() Constraint {
	return &constraints.MixtureSameFamilyConstraint{Base: d.component.Support()}
}

// Expand shares the parameters.
func (d *MixtureSameFamily) Expand(batchShape []int) Distribution {
	n := &MixtureSameFamily{mixture: d.mixture.Expand(batchShape).(*Categorical),
		component: d.component.Expand(join(batchShape, []int{d.mixture.k}))}
	d.expandInto(&n.base, n, batchShape)
	return n
}

// pad makes room for the components in a value.
func (d *MixtureSameFamily) pad(x *Tensor) *Tensor { return x.Unsqueeze(-1 - len(d.event)) }

// average is the mean over the components, with the probabilities of the mixture.
func (d *MixtureSameFamily) average(x *Tensor) *Tensor {
	p := d.mixture.Probs()
	sh := p.Shape()
	pads := 0
	if n := len(d.mixture.batch); n != 1 {
		pads = len(d.batch) - n
	}
	p = p.Reshape(join(sh[:len(sh)-1], slices.Repeat([]int{1}, pads), sh[len(sh)-1:], slices.Repeat([]int{1},
		len(d.event))))
	return p.Mul(x).SumDim([]int{-1 - len(d.event)})
}

// Mean of the mixture.
func (d *MixtureSameFamily) Mean() *Tensor { return d.average(d.component.Mean()) }

// Variance is the mean of the components' variances plus the variance of their means.
func (d *MixtureSameFamily) Variance() *Tensor {
	between := d.average(d.component.Mean().Sub(d.pad(d.Mean())).PowScalar(2))
	return d.average(d.component.Variance()).Add(between)
}

// CDF averages the components' distribution functions.
func (d *MixtureSameFamily) CDF(value *Tensor) *Tensor {
	return sumLast(d.component.CDF(d.pad(value)).Mul(d.mixture.Probs()))
}

// LogProb is the logarithm of the averaged density.
func (d *MixtureSameFamily) LogProb(value *Tensor) *Tensor {
	d.check(value)
	l := d.component.LogProb(d.pad(value))
	return l.Add(d.mixture.Logits().LogSoftmax(-1)).LogSumExp(lastDim)
}

// Sample draws from all components and picks one.
func (d *MixtureSameFamily) Sample(sampleShape ...int) (x *Tensor) {
	torch.NoGrad(func() {
		at := len(sampleShape) + len(d.batch)
		m := d.mixture.Sample(sampleShape...)
		c := d.component.Sample(sampleShape...)
		sh := m.Shape()
		m = m.Reshape(join(sh, slices.Repeat([]int{1}, len(d.event)+1))).Repeat(join(slices.Repeat([]int{1}, len(sh)+1),
			d.event))
		x = c.Gather(at, m).SqueezeDim(at)
	})
	return x
}

// String prints both parts.
func (d *MixtureSameFamily) String() string {
	return fmt.Sprintf("MixtureSameFamily(\n  %s,\n  %s)", d.mixture, d.component)
}
