package sort

import "math/bits"

// Selection in the order of PyTorch's CPU kernels. Which of several equal elements topk and kthvalue name depends on the algorithm: topk
// stands on the C++ library's partial_sort, nth_element and sort in the form that GNU gives them, kthvalue on a quickselect of its own.

// item is an element and where it was.
type item[E ordered] struct {
	v E
	i int32
}

// picker compares items: smallest first with NaN last, or largest first with NaN first.
type picker[E ordered] struct{ desc bool }

func (p picker[E]) before(a, b item[E]) bool {
	if p.desc {
		return a.v > b.v || a.v != a.v && b.v == b.v
	}
	return a.v < b.v || a.v == a.v && b.v != b.v
}

func items[E ordered](l []E) []item[E] {
	q := make([]item[E], len(l))
	for i, v := range l {
		q[i] = item[E]{v, int32(i)}
	}
	return q
}

// top is the positions of the k first elements. Few of many come from a heap, others by selection; without sorted these stay as they fell.
func top[E ordered](k int, desc, sorted bool) func(l []E, to []int32) []int32 {
	p := picker[E]{desc}
	return func(l []E, to []int32) []int32 {
		if k == 0 {
			return nil
		}
		q := items(l)
		if k*64 <= len(q) {
			p.partialSort(q, k)
		} else {
			if k-1 < len(q) {
				p.nth(q, k-1)
			}
			if sorted {
				p.sort(q[:k-1])
			}
		}
		out := make([]int32, k)
		for i := range out {
			out[i] = q[i].i
		}
		return out
	}
}

func log2(n int) int { return bits.Len(uint(n)) - 1 }

// nth puts the element that belongs at n there, none after it in front of it.
func (p picker[E]) nth(q []item[E], n int) {
	first, last := 0, len(q)
	if last == 0 || n == last {
		return
	}
	for depth := 2 * log2(last); last-first > 3; depth-- {
		if depth == 0 {
			p.heapSelect(q[first:last], n+1-first)
			q[first], q[n] = q[n], q[first]
			return
		}
		if cut := first + p.partition(q[first:last]); cut <= n {
			first = cut
		} else {
			last = cut
		}
	}
	p.insertion(q[first:last])
}

// sort is introsort: quicksort down to pieces of 16, one insertion sort over all.
func (p picker[E]) sort(q []item[E]) {
	if len(q) == 0 {
		return
	}
	p.quick(q, 2*log2(len(q)))
	if len(q) <= 16 {
		p.insertion(q)
		return
	}
	p.insertion(q[:16])
	for i := 16; i < len(q); i++ {
		p.insert(q, i)
	}
}

func (p picker[E]) quick(q []item[E], depth int) {
	for len(q) > 16 {
		if depth == 0 {
			p.partialSort(q, len(q))
			return
		}
		depth--
		cut := p.partition(q)
		p.quick(q[cut:], depth)
		q = q[:cut]
	}
}

// partition splits around the median of the second, the middle and the last element.
func (p picker[E]) partition(q []item[E]) int {
	a, b, c := 1, len(q)/2, len(q)-1
	m := a
	switch {
	case p.before(q[a], q[b]):
		if p.before(q[b], q[c]) {
			m = b
		} else if p.before(q[a], q[c]) {
			m = c
		}
	case p.before(q[a], q[c]):
	case p.before(q[b], q[c]):
		m = c
	default:
		m = b
	}
	q[0], q[m] = q[m], q[0]
	for i, j := 1, len(q); ; i++ {
		for p.before(q[i], q[0]) {
			i++
		}
		for j--; p.before(q[0], q[j]); j-- {
		}
		if i >= j {
			return i
		}
		q[i], q[j] = q[j], q[i]
	}
}

func (p picker[E]) insertion(q []item[E]) {
	for i := 1; i < len(q); i++ {
		if v := q[i]; p.before(v, q[0]) {
			copy(q[1:i+1], q[:i])
			q[0] = v
		} else {
			p.insert(q, i)
		}
	}
}

func (p picker[E]) insert(q []item[E], i int) {
	v := q[i]
	for ; p.before(v, q[i-1]); i-- {
		q[i] = q[i-1]
	}
	q[i] = v
}

// partialSort brings the k first elements to the front, in order.
func (p picker[E]) partialSort(q []item[E], k int) {
	p.heapSelect(q, k)
	for n := k; n > 1; n-- {
		v := q[n-1]
		q[n-1] = q[0]
		p.sift(q, 0, n-1, v)
	}
}

// heapSelect gathers the k first elements in a heap with the last of them on top.
func (p picker[E]) heapSelect(q []item[E], k int) {
	for i := (k - 2) / 2; i >= 0 && k > 1; i-- {
		p.sift(q, i, k, q[i])
	}
	for i := k; i < len(q); i++ {
		if v := q[i]; p.before(v, q[0]) {
			q[i] = q[0]
			p.sift(q, 0, k, v)
		}
	}
}

// sift lets the hole sink to the bottom of a heap of n elements and v rise from there.
func (p picker[E]) sift(q []item[E], hole, n int, v item[E]) {
	root, child := hole, hole
	for child < (n-1)/2 {
		child = 2 * (child + 1)
		if p.before(q[child], q[child-1]) {
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
		if !p.before(q[up], v) {
			break
		}
		q[hole] = q[up]
		hole = up
	}
	q[hole] = v
}

// kth is the position of the k-th smallest element, k from 1.
func kth[E ordered](k int) func(l []E) int32 {
	larger := picker[E]{true}.before
	return func(l []E) int32 {
		q := items(l)
		k := k - 1
		for l, r := 0, len(q)-1; r > l; {
			if r == l+1 {
				if larger(q[l], q[r]) {
					q[l], q[r] = q[r], q[l]
				}
				break
			}
			m := l + (r-l)/2
			q[m], q[l+1] = q[l+1], q[m]
			if larger(q[l+1], q[r]) {
				q[l+1], q[r] = q[r], q[l+1]
			}
			if larger(q[l], q[r]) {
				q[l], q[r] = q[r], q[l]
			}
			if larger(q[l+1], q[l]) {
				q[l+1], q[l] = q[l], q[l+1]
			}
			i, j, pivot := l+1, r, q[l]
			for {
				for i++; larger(pivot, q[i]); i++ {
				}
				for j--; larger(q[j], pivot); j-- {
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
