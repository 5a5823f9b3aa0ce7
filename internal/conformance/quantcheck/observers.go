package quantcheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/conformance/modcheck"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/quantization"
	"github.com/gotorch-dev/torch/tensor"
)

// named are the observers that PyTorch names.
var named = map[string]quantization.Factory{
	"default_observer":                                     quantization.DefaultObserver,
	"default_weight_observer":                              quantization.DefaultWeightObserver,
	"default_histogram_observer":                           quantization.DefaultHistogramObserver,
	"default_per_channel_weight_observer":                  quantization.DefaultPerChannelWeightObserver,
	"weight_observer_range_neg_127_to_127":                 quantization.WeightObserverRangeNeg127To127,
	"per_channel_weight_observer_range_neg_127_to_127":     quantization.PerChannelWeightObserverRangeNeg127To127,
	"default_float_qparams_observer":                       quantization.DefaultFloatQParamsObserver,
	"default_float_qparams_observer_4bit":                  quantization.DefaultFloatQParamsObserver4Bit,
	"default_fake_quant":                                   quantization.DefaultFakeQuant,
	"default_weight_fake_quant":                            quantization.DefaultWeightFakeQuant,
	"default_dynamic_fake_quant":                           quantization.DefaultDynamicFakeQuant,
	"default_per_channel_weight_fake_quant":                quantization.DefaultPerChannelWeightFakeQuant,
	"default_histogram_fake_quant":                         quantization.DefaultHistogramFakeQuant,
	"default_embedding_fake_quant":                         quantization.DefaultEmbeddingFakeQuant,
	"default_embedding_fake_quant_4bit":                    quantization.DefaultEmbeddingFakeQuant4Bit,
	"default_fixed_qparams_range_neg1to1_fake_quant":       quantization.DefaultFixedQParamsRangeNeg1To1FakeQuant,
	"default_fixed_qparams_range_0to1_fake_quant":          quantization.DefaultFixedQParamsRange0To1FakeQuant,
	"default_fused_act_fake_quant":                         quantization.DefaultFusedActFakeQuant,
	"default_fused_wt_fake_quant":                          quantization.DefaultFusedWtFakeQuant,
	"default_fused_per_channel_wt_fake_quant":              quantization.DefaultFusedPerChannelWtFakeQuant,
	"fused_wt_fake_quant_range_neg_127_to_127":             quantization.FusedWtFakeQuantRangeNeg127To127,
	"fused_per_channel_wt_fake_quant_range_neg_127_to_127": quantization.FusedPerChannelWtFakeQuantRangeNeg127To127,
}

// settings reads the arguments of an observer.
func settings(raw json.RawMessage) (o quantization.ObserverOptions, observer string, err error) {
	var k struct {
		DType, QScheme, Observer string
		ReduceRange              bool `json:"reduce_range"`
		QuantMin                 *int `json:"quant_min"`
		QuantMax                 *int `json:"quant_max"`
		Eps                      *float64
		AveragingConstant        *float64 `json:"averaging_constant"`
		ChAxis                   int      `json:"ch_axis"`
		Bins                     *int
		Scale                    float64
		ZeroPoint                int `json:"zero_point"`
	}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &k); err != nil {
			return o, "", err
		}
	}
	o = quantization.ObserverOptions{DType: dtype.Parse(k.DType), ReduceRange: k.ReduceRange, ChAxis: k.ChAxis,
		Scale: k.Scale, ZeroPoint: k.ZeroPoint}
	o.QScheme, _ = tensor.ParseQScheme(k.QScheme)
	for _, p := range []struct {
		from *int
		to   *tensor.Opt[int]
	}{{k.QuantMin, &o.QuantMin}, {k.QuantMax, &o.QuantMax}, {k.Bins, &o.Bins}} {
		if p.from != nil {
			*p.to = tensor.Some(*p.from)
		}
	}
	if k.Eps != nil {
		o.Eps = tensor.Some(*k.Eps)
	}
	if k.AveragingConstant != nil {
		o.AveragingConstant = tensor.Some(*k.AveragingConstant)
	}
	return o, k.Observer, nil
}

// observer makes an observer by its class.
func observer(class string, o quantization.ObserverOptions) quantization.Observer {
	switch class {
	case "MinMaxObserver":
		return quantization.NewMinMaxObserver(o)
	case "MovingAverageMinMaxObserver":
		return quantization.NewMovingAverageMinMaxObserver(o)
	case "PerChannelMinMaxObserver":
		return quantization.NewPerChannelMinMaxObserver(o)
	case "MovingAveragePerChannelMinMaxObserver":
		return quantization.NewMovingAveragePerChannelMinMaxObserver(o)
	case "HistogramObserver":
		return quantization.NewHistogramObserver(o)
	case "FixedQParamsObserver":
		return quantization.NewFixedQParamsObserver(o)
	}
	panic(golden.Skip("an observer that is not known: " + class))
}

// observe feeds batches to an observer or a module of fake quantization.
func (r *record) observe(d *golden.Decoder) error {
	o, inner, err := settings(r.Kwargs)
	if err != nil {
		return err
	}
	var m quantization.Observer
	switch {
	case named[r.Fn] != nil:
		m = named[r.Fn]()
	case r.Fn == "FakeQuantize":
		m = quantization.NewFakeQuantize(observer(inner, o))
	default:
		m = observer(r.Fn, o)
	}
	for i, step := range r.Steps {
		if i == 3 && r.Group == "fake_module" {
			quantization.DisableObserver(m)
		}
		x, err := d.Decode(step["x"])
		if err != nil {
			return err
		}
		y := m.Forward(x.(*tensor.Tensor))
		got := map[string]*tensor.Tensor{"y": y}
		for n, b := range nn.NamedBuffers(m) {
			got[n[strings.LastIndexByte(n, '.')+1:]] = b
		}
		got["scale"], got["zero_point"] = m.CalculateQParams()
		for name, raw := range step {
			if name == "x" {
				continue
			}
			w, err := d.Decode(raw)
			if err != nil {
				return err
			}
			want, ok := w.(*tensor.Tensor)
			if !ok {
				return fmt.Errorf("%s is no tensor in the record", name)
			}
			g := got[name]
			if g == nil {
				return fmt.Errorf("no %s", name)
			}
			if why := golden.Close(g.Detach(), want, golden.ToleranceOf(want.DType()).Times(2)); why != "" {
				return fmt.Errorf("batch %d: %s: %s", i, name, why)
			}
		}
	}
	var keys []string
	for k := range nn.StateDict(m).All() {
		keys = append(keys, k)
	}
	if r.StateDict != nil && !slices.Equal(keys, r.StateDict) {
		return fmt.Errorf("state dict %v, want %v", keys, r.StateDict)
	}
	return nil
}

var dynamicCall = regexp.MustCompile(`^quantize_dynamic\(nn\.(\w+)\((.*)\), (\w+)\)$`)

// recurrent quantizes a recurrent layer and runs it.
func recurrent(fn string, args []any) (any, error) {
	m := dynamicCall.FindStringSubmatch(fn)
	if m == nil || len(args) < 2 {
		return nil, golden.Skip("not a call of quantize_dynamic")
	}
	spec := golden.Module{Cls: m[1], Kwargs: map[string]any{}}
	for _, part := range strings.Split(m[2], ", ") {
		name, text, isKw := strings.Cut(part, "=")
		if !isKw {
			n, err := strconv.Atoi(part)
			if err != nil {
				return nil, golden.Skip("argument " + part)
			}
			spec.Args = append(spec.Args, n)
			continue
		}
		spec.Kwargs[name] = text == "True"
	}
	l, err := modcheck.Build(spec)
	if err != nil {
		return nil, golden.Skip(err.Error())
	}
	if err := loadInto(l, args[0]); err != nil {
		return nil, err
	}
	q, err := quantization.QuantizeDynamic(l, quantization.QuantizeDynamicOptions{DType: dtype.Parse(m[3])})
	if err != nil {
		return nil, err
	}
	nn.Replace(l, q)
	nn.Eval(q)
	return modcheck.Forward(l, args[1:], nil), nil
}

// loadInto loads a dict of tensors.
func loadInto(m nn.Module, v any) error {
	d, ok := v.(golden.Dict)
	if !ok {
		return errors.New("the record holds no state dict")
	}
	sd := &tensor.StateDict{}
	for _, e := range d {
		t, ok := e.Val.(*tensor.Tensor)
		if !ok {
			return fmt.Errorf("%s is no tensor", e.Key)
		}
		sd.Set(e.Key, t)
	}
	return nn.LoadStateDict(m, sd)
}

// weightOnly quantizes weights to few bits.
func weightOnly(fn string, args []any) (any, error) {
	switch {
	case fn == "group":
		w, x := args[0].(*tensor.Tensor), args[1].(*tensor.Tensor)
		q := quantization.QuantizeGroups(w, args[2].(int), args[3].(int), args[4] == true)
		back := q.Dequantize()
		return golden.Dict{{Key: "q", Val: q.Q}, {Key: "scales", Val: q.Scales}, {Key: "zero_points", Val: q.Zeros},
			{Key: "dequant", Val: back}, {Key: "y", Val: x.MatMul(back.Transpose(0, 1))}}, nil
	case strings.Contains(fn, "int4pack"):
		p, err := call("torch._convert_weight_to_int4pack_for_cpu", []any{args[1], 1}, nil)
		if err != nil {
			return nil, err
		}
		y, err := call(fn, []any{args[0], p, args[2], args[3]}, nil)
		if err != nil {
			return nil, err
		}
		back := int4Dequantized(args[1].(*tensor.Tensor), args[2].(int), args[3].(*tensor.Tensor))
		ref := args[0].(*tensor.Tensor).Float().MatMul(back.Transpose(0, 1))
		return golden.Dict{{Key: "packed", Val: p}, {Key: "y", Val: y}, {Key: "dequant", Val: back},
			{Key: "y_ref", Val: ref}}, nil
	case plainName.MatchString(fn):
		return call(fn, args, nil)
	}
	return nil, golden.Skip("not there yet: " + fn)
}

// int4Dequantized is the matrix that integers from 0 to 15 stand for: (q - 8) * scale + zero for each group of columns.
func int4Dequantized(q *tensor.Tensor, group int, scales *tensor.Tensor) *tensor.Tensor {
	n, k := q.Size(0), q.Size(1)
	part := func(i int) *tensor.Tensor { // [groups, n] to [n, groups, 1]
		return scales.Float().Select(2, i).Transpose(0, 1).Unsqueeze(2)
	}
	x := q.Float().SubScalar(8).Reshape([]int{n, k / group, group})
	return x.Mul(part(0)).Add(part(1)).Reshape([]int{n, k})
}
