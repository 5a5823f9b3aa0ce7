package mem

import "math/bits"

// classOf rounds a size up to one of a few sizes per power of two: four, so that at most a fifth is lost, and sixteen
// from [fine] on, where memory counts for more than the number of lists. The pad comes on top, so that round sizes lose
// nothing, and small blocks fill their pages.
func classOf(n int) (class, size int) {
	k := bits.Len(uint(n-1)) - 1 // 2^k <= n-1 < 2^(k+1)
	b := 2
	if n > fine {
		b = 4
	}
	step := 1 << (k - b)
	size = (n + step - 1) &^ (step - 1)
	return k<<4 | (size-1)>>(k-b)&(1<<b-1), padded(size)
}

// padded is the size of a block for a piece of n bytes.
func padded(n int) int { return (n + pad + page - 1) &^ (page - 1) }

// sizeOf is the size of the blocks of a class.
func sizeOf(class int) int {
	k, b := class>>4, 2
	if 1<<k >= fine {
		b = 4
	}
	return padded((1<<b + class&15 + 1) << k >> b)
}

// finest reports that sizes of the class come in sixteen steps per power of two.
func finest(class int) bool { return 1<<(class>>4) >= fine }

// steps is how many classes above its own a piece may lie in when its own has no free block: their blocks are at most
// a quarter larger.
func steps(class int) int {
	if finest(class) {
		return 4
	}
	return 1
}

// after is the next larger class.
func after(class int) int {
	last := 3
	if finest(class) {
		last = 15
	}
	if class&15 == last {
		return class&^15 + 16
	}
	return class + 1
}
