package recordio

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"strings"

	"github.com/gotorch-dev/torch/internal/mem"
)

// ColorFlag says which channels decoding an image gives; the values are those
// of MXNet's iscolor (and OpenCV's imread).
type ColorFlag int

const (
	// Unchanged keeps the file's channels: 1 for grey, 3 for BGR, 4 for BGRA.
	Unchanged ColorFlag = -1
	// Gray gives one channel.
	Gray ColorFlag = 0
	// Color gives three channels in BGR order; transparency is dropped.
	Color ColorFlag = 1
)

// An Image is a picture in OpenCV's layout, which is what MXNet's image helpers
// take and return: rows from top to bottom, channels last in BGR or BGRA order.
// Pix[(y*W+x)*C+c] is one value; its length is H*W*C.
type Image struct {
	H, W, C int
	Pix     []uint8
}

// NewImage returns a black image of h rows and w columns with 1, 3 or 4 channels. It panics if a number is negative or
// memory does not suffice.
func NewImage(h, w, c int) *Image {
	if h < 0 || w < 0 || c < 0 {
		panic(fmt.Sprintf("recordio: a picture of %d x %d x %d", h, w, c))
	}
	mem.Check(w, max(c, 1)) // so w*c is a number
	mem.Check(h, max(w*c, 1))
	return &Image{h, w, c, make([]uint8, h*w*c)}
}

// At returns the value at row y, column x, channel c.
func (m *Image) At(y, x, c int) uint8 { return m.Pix[(y*m.W+x)*m.C+c] }

func (m *Image) check() error {
	if m == nil || m.H <= 0 || m.W <= 0 {
		return fmt.Errorf("empty image")
	}
	if m.C != 1 && m.C != 3 && m.C != 4 {
		return fmt.Errorf("image with %d channels, expected 1, 3 or 4", m.C)
	}
	if len(m.Pix) != m.H*m.W*m.C {
		return fmt.Errorf("image of %d x %d x %d with %d values, expected %d", m.H, m.W, m.C, len(m.Pix), m.H*m.W*m.C)
	}
	return nil
}

// ImgOptions are the optional settings of [PackImg] and [EncodeImage].
type ImgOptions struct {
	// Quality is 1 to 100 for JPEG and 0 to 9 for PNG compression; larger PNG
	// values mean 9. Zero is MXNet's default, 95.
	Quality int
	// Format is the file extension that names the encoding: ".jpg" (the
	// default), ".jpeg" or ".png", in either case.
	Format string
}

// PackImg encodes img and packs it behind header, as mxnet.recordio.pack_img
// does. JPEG files are baseline with 4:2:0 chroma like OpenCV's, but not the same
// bytes; a PNG holds exactly the pixels of img.
func PackImg(header IRHeader, img *Image, opts ...ImgOptions) ([]byte, error) {
	data, err := EncodeImage(img, opts...)
	if err != nil {
		return nil, err
	}
	return Pack(header, data), nil
}

// UnpackImg takes a record apart and decodes its picture; iscolor is [Unchanged]
// if not given, as in mxnet.recordio.unpack_img. See [DecodeImage].
func UnpackImg(record []byte, iscolor ...ColorFlag) (IRHeader, *Image, error) {
	h, data, err := Unpack(record)
	if err != nil {
		return h, nil, err
	}
	flag := Unchanged
	if len(iscolor) > 0 {
		flag = iscolor[0]
	}
	img, err := DecodeImage(data, flag)
	return h, img, err
}

// EncodeImage encodes img as JPEG or PNG. A fourth channel is dropped for JPEG.
func EncodeImage(img *Image, opts ...ImgOptions) ([]byte, error) {
	var opt ImgOptions
	if len(opts) > 0 {
		opt = opts[0]
	}
	if opt.Quality == 0 {
		opt.Quality = 95
	}
	if err := img.check(); err != nil {
		return nil, fmt.Errorf("recordio: encode: %w", err)
	}
	var buf bytes.Buffer
	var err error
	switch f := strings.ToLower(opt.Format); f {
	case "", ".jpg", ".jpeg":
		if opt.Quality < 0 || opt.Quality > 100 {
			return nil, fmt.Errorf("recordio: encode: JPEG quality %d, expected 1 to 100", opt.Quality)
		}
		err = jpeg.Encode(&buf, img.ToImage(true), &jpeg.Options{Quality: opt.Quality})
	case ".png":
		if opt.Quality < 0 {
			return nil, fmt.Errorf("recordio: encode: PNG compression %d, expected 1 to 9", opt.Quality)
		}
		var m image.Image = img.ToImage(false)
		if n, ok := m.(*image.NRGBA); ok && n.Opaque() {
			m = keepAlpha{n}
		}
		enc := png.Encoder{CompressionLevel: pngLevel(opt.Quality)}
		err = enc.Encode(&buf, m)
	default:
		return nil, fmt.Errorf("recordio: encode: format %q, expected .jpg or .png", opt.Format)
	}
	if err != nil {
		return nil, fmt.Errorf("recordio: encode: %w", err)
	}
	return buf.Bytes(), nil
}

// keepAlpha stops the PNG encoder from dropping an alpha channel that happens to
// be opaque everywhere: four channels go in, four have to come out.
type keepAlpha struct{ *image.NRGBA }

func (keepAlpha) Opaque() bool { return false }

// pngLevel maps zlib's ten levels to the four that the encoder has. Every level
// gives the same pixels.
func pngLevel(q int) png.CompressionLevel {
	switch {
	case q <= 3:
		return png.BestSpeed
	case q <= 6:
		return png.DefaultCompression
	}
	return png.BestCompression
}

// ToImage converts to the standard library's types: *image.Gray, *image.RGBA
// for three channels, *image.NRGBA for four (as *image.RGBA without the alpha
// channel if opaque is set).
func (m *Image) ToImage(opaque bool) image.Image {
	r := image.Rect(0, 0, m.W, m.H)
	if m.C == 1 {
		return &image.Gray{Pix: m.Pix, Stride: m.W, Rect: r}
	}
	pix := make([]uint8, 4*m.W*m.H)
	for i, o := 0, 0; i < len(m.Pix); i, o = i+m.C, o+4 {
		pix[o], pix[o+1], pix[o+2], pix[o+3] = m.Pix[i+2], m.Pix[i+1], m.Pix[i], 255
		if m.C == 4 && !opaque {
			pix[o+3] = m.Pix[i+3]
		}
	}
	if m.C == 4 && !opaque {
		return &image.NRGBA{Pix: pix, Stride: 4 * m.W, Rect: r}
	}
	return &image.RGBA{Pix: pix, Stride: 4 * m.W, Rect: r}
}

// maxPixels is OpenCV's limit for a picture.
const maxPixels = 1 << 30

// DecodeImage decodes a picture in any format registered with package image;
// JPEG and PNG always are. Gray and Color turn the picture by its EXIF
// orientation, Unchanged does not, as in OpenCV. Sixteen-bit pictures give their
// upper eight bits, where OpenCV's Unchanged would give 16-bit values.
//
// JPEG chroma is interpolated and converted the way libjpeg does it, so colours
// agree with OpenCV's up to rounding in the inverse cosine transform. A header
// that claims more pixels than JPEG or PNG could store in len(data) bytes is an
// error before anything is allocated; other formats may have 64 million.
func DecodeImage(data []byte, iscolor ColorFlag) (*Image, error) {
	if iscolor < Unchanged || iscolor > Color {
		return nil, fmt.Errorf("recordio: decode: colour flag %d, expected -1, 0 or 1", iscolor)
	}
	cfg, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("recordio: decode: %w", err)
	}
	// What a format can store at best: a JPEG block of 64 pixels takes a bit,
	// deflate reaches 1032:1 and PNG packs eight pixels into a byte. Formats
	// registered from outside may store a single colour in next to nothing.
	ratio, free := int64(8*1032), int64(4096)
	switch format {
	case "jpeg":
		ratio = 64 * 8
	case "png":
	default:
		free = 1 << 26
	}
	px := int64(cfg.Width) * int64(cfg.Height)
	if cfg.Width <= 0 || cfg.Height <= 0 || px > maxPixels || px > ratio*int64(len(data))+free {
		return nil, fmt.Errorf("recordio: decode: %s header claims %d x %d pixels, too many for %d bytes", format,
			cfg.Width, cfg.Height, len(data))
	}
	src, format, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("recordio: decode: %w", err)
	}
	img := FromImage(src, iscolor)
	if format == "jpeg" && iscolor != Unchanged {
		img = img.orient(exifOrientation(data))
	}
	return img, nil
}

// FromImage converts a decoded picture. See [DecodeImage] for the meaning of
// iscolor; grey values of colour pictures are OpenCV's weighted sum, the luma
// plane of a JPEG.
func FromImage(src image.Image, iscolor ColorFlag) *Image {
	switch s := src.(type) {
	case *image.YCbCr:
		if iscolor == Gray {
			return grayPlane(s.Rect, s.Y, s.YStride, 1, 0)
		}
		return fromYCbCr(s)
	case *image.Gray:
		g := grayPlane(s.Rect, s.Pix, s.Stride, 1, 0)
		return g.channels(iscolor)
	case *image.Gray16:
		g := grayPlane(s.Rect, s.Pix, s.Stride, 2, 0)
		return g.channels(iscolor)
	case *image.RGBA64, *image.NRGBA64:
		if iscolor == Gray {
			return gray64(src)
		}
	}
	b := src.Bounds()
	h, w := b.Dy(), b.Dx()
	c := 3
	if iscolor == Unchanged && hasAlpha(src) {
		c = 4
	}
	out := NewImage(h, w, c)
	for y := range h {
		row := out.Pix[y*w*c : (y+1)*w*c]
		for x := range w {
			// The stored colour counts, not the one premultiplied by alpha: OpenCV
			// strips transparency without looking at it.
			var p color.NRGBA
			switch s := src.(type) {
			case *image.RGBA:
				o := s.PixOffset(b.Min.X+x, b.Min.Y+y)
				p = color.NRGBA{s.Pix[o], s.Pix[o+1], s.Pix[o+2], s.Pix[o+3]}
				if p.A != 255 {
					p = color.NRGBAModel.Convert(color.RGBA(p)).(color.NRGBA)
				}
			case *image.NRGBA:
				o := s.PixOffset(b.Min.X+x, b.Min.Y+y)
				p = color.NRGBA{s.Pix[o], s.Pix[o+1], s.Pix[o+2], s.Pix[o+3]}
			case *image.NRGBA64:
				q := s.NRGBA64At(b.Min.X+x, b.Min.Y+y)
				p = color.NRGBA{uint8(q.R >> 8), uint8(q.G >> 8), uint8(q.B >> 8), uint8(q.A >> 8)}
			default:
				p = toNRGBA(src.At(b.Min.X+x, b.Min.Y+y))
			}
			row[x*c], row[x*c+1], row[x*c+2] = p.B, p.G, p.R
			if c == 4 {
				row[x*c+3] = p.A
			}
		}
	}
	if iscolor == Gray {
		return out.gray()
	}
	return out
}

func toNRGBA(c color.Color) color.NRGBA {
	if p, ok := c.(color.NRGBA); ok { // palettes hold these: no rounding
		return p
	}
	return color.NRGBAModel.Convert(c).(color.NRGBA)
}

// hasAlpha reports whether a format with an alpha channel was decoded. The
// standard decoders use the premultiplied types for pictures without one.
func hasAlpha(src image.Image) bool {
	switch s := src.(type) {
	case *image.NRGBA, *image.NRGBA64, *image.NYCbCrA:
		return true
	case *image.Paletted:
		return !s.Opaque()
	case interface{ Opaque() bool }:
		return !s.Opaque()
	}
	return false
}

// grayPlane copies one plane of bytes, every step-th of a row.
func grayPlane(r image.Rectangle, pix []uint8, stride, step, off int) *Image {
	out := NewImage(r.Dy(), r.Dx(), 1)
	for y := range out.H {
		src := pix[y*stride+off:]
		for x := range out.W {
			out.Pix[y*out.W+x] = src[x*step]
		}
	}
	return out
}

// channels gives a grey picture three equal channels if colour is wanted.
func (m *Image) channels(iscolor ColorFlag) *Image {
	if iscolor != Color || m.C != 1 {
		return m
	}
	out := NewImage(m.H, m.W, 3)
	for i, v := range m.Pix {
		out.Pix[3*i], out.Pix[3*i+1], out.Pix[3*i+2] = v, v, v
	}
	return out
}

// gray weighs the channels as libpng does for OpenCV: 15-bit coefficients, cut.
func (m *Image) gray() *Image {
	out := NewImage(m.H, m.W, 1)
	for i := range out.Pix {
		b, g, r := int(m.Pix[m.C*i]), int(m.Pix[m.C*i+1]), int(m.Pix[m.C*i+2])
		out.Pix[i] = uint8((9798*r + 19235*g + 3735*b) >> 15)
	}
	return out
}

// gray64 weighs sixteen-bit channels before it drops the lower halves, in
// libpng's order of steps.
func gray64(src image.Image) *Image {
	b := src.Bounds()
	out := NewImage(b.Dy(), b.Dx(), 1)
	for y := range out.H {
		for x := range out.W {
			p := color.NRGBA64Model.Convert(src.At(b.Min.X+x, b.Min.Y+y)).(color.NRGBA64)
			v := (9798*uint64(p.R) + 19235*uint64(p.G) + 3735*uint64(p.B) + 16384) >> 15
			out.Pix[y*out.W+x] = uint8(v >> 8)
		}
	}
	return out
}

func clamp8(v int) uint8 { return uint8(max(0, min(255, v))) }

// fromYCbCr converts to BGR with libjpeg's 16-bit fixed-point formula after
// libjpeg's chroma interpolation.
func fromYCbCr(s *image.YCbCr) *Image {
	h, w := s.Rect.Dy(), s.Rect.Dx()
	out := NewImage(h, w, 3)
	up := newUpsampler(s)
	cb, cr := make([]uint8, w+2), make([]uint8, w+2)
	for y := range h {
		up.row(s.Cb, y, cb)
		up.row(s.Cr, y, cr)
		yy := s.Y[y*s.YStride:]
		row := out.Pix[3*w*y : 3*w*(y+1)]
		for x := range w {
			l, b, r := int(yy[x]), int(cb[x])-128, int(cr[x])-128
			row[3*x] = clamp8(l + (116130*b+32768)>>16)
			row[3*x+1] = clamp8(l + (-22554*b-46802*r+32768)>>16)
			row[3*x+2] = clamp8(l + (91881*r+32768)>>16)
		}
	}
	return out
}

// upsampler widens chroma rows: triangle filter for factors of two (libjpeg's
// "fancy upsampling"), repetition for anything else.
type upsampler struct {
	stride, cw, ch int
	fx, fy         int
	sum            []int
}

func newUpsampler(s *image.YCbCr) *upsampler {
	u := &upsampler{stride: s.CStride, fx: 1, fy: 1}
	switch s.SubsampleRatio {
	case image.YCbCrSubsampleRatio422:
		u.fx = 2
	case image.YCbCrSubsampleRatio420:
		u.fx, u.fy = 2, 2
	case image.YCbCrSubsampleRatio440:
		u.fy = 2
	case image.YCbCrSubsampleRatio411:
		u.fx = 4
	case image.YCbCrSubsampleRatio410:
		u.fx, u.fy = 4, 2
	}
	u.cw = (s.Rect.Dx() + u.fx - 1) / u.fx
	u.ch = (s.Rect.Dy() + u.fy - 1) / u.fy
	u.sum = make([]int, u.cw)
	return u
}

// row writes chroma for image row y to dst, which has room for two values more
// than the picture is wide.
func (u *upsampler) row(plane []uint8, y int, dst []uint8) {
	line := func(i int) []uint8 {
		i = max(0, min(u.ch-1, i))
		return plane[i*u.stride:][:u.cw]
	}
	near := line(y / u.fy)
	far := line(y/u.fy - 1 + 2*(y%2))
	n := u.cw
	switch {
	case u.fx == 1 && u.fy == 1:
		copy(dst, near)
	case u.fx == 1 && u.fy == 2:
		bias := 1 + y%2
		for i := range n {
			dst[i] = uint8((3*int(near[i]) + int(far[i]) + bias) >> 2)
		}
	case u.fx == 2 && u.fy == 1 && n > 2:
		dst[0] = near[0]
		dst[1] = uint8((3*int(near[0]) + int(near[1]) + 2) >> 2)
		for i := 1; i < n-1; i++ {
			dst[2*i] = uint8((3*int(near[i]) + int(near[i-1]) + 1) >> 2)
			dst[2*i+1] = uint8((3*int(near[i]) + int(near[i+1]) + 2) >> 2)
		}
		dst[2*n-2] = uint8((3*int(near[n-1]) + int(near[n-2]) + 1) >> 2)
		dst[2*n-1] = near[n-1]
	case u.fx == 2 && u.fy == 2 && n > 2:
		for i := range n {
			u.sum[i] = 3*int(near[i]) + int(far[i])
		}
		s := u.sum
		dst[0] = uint8((4*s[0] + 8) >> 4)
		dst[1] = uint8((3*s[0] + s[1] + 7) >> 4)
		for i := 1; i < n-1; i++ {
			dst[2*i] = uint8((3*s[i] + s[i-1] + 8) >> 4)
			dst[2*i+1] = uint8((3*s[i] + s[i+1] + 7) >> 4)
		}
		dst[2*n-2] = uint8((3*s[n-1] + s[n-2] + 8) >> 4)
		dst[2*n-1] = uint8((4*s[n-1] + 7) >> 4)
	default:
		for x := range len(dst) - 2 {
			dst[x] = near[x/u.fx]
		}
	}
}

// Crop returns the part of h rows and w columns whose upper left corner is at
// row y, column x. It panics if that is not inside the picture.
func (m *Image) Crop(y, x, h, w int) *Image {
	if y < 0 || x < 0 || h <= 0 || w <= 0 || y+h > m.H || x+w > m.W {
		panic(fmt.Sprintf("recordio: crop of %dx%d at row %d, column %d of a picture of %dx%d", h, w, y, x, m.H, m.W))
	}
	out := NewImage(h, w, m.C)
	for i := range h {
		copy(out.Pix[i*w*m.C:(i+1)*w*m.C], m.Pix[((y+i)*m.W+x)*m.C:])
	}
	return out
}

// Resize scales to h rows and w columns with OpenCV's bilinear interpolation,
// its 11-bit fixed-point weights and its mean of four pixels for exact halving
// included. It panics if h or w is not positive.
func (m *Image) Resize(h, w int) *Image {
	if h <= 0 || w <= 0 {
		panic(fmt.Sprintf("recordio: resize to %dx%d", h, w))
	}
	out := NewImage(h, w, m.C)
	if m.H == 2*h && m.W == 2*w {
		for y := range h {
			r0 := m.Pix[2*y*m.W*m.C:]
			r1 := m.Pix[(2*y+1)*m.W*m.C:]
			for x := range w {
				for c := range m.C {
					i := 2*x*m.C + c
					out.Pix[(y*w+x)*m.C+c] = uint8((int(r0[i]) + int(r0[i+m.C]) + int(r1[i]) + int(r1[i+m.C]) + 2) >> 2)
				}
			}
		}
		return out
	}
	xs := linearTaps(m.W, w, true)
	ys := linearTaps(m.H, h, false)
	row := func(sy int, dst []int) {
		src := m.Pix[max(0, min(m.H-1, sy))*m.W*m.C:]
		for x, t := range xs {
			j := min(t.at+1, m.W-1)
			for c := range m.C {
				dst[x*m.C+c] = int(src[t.at*m.C+c])*t.w0 + int(src[j*m.C+c])*t.w1
			}
		}
	}
	r0, r1 := make([]int, w*m.C), make([]int, w*m.C)
	have := math.MinInt
	for y, t := range ys {
		switch t.at {
		case have:
		case have + 1: // the lower row of the last pair is the upper one now
			r0, r1 = r1, r0
			row(t.at+1, r1)
		default:
			row(t.at, r0)
			row(t.at+1, r1)
		}
		have = t.at
		dst := out.Pix[y*w*m.C:]
		for i := range r0 {
			dst[i] = clamp8(((t.w0*(r0[i]>>4))>>16 + (t.w1*(r1[i]>>4))>>16 + 2) >> 2)
		}
	}
	return out
}

type tap struct{ at, w0, w1 int }

// linearTaps returns for every output position the source position and the two
// weights, which add up to 2048. Columns are clamped here, rows when read.
func linearTaps(src, dst int, clampEdges bool) []tap {
	scale := 1 / (float64(dst) / float64(src))
	taps := mem.Make[tap](dst)
	for i := range taps {
		f := float32((float64(i)+0.5)*scale - 0.5)
		at := int(math.Floor(float64(f)))
		f -= float32(at)
		if clampEdges && at < 0 {
			at, f = 0, 0
		}
		if clampEdges && at >= src-1 {
			at, f = src-1, 0
		}
		taps[i] = tap{at, int(math.RoundToEven(float64((1 - f) * 2048))), int(math.RoundToEven(float64(f * 2048)))}
	}
	return taps
}

// orient turns a picture as the EXIF orientation 1 to 8 says.
func (m *Image) orient(o int) *Image {
	if o < 2 || o > 8 {
		return m
	}
	h, w := m.H, m.W
	if o >= 5 {
		h, w = w, h
	}
	out := NewImage(h, w, m.C)
	for y := range h {
		for x := range w {
			sy, sx := y, x
			switch o {
			case 2:
				sx = w - 1 - x
			case 3:
				sy, sx = h-1-y, w-1-x
			case 4:
				sy = h - 1 - y
			case 5:
				sy, sx = x, y
			case 6:
				sy, sx = w-1-x, y
			case 7:
				sy, sx = w-1-x, h-1-y
			case 8:
				sy, sx = x, h-1-y
			}
			copy(out.Pix[(y*w+x)*m.C:][:m.C], m.Pix[(sy*m.W+sx)*m.C:])
		}
	}
	return out
}

// exifOrientation finds the orientation tag (0x0112) in a JPEG file's APP1
// segment; 1, the normal one, if there is none.
func exifOrientation(data []byte) int {
	i := 2
	for i+4 <= len(data) && data[i] == 0xff {
		marker := data[i+1]
		if marker == 0xff { // fill byte
			i++
			continue
		}
		if marker == 0xda || marker == 0xd9 {
			break
		}
		n := int(data[i+2])<<8 | int(data[i+3])
		if n < 2 || i+2+n > len(data) {
			break
		}
		seg := data[i+4 : i+2+n]
		if rest, ok := bytes.CutPrefix(seg, []byte("Exif\x00\x00")); ok && marker == 0xe1 {
			return tiffOrientation(rest)
		}
		i += 2 + n
	}
	return 1
}

func tiffOrientation(b []byte) int {
	if len(b) < 8 {
		return 1
	}
	big := b[0] == 'M'
	get := func(at, n int) int {
		v := 0
		for k := range n {
			j := at + k
			if !big {
				j = at + n - 1 - k
			}
			v = v<<8 | int(b[j])
		}
		return v
	}
	dir := get(4, 4)
	if dir < 8 || dir > len(b)-2 {
		return 1
	}
	for k := range get(dir, 2) {
		at := dir + 2 + 12*k
		if at+12 > len(b) {
			break
		}
		if get(at, 2) == 0x0112 {
			if o := get(at+8, 2); o >= 1 && o <= 8 {
				return o
			}
		}
	}
	return 1
}
