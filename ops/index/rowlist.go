package index

import (
	"sort"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

// rowList says which rows of a table are named by indices, and by which ones, in ascending order. With it the gradient
// of a table is written in one pass, each row once, by tasks that own ranges of rows: results do not depend on the
// number of threads.
type rowList struct {
	n     int     // rows of the table
	rows  []int32 // the rows that are named, ascending
	start []int32 // where in by the indices of rows[k] begin; one more at the end
	by    []int32 // the indices, row by row

	mem []*T
}

// listRows builds the list for a table of n rows, without the row skip. Index i is listed as name[i], unless that is
// nil.
func listRows(c *Ctx, ix []int64, n, skip int, name []int64) *rowList {
	l := &rowList{n: n}
	count := l.ints(n)
	clear(count)
	for i, r := range ix {
		if uint64(r) >= uint64(n) {
			failRow(c, ix, i, nil, n)
		}
		if int(r) != skip {
			count[r]++
		}
	}
	// No branch in the loop: which rows are named cannot be predicted. count becomes the place of each row's next
	// index.
	l.rows, l.start = l.ints(min(n, len(ix))+1), l.ints(min(n, len(ix))+1)
	k, at := 0, int32(0)
	for r, m := range count {
		l.rows[k], l.start[k] = int32(r), at
		count[r] = at
		at += m
		if m > 0 {
			k++
		}
	}
	l.start[k] = at
	l.rows, l.start, l.by = l.rows[:k], l.start[:k+1], l.ints(int(at))
	for i, r := range ix {
		if int(r) == skip {
			continue
		}
		if name != nil {
			i = int(name[i])
		}
		l.by[count[r]] = int32(i)
		count[r]++
	}
	return l
}

// ints is memory from the pool, with any contents.
func (l *rowList) ints(n int) []int32 {
	t := tensor.New([]int{n}, tensor.Int32)
	l.mem = append(l.mem, t)
	return tensor.Data[int32](t)
}

// done lets go of the memory.
func (l *rowList) done() {
	for _, t := range l.mem {
		tensor.ReleaseRaw(t)
	}
	*l = rowList{}
}

// of lists the indices of rows[k].
func (l *rowList) of(k int) []int32 { return l.by[l.start[k]:l.start[k+1]] }

// eachRow writes a table of rows of d elements: set gives what goes to row k of the list, in scratch or elsewhere, or
// nil; the other rows become zero. ahead, if not nil, is told the first index of a row that is soon to be set.
func eachRow[E number](l *rowList, dst []E, d int, ahead func(i int), set func(scratch []E, k int) []E) {
	if d == 0 {
		return
	}
	par.For(l.n, max(1, 1<<15/d), func(lo, hi int) {
		scratch := make([]E, d)
		from := sort.Search(len(l.rows), func(k int) bool { return int(l.rows[k]) >= lo })
		zero := lo // rows from here to the current one are to be cleared, in one piece
		for k := from; k < len(l.rows) && int(l.rows[k]) < hi; k++ {
			if next := l.start[min(k+farRows, len(l.rows)-1)]; ahead != nil {
				ahead(int(l.by[next]))
			}
			if x := set(scratch, k); x != nil {
				r := int(l.rows[k])
				wipe(dst[zero*d:r*d], len(dst))
				fill(dst[r*d:][:d], x, len(dst))
				zero = r + 1
			}
		}
		wipe(dst[zero*d:hi*d], len(dst))
		vec.ZeroDone()
	})
}

// farRows is how many named rows eachRow looks ahead.
const farRows = 8

// wipe clears a part of a table of all elements. The runtime's clear takes string instructions from 2 KiB on, which are
// slow to start: half the speed on runs of a few rows.
func wipe[E number](x []E, all int) {
	if x, ok := any(x).([]float32); ok {
		vec.Zero(x, 4*all)
		return
	}
	clear(x)
}

// fill copies src to a part of a table of all elements.
func fill[E number](dst, src []E, all int) {
	if dst, ok := any(dst).([]float32); ok {
		vec.CopyPiece(dst, any(src).([]float32), 4*all)
		return
	}
	copy(dst, src)
}

// sumIntoRows sums the rows of src that the indices in l count into the rows that name them, divided by their number if
// byFreq is set.
func sumIntoRows[E number](l *rowList, dst, src []E, d int, byFreq bool) {
	ahead := func(i int) {
		if s, ok := any(src).([]float32); ok {
			vec.PrefetchRow(s[i*d:][:d])
		}
	}
	eachRow(l, dst, d, ahead, func(scratch []E, k int) []E {
		by := l.of(k)
		if len(by) == 1 {
			return src[int(by[0])*d:][:d]
		}
		s := 1.0
		if byFreq {
			s = 1 / float64(len(by))
		}
		for j, i := range by {
			addScaled(scratch, src[int(i)*d:][:d], s, j == 0)
		}
		return scratch
	})
}

// addScaled adds s·src to row, or sets row to it; s counts for real numbers only.
func addScaled[E number](row, src []E, s float64, set bool) {
	switch r := any(row).(type) {
	case []float32:
		addScaledBy(r, any(src).([]float32), float32(s), set, vec.MulScalarF32, vec.AddF32, vec.AddScaledF32)
	case []float64:
		addScaledBy(r, any(src).([]float64), s, set, vec.MulScalarF64, vec.AddF64, vec.AddScaledF64)
	default:
		if set {
			copy(row, src)
		} else {
			addTo(row, src)
		}
	}
}

func addScaledBy[E float32 | float64](row, src []E, s E, set bool, mul func(dst, a []E, s E), add func(dst, a, b []E),
	fma func(dst, a, b []E, s E)) {
	switch {
	case set && s == 1:
		copy(row, src)
	case set:
		mul(row, src, s)
	case s == 1:
		add(row, row, src)
	default:
		fma(row, row, src, s)
	}
}
