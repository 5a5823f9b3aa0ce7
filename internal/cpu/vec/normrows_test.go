package vec

import (
	"fmt"
	"math"
	"math/rand"
	"testing"
)

// TestNormRows compares the functions of rows with the functions of one row, bit for bit.
func TestNormRows(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		normRows[float32](t, LayerNormF32, LayerNormGradF32, NormalizeParamsBackwardF32)
		normRows[float64](t, LayerNormF64, LayerNormGradF64, NormalizeParamsBackwardF64)
		softmaxRows(t)
	})
}

// rowSizes calls f for numbers of rows and columns, and for NaN and infinities here and there.
func rowSizes(f func(rows, cols int, special float64)) {
	for _, rows := range []int{1, 2, 7, 40} {
		for _, cols := range []int{1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 70, 129, 600, 4096, 5000} {
			if rows*cols <= 50000 {
				f(rows, cols, float64(rows*cols%3)*0.002)
			}
		}
	}
}

// between gives n random numbers with a NaN before and behind them.
func between[E real](r *rand.Rand, n int, special float64) []E {
	x := make([]E, n+2)
	for i := range x {
		x[i] = E(r.NormFloat64())
		if r.Float64() < special {
			x[i] = E([]float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)}[r.Intn(4)])
		}
	}
	x[0], x[n+1] = E(math.NaN()), E(math.NaN())
	return x[1 : n+1]
}

func equalRows[E real](t *testing.T, what string, got, want []E) {
	t.Helper()
	for i, w := range want {
		if g := got[i]; math.Float64bits(float64(g)) != math.Float64bits(float64(w)) && (g == g || w == w) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, g, w)
		}
	}
	if x := got[:len(got)+1][len(got)]; x == x {
		t.Fatalf("%s: wrote past the end", what)
	}
}

func normRows[E real](t *testing.T, norm func(dst, a, w, c []E, eps E) (mean, rstd E),
	grad func(dst, grad, w, x []E, mean, rstd E), params func(dw, db, grad, x []E, mean, rstd E)) {
	r := rand.New(rand.NewSource(1))
	rowSizes(func(rows, cols int, special float64) {
		for _, affine := range []bool{false, true} {
			name := fmt.Sprintf("%T, %d rows of %d, affine %t", E(0), rows, cols, affine)
			n := rows * cols
			a, g := between[E](r, n, special), between[E](r, n, special)
			var w, c []E
			if affine {
				w, c = between[E](r, cols, 0), between[E](r, cols, 0)
			}
			got, want := between[E](r, n, 0), make([]E, n)
			mean, rstd, mu, rs := between[E](r, rows, 0), between[E](r, rows, 0), make([]E, rows), make([]E, rows)
			LayerNormRows(got, a, w, c, cols, 1e-5, mean, rstd)
			row := func(x []E, i int) []E { return x[i*cols:][:cols] }
			for i := range rows {
				mu[i], rs[i] = norm(row(want, i), row(a, i), w, c, 1e-5)
			}
			equalRows(t, name, got, want)
			equalRows(t, name+": means", mean, mu)
			equalRows(t, name+": factors", rstd, rs)
			if cols <= redBlock {
				var zeros []E // that leave every product as it is
				if affine {
					zeros = make([]E, cols)
					for i := range zeros {
						zeros[i] = E(math.Copysign(0, -1))
					}
				}
				RMSNormRows(got, a, w, zeros, cols, 1e-5, rstd)
				for i := range rows {
					rs[i] = E(1 / math.Sqrt(SumSquares(row(a, i))/float64(cols)+1e-5))
					for j, x := range row(a, i) {
						row(want, i)[j] = E(x * rs[i])
						if affine {
							row(want, i)[j] *= w[j]
						}
					}
				}
				equalRows(t, name+": by the root mean square", got, want)
				equalRows(t, name+": and its reciprocals", rstd, rs)
				LayerNormRows(got, a, w, c, cols, 1e-5, mean, rstd)
			}
			LayerNormGradRows(got, g, w, a, cols, mean, rstd, make([]E, 2*rows))
			dw, db := between[E](r, cols, 0), between[E](r, cols, 0)
			ew, eb := append([]E(nil), dw...), append([]E(nil), db...)
			LayerNormParamsRows(dw, db, g, a, cols, mean, rstd)
			for i := range rows {
				grad(row(want, i), row(g, i), w, row(a, i), mean[i], rstd[i])
				params(ew, eb, row(g, i), row(a, i), mean[i], rstd[i])
			}
			equalRows(t, name+": gradients", got, want)
			equalRows(t, name+": gradients of weights", dw, ew)
			equalRows(t, name+": gradients of biases", db, eb)
		}
	})
}

func softmaxRows(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	rowSizes(func(rows, cols int, special float64) {
		n := rows * cols
		a, y := between[float32](r, n, special), between[float32](r, n, special)
		got, want, tmp := between[float32](r, n, 0), make([]float32, n), make([]float32, 2*rows)
		check := func(name string, each func(dst, a, y []float32)) {
			for i := range rows {
				lo, hi := i*cols, (i+1)*cols
				each(want[lo:hi], a[lo:hi], y[lo:hi])
			}
			equalRows(t, fmt.Sprintf("%s, %d rows of %d", name, rows, cols), got, want)
		}
		SoftmaxRowsF32(got, a, cols, tmp)
		check("softmax", func(dst, a, _ []float32) { SoftmaxF32(dst, a) })
		LogSoftmaxRowsF32(got, a, cols, tmp, nil)
		check("log_softmax", func(dst, a, _ []float32) { LogSoftmaxF32(dst, a) })
		SoftmaxGradRowsF32(got, a, y, cols, tmp)
		check("gradient of softmax", SoftmaxGradF32)
		LogSoftmaxGradRowsF32(got, a, y, cols, tmp)
		check("gradient of log_softmax", LogSoftmaxGradF32)
	})
}

// TestSumSquares checks rows of which float32 cannot hold the squares, and what is no number.
func TestSumSquares(t *testing.T) {
	for _, x := range []float32{1e-30, 1e-23, 3, 1e19, 3e38, nan32, inf32} {
		a := make([]float32, 5000)
		for i := range a {
			a[i] = x
		}
		got, want := SumSquares(a), float64(len(a))*float64(x)*float64(x)
		if !(math.Abs(got-want) <= 1e-6*want || got == want || got != got && want != want) {
			t.Errorf("%d times %v: got %v, want %v", len(a), x, got, want)
		}
		rstd, dst := make([]float32, 2), make([]float32, 2000)
		RMSNormRows(dst, a[:2000], nil, nil, 1000, 0, rstd)
		for i, d := range dst {
			if x < inf32 && !(math.Abs(float64(d)-1) < 1e-6) || x != x && d == d {
				t.Fatalf("%v divided by the root mean square: element %d is %v", x, i, d)
			}
		}
	}
}
