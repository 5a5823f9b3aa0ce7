// Package jpeg reads and writes JPEG images (ITU-T T.81) with the arithmetic of the Independent JPEG Group's library, as
// libjpeg-turbo has it: the integer transforms "islow", triangle filters for smaller chroma planes, fixed-point colour
// conversion. Pillow and torchvision use that library with these settings, so that a network sees here the very pixels
// that it was trained on, where Go's image/jpeg differs by a level or two; and what is written here are the same bytes.
//
// Baseline, extended and progressive images of 8 bits with one or three components are read. Others, such as CMYK, give
// [ErrUnsupported].
package jpeg

import "errors"

// ErrFormat is wrapped by errors about the contents of a file.
var ErrFormat = errors.New("malformed JPEG")

// ErrUnsupported is wrapped by errors about kinds of JPEG that are not read here.
var ErrUnsupported = errors.New("a kind of JPEG that is not supported")

// Image is rows of pixels.
type Image struct {
	Width, Height int
	Bands         int     // 1: grey, 3: red, green and blue
	Pix           []uint8 // the bands of a pixel side by side
}

// Markers (T.81, table B.1).
const (
	markSOF0  = 0xc0
	markSOF1  = 0xc1
	markSOF2  = 0xc2
	markDHT   = 0xc4
	markRST0  = 0xd0
	markSOI   = 0xd8
	markEOI   = 0xd9
	markSOS   = 0xda
	markDQT   = 0xdb
	markDRI   = 0xdd
	markAPP0  = 0xe0
	markAPP14 = 0xee
)

const blockSize = 64

// block is 8x8 coefficients or samples, row by row.
type block [blockSize]int16

// zigzag is the order in which coefficients are stored (T.81, figure A.6).
var zigzag = [blockSize]uint8{
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55,
	62, 63,
}

func clamp(v int32) uint8 {
	if uint32(v) > 255 {
		if v < 0 {
			return 0
		}
		return 255
	}
	return uint8(v)
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
