package vec

import (
	"math"
	"math/rand"
	"testing"
)

// checkRows compares a reduction of rows with that of each row, bit for bit; what follows the results must stay.
func checkRows[D float32 | float64, E any](t *testing.T, name string, fill func(n int) []E,
	rowsOf func(dst []D, a []E, rows, cols, lda int), one func(a []E) D) {
	t.Helper()
	for _, rows := range []int{1, 2, 7, 130} {
		for _, cols := range []int{1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 70, 100, 129, 600, 4096, 5000} {
			if rows*cols > 100000 {
				continue
			}
			lda := cols + rows%3
			a := fill((rows-1)*lda + cols)
			dst := make([]D, rows+1)
			dst[rows] = 12345
			rowsOf(dst, a, rows, cols, lda)
			for r := range rows {
				if got, want := dst[r], one(a[r*lda:][:cols]); got != want && (got == got || want == want) {
					t.Fatalf("%s: row %d of %d, %d columns: %v, want %v", name, r, rows, cols, got, want)
				}
			}
			if dst[rows] != 12345 {
				t.Fatalf("%s: %d rows of %d: wrote past the end", name, rows, cols)
			}
		}
	}
}

func TestReduceRows(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		r := rand.New(rand.NewSource(1))
		number := func() float64 {
			if r.Intn(300) == 0 {
				return math.NaN()
			}
			return r.NormFloat64()
		}
		f32 := func(n int) []float32 {
			x := make([]float32, n)
			for i := range x {
				x[i] = float32(number())
			}
			return x
		}
		f64 := func(n int) []float64 {
			x := make([]float64, n)
			for i := range x {
				x[i] = number()
			}
			return x
		}
		checkRows(t, "SumRowsF32", f32, SumRowsF32, SumF32)
		checkRows(t, "SumRowsF64", f64, SumRowsF64, SumF64)
		checkRows(t, "SumNumbersRowsF32", f32, SumNumbersRowsF32, SumNumbersF32)
		checkRows(t, "SumNumbersRowsF64", f64, SumNumbersRowsF64, SumNumbersF64)
		checkRows(t, "SumSquaresRowsF64", f64, SumSquaresRowsF64,
			func(a []float64) float64 { return SumSquaresF64(a, 0) })
		checkRows(t, "SumSquaresRowsF32As64", f32, SumSquaresRowsF32As64,
			func(a []float32) float64 { return SumSquaresF32As64(a, 0) })
		checkRows(t, "MaxRowsF32", f32, MaxRowsF32, MaxF32)
		checkRows(t, "MaxRowsF64", f64, MaxRowsF64, MaxF64)
		checkRows(t, "MinRowsF32", f32, MinRowsF32, MinF32)
		checkRows(t, "MinRowsF64", f64, MinRowsF64, MinF64)
		checkRows(t, "ProdRowsF64", f64, ProdRowsF64, ProdF64)
		checkRows(t, "ProdRowsF32As64", f32, ProdRowsF32As64, ProdF32As64)
		for i, round := range []func(float32) uint16{F32ToF16, F32ToBF16} {
			half := func(n int) []uint16 {
				x := make([]uint16, n)
				for j := range x {
					x[j] = round(float32(number()))
				}
				return x
			}
			checkRows(t, "SumRows16", half, SumRows16[i], []func([]uint16) float32{SumF16, SumBF16}[i])
			checkRows(t, "SumNumbersRows16", half, SumNumbersRows16[i], SumNumbers16[i])
			checkRows(t, "MaxRows16", half, MaxRows16[i], Max16[i])
			checkRows(t, "MinRows16", half, MinRows16[i], Min16[i])
		}
	})
}

// TestReduceReference compares reductions of one row with plain loops.
func TestReduceReference(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		r := rand.New(rand.NewSource(2))
		for n := 0; n < 200; n++ {
			a, w := make([]float32, n), make([]float64, n)
			sum, prod, large, small := 0.0, 1.0, math.Inf(-1), math.Inf(1)
			h := make([]uint16, n)
			for i := range a {
				a[i] = float32(1 + 0.1*r.NormFloat64())
				if r.Intn(9) == 0 {
					a[i] = float32(math.NaN())
				} else {
					sum += float64(a[i])
				}
				w[i] = 1 + 0.1*r.NormFloat64()
				prod *= w[i]
				h[i] = F32ToBF16(float32(w[i]))
				large, small = max(large, float64(BF16ToF32(h[i]))), min(small, float64(BF16ToF32(h[i])))
			}
			if got := float64(SumNumbersF32(a)); math.Abs(got-sum) > 1e-5*(1+sum) {
				t.Fatalf("SumNumbersF32 of %d: %v, want %v", n, got, sum)
			}
			if got := ProdF64(w); math.Abs(got-prod) > 1e-12*(1+prod) {
				t.Fatalf("ProdF64 of %d: %v, want %v", n, got, prod)
			}
			if l, s := float64(Max16[1](h)), float64(Min16[1](h)); l != large || s != small {
				t.Fatalf("extrema of %d: %v and %v, want %v and %v", n, l, s, large, small)
			}
		}
	})
}

func checkIntRows[E Integer](t *testing.T, r *rand.Rand) {
	t.Helper()
	for _, rows := range []int{1, 2, 7, 40, 1500} {
		for _, cols := range []int{1, 2, 3, 7, 8, 9, 15, 16, 17, 20, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 200,
			257, 300, 20000} {
			if rows*cols > 100000 {
				continue
			}
			lda := cols + rows%3
			a := make([]E, (rows-1)*lda+cols)
			for i := range a {
				a[i] = E(r.Uint64())
				if r.Intn(2) == 0 {
					a[i] = E(r.Intn(3)) + 100
				}
			}
			large, small := make([]E, rows+1), make([]E, rows+1)
			large[rows], small[rows] = 77, 77
			MaxRowsInt(large, a, rows, cols, lda)
			MinRowsInt(small, a, rows, cols, lda)
			cl, cs := append([]E{}, a[:cols]...), append([]E{}, a[:cols]...)
			cl, cs = append(cl, 77), append(cs, 77)
			MaxColumnsInt(cl, a, rows, cols, lda)
			MinColumnsInt(cs, a, rows, cols, lda)
			wl, ws := append([]E{}, a[:cols]...), append([]E{}, a[:cols]...)
			for i := range rows {
				l, s := a[i*lda], a[i*lda]
				for j, x := range a[i*lda:][:cols] {
					l, s = max(l, x), min(s, x)
					wl[j], ws[j] = max(wl[j], x), min(ws[j], x)
				}
				if large[i] != l || small[i] != s {
					t.Fatalf("%T: row %d of %d, %d columns: %v and %v, want %v and %v", l, i, rows, cols, large[i],
						small[i], l, s)
				}
			}
			for j := range cols {
				if cl[j] != wl[j] || cs[j] != ws[j] {
					t.Fatalf("%T: column %d of %d, %d rows: %v and %v, want %v and %v", wl[j], j, cols, rows, cl[j],
						cs[j], wl[j], ws[j])
				}
			}
			if large[rows] != 77 || small[rows] != 77 || cl[cols] != 77 || cs[cols] != 77 {
				t.Fatalf("%d rows of %d: wrote past the end", rows, cols)
			}
			if b, ok := any(a).([]int64); ok {
				sums, col := make([]int64, rows), make([]int64, cols)
				SumRowsI64(sums, b, rows, cols, lda)
				AddColumnsI64(col, b, rows, cols, lda)
				want := make([]int64, cols)
				for i := range rows {
					s := int64(0)
					for j, x := range b[i*lda:][:cols] {
						s += x
						want[j] += x
					}
					if sums[i] != s {
						t.Fatalf("sum of row %d of %d, %d columns: %v, want %v", i, rows, cols, sums[i], s)
					}
				}
				for j := range want {
					if col[j] != want[j] {
						t.Fatalf("sum of column %d of %d, %d rows: %v, want %v", j, cols, rows, col[j], want[j])
					}
				}
			}
		}
	}
}

func TestIntRows(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		r := rand.New(rand.NewSource(3))
		checkIntRows[uint8](t, r)
		checkIntRows[int8](t, r)
		checkIntRows[int16](t, r)
		checkIntRows[int32](t, r)
		checkIntRows[int64](t, r)
		for n := 0; n < 400; n++ {
			a := make([]uint8, n)
			want := 0
			for i := range a {
				a[i] = uint8(r.Intn(256) * r.Intn(2))
				if a[i] != 0 {
					want++
				}
			}
			if got := CountNonzeroU8(a); got != want {
				t.Fatalf("CountNonzeroU8 of %d: %d, want %d", n, got, want)
			}
		}
	})
}
