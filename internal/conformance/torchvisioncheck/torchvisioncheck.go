// Package torchvisioncheck compares the seeded networks of vision/models with recorded ones of torchvision: the first
// weights by their checksums, results in evaluation and in training, and one training step.
package torchvisioncheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/models"
)

// record is one network of the data.
type record struct {
	Model      string
	Seed       int
	NumClasses int  `json:"num_classes"`
	AuxLoss    bool `json:"aux_loss"`
	Input      string
	Params     int
	Out        []float64
	OutAbsMax  float64 `json:"out_abs_max"`
	F64Diff    float64 `json:"f64_diff"`
	State      []entry
	Head       string
	TrainOut   *struct {
		How           string
		Out           []float64
		CalibratedOut []float64 `json:"calibrated_out"`
	} `json:"train_out"`
	Train *struct {
		How            string
		Loss           float64
		GradNorm       float64   `json:"grad_norm"`
		ParamGradNorms []float64 `json:"param_grad_norms"`
		BuffersAfter   []entry   `json:"buffers_after"`
	}
	// of segmentation
	OutShape  []int   `json:"out_shape"`
	OutSum    float64 `json:"out_sum"`
	OutAbsSum float64 `json:"out_abssum"`
	Aux       []float64
	Histogram []int `json:"argmax_hist"`
}

// entry is a row of a state dict: name, shape, dtype, sum, sum of absolute values and the checksum of the bytes.
type entry struct {
	key      string
	shape    []int
	dtype    string
	sum, abs float64
	crc      uint32
}

// UnmarshalJSON reads a row.
func (e *entry) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&e.key, &e.shape, &e.dtype, &e.sum, &e.abs, &e.crc})
}

// files are the files of a directory, of which each may be absent.
var files = []string{"classification.json", "segmentation.json"}

// Run compares the networks of a directory; only matches their names.
func Run(dir string, only *regexp.Regexp, verbose func(string, ...any)) ([]golden.Result, error) {
	return run(dir, only, verbose, 1)
}

// Sample compares every fifth network of a directory, since all of them take a minute.
func Sample(dir string) ([]golden.Result, error) { return run(dir, nil, nil, 5) }

func run(dir string, only *regexp.Regexp, verbose func(string, ...any), every int) ([]golden.Result, error) {
	t := &golden.Tally{Verbose: verbose}
	found := false
	for _, name := range files {
		data, err := golden.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = true
		var f struct{ Models map[string]json.RawMessage }
		if err := json.Unmarshal(data, &f); err != nil {
			return nil, fmt.Errorf("torchvisioncheck: %s: %w", name, err)
		}
		var names []string
		for n := range f.Models {
			if only == nil || only.MatchString(n) {
				names = append(names, n)
			}
		}
		slices.Sort(names)
		for i, n := range names {
			if i%every != 0 {
				continue
			}
			var r record
			if err := json.Unmarshal(f.Models[n], &r); err != nil {
				return nil, fmt.Errorf("torchvisioncheck: %s: %s: %w", name, n, err)
			}
			for _, c := range cases {
				if c.has(&r) {
					t.Add(n, c.name, guarded(func() error { return c.check(&r) }))
				}
			}
		}
	}
	if !found {
		return nil, fmt.Errorf("torchvisioncheck: %s has none of %s", dir, strings.Join(files, ", "))
	}
	return t.Results(), nil
}

// cases are what is compared of each network.
var cases = []struct {
	name  string
	has   func(*record) bool
	check func(*record) error
}{
	{"parameters", func(r *record) bool { return r.State != nil }, (*record).parameters},
	{"eval", func(r *record) bool { return r.Out != nil && r.OutShape == nil }, (*record).eval},
	{"training mode", func(r *record) bool { return r.TrainOut != nil }, (*record).trainingMode},
	{"training step", func(r *record) bool { return r.Train != nil }, (*record).trainingStep},
	{"segmentation", func(r *record) bool { return r.OutShape != nil }, (*record).segmentation},
}

// guarded runs f tidily and turns a panic into an error.
func guarded(f func() error) (err error) {
	return golden.Guard(func() error {
		tensor.Tidy(func() { err = f() })
		return err
	})
}

// network makes the network after its seed.
func (r *record) network() (nn.Module, error) {
	torch.ManualSeed(int64(r.Seed))
	return models.GetModel(r.Model, models.Options{NumClasses: r.NumClasses, AuxLoss: r.AuxLoss})
}

// classifier is the network as a layer.
func (r *record) classifier() (nn.Layer, error) {
	m, err := r.network()
	if err != nil {
		return nil, err
	}
	l, ok := m.(nn.Layer)
	if !ok {
		return nil, fmt.Errorf("%T is no layer", m)
	}
	return l, nil
}

var randCall = regexp.MustCompile(`torch\.rand\(\(?([\d, ]+)\)?\)`)

// shape is the shape in the first call of torch.rand of a text.
func shape(text string) ([]int, error) {
	m := randCall.FindStringSubmatch(text)
	if m == nil {
		return nil, fmt.Errorf("no call of torch.rand in %q", text)
	}
	var out []int
	for s := range strings.SplitSeq(m[1], ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

func (r *record) parameters() error {
	m, err := r.network()
	if err != nil {
		return err
	}
	if n := nn.NumParameters(m); n != r.Params {
		return fmt.Errorf("%d parameters, want %d", n, r.Params)
	}
	sd := nn.StateDict(m)
	keys := sd.Keys()
	for i, e := range r.State {
		if i >= len(keys) || keys[i] != e.key {
			return fmt.Errorf("entry %d is %q, want %q", i, append(keys, "missing")[i], e.key)
		}
		if err := e.same(sd.Get(e.key)); err != nil {
			return err
		}
	}
	if len(keys) > len(r.State) {
		return fmt.Errorf("%d entries, want %d", len(keys), len(r.State))
	}
	return nil
}

// same compares a tensor's bytes.
func (e entry) same(t *tensor.Tensor) error {
	if !slices.Equal(t.Shape(), e.shape) || strings.TrimPrefix(t.DType().String(), "torch.") != e.dtype {
		return fmt.Errorf("%s is %s%v, want %s%v", e.key, t.DType(), t.Shape(), e.dtype, e.shape)
	}
	var crc uint32
	d := tensor.Dense(t.CPU())
	switch t.DType() {
	case tensor.Float32:
		crc = checksum(tensor.Data[float32](d), func(b []byte, v float32) []byte {
			return le32(b, math.Float32bits(v))
		})
	case tensor.Int64:
		crc = checksum(tensor.Data[int64](d), func(b []byte, v int64) []byte {
			return le32(le32(b, uint32(v)), uint32(v>>32))
		})
	case tensor.Bool:
		crc = checksum(tensor.Data[bool](d), func(b []byte, v bool) []byte {
			if v {
				return append(b, 1)
			}
			return append(b, 0)
		})
	default:
		return fmt.Errorf("%s: no checksum of %s", e.key, t.DType())
	}
	if crc != e.crc {
		x := d.Double()
		return fmt.Errorf("%s has other values: sums %v and %v, want %v and %v", e.key, x.Sum().Item(),
			x.Abs().Sum().Item(), e.sum, e.abs)
	}
	return nil
}

func le32(b []byte, v uint32) []byte { return append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24)) }

// checksum is the CRC-32 of the little-endian bytes.
func checksum[T any](data []T, put func([]byte, T) []byte) uint32 {
	crc, buf := uint32(0), make([]byte, 0, 1<<16)
	for i, v := range data {
		if buf = put(buf, v); len(buf) > 1<<16-16 || i == len(data)-1 {
			crc, buf = crc32.Update(crc, crc32.IEEETable, buf), buf[:0]
		}
	}
	return crc
}

// drawHead draws the weight that torchvision leaves at zero, where the data say so.
func drawHead(m nn.Module, text string) error {
	const layer = "heads.head.weight"
	if !strings.Contains(text, "normal_("+layer+",std=.02)") {
		return nil
	}
	w, err := nn.GetParameter(m, layer)
	if err == nil {
		nninit.Normal(w, 0, 0.02)
	}
	return err
}

func (r *record) eval() error {
	m, err := r.classifier()
	if err != nil {
		return err
	}
	size, err := shape(r.Input)
	if err != nil {
		return err
	}
	x := torch.Rand(size)
	if err := drawHead(m, r.Head); err != nil {
		return err
	}
	nn.Eval(m)
	var y *tensor.Tensor
	tensor.NoGrad(func() { y = m.Forward(x) })
	return near("logit", numbers(y), r.Out, 1e-4, r.F64Diff)
}

func (r *record) trainingMode() error {
	m, err := r.classifier()
	if err != nil {
		return err
	}
	size, err := shape(r.Input)
	if err != nil {
		return err
	}
	size[0] = 2
	x := torch.Rand(size)
	for c := range nn.Modules(m) {
		if b, ok := c.(*nn.BatchNorm2d); ok {
			b.CumulativeMean = true
		}
	}
	if err := drawHead(m, r.TrainOut.How); err != nil {
		return err
	}
	var y, calibrated *tensor.Tensor
	tensor.NoGrad(func() {
		y = m.Forward(x)
		nn.Eval(m)
		calibrated = m.Forward(x)
	})
	if err := near("training logit", numbers(y), r.TrainOut.Out, 1e-4, 0); err != nil {
		return err
	}
	return near("calibrated logit", numbers(calibrated), r.TrainOut.CalibratedOut, 1e-4, 0)
}

func (r *record) trainingStep() error {
	m, err := r.classifier()
	if err != nil {
		return err
	}
	size, err := shape(r.Train.How)
	if err != nil {
		return err
	}
	x := torch.Rand(size)
	y := torch.Randint(r.NumClasses, []int{size[0]})
	loss := F.CrossEntropy(m.Forward(x), y)
	loss.Backward()
	if err := near("loss", []float64{loss.Item()}, []float64{r.Train.Loss}, 1e-4, 0); err != nil {
		return err
	}
	var norms []float64
	total := 0.0
	for _, p := range nn.Parameters(m) {
		n := 0.0
		if g := p.Grad(); g != nil {
			n = g.Double().Norm().Item()
		}
		norms = append(norms, n)
		total += n * n
	}
	// Batch norm over few numbers and the kinks of ReLU amplify rounding: PyTorch's own gradients in float32 are up to
	// 0.14 % from those in float64.
	const rel = 3e-3
	if err := near("norm of all gradients", []float64{math.Sqrt(total)}, []float64{r.Train.GradNorm}, rel,
		0); err != nil {
		return err
	}
	if err := near("gradient norm", norms, r.Train.ParamGradNorms, rel, 0); err != nil {
		return err
	}
	sd := nn.StateDict(m)
	for _, e := range r.Train.BuffersAfter {
		t := sd.Get(e.key)
		if t == nil {
			return fmt.Errorf("no buffer %s", e.key)
		}
		b := t.Double()
		// The mean of what a layer without bias makes of centred numbers is zero but for rounding.
		noise := 1e-8 * float64(t.Numel())
		if err := near(e.key, []float64{b.Sum().Item(), b.Abs().Sum().Item()}, []float64{e.sum, e.abs}, 1e-3,
			noise); err != nil {
			return err
		}
	}
	return nil
}

func (r *record) segmentation() error {
	n, err := r.network()
	if err != nil {
		return err
	}
	m, ok := n.(models.Segmenter)
	if !ok {
		return fmt.Errorf("%T is no network for segmentation", n)
	}
	size, err := shape(r.Input)
	if err != nil {
		return err
	}
	x := torch.Rand(size)
	nn.Eval(n)
	var out models.SegmentationOutput
	tensor.NoGrad(func() { out = m.Segment(x) })
	if !slices.Equal(out.Out.Shape(), r.OutShape) {
		return fmt.Errorf("shape %v, want %v", out.Out.Shape(), r.OutShape)
	}
	if err := near("logit", numbers(sample(out.Out, 32)), r.Out, 1e-4, r.F64Diff); err != nil {
		return err
	}
	if (out.Aux == nil) != (r.Aux == nil) {
		return fmt.Errorf("auxiliary output: %v, want %v", out.Aux != nil, r.Aux != nil)
	}
	if r.Aux != nil {
		if err := near("auxiliary logit", numbers(sample(out.Aux, 64)), r.Aux, 1e-4, r.F64Diff); err != nil {
			return err
		}
	}
	d := out.Out.Double()
	if err := near("sums", []float64{d.Sum().Item(), d.Abs().Sum().Item()}, []float64{r.OutSum, r.OutAbsSum}, 1e-4,
		0); err != nil {
		return err
	}
	hist := make([]int, len(r.Histogram))
	for _, c := range tensor.Data[int64](tensor.Dense(out.Out.ArgMax(tensor.ArgMaxOptions{Dim: tensor.Some(1)}))) {
		hist[c]++
	}
	for c, want := range r.Histogram {
		if d := hist[c] - want; max(d, -d) > 20+want/100 { // pixels between two classes may fall to either
			return fmt.Errorf("%d pixels of class %d, want %d", hist[c], c, want)
		}
	}
	return nil
}

// sample takes every step-th pixel of every step-th line of the first image.
func sample(x *tensor.Tensor, step int) *tensor.Tensor {
	for d := 2; d < 4; d++ {
		x = x.SliceAlong(tensor.SliceAlongOptions{Dim: d, Step: tensor.Some(step)})
	}
	return x.Select(0, 0)
}

func numbers(x *tensor.Tensor) []float64 {
	return tensor.Data[float64](tensor.DenseAs(x.Detach().CPU(), tensor.Float64))
}

// near compares with a tolerance relative to the largest number; noise is PyTorch's own.
func near(what string, got, want []float64, rel, noise float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	scale := 0.0
	for _, v := range want {
		scale = max(scale, math.Abs(v))
	}
	for i, v := range want {
		if d := math.Abs(got[i] - v); !(d <= rel*scale+4*noise) {
			return fmt.Errorf("%s %d is %.9g, want %.9g (largest %.3g)", what, i, got[i], v, scale)
		}
	}
	return nil
}
