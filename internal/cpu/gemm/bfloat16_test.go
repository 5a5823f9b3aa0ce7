package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// modelBF16 is a kernel for pairs of bfloat16 in Go. It proves packing, edges
// and epilogue on machines that lack the instruction, and the instruction on
// those that have it.
func modelBF16(mr, aw, nr int) func(*lowPrecisionArgs) {
	return func(p *lowPrecisionArgs) {
		if p.rows > mr || p.k%4 != 0 {
			panic("kernel called with wrong sizes")
		}
		for f := range p.count {
			for r := range p.rows {
				for j := range nr {
					var s float32
					for k := range p.k {
						x := *at[[2]uint16](p.a, (k*aw+r)*4)
						y := *at[[2]uint16](p.b, f*p.stepB+(k*nr+j)*4)
						s += vec.BF16ToF32(x[1]) * vec.BF16ToF32(y[1])
						s += vec.BF16ToF32(x[0]) * vec.BF16ToF32(y[0])
					}
					c := at[float32](p.c, r*p.ldc+(f*nr+j)*4)
					if p.add != 0 {
						s += *c
					}
					*c = s
				}
			}
		}
	}
}

// bf16Kernels are the real kernel, if this machine has it, and the model with
// each packer.
func bf16Kernels() map[string]lowPrecisionKernel {
	ks := map[string]lowPrecisionKernel{}
	for _, l := range cpu.Levels() {
		restore := cpu.Set(l.Features)
		if k, ok := bf16Kernel(); ok {
			ks["instruction"] = k
		}
		k := lowPrecisionKernel{path: currentPath(), mr: 14, packedRows: 16, nr: 32, pack: packWords,
			run: modelBF16(14, 16, 32)}
		switch {
		case lanes[float32](k.path) == 0:
			k.path = pathGeneric
		case k.path == pathAVX2:
			k.mr, k.packedRows, k.nr, k.run = 6, 8, 16, modelBF16(6, 8, 16)
		case k.path == pathNEON:
			continue
		}
		ks["model "+l.Name] = k
		restore()
	}
	return ks
}

type bf16Problem struct {
	m, n, k     int
	la, lb, lc  layout
	alpha, beta float32
	bias        int
	act         Activation
	fine        bool // elements with all their bits, not exact sums
}

func checkBF16(t *testing.T, kernel lowPrecisionKernel, seed uint64, p bf16Problem) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 5))
	rsA, csA := p.la.stride(p.m, p.k)
	rsB, csB := p.lb.stride(p.k, p.n)
	rsC, csC := p.lc.stride(p.m, p.n)
	value := func() float32 {
		if p.fine {
			return float32(rng.NormFloat64())
		}
		return float32(rng.IntN(33)-16) / 8
	}
	const nan = 0x7fc1
	// What lies between the elements of an operand must not matter.
	fill := func(rows, rs, cols, cs int) []uint16 {
		x := make([]uint16, (rows-1)*rs+(cols-1)*cs+1)
		for i := range x {
			x[i] = nan
		}
		for i := range rows {
			for j := range cols {
				x[i*rs+j*cs] = vec.F32ToBF16(value())
			}
		}
		return x
	}
	a, b := fill(p.m, rsA, p.k, csA), fill(p.k, rsB, p.n, csB)
	c := newGuarded[uint16]((p.m-1)*rsC+(p.n-1)*csC+1, nan)
	old := make([]float32, p.m*p.n)
	if p.beta != 0 {
		for i := range p.m {
			for j := range p.n {
				c.data[i*rsC+j*csC] = vec.F32ToBF16(value())
				old[i*p.n+j] = vec.BF16ToF32(c.data[i*rsC+j*csC])
			}
		}
	}
	ep := &Epilogue[float32]{Act: p.act}
	if p.bias&1 != 0 {
		ep.BiasCol = make([]float32, p.n)
		for j := range ep.BiasCol {
			ep.BiasCol[j] = value()
		}
	}
	if p.bias&2 != 0 {
		ep.BiasRow = make([]float32, p.m)
		for i := range ep.BiasRow {
			ep.BiasRow[i] = value()
		}
	}
	gemmBF16(kernel, 1, nil, p.m, p.n, p.k, p.alpha, a, rsA, csA, b, rsB, csB, p.beta, c.data, rsC, csC, ep)
	for i := range p.m {
		for j := range p.n {
			sum, mag := 0.0, 0.0
			for q := range p.k {
				x := float64(vec.BF16ToF32(a[i*rsA+q*csA])) * float64(vec.BF16ToF32(b[q*rsB+j*csB]))
				sum += x
				mag += math.Abs(x)
			}
			want := float64(p.alpha)*sum + float64(p.beta*old[i*p.n+j])
			if ep.BiasCol != nil {
				want += float64(ep.BiasCol[j])
			}
			if ep.BiasRow != nil {
				want += float64(ep.BiasRow[i])
			}
			w := []float64{want}
			activate(p.act, w)
			got := float64(vec.BF16ToF32(c.data[i*rsC+j*csC]))
			tol := math.Abs(w[0])/256 + 1.2e-7*(mag*math.Sqrt(float64(p.k)+4)+16)
			if !(math.Abs(got-w[0]) <= tol) {
				t.Fatalf("%dx%dx%d A %s B %s C %s alpha %v beta %v bias %d act %d: C[%d,%d]: got %v, expected %v",
					p.m, p.n, p.k, p.la.name, p.lb.name, p.lc.name, p.alpha, p.beta, p.bias, p.act, i, j, got, w[0])
			}
		}
	}
	if !c.outside(p.m, p.n, rsC, csC) {
		t.Fatalf("%dx%dx%d C %s: wrote outside of C", p.m, p.n, p.k, p.lc.name)
	}
}

func TestBF16Sizes(t *testing.T) {
	for name, kernel := range bf16Kernels() {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(31, 32))
			draw := func(d [3]int) {
				checkBF16(t, kernel, rng.Uint64(), bf16Problem{m: d[0], n: d[1], k: d[2],
					la: layouts[rng.IntN(len(layouts))], lb: layouts[rng.IntN(len(layouts))],
					lc:    layouts[rng.IntN(len(layouts))],
					alpha: []float32{1, 1, -0.5}[rng.IntN(3)], beta: []float32{0, 1, 0.5}[rng.IntN(3)],
					bias: rng.IntN(4), act: Activation(rng.IntN(4)), fine: rng.IntN(2) == 0})
			}
			for size := 1; size <= 70; size++ {
				for dim := range 3 {
					for range 2 {
						d := [3]int{1 + rng.IntN(70), 1 + rng.IntN(70), 1 + rng.IntN(70)}
						d[dim] = size
						draw(d)
					}
				}
			}
			for _, d := range [][3]int{{1, 1, 5000}, {17, 33, 2500}, {70, 300, 130}, {150, 130, 40}, {2, 700, 64},
				{300, 5, 30}} {
				draw(d)
			}
			for x, la := range layouts {
				for y, lb := range layouts {
					checkBF16(t, kernel, rng.Uint64(),
						bf16Problem{m: 33, n: 65, k: 37, la: la, lb: lb, lc: layouts[(x+y)%len(layouts)], alpha: 1})
				}
			}
		})
	}
}

// The instruction against the model, bit by bit where nothing is too small:
// rows of one, so that an element is a single chain of sums.
func TestBF16Instruction(t *testing.T) {
	kernel, ok := bf16Kernel()
	if !ok {
		t.Skip("no AVX-512 BF16")
	}
	rng := rand.New(rand.NewPCG(41, 42))
	const k = 64
	for rows := 1; rows <= kernel.mr; rows++ {
		for count := 1; count <= 3; count++ {
			a, b := make([]uint16, k*kernel.packedRows*2), make([]uint16, count*k*kernel.nr*2)
			for i := range a {
				a[i] = vec.F32ToBF16(float32(rng.NormFloat64()))
			}
			for i := range b {
				b[i] = vec.F32ToBF16(float32(rng.NormFloat64()))
			}
			ldc := count*kernel.nr + 5
			got := newGuarded[int32](rows*ldc, 0x5a5a5a5a)
			want := newGuarded[int32](rows*ldc, 0x5a5a5a5a)
			for add := range 2 {
				for i, f := range []func(*lowPrecisionArgs){kernel.run,
					modelBF16(kernel.mr, kernel.packedRows, kernel.nr)} {
					c := got.data
					if i == 1 {
						c = want.data
					}
					f(&lowPrecisionArgs{a: unsafe.Pointer(&a[0]), b: unsafe.Pointer(&b[0]), c: unsafe.Pointer(&c[0]),
						ldc: ldc * 4, k: k, count: count, stepB: k * kernel.nr * 4, rows: rows, add: add})
				}
				different := 0
				for i := range got.raw {
					x, y := math.Float32frombits(uint32(got.raw[i])), math.Float32frombits(uint32(want.raw[i]))
					if got.raw[i] != want.raw[i] {
						different++
						if !(math.Abs(float64(x-y)) < 1e-5*k) {
							t.Fatalf("%d rows, %d strips, add %d: element %d: got %v, expected %v", rows, count, add, i,
								x, y)
						}
					}
				}
				if different > 0 {
					t.Logf("%d rows, %d strips: %d of %d sums are rounded differently", rows, count, different,
						rows*count*kernel.nr)
				}
			}
		}
	}
}

// A kernel that rounds its sums gives what the epilogue gives: with no bias, or
// where all of k is one block, the same bits.
func TestBF16Rounds(t *testing.T) {
	kernel, ok := bf16Kernel()
	if !ok {
		t.Skip("no AVX-512 BF16")
	}
	apart := kernel
	apart.rounds = false
	rng := rand.New(rand.NewPCG(61, 62))
	for _, p := range []struct {
		m, n, k int
		bias    bool
	}{{1, 32, 5, true}, {33, 96, 300, true}, {33, 96, 300, false}, {20, 1000, 200, true}, {70, 64, 2500, false}} {
		a, b, bias := make([]uint16, p.m*p.k), make([]uint16, p.k*p.n), make([]float32, p.n)
		for _, x := range [][]uint16{a, b} {
			for i := range x {
				x[i] = vec.F32ToBF16(float32(rng.NormFloat64()))
			}
		}
		for i := range bias {
			bias[i] = float32(rng.NormFloat64())
		}
		a[0], b[0], b[p.n-1] = 0x7f80, 0, 0x7f80 // infinity times zero and infinity
		ep := &Epilogue[float32]{}
		if p.bias {
			ep.BiasCol = bias
		}
		ld := p.n + 3
		got, want := newGuarded[uint16](p.m*ld, 0x1234), newGuarded[uint16](p.m*ld, 0x1234)
		gemmBF16(kernel, 1, nil, p.m, p.n, p.k, 1, a, p.k, 1, b, p.n, 1, 0, got.data, ld, 1, ep)
		gemmBF16(apart, 1, nil, p.m, p.n, p.k, 1, a, p.k, 1, b, p.n, 1, 0, want.data, ld, 1, ep)
		for i, x := range got.raw {
			if y := want.raw[i]; x != y && !(vec.BF16ToF32(x) != vec.BF16ToF32(x) &&
				vec.BF16ToF32(y) != vec.BF16ToF32(y)) {
				t.Fatalf("%dx%dx%d, bias %t: element %d: got %#x, expected %#x", p.m, p.n, p.k, p.bias, i, x, y)
			}
		}
	}
}

func TestBF16Threads(t *testing.T) {
	defer par.SetNumThreads(par.NumThreads())
	const m, n, k = 90, 130, 300
	for name, kernel := range bf16Kernels() {
		rng := rand.New(rand.NewPCG(51, 52))
		a, b := make([]uint16, m*k), make([]uint16, k*n)
		for _, x := range [][]uint16{a, b} {
			for i := range x {
				x[i] = vec.F32ToBF16(float32(rng.NormFloat64()))
			}
		}
		var first []uint16
		for _, threads := range []int{1, 2, 3, 8} {
			par.SetNumThreads(threads)
			c := make([]uint16, m*n)
			gemmBF16(kernel, 1, nil, m, n, k, 1, a, k, 1, b, n, 1, 0, c, n, 1, nil)
			if first == nil {
				first = c
			}
			if !slices.Equal(c, first) {
				t.Errorf("%s, %d threads: the result differs", name, threads)
			}
		}
	}
}

func BenchmarkBF16(b *testing.B) {
	for _, n := range []int{64, 256, 1024} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x, y, c := make([]uint16, n*n), make([]uint16, n*n), make([]uint16, n*n)
			for b.Loop() {
				GEMMHalf(BFloat16, nil, n, n, n, 1, x, n, 1, y, n, 1, 0, c, n, 1, nil)
			}
			b.ReportMetric(2*float64(n*n*n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GF/s")
		})
	}
}
