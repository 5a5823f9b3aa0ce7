package sort

import (
	"math/rand"
	"slices"
	"testing"
)

// The positions among equal elements that PyTorch's CPU kernels give.
func TestSelectionAmongEquals(t *testing.T) {
	for _, c := range []struct {
		l              []int64
		k              int
		largest, small []int32
		kth            int32
	}{
		{make([]int64, 5), 2, []int32{2, 4}, []int32{2, 4}, 2},
		{make([]int64, 8), 3, []int32{6, 5, 4}, []int32{6, 5, 4}, 6},
		{make([]int64, 10), 5, []int32{8, 6, 7, 5, 9}, []int32{8, 6, 7, 5, 9}, 0},
		{make([]int64, 20), 10, []int32{15, 11, 12, 13, 14, 17, 19, 18, 10, 16},
			[]int32{15, 11, 12, 13, 14, 17, 19, 18, 10, 16}, 0},
		{make([]int64, 100), 3, []int32{67, 66, 65}, []int32{67, 66, 65}, 69},
		{make([]int64, 2000), 2, []int32{0, 1}, []int32{0, 1}, 1332},
		{[]int64{2, 0, 2, 0, 1}, 2, []int32{0, 2}, []int32{1, 3}, 3},
		{[]int64{0, 1, 1, 1, 0, 2, 2, 0}, 3, []int32{6, 5, 3}, []int32{4, 7, 0}, 0},
		{[]int64{0, 1, 2, 0, 0, 2, 0, 2, 2, 2}, 5, []int32{5, 9, 8, 7, 2}, []int32{3, 6, 4, 0, 1}, 1},
		{[]int64{2, 2, 2, 1, 2, 0, 0, 1, 0, 2, 0, 1, 0, 1, 2, 2, 1, 2, 0, 1}, 10,
			[]int32{1, 9, 14, 15, 17, 4, 0, 2, 13, 19}, []int32{5, 10, 8, 6, 18, 12, 11, 16, 13, 19}, 7},
	} {
		if got := topK[int64](c.k, true, true)(c.l, new(scratch)); !slices.Equal(got, c.largest) {
			t.Errorf("%d largest of %d: %v, want %v", c.k, len(c.l), got, c.largest)
		}
		if got := topK[int64](c.k, false, true)(c.l, new(scratch)); !slices.Equal(got, c.small) {
			t.Errorf("%d smallest of %d: %v, want %v", c.k, len(c.l), got, c.small)
		}
		if got := kth[int64](c.k)(c.l, new(scratch)); got != c.kth {
			t.Errorf("%d-th of %d: %v, want %v", c.k, len(c.l), got, c.kth)
		}
	}
}

// plainSelect is the quickselect of PyTorch's kthvalue, one step after the other.
func plainSelect(q []item, k int) int32 {
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

// TestQuickselect compares selecting by blocks with plainSelect, on lines around the size of blocks, with equal and
// the largest keys.
func TestQuickselect(t *testing.T) {
	s := new(scratch)
	r := rand.New(rand.NewSource(1))
	for _, n := range []int{1, 2, 3, 4, 64, 127, 128, 131, 132, 133, 200, 257, 600, 2000} {
		for _, kinds := range []int{1, 2, 5, 100, 1 << 40} {
			for _, k := range []int{0, n / 10, n / 2, n - 1} {
				keys, q := padded(&s.keys, n), make([]item, n)
				for i := range keys {
					keys[i] = ^uint64(0) - uint64(r.Intn(kinds))
					q[i] = item{keys[i], int32(i)}
				}
				if got, want := quickselect(keys, s.identity(n), k), plainSelect(q, k); got != want {
					t.Errorf("place %d of %d keys of %d kinds is taken by %d, want %d", k, n, kinds, got, want)
				}
			}
		}
	}
}

// plainTop is topk of PyTorch, one step after the other: nth_element and, if wanted, sort of the C++ library as GNU
// has them.
func plainTop(k []uint64, n int, sorted bool) []int32 {
	at := make([]int32, len(k))
	for i := range at {
		at[i] = int32(i)
	}
	split := func(first, last int) int {
		a, b, c := first+1, first+(last-first)/2, last-1
		m := a
		switch {
		case k[a] < k[b] && k[b] < k[c]:
			m = b
		case k[a] < k[b] && k[a] < k[c]:
			m = c
		case k[a] < k[b] || k[a] < k[c]:
		case k[b] < k[c]:
			m = c
		default:
			m = b
		}
		swap(k, at, first, m)
		i, j := first+1, last-1
		for ; ; i, j = i+1, j-1 {
			for k[i] < k[first] {
				i++
			}
			for k[first] < k[j] {
				j--
			}
			if i >= j {
				return i
			}
			swap(k, at, i, j)
		}
	}
	insertion := func(first, last int) {
		for i := first + 1; i < last; i++ {
			for j := i; j > first && k[j] < k[j-1]; j-- {
				swap(k, at, j, j-1)
			}
		}
	}
	nth, first, last := n-1, 0, len(k)
	depth := 2 * log2(last)
	for ; last-first > 3 && depth > 0; depth-- {
		if cut := split(first, last); cut <= nth {
			first = cut
		} else {
			last = cut
		}
	}
	if last-first > 3 {
		heapSelect(k[first:last], at[first:last], nth+1-first)
		swap(k, at, first, nth)
	} else {
		insertion(first, last)
	}
	var quick func(first, last, depth int)
	quick = func(first, last, depth int) {
		for ; last-first > 16; depth-- {
			if depth == 0 {
				heapify(k[first:last], at[first:last])
				sortHeap(k[first:last], at[first:last])
				return
			}
			cut := split(first, last)
			quick(cut, last, depth-1)
			last = cut
		}
	}
	if sorted && n > 1 {
		quick(0, n-1, 2*log2(n-1))
		insertion(0, n-1)
	}
	return at[:n]
}

// TestTop compares topk with plainTop, of lines of all kinds, also of one that makes the partitions so uneven that
// heaps take over.
func TestTop(t *testing.T) {
	r, s := rand.New(rand.NewSource(2)), new(scratch)
	kinds := map[string]func(n, i int) int64{
		"equal":  func(n, i int) int64 { return 5 },
		"two":    func(n, i int) int64 { return int64(r.Intn(2)) },
		"few":    func(n, i int) int64 { return int64(r.Intn(1 + n/4)) },
		"many":   func(n, i int) int64 { return int64(r.Uint64()) },
		"rising": func(n, i int) int64 { return int64(i / 2) },
		"pipe":   func(n, i int) int64 { return int64(min(i, n-i)) },
		// two of the three keys that are looked at are always among the smallest (Musser)
		"uneven": func(n, i int) int64 {
			if i < n/2 && i%2 == 0 {
				return int64(i)
			} else if i < n/2 {
				return int64(n/2 + i)
			}
			return int64(2 * (i - n/2))
		},
	}
	for name, kind := range kinds {
		for _, n := range []int{1, 2, 3, 4, 5, 15, 16, 17, 18, 40, 63, 64, 65, 66, 67, 100, 127, 128, 129, 130, 131,
			200, 500, 1000, 5000} {
			l := make([]int64, n)
			for i := range l {
				l[i] = kind(n, i)
			}
			for _, k := range []int{1, 2, n / 3, n / 2, n - 1, n} {
				if k < 1 || k > n || k*64 <= n {
					continue
				}
				for _, sorted := range []bool{false, true} {
					for _, desc := range []bool{false, true} {
						keys := make([]uint64, n)
						keysOf(keys, l, desc)
						want := plainTop(keys, k, sorted)
						if got := topK[int64](k, desc, sorted)(l, s); !slices.Equal(got, want) {
							t.Fatalf("%s: the first %d of %d, sorted %v, descending %v: %v, want %v", name, k, n,
								sorted, desc, got, want)
						}
					}
				}
			}
		}
	}
}

// Which of the most frequent elements mode names, as PyTorch's CPU kernel.
func TestModeAmongEquals(t *testing.T) {
	for _, c := range []struct {
		n, values int
		want      int32
	}{{20, 1, 1}, {100, 1, 26}, {100, 7, 98}, {2000, 3, 390}, {3000, 50, 2050}} {
		l := make([]int64, c.n)
		for i := range l {
			l[i] = int64(i % c.values)
		}
		if got := modeAt(l, new(scratch)); got != c.want {
			t.Errorf("mode of %d elements of %d values: position %d, expected %d", c.n, c.values, got, c.want)
		}
	}
}
