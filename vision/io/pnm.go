package visionio

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
)

// This file reads Portable Graymaps and Pixmaps of bytes (the formats P5 and P6 of Netpbm).

func init() {
	image.RegisterFormat("pgm", "P5", decodePNM, decodePNMConfig)
	image.RegisterFormat("ppm", "P6", decodePNM, decodePNMConfig)
}

// errPNM is wrapped by errors about the contents of such a file.
var errPNM = errors.New("malformed Portable Anymap")

type pnmHeader struct {
	bands, width, height, white int
}

// readPNM reads the header: the kind, width, height and the value of white, between white space and comments.
func readPNM(r *bufio.Reader) (h pnmHeader, err error) {
	var kind [2]byte
	if _, err := io.ReadFull(r, kind[:]); err != nil {
		return h, fmt.Errorf("%w: %w", errPNM, err)
	}
	switch string(kind[:]) {
	case "P5":
		h.bands = 1
	case "P6":
		h.bands = 3
	default:
		return h, fmt.Errorf("%w: it begins with %q", errPNM, kind)
	}
	for _, to := range []*int{&h.width, &h.height, &h.white} {
		if *to, err = pnmNumber(r); err != nil {
			return h, err
		}
	}
	if h.width < 1 || h.height < 1 || h.white < 1 || h.white > 255 || h.width > maxPixels/h.height {
		return h, fmt.Errorf("%w: %d x %d pixels, white is %d; want at most %d pixels of bytes", errPNM, h.width,
			h.height, h.white, maxPixels)
	}
	return h, nil
}

// pnmNumber reads a number with the byte behind it, over white space and comments.
func pnmNumber(r *bufio.Reader) (n int, err error) {
	comment, digits := false, 0
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0, fmt.Errorf("%w: %w", errPNM, err)
		}
		switch {
		case comment:
			comment = b != '\n'
		case b >= '0' && b <= '9' && digits < 9:
			n, digits = 10*n+int(b-'0'), digits+1
		case digits > 0 && (b == ' ' || b >= '\t' && b <= '\r'):
			return n, nil
		case digits == 0 && b == '#':
			comment = true
		case digits > 0 || b != ' ' && (b < '\t' || b > '\r'):
			return 0, fmt.Errorf("%w: byte %q in the header", errPNM, b)
		}
	}
}

func decodePNMConfig(r io.Reader) (image.Config, error) {
	h, err := readPNM(bufio.NewReader(r))
	model := color.GrayModel
	if h.bands == 3 {
		model = color.RGBAModel
	}
	return image.Config{ColorModel: model, Width: h.width, Height: h.height}, err
}

func decodePNM(r io.Reader) (image.Image, error) {
	b := bufio.NewReader(r)
	h, err := readPNM(b)
	if err != nil {
		return nil, err
	}
	// rows are read as they come, so that a short file does not cost what its header promises
	row, pix := make([]byte, h.width*h.bands), []byte(nil)
	var scaled [256]byte
	for v := range scaled { // as Pillow rounds
		scaled[v] = uint8(min(math.RoundToEven(float64(v)/float64(h.white)*255), 255))
	}
	for y := range h.height {
		if _, err := io.ReadFull(b, row); err != nil {
			return nil, fmt.Errorf("%w: row %d of %d: %w", errPNM, y, h.height, err)
		}
		for _, v := range row {
			if pix = append(pix, scaled[v]); h.bands == 3 && len(pix)%4 == 3 {
				pix = append(pix, 255)
			}
		}
	}
	at := image.Rect(0, 0, h.width, h.height)
	if h.bands == 1 {
		return &image.Gray{Pix: pix, Stride: h.width, Rect: at}, nil
	}
	return &image.RGBA{Pix: pix, Stride: 4 * h.width, Rect: at}, nil
}
