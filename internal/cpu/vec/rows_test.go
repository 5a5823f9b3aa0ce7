package vec

import (
	"math/rand"
	"testing"
)

// TestRowForms compares the forms that walk rows with the flat ones, for row lengths and distances around the vector's
// length; what lies between the rows must stay as it is.
func TestRowForms(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		r := rand.New(rand.NewSource(1))
		floats := func(n int) []float32 {
			x := make([]float32, n)
			for i := range x {
				x[i] = float32(r.NormFloat64())
				if r.Intn(9) == 0 {
					x[i] = nan32
				}
			}
			return x
		}
		for _, rows := range []int{1, 2, 5, 300} {
			for cols := 1; cols <= 70; cols++ {
				ldd, lda := cols+r.Intn(3), 2*cols
				dst, at, a := floats(rows*ldd), floats(rows*ldd), floats(rows*lda)
				code := make([]uint8, rows*ldd)
				for i := range code {
					code[i] = uint8(r.Intn(4))
				}
				for name, f := range map[string][2]func(dst, at []float32){
					"MaxTap": {func(dst, at []float32) { MaxTapRowsF32(rows, cols, dst, ldd, a, lda) },
						func(dst, at []float32) {
							for i := range rows {
								maxTapF32Generic(dst[i*ldd:][:cols], a[i*lda:])
							}
						}},
					"MaxTapAt": {func(dst, at []float32) { MaxTapAtRowsF32(rows, cols, dst, ldd, at, ldd, a, lda, 7) },
						func(dst, at []float32) {
							for i := range rows {
								maxTapAtF32Generic(dst[i*ldd:][:cols], at[i*ldd:], a[i*lda:], 7)
							}
						}},
					"AddTap": {func(dst, at []float32) { AddTapRowsF32(rows, cols, dst, ldd, a, lda) },
						func(dst, at []float32) {
							for i := range rows {
								addTapF32Generic(dst[i*ldd:][:cols], a[i*lda:])
							}
						}},
					"MaxTapGrad": {func(dst, at []float32) {
						MaxTapGradRowsF32(rows, cols, dst, ldd, a, lda, code, ldd,
							2)
					},
						func(dst, at []float32) {
							for i := range rows {
								maxTapGradF32Generic(dst[i*ldd:][:cols], a[i*lda:], code[i*ldd:], 2)
							}
						}},
				} {
					d1, t1 := append([]float32{}, dst...), append([]float32{}, at...)
					d2, t2 := append([]float32{}, dst...), append([]float32{}, at...)
					f[0](d1, t1)
					f[1](d2, t2)
					for i := range d1 {
						if d1[i] != d2[i] && (d1[i] == d1[i] || d2[i] == d2[i]) || t1[i] != t2[i] &&
							(t1[i] == t1[i] || t2[i] == t2[i]) {
							t.Fatalf("%s: %d rows of %d: element %d is %v (%v), want %v (%v)", name, rows, cols, i,
								d1[i], t1[i], d2[i], t2[i])
						}
					}
				}
			}
		}
	})
}

// TestRowForms64 is TestRowForms for float64.
func TestRowForms64(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		r := rand.New(rand.NewSource(2))
		floats := func(n int) []float64 {
			x := make([]float64, n)
			for i := range x {
				x[i] = r.NormFloat64()
				if r.Intn(9) == 0 {
					x[i] = nan64
				}
			}
			return x
		}
		for _, rows := range []int{1, 3, 200} {
			for cols := 1; cols <= 70; cols++ {
				ldd, lda := cols+r.Intn(3), 2*cols
				dst, at, a := floats(rows*ldd), floats(rows*ldd), floats(rows*lda)
				for name, f := range map[string][2]func(dst, at []float64){
					"MaxTap": {func(dst, _ []float64) { MaxTapRowsF64(rows, cols, dst, ldd, a, lda) },
						func(dst, _ []float64) {
							for i := range rows {
								maxTapF64Generic(dst[i*ldd:][:cols], a[i*lda:])
							}
						}},
					"MaxTapAt": {func(dst, at []float64) { MaxTapAtRowsF64(rows, cols, dst, ldd, at, ldd, a, lda, 7) },
						func(dst, at []float64) {
							for i := range rows {
								maxTapAtF64Generic(dst[i*ldd:][:cols], at[i*ldd:], a[i*lda:], 7)
							}
						}},
					"AddTap": {func(dst, _ []float64) { AddTapRowsF64(rows, cols, dst, ldd, a, lda) },
						func(dst, _ []float64) {
							for i := range rows {
								addTapF64Generic(dst[i*ldd:][:cols], a[i*lda:])
							}
						}},
				} {
					d1, t1 := append([]float64{}, dst...), append([]float64{}, at...)
					d2, t2 := append([]float64{}, dst...), append([]float64{}, at...)
					f[0](d1, t1)
					f[1](d2, t2)
					for i := range d1 {
						if d1[i] != d2[i] && (d1[i] == d1[i] || d2[i] == d2[i]) || t1[i] != t2[i] &&
							(t1[i] == t1[i] || t2[i] == t2[i]) {
							t.Fatalf("%s: %d rows of %d: element %d is %v (%v), want %v (%v)", name, rows, cols, i,
								d1[i], t1[i], d2[i], t2[i])
						}
					}
				}
			}
		}
	})
}

func TestDeinterleave(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		deinterleave[float32](t)
		deinterleave[float64](t)
	})
}

func deinterleave[E float32 | float64](t *testing.T) {
	for n := range 100 {
		src := make([]E, n)
		for i := range src {
			src[i] = E(i)
		}
		even, odd := make([]E, (n+1)/2+1), make([]E, n/2+1)
		even[len(even)-1], odd[len(odd)-1] = -1, -2
		Deinterleave(even, odd, src)
		for i, x := range src {
			if got := [2][]E{even, odd}[i&1][i/2]; got != x {
				t.Fatalf("n %d: element %d went elsewhere: %v", n, i, got)
			}
		}
		if even[len(even)-1] != -1 || odd[len(odd)-1] != -2 {
			t.Fatalf("n %d: wrote outside", n)
		}
		back := make([]E, n)
		Interleave(back, even, odd)
		for i := range back {
			if back[i] != src[i] {
				t.Fatalf("n %d: element %d came back as %v", n, i, back[i])
			}
		}
	}
}
