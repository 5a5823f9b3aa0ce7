// Package imageset holds the one type that the small grey-image data sets share:
// all pixels in one byte slice, all labels in another. A set of 60,000 images of
// 28x28 is 47 MB this way, without a slice header or an allocation per image, and
// a batch is a copy of one contiguous piece.
package imageset

import (
	"fmt"
	"image"
)

// Set is a data set of equally large 8-bit grey images with one class label each.
//
// Pixels run row by row from the top left, 0 is the background (black) and 255 the
// brightest ink, as in MNIST. The slices belong to the caller, who may change them.
type Set struct {
	// Images holds the pixels, of length Len()*Rows*Cols.
	Images []byte
	// Labels holds the class of each image, of length Len(), each below Classes.
	Labels []uint8
	// Rows and Cols are the height and the width of every image.
	Rows, Cols int
	// Classes is the number of classes.
	Classes int
}

// Len returns the number of images.
func (s *Set) Len() int { return len(s.Labels) }

// Pixels returns the Rows*Cols pixels of image i. The slice is a view: writing to it
// changes the set. It panics if i is out of range.
func (s *Set) Pixels(i int) []byte {
	s.check("Pixels", i)
	n := s.Rows * s.Cols
	// The third index keeps an append by the caller out of the next image.
	return s.Images[i*n : (i+1)*n : (i+1)*n]
}

// Image returns image i as a view of the set's pixels, ready for image/png and
// image/draw. It panics if i is out of range.
func (s *Set) Image(i int) *image.Gray {
	s.check("Image", i)
	return &image.Gray{Pix: s.Pixels(i), Stride: s.Cols, Rect: image.Rect(0, 0, s.Cols, s.Rows)}
}

// Counts returns how many images each class has.
func (s *Set) Counts() []int {
	n := make([]int, s.Classes)
	for _, l := range s.Labels {
		n[l]++
	}
	return n
}

// Sheet returns a contact sheet: the first rows*cols images, or as many as there
// are, side by side with a one-pixel grey frame between them. It panics if a number is
// negative, and has no more rows and columns than there are images.
func (s *Set) Sheet(rows, cols int) *image.Gray {
	if rows < 0 || cols < 0 {
		panic(fmt.Sprintf("imageset: Sheet(%d, %d): a number is negative", rows, cols))
	}
	rows, cols = min(rows, s.Len()), min(cols, s.Len())
	w, h := s.Cols+1, s.Rows+1
	sheet := image.NewGray(image.Rect(0, 0, cols*w+1, rows*h+1))
	for i := range sheet.Pix {
		sheet.Pix[i] = 64
	}
	for i := range min(rows*cols, s.Len()) {
		x0, y0 := i%cols*w+1, i/cols*h+1
		px := s.Pixels(i)
		for y := range s.Rows {
			copy(sheet.Pix[(y0+y)*sheet.Stride+x0:], px[y*s.Cols:(y+1)*s.Cols])
		}
	}
	return sheet
}

func (s *Set) check(op string, i int) {
	if i < 0 || i >= s.Len() {
		panic(fmt.Sprintf("imageset: %s(%d): the index must be in [0, %d)", op, i, s.Len()))
	}
}
