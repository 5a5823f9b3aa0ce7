package tensorboard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// maxFill bounds how far a tensor with fewer stored elements than its shape
// says is filled up with the last one.
const maxFill = 1 << 20

// Float64s returns the elements of a numeric tensor. If fewer are stored than the
// shape says, the last one is repeated.
func (m *Tensor) Float64s() ([]float64, error) {
	if m == nil {
		return nil, errors.New("tensorboard: the value holds no tensor")
	}
	var out []float64
	switch {
	case len(m.Content) > 0:
		size := map[DataType]int{DTFloat: 4, DTDouble: 8, DTInt32: 4, DTUint8: 1, DTInt16: 2, DTInt8: 1, DTInt64: 8,
			DTBool:     1,
			DTBfloat16: 2, DTUint16: 2, DTHalf: 2, DTUint32: 4, DTUint64: 8}[m.DType]
		if size == 0 || len(m.Content)%size != 0 {
			return nil, fmt.Errorf("tensorboard: %d bytes of content in a tensor of %v", len(m.Content), m.DType)
		}
		out = make([]float64, 0, len(m.Content)/size)
		for c := m.Content; len(c) > 0; c = c[size:] {
			var u uint64
			switch size {
			case 1:
				u = uint64(c[0])
			case 2:
				u = uint64(binary.LittleEndian.Uint16(c))
			case 4:
				u = uint64(binary.LittleEndian.Uint32(c))
			case 8:
				u = binary.LittleEndian.Uint64(c)
			}
			var v float64
			switch m.DType {
			case DTFloat:
				v = float64(f32(u))
			case DTDouble:
				v = f64(u)
			case DTInt8:
				v = float64(int8(u))
			case DTInt16:
				v = float64(int16(u))
			case DTInt32:
				v = float64(int32(u))
			case DTInt64:
				v = float64(int64(u))
			case DTBfloat16:
				v = float64(f32(u << 16))
			case DTHalf:
				v = halfToFloat(uint16(u))
			default:
				v = float64(u)
			}
			out = append(out, v)
		}
	case len(m.FloatVal) > 0:
		out = widen(m.FloatVal)
	case len(m.DoubleVal) > 0:
		out = append(out, m.DoubleVal...)
	case len(m.IntVal) > 0:
		out = widen(m.IntVal)
	case len(m.Int64Val) > 0:
		out = widen(m.Int64Val)
	case len(m.Uint32Val) > 0:
		out = widen(m.Uint32Val)
	case len(m.Uint64Val) > 0:
		out = widen(m.Uint64Val)
	case len(m.BoolVal) > 0:
		for _, b := range m.BoolVal {
			v := 0.0
			if b {
				v = 1
			}
			out = append(out, v)
		}
	case len(m.HalfVal) > 0:
		for _, h := range m.HalfVal {
			switch {
			case uint32(h) > math.MaxUint16: // PyTorch stores the bits of a float32
				out = append(out, float64(f32(uint64(uint32(h)))))
			case m.DType == DTBfloat16:
				out = append(out, float64(f32(uint64(h)<<16)))
			default:
				out = append(out, halfToFloat(uint16(h)))
			}
		}
	case len(m.StringVal) > 0:
		return nil, errors.New("tensorboard: the tensor holds strings")
	}
	if m.Shape == nil || m.Shape.UnknownRank {
		return out, nil
	}
	n := int64(1)
	for _, d := range m.Shape.Dims {
		if d.Size < 0 || d.Size > math.MaxInt32 || n > math.MaxInt32 {
			return nil, fmt.Errorf("tensorboard: a tensor of shape %v", m.Shape)
		}
		n *= d.Size
	}
	switch k := int64(len(out)); {
	case n == k:
	case k == 0 || k > n || n > maxFill:
		return nil, fmt.Errorf("tensorboard: %d elements in a tensor of shape %v", k, m.Shape)
	default:
		for last := out[k-1]; int64(len(out)) < n; {
			out = append(out, last)
		}
	}
	return out, nil
}

func widen[T float32 | int32 | int64 | uint32 | uint64](v []T) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

func halfToFloat(h uint16) float64 {
	e, f := int(h>>10&31), float64(h&1023)
	var v float64
	switch e {
	case 0:
		v = math.Ldexp(f, -24)
	case 31:
		v = math.Inf(1)
		if f != 0 {
			v = math.NaN()
		}
	default:
		v = math.Ldexp(1024+f, e-25)
	}
	if h>>15 != 0 {
		v = -v
	}
	return v
}

// dims returns the tensor's sizes.
func (m *Tensor) dims() []int64 {
	var s []int64
	if m != nil && m.Shape != nil {
		for _, d := range m.Shape.Dims {
			s = append(s, d.Size)
		}
	}
	return s
}

// ImagePoint is what was logged as an image at one step.
type ImagePoint struct {
	Point
	Width, Height int
	Encoded       [][]byte // one or more files: PNG, JPEG or (for a video) GIF
}

func imagePoint(it item, v *Value) (ImagePoint, error) {
	p := ImagePoint{Point: Point{it.step, it.wall}}
	if v.Kind == ValueImage {
		p.Width, p.Height, p.Encoded = int(v.Image.Width), int(v.Image.Height), [][]byte{v.Image.Encoded}
		return p, nil
	}
	// A list of strings: width, height, then the files.
	if v.Tensor == nil || len(v.Tensor.StringVal) < 2 {
		return p, errors.New("tensorboard: the value holds no image")
	}
	var err1, err2 error
	p.Width, err1 = strconv.Atoi(string(v.Tensor.StringVal[0]))
	p.Height, err2 = strconv.Atoi(string(v.Tensor.StringVal[1]))
	p.Encoded = v.Tensor.StringVal[2:]
	return p, errors.Join(err1, err2)
}

// Images reads all images of a tag.
func (l *Log) Images(run, tag string) ([]ImagePoint, error) {
	return load(l, run, PluginImages, tag, -1, imagePoint)
}

// ImageAt reads the image number i of a tag.
func (l *Log) ImageAt(run, tag string, i int) (ImagePoint, error) {
	return one(load(l, run, PluginImages, tag, max(i, 0), imagePoint))
}

// AudioPoint is what was logged as a sound at one step.
type AudioPoint struct {
	Point
	ContentType string
	SampleRate  float64  // 0 if only the file says
	Encoded     [][]byte // one or more files
}

func audioPoint(it item, v *Value) (AudioPoint, error) {
	p := AudioPoint{Point: Point{it.step, it.wall}, ContentType: "audio/wav"}
	if v.Kind == ValueAudio {
		p.ContentType, p.SampleRate, p.Encoded = v.Audio.ContentType, float64(v.Audio.SampleRate),
			[][]byte{v.Audio.Encoded}
		return p, nil
	}
	if v.Tensor == nil {
		return p, errors.New("tensorboard: the value holds no sound")
	}
	p.Encoded = audioClips(v.Tensor).StringVal
	return p, nil
}

// Audio reads all sounds of a tag.
func (l *Log) Audio(run, tag string) ([]AudioPoint, error) {
	return load(l, run, PluginAudio, tag, -1, audioPoint)
}

// AudioAt reads the sound number i of a tag.
func (l *Log) AudioAt(run, tag string, i int) (AudioPoint, error) {
	return one(load(l, run, PluginAudio, tag, max(i, 0), audioPoint))
}

// Bucket is a bar of a histogram: how many values lie between two limits.
type Bucket struct{ Left, Right, Count float64 }

// HistogramPoint is a histogram at one step.
type HistogramPoint struct {
	Point
	Buckets []Bucket
}

func histogramPoint(it item, v *Value) (HistogramPoint, error) {
	p := HistogramPoint{Point: Point{it.step, it.wall}}
	if v.Kind == ValueHistogram {
		for _, r := range modernBuckets(v.Histogram) {
			p.Buckets = append(p.Buckets, Bucket{r[0], r[1], r[2]})
		}
		return p, nil
	}
	d, err := v.Tensor.Float64s()
	if err != nil {
		return p, err
	}
	if len(d)%3 != 0 {
		return p, fmt.Errorf("tensorboard: a histogram of %d numbers", len(d))
	}
	for ; len(d) > 0; d = d[3:] {
		p.Buckets = append(p.Buckets, Bucket{d[0], d[1], d[2]})
	}
	return p, nil
}

// Histograms reads all histograms of a tag, without the empty buckets at the ends.
func (l *Log) Histograms(run, tag string) ([]HistogramPoint, error) {
	return load(l, run, PluginHistograms, tag, -1, histogramPoint)
}

// HistogramAt reads the histogram number i of a tag.
func (l *Log) HistogramAt(run, tag string, i int) (HistogramPoint, error) {
	return one(load(l, run, PluginHistograms, tag, max(i, 0), histogramPoint))
}

// TextPoint is text at one step: a table of strings of the given shape, usually
// a single one.
type TextPoint struct {
	Point
	Shape []int64
	Texts []string
}

func textPoint(it item, v *Value) (TextPoint, error) {
	p := TextPoint{Point: Point{it.step, it.wall}, Shape: v.Tensor.dims()}
	if v.Tensor == nil {
		return p, errors.New("tensorboard: the value holds no text")
	}
	for _, s := range v.Tensor.StringVal {
		p.Texts = append(p.Texts, string(s))
	}
	return p, nil
}

// Texts reads all texts of a tag (which ends in "/text_summary" if PyTorch or this
// package wrote it).
func (l *Log) Texts(run, tag string) ([]TextPoint, error) {
	return load(l, run, PluginText, tag, -1, textPoint)
}

// TextAt reads the text number i of a tag.
func (l *Log) TextAt(run, tag string, i int) (TextPoint, error) {
	return one(load(l, run, PluginText, tag, max(i, 0), textPoint))
}

// PRCurvePoint is a precision-recall curve at one step.
type PRCurvePoint struct {
	Point
	PRCurve
}

func prCurvePoint(it item, v *Value) (PRCurvePoint, error) {
	p := PRCurvePoint{Point: Point{it.step, it.wall}}
	d, err := v.Tensor.Float64s()
	if err != nil {
		return p, err
	}
	s := v.Tensor.dims()
	if len(s) != 2 || s[0] < 6 || int64(len(d)) != s[0]*s[1] {
		return p, fmt.Errorf("tensorboard: a precision-recall curve of shape %v, want (6, N)", s)
	}
	row := func(i int64) []float64 { return d[i*s[1] : (i+1)*s[1]] }
	p.PRCurve = PRCurve{TP: row(0), FP: row(1), TN: row(2), FN: row(3), Precision: row(4), Recall: row(5)}
	return p, nil
}

// PRCurves reads all precision-recall curves of a tag.
func (l *Log) PRCurves(run, tag string) ([]PRCurvePoint, error) {
	return load(l, run, PluginPRCurves, tag, -1, prCurvePoint)
}

// PRCurveAt reads the precision-recall curve number i of a tag.
func (l *Log) PRCurveAt(run, tag string, i int) (PRCurvePoint, error) {
	return one(load(l, run, PluginPRCurves, tag, max(i, 0), prCurvePoint))
}

// TensorPoint is any plugin's value at one step.
type TensorPoint struct {
	Point
	Metadata *SummaryMetadata
	Tensor   *Tensor // nil if the value has metadata only
}

func tensorPoint(it item, v *Value) (TensorPoint, error) {
	v = modernValue(v)
	return TensorPoint{Point{it.step, it.wall}, v.Metadata, v.Tensor}, nil
}

// Tensors reads all values of a tag of any plugin as tensors.
func (l *Log) Tensors(run, plugin, tag string) ([]TensorPoint, error) {
	return load(l, run, plugin, tag, -1, tensorPoint)
}

// Meshes reads the parts of a mesh, in the order of their steps. tag is the name
// that AddMesh was called with.
func (l *Log) Meshes(run, tag string) ([]MeshPart, error) {
	var out []MeshPart
	for _, t := range l.Tags(run, PluginMesh) {
		if t != tag && !strings.HasPrefix(t, tag+"_") {
			continue
		}
		parts, err := load(l, run, PluginMesh, t, -1, func(it item, v *Value) (MeshPart, error) {
			m := MeshPart{Step: it.step, Wall: it.wall}
			if v.Metadata != nil {
				if err := m.parse(v.Metadata.Content); err != nil {
					return m, err
				}
			}
			d, err := v.Tensor.Float64s()
			m.Shape, m.Values = v.Tensor.dims(), convert[float32](d)
			return m, err
		})
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			if p.Name == tag || t == tag {
				out = append(out, p)
			}
		}
	}
	if out == nil {
		return nil, fmt.Errorf("%w: mesh %q in run %q", ErrNotFound, tag, run)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Step < out[j].Step })
	return out, nil
}

// MeshName takes the part's suffix off a tag of the mesh plugin: it is the name
// that AddMesh was called with. vertices says that the tag is of that part, which
// every mesh has.
func MeshName(tag string) (name string, vertices bool) {
	for kind, suffix := range meshSuffix {
		if n, ok := strings.CutSuffix(tag, suffix); ok && suffix != "" {
			return n, kind == meshVertex
		}
	}
	return tag, false
}

// MeshAt reads the mesh that the vertices number i of a name belong to: the parts
// of that step, the vertices first.
func (l *Log) MeshAt(run, name string, i int) ([]MeshPart, error) {
	conv := func(it item, v *Value) (MeshPart, error) {
		m := MeshPart{Step: it.step, Wall: it.wall}
		if v.Metadata != nil {
			if err := m.parse(v.Metadata.Content); err != nil {
				return m, err
			}
		}
		d, err := v.Tensor.Float64s()
		m.Shape, m.Values = v.Tensor.dims(), convert[float32](d)
		return m, err
	}
	v, err := one(load(l, run, PluginMesh, name+meshSuffix[meshVertex], i, conv))
	if err != nil {
		return nil, err
	}
	v.Part = "vertex"
	out := []MeshPart{v}
	for _, kind := range []int{meshFace, meshColor} {
		tag := name + meshSuffix[kind]
		points, err := l.Points(run, PluginMesh, tag)
		if err != nil {
			continue // there is no such part
		}
		// Written together, the parts share a step and a time.
		for k := len(points) - 1; k >= 0; k-- {
			if points[k].Step != v.Step || points[k].Wall != v.Wall {
				continue
			}
			p, err := one(load(l, run, PluginMesh, tag, k, conv))
			if err != nil {
				return nil, err
			}
			p.Part = map[int]string{meshFace: "face", meshColor: "color"}[kind]
			out = append(out, p)
			break
		}
	}
	return out, nil
}

// Graph reads the newest graph of a run.
func (l *Log) Graph(run string) (*Graph, error) {
	g, err := load(l, run, PluginGraphs, runGraphTag, -1, func(_ item, v *Value) (*Graph, error) {
		if v.Tensor == nil || len(v.Tensor.StringVal) == 0 {
			return nil, errors.New("tensorboard: the value holds no graph")
		}
		return ParseGraph(v.Tensor.StringVal[0])
	})
	if err != nil {
		return nil, err
	}
	if len(g) == 0 {
		return nil, fmt.Errorf("%w: graph of run %q", ErrNotFound, run)
	}
	return g[len(g)-1], nil
}

// CustomScalars reads the newest layout of a run's custom scalars page.
func (l *Log) CustomScalars(run string) ([]Category, error) {
	c, err := load(l, run, PluginCustomScalars, customScalarsTag, -1, func(_ item, v *Value) ([]Category, error) {
		if v.Tensor == nil || len(v.Tensor.StringVal) == 0 {
			return nil, errors.New("tensorboard: the value holds no layout")
		}
		return parseLayout(v.Tensor.StringVal[0])
	})
	if err != nil {
		return nil, err
	}
	if len(c) == 0 {
		return nil, fmt.Errorf("%w: custom scalars of run %q", ErrNotFound, run)
	}
	return c[len(c)-1], nil
}

// HParams returns what a run says about its hyperparameters.
func (l *Log) HParams(run string) (*Session, error) {
	s := &Session{Run: run, Status: "UNKNOWN"}
	domains := map[string][]HParamValue{}
	found := false
	for _, tag := range []string{hparamsExperimentTag, hparamsStartTag, hparamsEndTag} {
		i, err := l.Tag(run, PluginHParams, tag)
		if err != nil {
			continue
		}
		found = true
		if err := s.parse(i.Content, domains); err != nil {
			return nil, err
		}
	}
	if !found {
		return nil, fmt.Errorf("%w: hyperparameters of run %q", ErrNotFound, run)
	}
	for i := range s.Params {
		s.Params[i].Domain = domains[s.Params[i].Name]
	}
	sort.Slice(s.Params, func(i, j int) bool { return s.Params[i].Name < s.Params[j].Name })
	return s, nil
}

// Sessions returns the hyperparameters of all runs that have some, sorted by run.
func (l *Log) Sessions() []*Session {
	var out []*Session
	for _, r := range l.Runs() {
		if s, err := l.HParams(r); err == nil {
			out = append(out, s)
		}
	}
	return out
}

// Embedding is a set of points that a run has for the projector.
type Embedding struct {
	Name         string // "<tag>:<step>"
	TensorPath   string // a table of numbers, one row per point
	MetadataPath string // "" if there is none
	SpritePath   string // "" if there is none
	SpriteWidth  int    // of one picture
	SpriteHeight int
}

// Embeddings lists the embeddings of a run's directory; the paths can be opened.
// A path that leads out of the log directory is refused.
func (l *Log) Embeddings(run string) ([]Embedding, error) {
	i, err := l.Run(run)
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(filepath.Join(i.Dir, projectorConfig))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("tensorboard: %w", err)
	}
	list, err := parseProjectorConfig(string(b))
	if err != nil {
		return nil, fmt.Errorf("%w (%s)", err, filepath.Join(i.Dir, projectorConfig))
	}
	for k := range list {
		e := &list[k]
		for _, p := range []*string{&e.TensorPath, &e.MetadataPath, &e.SpritePath} {
			if *p == "" {
				continue
			}
			if !filepath.IsLocal(filepath.FromSlash(*p)) {
				return nil, fmt.Errorf("tensorboard: embedding %q names the file %q outside its run", e.Name, *p)
			}
			*p = filepath.Join(i.Dir, filepath.FromSlash(*p))
		}
	}
	return list, nil
}

// parseProjectorConfig reads the part of the text format that the file uses:
// nested messages of "name: value" pairs.
func parseProjectorConfig(s string) ([]Embedding, error) {
	var out []Embedding
	var cur *Embedding
	var stack []string
	for s = skipSpace(s); s != ""; s = skipSpace(s) {
		if s[0] == '}' {
			if len(stack) == 0 {
				return nil, errors.New("tensorboard: projector config: } without {")
			}
			stack, s = stack[:len(stack)-1], s[1:]
			continue
		}
		n := 0
		for n < len(s) && (s[n] == '_' || s[n] >= 'a' && s[n] <= 'z' || s[n] >= 'A' && s[n] <= 'Z' || s[n] >= '0' &&
			s[n] <= '9') {
			n++
		}
		name := s[:n]
		if name == "" {
			return nil, fmt.Errorf("tensorboard: projector config: unexpected %q", s[0])
		}
		s = skipSpace(s[n:])
		colon := strings.HasPrefix(s, ":")
		if colon {
			s = skipSpace(s[1:])
		}
		if strings.HasPrefix(s, "{") {
			if len(stack) == 0 && name == "embeddings" {
				out = append(out, Embedding{})
				cur = &out[len(out)-1]
			}
			stack, s = append(stack, name), s[1:]
			continue
		}
		if !colon {
			return nil, fmt.Errorf("tensorboard: projector config: no value after %q", name)
		}
		var value string
		if s != "" && (s[0] == '"' || s[0] == '\'') {
			var err error
			if value, s, err = textUnquote(s); err != nil {
				return nil, err
			}
		} else {
			n := strings.IndexAny(s, " \t\r\n}")
			if n < 0 {
				n = len(s)
			}
			value, s = s[:n], s[n:]
		}
		if cur == nil {
			continue
		}
		switch strings.Join(stack, ".") + "." + name {
		case "embeddings.tensor_name":
			cur.Name = value
		case "embeddings.tensor_path":
			cur.TensorPath = value
		case "embeddings.metadata_path":
			cur.MetadataPath = value
		case "embeddings.sprite.image_path":
			cur.SpritePath = value
		case "embeddings.sprite.single_image_dim":
			v, err := strconv.Atoi(value)
			if err != nil {
				return nil, fmt.Errorf("tensorboard: projector config: %w", err)
			}
			if cur.SpriteWidth == 0 {
				cur.SpriteWidth = v
			} else {
				cur.SpriteHeight = v
			}
		}
	}
	if len(stack) > 0 {
		return nil, errors.New("tensorboard: projector config: { without }")
	}
	return out, nil
}

// skipSpace drops blanks, separators and comments.
func skipSpace(s string) string {
	for {
		s = strings.TrimLeft(s, " \t\r\n,;")
		if !strings.HasPrefix(s, "#") {
			return s
		}
		_, s, _ = strings.Cut(s, "\n")
	}
}

// textUnquote undoes textQuote for the quoted string that s begins with.
func textUnquote(s string) (value, rest string, err error) {
	q := s[0]
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		c := s[i]
		if c == q {
			return b.String(), s[i+1:], nil
		}
		if c != '\\' || i+1 >= len(s) {
			b.WriteByte(c)
			continue
		}
		i++
		switch c = s[i]; {
		case c >= '0' && c <= '7':
			v := 0
			n := 0
			for ; n < 3 && i+n < len(s) && s[i+n] >= '0' && s[i+n] <= '7'; n++ {
				v = v*8 + int(s[i+n]-'0')
			}
			i += n - 1
			b.WriteByte(byte(v))
		case c == 'n':
			b.WriteByte('\n')
		case c == 'r':
			b.WriteByte('\r')
		case c == 't':
			b.WriteByte('\t')
		default:
			b.WriteByte(c)
		}
	}
	return "", "", errors.New("tensorboard: projector config: a string does not end")
}
