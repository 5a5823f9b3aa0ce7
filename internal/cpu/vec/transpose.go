package vec

import "unsafe"

// TransposeF32 sets dst[j*ldd+i] = src[i*lds+j] for i < rows and j < cols:
// a copy with the two axes exchanged.
func TransposeF32(dst []float32, ldd int, src []float32, lds, rows, cols int) {
	transpose(dst, ldd, src, lds, rows, cols, 8, hasTranspose8(), transpose8)
}

// Transpose64 is TransposeF32 for elements of 64 bits.
func Transpose64(dst []uint64, ldd int, src []uint64, lds, rows, cols int) {
	if rows >= 8 && rows <= fewRows && cols >= 8 && hasTransposeRow8() {
		transposeFew(dst, ldd, src, lds, rows, cols)
		return
	}
	transpose(dst, ldd, src, lds, rows, cols, 4, hasTranspose4(), transpose4)
}

// fewRows is the number of rows up to which Transpose64 goes along rows: results are then so short that most of them
// share cache lines with the next one.
const fewRows = 32

// transposeFew is Transpose64 of few rows, eight at a time.
func transposeFew(dst []uint64, ldd int, src []uint64, lds, rows, cols int) {
	_, _ = dst[(cols-1)*ldd+rows-1], src[(rows-1)*lds+cols-1]
	const most = 1024 // columns at a time
	for j := 0; j < cols; j += most {
		n := min(most, cols-j)
		if n < 8 { // the last block may overlap the one before, and so may the last rows
			j, n = cols-8, 8
		}
		eight := func(i int) {
			transposeRow8(&dst[j*ldd+i], ldd, &src[i*lds+j], lds, n/8)
			if n%8 != 0 {
				at := j + n - 8
				transposeRow8(&dst[at*ldd+i], ldd, &src[i*lds+at], lds, 1)
			}
		}
		i := 0
		for ; i+8 <= rows; i += 8 {
			eight(i)
		}
		switch left := rows - i; left {
		case 0:
		case 1, 2:
			transposeSlow(dst[j*ldd+i:], ldd, src[i*lds+j:], lds, left, n)
		default:
			eight(rows - 8)
		}
		preemptible(0)
	}
}

// transpose goes by blocks, which keep both sides in the cache; those of side rows and columns have a kernel.
func transpose[E float32 | uint64](dst []E, ldd int, src []E, lds, rows, cols, side int, has bool,
	kernel func(dst *E, ldd int, src *E, lds, blocks int)) {
	if rows == 0 || cols == 0 {
		return
	}
	_, _ = dst[(cols-1)*ldd+rows-1], src[(rows-1)*lds+cols-1]
	i := 0
	// A strip of the destination is narrower than a cache line of the source: tiles of rows keep the rest of each line
	// at hand for the next strip.
	const most = 256
	tile := most
	if es := int(unsafe.Sizeof(src[0])); lds*es%4096 == 0 && cols*ldd*es <= 32<<10 {
		tile = side // all rows are in one set of the first-level cache, and the destination stays there
	}
	if has && cols >= side && rows >= side {
		strips := func(i, n int) {
			for j := 0; j < cols; j += side {
				at := min(j, cols-side) // the last strip may overlap the one before
				kernel(&dst[at*ldd+i], ldd, &src[i*lds+at], lds, n/side)
				if j&127 == 0 {
					preemptible(0)
				}
			}
		}
		for n := rows &^ (side - 1); i < n; i += tile {
			strips(i, min(tile, n-i))
		}
		if rows%side != 0 {
			strips(rows-side, side) // so may the last rows
		}
		return
	}
	block := 16
	if cols < 8 {
		block = most
	}
	for ; i < rows; i += block {
		for j := 0; j < cols; j += block {
			transposeSlow(dst[j*ldd+i:], ldd, src[i*lds+j:], lds, min(block, rows-i), min(block, cols-j))
		}
	}
}

// transposeSlow is the plain Go version, for small blocks and edges.
func transposeSlow[E any](dst []E, ldd int, src []E, lds, rows, cols int) {
	for j := range cols {
		d, s := dst[j*ldd:][:rows], src[j:]
		k := 0
		for i := range d {
			d[i] = s[k]
			k += lds
		}
	}
}
