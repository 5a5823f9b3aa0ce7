package vec

import (
	"fmt"
	"math"
	"math/rand"
	"testing"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

// randomTaps makes a matrix with 0 to n taps in each of out rows; spread is the typical distance between neighbours'
// elements.
func randomTaps(r *rand.Rand, in, out, n int, spread float64) (start, index []int32) {
	start = []int32{0}
	for i := range out {
		for k := range r.Intn(n + 1) {
			x := int(float64(i)*spread) + k
			if r.Intn(8) == 0 {
				x = r.Intn(in)
			}
			index = append(index, int32(min(x, in-1)))
		}
		start = append(start, int32(len(index)))
	}
	return start, index
}

// guarded is a slice of n elements between elements that no kernel may touch.
func guarded[E any](n int, fill E) (all, mid []E) {
	all = make([]E, n+2*guard)
	for i := range all {
		all[i] = fill
	}
	return all, all[guard:][:n:n]
}

func checkGuards[E comparable](t *testing.T, all []E, fill E, n int, what string) {
	t.Helper()
	for i, x := range all {
		if (i < guard || i >= guard+n) && x != fill {
			t.Fatalf("%s: wrote outside", what)
		}
	}
}

// onLevels runs f on every path and wants the same bits from each.
func onLevels[E float32 | float64 | uint8](t *testing.T, what string, f func() []E) []E {
	t.Helper()
	var first []E
	for i, level := range cpu.Levels() {
		restore := cpu.Set(level.Features)
		got := f()
		restore()
		if i == 0 {
			first = got
		}
		for j := range got {
			if got[j] != first[j] {
				t.Fatalf("%s, %s: element %d is %v, on the first path %v", level.Name, what, j, got[j], first[j])
			}
		}
	}
	return first
}

func testTaps[E float32 | float64 | uint8, W float32 | float64 | int32](t *testing.T, bits int, tol float64,
	value func(r *rand.Rand) E, weight func(r *rand.Rand) W,
	rowsOf func(dst, src []E, cols int, start, index []int32, w []W, first int),
	lanesOf func(l *Lanes[W], dst, src []E, rows int)) {
	fill := value(rand.New(rand.NewSource(9)))
	expect := func(v float64) float64 {
		if bits > 0 {
			return max(0, min(255, math.Floor(v/float64(int(1)<<bits)+0.5)))
		}
		return v
	}
	near := func(got E, want float64, what string, at int) {
		t.Helper()
		if !(math.Abs(float64(got)-expect(want)) <= tol*(1+math.Abs(want))) {
			t.Fatalf("%s: element %d is %v, want %v", what, at, got, expect(want))
		}
	}
	r := rand.New(rand.NewSource(1))
	for _, cols := range []int{1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 70, 128, 200, 20000} {
		in, out, first := 9, 7, r.Intn(3)
		start, index := randomTaps(r, in, out, 4, 1.3)
		src, w := make([]E, in*cols), make([]W, len(index))
		for i := range src {
			src[i] = value(r)
		}
		for i := range w {
			w[i] = weight(r)
			index[i] += int32(first)
		}
		what := fmt.Sprint("rows of ", cols)
		got := onLevels(t, what, func() []E {
			all, d := guarded(out*cols, fill)
			rowsOf(d, src, cols, start, index, w, first)
			checkGuards(t, all, fill, len(d), what)
			return d
		})
		for i := range got {
			want := 0.0
			for k := start[i/cols]; k < start[i/cols+1]; k++ {
				want += float64(w[k]) * float64(src[(int(index[k])-first)*cols+i%cols])
			}
			near(got[i], want, what, i)
		}
	}
	for _, in := range []int{1, 2, 3, 8, 15, 16, 17, 31, 32, 33, 40, 64, 65, 100, 300} {
		for _, out := range []int{1, 2, 7, 8, 9, 15, 16, 17, 32, 33, 70, 150, 300} {
			for _, rows := range []int{1, 3, 4, 6} {
				start, index := randomTaps(r, in, out, 4, float64(in)/float64(out))
				src, w := make([]E, in*rows), make([]W, len(index))
				for i := range src {
					src[i] = value(r)
				}
				for i := range w {
					w[i] = weight(r)
				}
				what := fmt.Sprintf("%d rows of lanes from %d to %d", rows, in, out)
				got := onLevels(t, what, func() []E {
					all, d := guarded(out*rows, fill)
					lanesOf(NewLanes(in, start, index, w), d, src, rows)
					checkGuards(t, all, fill, len(d), what)
					return d
				})
				for i := range got {
					want := 0.0
					for k := start[i%out]; k < start[i%out+1]; k++ {
						want += float64(w[k]) * float64(src[i/out*in+int(index[k])])
					}
					near(got[i], want, what, i)
				}
			}
		}
	}
}

func TestTapsF32(t *testing.T) {
	testTaps(t, 0, 1e-5, func(r *rand.Rand) float32 { return r.Float32() - 0.5 },
		func(r *rand.Rand) float32 { return r.Float32() - 0.5 }, TapRowsF32, LanesF32)
}

func TestTapsF64(t *testing.T) {
	testTaps(t, 0, 1e-14, func(r *rand.Rand) float64 { return r.Float64() - 0.5 },
		func(r *rand.Rand) float64 { return r.Float64() - 0.5 }, TapRowsF64, LanesF64)
}

func TestTapsU8(t *testing.T) {
	const bits = 14
	testTaps(t, bits, 0, func(r *rand.Rand) uint8 { return uint8(r.Intn(256)) },
		func(r *rand.Rand) int32 { return int32(r.Intn(1<<15) - 1<<13) },
		func(dst, src []uint8, cols int, start, index []int32, w []int32, first int) {
			TapRowsU8(dst, src, cols, start, index, w, first, bits)
		},
		func(l *Lanes[int32], dst, src []uint8, rows int) { LanesU8(l, dst, src, rows, bits) })
}

// TestTapsInf: an output knows nothing of infinities that it has no tap for.
func TestTapsInf(t *testing.T) {
	src := make([]float32, 40)
	for i := range src {
		src[i] = inf32
	}
	src[3] = 2
	for _, level := range cpu.Levels() {
		restore := cpu.Set(level.Features)
		l := NewLanes(40, []int32{0, 1, 1, 3}, []int32{3, 39, 0}, []float32{1, 1, 1})
		var got [3]float32
		LanesF32(l, got[:], src, 1)
		restore()
		if got != [3]float32{2, 0, inf32} {
			t.Errorf("%s: %v", level.Name, got)
		}
	}
}

func testPick[E uint8 | uint16 | uint32 | uint64](t *testing.T) {
	r := rand.New(rand.NewSource(1))
	size := int(unsafe.Sizeof(E(0)))
	for _, level := range cpu.Levels() {
		restore := cpu.Set(level.Features)
		for _, in := range []int{1, 3, 15, 16, 17, 33, 63, 64, 65, 130, 500} {
			for _, out := range []int{1, 5, 8, 16, 31, 32, 33, 100, 200} {
				index := make([]int32, out)
				for i := range index {
					index[i] = int32(i * in / out)
					if out == 33 {
						index[i] = int32(r.Intn(in))
					}
				}
				rows := []int32{2, 0, 0, 1}
				src := make([]E, 3*in)
				for i := range src {
					src[i] = E(r.Uint64())
				}
				all, d := guarded(len(rows)*out, E(77))
				Pick(NewPicks(in, size, index), d, src, rows)
				checkGuards(t, all, E(77), len(d), "pick")
				for i, x := range d {
					if x != src[int(rows[i/out])*in+int(index[i%out])] {
						t.Fatalf("%s, %d bytes, %d from %d: element %d is wrong", level.Name, size, out, in, i)
					}
				}
			}
		}
		restore()
	}
}

func TestPick(t *testing.T) {
	testPick[uint8](t)
	testPick[uint16](t)
	testPick[uint32](t)
	testPick[uint64](t)
	r := rand.New(rand.NewSource(1))
	for _, level := range cpu.Levels() {
		restore := cpu.Set(level.Features)
		for size := 1; size < 300; size++ {
			src := make([]byte, 5*size)
			r.Read(src)
			index := []int32{4, 0, 0, 2, 3, 1, 4}
			all, d := guarded(len(index)*size, byte(77))
			PickRows(d, src, index, size)
			checkGuards(t, all, byte(77), len(d), "rows")
			for i, x := range d {
				if x != src[int(index[i/size])*size+i%size] {
					t.Fatalf("%s, %d bytes: byte %d is wrong", level.Name, size, i)
				}
			}
		}
		restore()
	}
}
