package tensorboard

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

const projectorConfig = "projector_config.pbtxt"

type embeddingInfo struct {
	name, metadata, sprite, tensor string
	spriteW, spriteH               int
}

// EmbeddingOptions are the options of [SummaryWriter.AddEmbedding].
type EmbeddingOptions struct {
	Tag string // "": "default"
	// Metadata has one row per point; a single column unless Header is given.
	Metadata [][]string
	Header   []string // names of the columns
	Images   Array    // (N, C, H, W): a picture per point: uint8 or 0…1
}

// AddEmbedding writes points for the projector: mat has shape (N, D). It makes
// the files tensors.tsv, metadata.tsv and sprite.png below <dir>/<step>/<tag> and
// lists them in <dir>/projector_config.pbtxt.
func (w *SummaryWriter) AddEmbedding(mat Array, step int64, options ...EmbeddingOptions) error {
	o := opt(options)
	if o.Tag == "" {
		o.Tag = "default"
	}
	if err := check("AddEmbedding", mat, 2); err != nil {
		return err
	}
	n := mat.Shape()[0]
	if o.Metadata != nil && len(o.Metadata) != n {
		return fmt.Errorf("tensorboard: AddEmbedding: %d rows of metadata for %d points", len(o.Metadata), n)
	}
	var sprite *pixels
	if o.Images != nil {
		if err := check("AddEmbedding", o.Images, 4); err != nil {
			return err
		}
		if o.Images.Shape()[0] != n {
			return fmt.Errorf("tensorboard: AddEmbedding: %d images for %d points", o.Images.Shape()[0], n)
		}
		var err error
		if sprite, err = makeSprite(o.Images); err != nil {
			return err
		}
	}
	escaped := strings.NewReplacer("%", "%25", "/", "%2f", `\`, "%5c").Replace(o.Tag)
	sub := fmt.Sprintf("%05d/%s", step, escaped)
	dir := filepath.Join(w.dir, filepath.FromSlash(sub))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("tensorboard: AddEmbedding: %w", err)
	}
	info := embeddingInfo{name: fmt.Sprintf("%s:%05d", o.Tag, step), tensor: sub + "/tensors.tsv"}

	var b bytes.Buffer
	if o.Metadata != nil {
		rows := o.Metadata
		if o.Header != nil {
			rows = append([][]string{o.Header}, rows...)
		}
		for i, r := range rows {
			if len(r) != len(rows[0]) {
				return fmt.Errorf("tensorboard: AddEmbedding: row %d of the metadata has %d columns, the first has %d",
					i, len(r), len(rows[0]))
			}
			b.WriteString(strings.Join(r, "\t") + "\n")
		}
		info.metadata = sub + "/metadata.tsv"
		if err := writeFile(filepath.Join(dir, "metadata.tsv"), b.Bytes()); err != nil {
			return err
		}
	}
	if sprite != nil {
		img, err := sprite.encode(sprite.nrgba(), 1)
		if err != nil {
			return err
		}
		info.sprite = sub + "/sprite.png"
		info.spriteW, info.spriteH = o.Images.Shape()[3], o.Images.Shape()[2]
		if err := writeFile(filepath.Join(dir, "sprite.png"), img.Encoded); err != nil {
			return err
		}
	}
	b.Reset()
	d := mat.Shape()[1]
	var exact []int64
	if !mat.Kind().float() {
		exact = int64s(mat)
	}
	for i, v := range mat.Float64s() {
		if exact == nil || mat.Kind() == Bool {
			b.WriteString(pyNumber(v, mat.Kind()))
		} else {
			b.WriteString(strconv.FormatInt(exact[i], 10))
		}
		if (i+1)%d == 0 {
			b.WriteByte('\n')
		} else {
			b.WriteByte('\t')
		}
	}
	if err := writeFile(filepath.Join(dir, "tensors.tsv"), b.Bytes()); err != nil {
		return err
	}

	w.embMu.Lock()
	defer w.embMu.Unlock()
	w.embeddings = append(w.embeddings, info)
	b.Reset()
	for _, e := range w.embeddings {
		b.WriteString("embeddings {\n")
		fmt.Fprintf(&b, "  tensor_name: %s\n", textQuote(e.name))
		if e.metadata != "" {
			fmt.Fprintf(&b, "  metadata_path: %s\n", textQuote(e.metadata))
		}
		if e.sprite != "" {
			fmt.Fprintf(&b, "  sprite {\n    image_path: %s\n    single_image_dim: %d\n    single_image_dim: %d\n  }\n",
				textQuote(e.sprite), e.spriteW, e.spriteH)
		}
		fmt.Fprintf(&b, "  tensor_path: %s\n}\n", textQuote(e.tensor))
	}
	return writeFile(filepath.Join(w.dir, projectorConfig), b.Bytes())
}

// makeSprite lays pictures into a square of ⌈√N⌉ columns, black below the last.
func makeSprite(images Array) (*pixels, error) {
	s := images.Shape()
	n, c, h, w := s[0], s[1], s[2], s[3]
	if n*h*w == 0 || c != 1 && c != 3 {
		return nil, fmt.Errorf("tensorboard: AddEmbedding: images of shape %v, want (N, C, H, W) with 1 or 3 channels",
			s)
	}
	cols := int(math.Ceil(math.Sqrt(float64(n))))
	side := cols * w
	rows := (n + cols - 1) / cols
	if rows*h > side {
		return nil, fmt.Errorf("tensorboard: AddEmbedding: images of %dx%d do not fit a square sprite", w, h)
	}
	if side > maxPixels/3/side {
		return nil, fmt.Errorf("tensorboard: AddEmbedding: images of shape %v are too large", s)
	}
	p := &pixels{h: side, w: side, c: 3, pix: make([]uint8, side*side*3)}
	d := images.Float64s()
	for i := range n {
		for k := range 3 {
			plane := d[(i*c+min(k, c-1))*h*w:]
			for y := range h {
				for x := range w {
					// Scaled in double precision, whatever the images hold. Python's
					// writer scales uint8 pictures too, which turns them white.
					v := plane[y*w+x]
					if images.Kind() != Uint8 {
						v = min(max(v*255, 0), 255)
					}
					if v != v {
						v = 0
					}
					p.pix[((i/cols*h+y)*side+i%cols*w+x)*3+k] = uint8(v)
				}
			}
		}
	}
	return p, nil
}

// pyNumber writes a truth value or a floating-point number as Python's str does.
func pyNumber(v float64, k Kind) string {
	switch {
	case k == Bool:
		if v != 0 {
			return "True"
		}
		return "False"
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 0):
		return strings.TrimPrefix(strconv.FormatFloat(v, 'g', -1, 64)[:1], "+") + "inf"
	}
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// textQuote quotes a string for the text format of protocol buffers. UTF-8 stays
// as it is.
func textQuote(s string) string {
	valid := utf8.ValidString(s)
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c == '\'':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < 0x20 || c == 0x7f || c >= utf8.RuneSelf && !valid:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
