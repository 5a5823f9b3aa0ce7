package vec

import (
	"math"
	"math/rand"
	"testing"

	"github.com/gotorch-dev/torch/internal/cpu"
)

// TestRecurrent compares the steps of recurrent layers, forward and backward, and the exponentials of columns with
// their formulas in float64.
func TestRecurrent(t *testing.T) {
	const n = 83
	rnd := rand.New(rand.NewSource(2))
	fresh := func() []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = rnd.Float32()*8 - 4
		}
		return x
	}
	sig := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	for _, level := range cpu.Levels() {
		restore := cpu.Set(level.Features)
		near := func(what string, i int, got float32, want float64) {
			t.Helper()
			if !(math.Abs(float64(got)-want) <= 3e-6*(1+math.Abs(want))) {
				t.Fatalf("%s, %s: element %d is %g, want %g", level.Name, what, i, got, want)
			}
		}
		i, f, g, o, prev, dh, dc := fresh(), fresh(), fresh(), fresh(), fresh(), fresh(), fresh()
		in := [][]float32{append([]float32(nil), i...), append([]float32(nil), f...), append([]float32(nil), g...),
			append([]float32(nil), o...), append([]float32(nil), dc...)}
		h, c := make([]float32, n), make([]float32, n)
		LSTMCellF32(h, c, i, f, g, o, prev)
		di, df, dg, do := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
		LSTMOutputBackwardF32(dc, do, dh, o, c)
		LSTMGatesBackwardF32(dc, di, df, dg, i, f, g, prev)
		for x := range n {
			a, b, z, e := sig(float64(in[0][x])), sig(float64(in[1][x])), math.Tanh(float64(in[2][x])),
				sig(float64(in[3][x]))
			p, d := float64(prev[x]), float64(dh[x])
			cn := b*p + a*z
			th := math.Tanh(cn)
			near("c", x, c[x], cn)
			near("h", x, h[x], e*th)
			near("do", x, do[x], d*th*e*(1-e))
			dcn := float64(in[4][x]) + d*e*(1-th*th)
			near("di", x, di[x], dcn*z*a*(1-a))
			near("df", x, df[x], dcn*p*b*(1-b))
			near("dg", x, dg[x], dcn*a*(1-z*z))
			near("dc", x, dc[x], dcn*b)
		}
		r, z, nw, hn := fresh(), fresh(), fresh(), fresh()
		dh = fresh()
		in = [][]float32{append([]float32(nil), r...), append([]float32(nil), z...), append([]float32(nil), nw...),
			append([]float32(nil), dh...)}
		GRUCellF32(h, r, z, nw, hn, prev)
		dr, dz, dn, dhn := di, df, dg, do
		GRUOutputBackwardF32(dh, dz, dn, z, nw, prev)
		GRUResetBackwardF32(dr, dhn, dn, r, hn)
		for x := range n {
			a, b := sig(float64(in[0][x])), sig(float64(in[1][x]))
			w := math.Tanh(float64(in[2][x]) + a*float64(hn[x]))
			p, d := float64(prev[x]), float64(in[3][x])
			near("GRU h", x, h[x], (p-w)*b+w)
			near("GRU dz", x, dz[x], d*(p-w)*b*(1-b))
			dw := d * (1 - b) * (1 - w*w)
			near("GRU dn", x, dn[x], dw)
			near("GRU dhn", x, dhn[x], dw*a)
			near("GRU dr", x, dr[x], dw*float64(hn[x])*a*(1-a))
			near("GRU dh", x, dh[x], d*b)
		}
		a, m, sum, dst := fresh(), fresh(), fresh(), make([]float32, n)
		before := append([]float32(nil), sum...)
		ExpSumColumnsF32(dst, sum, a, m)
		for x := range n {
			e := math.Exp(float64(a[x]) - float64(m[x]))
			near("ExpSumColumns", x, dst[x], e)
			near("its sum", x, sum[x], float64(before[x])+e)
		}
		copy(sum, before)
		SumExpColumnsF32(sum, a, m)
		LogSoftmaxBackwardColumnsF32(dst, a, m, before)
		for x := range n {
			near("SumExpColumns", x, sum[x], float64(before[x])+math.Exp(float64(a[x])-float64(m[x])))
			near("LogSoftmaxBackwardColumns", x, dst[x], float64(a[x])-math.Exp(float64(m[x]))*float64(before[x]))
		}
		ExpScaleF32(dst, a, 0.5, 3, -1)
		for x := range n {
			near("ExpScale", x, dst[x], math.Exp(float64(a[x])-0.5)*3-1)
		}
		restore()
	}
}

// TestRecurrentRows compares the forms that walk rows with the flat ones, bit by bit; what lies between the rows must
// stay as it is.
func TestRecurrentRows(t *testing.T) {
	kernels := []struct {
		name string
		args int
		rows func(rows, cols int, x [][]float32, ld []int)
		flat func(x [][]float32)
	}{
		{"LSTMCell", 7, func(r, c int, x [][]float32, l []int) {
			LSTMCellRowsF32(r, c, x[0], l[0], x[1], l[1], x[2], l[2], x[3], l[3], x[4], l[4], x[5], l[5], x[6], l[6])
		}, func(x [][]float32) { LSTMCellF32(x[0], x[1], x[2], x[3], x[4], x[5], x[6]) }},
		{"LSTMOutputBackward", 5, func(r, c int, x [][]float32, l []int) {
			LSTMOutputBackwardRowsF32(r, c, x[0], l[0], x[1], l[1], x[2], l[2], x[3], l[3], x[4], l[4])
		}, func(x [][]float32) { LSTMOutputBackwardF32(x[0], x[1], x[2], x[3], x[4]) }},
		{"LSTMGatesBackward", 8, func(r, c int, x [][]float32, l []int) {
			LSTMGatesBackwardRowsF32(r, c, x[0], l[0], x[1], l[1], x[2], l[2], x[3], l[3], x[4], l[4], x[5], l[5], x[6],
				l[6], x[7], l[7])
		}, func(x [][]float32) { LSTMGatesBackwardF32(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]) }},
		{"GRUCell", 6, func(r, c int, x [][]float32, l []int) {
			GRUCellRowsF32(r, c, x[0], l[0], x[1], l[1], x[2], l[2], x[3], l[3], x[4], l[4], x[5], l[5])
		}, func(x [][]float32) { GRUCellF32(x[0], x[1], x[2], x[3], x[4], x[5]) }},
		{"GRUOutputBackward", 6, func(r, c int, x [][]float32, l []int) {
			GRUOutputBackwardRowsF32(r, c, x[0], l[0], x[1], l[1], x[2], l[2], x[3], l[3], x[4], l[4], x[5], l[5])
		}, func(x [][]float32) { GRUOutputBackwardF32(x[0], x[1], x[2], x[3], x[4], x[5]) }},
		{"GRUResetBackward", 5, func(r, c int, x [][]float32, l []int) {
			GRUResetBackwardRowsF32(r, c, x[0], l[0], x[1], l[1], x[2], l[2], x[3], l[3], x[4], l[4])
		}, func(x [][]float32) { GRUResetBackwardF32(x[0], x[1], x[2], x[3], x[4]) }},
	}
	eachPath(t, func(t *testing.T) {
		rnd := rand.New(rand.NewSource(3))
		for _, k := range kernels {
			for _, rows := range []int{1, 2, 5, 200} {
				for cols := 1; cols <= 70; cols += 1 + rows/100*8 {
					got, want, ld := make([][]float32, k.args), make([][]float32, k.args), make([]int, k.args)
					for a := range got {
						ld[a] = cols + rnd.Intn(4)*rnd.Intn(9)
						got[a] = make([]float32, (rows-1)*ld[a]+cols+8)
						for i := range got[a] {
							switch got[a][i] = rnd.Float32()*8 - 4; rnd.Intn(40) {
							case 0:
								got[a][i] = nan32
							case 1:
								got[a][i] = float32(math.Inf(rnd.Intn(3) - 1))
							}
						}
						want[a] = append([]float32(nil), got[a]...)
					}
					k.rows(rows, cols, got, ld)
					for r := range rows {
						row := make([][]float32, k.args)
						for a := range row {
							row[a] = want[a][r*ld[a]:][:cols]
						}
						k.flat(row)
					}
					for a := range got {
						for i, x := range got[a] {
							if w := want[a][i]; x != w && (x == x || w == w) {
								t.Fatalf("%s: %d rows of %d: argument %d, element %d is %v, want %v", k.name, rows,
									cols, a, i, x, w)
							}
						}
					}
				}
			}
		}
	})
}
