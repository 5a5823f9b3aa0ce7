package train

import (
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // decodes the pictures of predict
	_ "image/png"
	"io"
	"os"
	"sort"

	"golang.org/x/image/draw"

	"github.com/gotorch-dev/torch"
)

// maxPixels bounds what predict decodes: a small file can claim to be a huge picture.
const maxPixels = 100 << 20

// readGray reads a picture as the models were trained to see them: 28x28, light strokes on a dark ground.
func readGray(path string) (*image.Gray, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cfg, _, err := image.DecodeConfig(f)
	if err != nil {
		return nil, fmt.Errorf("%s: not a PNG or JPEG picture: %w", path, err)
	}
	if cfg.Width <= 0 || cfg.Height <= 0 || cfg.Width > maxPixels/cfg.Height {
		return nil, fmt.Errorf("%s: %d x %d pixels are too many", path, cfg.Width, cfg.Height)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	src, _, err := image.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	// the longer side fills the 28 pixels, the picture lies in the middle on its own ground
	const size = 28
	b, ground := src.Bounds(), border(src)
	out := image.NewGray(image.Rect(0, 0, size, size))
	draw.Draw(out, out.Bounds(), image.NewUniform(color.Gray{ground}), image.Point{}, draw.Src)
	side := max(b.Dx(), b.Dy())
	w, h := max(1, (b.Dx()*size+side/2)/side), max(1, (b.Dy()*size+side/2)/side)
	at := image.Pt((size-w)/2, (size-h)/2)
	draw.CatmullRom.Scale(out, image.Rectangle{at, at.Add(image.Pt(w, h))}, src, b, draw.Over, nil)
	if ground > 127 { // dark on light: turn it round
		for i, v := range out.Pix {
			out.Pix[i] = 255 - v
		}
	}
	return out, nil
}

// border is the mean grey along the edge, which tells the ground from the strokes.
func border(img image.Image) uint8 {
	b := img.Bounds()
	sum, n := 0, 0
	add := func(x, y int) {
		r, g, bl, a := img.At(x, y).RGBA()
		if a == 0 {
			r, g, bl = 0, 0, 0
		}
		sum += int((299*r + 587*g + 114*bl) / 1000 >> 8)
		n++
	}
	for x := b.Min.X; x < b.Max.X; x++ {
		add(x, b.Min.Y)
		add(x, b.Max.Y-1)
	}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		add(b.Min.X, y)
		add(b.Max.X-1, y)
	}
	return uint8(sum / n)
}

func classProbabilities(net classifier, img *image.Gray, norm [2]float32) []float64 {
	x := make([]float32, 28*28)
	for i := range x {
		x[i] = (float32(img.Pix[i])/255 - norm[0]) / norm[1]
	}
	var out []float64
	torch.NoGrad(func() { out = probabilities(net, torch.FromSlice(x, 1, 1, 28, 28)) })
	return out
}

// probabilities are those of the classes of one picture.
func probabilities(net classifier, x *torch.Tensor) (out []float64) {
	for _, v := range torch.Data[float32](net.Forward(x).Softmax(-1).Contiguous()) {
		out = append(out, float64(v))
	}
	return out
}

func topK(p []float64, k int) []int {
	ix := make([]int, len(p))
	for i := range ix {
		ix[i] = i
	}
	sort.SliceStable(ix, func(a, b int) bool { return p[ix[a]] > p[ix[b]] })
	return ix[:min(k, len(ix))]
}
