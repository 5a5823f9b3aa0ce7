// Package webp gives the colours of lossy WebP images as libwebp does: by the matrix of ITU-R BT.601 for a limited range
// (luma from 16 to 235), from chroma planes that are enlarged by a triangle filter. golang.org/x/image/webp gives the
// planes, which Go's color.YCbCr takes for those of JPEG, with a full range and without a filter; pixels would be off
// by up to twenty levels. The formulas are those of libwebp's documentation of its YUV conversion
// (https://chromium.googlesource.com/webm/libwebp, src/dsp/yuv.h and upsampling.c).
package webp

import "image"

// RGB is the image that x/image/webp has decoded, with its colours converted; others than lossy ones stay as they are.
func RGB(img image.Image) image.Image {
	var planes *image.YCbCr
	var alpha *image.NYCbCrA
	switch x := img.(type) {
	case *image.YCbCr:
		planes = x
	case *image.NYCbCrA:
		planes, alpha = &x.YCbCr, x
	default:
		return img
	}
	if planes.SubsampleRatio != image.YCbCrSubsampleRatio420 || planes.Rect.Min != (image.Point{}) {
		return img // which no WebP is
	}
	w, h := planes.Rect.Dx(), planes.Rect.Dy()
	out := image.NewNRGBA(planes.Rect)
	us, vs := make([]int, w), make([]int, w)
	for y := range h {
		enlarge(us, planes.Cb, planes.CStride, y, h)
		enlarge(vs, planes.Cr, planes.CStride, y, h)
		row := out.Pix[y*out.Stride:]
		for x := range w {
			l := int(planes.Y[y*planes.YStride+x]) * 19077 >> 8
			u, v := us[x], vs[x]
			row[4*x] = clip(l + v*26149>>8 - 14234)
			row[4*x+1] = clip(l - u*6419>>8 - v*13320>>8 + 8708)
			row[4*x+2] = clip(l + u*33050>>8 - 17685)
			row[4*x+3] = 255
			if alpha != nil {
				row[4*x+3] = alpha.A[y*alpha.AStride+x]
			}
		}
	}
	return out
}

// clip is a number with six binary places as a byte.
func clip(v int) uint8 { return uint8(min(max(v>>6, 0), 255)) }

// enlarge computes a line of a chroma plane at the resolution of the luma, of which the image has h lines. A sample is
// 9/16 of the nearest one, 3/16 of the two beside it and 1/16 of the one across, with libwebp's rounding.
func enlarge(dst []int, plane []uint8, stride, y, h int) {
	rows := (h + 1) / 2
	near := y / 2
	far := min(near+1, rows-1)
	if y%2 == 0 {
		far = max(near-1, 0)
	}
	n, f := plane[near*stride:], plane[far*stride:]
	edge := func(x int) int { return (3*int(n[x]) + int(f[x]) + 2) >> 2 }
	dst[0] = edge(0)
	for x := 1; 2*x-1 < len(dst); x++ {
		if 2*x == len(dst) { // the last one of an even number
			dst[2*x-1] = edge(x - 1)
			break
		}
		n0, n1, f0, f1 := int(n[x-1]), int(n[x]), int(f[x-1]), int(f[x])
		sum := n0 + n1 + f0 + f1 + 8
		dst[2*x-1] = ((sum+2*(f0+n1))>>3 + n0) >> 1
		dst[2*x] = ((sum+2*(n0+f1))>>3 + n1) >> 1
	}
}
