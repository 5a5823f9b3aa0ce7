package conv

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/cpu/gemm"
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
)

// This file computes convolutions of bfloat16 where the processor multiplies bfloat16 itself (AVX-512 BF16,
// instruction VDPBF16PS). The job of such a convolution is a float32 job whose elements are pairs of
// bfloat16: plan, bands, tasks and the order of the weights are the same, and so are the kernels but for one
// instruction, which adds both products of a pair to a float32.
//
// A pair consists of two channels of a position or, for the gradient of the weights, of the same element of
// two images; what is missing to a pair is zero.
//
//	channels     c0 c1 c2 c3 c4          channels last, 5 channels
//	pairs        (c0,c1) (c2,c3) (c4,0)
//
// Channels-last images with an even number of channels consist of such pairs and are read in place. Of other
// images each task makes the pairs that go into its band. Nothing is converted to float32 as a whole.
//
// The products are exact and the sums float32, rounded once at the end. Subnormal numbers count as zero, both
// elements and sums, as in matrix products: see [gemm.GEMMHalf]. PyTorch's oneDNN uses the same instruction.

// BFloats is a dense tensor of bfloat16, given by its bits: images or weights, in the layouts of [Image] and
// [Weights].
type BFloats struct {
	Data []uint16
	Last bool
}

// FitsBF16 reports whether there are kernels for the convolution in bfloat16. There are none for depthwise
// convolutions and for small or odd groups.
func (s *Shape) FitsBF16() bool {
	cg, og := s.Cin/max(s.Groups, 1), s.Cout/max(s.Groups, 1)
	return cpu.HasBF16 && (s.Groups == 1 || cg%2 == 0 && og%2 == 0 && (cg != og || cg > lanes[float32](pathBF16)/2))
}

// ForwardBF16 is [Forward] in bfloat16, for shapes that fit (see FitsBF16). Bias and epilogue are float32.
// The residual is a separate argument, nil for none.
func ForwardBF16(s *Shape, out, in, w BFloats, ep *Epilogue[float32], residual []uint16) {
	var tail *Tail[float32]
	if ep != nil {
		tail = ep.Tail
	}
	s = tail.covered(s, Image[float32]{Last: out.Last})
	s.check("ForwardBF16", len(out.Data)*tail.size(), len(in.Data), len(w.Data))
	if len(out.Data) == 0 {
		return
	}
	cg, taps := s.Cin/s.Groups, s.Taps()
	if s.pointwiseBF16(out, in, s.Cout, s.Cin, residual) {
		if e, ok := productEpilogue(ep, s.Groups); ok {
			productBF16(s, out.Data, in.Data, s.Cout/s.Groups, cg, w.Data, cg, 1, e)
			return
		}
	}
	p := *s
	p.Cin = ceilDiv(cg, 2) * s.Groups
	src := packSource[float32]{origin: unsafe.Pointer(&w.Data[0]),
		fill: func() ([]float32, func()) { return w.channelPairs(s) }}
	src.col, src.row, src.tap = Weights[float32]{Last: w.Last}.strides(ceilDiv(cg, 2), taps)
	src.groups = src.col * (s.Cout / s.Groups)
	key := planKey{s: *s, pt: pathBF16, inLast: in.Last, outLast: out.Last, w: src.origin, wLast: w.Last,
		residual: residual != nil}
	if tail != nil {
		key.window = tail.Window
	}
	var j *job[float32]
	if ep != nil && ep.Packed != nil {
		if kept := planned[job[float32]](ep.Packed, &key); kept != nil {
			c := *kept
			j = &c
			j.setEpilogue(ep)
		}
	}
	again := j != nil
	if !again {
		j = forwardJob(&p, Image[float32]{}, Image[float32]{}, ep)
		j.key = &key
	}
	j.useBF16(out, in, s.N, s.Cin, s.Cout, volume(s.In), volume(s.Out), residual)
	if again {
		j.runTasks()
		return
	}
	j.run(src)
}

// BackwardDataBF16 is [BackwardData] in bfloat16, for shapes that fit.
func BackwardDataBF16(s *Shape, gin, gout, w BFloats, ep *Epilogue[float32], residual []uint16) {
	s.check("BackwardDataBF16", len(gout.Data), len(gin.Data), len(w.Data))
	if len(gin.Data) == 0 {
		return
	}
	cg, og := s.Cin/s.Groups, s.Cout/s.Groups
	if s.pointwiseBF16(gin, gout, s.Cin, s.Cout, residual) {
		if e, ok := productEpilogue(ep, s.Groups); ok {
			productBF16(s, gin.Data, gout.Data, cg, og, w.Data, 1, cg, e)
			return
		}
	}
	p := *s
	p.Cout = ceilDiv(og, 2) * s.Groups
	src := packSource[float32]{origin: unsafe.Pointer(unsafe.SliceData(w.Data)),
		fill: func() ([]float32, func()) { return w.outputPairs(s) }}
	src.row, src.col, src.tap = Weights[float32]{Last: w.Last}.strides(cg, s.Taps())
	src.groups = src.row * ceilDiv(og, 2)
	j := backwardJob(&p, Image[float32]{}, Image[float32]{}, ep)
	j.useBF16(gin, gout, s.N, s.Cout, s.Cin, volume(s.Out), volume(s.In), residual)
	j.run(src)
}

// BackwardWeightBF16 is [BackwardWeight] in bfloat16, for shapes that fit. The gradient stays in float32: the
// caller rounds it. A single image has no partner to make pairs with: then half of each pair is zero.
func BackwardWeightBF16(s *Shape, gw Weights[float32], gout, in BFloats) {
	s.check("BackwardWeightBF16", len(gout.Data), len(in.Data), len(gw.Data))
	switch {
	case len(gw.Data) == 0:
		return
	case len(gout.Data) == 0 || len(in.Data) == 0:
		clear(gw.Data)
		return
	}
	p := *s
	p.N = ceilDiv(s.N, 2)
	g := &gradJob[float32]{job: forwardJob(&p, Image[float32]{Last: gout.Last}, Image[float32]{}, nil)}
	g.pt, g.in.Last = pathBF16, in.Last
	g.bf16In = &bf16Images{BFloats: in, n: s.N, channels: s.Cin, size: volume(s.In), images: true}
	g.bf16Out = &bf16Images{BFloats: gout, n: s.N, channels: s.Cout, size: volume(s.Out), images: true}
	g.compute(gw, nil)
}

// BackwardBiasBF16 is [BackwardBias] of a gradient in bfloat16.
func BackwardBiasBF16(gb []float32, gout BFloats, n, channels int) {
	biasSums(gb, gout.Last, len(gout.Data), n, channels, 1<<13, func(buf []float32, at, count int) []float32 {
		vec.BF16ToF32s(buf[:count], gout.Data[at:])
		return buf[:count]
	})
}

// roundRows rounds count rows of cols elements, pitch apart in source and destination, and stores them from
// index at on.
func (h *bf16Images) roundRows(at int, src []float32, pitch, count, cols int) {
	if cols == pitch {
		count, cols = 1, count*cols
	}
	for i := range count {
		vec.F32ToBF16s(h.Data[at+i*pitch:][:cols], src[i*pitch:][:cols])
	}
}

// roundBF16 rounds numbers to bfloat16 in place, so that elements that are equal after rounding count as
// equal when a maximum is looked for.
func roundBF16(x []float32) {
	var half [bf16Run]uint16
	for len(x) > 0 {
		n := min(len(x), len(half))
		vec.F32ToBF16s(half[:n], x[:n])
		vec.BF16ToF32s(x[:n], half[:n])
		x = x[n:]
	}
}

// pointwiseBF16 is pointwise in bfloat16.
func (s *Shape) pointwiseBF16(out, in BFloats, cout, cin int, residual []uint16) bool {
	return residual == nil && pointwise(s, Image[float32]{Last: out.Last}, Image[float32]{Last: in.Last}, cout, cin)
}

// productBF16 is product in bfloat16.
func productBF16(s *Shape, out, in []uint16, rows, cols int, w []uint16, rs, cs int, ep *gemm.Epilogue[float32]) {
	size := volume(s.In)
	gemm.GEMMHalf(gemm.BFloat16, productBatch(s, rows, cols), rows, size, cols, 1, w, rs, cs, in, size, 1, 0, out, size,
		1, ep)
}

// useBF16 makes bfloat16 images the images of a job.
func (j *job[T]) useBF16(out, in BFloats, n, cin, cout, inSize, outSize int, residual []uint16) {
	j.pt = pathBF16
	j.in.Last, j.out.Last = in.Last || cin == 1, out.Last
	if in.Last && cin%2 == 0 {
		j.in.Data = pairsIn[T](in.Data)
	} else {
		j.bf16In = &bf16Images{BFloats: BFloats{in.Data, j.in.Last}, n: n, channels: cin, size: inSize}
	}
	j.bf16Out = &bf16Images{BFloats: out, n: n, channels: cout, size: outSize}
	j.out.Data = pairsIn[T](out.Data)
	j.bf16Residual = residual
}

// pairsIn is the pairs that adjacent elements make.
func pairsIn[T Float](d []uint16) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(d))), len(d)/2)
}

// channelPairs returns the weights with the input channels of each group in pairs, and a function that frees
// them.
func (w BFloats) channelPairs(s *Shape) ([]float32, func()) {
	cg, taps := s.Cin/s.Groups, s.Taps()
	inner, outer := taps, s.Cout // elements per channel that are adjacent, and the number of runs of channels
	if w.Last {
		inner, outer = 1, s.Cout*taps
	}
	if inner == 1 && cg%2 == 0 {
		return pairsIn[float32](w.Data), func() {}
	}
	half := ceilDiv(cg, 2)
	d, free := allocPairs(outer * half * inner)
	par.For(outer, max(1, 1<<14/(half*inner)), func(lo, hi int) {
		switch {
		case inner == 1:
			copyRowsPadded(unsafe.Pointer(&d[lo*half]), half, &w.Data[lo*cg], cg, hi-lo, cg)
		case cg%2 == 0: // the pairs of successive runs follow one another at equal distances
			interleavePairs(unsafe.Pointer(&d[lo*half*inner]), inner, w.Data, lo*cg*inner, inner, 2*inner, (hi-lo)*half,
				inner)
		default:
			for o := lo; o < hi; o++ {
				to, from := unsafe.Pointer(&d[o*half*inner]), o*cg*inner
				interleavePairs(to, inner, w.Data, from, inner, 2*inner, half-1, inner)
				interleavePairs(unsafe.Add(to, (half-1)*inner*4), inner, w.Data, from+(cg-1)*inner, 0, 0, 1, inner)
			}
		}
	})
	return d, free
}

// outputPairs returns the weights with the output channels of each group in pairs, and a function that frees
// them.
func (w BFloats) outputPairs(s *Shape) ([]float32, func()) {
	n := s.Cin / s.Groups * s.Taps()
	d, free := allocPairs(ceilDiv(s.Cout, 2) * n) // with several groups, all are even
	par.For(ceilDiv(s.Cout, 2), max(1, 1<<14/max(n, 1)), func(lo, hi int) {
		for o := lo; o < hi; o++ {
			second := n
			if 2*o+1 == s.Cout {
				second = 0
			}
			interleavePairs(unsafe.Pointer(&d[o*n]), n, w.Data, 2*o*n, second, 0, 1, n)
		}
	})
	return d, free
}

// allocPairs returns memory for n pairs, and a function that frees it.
func allocPairs(n int) ([]float32, func()) {
	p := mem.Alloc(n * 4)
	return unsafe.Slice((*float32)(p), n), func() { mem.Free(p, n*4) }
}

// bf16Images is a batch of bfloat16 images whose elements a job of pairs reads or writes one by one.
type bf16Images struct {
	BFloats
	n, channels, size int
	images            bool // pairs are made of two images rather than of two channels
}

// at is where the first half of a pair lies, and the distance to its second half, 0 if there is none.
func (h *bf16Images) at(n, c, pos int) (first, second int) {
	if h.images {
		n *= 2
	} else {
		c *= 2
	}
	pitch := [2]int{h.size, 1} // between channels and positions
	if h.Last {
		pitch = [2]int{1, h.channels}
	}
	first = n*h.channels*h.size + c*pitch[0] + pos*pitch[1]
	switch {
	case h.images && n+1 < h.n:
		second = h.channels * h.size
	case !h.images && c+1 < h.channels:
		second = pitch[0]
	}
	return first, second
}

// bf16Run is the number of positions of planes for which pairs are made at a time.
const bf16Run = 256

// loadPlanar moves kc pairs, from pair c on, of count positions of planes to dst. off gives the byte offsets
// of the positions.
func (h *bf16Images) loadPlanar(dst unsafe.Pointer, off []int, n, c, pos, kc, count int) {
	var buf [16 * bf16Run]float32
	pitch := h.size
	if !h.images {
		pitch *= 2
	}
	for ; kc > 0; c, kc, dst = c+16, kc-16, unsafe.Add(dst, 64) {
		rows := min(16, kc)
		whole := rows // rows of pairs with a second half
		if _, second := h.at(n, c+rows-1, pos); second == 0 {
			whole--
			if h.images {
				whole = 0
			}
		}
		for p := 0; p < count; p += bf16Run {
			cols := min(bf16Run, count-p)
			first, second := h.at(n, c, pos+p)
			interleavePairs(unsafe.Pointer(&buf), bf16Run, h.Data, first, second, pitch, whole, cols)
			// Where no rows are left, the address only has to lie inside the buffer.
			interleavePairs(unsafe.Pointer(&buf[whole*bf16Run%len(buf)]), bf16Run, h.Data, first+whole*pitch, 0, pitch,
				rows-whole, cols)
			scatter16(dst, off[p:p+cols], unsafe.Pointer(&buf), bf16Run*4, rows, cols)
		}
	}
}

// loadLine moves kc pairs, from pair c on, of count positions, channels last and step apart, to places pix
// pairs apart.
func (h *bf16Images) loadLine(dst unsafe.Pointer, pix, n, c, pos, step, kc, count int) {
	first, second := h.at(n, c, pos)
	ld := step * h.channels
	switch {
	case h.images && kc == ld && kc == pix:
		interleavePairs(dst, 0, h.Data, first, second, 0, 1, kc*count)
	case h.images:
		interleavePairs(dst, pix, h.Data, first, second, ld, count, kc)
	case h.channels == 1 && step == 1 && pix == 1:
		interleavePairs(dst, 0, h.Data, first, 0, 0, 1, count)
	default:
		copyRowsPadded(dst, pix, &h.Data[first], ld, count, min(2*kc, h.channels-2*c))
	}
}

// store rounds count positions of the given channels, from channel c on and pix apart in src, to where they
// belong in the image. Before rounding, a residual is added and the sum is clamped.
func (h *bf16Images) store(n, c, pos int, src []float32, pix, count, channels int, residual []uint16,
	clamp func([]float32)) {
	finish := func(d, at int, s []float32) {
		if residual != nil {
			var line [bf16Run]float32
			for s, r := s, residual[at:]; len(s) > 0; {
				part := line[:min(bf16Run, len(s))]
				vec.BF16ToF32s(part, r[:len(part)])
				addTo(s[:len(part)], part)
				s, r = s[len(part):], r[len(part):]
			}
			clamp(s)
		}
		vec.F32ToBF16s(h.Data[at:][:d], s)
	}
	if h.Last {
		for i := range count {
			finish(channels, (n*h.size+pos+i)*h.channels+c, src[i*pix:][:channels])
		}
		return
	}
	var buf [16 * bf16Run]float32
	for k := 0; k < channels; k += 16 {
		rows := min(16, channels-k)
		for p := 0; p < count; p += bf16Run {
			cols := min(bf16Run, count-p)
			for i := 0; i < cols; i += 16 {
				scatter16(unsafe.Pointer(&buf[i]), bf16RowOffsets[:rows], unsafe.Pointer(&src[(p+i)*pix+k]), pix*4,
					min(16, cols-i), rows)
			}
			for r := range rows {
				finish(cols, (n*h.channels+c+k+r)*h.size+pos+p, buf[r*bf16Run:][:cols])
			}
		}
	}
}

// bf16RowOffsets are the byte offsets of the rows of the buffer in store.
var bf16RowOffsets = multiples(16, bf16Run*4)

// interleavePairs sets dst[i*ldd + j] to the pair of d[first + i*lds + j] and the element second behind it,
// or zero if second is 0, for i < rows and j < cols.
func interleavePairs(dst unsafe.Pointer, ldd int, d []uint16, first, second, lds, rows, cols int) {
	if rows == 0 || cols == 0 {
		return
	}
	_ = d[first+second+(rows-1)*lds+cols-1]
	a, b := unsafe.Pointer(&d[first]), unsafe.Pointer(nil)
	if second != 0 {
		b = unsafe.Pointer(&d[first+second])
	}
	// A call of assembly cannot be interrupted, so it must end soon.
	most := max(1, bf16CallPairs/max(cols, 1))
	for i := 0; i < rows; i += most {
		for j := 0; j < cols; j += bf16CallPairs {
			interleavePairsOnce(unsafe.Add(dst, (i*ldd+j)*4), ldd*4, unsafe.Add(a, (i*lds+j)*2),
				addUnlessNil(b, (i*lds+j)*2), lds*2, min(most, rows-i), min(bf16CallPairs, cols-j))
		}
	}
}

// bf16CallPairs is the most pairs that one call makes.
const bf16CallPairs = 1 << 16

func addUnlessNil(p unsafe.Pointer, n int) unsafe.Pointer {
	if p == nil {
		return nil
	}
	return unsafe.Add(p, n)
}

// copyRowsPadded copies rows of words 16-bit elements to places ldd pairs apart, with a zero behind an odd
// number of them; lds counts 16-bit elements.
func copyRowsPadded(dst unsafe.Pointer, ldd int, src *uint16, lds, rows, words int) {
	most := max(1, bf16CallPairs/max(words, 1))
	for i := 0; i < rows; i += most {
		copyRowsPaddedOnce(unsafe.Add(dst, i*ldd*4), ldd*4, unsafe.Add(unsafe.Pointer(src), i*lds*2), lds*2,
			min(most, rows-i), words)
	}
}
