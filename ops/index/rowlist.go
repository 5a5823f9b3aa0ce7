package index

import (
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

// rowList says, for each row of a table, which indices name it, in ascending order: a linked list per row. With it the gradient of a table
// is written in one pass, each row once, by tasks that own ranges of rows: results do not depend on the number of threads.
type rowList struct {
	head []int32 // by row, -1: none
	next []int32 // by index, -1: the last
}

// listRows builds the lists for a table of n rows, without the row skip.
func listRows(c *Ctx, ix []int64, n, skip int) *rowList {
	l := &rowList{make([]int32, n), make([]int32, len(ix))}
	for i := range l.head {
		l.head[i] = -1
	}
	for i := len(ix) - 1; i >= 0; i-- {
		r := ix[i]
		if uint64(r) >= uint64(n) {
			c.Fail(tensor.ErrIndex, "index out of range in self")
		}
		if int(r) != skip {
			l.next[i] = l.head[r]
			l.head[r] = int32(i)
		}
	}
	return l
}

// after is the index behind i in its row's list, -1 at the end.
func (l *rowList) after(i int) int { return int(l.next[i]) }

// frequency is, for each row, 1 divided by the number of its indices; nil when not wanted.
func (l *rowList) frequency(want bool) []float64 {
	if !want {
		return nil
	}
	f := make([]float64, len(l.head))
	for r, i := range l.head {
		k := 0
		for ; i >= 0; i = l.next[i] {
			k++
		}
		if k > 0 {
			f[r] = 1 / float64(k)
		}
	}
	return f
}

// eachRow writes a table of rows of d elements: set fills the row r whose first index is i, or says that it did not; the other rows become
// zero. ahead, if not nil, is told the first index of a row that is soon to be set.
func eachRow[E number](l *rowList, dst []E, d int, ahead func(i int), set func(row []E, r, i int) bool) {
	if d == 0 {
		return
	}
	if ahead == nil {
		ahead = func(int) {}
	}
	par.For(len(l.head), max(1, 1<<15/d), func(lo, hi int) {
		zero := lo // rows from here to the current one are to be cleared, in one piece
		next := lo // how far rows have been fetched
		for r := lo; r < hi; r++ {
			i := l.head[r]
			if i < 0 {
				continue
			}
			for ; next < min(r+farRows, hi); next++ {
				if i := l.head[next]; i >= 0 {
					ahead(int(i))
				}
			}
			if set(dst[r*d:][:d:d], r, int(i)) {
				wipe(dst[zero*d:r*d], len(dst))
				zero = r + 1
			}
		}
		wipe(dst[zero*d:hi*d], len(dst))
		vec.ZeroDone()
	})
}

// farRows is how many rows of the table eachRow looks ahead.
const farRows = 48

// wipe clears a part of a table of all elements. The runtime's clear takes string instructions from 2 KiB on, which are slow to start: half
// the speed on runs of a few rows.
func wipe[E number](x []E, all int) {
	if x, ok := any(x).([]float32); ok {
		vec.Zero(x, 4*all)
		return
	}
	clear(x)
}

// sumIntoRows sums row i of src into the row that index i names, times scale of that row unless nil.
func sumIntoRows[E number](l *rowList, dst, src []E, d int, scale []float64) {
	ahead := func(i int) {
		if s, ok := any(src).([]float32); ok {
			vec.Ahead(s[i*d:][:d])
		}
	}
	eachRow(l, dst, d, ahead, func(row []E, r, i int) bool {
		s := 1.0
		if scale != nil {
			s = scale[r]
		}
		for first := true; i >= 0; i, first = l.after(i), false {
			x := src[i*d:][:d]
			switch row := any(row).(type) {
			case []float32:
				addScaled(row, any(x).([]float32), float32(s), first)
				continue
			case []float64:
				addScaled(row, any(x).([]float64), s, first)
				continue
			}
			if first {
				copy(row, x)
				continue
			}
			for j, v := range x {
				row[j] += v
			}
		}
		return true
	})
}

// addScaled adds s·src to row, or sets row to it.
func addScaled[E float32 | float64](row, src []E, s E, set bool) {
	switch r := any(row).(type) {
	case []float32:
		addScaledBy(r, any(src).([]float32), float32(s), set, vec.MulScalarF32, vec.AddF32, vec.AddScaledF32)
	case []float64:
		addScaledBy(r, any(src).([]float64), float64(s), set, vec.MulScalarF64, vec.AddF64, vec.AddScaledF64)
	}
}

func addScaledBy[E float32 | float64](row, src []E, s E, set bool, mul func(dst, a []E, s E), add func(dst, a, b []E), fma func(dst, a, b []E, s E)) {
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
