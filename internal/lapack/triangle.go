package lapack

import (
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// strips calls f for strips of n columns, each of which takes the given number of multiply-adds, on several threads.
// Several steps on one strip after the other wait less for each other than if each step were shared among threads.
func strips(n, each int, f func(lo, hi int)) {
	const width, worth = 128, 1 << 20
	if n < 2*width || n*each < worth {
		f(0, n)
		return
	}
	par.For(n, width, f)
}

// SolveLower solves L·X = B in place of the n×k matrix b, L the lower triangle of f, with ones on its diagonal if unit.
// The triangle is halved until it is small; the rest is a matrix product.
func SolveLower[E Element](f []E, ldf int, b []E, n, k, ldb int, unit bool) {
	if n > 0 {
		strips(k, n*n/2, func(lo, hi int) { solveLower(f, ldf, b[lo:], n, hi-lo, ldb, unit) })
	}
}

func solveLower[E Element](f []E, ldf int, b []E, n, k, ldb int, unit bool) {
	if n > 24 {
		h := n / 2
		solveLower(f, ldf, b, h, k, ldb, unit)
		mul(n-h, k, h, -1, f[h*ldf:], ldf, 1, b, ldb, 1, 1, b[h*ldb:], ldb, 1)
		solveLower(f[h*ldf+h:], ldf, b[h*ldb:], n-h, k, ldb, unit)
		return
	}
	switch f := any(f).(type) {
	case []float32:
		solveLowerReal(f, ldf, any(b).([]float32), n, k, ldb, unit)
		return
	case []float64:
		solveLowerReal(f, ldf, any(b).([]float64), n, k, ldb, unit)
		return
	}
	for i := range n {
		row := b[i*ldb:][:k]
		for r, v := range f[i*ldf:][:i] {
			if v != 0 {
				axpy(row, -v, b[r*ldb:][:k])
			}
		}
		if !unit {
			divide(row, f[i*ldf+i])
		}
	}
}

// SolveUpper solves U·X = B in place of the n×k matrix b, U the upper triangle of f, with ones on its diagonal if unit.
func SolveUpper[E Element](f []E, ldf int, b []E, n, k, ldb int, unit bool) {
	if n > 0 {
		strips(k, n*n/2, func(lo, hi int) { solveUpper(f, ldf, b[lo:], n, hi-lo, ldb, unit) })
	}
}

func solveUpper[E Element](f []E, ldf int, b []E, n, k, ldb int, unit bool) {
	if n > 24 {
		h := n / 2
		solveUpper(f[h*ldf+h:], ldf, b[h*ldb:], n-h, k, ldb, unit)
		mul(h, k, n-h, -1, f[h:], ldf, 1, b[h*ldb:], ldb, 1, 1, b, ldb, 1)
		solveUpper(f, ldf, b, h, k, ldb, unit)
		return
	}
	switch f := any(f).(type) {
	case []float32:
		solveUpperReal(f, ldf, any(b).([]float32), n, k, ldb, unit)
		return
	case []float64:
		solveUpperReal(f, ldf, any(b).([]float64), n, k, ldb, unit)
		return
	}
	for i := n - 1; i >= 0; i-- {
		row := b[i*ldb:][:k]
		for r := i + 1; r < n; r++ {
			if v := f[i*ldf+r]; v != 0 {
				axpy(row, -v, b[r*ldb:][:k])
			}
		}
		if !unit {
			divide(row, f[i*ldf+i])
		}
	}
}

// solveLowerReal is SolveLower for a small triangle.
func solveLowerReal[R Real](f []R, ldf int, b []R, n, k, ldb int, unit bool) {
	for i := range n {
		row := b[i*ldb:][:k]
		left, r := f[i*ldf:][:i], 0
		for ; r+1 < i; r += 2 {
			minus(row, left[r], left[r+1], b[r*ldb:], b[(r+1)*ldb:])
		}
		if r < i {
			minus(row, left[r], 0, b[r*ldb:], b[r*ldb:])
		}
		if !unit {
			divideReal(row, f[i*ldf+i])
		}
	}
}

// solveUpperReal is SolveUpper for a small triangle.
func solveUpperReal[R Real](f []R, ldf int, b []R, n, k, ldb int, unit bool) {
	for i := n - 1; i >= 0; i-- {
		row := b[i*ldb:][:k]
		r := i + 1
		for ; r+1 < n; r += 2 {
			minus(row, f[i*ldf+r], f[i*ldf+r+1], b[r*ldb:], b[(r+1)*ldb:])
		}
		if r < n {
			minus(row, f[i*ldf+r], 0, b[r*ldb:], b[r*ldb:])
		}
		if !unit {
			divideReal(row, f[i*ldf+i])
		}
	}
}

// minus subtracts f·x + g·z from y, where a row of which the factor is 0 counts as 0.
func minus[R Real](y []R, f, g R, x, z []R) {
	x, z = x[:len(y)], z[:len(y)]
	switch {
	case len(y) < 16 && f != 0 && g != 0:
		for i, v := range x {
			y[i] -= f*v + g*z[i]
		}
		return
	case f != 0:
		axpy(y, -f, x)
	}
	if g != 0 {
		axpy(y, -g, z)
	}
}

// divideReal multiplies a short row by the reciprocal of d where there is one, as LAPACK does.
func divideReal[R Real](x []R, d R) {
	f := 1 / d
	if len(x) >= 16 || f-f != 0 {
		divide(x, d)
		return
	}
	for i := range x {
		x[i] *= f
	}
}

func divide[E Element](x []E, d E) {
	switch x := any(x).(type) {
	case []float32:
		if len(x) >= 16 {
			vec.DivScalarF32(x, x, any(d).(float32))
			return
		}
	case []float64:
		if len(x) >= 16 {
			vec.DivScalarF64(x, x, any(d).(float64))
			return
		}
	}
	for i := range x {
		x[i] /= d
	}
}
