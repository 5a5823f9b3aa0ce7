package gemm

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
)

// gemmBF16 is GEMMHalf with a kernel for pairs of bfloat16. The arguments have been checked and no size is 0.
func gemmBF16(kernel lowPrecisionKernel, nb int, batch []BatchDim, m, n, k int, alpha float32, a []uint16, rsA, csA int,
	b []uint16, rsB, csB int, beta float32, c []uint16, rsC, csC int, ep *Epilogue[float32]) {
	e := bf16Epilogue{alpha: alpha, beta: beta, rs: rsC, cs: csC}
	if ep != nil {
		ep.check(m, n)
		e.Epilogue = *ep
	}
	// Positions in A are rows and in B columns.
	oa := lowPrecisionOperandOf(a, rsA, csA, m, k, packWords)
	ob := lowPrecisionOperandOf(b, csB, rsB, n, k, packWords)
	swap := csC != 1 && rsC == 1
	if swap {
		// Cᵀ = Bᵀ·Aᵀ has adjacent columns.
		m, n, oa, ob = n, m, ob, oa
		e.rs, e.cs, e.BiasCol, e.BiasRow = e.cs, e.rs, e.BiasRow, e.BiasCol
	}
	one := func(x int) {
		ia, ib, ic := batchOffsets(batch, x)
		if swap {
			ia, ib = ib, ia
		}
		g := &lowPrecisionProduct{lowPrecisionKernel: kernel, m: m, n: n, k: k, a: oa, b: ob}
		g.a.p, g.b.p = unsafe.Add(oa.p, ia*2), unsafe.Add(ob.p, ib*2)
		out := c[ic:]
		if kernel.rounds && e.onlyBias() {
			g.half, g.ldHalf, g.bias = unsafe.Pointer(&out[0]), e.rs*2, e.BiasCol
		}
		g.store = func(i0, i1, j0, j1 int, sums unsafe.Pointer, ld int) {
			for i := i0; i < i1; i++ {
				e.row(out, i, j0, unsafe.Slice(at[float32](sums, (i-i0)*ld*4), j1-j0))
			}
		}
		g.run()
	}
	eachMatrix(nb, m*n*k, one)
}

// bf16Epilogue makes elements of C from finished sums.
type bf16Epilogue struct {
	Epilogue[float32]
	alpha, beta float32
	rs, cs      int // strides of C
}

// onlyBias reports whether the sums only need a bias per column, and the elements of a row of C are adjacent.
func (e *bf16Epilogue) onlyBias() bool {
	return e.alpha == 1 && e.beta == 0 && e.BiasRow == nil && e.Act == ActNone && e.cs == 1
}

// row stores sums as row i of c from column j on. It overwrites sums.
func (e *bf16Epilogue) row(c []uint16, i, j int, sums []float32) {
	if e.alpha != 1 {
		vec.MulScalarF32(sums, sums, e.alpha)
	}
	to := c[i*e.rs+j*e.cs:]
	if e.beta != 0 {
		e.addScaledC(to, sums)
	}
	if e.BiasCol != nil {
		vec.AddF32(sums, sums, e.BiasCol[j:j+len(sums)])
	}
	if e.BiasRow != nil {
		vec.AddScalarF32(sums, sums, e.BiasRow[i])
	}
	if e.Act == ActReLU {
		vec.ReLUF32(sums, sums)
	} else if e.Act != ActNone {
		activate(e.Act, sums)
	}
	if e.cs == 1 {
		vec.F32ToBF16s(to[:len(sums)], sums)
		return
	}
	for x, v := range sums {
		to[x*e.cs] = vec.F32ToBF16(v)
	}
}

// addScaledC adds beta times the old elements of C to sums.
func (e *bf16Epilogue) addScaledC(old []uint16, sums []float32) {
	var line [256]float32
	for x := 0; x < len(sums); x += len(line) {
		part := sums[x:min(x+len(line), len(sums))]
		if e.cs == 1 {
			vec.BF16ToF32s(line[:len(part)], old[x:x+len(part)])
		} else {
			for y := range part {
				line[y] = vec.BF16ToF32(old[(x+y)*e.cs])
			}
		}
		vec.AddScaledF32(part, part, line[:len(part)], e.beta)
	}
}
