package sort

import (
	"math"
	"math/bits"
	"slices"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
)

// Selection in the order of PyTorch's CPU kernels. Which of several equal elements topk and kthvalue name depends on
// the algorithm: topk stands on the C++ library's partial_sort, nth_element and sort in the form that GNU gives them,
// kthvalue on a quickselect of its own.

// Two slices stand for a list: its keys (see keysOf) and the positions of the elements in the line. Both are permuted
// together, and both have capacity for a block behind the last element (see padded).

func swap(k []uint64, at []int32, i, j int) {
	k[i], k[j] = k[j], k[i]
	at[i], at[j] = at[j], at[i]
}

// identity is the positions 0 to n-1, where nothing is permuted yet.
func (s *scratch) identity(n int) []int32 {
	at := padded(&s.at, n)
	for i := range at {
		at[i] = int32(i)
	}
	return at
}

// topK makes a function that gives the positions of the k first elements of a line. Where k is small beside the line
// it is partial_sort, which keeps a heap of k elements, otherwise nth_element; without sorted the elements stay in
// the order in which the latter leaves them.
func topK[E ordered](k int, desc, sorted bool) pick[E] {
	return func(l []E, s *scratch) []int32 {
		if k == 0 {
			return nil
		}
		if k*64 <= len(l) {
			keys := padded(&s.keys, k)
			keysOf(keys, l[:k], desc)
			at := s.identity(k)
			partialSort(keys, at, l, desc)
			return at
		}
		keys := keysFor(l, desc, s)
		if perm := s.uniqueOrder(keys); perm != nil && sorted {
			return perm[:k]
		}
		at := s.identity(len(l))
		nthElement(keys, at, k-1)
		if !sorted {
			return at[:k]
		}
		take(&s.perm, k) // room for one more
		return append(s.quicksort(keys[:k-1], at[:k-1]), at[k-1])
	}
}

// rankSortMost is the number of elements up to which rankSort is the fastest.
const rankSortMost = 16

// uniqueOrder is the order of few keys if no two are equal, so that every algorithm gives it, and nil otherwise.
func (s *scratch) uniqueOrder(keys []uint64) []int32 {
	if len(keys) <= rankSortMost {
		if perm := take(&s.perm, len(keys)); rankSort(perm, keys) {
			return perm
		}
	}
	return nil
}

func log2(n int) int { return bits.Len(uint(n)) - 1 }

// nthElement is the C++ library's nth_element: afterwards the key at place n is the one that sorting would put there,
// no key in front of it is larger, and none behind it is smaller. It is introselect (Musser 1997): quickselect, with
// a heap when partitions go wrong.
func nthElement(k []uint64, at []int32, n int) {
	first, last := 0, len(k)
	for depth := 2 * log2(last); last-first > 3; depth-- {
		if depth == 0 {
			heapSelect(k[first:last], at[first:last], n+1-first)
			swap(k, at, first, n)
			return
		}
		if cut := first + partition(k[first:last], at[first:last]); cut <= n {
			first = cut
		} else {
			last = cut
		}
	}
	for i := first + 1; i < last; i++ {
		for j := i; j > first && k[j] < k[j-1]; j-- {
			swap(k, at, j, j-1)
		}
	}
}

// quicksort gives the order of std::sort, which is introsort: quicksort down to pieces of 16, then an insertion sort
// of everything. The insertion sort is stable, so that any other stable sort of what the partitions leave gives the
// same order.
func (s *scratch) quicksort(k []uint64, at []int32) []int32 {
	introsort(k, at, 2*log2(len(k)))
	perm := orderKeys[uint8](s, nil, k, false)
	for i, p := range perm {
		perm[i] = at[p]
	}
	return perm
}

// introsort is the first part of std::sort: it partitions down to pieces of 16 elements.
func introsort(k []uint64, at []int32, depth int) {
	for len(k) > 16 {
		if depth == 0 {
			heapify(k, at)
			sortHeap(k, at)
			return
		}
		depth--
		cut := partition(k, at)
		introsort(k[cut:], at[cut:], depth)
		k, at = k[:cut], at[:cut]
	}
}

// partition splits a list around the median of its second, middle and last element, and gives the place where the
// second part begins.
func partition(k []uint64, at []int32) int {
	a, b, c := 1, len(k)/2, len(k)-1
	x, y, z := k[a], k[b], k[c]
	_, ab := bits.Sub64(x, y, 0) // 1 where x is less; branches would be as good as random
	_, ac := bits.Sub64(x, z, 0)
	_, bc := bits.Sub64(y, z, 0)
	m := [...]int{b, c, a, a, a, c, c, b}[ab<<2|ac<<1|bc]
	swap(k, at, 0, m)
	cut, _ := hoarePartition(k, at, 1, len(k)-1, k[0])
	return cut
}

// block is the number of keys that are compared with a pivot at once.
const block = 64

// padded is take with capacity for a block behind the last element.
func padded[E any](s *[]E, n int) []E { return take(s, n+block)[:n] }

// hoarePartition is Hoare's partition of the keys from i to j: the first key that is not below pivot and the last
// that is not above it change places, and so on until the two searches meet. It gives the places where the searches
// end, at most one outside of the range. All keys of a block are compared before any is moved, since the branches on
// single comparisons cannot be predicted (Edelkamp and Weiß, BlockQuicksort, 2016, https://arxiv.org/abs/1604.06697).
func hoarePartition(k []uint64, at []int32, i, j int, pivot uint64) (int, int) {
	var left, right uint64 // the places in the block from i on, and in that up to j, where a search stops
	for j-i >= 2*block-1 {
		if left == 0 {
			left, _ = compareBlock(k, i, block, pivot)
		}
		if right == 0 {
			_, right = compareBlock(k, j-block+1, block, pivot)
		}
		left, right = swapMisplaced(k, at, i, j-block+1, left, right)
		if left == 0 {
			i += block
		}
		if right == 0 {
			j -= block
		}
	}
	if left != 0 {
		i += bits.TrailingZeros64(left)
	}
	if right != 0 {
		j -= bits.LeadingZeros64(right)
	}
	if j-i >= block { // a block and the rest
		rest := i + block
		left, _ = compareBlock(k, i, block, pivot)
		_, right = compareBlock(k, rest, j-rest+1, pivot)
		left, right = swapMisplaced(k, at, i, rest, left, right)
		i, j = i+bits.TrailingZeros64(left), rest+bits.Len64(right)-1
	}
	n := j - i + 1
	left, right = compareBlock(k, i, n, pivot)
	for {
		x, y := bits.TrailingZeros64(left), bits.Len64(right)-1
		if x >= y {
			return i + min(x, n), i + y
		}
		swap(k, at, i+x, i+y)
		left, right = left&(left-1)|1<<y, right&^(1<<y)|1<<x // the searches go no further than where the other one was
	}
}

// compareBlock compares n keys from i on with pivot: the bits of left are those of keys not below it, the bits of
// right those of keys not above it.
func compareBlock(k []uint64, i, n int, pivot uint64) (left, right uint64) {
	if n <= rankSortMost { // one by one: loads of vectors wait for keys that have just been stored
		for j, k := range k[i : i+n] {
			_, below := bits.Sub64(k, pivot, 0)
			_, above := bits.Sub64(pivot, k, 0)
			left |= (1 - below) << (j & 63)
			right |= (1 - above) << (j & 63)
		}
		return left, right
	}
	below, above := vec.Outside64((*[block]uint64)(k[i:i+block]), pivot, pivot)
	in := uint64(math.MaxUint64) >> (block - n)
	return in &^ below, in &^ above
}

// swapMisplaced exchanges the first key of left, in the block from i on, with the last key of right, in the block
// from j on, and so on until one of the two sets of bits is empty; it gives what remains of both.
func swapMisplaced(k []uint64, at []int32, i, j int, left, right uint64) (uint64, uint64) {
	k1, a1 := (*[block]uint64)(k[i:i+block]), (*[block]int32)(at[i:i+block])
	k2, a2 := (*[block]uint64)(k[j:j+block]), (*[block]int32)(at[j:j+block])
	for range min(bits.OnesCount64(left), bits.OnesCount64(right)) {
		x, y := bits.TrailingZeros64(left)&(block-1), (bits.Len64(right)-1)&(block-1)
		k1[x], k2[y] = k2[y], k1[x]
		a1[x], a2[y] = a2[y], a1[x]
		left &= left - 1
		right &^= 1 << y
	}
	return left, right
}

// partialSort is the C++ library's partial_sort: it leaves the len(k) first elements of a line, in order, in k and
// at, which hold the elements at the beginning of the line before.
func partialSort[E ordered](k []uint64, at []int32, line []E, desc bool) {
	heapify(k, at)
	var key [1]uint64
	worst := line[at[0]]
	for i := nextCandidate(line, len(k), worst, desc); i < len(line); i = nextCandidate(line, i+1, worst, desc) {
		keysOf(key[:], line[i:i+1], desc)
		if key[0] < k[0] {
			adjustHeap(k, at, 0, len(k), item{key[0], int32(i)})
			worst = line[at[0]]
		}
	}
	sortHeap(k, at)
}

// nextCandidate is the first place from i on of an element that may belong among the first ones: most come after
// worst, the last of these so far. NaN is always a candidate.
func nextCandidate[E ordered](line []E, i int, worst E, desc bool) int {
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

func sortHeap(k []uint64, at []int32) {
	for n := len(k); n > 1; n-- {
		v := item{k[n-1], at[n-1]}
		k[n-1], at[n-1] = k[0], at[0]
		adjustHeap(k, at, 0, n-1, v)
	}
}

func heapify(k []uint64, at []int32) {
	for i := (len(k) - 2) / 2; i >= 0 && len(k) > 1; i-- {
		adjustHeap(k, at, i, len(k), item{k[i], at[i]})
	}
}

// heapSelect is the C++ library's heap_select: it leaves the n smallest keys in a heap at the beginning, the largest
// of them on top.
func heapSelect(k []uint64, at []int32, n int) {
	heapify(k[:n], at[:n])
	for i := n; i < len(k); i++ {
		if v := (item{k[i], at[i]}); v.k < k[0] {
			k[i], at[i] = k[0], at[0]
			adjustHeap(k, at, 0, n, v)
		}
	}
}

// adjustHeap is the C++ library's adjust_heap, the step of bottom-up heapsort: the hole sinks to the bottom of a heap
// of n elements, and v rises from there to its place.
func adjustHeap(k []uint64, at []int32, hole, n int, v item) {
	root, child := hole, hole
	for child < (n-1)/2 {
		child = 2 * (child + 1)
		if k[child] < k[child-1] {
			child--
		}
		k[hole], at[hole] = k[child], at[child]
		hole = child
	}
	if n&1 == 0 && child == (n-2)/2 {
		child = 2 * (child + 1)
		k[hole], at[hole] = k[child-1], at[child-1]
		hole = child - 1
	}
	for hole > root {
		up := (hole - 1) / 2
		if k[up] >= v.k {
			break
		}
		k[hole], at[hole] = k[up], at[up]
		hole = up
	}
	k[hole], at[hole] = v.k, v.i
}

// kth is the position of the k-th smallest element, k from 1.
func kth[E ordered](k int) func(l []E, s *scratch) int32 {
	return func(l []E, s *scratch) int32 {
		keys := keysFor(l, false, s)
		if perm := s.uniqueOrder(keys); perm != nil {
			return perm[k-1]
		}
		if len(keys) > kthMost {
			if key, _, equal := s.radixSelect(keys, k-1); equal == 1 { // one answer, whatever the algorithm
				return int32(slices.Index(keys, key))
			}
		}
		return quickselect(keys, s.identity(len(keys)), k-1)
	}
}

// kthMost is the number of keys up to which selecting as PyTorch does is faster than selecting a key first.
const kthMost = 1 << 13

// quickselect orders keys until the one at place k is there, and gives its position.
func quickselect(k []uint64, at []int32, n int) int32 {
	for l, r := 0, len(k)-1; r > l; {
		if r == l+1 {
			if k[r] < k[l] {
				swap(k, at, l, r)
			}
			break
		}
		swap(k, at, l+(r-l)/2, l+1)
		if k[r] < k[l+1] {
			swap(k, at, l+1, r)
		}
		if k[r] < k[l] {
			swap(k, at, l, r)
		}
		if k[l] < k[l+1] {
			swap(k, at, l+1, l)
		}
		i, j := hoarePartition(k, at, l+2, r-1, k[l])
		if i == j { // equal to the pivot
			i, j = i+1, j-1
		}
		swap(k, at, l, j)
		if j <= n {
			l = i
		}
		if j >= n {
			r = j - 1
		}
	}
	return at[n]
}
