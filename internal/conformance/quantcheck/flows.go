package quantcheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/conformance/programs"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/pylite"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/quantization"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// flow is a model on its way to a quantized one.
type flow struct {
	Flow, Engine, Model, Spec string
	Float, File, Trained      string
	FusedStateDict            []string        `json:"fused_state_dict"`
	FloatOut                  json.RawMessage `json:"float_out"`
	Calibration               []json.RawMessage
	Observers                 map[string]struct {
		Scale     []float64
		ZeroPoint []float64 `json:"zero_point"`
	}
	Layers    [][]json.RawMessage
	StateDict []string `json:"state_dict"`
	X, Out    json.RawMessage
	EvalOut   json.RawMessage `json:"eval_out"`
	Repr      string
	Inner     map[string]json.RawMessage
	Batches   [][2]json.RawMessage
	Loss      []float64
	LR        float64
	Freeze    string
	Bits      int
	Weight    json.RawMessage
	Nodes     [][]json.RawMessage

	d   *golden.Decoder
	dir string
	src string
}

func flows(dir string, t *golden.Tally, only *regexp.Regexp) error {
	d, err := golden.NewDecoder(filepath.Join(dir, "quantization.npz"))
	if err != nil {
		return err
	}
	defer d.Close()
	var file struct {
		Models map[string]string
		Flows  []flow
	}
	if err := golden.ReadJSON(filepath.Join(dir, "flows.json"), &file); err != nil {
		return err
	}
	for i := range file.Flows {
		f := &file.Flows[i]
		name := strings.Join(strings.Fields("flow "+f.Flow+" "+f.Model), " ")
		if only != nil && !only.MatchString(name) {
			continue
		}
		for _, n := range []string{f.Float, f.File, f.Trained} {
			if n != "" {
				golden.Note(filepath.Join(dir, n))
			}
		}
		f.d, f.dir, f.src = d, dir, file.Models[f.Model]
		t.Add(name, fmt.Sprint(i), golden.Guard(f.check))
	}
	return nil
}

func (f *flow) check() error {
	f.d.Reset()
	e, err := quantization.ParseEngine(f.Engine)
	if err != nil {
		return golden.Skip(err.Error())
	}
	quantization.SetEngine(e)
	switch f.Flow {
	case "static":
		return f.static()
	case "qat":
		return f.qat(e)
	case "dynamic":
		return f.dynamic()
	case "embedding_bag":
		return f.bag()
	case "pt2e":
		return f.recorded()
	case "pt2e_qat":
		return f.recordedQAT()
	}
	return golden.Skip("a flow that is not known: " + f.Flow)
}

// model builds the program's model, and reads the names of the layers to fuse.
func (f *flow) model() (nn.Layer, [][]string, error) {
	in, h := programs.New()
	tq, _ := h.Import("torch.ao", "quantization")
	in.Globals["tq"] = tq
	if err := programs.Run(in, h, f.src); err != nil {
		return nil, nil, err
	}
	var class *pylite.Class
	for name, v := range in.Globals {
		if c, ok := v.(*pylite.Class); ok && (class == nil || name == "Net") {
			class = c
		}
	}
	if class == nil {
		return nil, nil, golden.Skip("no class of models")
	}
	m, ok := programs.ModuleOf(in.Call(class, nil, nil)).(nn.Layer)
	if !ok {
		return nil, nil, golden.Skip("the class is not one of models")
	}
	var fuse [][]string
	if dict, ok := class.Dict["fuse"]; ok {
		for _, l := range in.Iter(dict) {
			var names []string
			for _, n := range in.Iter(l) {
				names = append(names, pylite.Str(n))
			}
			fuse = append(fuse, names)
		}
	}
	return m, fuse, nil
}

// dict reads a state dict.
func (f *flow) dict(name string) (*serialize.Dict, error) {
	path, err := golden.Path(f.dir, name)
	if err != nil {
		return nil, err
	}
	v, err := serialize.LoadFile(path)
	if err != nil {
		return nil, err
	}
	d, ok := v.(*serialize.Dict)
	if !ok {
		return nil, fmt.Errorf("%s holds a %T", name, v)
	}
	return d, nil
}

func (f *flow) loadFloat(m nn.Module, name string) error {
	d, err := f.dict(name)
	if err != nil {
		return err
	}
	sd, err := d.StateDict()
	if err != nil {
		return err
	}
	return nn.LoadStateDict(m, sd)
}

func (f *flow) tensor(raw json.RawMessage) (*tensor.Tensor, error) {
	v, err := f.d.Decode(raw)
	if err != nil {
		return nil, err
	}
	t, ok := v.(*tensor.Tensor)
	if !ok {
		return nil, fmt.Errorf("%.60s is no tensor", raw)
	}
	return t, nil
}

func run1(m nn.Layer, x *tensor.Tensor) (y *tensor.Tensor) {
	tensor.NoGrad(func() { y = m.Forward(x) })
	return y
}

// closeTo compares floats with a tolerance.
func (f *flow) closeTo(what string, got *tensor.Tensor, raw json.RawMessage, tol golden.Tolerance) error {
	if len(raw) == 0 {
		return nil
	}
	want, err := f.tensor(raw)
	if err != nil {
		return err
	}
	if why := golden.Close(got, want, tol); why != "" {
		return fmt.Errorf("%s: %s", what, why)
	}
	return nil
}

var floatTolerance = golden.Tolerance{RTol: 1e-5, ATol: 1e-5}

// trained builds the model in evaluation mode with its float parameters, and reads its input and the names of the
// layers to fuse.
func (f *flow) trained() (m nn.Layer, x *tensor.Tensor, fuse [][]string, err error) {
	if m, fuse, err = f.model(); err != nil {
		return nil, nil, nil, err
	}
	nn.Eval(m)
	if err := f.loadFloat(m, f.Float); err != nil {
		return nil, nil, nil, err
	}
	x, err = f.tensor(f.X)
	return m, x, fuse, err
}

func (f *flow) static() error {
	m, x, fuse, err := f.trained()
	if err != nil {
		return err
	}
	if err := f.closeTo("float model", run1(m, x), f.FloatOut, floatTolerance); err != nil {
		return err
	}
	if err := quantization.FuseModules(m, fuse...); err != nil {
		return err
	}
	if err := keys("fused", nn.StateDict(m), f.FusedStateDict); err != nil {
		return err
	}
	quantization.Prepare(m)
	for _, c := range f.Calibration {
		b, err := f.tensor(c)
		if err != nil {
			return err
		}
		run1(m, b)
	}
	if err := f.observers(m); err != nil {
		return err
	}
	quantization.Convert(m)
	return f.converted(m, x)
}

func keys(what string, sd *tensor.StateDict, want []string) error {
	var got []string
	for k := range sd.All() {
		got = append(got, k)
	}
	if want != nil && !slices.Equal(got, want) {
		return fmt.Errorf("%s: keys %v, want %v", what, got, want)
	}
	return nil
}

func (f *flow) observers(m nn.Module) error {
	for name, want := range f.Observers {
		c, err := nn.GetSubmodule(m, name)
		if err != nil {
			return err
		}
		o, ok := c.(quantization.Observer)
		if !ok {
			return fmt.Errorf("%s is a %s", name, nn.ClassName(c))
		}
		s, z := o.CalculateQParams()
		if !near(s.Item(), want.Scale[0]) || z.Item() != want.ZeroPoint[0] {
			return fmt.Errorf("observer %s: scale %v and zero point %v, want %v and %v", name, s.Item(), z.Item(),
				want.Scale, want.ZeroPoint)
		}
	}
	return nil
}

func near(a, b float64) bool { return a-b < 1e-5*b && b-a < 1e-5*b }

// converted checks a quantized model: its layers, state dict, text, the results of its layers and its own.
func (f *flow) converted(m nn.Layer, x *tensor.Tensor) error {
	for _, l := range f.Layers {
		var name string
		var p struct {
			Scale     *float64
			ZeroPoint int `json:"zero_point"`
		}
		if err := errors.Join(json.Unmarshal(l[0], &name), json.Unmarshal(l[2], &p)); err != nil {
			return err
		}
		if p.Scale == nil {
			continue
		}
		s, z, err := layerParams(m, name)
		if err != nil {
			return err
		}
		if !near(s, *p.Scale) || z != p.ZeroPoint {
			return fmt.Errorf("%s: scale %v and zero point %d, want %v and %d", name, s, z, *p.Scale, p.ZeroPoint)
		}
	}
	if f.Repr != "" && !sameText(fmt.Sprint(m), f.Repr) {
		return fmt.Errorf("prints as %s\nwant %s", m, f.Repr)
	}
	sd := quantization.StateDict(m)
	var names []string
	for k := range sd.All() {
		names = append(names, k.(string))
	}
	if f.StateDict != nil && !slices.Equal(names, f.StateDict) {
		return fmt.Errorf("state dict %v, want %v", names, f.StateDict)
	}
	if err := f.results(m, x, 1); err != nil {
		return err
	}
	if f.File == "" {
		return nil
	}
	// PyTorch's own state dict gives PyTorch's own results
	d, err := f.dict(f.File)
	if err != nil {
		return err
	}
	if err := quantization.LoadStateDict(m, d); err != nil {
		return err
	}
	return f.results(m, x, 0)
}

// layerParams are the scale and zero point of a quantized layer.
func layerParams(m nn.Module, name string) (float64, int, error) {
	c, err := nn.GetSubmodule(m, name)
	if err != nil {
		return 0, 0, err
	}
	if q, ok := c.(interface{ QParams() (float64, int) }); ok {
		s, z := q.QParams()
		return s, z, nil
	}
	sd := nn.StateDict(c)
	if s, z := sd.Get("scale"), sd.Get("zero_point"); s != nil && z != nil {
		return s.Item(), int(z.Item()), nil
	}
	return 0, 0, fmt.Errorf("%s, a %s, has no scale", name, nn.ClassName(c))
}

var numbersIn = regexp.MustCompile(`\d\.\d{7,}`)

// sameText compares texts, numbers of many digits by their first six.
func sameText(a, b string) bool {
	short := func(s string) string {
		return numbersIn.ReplaceAllStringFunc(s, func(n string) string { return n[:8] })
	}
	return short(a) == short(b)
}

// results runs a quantized model. Layers may be off by quanta of their scale, and so may the result.
func (f *flow) results(m nn.Layer, x *tensor.Tensor, quanta int64) error {
	var handles []nn.Handle
	got := map[string]*tensor.Tensor{}
	for name, c := range nn.NamedModules(m) {
		if _, ok := f.Inner[name]; ok {
			handles = append(handles, nn.RegisterForwardHook(c, func(_ nn.Module, _ []*tensor.Tensor,
				y *tensor.Tensor) *tensor.Tensor {
				got[name] = y
				return nil
			}))
		}
	}
	y := run1(m, x)
	for _, h := range handles {
		h.Remove()
	}
	for name, raw := range f.Inner {
		if got[name] == nil {
			continue
		}
		want, err := f.tensor(raw)
		if err != nil {
			return err
		}
		if why := golden.CloseQuantized(rescaled(got[name], want), want, quanta); why != "" {
			return fmt.Errorf("layer %s: %s", name, why)
		}
	}
	tol := floatTolerance
	if s := f.lastScale(m); s > 0 {
		tol.ATol += s * 1.01
	}
	return f.closeTo("converted model", y, f.Out, tol)
}

// rescaled is a tensor with the scale of another, where the two differ by less than the tolerance.
func rescaled(got, want *tensor.Tensor) *tensor.Tensor {
	p, q := tensor.QuantizerOf(got), tensor.QuantizerOf(want)
	if p == nil || q == nil || !near(p.Scale, q.Scale) {
		return got
	}
	return tensor.NewQuantized(tensor.QuantizedInts(got), got.DType(), &tensor.Quantizer{Scale: q.Scale,
		ZeroPoint: p.ZeroPoint})
}

// lastScale is the largest scale among the layers of a model: that of the result is one of them.
func (f *flow) lastScale(m nn.Module) float64 {
	var last float64
	for _, l := range f.Layers {
		var p struct{ Scale *float64 }
		if json.Unmarshal(l[2], &p) == nil && p.Scale != nil {
			last = *p.Scale
		}
	}
	return last
}

func (f *flow) qat(e quantization.EngineKind) error {
	m, fuse, err := f.model()
	if err != nil {
		return err
	}
	nn.Train(m, true)
	if err := f.loadFloat(m, f.Float); err != nil {
		return err
	}
	if err := quantization.FuseModulesQAT(m, fuse...); err != nil {
		return err
	}
	quantization.PrepareQAT(m, &quantization.QConfigMapping{Global: quantization.GetDefaultQATQConfig(e)})
	if err := f.train(m); err != nil {
		return err
	}
	trained, err := f.dict(f.Trained)
	if err != nil {
		return err
	}
	var want []string
	for k := range trained.All() {
		want = append(want, k.(string))
	}
	if err := keys("trained", nn.StateDict(m), want); err != nil {
		return err
	}
	if err := quantization.LoadStateDict(m, trained); err != nil {
		return err
	}
	nn.Eval(m)
	x, err := f.tensor(f.X)
	if err != nil {
		return err
	}
	if err := f.closeTo("trained model", run1(m, x), f.EvalOut, golden.Tolerance{RTol: 1e-4, ATol: 1e-4}); err != nil {
		return err
	}
	quantization.Convert(m)
	return f.converted(m, x)
}

// train trains a model on the batches: PyTorch's losses come out.
func (f *flow) train(m nn.Layer) error {
	opt := optim.NewSGD(nn.Parameters(m), f.LR)
	for i, b := range f.Batches {
		x, err := f.tensor(b[0])
		if err != nil {
			return err
		}
		want, err := f.tensor(b[1])
		if err != nil {
			return err
		}
		opt.ZeroGrad()
		diff := m.Forward(x).Sub(want)
		loss := diff.Mul(diff).Mean()
		loss.Backward()
		opt.Step()
		if got := loss.Item(); i < len(f.Loss) &&
			(got-f.Loss[i] > 2e-5*(1+f.Loss[i]) || f.Loss[i]-got > 2e-5*(1+f.Loss[i])) {
			return fmt.Errorf("loss of step %d is %v, want %v", i, got, f.Loss[i])
		}
		if strings.Contains(f.Freeze, fmt.Sprintf("after step %d disable_observer", i)) {
			quantization.DisableObserver(m)
		}
		if strings.Contains(f.Freeze, fmt.Sprintf("after step %d freeze_bn_stats", i)) {
			quantization.FreezeBNStats(m)
		}
	}
	return nil
}

var specified = regexp.MustCompile(`\{(.*)\} (\w+)`)

func (f *flow) dynamic() error {
	m, x, _, err := f.trained()
	if err != nil {
		return err
	}
	qm := &quantization.QConfigMapping{Types: map[string]*quantization.QConfig{}}
	if s := specified.FindStringSubmatch(f.Spec); s != nil {
		q := quantization.DefaultDynamicQConfig
		if dtype.Parse(s[2]) == tensor.Float16 {
			q = quantization.Float16DynamicQConfig
		}
		for _, c := range strings.Split(s[1], ", ") {
			qm.Types[strings.TrimPrefix(c, "nn.")] = q
		}
	} else if class, config, _ := strings.Cut(f.Spec, " "); config == "per_channel_dynamic_qconfig" {
		qm.Types[class] = quantization.PerChannelDynamicQConfig
	} else {
		return golden.Skip("a specification that is not known: " + f.Spec)
	}
	if _, err := quantization.QuantizeDynamic(m, quantization.QuantizeDynamicOptions{Mapping: qm}); err != nil {
		return err
	}
	nn.Eval(m)
	return f.converted(m, x)
}

// bagModel is a model of one table.
type bagModel struct {
	nn.Base
	Bag *nn.EmbeddingBag `torch:"0"`
}

func (f *flow) bag() error {
	w, err := f.tensor(f.Weight)
	if err != nil {
		return err
	}
	q := quantization.FloatQParamsWeightOnly
	if f.Bits == 4 {
		q = quantization.FloatQParamsWeightOnly4Bit
	}
	var in [2]json.RawMessage
	if err := json.Unmarshal(f.X, &in); err != nil {
		return err
	}
	idx, err := f.tensor(in[0])
	if err != nil {
		return err
	}
	off, err := f.tensor(in[1])
	if err != nil {
		return err
	}
	b := nn.NewEmbeddingBag(w.Size(0), w.Size(1), nn.EmbeddingBagOptions{Mode: nn.BagSum})
	tensor.CopyRaw(b.Weight, w)
	m := nn.New(&bagModel{Bag: b})
	qm := &quantization.QConfigMapping{Global: q}
	quantization.Prepare(m, qm)
	quantization.Convert(m)
	if err := f.closeTo("bags", b.Forward(idx, nn.BagInput{Offsets: off}), f.Out, floatTolerance); err != nil {
		return err
	}
	d, err := f.dict(f.File)
	if err != nil {
		return err
	}
	if err := quantization.LoadStateDict(m, d); err != nil {
		return err
	}
	return f.closeTo("bags of the file", b.Forward(idx, nn.BagInput{Offsets: off}), f.Out, floatTolerance)
}
