package vec

import (
	"math"
	"math/rand"
	"testing"

	"github.com/gotorch-dev/torch/internal/cpu"
)

// TestWindows compares the kernels of windows on every path with those of plain Go, bit for bit, for rows around the
// vectors' lengths, with NaN, zeros of both signs and infinities, and nothing touched between the rows.
func TestWindows(t *testing.T) {
	f16 := func(x float64) uint16 { var d [1]uint16; F32ToF16s(d[:], []float32{float32(x)}); return d[0] }
	bf16 := func(x float64) uint16 { var d [1]uint16; F32ToBF16s(d[:], []float32{float32(x)}); return d[0] }
	windows(t, "float32", &WindowsF32, func(x float64) float32 { return float32(x) })
	windows(t, "float64", &WindowsF64, func(x float64) float64 { return x })
	windows(t, "float16", &WindowsF16, f16)
	windows(t, "bfloat16", &WindowsBF16, bf16)
}

func windows[E float32 | float64, S float32 | float64 | uint16](t *testing.T, name string, w *Windows[E, S],
	cell func(float64) S) {
	r := rand.New(rand.NewSource(1))
	value := func() float64 {
		switch r.Intn(12) {
		case 0:
			return math.NaN()
		case 1:
			return math.Inf(-1)
		case 2:
			return math.Copysign(0, -1)
		}
		return float64(r.Intn(9) - 4)
	}
	for _, n := range []int{1, 2, 900} {
		for cols := 1; cols <= 140; cols++ {
			if n > 2 && cols%23 != 0 {
				continue
			}
			lddst, lda := cols+r.Intn(2), cols*(1+r.Intn(2))
			for _, ntaps := range []int{0, 1, 4, 9} {
				a, at := make([]S, (n+10)*lda), make([]uint8, (n+10)*lda)
				for i := range a {
					a[i], at[i] = cell(value()), uint8(r.Intn(4))
				}
				taps := make([]Tap, ntaps)
				for i := range taps {
					taps[i] = Tap{r.Intn(9 * lda), 200 + i}
					if i > 4 {
						taps[i].Code = i - 5
					}
				}
				type result struct {
					dst []E
					at  []uint8
				}
				runs := map[string]func(r result){
					"Add":     func(r result) { w.Add(r.dst, lddst, a, lda, n, cols, taps) },
					"Max":     func(r result) { w.Max(r.dst, lddst, a, lda, n, cols, taps) },
					"MaxAt":   func(r result) { w.MaxAt(r.dst, r.at, lddst, a, lda, n, cols, taps) },
					"MaxGrad": func(r result) { w.MaxGrad(r.dst, lddst, a, at, lda, n, cols, taps) },
				}
				for op, f := range runs {
					var want result
					for i, l := range cpu.Levels() {
						undo := cpu.Set(l.Features)
						got := result{make([]E, n*lddst+3), make([]uint8, n*lddst+3)}
						for j := range got.dst {
							got.dst[j], got.at[j] = -77, 77
						}
						f(got)
						undo()
						if i == 0 {
							want = got
							continue
						}
						for j, x := range got.dst {
							y := want.dst[j]
							same := x == y && math.Signbit(float64(x)) == math.Signbit(float64(y)) || x != x && y != y
							if !same || got.at[j] != want.at[j] {
								t.Fatalf("%s of %s, %s: %d pixels of %d, %d taps: element %d is %v (%d), want %v (%d)",
									op, name, l.Name, n, cols, ntaps, j, x, got.at[j], y, want.at[j])
							}
						}
						if got.dst[len(got.dst)-1] != -77 || got.at[len(got.at)-1] != 77 {
							t.Fatalf("%s of %s, %s: wrote outside", op, name, l.Name)
						}
					}
				}
			}
		}
	}
}
