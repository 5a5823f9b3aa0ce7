package linalg

import (
	"math"
	"sort"

	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "_linalg_eigh(Tensor A, str UPLO=\"L\", bool compute_v=True) -> (Tensor eigenvalues, Tensor eigenvectors)",
		Doc: "gives the eigenvalues of Hermitian matrices in ascending order, and the eigenvectors as columns " +
			"unless ComputeV is false.",
		Go: "-",
		Infer: func(c *Ctx) {
			a := c.T(0)
			checkSquare(c, "linalg.eigh", "A", a)
			if u := c.Str(1); u != "L" && u != "U" && u != "l" && u != "u" {
				c.Fail(tensor.ErrValue, "Expected UPLO argument to be 'L' or 'U', but got %s", u)
			}
			b := batch(a.Shape())
			c.Alloc(0, append(append([]int{}, b...), a.Size(-1)), a.DType().Real())
			if c.Bool(2) {
				c.Alloc(1, a.Shape(), a.DType())
			} else {
				c.Alloc(1, []int{0}, a.DType())
			}
		},
		CPU: func(c *Ctx) {
			w, n := wide(c.T(0)), c.T(0).Size(-1)
			lower := c.Str(1) == "L" || c.Str(1) == "l"
			vals, vecs := tensor.New(c.Out(0).Shape(), tensor.Float64), tensor.New(w.Shape(), w.DType())
			if w.DType().IsComplex() {
				eighBatch(tensor.Data[float64](vals), tensor.Data[complex128](vecs), tensor.Data[complex128](w), n,
					lower)
			} else {
				eighBatch(tensor.Data[float64](vals), tensor.Data[float64](vecs), tensor.Data[float64](w), n, lower)
			}
			tensor.CopyRaw(c.Out(0), vals)
			if c.Bool(2) {
				tensor.CopyRaw(c.Out(1), vecs)
			}
		},
		Save: "A eigenvalues eigenvectors",
		VJP: func(c *Ctx, _ *T) []*T {
			gl, gv := c.G(0), c.G(1)
			v := c.Out(1)
			if !c.Bool(2) { // the vectors were not computed; the rule needs them
				v = op.Call("aten::_linalg_eigh", c.T(0), c.Str(1), true)[1]
			}
			vh := v.MH()
			if gv == nil {
				if gl == nil {
					return []*T{nil}
				}
				return []*T{v.Mul(gl.Unsqueeze(-2)).MatMul(vh)}
			}
			// M. Giles, An extended collection of matrix derivative results (2008), section 3.1.
			s := vh.MatMul(gv)
			s = s.Sub(s.MH()).MulScalar(0.5)
			l := c.Out(0)
			gap := l.Unsqueeze(-2).Sub(l.Unsqueeze(-1))
			e := gap.MaskedFillScalar(gap.EqScalar(0), math.Inf(1))
			s = s.Div(e)
			if gl != nil {
				s = s.Add(gl.ToDType(s.DType()).DiagEmbed())
			}
			return []*T{v.MatMul(s).MatMul(vh)}
		},
		Grad: "LinalgEighBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_eigvalsh(Tensor self, str UPLO=\"L\") -> Tensor",
		Doc: "gives the eigenvalues of Hermitian matrices in ascending order; UPLO names the triangle that is read.\n" +
			"https://pytorch.org/docs/stable/generated/torch.linalg.eigvalsh.html",
		Out: true,
		Body: func(c *Ctx) {
			vectors := c.T(0).RequiresGrad() && tensor.IsGradEnabled()
			c.Return(op.Call("aten::_linalg_eigh", c.T(0), c.Str(1), vectors)[0])
		},
	})
}

// eighBatch diagonalizes Hermitian matrices by cyclic Jacobi rotations (Golub and Van Loan, Matrix Computations,
// section 8.5), which find small eigenvalues as precisely as large ones.
func eighBatch[E element](vals []float64, vecs, a []E, n int, lower bool) {
	order, diag := make([]int, n), make([]float64, n)
	v := make([]E, n*n)
	for m := 0; n > 0 && m < len(a); m += n * n {
		x := a[m : m+n*n]
		for i := range n {
			x[i*n+i] = number[E](re(x[i*n+i]))
			for j := range i {
				if lower {
					x[j*n+i] = conj(x[i*n+j])
				} else {
					x[i*n+j] = conj(x[j*n+i])
				}
			}
		}
		clear(v)
		for i := range n {
			v[i*n+i] = number[E](1)
		}
		jacobi(x, v, n)
		for i := range n {
			order[i], diag[i] = i, re(x[i*n+i])
		}
		sort.SliceStable(order, func(i, j int) bool { return diag[order[i]] < diag[order[j]] })
		out := vals[m/n : m/n+n]
		for k, o := range order {
			out[k] = diag[o]
			for i := range n {
				vecs[m+i*n+k] = conj(v[o*n+i]) // v holds the vectors' conjugates as rows
			}
		}
	}
}

// jacobi rotates x until its off-diagonal elements vanish beside the diagonal; the rows of v take part in the
// rotations.
func jacobi[E element](x, v []E, n int) {
	const sweeps = 60
	for range sweeps {
		off, all := 0.0, 0.0
		for i := range n {
			for j := range n {
				s := size(x[i*n+j])
				all += s * s
				if i != j {
					off += s * s
				}
			}
		}
		if !(off > 1e-32*all) { // also when NaN
			return
		}
		for p := range n {
			for q := p + 1; q < n; q++ {
				rotate(x, v, n, p, q)
			}
		}
	}
}

// rotate makes element (p, q) zero by a rotation of rows and columns p and q.
func rotate[E element](x, v []E, n, p, q int) {
	h := x[p*n+q]
	r := size(h)
	if r == 0 {
		return
	}
	phase := h / number[E](r)
	t := (re(x[q*n+q]) - re(x[p*n+p])) / (2 * r)
	t = math.Copysign(1, t) / (math.Abs(t) + math.Sqrt(1+t*t))
	cos := 1 / math.Sqrt(1+t*t)
	c, s := number[E](cos), number[E](t*cos)
	// Rows: p' = c·p − s·phase·q, q' = s·conj(phase)·p + c·q; columns with the conjugates.
	mix := func(a, b []E) {
		for i, y := range a {
			z := b[i]
			a[i], b[i] = c*y-s*phase*z, s*conj(phase)*y+c*z
		}
	}
	mix(x[p*n:(p+1)*n], x[q*n:(q+1)*n])
	mix(v[p*n:(p+1)*n], v[q*n:(q+1)*n])
	for i := range n {
		y, z := x[i*n+p], x[i*n+q]
		x[i*n+p], x[i*n+q] = c*y-s*conj(phase)*z, s*phase*y+c*z
	}
	x[p*n+q], x[q*n+p] = 0, 0
}
