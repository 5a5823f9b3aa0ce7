package pointwise

import (
	"math"
	"math/rand"
	"testing"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/tensor"
)

// TestIntegerDivision compares quotients and remainders with Go's own, for numbers at the ends of the types, near
// multiples of the divisor and beyond what a float64 holds.
func TestIntegerDivision(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	divide := map[string]func(a, b int64) int64{"trunc": truncDivI, "floor": floorDivI, "fmod": fmodI,
		"remainder": remainderI}
	for _, f := range []cpu.Features{{}, {AVX2FMA: true}, {AVX2FMA: true, AVX512: true}} {
		restore := cpu.Set(f)
		for _, dt := range []DType{tensor.Uint8, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64} {
			lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
			switch dt {
			case tensor.Uint8:
				lo, hi = 0, 255
			case tensor.Int8, tensor.Int16, tensor.Int32:
				hi = 1<<(8*dt.Size()-1) - 1
				lo = ^hi
			}
			for _, small := range []bool{false, true} {
				const n = 70001
				a, b := tensor.New([]int{n}, tensor.Int64), tensor.New([]int{n}, tensor.Int64)
				x, y := tensor.Data[int64](a), tensor.Data[int64](b)
				within := func(v int64) int64 { return min(max(v, lo), hi) }
				for i := range x {
					y[i] = int64(r.Uint64()) >> r.Intn(64)
					x[i] = int64(r.Uint64()) >> r.Intn(64)
					if small { // so that all of them fit float64
						x[i], y[i] = x[i]>>14, y[i]>>14
					}
					x[i], y[i] = within(x[i]), within(y[i])
					if y[i] == 0 {
						y[i] = 1
					}
					if i%3 == 0 && !small {
						x[i] = within(x[i]/y[i]*y[i] - int64(r.Intn(3)) + 1)
					}
					if y[i] == -1 && x[i] == lo {
						x[i]++
					}
				}
				ta, tb := a.ToDType(dt), b.ToDType(dt)
				for name, op := range divide {
					var got *T
					switch name {
					case "fmod":
						got = ta.Fmod(tb)
					case "remainder":
						got = ta.Remainder(tb)
					default:
						got = ta.DivMode(tb, name)
					}
					for i, g := range tensor.Data[int64](got.ToDType(tensor.Int64)) {
						if want := op(x[i], y[i]); g != want {
							t.Fatalf("%v %s of %d and %d is %d, want %d", dt, name, x[i], y[i], g, want)
						}
					}
				}
			}
		}
		restore()
	}
}

// TestLcmBeyondType wants what PyTorch gives where a least common multiple does not fit the type.
func TestLcmBeyondType(t *testing.T) {
	for _, c := range []struct {
		dt         DType
		a, b, want int64
	}{
		{tensor.Int8, 35, 11, -127}, {tensor.Uint8, 35, 11, 129}, {tensor.Int16, 30000, 7, 13392},
		{tensor.Int32, 1 << 20, 3001, 1148190720}, {tensor.Int8, -6, 4, 12}, {tensor.Int64, 0, 5, 0},
	} {
		a, b := tensor.FromSlice([]int64{c.a}).ToDType(c.dt), tensor.FromSlice([]int64{c.b}).ToDType(c.dt)
		if got := tensor.Data[int64](a.Lcm(b).ToDType(tensor.Int64))[0]; got != c.want {
			t.Errorf("lcm(%d, %d) of %v: %d, want %d", c.a, c.b, c.dt, got, c.want)
		}
	}
}
