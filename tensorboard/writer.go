package tensorboard

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// SummaryWriterOptions are the options of [NewSummaryWriter]; the zero value is
// PyTorch's default.
type SummaryWriterOptions struct {
	Comment        string        // ends the name of the default directory
	PurgeStep      *int64        // events of this step and later, written before, become void
	MaxQueue       int           // events that may wait to be written; 0: 10
	FlushInterval  time.Duration // how long at most; 0: two minutes
	FilenameSuffix string        // ends the names of event files
}

// SummaryWriter writes event files into a directory, for TensorBoard to show. It
// is torch.utils.tensorboard.SummaryWriter. All methods may be called from many
// goroutines at once. After Close, the next call opens a new file.
//
// Methods return an error for a bad argument, or that of an earlier write to the
// file: writing goes on in the background.
type SummaryWriter struct {
	dir  string
	opts SummaryWriterOptions

	mu      sync.Mutex
	main    *FileWriter
	writers map[string]*FileWriter // by directory: main and those of AddScalars
	purge   *int64

	embMu      sync.Mutex
	embeddings []embeddingInfo
}

// EventOptions are options that most Add methods have.
type EventOptions struct {
	WallTime float64 // seconds since 1970; 0: now
}

// opt returns the only element of a trailing options argument, or its zero value.
func opt[T any](o []T) (v T) {
	if len(o) > 0 {
		v = o[0]
	}
	return v
}

// NewSummaryWriter creates an event file in dir, which is made if need be. An
// empty dir is runs/<date>_<time>_<host><comment>.
func NewSummaryWriter(dir string, options ...SummaryWriterOptions) (*SummaryWriter, error) {
	o := opt(options)
	if dir == "" {
		host, err := os.Hostname()
		if err != nil || host == "" {
			host = "localhost"
		}
		dir = filepath.Join("runs", time.Now().Format("Jan02_15-04-05")+"_"+host+o.Comment)
	}
	w := &SummaryWriter{dir: dir, opts: o, purge: o.PurgeStep}
	_, err := w.fileWriter("")
	if err != nil {
		return nil, err
	}
	return w, nil
}

// LogDir is the directory that the writer writes to.
func (w *SummaryWriter) LogDir() string { return w.dir }

// fileWriter returns the writer for a directory, "" for the main one.
func (w *SummaryWriter) fileWriter(dir string) (*FileWriter, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.main == nil {
		f, err := NewFileWriter(w.dir, w.opts.MaxQueue, w.opts.FlushInterval, w.opts.FilenameSuffix)
		if err != nil {
			return nil, err
		}
		w.main, w.writers = f, map[string]*FileWriter{w.dir: f}
		if w.purge != nil {
			step := *w.purge
			w.purge = nil // only the first file voids anything
			for _, e := range []*Event{
				{Step: step, What: EventFileVersion, FileVersion: "brain.Event:2"},
				{Step: step, What: EventSessionLog, SessionLog: &SessionLog{Status: SessionStart}},
			} {
				e.WallTime = now()
				if err := f.Add(e); err != nil {
					return nil, err
				}
			}
		}
	}
	if dir == "" {
		return w.main, nil
	}
	if f := w.writers[dir]; f != nil {
		return f, nil
	}
	f, err := NewFileWriter(dir, w.opts.MaxQueue, w.opts.FlushInterval, w.opts.FilenameSuffix)
	if err == nil {
		w.writers[dir] = f
	}
	return f, err
}

// AddEvent writes an event as it is; a WallTime of 0 becomes the present.
func (w *SummaryWriter) AddEvent(e *Event) error {
	f, err := w.fileWriter("")
	if err != nil {
		return err
	}
	return addTo(f, e)
}

func addTo(f *FileWriter, e *Event) error {
	if e.WallTime == 0 {
		c := *e
		c.WallTime = now()
		e = &c
	}
	err := f.Add(e)
	if err == errClosed { // Close came between looking up the writer and using it
		err = fmt.Errorf("tensorboard: %s was closed while an event was added", f.path)
	}
	return err
}

func summaryEvent(step int64, wall float64, values ...*Value) *Event {
	return &Event{WallTime: wall, Step: step, What: EventSummary, Summary: &Summary{Values: values}}
}

// add writes one value.
func (w *SummaryWriter) add(step int64, wall float64, values ...*Value) error {
	return w.AddEvent(summaryEvent(step, wall, values...))
}

// Flush hands all events to the operating system: they can be read now, and
// survive even if this process is killed.
func (w *SummaryWriter) Flush() error {
	return w.each(false)
}

// Close flushes and closes all files. Closing twice is allowed; a later Add
// opens a new file.
func (w *SummaryWriter) Close() error {
	return w.each(true)
}

func (w *SummaryWriter) each(closing bool) error {
	w.mu.Lock()
	files := w.writers
	if closing {
		w.main, w.writers = nil, nil
	} else {
		c := make(map[string]*FileWriter, len(files))
		for k, f := range files {
			c[k] = f
		}
		files = c
	}
	w.mu.Unlock()
	var first error
	for _, f := range files {
		var err error
		if closing {
			err = f.Close()
		} else {
			err = f.Flush()
		}
		if err != nil && first == nil && err != errClosed {
			first = err
		}
	}
	return first
}

// ScalarOptions are the options of [SummaryWriter.AddScalar].
type ScalarOptions struct {
	WallTime        float64 // seconds since 1970; 0: now
	NewStyle        bool    // write a tensor, which loads faster, rather than simple_value
	DoublePrecision bool    // with NewStyle: keep all 64 bits
}

// AddScalar writes a number; the file keeps single precision unless the options
// say otherwise.
func (w *SummaryWriter) AddScalar(tag string, value float64, step int64, options ...ScalarOptions) error {
	o := opt(options)
	v := &Value{Tag: tag, Kind: ValueSimple, SimpleValue: float32(value)}
	if o.NewStyle {
		t := &Tensor{DType: DTFloat, FloatVal: []float32{float32(value)}}
		if o.DoublePrecision {
			t = &Tensor{DType: DTDouble, DoubleVal: []float64{value}}
		}
		v = pluginValue(tag, PluginScalars, nil, t)
	}
	return w.add(step, o.WallTime, v)
}

func pluginValue(tag, plugin string, content []byte, t *Tensor) *Value {
	v := &Value{Tag: tag, Metadata: &SummaryMetadata{HasPlugin: true, PluginName: plugin, Content: content}}
	if t != nil {
		v.Kind, v.Tensor = ValueTensor, t
	}
	return v
}

// Named is a number with a name.
type Named struct {
	Name  string
	Value float64
}

// AddScalars writes several numbers that TensorBoard draws in one chart: each
// goes under the tag main into a run of its own, <dir>/<main>_<name>.
func (w *SummaryWriter) AddScalars(main string, values []Named, step int64, options ...EventOptions) error {
	wall := opt(options).WallTime
	if wall == 0 {
		wall = now() // one time for all
	}
	if _, err := w.fileWriter(""); err != nil {
		return err
	}
	for _, v := range values {
		f, err := w.fileWriter(w.dir + "/" + strings.ReplaceAll(main, "/", "_") + "_" + v.Name)
		if err != nil {
			return err
		}
		if err := addTo(f, summaryEvent(step, wall,
			&Value{Tag: main, Kind: ValueSimple, SimpleValue: float32(v.Value)})); err != nil {
			return err
		}
	}
	return nil
}

// AddTensor writes a whole tensor. float16 and bfloat16 elements are stored as
// the bits of a float32, as Python's writer does.
func (w *SummaryWriter) AddTensor(tag string, a Array, step int64, options ...EventOptions) error {
	if err := check("AddTensor", a, -1); err != nil {
		return err
	}
	t := &Tensor{Shape: shapeOf(a.Shape()...)}
	d := a.Float64s()
	switch a.Kind() {
	case Float32:
		t.DType, t.FloatVal = DTFloat, convert[float32](d)
	case Float64:
		t.DType, t.DoubleVal = DTDouble, d
	case Float16, BFloat16:
		t.DType = DTHalf
		if a.Kind() == BFloat16 {
			t.DType = DTBfloat16
		}
		for _, v := range d {
			t.HalfVal = append(t.HalfVal, int32(f32bits(float32(v))))
		}
	case Uint8:
		t.DType, t.Uint32Val = DTUint8, convert[uint32](d)
	case Int8:
		t.DType, t.IntVal = DTInt8, convert[int32](d)
	case Int16:
		t.DType, t.IntVal = DTInt16, convert[int32](d)
	case Int32:
		t.DType, t.IntVal = DTInt32, convert[int32](d)
	case Int64:
		t.DType, t.Int64Val = DTInt64, int64s(a)
	case Bool:
		t.DType = DTBool
		for _, v := range d {
			t.BoolVal = append(t.BoolVal, v != 0)
		}
	default:
		return fmt.Errorf("tensorboard: AddTensor: unsupported element type %v", a.Kind())
	}
	return w.add(step, opt(options).WallTime, pluginValue(tag, PluginTensor, nil, t))
}

func convert[T float32 | int32 | uint32 | int64](d []float64) []T {
	out := make([]T, len(d))
	for i, v := range d {
		out[i] = T(v)
	}
	return out
}

// HistogramOptions are the options of [SummaryWriter.AddHistogram].
type HistogramOptions struct {
	Bins     Bins    // zero: the fixed bins of TensorFlow
	MaxBins  int     // join bins until there are about this many; 0: no
	WallTime float64 // seconds since 1970; 0: now
}

// AddHistogram writes how the elements of an array of any shape are distributed.
// See [MakeHistogram] for what fails.
func (w *SummaryWriter) AddHistogram(tag string, values Array, step int64, options ...HistogramOptions) error {
	if err := check("AddHistogram", values, -1); err != nil {
		return err
	}
	o := opt(options)
	h, err := MakeHistogram(values.Float64s(), o.Bins, o.MaxBins)
	if err != nil {
		return fmt.Errorf("%w (tag %q)", err, tag)
	}
	return w.add(step, o.WallTime, &Value{Tag: tag, Kind: ValueHistogram, Histogram: h})
}

// AddHistogramRaw writes a histogram that was counted elsewhere. Counts[i] is
// the number of values below Limits[i] and not below Limits[i-1].
func (w *SummaryWriter) AddHistogramRaw(tag string, h Histogram, step int64, options ...EventOptions) error {
	if len(h.Limits) != len(h.Counts) {
		return fmt.Errorf("tensorboard: AddHistogramRaw: %d limits and %d counts, want as many", len(h.Limits),
			len(h.Counts))
	}
	return w.add(step, opt(options).WallTime, &Value{Tag: tag, Kind: ValueHistogram, Histogram: &h})
}

// ImageOptions are the options of the methods that write images.
type ImageOptions struct {
	// DataFormats is the order of the dimensions: "CHW" (the default), "HWC",
	// "HW", for AddImages "NCHW" (the default), "NHWC" or any other order.
	DataFormats string
	Rescale     float64  // AddImageWithBoxes: size factor; 0: 1
	Labels      []string // AddImageWithBoxes: one per box, else ignored
	WallTime    float64  // seconds since 1970; 0: now
}

// AddImage writes one image of 1, 3 or 4 channels. uint8 elements are taken as
// they are, all others as 0…1 and cut off outside.
func (w *SummaryWriter) AddImage(tag string, img Array, step int64, options ...ImageOptions) error {
	return w.image("AddImage", tag, img, step, opt(options), "CHW")
}

// AddImages writes a batch as one image: a grid with 8 columns.
func (w *SummaryWriter) AddImages(tag string, imgs Array, step int64, options ...ImageOptions) error {
	return w.image("AddImages", tag, imgs, step, opt(options), "NCHW")
}

func (w *SummaryWriter) image(op, tag string, a Array, step int64, o ImageOptions, format string) error {
	if o.DataFormats != "" {
		format = o.DataFormats
	}
	p, err := toPixels(op, a, format)
	if err != nil {
		return err
	}
	i, err := p.encode(p.nrgba(), 1)
	if err != nil {
		return err
	}
	return w.add(step, o.WallTime, &Value{Tag: tag, Kind: ValueImage, Image: i})
}

// AddImageWithBoxes writes an image with boxes drawn in red: boxes has shape
// (N, 4), each row xmin, ymin, xmax, ymax. Labels are set in another typeface
// than Python's.
func (w *SummaryWriter) AddImageWithBoxes(tag string, img, boxes Array, step int64, options ...ImageOptions) error {
	o := opt(options)
	format := o.DataFormats
	if format == "" {
		format = "CHW"
	}
	p, err := toPixels("AddImageWithBoxes", img, format)
	if err != nil {
		return err
	}
	if err := check("AddImageWithBoxes", boxes, 2); err != nil {
		return err
	}
	if boxes.Shape()[1] != 4 {
		return fmt.Errorf("tensorboard: AddImageWithBoxes: boxes of shape %v, want (N, 4)", boxes.Shape())
	}
	m, d := p.nrgba(), boxes.Float64s()
	for i := range boxes.Shape()[0] {
		label := ""
		if len(o.Labels) == boxes.Shape()[0] {
			label = o.Labels[i]
		}
		b := d[4*i:]
		drawBox(m, clampInt(b[0]), clampInt(b[1]), clampInt(b[2]), clampInt(b[3]), label)
	}
	img2, err := p.encode(m, o.Rescale)
	if err != nil {
		return err
	}
	return w.add(step, o.WallTime, &Value{Tag: tag, Kind: ValueImage, Image: img2})
}

// clampInt truncates a coordinate; far outside is far enough.
func clampInt(v float64) int {
	if v != v {
		return 0
	}
	return int(min(max(v, -1<<20), 1<<20))
}

// VideoOptions are the options of [SummaryWriter.AddVideo].
type VideoOptions struct {
	FPS      float64 // frames per second; 0: 4
	WallTime float64 // seconds since 1970; 0: now
}

// AddVideo writes an array of shape (N, T, C, H, W) as an animated GIF, which
// browsers play in place of an image.
func (w *SummaryWriter) AddVideo(tag string, vid Array, step int64, options ...VideoOptions) error {
	o := opt(options)
	i, err := makeVideo(vid, o.FPS)
	if err != nil {
		return err
	}
	return w.add(step, o.WallTime, &Value{Tag: tag, Kind: ValueImage, Image: i})
}

// AudioOptions are the options of [SummaryWriter.AddAudio].
type AudioOptions struct {
	SampleRate int     // in Hz; 0: 44100
	WallTime   float64 // seconds since 1970; 0: now
}

// AddAudio writes a sound: a vector of samples in -1…1.
func (w *SummaryWriter) AddAudio(tag string, samples Array, step int64, options ...AudioOptions) error {
	o := opt(options)
	a, err := makeAudio(samples, o.SampleRate)
	if err != nil {
		return err
	}
	return w.add(step, o.WallTime, &Value{Tag: tag, Kind: ValueAudio, Audio: a})
}

// AddText writes text in Markdown, under the tag with "/text_summary" appended.
func (w *SummaryWriter) AddText(tag, text string, step int64, options ...EventOptions) error {
	return w.add(step, opt(options).WallTime, pluginValue(tag+"/text_summary", PluginText, nil,
		&Tensor{DType: DTString, Shape: shapeOf(1), StringVal: [][]byte{[]byte(text)}}))
}
