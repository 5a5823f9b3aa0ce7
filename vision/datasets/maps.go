package datasets

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"strings"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// maxMap is the largest number of elements of a file of numbers for pixels.
const maxMap = 1 << 28

// ReadPFM reads a Portable Float Map to a float32 tensor (C, H, W) of 1 or 3 channels; the rows of the file go upwards.
func ReadPFM(path string) (*tensor.Tensor, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t, err := parsePFM(b)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", path, err)
	}
	return t, nil
}

func parsePFM(b []byte) (*tensor.Tensor, error) {
	r := bufio.NewReader(bytes.NewReader(b))
	line := func() string {
		s, err := r.ReadString('\n')
		if err != nil {
			return ""
		}
		return strings.TrimSpace(s)
	}
	channels := map[string]int{"Pf": 1, "PF": 3}[line()]
	var w, h int
	var scale float64
	_, err := fmt.Sscanf(line(), "%d %d", &w, &h)
	if err == nil {
		_, err = fmt.Sscanf(line(), "%g", &scale)
	}
	if err != nil || channels == 0 || w < 1 || h < 1 || w > maxMap/h || scale == 0 {
		return nil, fmt.Errorf("no header of a Portable Float Map")
	}
	data, err := io.ReadAll(r)
	if err != nil || len(data) != 4*channels*w*h {
		return nil, fmt.Errorf("%d bytes of data for %d x %d x %d numbers", len(data), channels, w, h)
	}
	order := binary.ByteOrder(binary.BigEndian)
	if scale < 0 {
		order = binary.LittleEndian
	}
	t := tensor.New([]int{channels, h, w}, tensor.Float32)
	out := tensor.Data[float32](t)
	for i := range out {
		c, y, x := i/(h*w), i/w%h, i%w
		out[i] = math.Float32frombits(order.Uint32(data[4*(((h-1-y)*w+x)*channels+c):]))
	}
	return t, nil
}

// ReadFlo reads the optical flow of a .flo file (Middlebury) to a float32 tensor (2, H, W).
func ReadFlo(path string) (*tensor.Tensor, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t, err := parseFlo(b)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", path, err)
	}
	return t, nil
}

func parseFlo(b []byte) (*tensor.Tensor, error) {
	if len(b) < 12 || string(b[:4]) != "PIEH" {
		return nil, fmt.Errorf("magic number incorrect, this is no .flo file")
	}
	w, h := int(int32(binary.LittleEndian.Uint32(b[4:]))), int(int32(binary.LittleEndian.Uint32(b[8:])))
	if b = b[12:]; w < 1 || h < 1 || w > maxMap/h || len(b) < 8*w*h {
		return nil, fmt.Errorf("%d bytes of data for %d x %d pairs of numbers", len(b), w, h)
	}
	t := tensor.New([]int{2, h, w}, tensor.Float32)
	out := tensor.Data[float32](t)
	for i := range w * h {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[8*i:]))
		out[w*h+i] = math.Float32frombits(binary.LittleEndian.Uint32(b[8*i+4:]))
	}
	return t, nil
}

// png16 is the numbers of a picture of one channel, which are in the first of three, or of three.
type png16 struct {
	w, h int
	pix  [][3]uint16
}

// readPNG16 reads a PNG without losing the lower half of 16 bits.
func readPNG16(path string) (*png16, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c, err := png.DecodeConfig(bytes.NewReader(b))
	if err == nil && (c.Width > maxMap/c.Height || c.Width*c.Height > max(1<<22, 8300*len(b))) {
		err = fmt.Errorf("%d bytes claim to be an image of %d x %d pixels", len(b), c.Width, c.Height)
	}
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", path, err)
	}
	im, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", path, err)
	}
	r := im.Bounds()
	p := &png16{r.Dx(), r.Dy(), make([][3]uint16, r.Dx()*r.Dy())}
	shift := 8 // 8 bits are given twice
	switch im.(type) {
	case *image.Gray16, *image.RGBA64, *image.NRGBA64:
		shift = 0
	}
	for i := range p.pix {
		c := color.NRGBA64Model.Convert(im.At(r.Min.X+i%p.w, r.Min.Y+i/p.w)).(color.NRGBA64)
		p.pix[i] = [3]uint16{c.R >> shift, c.G >> shift, c.B >> shift}
	}
	return p, nil
}

// plane is a number for each pixel (1, H, W).
func (p *png16) plane(f func(v [3]uint16) float32) *tensor.Tensor {
	t := tensor.New([]int{1, p.h, p.w}, tensor.Float32)
	for i, v := range p.pix {
		tensor.Data[float32](t)[i] = f(v)
	}
	return t
}

// both puts two planes one behind the other.
func both(x, y *tensor.Tensor) *tensor.Tensor { return torch.Cat([]*tensor.Tensor{x, y}) }

func readJSON(path string, to any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("datasets: %s: %w", path, err)
	}
	return nil
}
