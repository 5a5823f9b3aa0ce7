package gemm

import "unsafe"

// packer says what an operand's elements are and what they become.
type packer uint8

const (
	packWords    packer = iota // 16 bits, in pairs
	packSigned                 // int8, widened to pairs of int16
	packUnsigned               // uint8, widened to pairs of int16
	packBytes                  // 8 bits, in fours
)

// lowOperand is a matrix to be packed: positions (rows of A, columns of B) by
// steps of k.
type lowOperand struct {
	p      unsafe.Pointer
	ps, ks int // bytes from position to position and from step to step
	n, k   int
	pack   packer
}

// lowOperandOf is the operand of n positions by k steps in a slice, with strides
// in elements.
func lowOperandOf[N any](s []N, ps, ks, n, k int, pack packer) lowOperand {
	p := unsafe.SliceData(s)
	es := int(unsafe.Sizeof(*p))
	return lowOperand{unsafe.Pointer(p), ps * es, ks * es, n, k, pack}
}

// size is the bytes of an element in memory, packed those after packing.
func (p packer) size() int {
	if p == packWords {
		return 2
	}
	return 1
}

func (p packer) packed() int {
	if p == packBytes {
		return 1
	}
	return 2
}

// lowPiece is the steps of k, in groups, that go through scratch at a time.
const lowPiece = 64

// packPanel packs the positions [j,j+count) and the groups [q,q+steps) of o:
//
//	dst[s*width + r] = the group of four bytes of position j+r, k from (q+s)*group
//
// What lies beyond o is packed as zeros, up to the width; up to whole vectors
// more positions than count may be packed, which nobody reads. steps is a
// multiple of 4.
func (o *lowOperand) packPanel(l *lowKernel, dst unsafe.Pointer, width, j, count, q, steps int) {
	group := 4 / o.pack.packed()
	es := o.pack.size()
	lane := lanes[float32](l.path)
	for s := 0; s < steps; s += lowPiece {
		n := min(lowPiece, steps-s)
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
			o.packPlain(d, width, src, count, k1-k0, n)
		case o.ks == es:
			o.packAlong(l.path, d, width, src, count, o.n-j, k1-k0, n)
		case whole && j+roundUp(width, acrossWidth(o.pack)) <= o.n:
			o.packAcross(d, src, o.ks, width, n)
		default:
			// A few rows through scratch that is full.
			var rows [lowPiece * 32 * 2]uint16
			tmp := unsafe.Pointer(&rows)
			stride := roundUp(width, acrossWidth(o.pack)) * es
			have := min(width, o.n-j)
			for i := range max(k1-k0, 0) {
				copy(unsafe.Slice((*byte)(unsafe.Add(tmp, i*stride)), have*es), unsafe.Slice((*byte)(unsafe.Add(src, i*o.ks)), have*es))
			}
			o.packAcross(d, tmp, stride, width, n)
		}
	}
}

// packAcross packs n groups of positions that are adjacent in memory, where
// there are as many as across takes. In a narrow panel each group overwrites
// what was too much of the one before.
func (o *lowOperand) packAcross(dst, src unsafe.Pointer, stride, width, n int) {
	wide := roundUp(width, acrossWidth(o.pack))
	if wide == width {
		across(o.pack, dst, src, width*4, stride, width, n)
		return
	}
	across(o.pack, dst, src, width*4, stride, wide, n-1)
	var last [32]uint32
	across(o.pack, unsafe.Pointer(&last), unsafe.Add(src, (n-1)*4/o.pack.packed()*stride), 0, stride, wide, 1)
	copy(unsafe.Slice(at[uint32](dst, (n-1)*width*4), width), last[:])
}

// packAlong packs n groups of count positions whose elements are adjacent along
// k: a transposition of groups. avail positions and have steps of k exist.
func (o *lowOperand) packAlong(pt path, dst unsafe.Pointer, width int, src unsafe.Pointer, count, avail, have, n int) {
	lane := lanes[float32](pt)
	row := n * 4 // bytes of a position in dst
	es := o.pack.size()
	for r := 0; r < width; r += lane {
		d := unsafe.Add(dst, r*4)
		if avail-r >= lane && have*o.pack.packed() == row && es == o.pack.packed() {
			transposeFast[float32](pt, d, unsafe.Add(src, r*o.ps), width*4, o.ps, n)
			continue
		}
		var rows [16 * lowPiece]uint32
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
func widenRow(p packer, dst, src unsafe.Pointer, n int) {
	i := n &^ 15
	if i > 0 {
		widenFast(p, dst, src, i)
	}
	for ; i < n; i++ {
		*at[int16](dst, 2*i) = widenByte(p, *at[uint8](src, i))
	}
}

func widenByte(p packer, x uint8) int16 {
	if p == packSigned {
		return int16(int8(x))
	}
	return int16(x)
}

// packPlain is packPanel for any strides, element by element: have steps of k
// of count positions in n groups.
func (o *lowOperand) packPlain(dst unsafe.Pointer, width int, src unsafe.Pointer, count, have, n int) {
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

// plainPairs returns the portable kernel.
func plainPairs(pack packer) lowKernel {
	return lowKernel{path: pathGeneric, mr: lowPairsRows, aw: lowPairsRows, nr: lowPairsCols, pack: pack, run: lowPairs}
}

// lowPairs is the portable kernel, for pairs of int16.
func lowPairs(p *lowArgs) {
	const mr, nr = lowPairsRows, lowPairsCols
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

// The tile of lowPairs.
const lowPairsRows, lowPairsCols = 4, 16
