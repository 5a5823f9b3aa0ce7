package sort

import "math"

// mergeMost is the number of words up to which merging beats counting digits.
const mergeMost = 256

// sortShort sorts up to mergeMost words below 1<<63. Nothing in it branches on the words: a wrongly predicted branch
// costs more than several steps of a merge. The result is in a or b, which have mergeMost elements.
func sortShort(a, b *[mergeMost]uint64, n int) []uint64 {
	size := 8
	for size < n {
		size *= 2
	}
	for i := n; i < size; i++ {
		a[i] = math.MaxInt64
	}
	for i := 0; i < size; i += 8 {
		sort8((*[8]uint64)(a[i:]))
	}
	from, to := a, b
	for run := 8; run < size; run *= 2 {
		for i := 0; i < size; i += 2 * run {
			mergeHalves(to[i:i+2*run], from[i:i+2*run])
		}
		from, to = to, from
	}
	return from[:n]
}

// sort8 is Batcher's odd-even merge network for eight words.
func sort8(q *[8]uint64) {
	a, b, c, d, e, f, g, h := q[0], q[1], q[2], q[3], q[4], q[5], q[6], q[7]
	a, b = min(a, b), max(a, b)
	c, d = min(c, d), max(c, d)
	e, f = min(e, f), max(e, f)
	g, h = min(g, h), max(g, h)
	a, c = min(a, c), max(a, c)
	b, d = min(b, d), max(b, d)
	e, g = min(e, g), max(e, g)
	f, h = min(f, h), max(f, h)
	b, c = min(b, c), max(b, c)
	f, g = min(f, g), max(f, g)
	a, e = min(a, e), max(a, e)
	b, f = min(b, f), max(b, f)
	c, g = min(c, g), max(c, g)
	d, h = min(d, h), max(d, h)
	c, e = min(c, e), max(c, e)
	d, f = min(d, f), max(d, f)
	b, c = min(b, c), max(b, c)
	d, e = min(d, e), max(d, e)
	f, g = min(f, g), max(f, g)
	q[0], q[1], q[2], q[3], q[4], q[5], q[6], q[7] = a, b, c, d, e, f, g, h
}

// mergeHalves merges the sorted halves of src, from both ends at once: each end takes as many words as one half has,
// so that neither can run out of a half, and the processor works on two chains of dependent steps.
func mergeHalves(dst, src []uint64) {
	n := len(src) / 2
	dst = dst[:2*n]
	i, j, k, l := 0, n, n-1, 2*n-1
	for t := range n {
		x, y := src[i], src[j]
		first := int64(x-y) >> 63 // -1 where x < y
		dst[t] = y ^ (x^y)&uint64(first)
		i -= int(first)
		j += 1 + int(first)
		x, y = src[k], src[l]
		first = int64(x-y) >> 63
		dst[2*n-1-t] = x ^ (x^y)&uint64(first)
		l += int(first)
		k -= 1 + int(first)
	}
}
