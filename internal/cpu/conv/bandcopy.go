package conv

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
)

// load fills the band with the channels [k0, k0+kc) of the part of the input that block b needs, with zeros
// around the image.
func (j *job[T]) load(b *block, band []T, k0, kc int) {
	_, width := j.bandSize()
	cx := (b.hi[2]-b.lo[2]-1)*j.step[2] + j.ext[2] + 1 // positions of a line in use, and lines
	cy := (b.hi[1]-b.lo[1]-1)*j.step[1] + j.ext[1] + 1
	x0 := b.lo[2]*j.istep[2] + j.dmin[2]
	// The positions [xa,xb) of a line of the band lie in the image, the others are padding.
	xa := 0
	if x0 < 0 {
		xa = min(cx, ceilDiv(-x0, j.skip[2]))
	}
	xb := max(xa, min(cx, ceilDiv(j.inD[2]-x0, j.skip[2])))
	// The lines [ya,yb) of the band lie in the image.
	y0 := b.lo[1]*j.istep[1] + j.dmin[1]
	ya := 0
	if y0 < 0 {
		ya = min(cy, ceilDiv(-y0, j.skip[1]))
	}
	yb := max(ya, min(cy, ceilDiv(j.inD[1]-y0, j.skip[1])))
	if xa == xb {
		yb = ya
	}
	for n := b.n0; n < b.n1; n++ {
		for z := range j.ext[0] + 1 {
			iz := b.lo[0]*j.istep[0] + j.dmin[0] + z*j.skip[0]
			slice := band[(n-b.n0)*j.img+z*j.slice:][:j.slice]
			if iz < 0 || iz >= j.inD[0] {
				clear(slice[:cy*j.line])
				continue
			}
			clear(slice[:ya*j.line])
			clear(slice[yb*j.line : cy*j.line])
			for y := ya; y < yb; y++ {
				line := slice[y*j.line:][:width*j.pix]
				clear(line[:xa*j.pix])
				clear(line[xb*j.pix : cx*j.pix])
			}
			at := func(y int) int { return (iz*j.inD[1]+y0+y*j.skip[1])*j.inD[2] + x0 + xa*j.skip[2] }
			switch {
			case ya == yb:
			case j.posOff == nil:
				for y := ya; y < yb; y++ {
					j.loadLine(slice[y*j.line+xa*j.pix:y*j.line+xb*j.pix], n, b.group*j.ci+k0, at(y), kc, xb-xa)
				}
			case j.skip[1] == 1 && xb-xa == j.inD[2]: // the lines follow one another
				j.loadPlanar(slice[ya*j.line+xa*j.pix:], n, b.group*j.ci+k0, at(ya), kc, (yb-ya)*(xb-xa))
			default:
				for y := ya; y < yb; y++ {
					j.loadPlanar(slice[y*j.line+xa*j.pix:], n, b.group*j.ci+k0, at(y), kc, xb-xa)
				}
			}
		}
	}
}

// loadPlanar transposes count positions of kc channels into the places that posOff gives.
func (j *job[T]) loadPlanar(dst []T, n, c, pos, kc, count int) {
	if j.bf16In != nil {
		j.bf16In.loadPlanar(unsafe.Pointer(&dst[0]), j.posOff[:count], n, c, pos, kc, count)
		return
	}
	size := volume(j.inD)
	scatter(dst, j.posOff[:count], j.in.Data[(n*j.ci*j.groups+c)*size+pos:], size, kc, count)
}

// transposeInput returns the planar input as channels last, in memory that the caller frees.
func (j *job[T]) transposeInput(es int) []T {
	const most, channels = 1024, 64 // positions and channels of a block that is transposed at a time
	images, size, c := j.transposedIn[0], j.transposedIn[1], j.ci*j.groups
	data := unsafe.Slice((*T)(mem.Alloc(images*size*c*es)), images*size*c)
	off := multiples(min(size, most), c*es)
	blocks, parts := ceilDiv(c, channels), ceilDiv(size, most)
	par.For(images*blocks*parts, ceilDiv(1<<15, min(size, most)*channels), func(lo, hi int) {
		for t := lo; t < hi; t++ {
			n, at, c0 := t/parts/blocks, t%parts*most, t/parts%blocks*channels
			count := min(most, size-at)
			scatter(data[(n*size+at)*c+c0:], off[:count], j.in.Data[(n*c+c0)*size+at:], size, min(channels, c-c0),
				count)
		}
	})
	return data
}

// loadLine copies kc channels, from channel c on, of count positions of image n, the first of them pos.
func (j *job[T]) loadLine(dst []T, n, c, pos, kc, count int) {
	if j.bf16In != nil {
		j.bf16In.loadLine(unsafe.Pointer(&dst[0]), j.pix, n, c, pos, j.skip[2], kc, count)
		return
	}
	size := volume(j.inD)
	cin := j.ci * j.groups
	if j.in.Last {
		if j.inTail != nil {
			j.inTail.unpool(dst, j.pix, j.in.Data, j.inD, cin, n, c, pos, j.skip[2], kc, count)
			return
		}
		src := j.in.Data[(n*size+pos)*cin+c:]
		step := cin * j.skip[2]
		if kc == step && kc == j.pix {
			copy(dst, src[:count*kc])
			return
		}
		copyRows(dst, j.pix, src, step, kc, count)
		return
	}
	// Planar: skip is 1 along the line.
	src := j.in.Data[(n*cin+c)*size+pos:]
	transpose(dst, j.pix, src, size, kc, count)
}

// store moves the results in a task's buffer to the planar image, and adds the residual and clamps, where the
// kernels did not.
func (j *job[T]) store(b *block, t *resultBuffer) {
	size := volume(j.outD)
	buf := unsafe.Slice((*T)(t.p), t.img*(b.n1-b.n0))
	for n := b.n0; n < b.n1; n++ {
		for z := range t.img / t.slice {
			pos := (t.at[0]+z)*j.outD[1]*j.outD[2] + t.at[1]*j.outD[2] + t.at[2]
			src := buf[(n-b.n0)*t.img+z*t.slice:][:t.slice]
			lines, count := t.slice/t.line, t.line/t.pix
			if count == j.outD[2] { // whole lines follow one another
				lines, count = 1, lines*count
			}
			for y := range lines {
				if j.bf16Out != nil {
					src, _ := any(src[y*t.line:]).([]float32)
					j.bf16Out.store(n, b.group*j.co+b.c0, pos+y*j.outD[2], src, t.pix, count, b.c1-b.c0, j.bf16Residual,
						func(d []float32) { j.clampRow(any(d).([]T)) })
					continue
				}
				at := (n*j.groups+b.group)*j.co*size + b.c0*size + pos + y*j.outD[2]
				if j.chanOff != nil {
					j.storePlanar(j.out.Data[at:], src[y*t.line:], t.pix, count, b.c1-b.c0)
				} else {
					transpose(j.out.Data[at:], size, src[y*t.line:], t.pix, count, b.c1-b.c0)
				}
				if j.res != nil {
					res := unsafe.Slice((*T)(j.res), len(j.out.Data))
					for c := range b.c1 - b.c0 {
						j.addResidual(j.out.Data[at+c*size:][:count], res[at+c*size:])
					}
				}
			}
		}
	}
}

// storePlanar transposes count positions into the planes of the given channels, 16 planes at a time.
func (j *job[T]) storePlanar(dst, src []T, pix, count, channels int) {
	var z T
	size, es := volume(j.outD), int(unsafe.Sizeof(z))
	_, _ = dst[(channels-1)*size+count-1], src[(count-1)*pix+channels-1]
	past := j.storesNonTemporal() && uintptr(unsafe.Pointer(&dst[0]))%64 == 0
	for c := 0; c < channels; c += 16 {
		n := min(16, channels-c)
		for i := 0; i < count; i += 16 {
			scatterFar(unsafe.Pointer(&dst[c*size+i]), j.chanOff, unsafe.Pointer(&src[i*pix+c]), pix*es,
				min(16, count-i), n, past && count-i >= 16)
		}
	}
}

func (j *job[T]) addResidual(d, r []T) {
	addTo(d, r[:len(d)])
	j.clampRow(d)
}

// clampRow applies the epilogue's clamp.
func (j *job[T]) clampRow(d []T) {
	if !j.clamp {
		return
	}
	switch d := any(d).(type) {
	case []float32:
		vec.ClampF32(d, d, float32(j.lo), float32(j.hi))
	case []float64:
		vec.ClampF64(d, d, float64(j.lo), float64(j.hi))
	}
}
