package sort

import (
	"math"
	"math/bits"
	"slices"
	"unsafe"
)

// Selection in the order of PyTorch's CPU kernels. Which of several equal elements topk and kthvalue name depends on the algorithm: topk
// stands on the C++ library's partial_sort, nth_element and sort in the form that GNU gives them, kthvalue on a quickselect of its own.

// itemsOf writes the keys of a line with their positions.
func (s *scratch) itemsOf(keys []uint64) []item {
	q := take(&s.items, len(keys))
	for i, k := range keys {
		q[i] = item{k, int32(i)}
	}
	return q
}

// top is the positions of the k first elements. Few of many come from a heap, others by selection; without sorted these stay as they fell.
func top[E ordered](k int, desc, sorted bool) pick[E] {
	return func(l []E, s *scratch) []int32 {
		if k == 0 {
			return nil
		}
		var q []item
		out := take(&s.perm, k)
		if k*64 <= len(l) {
			keys := take(&s.keys, k)
			keysOf(keys, l[:k], desc)
			q = s.itemsOf(keys)
			partialSort(q, l, desc)
		} else {
			keys := keysFor(l, desc, s)
			if few := k <= fewest && (len(l) > 4*fewest || E(1)/2 != 0); sorted && (few || len(l) <= fewest || !crowded(keys, k)) && s.distinctTop(keys, k) {
				return s.perm[:k]
			}
			out = take(&s.perm, k)
			q = s.itemsOf(keys)
			if k-1 < len(q) {
				nth(q, k-1)
			}
			if sorted {
				quicksort(q[:k-1])
			}
		}
		for i := range out {
			out[i] = q[i].i
		}
		return out
	}
}

// crowded guesses that two of the first k keys are equal: the keys have few places where they may lie.
func crowded(keys []uint64, k int) bool {
	least, most, differ := keys[0], keys[0], uint64(0)
	for _, x := range keys {
		least, most, differ = min(least, x), max(most, x), differ|x^keys[0]
	}
	places := (most - least) >> (bits.TrailingZeros64(differ) & 63)
	return places < uint64(k)*uint64(len(keys))/4 // of so many, e^-2 of all lists have no two in one
}

// distinctTop leaves the positions of the first n keys, in order, in s.perm if there is one answer: no two of them are equal, nor the last
// of them and the next.
func (s *scratch) distinctTop(keys []uint64, n int) bool {
	if len(keys) <= fewest {
		return orderFew(take(&s.perm, len(keys)), keys)
	}
	if n < fewest {
		return s.fewTop(keys, n)
	}
	last, _, equal := s.selectKey(keys, n-1)
	if equal > 1 {
		return false
	}
	first, at := take(&s.first, n), take(&s.at, n)
	m := 0
	for i, k := range keys {
		if k <= last {
			first[m], at[m] = k, int32(i)
			m++
		}
	}
	perm := s.orderKeys(first)
	for i, p := range perm {
		if i > 0 && first[p] == first[perm[i-1]] {
			return false
		}
	}
	for i, p := range perm {
		perm[i] = at[p]
	}
	return true
}

// fewest is the size of a list that is ordered by comparing each with all, or kept in order by insertion.
const fewest = 16

// fewTop is distinctTop for a few: it keeps a list of the best so far, one more than wanted.
func (s *scratch) fewTop(keys []uint64, n int) bool {
	var best [fewest]item
	m := min(n+1, len(keys))
	for i := range best[:m] {
		best[i].k = math.MaxUint64
	}
	worst := uint64(math.MaxUint64)
	for i, k := range keys {
		if k > worst || k == worst && i >= m {
			continue // the second of equal keys matters only where it is among the first
		}
		j := m - 1
		for ; j > 0 && k < best[j-1].k; j-- {
			best[j] = best[j-1]
		}
		best[j] = item{k, int32(i)}
		worst = best[m-1].k
	}
	perm := take(&s.perm, n)
	for i := range perm {
		if i+1 < m && best[i].k == best[i+1].k {
			return false
		}
		perm[i] = best[i].i
	}
	return true
}

func log2(n int) int { return bits.Len(uint(n)) - 1 }

// nth puts the element that belongs at n there, none after it in front of it.
func nth(q []item, n int) {
	first, last := 0, len(q)
	if last == 0 || n == last {
		return
	}
	for depth := 2 * log2(last); last-first > 3; depth-- {
		if depth == 0 {
			heapSelect(q[first:last], n+1-first)
			q[first], q[n] = q[n], q[first]
			return
		}
		if cut := first + partition(q[first:last]); cut <= n {
			first = cut
		} else {
			last = cut
		}
	}
	insertion(q[first:last])
}

// sort is introsort: quicksort down to pieces of 16, one insertion sort over all.
func quicksort(q []item) {
	if len(q) == 0 {
		return
	}
	quick(q, 2*log2(len(q)))
	if len(q) <= 16 {
		insertion(q)
		return
	}
	insertion(q[:16])
	for i := 16; i < len(q); i++ {
		insert(q, i)
	}
}

func quick(q []item, depth int) {
	for len(q) > 16 {
		if depth == 0 {
			heapify(q)
			sortHeap(q)
			return
		}
		depth--
		cut := partition(q)
		quick(q[cut:], depth)
		q = q[:cut]
	}
}

// partition splits around the median of the second, the middle and the last element.
func partition(q []item) int {
	a, b, c := 1, len(q)/2, len(q)-1
	m := a
	switch {
	case q[a].k < q[b].k:
		if q[b].k < q[c].k {
			m = b
		} else if q[a].k < q[c].k {
			m = c
		}
	case q[a].k < q[c].k:
	case q[b].k < q[c].k:
		m = c
	default:
		m = b
	}
	q[0], q[m] = q[m], q[0]
	pivot := q[0].k // both sides hold one that stops the search, so that neither leaves the list
	const size = unsafe.Sizeof(item{})
	base := unsafe.Pointer(&q[0])
	i, j := unsafe.Add(base, size), unsafe.Add(base, uintptr(len(q)-1)*size)
	for {
		for (*item)(i).k < pivot {
			i = unsafe.Add(i, size)
		}
		for pivot < (*item)(j).k {
			j = unsafe.Add(j, -int(size))
		}
		if uintptr(i) >= uintptr(j) {
			return int((uintptr(i) - uintptr(base)) / size)
		}
		*(*item)(i), *(*item)(j) = *(*item)(j), *(*item)(i)
		i, j = unsafe.Add(i, size), unsafe.Add(j, -int(size))
	}
}

func insertion(q []item) {
	for i := 1; i < len(q); i++ {
		if v := q[i]; v.k < q[0].k {
			copy(q[1:i+1], q[:i])
			q[0] = v
		} else {
			insert(q, i)
		}
	}
}

func insert(q []item, i int) {
	v := q[i]
	for ; v.k < q[i-1].k; i-- {
		q[i] = q[i-1]
	}
	q[i] = v
}

// partialSort puts the first elements of a line into q, in order. q begins with those that are first in memory.
func partialSort[E ordered](q []item, line []E, desc bool) {
	heapify(q)
	var key [1]uint64
	worst := line[q[0].i]
	for i := beyond(line, len(q), worst, desc); i < len(line); i = beyond(line, i+1, worst, desc) {
		keysOf(key[:], line[i:i+1], desc)
		if key[0] < q[0].k {
			sift(q, 0, len(q), item{key[0], int32(i)})
			worst = line[q[0].i]
		}
	}
	sortHeap(q)
}

// beyond is the first place from i on of an element that does not come after worst, as most do, and no NaN.
func beyond[E ordered](line []E, i int, worst E, desc bool) int {
	if desc {
		for ; i+4 <= len(line); i += 4 {
			if q := line[i:][:4]; !(q[0] <= worst && q[1] <= worst && q[2] <= worst && q[3] <= worst) {
				break
			}
		}
		for ; i < len(line) && line[i] <= worst; i++ {
		}
		return i
	}
	for ; i+4 <= len(line); i += 4 {
		if q := line[i:][:4]; !(q[0] >= worst && q[1] >= worst && q[2] >= worst && q[3] >= worst) {
			break
		}
	}
	for ; i < len(line) && line[i] >= worst; i++ {
	}
	return i
}

func sortHeap(q []item) {
	for n := len(q); n > 1; n-- {
		v := q[n-1]
		q[n-1] = q[0]
		sift(q, 0, n-1, v)
	}
}

func heapify(q []item) {
	for i := (len(q) - 2) / 2; i >= 0 && len(q) > 1; i-- {
		sift(q, i, len(q), q[i])
	}
}

// heapSelect gathers the k first elements in a heap with the last of them on top.
func heapSelect(q []item, k int) {
	heapify(q[:k])
	for i := k; i < len(q); i++ {
		if v := q[i]; v.k < q[0].k {
			q[i] = q[0]
			sift(q, 0, k, v)
		}
	}
}

// sift lets the hole sink to the bottom of a heap of n elements and v rise from there.
func sift(q []item, hole, n int, v item) {
	root, child := hole, hole
	for child < (n-1)/2 {
		child = 2 * (child + 1)
		if q[child].k < q[child-1].k {
			child--
		}
		q[hole] = q[child]
		hole = child
	}
	if n&1 == 0 && child == (n-2)/2 {
		child = 2 * (child + 1)
		q[hole] = q[child-1]
		hole = child - 1
	}
	for hole > root {
		up := (hole - 1) / 2
		if q[up].k >= v.k {
			break
		}
		q[hole] = q[up]
		hole = up
	}
	q[hole] = v
}

// kth is the position of the k-th smallest element, k from 1.
func kth[E ordered](k int) func(l []E, s *scratch) int32 {
	return func(l []E, s *scratch) int32 {
		k := k - 1
		keys := keysFor(l, false, s)
		if key, _, equal := s.selectKey(keys, k); equal == 1 { // one answer, whatever the algorithm
			return int32(slices.Index(keys, key))
		}
		q := s.itemsOf(keys)
		for l, r := 0, len(q)-1; r > l; {
			if r == l+1 {
				if q[l].k > q[r].k {
					q[l], q[r] = q[r], q[l]
				}
				break
			}
			m := l + (r-l)/2
			q[m], q[l+1] = q[l+1], q[m]
			if q[l+1].k > q[r].k {
				q[l+1], q[r] = q[r], q[l+1]
			}
			if q[l].k > q[r].k {
				q[l], q[r] = q[r], q[l]
			}
			if q[l+1].k > q[l].k {
				q[l+1], q[l] = q[l], q[l+1]
			}
			i, j, pivot := l+1, r, q[l]
			for {
				for i++; pivot.k > q[i].k; i++ {
				}
				for j--; q[j].k > pivot.k; j-- {
				}
				if j < i {
					break
				}
				q[i], q[j] = q[j], q[i]
			}
			q[l], q[j] = q[j], q[l]
			if j <= k {
				l = i
			}
			if j >= k {
				r = j - 1
			}
		}
		return q[k].i
	}
}
