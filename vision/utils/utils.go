// Package utils shows images: grids of them, and boxes, masks, points and motion drawn into them, PyTorch's
// torchvision.utils. Images are uint8 tensors (3, H, W) unless a function says otherwise.
package utils

import (
	"fmt"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"path/filepath"
	"strings"

	"golang.org/x/image/colornames"
	"golang.org/x/image/font"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/atomicfile"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/transforms/functional"
)

// GridOptions are the options of MakeGrid; the zero value is torchvision's default.
type GridOptions struct {
	NRow       int             // images in a row, default 8
	Padding    tensor.Opt[int] // pixels between images, default 2
	Normalize  bool            // shift and scale to between 0 and 1
	ValueRange *[2]float64     // what becomes 0 and 1; default the smallest and largest value
	ScaleEach  bool            // each image by its own values
	PadValue   float64
}

// MakeGrid puts images (N, C, H, W), (C, H, W) or (H, W) side by side: (C', H', W'). Grey images become ones of three
// equal channels.
// https://pytorch.org/vision/stable/generated/torchvision.utils.make_grid.html
func MakeGrid(x *tensor.Tensor, opts ...GridOptions) *tensor.Tensor {
	o := GridOptions{}
	if len(opts) > 0 {
		o = opts[0]
	}
	if o.NRow <= 0 {
		o.NRow = 8
	}
	if x.Dim() < 2 || x.Dim() > 4 || x.Numel() == 0 {
		tensor.Fail(tensor.ErrShape, "make_grid: want images (N, C, H, W), got shape %s", tensor.ShapeString(x.Shape()))
	}
	if x.Dim() == 2 {
		x = x.Unsqueeze(0)
	}
	if x.Dim() == 3 {
		x = x.Unsqueeze(0)
	}
	if x.Size(1) == 1 {
		x = torch.Cat([]*tensor.Tensor{x, x, x}, torch.CatOptions{Dim: 1})
	}
	if o.Normalize {
		x = normalized(x, o)
	}
	if x.Size(0) == 1 {
		return x.SqueezeDim(0)
	}
	n, pad := x.Size(0), o.Padding.Or(2)
	across := min(o.NRow, n)
	down := (n + across - 1) / across
	h, w := x.Size(2)+pad, x.Size(3)+pad
	grid := x.NewFull([]int{x.Size(1), h*down + pad, w*across + pad}, o.PadValue)
	for i := range n {
		grid.Narrow(1, i/across*h+pad, h-pad).Narrow(2, i%across*w+pad, w-pad).CopyInPlace(x.Select(0, i))
	}
	return grid
}

// normalized shifts and scales images to between 0 and 1.
func normalized(x *tensor.Tensor, o GridOptions) *tensor.Tensor {
	scale := func(t *tensor.Tensor) *tensor.Tensor {
		lo, hi := t.Min().Item(), t.Max().Item()
		if o.ValueRange != nil {
			lo, hi = o.ValueRange[0], o.ValueRange[1]
		}
		return t.ClampScalar(tensor.ClampScalarOptions{Min: lo, Max: hi}).SubScalar(lo).DivScalar(max(hi-lo, 1e-5))
	}
	if !o.ScaleEach {
		return scale(x)
	}
	var out []*tensor.Tensor
	for _, t := range x.Unbind() {
		out = append(out, scale(t))
	}
	return torch.Stack(out)
}

// SaveImage writes a grid of floating-point images between 0 and 1 to a PNG or JPEG file, by the name's ending. The
// file is complete or not there.
// https://pytorch.org/vision/stable/generated/torchvision.utils.save_image.html
func SaveImage(x *tensor.Tensor, path string, opts ...GridOptions) (err error) {
	var write func(w io.Writer) error
	e := tensor.Try(func() {
		g := MakeGrid(x, opts...).Float().MulScalar(255).AddScalar(0.5).
			ClampScalar(tensor.ClampScalarOptions{Min: 0, Max: 255}).Byte()
		im := functional.ToPILImage(g).Image()
		switch ext := strings.ToLower(filepath.Ext(path)); ext {
		case ".png":
			write = func(w io.Writer) error { return png.Encode(w, im) }
		case ".jpg", ".jpeg":
			write = func(w io.Writer) error { return jpeg.Encode(w, im, &jpeg.Options{Quality: 75}) }
		default:
			err = fmt.Errorf("utils.SaveImage: %s: unknown ending %q, want .png, .jpg or .jpeg", path, ext)
		}
	})
	if e != nil {
		return e
	}
	if err != nil {
		return err
	}
	return atomicfile.Write(path, write)
}

// DrawOptions are the options of the functions that draw.
type DrawOptions struct {
	Colors []string // names of CSS or "#rrggbb", one for all or one for each; default a palette
	Width  int      // of lines: boxes 1, connections 3 unless given
	Fill   bool     // boxes: filled half transparently
	// Labels are written into the upper left corners of boxes, in their colour unless LabelColors are given, and on
	// grounds of LabelBackgrounds where those are. The font is Go's own; Pillow's differs.
	Labels, LabelColors, LabelBackgrounds []string
	FontSize                              float64             // of labels in pixels, default 10
	Alpha                                 tensor.Opt[float64] // masks: how much of the color, default 0.8
	Radius                                tensor.Opt[int]     // of points, default 2
	// Connectivity are the pairs of points that are joined by lines.
	Connectivity [][2]int
	// Visibility (N, K) says which points are drawn; default all.
	Visibility *tensor.Tensor
}

// palette is the color of object i.
func palette(i int) [3]uint8 {
	return [3]uint8{uint8(i * (1<<25 - 1) % 255), uint8(i * (1<<15 - 1) % 255), uint8(i * (1<<21 - 1) % 255)}
}

// color is the color of object i.
func (o *DrawOptions) color(i int) [3]uint8 {
	if len(o.Colors) == 0 {
		return palette(i)
	}
	return parseColor(o.Colors[i%len(o.Colors)])
}

// parseColor reads the name of a color of CSS, or "#rrggbb".
func parseColor(name string) [3]uint8 {
	var c color.RGBA
	if n, _ := fmt.Sscanf(name, "#%02x%02x%02x", &c.R, &c.G, &c.B); n == 3 && len(name) == 7 {
		return [3]uint8{c.R, c.G, c.B}
	}
	c, ok := colornames.Map[strings.ToLower(name)]
	if !ok {
		tensor.Fail(tensor.ErrValue, "utils: unknown color %q", name)
	}
	return [3]uint8{c.R, c.G, c.B}
}

// canvas is an image that is drawn on.
type canvas struct {
	h, w int
	pix  []uint8 // three planes
}

// newCanvas copies an image; grey ones become ones of three channels.
func newCanvas(name string, image *tensor.Tensor) *canvas {
	if image.DType() != tensor.Uint8 || image.Dim() != 3 || image.Size(0) != 3 && image.Size(0) != 1 {
		tensor.Fail(tensor.ErrShape, "%s: want a uint8 image (3, H, W), got %s%s", name, image.DType(),
			tensor.ShapeString(image.Shape()))
	}
	h, w := image.Size(1), image.Size(2)
	x := image.Expand([]int{3, h, w}).Contiguous().CPU()
	return &canvas{h, w, append([]uint8(nil), tensor.Data[uint8](x)...)}
}

func (c *canvas) tensor() *tensor.Tensor { return tensor.FromSlice(c.pix, 3, c.h, c.w) }

// set mixes a pixel with a color; what lies outside is left out.
func (c *canvas) set(x, y int, col [3]uint8, alpha float64) {
	if x < 0 || y < 0 || x >= c.w || y >= c.h {
		return
	}
	for b, v := range col {
		p := &c.pix[(b*c.h+y)*c.w+x]
		*p = uint8(float64(*p)*(1-alpha) + float64(v)*alpha + 0.5)
	}
}

// limit cuts a coordinate of a drawing to somewhat more than an image of n pixels, so that loops end.
func limit(v float64, n int) int {
	if v != v {
		return -2
	}
	return int(min(max(v, -2), float64(n)+2))
}

// DrawBoundingBoxes draws the outlines of boxes (N, 4) of corners, and labels.
// https://pytorch.org/vision/stable/generated/torchvision.utils.draw_bounding_boxes.html
func DrawBoundingBoxes(image, boxes *tensor.Tensor, opts ...DrawOptions) *tensor.Tensor {
	c, o := newCanvas("draw_bounding_boxes", image), first(opts)
	b := numbers("draw_bounding_boxes", boxes, 2, 4)
	width := max(o.Width, 1)
	var face font.Face
	if o.Labels != nil {
		if len(o.Labels) != len(b)/4 {
			tensor.Fail(tensor.ErrValue, "draw_bounding_boxes: number of boxes (%d) and labels (%d) mismatch", len(b)/4,
				len(o.Labels))
		}
		if o.FontSize == 0 {
			o.FontSize = 10
		}
		face = newFace(o.FontSize)
	}
	for i := 0; i < len(b); i += 4 {
		x0, y0, x1, y1 := limit(math.Trunc(b[i]), c.w), limit(math.Trunc(b[i+1]), c.h), limit(math.Trunc(b[i+2]), c.w),
			limit(math.Trunc(b[i+3]), c.h)
		if x0 > x1 || y0 > y1 {
			tensor.Fail(tensor.ErrValue, "draw_bounding_boxes: box %d does not go from its first corner to the second",
				i/4)
		}
		col := o.color(i / 4)
		for y := y0; y <= y1; y++ {
			for x := x0; x <= x1; x++ {
				switch {
				case x < x0+width || x > x1-width || y < y0+width || y > y1-width:
					c.set(x, y, col, 1)
				case o.Fill:
					c.set(x, y, col, 100.0/255)
				}
			}
		}
		if face != nil {
			c.label(x0+width+1, y0+width+1, o.Labels[i/4], face, o.labelColor(i/4, col), o.labelGround(i/4))
		}
	}
	return c.tensor()
}

// labelColor is the color of the label of box i, whose own color is given.
func (o *DrawOptions) labelColor(i int, own [3]uint8) [3]uint8 {
	if len(o.LabelColors) == 0 {
		return own
	}
	return parseColor(o.LabelColors[i%len(o.LabelColors)])
}

// labelGround is the color behind the label of box i, nil for none.
func (o *DrawOptions) labelGround(i int) *[3]uint8 {
	if len(o.LabelBackgrounds) == 0 {
		return nil
	}
	c := parseColor(o.LabelBackgrounds[i%len(o.LabelBackgrounds)])
	return &c
}

func first(opts []DrawOptions) (o DrawOptions) {
	if len(opts) > 0 {
		o = opts[0]
	}
	return o
}

// numbers are the elements of a tensor of so many dimensions whose last one has size last.
func numbers(name string, t *tensor.Tensor, dims, last int) []float64 {
	if t.Dim() != dims || t.Size(-1) != last {
		tensor.Fail(tensor.ErrShape, "%s: want a tensor of %d dimensions, the last of size %d, got shape %s", name,
			dims,
			last, tensor.ShapeString(t.Shape()))
	}
	return tensor.Data[float64](tensor.DenseAs(t.Detach().CPU(), tensor.Float64))
}

// DrawSegmentationMasks colors the pixels of masks (N, H, W) or (H, W) of bool; where masks overlap, the color is
// black.
// https://pytorch.org/vision/stable/generated/torchvision.utils.draw_segmentation_masks.html
func DrawSegmentationMasks(image, masks *tensor.Tensor, opts ...DrawOptions) *tensor.Tensor {
	c, o := newCanvas("draw_segmentation_masks", image), first(opts)
	if masks.Dim() == 2 {
		masks = masks.Unsqueeze(0)
	}
	if masks.DType() != tensor.Bool || masks.Dim() != 3 || masks.Size(1) != c.h || masks.Size(2) != c.w {
		tensor.Fail(tensor.ErrShape, "draw_segmentation_masks: want bool masks (N, %d, %d), got %s%s", c.h, c.w,
			masks.DType(), tensor.ShapeString(masks.Shape()))
	}
	m := tensor.Data[bool](tensor.Dense(masks.CPU()))
	top := make([]int, c.h*c.w) // the number of the mask of each pixel, and 1; -1 for several masks
	for i, on := range m {
		if p := &top[i%len(top)]; on && *p == 0 {
			*p = i/len(top) + 1
		} else if on {
			*p = -1
		}
	}
	alpha, rest := float32(o.Alpha.Or(0.8)), float32(1-o.Alpha.Or(0.8))
	for i, k := range top {
		if k == 0 {
			continue
		}
		col := [3]uint8{}
		if k > 0 {
			col = o.color(k - 1)
		}
		for b, v := range col {
			p := &c.pix[b*len(top)+i]
			*p = uint8(float32(*p)*rest + float32(v)*alpha)
		}
	}
	return c.tensor()
}

// DrawKeypoints draws points (N, K, 2), x before y, and lines between those that Connectivity names.
// https://pytorch.org/vision/stable/generated/torchvision.utils.draw_keypoints.html
func DrawKeypoints(image, keypoints *tensor.Tensor, opts ...DrawOptions) *tensor.Tensor {
	c, o := newCanvas("draw_keypoints", image), first(opts)
	p := numbers("draw_keypoints", keypoints, 3, 2)
	k := keypoints.Size(1)
	visible := func(int) bool { return true }
	if o.Visibility != nil {
		v := numbers("draw_keypoints: visibility", o.Visibility.Unsqueeze(-1), 3, 1)
		if len(v) != len(p)/2 {
			tensor.Fail(tensor.ErrShape, "draw_keypoints: %d visibilities for %d points", len(v), len(p)/2)
		}
		visible = func(i int) bool { return v[i] != 0 }
	}
	r, width := o.Radius.Or(2), o.Width
	if width <= 0 {
		width = 3
	}
	at := func(i int) (x, y int) { return limit(p[2*i], c.w), limit(p[2*i+1], c.h) }
	for i := range len(p) / 2 {
		if !visible(i) {
			continue
		}
		x, y := at(i)
		col := [3]uint8{255, 0, 0}
		if len(o.Colors) > 0 {
			col = o.color(i / k)
		}
		c.disc(x, y, float64(r), col)
	}
	for n := range len(p) / 2 / max(k, 1) {
		for _, e := range o.Connectivity {
			if e[0] < 0 || e[1] < 0 || e[0] >= k || e[1] >= k {
				tensor.Fail(tensor.ErrIndex, "draw_keypoints: connection %v of %d points", e, k)
			}
			if a, b := n*k+e[0], n*k+e[1]; visible(a) && visible(b) {
				x0, y0 := at(a)
				x1, y1 := at(b)
				c.line(x0, y0, x1, y1, float64(width-1)/2, [3]uint8{})
			}
		}
	}
	return c.tensor()
}

func (c *canvas) disc(x, y int, r float64, col [3]uint8) {
	n := int(math.Ceil(min(r, float64(max(c.w, c.h))))) // no further than the picture
	for dy := -n; dy <= n; dy++ {
		for dx := -n; dx <= n; dx++ {
			if float64(dx*dx+dy*dy) <= (r+0.25)*(r+0.25) {
				c.set(x+dx, y+dy, col, 1)
			}
		}
	}
}

// line draws discs of radius r along a line.
func (c *canvas) line(x0, y0, x1, y1 int, r float64, col [3]uint8) {
	n := max(x1-x0, x0-x1, y1-y0, y0-y1, 1)
	for i := range n + 1 {
		x, y := float64(x0)+float64((x1-x0)*i)/float64(n), float64(y0)+float64((y1-y0)*i)/float64(n)
		c.disc(int(math.Round(x)), int(math.Round(y)), r, col)
	}
}

// wheel is the circle of colors of FlowToImage (Baker et al., A Database and Evaluation Methodology for Optical Flow,
// 2007): six transitions between the primary and secondary colors.
func wheel() (out [][3]float32) {
	for i, n := range []int{15, 6, 4, 11, 13, 6} {
		up := (i/2 + 1 - i%2) % 3 // the band that changes
		if i%2 == 1 {
			up = i / 2
		}
		for k := range n {
			var c [3]float32
			v := float32(math.Floor(255 * float64(k) / float64(n)))
			if i%2 == 0 {
				c[i/2], c[up] = 255, v
			} else {
				c[(i/2+1)%3], c[up] = 255, 255-v
			}
			out = append(out, c)
		}
	}
	return out
}

// FlowToImage shows motion (2, H, W) or (N, 2, H, W) as colors: the direction is the hue, the length, by the largest
// one, the saturation: uint8 (3, H, W) or (N, 3, H, W).
// https://pytorch.org/vision/stable/generated/torchvision.utils.flow_to_image.html
func FlowToImage(flow *tensor.Tensor) *tensor.Tensor {
	one := flow.Dim() == 3
	if one {
		flow = flow.Unsqueeze(0)
	}
	if flow.DType() != tensor.Float32 || flow.Dim() != 4 || flow.Size(1) != 2 {
		tensor.Fail(tensor.ErrShape, "flow_to_image: want float32 (2, H, W) or (N, 2, H, W), got %s%s", flow.DType(),
			tensor.ShapeString(flow.Shape()))
	}
	const eps = 1.1920928955078125e-07
	longest := flow.Square().SumDim([]int{1}).Sqrt().Max().Item()
	flow = flow.DivScalar(float64(float32(longest) + eps))
	n, h, w := flow.Size(0), flow.Size(2), flow.Size(3)
	f, colors := tensor.Data[float32](tensor.Dense(flow.CPU())), wheel()
	out := make([]uint8, n*3*h*w)
	for i := range n {
		for p := range h * w {
			u, v := f[(2*i)*h*w+p], f[(2*i+1)*h*w+p]
			norm := float32(math.Sqrt(float64(u*u + v*v)))
			a := float32(math.Atan2(-float64(v), -float64(u))) / float32(math.Pi)
			at := (a + 1) / 2 * float32(len(colors)-1)
			k := min(max(int(at), 0), len(colors)-1)
			part := at - float32(k)
			for c := range 3 {
				col := (1-part)*(colors[k][c]/255) + part*(colors[(k+1)%len(colors)][c]/255)
				out[((3*i)+c)*h*w+p] = uint8(255 * (1 - norm*(1-col)))
			}
		}
	}
	t := tensor.FromSlice(out, n, 3, h, w)
	if one {
		return t.SqueezeDim(0)
	}
	return t
}
