package conv

import (
	"math/rand"
	"slices"
	"testing"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/mem"
)

// Results that go past the caches are those that do not.
func testPast[T Float](t *testing.T) {
	if !cpu.HasAVX512 && !cpu.HasAVX2FMA {
		t.Skip("AVX-512 and AVX2 only")
	}
	defer func(old int) { nonTemporalBytes = old }(nonTemporalBytes)
	var z T
	for i, s := range []*Shape{
		shape2d(2, 48, 48, 17, 31, 3, 1, 1, 1, 48), shape2d(2, 32, 32, 15, 9, 3, 2, 1, 1, 32),
		shape2d(1, 16, 16, 12, 40, 5, 1, 2, 1, 16),
		shape2d(1, 80, 80, 9, 9, 5, 2, 2, 1, 80), shape2d(1, 32, 32, 11, 13, 7, 1, 3, 1, 32),
		shape2d(2, 24, 48, 17, 31, 1, 1, 0, 1, 1), shape2d(1, 16, 64, 9, 9, 3, 1, 1, 1, 2),
		shape2d(2, 20, 32, 13, 12, 3, 2, 1, 1, 1), shape2d(2, 9, 40, 8, 7, 3, 1, 1, 1, 1),
		// planes of whole lines
		shape2d(2, 9, 40, 16, 13, 3, 1, 1, 1, 1), shape2d(2, 16, 16, 40, 40, 3, 1, 1, 1, 16),
		shape2d(1, 3, 20, 47, 48, 7, 2, 3, 1, 1),
	} {
		r := rand.New(rand.NewSource(int64(i)))
		n, guard := s.N*s.Cout*volume(s.Out), 64/int(unsafe.Sizeof(z))
		random := func(n int) []T { return image[T](values[T](r, n), 1, n, 1, true).Data }
		x, w := Image[T]{random(s.N * s.Cin * volume(s.In)), true},
			Weights[T]{random(s.Cout * s.Cin / s.Groups * s.Taps()), true}
		ep := Epilogue[T]{Bias: random(s.Cout), Residual: random(n)}.ReLU()
		for k := range 4 {
			last, e := k < 2, []*Epilogue[T]{nil, &ep}[k%2]
			bytes := (n + 2*guard) * int(unsafe.Sizeof(z))
			p := mem.Alloc(bytes)
			whole := unsafe.Slice((*T)(p), n+2*guard)
			run := func(past int) []T {
				for k := range whole {
					whole[k] = 77
				}
				nonTemporalBytes = past
				Forward(s, Image[T]{whole[guard:][:n], last}, x, w, e)
				return slices.Clone(whole)
			}
			if !slices.Equal(run(0), run(1<<40)) {
				t.Errorf("%+v, channels last %v: other results past the caches", *s, last)
			}
			mem.Free(p, bytes)
		}
	}
}

func TestPast32(t *testing.T) { testPast[float32](t) }
func TestPast64(t *testing.T) { testPast[float64](t) }
