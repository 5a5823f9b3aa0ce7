// The packers: panels of A and B, transposed or copied.

package main

import "fmt"

// transpose emits the packer of a panel whose rows are contiguous along k:
// dst[kk*dstStride + r] = src[r*srcStride + kk] for r < lanes and kk < k, k a
// multiple of the elements in 16 bytes. Loading 16-byte pieces of rows r, r+q,
// r+2q … into the lanes of one register leaves only a transposition inside
// lanes to do.
func (g *gen) transpose(name string, s isa) {
	q := 16 / s.ES     // elements per 128-bit lane
	nl := s.Width / 16 // lanes per register
	g.function(name, "dst, src unsafe.Pointer, dstStride, srcStride, k int", "DX", "DI", "R13", "R8", "CX")
	g.I("LEAQ (R8)(R8*2), R9")
	// One pointer per lane, q rows apart.
	ptr := []string{"DI", "SI", "BX", "R10"}[:nl]
	for i := 1; i < nl; i++ {
		if q == 4 {
			g.I("LEAQ (%s)(R8*4), %s", ptr[i-1], ptr[i])
		} else {
			g.I("LEAQ (%s)(R8*2), %s", ptr[i-1], ptr[i])
		}
	}
	idx := []string{"", "(R8*1)", "(R8*2)", "(R9*1)"}
	if s.Reg == "Z" {
		g.wholeLines(name, s, ptr, idx)
	} else {
		g.I("JMP %s_test", name)
	}
	g.L("%s_loop:", name)
	for r := range q {
		g.I("VMOVUPS (%s)%s, X%d", ptr[0], idx[r], r)
	}
	for l := 1; l < nl; l++ {
		for r := range q {
			if s.Reg == "Z" {
				g.I("VINSERTF32X4 $%d, (%s)%s, Z%d, Z%d", l, ptr[l], idx[r], r, r)
			} else {
				g.I("VINSERTF128 $%d, (%s)%s, Y%d, Y%d", l, ptr[l], idx[r], r, r)
			}
		}
	}
	g.storeTransposed(s)
	for _, p := range ptr {
		g.I("ADDQ $16, %s", p)
	}
	g.I("SUBQ $%d, CX", q)
	g.L("%s_test:", name)
	g.I("CMPQ CX, $%d", q)
	g.I("JGE %s_loop", name)
	g.I("VZEROUPPER")
	g.I("RET")
}

// storeTransposed emits the transposition inside the 128-bit lanes of the registers 0 to q-1 (q is the number
// of elements of a lane), and stores the result from DX on, in steps of R13 bytes; DX moves on.
func (g *gen) storeTransposed(s isa) {
	out := []int{4, 5}
	if s.ES == 4 {
		g.I("VUNPCKLPS %s, %s, %s", s.V(1), s.V(0), s.V(4))
		g.I("VUNPCKHPS %s, %s, %s", s.V(1), s.V(0), s.V(5))
		g.I("VUNPCKLPS %s, %s, %s", s.V(3), s.V(2), s.V(6))
		g.I("VUNPCKHPS %s, %s, %s", s.V(3), s.V(2), s.V(7))
		g.I("VUNPCKLPD %s, %s, %s", s.V(6), s.V(4), s.V(8))
		g.I("VUNPCKHPD %s, %s, %s", s.V(6), s.V(4), s.V(9))
		g.I("VUNPCKLPD %s, %s, %s", s.V(7), s.V(5), s.V(10))
		g.I("VUNPCKHPD %s, %s, %s", s.V(7), s.V(5), s.V(11))
		out = []int{8, 9, 10, 11}
	} else {
		g.I("VUNPCKLPD %s, %s, %s", s.V(1), s.V(0), s.V(4))
		g.I("VUNPCKHPD %s, %s, %s", s.V(1), s.V(0), s.V(5))
	}
	for _, o := range out {
		g.I("VMOVUPS %s, (DX)", s.V(o))
		g.I("ADDQ R13, DX")
	}
}

// transposeFewRows emits transpose for a panel with fewer rows than lanes: the
// lanes that are left hold the last row, so that whole vectors are stored and
// nothing is read but the rows. Each lane has a pointer of its own.
//
//	AX = rows, then the offset along k   R8 = src's stride   DX = dst   R13 = its stride   CX = k left
func (g *gen) transposeFewRows(name string, s isa) {
	q := 16 / s.ES
	ptr := []string{"DI", "SI", "BX", "R9", "R10", "R11", "R12", "R15"}[:s.Lanes()]
	g.function(name, "dst, src unsafe.Pointer, dstStride, srcStride, rows, k int", "DX", "DI", "R13", "R8", "AX", "CX")
	for i := 1; i < len(ptr); i++ {
		g.I("LEAQ (%s)(R8*1), %s", ptr[i-1], ptr[i])
		g.I("CMPQ AX, $%d", i)
		g.I("CMOVQLE %s, %s", ptr[i-1], ptr[i])
	}
	g.I("XORL AX, AX")
	g.L("%s_loop:", name)
	for r := range q {
		g.I("VMOVUPS (%s)(AX*1), X%d", ptr[r], r)
	}
	for r := range q {
		g.I("VINSERTF128 $1, (%s)(AX*1), Y%d, Y%d", ptr[q+r], r, r)
	}
	g.storeTransposed(s)
	g.I("ADDQ $16, AX")
	g.I("SUBQ $%d, CX", q)
	g.I("JGT %s_loop", name)
	g.I("VZEROUPPER")
	g.I("RET")
}

// copyPanel emits the packer of a panel whose rows are adjacent already: k
// steps of nv vectors, the last one masked. What lies ahead bytes further is
// fetched by hand, as the source's steps may be far apart.
func (g *gen) copyPanel(name string, s isa) {
	g.function(name, "dst, src unsafe.Pointer, dstStride, srcStride, k int, mask uint64, ahead int", "DX", "DI", "R13",
		"R8", "CX", "AX", "R9")
	g.I("KMOVW AX, K1")
	g.I("SHRQ $%d, AX", s.Lanes())
	g.I("KMOVW AX, K2")
	g.I("TESTQ AX, AX")
	g.I("JZ %s_one", name)
	for _, nv := range []int{2, 1} {
		loop := fmt.Sprintf("%s_loop%d", name, nv)
		if nv == 1 {
			g.L("%s_one:", name)
		}
		g.I("PCALIGN $32")
		g.L("%s:", loop)
		for v := range nv {
			g.I("VMOVU%s.Z %d(DI), K%d, Z%d", s.P(), v*s.Width, v+1, v)
		}
		g.I("PREFETCHT0 (DI)(R9*1)")
		if nv == 2 {
			g.I("PREFETCHT0 64(DI)(R9*1)")
		}
		g.I("ADDQ R8, DI")
		for v := range nv {
			g.I("VMOVU%s Z%d, %d(DX)", s.P(), v, v*s.Width)
		}
		g.I("ADDQ R13, DX")
		g.I("DECQ CX")
		g.I("JG %s", loop)
		g.I("VZEROUPPER")
		g.I("RET")
	}
}

// wholeLines emits the part of transpose that takes a cache line of every row
// at a time. Rows that lie a power of two apart share a cache set and would
// evict each other if a line were visited four times. Where rows are long, the
// hardware does not foresee the rows after these, which come next when a matrix
// is transposed panel after panel: their lines in these columns are fetched.
//
//	R11 = n rows   R12 = a lane's pointer, n rows further
func (g *gen) wholeLines(name string, s isa, ptr, idx []string) {
	n := s.Lanes()
	q := 16 / s.ES
	g.I("MOVQ R8, R11")
	g.I("SHLQ $%d, R11", map[int]int{16: 4, 8: 3}[n])
	g.I("JMP %s_wtest", name)
	g.L("%s_wloop:", name)
	for r := range n {
		g.I("VMOVUPS (%s)%s, Z%d", ptr[r/q], idx[r%q], r)
	}
	g.I("CMPQ R8, $2048")
	g.I("JLT %s_near", name)
	for r := range n {
		if r%q == 0 {
			g.I("LEAQ (%s)(R11*1), R12", ptr[r/q])
		}
		g.I("PREFETCHT1 (R12)%s", idx[r%q])
	}
	g.L("%s_near:", name)
	// Inside lanes first: lane l of u[4i+c] gets column q*l+c of rows qi..qi+q-1.
	u := make([]int, n)
	for i := 0; i < n; i += 2 {
		g.I("VUNPCKL%s Z%d, Z%d, Z%d", s.P(), i+1, i, 16+i)
		g.I("VUNPCKH%s Z%d, Z%d, Z%d", s.P(), i+1, i, 16+i+1)
		u[i], u[i+1] = 16+i, 16+i+1
	}
	if q == 4 {
		for i := 0; i < n; i += 4 {
			g.I("VUNPCKLPD Z%d, Z%d, Z%d", u[i+2], u[i], i)
			g.I("VUNPCKHPD Z%d, Z%d, Z%d", u[i+2], u[i], i+1)
			g.I("VUNPCKLPD Z%d, Z%d, Z%d", u[i+3], u[i+1], i+2)
			g.I("VUNPCKHPD Z%d, Z%d, Z%d", u[i+3], u[i+1], i+3)
		}
		for i := range u {
			u[i] = i
		}
	}
	// Then whole lanes, a 4×4 transposition for each c. The temporaries are the
	// registers that hold no u.
	free := 0
	if u[0] == 0 {
		free = 16
	}
	out := make([]int, n)
	for c := range q {
		a, b, a2, b2 := free, free+1, free+2, free+3
		u0, u1, u2, u3 := u[c], u[q+c], u[2*q+c], u[3*q+c]
		g.I("VSHUFF64X2 $0x88, Z%d, Z%d, Z%d", u1, u0, a)
		g.I("VSHUFF64X2 $0xdd, Z%d, Z%d, Z%d", u1, u0, b)
		g.I("VSHUFF64X2 $0x88, Z%d, Z%d, Z%d", u3, u2, a2)
		g.I("VSHUFF64X2 $0xdd, Z%d, Z%d, Z%d", u3, u2, b2)
		g.I("VSHUFF64X2 $0x88, Z%d, Z%d, Z%d", a2, a, u0)
		g.I("VSHUFF64X2 $0x88, Z%d, Z%d, Z%d", b2, b, u1)
		g.I("VSHUFF64X2 $0xdd, Z%d, Z%d, Z%d", a2, a, u2)
		g.I("VSHUFF64X2 $0xdd, Z%d, Z%d, Z%d", b2, b, u3)
		out[c], out[q+c], out[2*q+c], out[3*q+c] = u0, u1, u2, u3
	}
	for _, o := range out {
		g.I("VMOVUPS Z%d, (DX)", o)
		g.I("ADDQ R13, DX")
	}
	for _, p := range ptr {
		g.I("ADDQ $64, %s", p)
	}
	g.I("SUBQ $%d, CX", n)
	g.L("%s_wtest:", name)
	g.I("CMPQ CX, $%d", n)
	g.I("JGE %s_wloop", name)
	g.I("JMP %s_test", name)
}
