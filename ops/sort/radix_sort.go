package sort

import (
	"math"
	"math/bits"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

// Elements are sorted by keys: unsigned integers whose order is that of the elements, NaN after everything, so that
// nothing below this point knows types, NaN or the direction.

// keysOf writes the key of every element, of the complement where the order is descending. -0 and 0 have one key, all
// NaNs another.
func keysOf[E ordered](dst []uint64, line []E, desc bool) {
	var flip uint64
	if desc {
		flip = math.MaxUint64
	}
	dst = dst[:len(line)]
	switch l := any(line).(type) {
	case []uint8:
		vec.SortKeysU8(dst, l, flip)
	case []int32:
		vec.SortKeysI32(dst, l, flip)
	case []int64:
		for i, v := range l {
			dst[i] = uint64(v) ^ 1<<63 ^ flip
		}
	case []float32:
		vec.SortKeysF32(dst, l, flip)
	case []float64:
		vec.SortKeysF64(dst, l, flip)
	}
}

// item is an element's key and where it was.
type item struct {
	k uint64
	i int32
}

// scratch is what one task needs for its lines, one after the other.
type scratch struct {
	keys, words, spare []uint64
	items, other       []item
	perm, at           []int32
	count              [8][256]int32
	bucket             []uint16
	wide               []int32 // counters of digits, for each block
	short              [2][mergeMost]uint64
}

// take gives a slice of n elements, the one it has where that is long enough.
func take[E any](s *[]E, n int) []E {
	if cap(*s) < n {
		*s = make([]E, n)
	}
	return (*s)[:n]
}

// Radix sorting by digits of eight bits, of eleven where a pass over their counters is cheap beside the keys.
const (
	wideBits = 11
	wideMask = 1<<wideBits - 1
	wideFrom = 4096    // keys
	shortRow = 48      // keys that are sorted by comparing
	shared   = 1 << 16 // keys that one task goes through; threads share longer lists
)

// blockOf is the size of the blocks that threads share a list of n keys by; their counters stay few.
func blockOf(n int) int { return max(shared, (n+15)/16) }

// keyWidth is the smallest key and the number of bits that the differences of keys to it take.
func keyWidth(keys []uint64) (least uint64, width int) {
	lo, hi := keyRange(keys)
	return lo, bits.Len64(hi - lo)
}

// keyRange is the smallest and the largest key.
func keyRange(keys []uint64) (lo, hi uint64) {
	lo, hi = keys[0], keys[0]
	if n := len(keys); n > shared {
		var ends [2][16]uint64
		block := blockOf(n)
		par.For(n, block, func(from, to int) {
			// a block at a time: no further sharing
			l, h := keys[from], keys[from]
			for _, k := range keys[from:to] {
				l, h = min(l, k), max(h, k)
			}
			ends[0][from/block], ends[1][from/block] = l, h
		})
		for i := range (n + block - 1) / block {
			lo, hi = min(lo, ends[0][i]), max(hi, ends[1][i])
		}
		return lo, hi
	}
	lo2, hi2 := lo, hi // two chains of dependent steps
	half := len(keys) / 2
	second := keys[half:]
	for i, k := range keys[:half] {
		lo, hi = min(lo, k), max(hi, k)
		lo2, hi2 = min(lo2, second[i]), max(hi2, second[i])
	}
	lo, hi = min(lo, keys[len(keys)-1]), max(hi, keys[len(keys)-1])
	return min(lo, lo2), max(hi, hi2)
}

// keysFor is the keys of a line.
func keysFor[E ordered](line []E, desc bool, s *scratch) []uint64 {
	keys := padded(&s.keys, len(line))
	if len(line) <= shared {
		keysOf(keys, line, desc)
	} else {
		par.For(len(line), shared, func(lo, hi int) { keysOf(keys[lo:hi], line[lo:hi], desc) })
	}
	return keys
}

// histogram counts, for each block of keys, how often each digit occurs: the lowest bits of (key-least)>>shift.
func (s *scratch) histogram(keys []uint64, least uint64, shift, bits int) (count []int32, block int) {
	n := len(keys)
	block = blockOf(n)
	count = take(&s.wide, (n+block-1)/block<<bits)
	mask := uint64(1)<<bits - 1
	par.For(n, block, func(lo, hi int) {
		c := count[lo/block<<bits:][:1<<bits]
		clear(c)
		for _, k := range keys[lo:hi] {
			c[(k-least)>>shift&mask]++
		}
	})
	return count, block
}

// order returns the stable order of a line's elements, which is valid until the scratch is used again.
func order[E ordered](line []E, desc bool, s *scratch) []int32 {
	if l, ok := any(line).([]uint8); ok && len(l) > rankSortMost {
		return s.orderBytes(l, desc)
	}
	return orderKeys(s, line, keysFor(line, desc, s), desc)
}

// rankSort is order for few keys, by enumeration: each key is compared with all before it, and counting the smaller
// ones gives its rank. Nothing branches on the comparisons. It reports whether all keys are different.
func rankSort(perm []int32, keys []uint64) (distinct bool) {
	var rank [rankSortMost]int32
	distinct = true
	for i, k := range keys {
		r := int32(i)
		for j, other := range keys[:i] {
			var before int32
			if k < other {
				before = 1
			}
			rank[j&(rankSortMost-1)] += before
			r -= before
			distinct = distinct && k != other
		}
		rank[i] = r
	}
	for i, r := range rank[:len(keys)] {
		perm[r] = int32(i)
	}
	return distinct
}

// orderBytes is order for bytes, which are digits themselves.
func (s *scratch) orderBytes(line []uint8, desc bool) []int32 {
	var flip uint8
	if desc {
		flip = math.MaxUint8
	}
	perm, count := take(&s.perm, len(line)), &s.count[0]
	clear(count[:])
	for _, v := range line {
		count[v^flip]++
	}
	prefixSums(count[:])
	for i, v := range line {
		d := v ^ flip
		perm[count[d]] = int32(i)
		count[d]++
	}
	return perm
}

// orderKeys is order for the keys of a line.
func orderKeys[E ordered](s *scratch, line []E, keys []uint64, desc bool) []int32 {
	n := len(keys)
	perm := take(&s.perm, n)
	if n <= rankSortMost {
		rankSort(perm, keys)
		return perm
	}
	least, most := keyRange(keys)
	width := bits.Len64(most - least)
	if width <= 8 && 1<<width <= 4*n && n <= shared { // few keys: those of each are counted
		count := s.count[0][:1<<width]
		clear(count)
		for _, k := range keys {
			count[k-least]++
		}
		prefixSums(count)
		for i, k := range keys {
			at := &count[k-least]
			perm[*at] = int32(i)
			*at++
		}
		return perm
	}
	// Words hold the 32 leading bits of a key and its position. Few keys have more bits than that and differ in the
	// others alone.
	below := max(0, width-32)
	var words []uint64
	if n >= bucketFrom && n <= bucketMost {
		words = bucketed(s, line, keys, least, most, below, desc)
	}
	if words == nil {
		words = take(&s.words, n)
		s.pack(words, keys, least, below)
		words = s.sortPacked(words, min(width, 32))
	}
	for i, k := range words {
		perm[i] = int32(k & (1<<31 - 1))
	}
	if below > 0 {
		for i := 0; i < n; {
			j := i + 1
			for j < n && words[j]>>31 == words[i]>>31 {
				j++
			}
			if j > i+1 {
				s.sortByKey(perm[i:j], keys, least, below)
			}
			i = j
		}
	}
	return perm
}

// pack sets words to the distances of keys to least, less their lowest bits, and their positions.
func (s *scratch) pack(words, keys []uint64, least uint64, below int) {
	if len(keys) > shared {
		par.For(len(keys), shared, func(lo, hi int) { packFrom(words[lo:hi], keys[lo:hi], lo, least, below) })
		return
	}
	packFrom(words, keys, 0, least, below)
}

func packFrom(words, keys []uint64, from int, least uint64, below int) {
	words = words[:len(keys)]
	for i, k := range keys {
		words[i] = packed(k-least, from+i, below)
	}
}

func packed(distance uint64, i, below int) uint64 { return distance>>(below&63)<<31 | uint64(i) }

// sortByKey sorts positions stably by their keys, whose lower bits alone differ.
func (s *scratch) sortByKey(perm []int32, keys []uint64, least uint64, below int) {
	if len(perm) > shortRow {
		q := take(&s.items, len(perm))
		for i, p := range perm {
			q[i] = item{(keys[p] - least) & (1<<below - 1), p}
		}
		for i, x := range s.sortItems(q, below) {
			perm[i] = x.i
		}
		return
	}
	for i := 1; i < len(perm); i++ {
		p := perm[i]
		j := i
		for ; j > 0 && keys[p] < keys[perm[j-1]]; j-- {
			perm[j] = perm[j-1]
		}
		perm[j] = p
	}
}

// sortPacked sorts words with the key in the bits from 31 on, of which width vary, and the position below. The result
// is keys or spare memory.
func (s *scratch) sortPacked(keys []uint64, width int) []uint64 {
	n := len(keys)
	if n <= mergeMost {
		copy(s.short[0][:], keys)
		return sortShort(&s.short[0], &s.short[1], n)
	}
	from, to := keys, take(&s.spare, n)
	if n >= wideFrom {
		for shift := 31; shift < 31+width; shift += wideBits {
			count, block := s.histogram(from, 0, shift, wideBits)
			if sameDigit(count, int(from[0]>>shift&wideMask), n) {
				continue // one digit for all
			}
			// where the keys of each block go: a digit of all blocks after the other
			at := int32(0)
			for d := range 1 << wideBits {
				for i := d; i < len(count); i += 1 << wideBits {
					m := count[i]
					count[i] = at
					at += m
				}
			}
			par.For(n, block, func(lo, hi int) {
				next := count[lo/block<<wideBits:][:1<<wideBits]
				for _, k := range from[lo:hi] {
					d := k >> shift & wideMask
					to[next[d]] = k
					next[d]++
				}
			})
			from, to = to, from
		}
		return from
	}
	passes := (width + 7) / 8
	for p := range passes {
		clear(s.count[p][:])
	}
	for _, k := range from {
		k >>= 31
		for p := range passes {
			s.count[p&7][uint8(k)]++
			k >>= 8
		}
	}
	for p := range passes {
		count := &s.count[p]
		shift := 31 + 8*p
		if int(count[uint8(from[0]>>shift)]) == n {
			continue
		}
		prefixSums(count[:])
		for _, k := range from {
			d := uint8(k >> shift)
			to[count[d]] = k
			count[d]++
		}
		from, to = to, from
	}
	return from
}

// sameDigit reports that all n keys have digit d: a pass over it would move nothing.
func sameDigit(count []int32, d, n int) bool {
	for ; d < len(count); d += 1 << wideBits {
		n -= int(count[d])
	}
	return n == 0
}

// sortItems is sortPacked for keys of any width.
func (s *scratch) sortItems(q []item, width int) []item {
	n := len(q)
	if n <= shortRow {
		for i := 1; i < n; i++ {
			x, j := q[i], i
			for ; j > 0 && x.k < q[j-1].k; j-- {
				q[j] = q[j-1]
			}
			q[j] = x
		}
		return q
	}
	from, to := q, take(&s.other, n)
	if n >= wideFrom {
		for shift := 0; shift < width; shift += wideBits {
			count := take(&s.wide, 1<<wideBits)
			clear(count)
			for i := range from {
				count[from[i].k>>shift&wideMask]++
			}
			if int(count[from[0].k>>shift&wideMask]) == n {
				continue
			}
			prefixSums(count)
			for _, x := range from {
				d := x.k >> shift & wideMask
				to[count[d]] = x
				count[d]++
			}
			from, to = to, from
		}
		return from
	}
	for shift := 0; shift < width; shift += 8 {
		count := &s.count[0]
		clear(count[:])
		for i := range from {
			count[uint8(from[i].k>>shift)]++
		}
		if int(count[uint8(from[0].k>>shift)]) == n {
			continue
		}
		prefixSums(count[:])
		for _, x := range from {
			d := uint8(x.k >> shift)
			to[count[d]] = x
			count[d]++
		}
		from, to = to, from
	}
	return from
}

// prefixSums turns the counts of digits into exclusive prefix sums, the places where the keys of each digit begin.
func prefixSums(count []int32) {
	at := int32(0)
	for i, n := range count {
		count[i] = at
		at += n
	}
}

// radixSelect is the key that stands at place k, from 0, in the sorted order, how many are smaller and how many equal
// it. It works by counting the leading digit and going on with the keys that share that of place k.
func (s *scratch) radixSelect(keys []uint64, k int) (key uint64, smaller, equal int) {
	to, other := &s.spare, &s.words
	for len(keys) > shared {
		least, width := keyWidth(keys)
		if width == 0 {
			return least, smaller, len(keys)
		}
		shift := max(0, width-wideBits)
		d, m, before := s.digitAt(keys, least, shift, k)
		k, smaller = k-before, smaller+before
		if shift == 0 { // a digit is a key
			return least + uint64(d), smaller, m
		}
		keys = s.narrow(take(to, m), keys, least, shift, d)
		to, other = other, to
	}
	own := false // the keys may be overwritten
	for n := len(keys); n > sampleFrom && !oneDigit(keys[:sampleFrom/4]); n = len(keys) {
		var below int
		keys, below = s.sampleSelect(take(to, n), keys, k)
		k, smaller, own = k-below, smaller+below, true
		to, other = other, to
		if len(keys) > n/2 {
			break
		}
	}
	if !own {
		keys = append(take(to, len(keys))[:0], keys...)
	}
	for len(keys) > shortRow {
		least, width := keyWidth(keys)
		if width == 0 {
			return least, smaller, len(keys)
		}
		digits, count := 8, s.count[0][:]
		if len(keys) >= wideFrom {
			digits, count = wideBits, take(&s.wide, 1<<wideBits)
		}
		shift := max(0, width-digits)
		clear(count)
		for _, x := range keys {
			count[(x-least)>>shift]++
		}
		d, before := 0, 0
		for before+int(count[d]) <= k {
			before += int(count[d])
			d++
		}
		if shift == 0 {
			return least + uint64(d), smaller + before, int(count[d])
		}
		m := 0
		for _, x := range keys { // no branch: whether a key shares the digit is as good as random
			keys[m] = x
			if int((x-least)>>shift) == d {
				m++
			}
		}
		keys, k, smaller = keys[:m], k-before, smaller+before
	}
	for { // parts by a key in the middle, without branches, as above
		x, y, z := keys[0], keys[len(keys)/2], keys[len(keys)-1]
		key = max(min(x, y), min(max(x, y), z))
		below, above := 0, 0
		for _, x := range keys {
			_, b := bits.Sub64(x, key, 0)
			_, a := bits.Sub64(key, x, 0)
			below += int(b)
			above += int(a)
		}
		equal = len(keys) - below - above
		m := 0
		switch {
		case k < below:
			for _, x := range keys {
				keys[m] = x
				_, b := bits.Sub64(x, key, 0)
				m += int(b)
			}
		case k < below+equal:
			return key, smaller + below, equal
		default:
			for _, x := range keys {
				keys[m] = x
				_, a := bits.Sub64(key, x, 0)
				m += int(a)
			}
			k, smaller = k-below-equal, smaller+below+equal
		}
		keys = keys[:m]
	}
}

// digitAt is the digit of the key at place k, the number of keys that share it, and that of those before them.
func (s *scratch) digitAt(keys []uint64, least uint64, shift, k int) (d, shared, before int) {
	count, _ := s.histogram(keys, least, shift, wideBits)
	for ; ; d++ {
		shared = 0
		for i := d; i < len(count); i += 1 << wideBits {
			shared += int(count[i])
		}
		if before+shared > k {
			return d, shared, before
		}
		before += shared
	}
}

// narrow copies to dst the keys that share a digit, which digitOf has counted.
func (s *scratch) narrow(dst, keys []uint64, least uint64, shift, d int) []uint64 {
	at, block := int32(0), blockOf(len(keys))
	count := s.wide[:(len(keys)+block-1)/block<<wideBits]
	for i := d; i < len(count); i += 1 << wideBits {
		at, count[i] = at+count[i], at
	}
	par.For(len(keys), block, func(lo, hi int) {
		p := count[lo/block<<wideBits|d]
		for _, x := range keys[lo:hi] {
			if int((x-least)>>shift) == d {
				dst[p] = x
				p++
			}
		}
	})
	return dst
}

// sampleFrom is the number of keys from which a sample narrows them faster than a digit.
const sampleFrom = 128

// oneDigit reports that a digit tells keys apart, as it then does many more like them.
func oneDigit(keys []uint64) bool {
	_, width := keyWidth(keys)
	return width <= 8
}

// sampleSelect narrows the keys to a few among which the key at place k is, as Floyd and Rivest's SELECT does (1975):
// it copies to dst the keys between two of a sorted sample, and gives how many keys are smaller than all of these.
func (s *scratch) sampleSelect(dst, keys []uint64, k int) (kept []uint64, below int) {
	const size = 32
	n := len(keys)
	for i := range size {
		s.short[0][i] = keys[(2*i+1)*n/(2*size)] >> 1
	}
	sample := sortShort(&s.short[0], &s.short[1], size)
	r := k * size / n
	margin := 2 + min(r, size-1-r)/5 // about twice the standard deviation of the place of a key
	lo, hi := uint64(0), uint64(math.MaxUint64)
	if r >= margin {
		lo = sample[r-margin] << 1
	}
	if r+margin < size {
		hi = sample[r+margin]<<1 | 1
	}
	kept, below = filterRange(dst, keys, lo, hi)
	switch {
	case k < below:
		return filterRange(dst, keys, 0, lo-1)
	case k >= below+len(kept):
		return filterRange(dst, keys, hi+1, math.MaxUint64)
	}
	return kept, below
}

// filterRange copies to dst the keys from lo to hi, and counts those below.
func filterRange(dst, keys []uint64, lo, hi uint64) (kept []uint64, below int) {
	dst = dst[:len(keys)]
	m := 0
	for ; len(keys) >= block; keys = keys[block:] {
		b := (*[block]uint64)(keys)
		less, more := vec.Outside64(b, lo, hi)
		below += bits.OnesCount64(less)
		for in := ^(less | more); in != 0; in &= in - 1 {
			dst[m] = b[bits.TrailingZeros64(in)&(block-1)]
			m++
		}
	}
	for _, x := range keys {
		dst[m] = x
		_, less := bits.Sub64(x, lo, 0)
		_, more := bits.Sub64(hi, x, 0)
		below += int(less)
		m += 1 - int(less) - int(more)
	}
	return dst[:m], below
}

// countBelow counts the keys less than limit.
func countBelow(keys []uint64, limit uint64) (n int) {
	for ; len(keys) >= block; keys = keys[block:] {
		below, _ := vec.Outside64((*[block]uint64)(keys), limit, math.MaxUint64)
		n += bits.OnesCount64(below)
	}
	for _, x := range keys {
		_, less := bits.Sub64(x, limit, 0)
		n += int(less)
	}
	return n
}

// stablePosition is the position of the key at place k of the stable order.
func (s *scratch) stablePosition(keys []uint64, k int) int32 {
	key, smaller, _ := s.radixSelect(keys, k)
	nth := k - smaller
	for i, x := range keys {
		if x == key {
			if nth == 0 {
				return int32(i)
			}
			nth--
		}
	}
	panic(&tensor.Error{Msg: "sort: a selected key is not among the keys"})
}
