package coco

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"
	"slices"
	"strings"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"github.com/gotorch-dev/torch/coco/mask"
)

// DrawOptions says what [Draw] and [COCO.ShowAnns] draw. The zero value draws
// all that the annotations have.
type DrawOptions struct {
	// Categories gives names and skeletons; ShowAnns takes the categories of its dataset.
	Categories []*Category

	NoBoxes     bool // leave out boxes
	NoMasks     bool // leave out polygons and masks
	NoKeypoints bool // leave out keypoints and skeletons
	NoNames     bool // leave out names and scores

	// Color gives the colour of the i-th annotation. The default goes around
	// the colour wheel, so that neighbours in the list differ; crowds are green.
	Color func(i int, a *Annotation) color.Color
	// LineWidth is the width of outlines in pixels; 0 chooses by the size of
	// the image.
	LineWidth float64
	// FontSize is the height of the text in pixels; 0 chooses by the size of
	// the image.
	FontSize float64
}

// ShowAnns draws annotations of one image onto a copy of it: shapes filled
// half transparently and outlined, boxes, skeletons, and names with scores.
// Captions are written into a strip at the bottom (pycocotools prints them).
func (c *COCO) ShowAnns(img image.Image, anns []*Annotation, opts DrawOptions) (*image.RGBA, error) {
	if opts.Categories == nil {
		opts.Categories = c.Dataset.Categories
	}
	return Draw(img, anns, opts)
}

// Draw draws annotations onto a copy of img, whose top left pixel is their
// origin. It fails for a mask (RLE) that has not the size of the image, and
// for polygons that are none.
func Draw(img image.Image, anns []*Annotation, opts DrawOptions) (*image.RGBA, error) {
	b := img.Bounds()
	p := &painter{dst: image.NewRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))}
	draw.Draw(p.dst, p.dst.Bounds(), img, b.Min, draw.Src)
	p.w, p.h = float64(b.Dx()), float64(b.Dy())
	if b.Empty() {
		return p.dst, nil
	}
	short := min(p.w, p.h)
	line := opts.LineWidth
	if line <= 0 {
		line = max(1.5, short/240)
	}
	size := opts.FontSize
	if size <= 0 {
		size = min(max(11, short/32), 48)
	}
	cats := map[int64]*Category{}
	for _, k := range opts.Categories {
		cats[k.ID] = k
	}
	colors := make([]color.RGBA, len(anns))
	for i, a := range anns {
		if a == nil {
			return nil, fmt.Errorf("coco: Draw: annotation %d of the list is nil", i)
		}
		if err := a.check(); err != nil {
			return nil, inField(fmt.Sprintf("annotation %d", a.ID), err)
		}
		switch {
		case opts.Color != nil:
			colors[i] = color.RGBAModel.Convert(opts.Color(i, a)).(color.RGBA)
		case a.IsCrowd:
			colors[i] = color.RGBA{2, 166, 101, 255}
		default:
			colors[i] = wheel(i)
		}
	}
	// In layers, so that nothing hides a name.
	if !opts.NoMasks {
		for i, a := range anns {
			if err := p.shape(a, colors[i], line); err != nil {
				return nil, inField(fmt.Sprintf("annotation %d", a.ID), err)
			}
		}
	}
	if !opts.NoBoxes {
		for i, a := range anns {
			if a.Bbox != nil {
				x0, y0, x1, y1 := a.Bbox[0], a.Bbox[1], a.Bbox[0]+a.Bbox[2], a.Bbox[1]+a.Bbox[3]
				p.outline([]float64{x0, y0, x1, y0, x1, y1, x0, y1}, line, colors[i])
			}
		}
	}
	if !opts.NoKeypoints {
		for i, a := range anns {
			p.skeleton(a, cats[a.CategoryID], line, colors[i])
		}
	}
	var captions []string
	if !opts.NoNames {
		face, err := textFace(size)
		if err != nil {
			return nil, err
		}
		defer face.Close()
		for i, a := range anns {
			if a.Caption != "" {
				captions = append(captions, a.Caption)
				continue
			}
			p.label(face, a, cats[a.CategoryID], colors[i])
		}
		p.captions(face, captions)
	}
	return p.dst, nil
}

// wheel returns bright colours: each step turns the hue by the golden angle,
// which keeps any number of consecutive colours apart.
func wheel(i int) color.RGBA {
	h := math.Mod(0.02+0.6180339887498949*float64(i), 1) * 6
	// A hexagonal cone with saturation 0.85 and value 0.95.
	channel := func(n float64) uint8 {
		k := math.Mod(n+h, 6)
		return uint8(255 * (.95 - .95*.85*max(0, min(k, 4-k, 1))))
	}
	return color.RGBA{channel(5), channel(3), channel(1), 255}
}

// painter draws on dst, w x h pixels.
type painter struct {
	dst    *image.RGBA
	w, h   float64
	labels []image.Rectangle // where names stand already
}

// blend lays c over a pixel with the given opacity.
func (p *painter) blend(x, y int, c color.RGBA, alpha float64) {
	o := p.dst.PixOffset(x, y)
	px := p.dst.Pix[o : o+4 : o+4]
	for i, v := range [4]uint8{c.R, c.G, c.B, 255} {
		px[i] = uint8(float64(px[i])*(1-alpha) + float64(v)*alpha + .5)
	}
}

// fill covers the pixels of a mask.
func (p *painter) fill(r mask.RLE, c color.RGBA, alpha float64) {
	pos := 0
	for i, n := range r.Counts {
		if i%2 == 1 {
			for j := pos; j < pos+int(n); j++ {
				p.blend(j/r.H, j%r.H, c, alpha)
			}
		}
		pos += int(n)
	}
}

// shape fills and outlines an annotation's segmentation.
func (p *painter) shape(a *Annotation, c color.RGBA, line float64) error {
	s := a.Segmentation
	switch {
	case s == nil:
		return nil
	case s.RLE != nil:
		if err := s.RLE.Validate(); err != nil {
			return inField("segmentation", problem("%v", err))
		}
		if s.RLE.H != int(p.h) || s.RLE.W != int(p.w) {
			return inField("segmentation",
				problem("the mask is %d x %d, the image %d x %d", s.RLE.H, s.RLE.W, int(p.h), int(p.w)))
		}
		p.fill(*s.RLE, c, .5)
		return nil
	case len(s.Polygons) == 0:
		return nil
	}
	rles, err := mask.FromPolygons(s.Polygons, int(p.h), int(p.w))
	if err != nil {
		return inField("segmentation", problem("%v", err))
	}
	// United first: where parts overlap the colour must not get denser.
	all, err := mask.Merge(rles, false)
	if err != nil {
		return inField("segmentation", problem("%v", err))
	}
	p.fill(all, c, .4)
	for _, poly := range s.Polygons {
		p.outline(poly, line, c)
	}
	return nil
}

// outline draws a closed polygon.
func (p *painter) outline(xy []float64, width float64, c color.RGBA) {
	n := len(xy)
	for i := 0; i+1 < n; i += 2 {
		p.line(xy[i], xy[i+1], xy[(i+2)%n], xy[(i+3)%n], width, c)
	}
}

// line draws a line with round ends and smooth edges.
func (p *painter) line(x0, y0, x1, y1, width float64, c color.RGBA) {
	r := width / 2
	x0, y0, x1, y1, ok := clip(x0, y0, x1, y1, -r-1, -r-1, p.w+r+1, p.h+r+1)
	if !ok {
		return
	}
	dx, dy := x1-x0, y1-y0
	length := dx*dx + dy*dy
	// pixel draws one pixel by its distance from the line.
	pixel := func(x, y int) {
		px, py := float64(x)+.5-x0, float64(y)+.5-y0
		t := 0.0
		if length > 0 {
			t = max(0, min(1, (px*dx+py*dy)/length))
		}
		if cover := r + .5 - math.Hypot(px-t*dx, py-t*dy); cover > 0 {
			p.blend(x, y, c, min(1, cover))
		}
	}
	// Along the longer direction, only the pixels near the line are looked at.
	reach := (r+1)*math.Sqrt2 + 1
	w, h := int(p.w), int(p.h)
	if math.Abs(dx) >= math.Abs(dy) {
		for x := max(0, int(min(x0, x1)-r-1)); x <= min(w-1, int(max(x0, x1)+r+1)); x++ {
			mid := y0
			if dx != 0 {
				mid += dy * max(0, min(1, (float64(x)+.5-x0)/dx))
			}
			for y := max(0, int(mid-reach)); y <= min(h-1, int(mid+reach)); y++ {
				pixel(x, y)
			}
		}
		return
	}
	for y := max(0, int(min(y0, y1)-r-1)); y <= min(h-1, int(max(y0, y1)+r+1)); y++ {
		mid := x0 + dx*max(0, min(1, (float64(y)+.5-y0)/dy))
		for x := max(0, int(mid-reach)); x <= min(w-1, int(mid+reach)); x++ {
			pixel(x, y)
		}
	}
}

// clip cuts a line to a rectangle (Liang and Barsky's method): what is far
// outside the image must not cost time. Coordinates that are not finite leave
// nothing.
func clip(x0, y0, x1, y1, minX, minY, maxX, maxY float64) (a, b, c, d float64, ok bool) {
	dx, dy := x1-x0, y1-y0
	t0, t1 := 0.0, 1.0
	for _, e := range [4][2]float64{{-dx, x0 - minX}, {dx, maxX - x0}, {-dy, y0 - minY}, {dy, maxY - y0}} {
		switch q := e[1] / e[0]; {
		case e[0] == 0:
			if !(e[1] >= 0) {
				return
			}
		case math.IsNaN(q) || math.IsInf(e[0], 0):
			return
		case e[0] < 0:
			t0 = max(t0, q)
		default:
			t1 = min(t1, q)
		}
	}
	if !(t0 <= t1) {
		return
	}
	return x0 + t0*dx, y0 + t0*dy, x0 + t1*dx, y0 + t1*dy, true
}

// dot draws a filled circle.
func (p *painter) dot(x, y, r float64, c color.RGBA) { p.line(x, y, x, y, 2*r, c) }

// skeleton draws the limbs between labelled keypoints, and the keypoints; the
// hidden ones have a dark rim.
func (p *painter) skeleton(a *Annotation, k *Category, line float64, c color.RGBA) {
	n := len(a.Keypoints) / 3
	at := func(i int) (x, y, v float64) { return a.Keypoints[3*i], a.Keypoints[3*i+1], a.Keypoints[3*i+2] }
	if k != nil {
		for _, s := range k.Skeleton {
			i, j := s[0]-1, s[1]-1
			if i < 0 || j < 0 || i >= n || j >= n {
				continue
			}
			x0, y0, v0 := at(i)
			x1, y1, v1 := at(j)
			if v0 > 0 && v1 > 0 {
				p.line(x0, y0, x1, y1, 1.5*line, c)
			}
		}
	}
	for i := range n {
		if x, y, v := at(i); v > 0 {
			rim := c
			if v <= 1 {
				rim = color.RGBA{0, 0, 0, 255}
			}
			p.dot(x, y, 2*line, rim)
			p.dot(x, y, 1.2*line, c)
		}
	}
}

var textFont = sync.OnceValues(func() (*opentype.Font, error) { return opentype.Parse(gomedium.TTF) })

func textFace(size float64) (font.Face, error) {
	f, err := textFont()
	if err != nil {
		return nil, fmt.Errorf("coco: Draw: %w", err)
	}
	// 72 dots per inch make the size pixels.
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		return nil, fmt.Errorf("coco: Draw: %w", err)
	}
	return face, nil
}

// label writes name and score at the top left corner of the annotation, on a
// ground of its colour.
func (p *painter) label(face font.Face, a *Annotation, k *Category, c color.RGBA) {
	var text string
	if k != nil {
		text = k.Name
	}
	if a.Score != 0 {
		text = strings.TrimSpace(fmt.Sprintf("%s %.2f", text, a.Score))
	}
	if text == "" {
		return
	}
	if r := []rune(text); len(r) > 60 {
		text = string(r[:60]) + "…"
	}
	x, y, ok := a.corner()
	if !ok {
		return
	}
	m := face.Metrics()
	asc, desc := m.Ascent.Ceil(), m.Descent.Ceil()
	const pad = 2
	w, h := font.MeasureString(face, text).Ceil()+2*pad, asc+desc
	ix, iy := int(max(0, min(x, p.w-float64(w)))), int(max(-1e6, min(y, 1e6)))
	// Above the box, else inside, else further down, where no other name
	// stands; never outside the image.
	var at image.Rectangle
	for try := range 6 {
		top := max(0, min(iy+(try-1)*h, int(p.h)-h))
		r := image.Rect(ix, top, ix+w, top+h)
		if try == 0 {
			at = r // kept if nothing is free
			if iy < h {
				continue
			}
		}
		if !slices.ContainsFunc(p.labels, r.Overlaps) {
			at = r
			break
		}
	}
	ix, iy = at.Min.X, at.Min.Y
	if len(p.labels) < 2000 { // looking through them all must not take long
		p.labels = append(p.labels, at)
	}
	p.ground(at, c, .85)
	ink := color.Color(color.White)
	if 299*int(c.R)+587*int(c.G)+114*int(c.B) > 140000 {
		ink = color.Black
	}
	p.text(face, text, ix+pad, iy+asc, ink)
}

// corner returns where a label goes.
func (a *Annotation) corner() (x, y float64, ok bool) {
	if a.Bbox != nil {
		return a.Bbox[0], a.Bbox[1], !math.IsNaN(a.Bbox[0] + a.Bbox[1])
	}
	x, y = math.Inf(1), math.Inf(1)
	see := func(px, py float64) { x, y, ok = min(x, px), min(y, py), true }
	if s := a.Segmentation; s != nil {
		for _, poly := range s.Polygons {
			for i := 0; i+1 < len(poly); i += 2 {
				see(poly[i], poly[i+1])
			}
		}
		if s.RLE != nil {
			b := s.RLE.ToBbox()
			see(b[0], b[1])
		}
	}
	for i := 0; i+2 < len(a.Keypoints); i += 3 {
		if a.Keypoints[i+2] > 0 {
			see(a.Keypoints[i], a.Keypoints[i+1])
		}
	}
	return x, y, ok && !math.IsNaN(x+y)
}

func (p *painter) ground(r image.Rectangle, c color.RGBA, alpha float64) {
	r = r.Intersect(p.dst.Bounds())
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			p.blend(x, y, c, alpha)
		}
	}
}

func (p *painter) text(face font.Face, s string, x, baseline int, c color.Color) {
	d := font.Drawer{Dst: p.dst, Src: image.NewUniform(c), Face: face, Dot: fixed.P(x, baseline)}
	d.DrawString(s)
}

// captions writes captions into a dark strip at the bottom, broken at words.
func (p *painter) captions(face font.Face, captions []string) {
	const pad = 4
	var lines []string
	for _, s := range captions {
		line := ""
		for _, word := range strings.Fields(s) {
			if next := strings.TrimSpace(line + " " + word); line != "" &&
				font.MeasureString(face, next).Ceil() > int(p.w)-2*pad {
				lines = append(lines, line)
				line = word
			} else {
				line = next
			}
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return
	}
	m := face.Metrics()
	step := (m.Ascent + m.Descent).Ceil() + 2
	// What does not fit is left out at the end, not at the beginning.
	lines = lines[:min(len(lines), max(1, int(p.h)/step))]
	top := int(p.h) - step*len(lines)
	p.ground(image.Rect(0, top, int(p.w), int(p.h)), color.RGBA{A: 255}, .65)
	for i, s := range lines {
		p.text(face, s, pad, top+i*step+m.Ascent.Ceil(), color.White)
	}
}
