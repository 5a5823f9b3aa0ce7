package reduce

import (
	"sync"
	"unsafe"
)

// kern reduces elements of type E to an accumulator of type A.
type kern[E, A any] struct {
	init A
	row  func(acc A, s []E) A // takes up a contiguous run
	// where set: a run of n for each of at most rowGroup accumulators, stride apart
	rows func(acc []A, s []E, n, stride int)
	few  func(acc []A, s []E, n, stride int) // the same for runs of at most fewMost
	col  func(acc []A, s []E)                // takes up one element per accumulator
	// where set, stands for col: rows that lie stride apart, for at most colTile accumulators
	block func(acc []A, s []E, rows, stride int)
	merge func(into, next A) A      // joins two accumulators, the second of later elements
	joins func(dst, into, next []A) // where set, merge of many at a time
}

// folding is a kern without its types, as the walks over memory see it: the walks are long, and compiled for each pair
// of types they would be half a megabyte of the same instructions. Elements and accumulators are given by the address
// of the first.
type folding interface {
	about() about
	start(acc unsafe.Pointer, n int)                                           // sets accumulators to what they begin with
	take(how form, acc unsafe.Pointer, m int, s unsafe.Pointer, n, stride int) // a run of n for each of m accumulators
	down(acc unsafe.Pointer, m int, s unsafe.Pointer, rows, stride int)        // rows of one element per accumulator
	join(how form, acc, next unsafe.Pointer, n int)                            // merges accumulators of later elements
}

// about is what a walk asks of a kern: the sizes of an element and of an accumulator, and which forms it has.
type about struct {
	elem, acc        int
	few, rows, joins bool
}

// form names a field of a kern.
type form uint8

const (
	formEach form = iota // row, or merge, for one accumulator after the other
	formFew
	formRows
	formJoins
)

func (k *kern[E, A]) about() about {
	return about{int(unsafe.Sizeof(*new(E))), int(unsafe.Sizeof(*new(A))), k.few != nil, k.rows != nil, k.joins != nil}
}

func (k *kern[E, A]) start(acc unsafe.Pointer, n int) {
	if n == 0 {
		return
	}
	a := unsafe.Slice((*A)(acc), n)
	a[0] = k.init
	for n := 1; n < len(a); n *= 2 {
		copy(a[n:], a[:n])
	}
}

func (k *kern[E, A]) take(how form, acc unsafe.Pointer, m int, s unsafe.Pointer, n, stride int) {
	a, e := unsafe.Slice((*A)(acc), m), unsafe.Slice((*E)(s), (m-1)*stride+n)
	switch how {
	case formFew:
		k.few(a, e, n, stride)
	case formRows:
		k.rows(a, e, n, stride)
	default:
		for i := range a {
			a[i] = k.row(a[i], e[i*stride:][:n])
		}
	}
}

func (k *kern[E, A]) down(acc unsafe.Pointer, m int, s unsafe.Pointer, rows, stride int) {
	if rows == 0 {
		return
	}
	a, e := unsafe.Slice((*A)(acc), m), unsafe.Slice((*E)(s), (rows-1)*stride+m)
	if k.block != nil {
		k.block(a, e, rows, stride)
		return
	}
	for r := range rows {
		k.col(a, e[r*stride:][:m])
	}
}

func (k *kern[E, A]) join(how form, acc, next unsafe.Pointer, n int) {
	a, b := unsafe.Slice((*A)(acc), n), unsafe.Slice((*A)(next), n)
	if how == formJoins {
		k.joins(a, a, b)
		return
	}
	for i, v := range b {
		a[i] = k.merge(a[i], v)
	}
}

// columns takes up rows that lie stride apart.
func (k *kern[E, A]) columns(acc []A, s []E, rows, stride int) {
	w := walk{folding: k, about: k.about()}
	w.columns(unsafe.Pointer(unsafe.SliceData(acc)), len(acc), unsafe.Pointer(unsafe.SliceData(s)), rows, stride)
}

// rowsOf makes a kernel's rows from a function that reduces rows, and what takes a result up.
func rowsOf[E, R, A any](f func(dst []R, a []E, rows, cols, lda int), join func(acc A, r R) A) func(acc []A, s []E, n,
	stride int) {
	pool := sync.Pool{New: func() any { return new([rowGroup]R) }}
	return func(acc []A, s []E, n, stride int) {
		buf := pool.Get().(*[rowGroup]R)
		f(buf[:], s, len(acc), n, stride)
		for i, r := range buf[:len(acc)] {
			acc[i] = join(acc[i], r)
		}
		pool.Put(buf)
	}
}
