package vec

import (
	"fmt"
	"math"
	"math/rand"
	"testing"
)

// checkDown compares a form that goes down columns with one that takes up a row at a time.
func checkDown[D float32 | float64, E float32 | float64 | uint16](t *testing.T, name string,
	element func(r *rand.Rand) E, down func(dst []D, a []E, rows, lda int), row func(dst []D, a []E)) {
	eachPath(t, func(t *testing.T) {
		r := rand.New(rand.NewSource(3))
		for i := range 300 {
			rows, cols := r.Intn(9), r.Intn(70)
			if i%7 == 0 {
				cols = 100 + r.Intn(500)
			}
			lda := cols + r.Intn(3)*r.Intn(40)
			a := make([]E, rows*lda+1)
			for i := range a {
				a[i] = element(r)
			}
			const around = 32
			got := make([]D, cols+2*around)
			for i := range got {
				got[i] = D(r.NormFloat64())
			}
			want := append([]D(nil), got...)
			down(got[around:][:cols], a, rows, lda)
			for q := range rows {
				row(want[around:][:cols], a[q*lda:][:cols])
			}
			for i := range got {
				if got[i] != want[i] && (got[i] == got[i] || want[i] == want[i]) {
					t.Fatalf("%s, %d rows of %d, %d apart: column %d is %v, expected %v", name, rows, cols, lda,
						i-around, got[i], want[i])
				}
			}
		}
	})
}

func TestDown(t *testing.T) {
	f32 := func(r *rand.Rand) float32 {
		if r.Intn(50) == 0 {
			return nan32
		}
		return float32(r.NormFloat64())
	}
	f64 := func(r *rand.Rand) float64 { return float64(f32(r)) }
	checkDown(t, "sum of float32", f32, SumDownF32, func(d, a []float32) { AddF32(d, d, a) })
	checkDown(t, "sum of float64", f64, SumDownF64, func(d, a []float64) { AddF64(d, d, a) })
	checkDown(t, "sum of float16", func(r *rand.Rand) uint16 { return F32ToF16(f32(r)) }, SumDownF16,
		func(d []float32, a []uint16) { AccumulateF16ToF32(d, a) })
	checkDown(t, "sum of bfloat16", func(r *rand.Rand) uint16 { return F32ToBF16(f32(r)) }, SumDownBF16,
		func(d []float32, a []uint16) { AccumulateBF16ToF32(d, a) })
	checkDown(t, "sum of numbers", f32, SumNumbersDownF32, func(d, a []float32) {
		for i, v := range a {
			if v == v {
				d[i] += v
			}
		}
	})
	checkDown(t, "maximum", f32, MaxDownF32, func(d, a []float32) { MaximumF32(d, d, a) })
	checkDown(t, "maximum of float64", f64, MaxDownF64, func(d, a []float64) { MaximumF64(d, d, a) })
	checkDown(t, "minimum", f32, MinDownF32, func(d, a []float32) { MinimumF32(d, d, a) })
	checkDown(t, "product", f32, ProdDownF32As64, func(d []float64, a []float32) {
		for i, v := range a {
			d[i] *= float64(v)
		}
	})
	checkDown(t, "product of float64", f64, ProdDownF64, func(d, a []float64) { MulF64(d, d, a) })
}

func BenchmarkDown(b *testing.B) {
	const rows, cols = 64, 1024
	a, dst := make([]float32, rows*cols), make([]float32, cols)
	for i := range a {
		a[i] = float32(math.Sin(float64(i)))
	}
	for name, f := range map[string]func(){
		"down": func() { SumDownF32(dst, a, rows, cols) },
		"rows": func() { AddTapRowsF32(rows, cols, dst, 0, a, cols) },
	} {
		b.Run(fmt.Sprint(name), func(b *testing.B) {
			b.SetBytes(4 * rows * cols)
			for range b.N {
				f()
			}
		})
	}
}
