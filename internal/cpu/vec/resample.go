package vec

// This file resamples images of bytes as Pillow does: sums of bytes by weights of 32 bits with ResampleBits fraction
// bits, rounded, halves up, and clamped.

// ResampleBits is the number of fraction bits of weights.
const ResampleBits = 32 - 8 - 2

const resampleHalf = 1 << (ResampleBits - 1)

// resampled rounds a sum, to which resampleHalf was added, to a byte.
func resampled(sum int32) uint8 { return uint8(min(max(sum>>ResampleBits, 0), 255)) }

// ResampleRowsU8 sets dst to a sum of rows: row k of src, of which one begins every stride elements, times weights[k].
func ResampleRowsU8(dst, src []uint8, stride int, weights []int32) {
	if len(weights) == 0 {
		clear(dst)
		return
	}
	_ = src[(len(weights)-1)*stride:][:len(dst)]
	done := 0
	for full := len(dst) &^ 31; done < full && hasResample(); {
		n := min(full-done, chunk)
		resampleRows(&dst[done], &src[done], stride, &weights[0], len(weights), n)
		done += n
		yield(done, len(dst))
	}
	for x := done; x < len(dst); x++ {
		sum := int32(resampleHalf)
		for k, w := range weights {
			sum += int32(src[k*stride+x]) * w
		}
		dst[x] = resampled(sum)
	}
}

// Taps are the weights with which ResampleAcrossU8 makes the pixels of a row of those of another: pixel x is the sum of
// the pixels from First[x] on, of which there are Count[x], times the weights from N·x on. N is even and at least the
// largest count; weights beyond the count are 0.
type Taps struct {
	N            int
	First, Count []int32
	Weights      []int32
	wide         []int32 // each weight four times
}

// Widen prepares weights that are final for the assembly.
func (t *Taps) Widen() {
	t.wide = make([]int32, 4*len(t.Weights))
	for i, w := range t.Weights {
		o := t.wide[4*i:][:4]
		o[0], o[1], o[2], o[3] = w, w, w, w
	}
}

// ResampleAcrossU8 makes a row of pixels of some bands, beside each other, at the beginning of dst of the row at the
// beginning of src. What lies behind the rows may be read, and in dst overwritten: several rows are made from the first
// to the last.
func ResampleAcrossU8(dst, src []uint8, bands int, t *Taps) {
	done, m := 0, len(t.First)
	if (bands == 3 || bands == 4) && t.wide != nil && hasResample() {
		// the assembly reads 8 bytes for two pixels, and writes 4 bytes for one
		for m > 0 && (int(t.First[m-1])*bands+(t.N-2)*bands+8 > len(src) || (m-1)*bands+4 > len(dst)) {
			m--
		}
		if m > 0 {
			resampleAcross(&dst[0], &src[0], bands, &t.First[0], &t.wide[0], t.N/2, m)
		}
		done = m
	}
	for x := done; x < len(t.First); x++ {
		p, w := src[int(t.First[x])*bands:], t.Weights[x*t.N:][:t.Count[x]]
		for b := range bands {
			sum := int32(resampleHalf)
			for k, v := range w {
				sum += int32(p[k*bands+b]) * v
			}
			dst[x*bands+b] = resampled(sum)
		}
	}
}
