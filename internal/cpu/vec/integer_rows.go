package vec

import (
	"sync"
	"unsafe"
)

// foldFunc is assembly for rows of n elements, ld bytes apart.
type foldFunc = func(dst, a unsafe.Pointer, n, rows, ld int)

// foldRows reduces rows of integers as overRows does; plain is the reduction in Go of one row.
func foldRows[E Integer](op int, dst, a []E, rows, cols, lda int, join func(a, b E) E, plain func(a []E) E) {
	size := int(unsafe.Sizeof(E(0)))
	f, _ := foldsNow(op, laneKind[E](), min(cols, chunk)*size)
	if rows <= 0 || cols <= 0 || f == nil {
		if rows > 0 && cols > 0 && op != laneAdd {
			r := foldShort(op, dst, a, rows, cols, lda)
			dst, a, rows = dst[r:], a[min(r*lda, len(a)):], rows-r
		}
		for r := range rows {
			dst[r] = plain(a[r*lda:][:cols])
		}
		return
	}
	_, _ = dst[rows-1], a[(rows-1)*lda+cols-1]
	if cols <= chunk {
		per := chunk / (cols + 32)
		for r := 0; r < rows; r += max(per, 1) {
			f(unsafe.Pointer(&dst[r]), unsafe.Pointer(&a[r*lda]), cols, min(max(per, 1), rows-r), lda*size)
			yield(r+per, rows)
		}
		return
	}
	var part [1]E
	for r := range rows { // long rows, piece by piece
		f(unsafe.Pointer(&dst[r]), unsafe.Pointer(&a[r*lda]), chunk, 1, 0)
		for i := chunk; i < cols; i += chunk {
			if cols-i < 32 { // fewer than a vector: some once more
				if op == laneAdd {
					dst[r] = join(dst[r], plain(a[r*lda+i:][:cols-i]))
					break
				}
				i = cols - 32
			}
			f(unsafe.Pointer(&part[0]), unsafe.Pointer(&a[r*lda+i]), min(chunk, cols-i), 1, 0)
			dst[r] = join(dst[r], part[0])
			preemptible(0)
		}
	}
}

// foldRuns are runs of foldRun elements of any size.
var foldRuns = sync.Pool{New: func() any { return new([foldRun]int64) }}

const foldRun = 1024

// foldShort reduces rows that are narrower than a vector, but not the last few, to their extrema and returns their
// number. Each element of a run of rows is joined to that behind it, then to that two further on, and so on, until an
// element stands for as many as a row has.
func foldShort[E Integer](op int, dst, a []E, rows, cols, lda int) int {
	f, unit, _ := laneFunc(op, laneKind[E](), int(unsafe.Sizeof(E(0))))
	words := foldRuns.Get().(*[foldRun]int64)
	defer foldRuns.Put(words)
	run := unsafe.Slice((*E)(unsafe.Pointer(words)), foldRun)
	each := (len(run) - unit) / max(lda, 1) // rows whose elements are joined together, and what fills their last vector
	if f == nil || lda < cols || each < 8 {
		return 0
	}
	done := 0
	for ; rows-done >= each+unit/lda+2; done += each { // the elements behind those of the run are there, too
		from := a[done*lda:]
		n := (each*lda + unit - 1) / unit * unit
		for w := 1; w < cols; {
			next := min(2*w, cols)
			f(unsafe.Pointer(&run[0]), unsafe.Pointer(&from[0]), unsafe.Pointer(&from[next-w]), n)
			from, w = run, next
		}
		for r := range each {
			dst[done+r] = from[r*lda]
		}
		preemptible(0)
	}
	return done
}

// MaxRowsInt sets dst[r] to the largest of the cols elements, at least one, at a[r*lda].
func MaxRowsInt[E Integer](dst, a []E, rows, cols, lda int) {
	foldRows(laneMax, dst, a, rows, cols, lda, func(x, y E) E { return max(x, y) }, func(a []E) E {
		m := a[0]
		for _, x := range a {
			m = max(m, x)
		}
		return m
	})
}

// MinRowsInt sets dst[r] to the smallest of the cols elements, at least one, at a[r*lda].
func MinRowsInt[E Integer](dst, a []E, rows, cols, lda int) {
	foldRows(laneMin, dst, a, rows, cols, lda, func(x, y E) E { return min(x, y) }, func(a []E) E {
		m := a[0]
		for _, x := range a {
			m = min(m, x)
		}
		return m
	})
}

// SumRowsI64 sets dst[r] to the sum, modulo 2^64, of the cols elements at a[r*lda].
func SumRowsI64(dst, a []int64, rows, cols, lda int) {
	foldRows(laneAdd, dst, a, rows, cols, lda, func(x, y int64) int64 { return x + y }, SumInt[int64])
}

// widest is the number of accumulators that narrow rows share.
const widest = 64

// foldColumns joins rows of cols elements, lda apart, to dst.
func foldColumns[E Integer](op int, dst, a []E, rows, cols, lda int, join func(dst, a, b []E)) {
	size := int(unsafe.Sizeof(E(0)))
	_, f := foldsNow(op, laneKind[E](), cols*size)
	if rows <= 0 || cols <= 0 || f == nil || cols > chunk {
		done := 0
		// Rows that are narrower than a vector go several together, with what lies between their columns, to
		// accumulators of their own.
		if several := widest / max(lda, 1); cols > 0 && cols*size < 32 && several >= 2 && rows >= 2*several {
			wide := (several-1)*lda + cols
			if _, f := foldsNow(op, laneKind[E](), wide*size); f != nil {
				words := foldRuns.Get().(*[foldRun]int64)
				acc := unsafe.Slice((*E)(unsafe.Pointer(words)), widest)
				copy(acc[:wide], a)
				n := rows / several
				foldColumns(op, acc[:wide], a[several*lda:], n-1, wide, several*lda, join)
				for i := range several {
					join(dst[:cols], dst, acc[i*lda:])
				}
				foldRuns.Put(words)
				done = n * several
			}
		}
		for r := done; r < rows; r++ {
			join(dst[:cols], dst, a[r*lda:])
		}
		return
	}
	_, _ = dst[cols-1], a[(rows-1)*lda+cols-1]
	per := chunk / cols
	for r := 0; r < rows; r += per {
		f(unsafe.Pointer(&dst[0]), unsafe.Pointer(&a[r*lda]), cols, min(per, rows-r), lda*size)
		yield(r+per, rows)
	}
}

// MaxColumnsInt sets each of the cols elements of dst to the largest of itself and of those in its column of a, whose
// rows lie lda apart.
func MaxColumnsInt[E Integer](dst, a []E, rows, cols, lda int) {
	foldColumns(laneMax, dst, a, rows, cols, lda, MaxInt[E])
}

// MinColumnsInt is MaxColumnsInt with the smallest.
func MinColumnsInt[E Integer](dst, a []E, rows, cols, lda int) {
	foldColumns(laneMin, dst, a, rows, cols, lda, MinInt[E])
}

// AddColumnsI64 adds the columns of a to dst.
func AddColumnsI64(dst, a []int64, rows, cols, lda int) {
	foldColumns(laneAdd, dst, a, rows, cols, lda, AddInt[int64])
}

// AddColumnsU8 adds the columns of a to dst, modulo 256.
func AddColumnsU8(dst, a []uint8, rows, cols, lda int) {
	foldColumns(laneAdd, dst, a, rows, cols, lda, AddInt[uint8])
}
