package vec

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/gotorch-dev/torch/internal/cpu"
)

// Sums of rows and of pixels are those that are computed one element after the other.
func TestResample(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	weight := func() int32 { return r.Int32N(3<<(ResampleBits-1)) - 1<<(ResampleBits-1) }
	for _, l := range cpu.Levels() {
		t.Run(l.Name, func(t *testing.T) {
			defer cpu.Set(l.Features)()
			for round := range 200 {
				n, taps := 1+r.IntN(150), 1+r.IntN(6)
				src, w := make([]uint8, n*taps), make([]int32, taps)
				for i := range src {
					src[i] = uint8(r.Uint32())
				}
				for k := range w {
					w[k] = weight()
				}
				got, want := make([]uint8, n), make([]uint8, n)
				ResampleRowsU8(got, src, n, w)
				for x := range want {
					sum := int32(resampleHalf)
					for k := range w {
						sum += int32(src[k*n+x]) * w[k]
					}
					want[x] = resampled(sum)
				}
				if !bytes.Equal(got, want) {
					t.Fatalf("round %d: rows of %d elements with weights %v: %v, want %v", round, n, w, got, want)
				}

				bands, m := 1+r.IntN(4), 1+r.IntN(40)
				in := len(src) / bands
				a := &Taps{N: 2 * (1 + r.IntN(3))}
				for range m {
					c := r.IntN(min(a.N, in) + 1)
					a.First, a.Count = append(a.First, int32(r.IntN(in-c+1))), append(a.Count, int32(c))
					for k := range a.N {
						v := int32(0)
						if k < c {
							v = weight()
						}
						a.Weights = append(a.Weights, v)
					}
				}
				if round%2 == 0 {
					a.Widen()
				}
				got, want = make([]uint8, m*bands), make([]uint8, m*bands)
				ResampleAcrossU8(got, src, bands, a)
				for i := range want {
					x, b, sum := i/bands, i%bands, int32(resampleHalf)
					for k := range int(a.Count[x]) {
						sum += int32(src[(int(a.First[x])+k)*bands+b]) * a.Weights[x*a.N+k]
					}
					want[i] = resampled(sum)
				}
				if !bytes.Equal(got, want) {
					t.Fatalf("round %d: %d pixels of %d bands: %v, want %v", round, m, bands, got, want)
				}
			}
		})
	}
}
