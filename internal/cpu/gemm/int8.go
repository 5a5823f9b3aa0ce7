package gemm

import (
	"unsafe"
)

// gemmBytes is GEMMInt8 for one type of A.
func gemmBytes[A int8 | uint8](batch []BatchDim, m, n, k int, a []A, rsA, csA int, b []int8, rsB, csB int, add bool,
	c []int32, rsC, csC int) {
	nb := checkBatch(batch, m, n, k, len(a), rsA, csA, len(b), rsB, csB, len(c), rsC, csC, false)
	if nb > 0 && m > 0 && n > 0 {
		gemmInt8(int8Kernel(), nb, batch, m, n, k, a, rsA, csA, b, rsB, csB, add, c, rsC, csC)
	}
}

// gemmInt8 is GEMMInt8 with the given kernel and with arguments that have been checked.
func gemmInt8[A int8 | uint8](kernel lowPrecisionKernel, nb int, batch []BatchDim, m, n, k int, a []A, rsA, csA int,
	b []int8, rsB, csB int, add bool, c []int32, rsC, csC int) {
	var z A
	unsigned := z-1 > 0
	one := func(x int) {
		oa, ob, oc := batchOffsets(batch, x)
		out := c[oc:]
		if k == 0 {
			oa, ob = 0, 0
		}
		g := &lowPrecisionProduct{lowPrecisionKernel: kernel, m: m, n: n, k: k, add: add}
		g.a = lowPrecisionOperandOf(a[oa:], rsA, csA, m, k, g.pack)
		g.b = lowPrecisionOperandOf(b[ob:], csB, rsB, n, k, g.pack)
		switch {
		case g.pack == packBytes:
			g.offset = !unsigned
		case unsigned:
			g.a.pack = packUnsigned
		}
		if csC == 1 {
			g.c, g.ldc = unsafe.Pointer(&out[0]), rsC*4
		}
		g.store = func(i0, i1, j0, j1 int, sums unsafe.Pointer, ld int) {
			for i := i0; i < i1; i++ {
				row := unsafe.Slice(at[int32](sums, (i-i0)*ld*4), j1-j0)
				switch to := out[i*rsC+j0*csC:]; {
				case csC == 1 && !add:
					copy(to, row)
				case !add:
					for j, v := range row {
						to[j*csC] = v
					}
				default:
					for j, v := range row {
						to[j*csC] += v
					}
				}
			}
		}
		g.run()
	}
	eachMatrix(nb, m*n*k, one)
}
