package gemm

import "unsafe"

// elementFormat says what the elements of an operand are and what they become when they are packed.
type elementFormat uint8

const (
	packWords    elementFormat = iota // 16 bits, in pairs
	packSigned                        // int8, widened to pairs of int16
	packUnsigned                      // uint8, widened to pairs of int16
	packBytes                         // 8 bits, in fours
)

// lowPrecisionOperand is a matrix to be packed: positions (rows of A, columns of B) by steps of k.
type lowPrecisionOperand struct {
	p      unsafe.Pointer
	ps, ks int // bytes from position to position and from step to step
	n, k   int
	pack   elementFormat
}

// lowPrecisionOperandOf is the operand of n positions by k steps in a slice, with strides in elements.
func lowPrecisionOperandOf[N any](s []N, ps, ks, n, k int, pack elementFormat) lowPrecisionOperand {
	p := unsafe.SliceData(s)
	es := int(unsafe.Sizeof(*p))
	return lowPrecisionOperand{unsafe.Pointer(p), ps * es, ks * es, n, k, pack}
}

// size is the number of bytes of an element in memory, packed the number after packing.
func (p elementFormat) size() int {
	if p == packWords {
		return 2
	}
	return 1
}

func (p elementFormat) packed() int {
	if p == packBytes {
		return 1
	}
	return 2
}

// lowPrecisionPackPiece is the number of groups along k that go through a scratch buffer at a time.
const lowPrecisionPackPiece = 64

// packPanel packs the positions [j,j+count) and the groups [q,q+steps) of o:
//
//	dst[s*width + r] = the group of four bytes of position j+r, whose first element is at k = (q+s)*group
//
// What lies beyond o is packed as zeros, up to the width. Up to whole vectors, more positions than count may
// be packed, which nobody reads. steps is a multiple of 4.
func (o *lowPrecisionOperand) packPanel(l *lowPrecisionKernel, dst unsafe.Pointer, width, j, count, q, steps int) {
	group := 4 / o.pack.packed()
	es := o.pack.size()
	lane := lanes[float32](l.path)
	for s := 0; s < steps; s += lowPrecisionPackPiece {
		n := min(lowPrecisionPackPiece, steps-s)
		d := unsafe.Add(dst, s*width*4)
		k0 := (q + s) * group
		k1 := min(k0+n*group, o.k)
		src := o.p
		if k0 < o.k {
			src = unsafe.Add(o.p, j*o.ps+k0*o.ks)
		}
		whole := k1-k0 == n*group
		switch {
		case lane == 0 || o.ks != es && o.ps != es:
			o.packGeneric(d, width, src, count, k1-k0, n)
		case o.ks == es:
			o.packTransposed(l.path, d, width, src, count, o.n-j, k1-k0, n)
		case whole && j+roundUp(width, interleaveWidth(o.pack)) <= o.n:
			o.packInterleaved(d, src, o.ks, width, n)
		default:
			// The rows are copied to a scratch buffer that has room for whole vectors.
			var rows [lowPrecisionPackPiece * 32 * 2]uint16
			tmp := unsafe.Pointer(&rows)
			stride := roundUp(width, interleaveWidth(o.pack)) * es
			have := min(width, o.n-j)
			for i := range max(k1-k0, 0) {
				copy(unsafe.Slice((*byte)(unsafe.Add(tmp, i*stride)), have*es),
					unsafe.Slice((*byte)(unsafe.Add(src, i*o.ks)), have*es))
			}
			o.packInterleaved(d, tmp, stride, width, n)
		}
	}
}

// packInterleaved packs n groups of positions that are adjacent in memory, where memory has as many positions
// as interleave reads. In a narrow panel each group overwrites the surplus of the group before.
func (o *lowPrecisionOperand) packInterleaved(dst, src unsafe.Pointer, stride, width, n int) {
	wide := roundUp(width, interleaveWidth(o.pack))
	if wide == width {
		interleave(o.pack, dst, src, width*4, stride, width, n)
		return
	}
	interleave(o.pack, dst, src, width*4, stride, wide, n-1)
	var last [32]uint32
	interleave(o.pack, unsafe.Pointer(&last), unsafe.Add(src, (n-1)*4/o.pack.packed()*stride), 0, stride, wide, 1)
	copy(unsafe.Slice(at[uint32](dst, (n-1)*width*4), width), last[:])
}

// packTransposed packs n groups of count positions whose elements are adjacent along k: a transposition of
// 32-bit groups. avail positions and have steps of k exist.
func (o *lowPrecisionOperand) packTransposed(pt path, dst unsafe.Pointer, width int, src unsafe.Pointer, count, avail,
	have, n int) {
	lane := lanes[float32](pt)
	row := n * 4 // bytes of a position in dst
	es := o.pack.size()
	for r := 0; r < width; r += lane {
		d := unsafe.Add(dst, r*4)
		if avail-r >= lane && have*o.pack.packed() == row && es == o.pack.packed() {
			transposeFast[float32](pt, d, unsafe.Add(src, r*o.ps), width*4, o.ps, n)
			continue
		}
		var rows [16 * lowPrecisionPackPiece]uint32
		tmp := unsafe.Pointer(&rows)
		for i := range max(0, min(lane, count-r)) {
			if have <= 0 {
				break
			}
			to, from := unsafe.Add(tmp, i*row), unsafe.Add(src, (r+i)*o.ps)
			if es == o.pack.packed() {
				copy(unsafe.Slice((*byte)(to), have*es), unsafe.Slice((*byte)(from), have*es))
			} else {
				widenRow(o.pack, to, from, have)
			}
		}
		transposeFast[float32](pt, d, tmp, width*4, row, n)
	}
}

// widenRow widens n bytes to int16.
func widenRow(p elementFormat, dst, src unsafe.Pointer, n int) {
	i := n &^ 15
	if i > 0 {
		widenBytes(p, dst, src, i)
	}
	for ; i < n; i++ {
		*at[int16](dst, 2*i) = widenByte(p, *at[uint8](src, i))
	}
}

func widenByte(p elementFormat, x uint8) int16 {
	if p == packSigned {
		return int16(int8(x))
	}
	return int16(x)
}

// packGeneric packs a panel for any strides, element by element: have steps of k of count positions, in n
// groups.
func (o *lowPrecisionOperand) packGeneric(dst unsafe.Pointer, width int, src unsafe.Pointer, count, have, n int) {
	size := o.pack.packed()
	group := 4 / size
	clear(unsafe.Slice((*uint32)(dst), n*width))
	for r := range count {
		for i := range max(have, 0) {
			d, s := unsafe.Add(dst, (i/group*width+r)*4+i%group*size), unsafe.Add(src, r*o.ps+i*o.ks)
			switch o.pack {
			case packWords:
				*(*uint16)(d) = *(*uint16)(s)
			case packBytes:
				*(*uint8)(d) = *(*uint8)(s)
			default:
				*(*int16)(d) = widenByte(o.pack, *(*uint8)(s))
			}
		}
	}
}

// genericPairsKernel is the portable kernel for pairs of int16.
func genericPairsKernel(pack elementFormat) lowPrecisionKernel {
	return lowPrecisionKernel{path: pathGeneric, mr: genericPairsRows, packedRows: genericPairsRows,
		nr: genericPairsCols, pack: pack, run: genericPairs}
}

// genericPairs is the portable kernel, for pairs of int16.
func genericPairs(p *lowPrecisionArgs) {
	const mr, nr = genericPairsRows, genericPairsCols
	for f := range p.count {
		for r := range p.rows {
			var s [nr]int32
			if p.init != nil {
				s = *at[[nr]int32](p.init, f*nr*4)
			}
			b := unsafe.Add(p.b, f*p.stepB)
			for k := range p.k {
				x := at[[2]int16](p.a, (k*mr+r)*4)
				a0, a1 := int32(x[0]), int32(x[1])
				y := at[[2 * nr]int16](b, k*nr*4)
				for j := range s {
					s[j] += a0*int32(y[2*j]) + a1*int32(y[2*j+1])
				}
			}
			c := at[[nr]int32](p.c, r*p.ldc+f*nr*4)
			if p.add != 0 {
				for j := range s {
					s[j] += c[j]
				}
			}
			*c = s
		}
	}
}

// genericPairsRows and genericPairsCols are the tile of genericPairs.
const genericPairsRows, genericPairsCols = 4, 16
