package vec

import (
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/gotorch-dev/torch/internal/cpu"
)

// TestGatherSum compares every path with sums in float64, for all small widths and some larger ones, with guards around
// the row.
func TestGatherSum(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	var first map[string][]float32
	for _, level := range cpu.Levels() {
		restore := cpu.Set(level.Features)
		got := map[string][]float32{}
		for d := 1; d <= 300; d++ {
			if d > 70 && d%29 != 0 && d != 128 && d != 256 && d != 144 {
				continue
			}
			for _, k := range []int{0, 1, 3, 300} {
				rnd.Seed(int64(d*1000 + k))
				const n = 11
				table, scale, rows := make([]float32, n*d), make([]float32, k), make([]int64, k)
				for i := range table {
					table[i] = rnd.Float32() - 0.5
				}
				for i := range rows {
					rows[i], scale[i] = rnd.Int63n(n), rnd.Float32()
				}
				for _, s := range [][]float32{nil, scale} {
					buf := make([]float32, d+34)
					for i := range buf {
						buf[i] = nan32
					}
					dst := buf[17:][:d:d]
					want := make([]float64, d)
					for j := range dst {
						dst[j] = float32(j)
						want[j] = float64(j)
						for i, r := range rows {
							f := 1.0
							if s != nil {
								f = float64(s[i])
							}
							want[j] += f * float64(table[int(r)*d+j])
						}
					}
					GatherSumF32(dst, table, rows, s)
					for j, x := range dst {
						if !(math.Abs(float64(x)-want[j]) <= 1e-4*(1+math.Abs(want[j]))) {
							t.Fatalf("%s, %d columns, %d rows: column %d is %g, want %g", level.Name, d, k, j, x,
								want[j])
						}
					}
					for i, x := range buf {
						if (i < 17 || i >= 17+d) && x == x {
							t.Fatalf("%s, %d columns, %d rows: wrote outside of the row", level.Name, d, k)
						}
					}
					got[fmt.Sprint(d, k, s == nil)] = dst
				}
			}
		}
		restore()
		if first == nil {
			first = got
		}
		for name, x := range got {
			for j := range x {
				if x[j] != first[name][j] {
					t.Fatalf("%s: other bits than on the first path at %s", level.Name, name)
				}
			}
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a row outside of the table is read")
		}
	}()
	GatherSumF32(make([]float32, 2), make([]float32, 4), []int64{2}, nil)
}
