package quantcheck

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/quantization"
	"github.com/gotorch-dev/torch/tensor"
)

var (
	configText = regexp.MustCompile(`^(\w+)\((.*)\) on \w+$`)
	callText   = regexp.MustCompile(`^(\w+)\((-?\d*)\)$`)
)

// settingsOf are the arguments of a configuration of torchao, by what they are instead of by their names.
type settingsOf struct {
	bits, group int
	grains      []quantization.Granularity
	mapping     quantization.MappingType
	scale       tensor.DType
	reduce, hqq bool
}

// parseConfig reads a configuration as the cases write it: "IntxWeightOnlyConfig(int4, PerGroup(32))".
func parseConfig(text string) (quantization.WeightConfig, error) {
	m := configText.FindStringSubmatch(text)
	if m == nil {
		return nil, golden.Skip("no configuration: " + text)
	}
	var s settingsOf
	for _, arg := range strings.Split(m[2], ", ") {
		name, value, named := strings.Cut(arg, "=")
		if !named {
			name, value = "", arg
		}
		value = strings.Trim(value, "[]")
		switch bits, isBits := strings.CutPrefix(strings.TrimPrefix(value, "torch."), "int"); {
		case value == "":
		case isBits:
			n, err := strconv.Atoi(bits)
			if err != nil {
				return nil, err
			}
			s.bits = n
		case strings.HasSuffix(value, "SYMMETRIC_NO_CLIPPING_ERR"):
			s.mapping = quantization.SymmetricNoClippingErr
		case strings.HasSuffix(value, "ASYMMETRIC"):
			s.mapping = quantization.Asymmetric
		case strings.HasSuffix(value, "SYMMETRIC"):
		case strings.HasSuffix(name, "scale_dtype"):
			s.scale = dtype.Parse(strings.TrimPrefix(value, "torch."))
		case name == "reduce_range":
			s.reduce = value == "True"
		case strings.Contains(value, "HQQ"):
			s.hqq = true
		case name == "group_size":
			n, err := strconv.Atoi(value)
			if err != nil {
				return nil, err
			}
			s.group = n
		default:
			g := callText.FindStringSubmatch(value)
			if g == nil {
				return nil, golden.Skip("argument " + arg)
			}
			switch g[1] {
			case "PerRow", "PerAxis":
				s.grains = append(s.grains, quantization.PerRow)
			case "PerTensor":
				s.grains = append(s.grains, quantization.PerTensor)
			case "PerGroup":
				n, err := strconv.Atoi(g[2])
				if err != nil {
					return nil, err
				}
				s.grains = append(s.grains, quantization.PerGroup(n))
			default:
				return nil, golden.Skip("argument " + arg)
			}
		}
	}
	return s.config(m[1])
}

func (s *settingsOf) config(name string) (quantization.WeightConfig, error) {
	var first, last quantization.Granularity
	if len(s.grains) > 0 {
		first, last = s.grains[0], s.grains[len(s.grains)-1]
	}
	switch name {
	case "Int8WeightOnlyConfig":
		return quantization.Int8WeightOnlyConfig{Granularity: last}, nil
	case "Int8DynamicActivationInt8WeightConfig":
		return quantization.Int8DynamicActivationInt8WeightConfig{ActGranularity: first, Granularity: last,
			ActMappingType: s.mapping, ReduceRange: s.reduce}, nil
	case "IntxWeightOnlyConfig":
		return quantization.IntxWeightOnlyConfig{Bits: s.bits, Granularity: last, MappingType: s.mapping,
			ScaleDType: s.scale, HQQ: s.hqq}, nil
	case "Int8DynamicActivationIntxWeightConfig":
		return quantization.Int8DynamicActivationIntxWeightConfig{Bits: s.bits, WeightGranularity: last,
			WeightMappingType: s.mapping, WeightScaleDType: s.scale, HQQ: s.hqq}, nil
	case "Int4WeightOnlyConfig", "PrototypeInt4WeightOnlyConfig":
		return quantization.Int4WeightOnlyConfig{GroupSize: s.group}, nil
	}
	return nil, golden.Skip("not there yet: " + name)
}

// configured quantizes a sequence of linear layers, with ReLU between, by a configuration of torchao.
func configured(text string, args []any) (any, error) {
	config, err := parseConfig(text)
	if err != nil {
		return nil, err
	}
	sd, ok := args[0].(golden.Dict)
	if !ok || len(args) < 2 {
		return nil, errors.New("the record holds no state dict")
	}
	var layers []nn.Layer
	at := map[int]*nn.Linear{}
	for _, e := range sd {
		index, name, _ := strings.Cut(e.Key, ".")
		t, isTensor := e.Val.(*tensor.Tensor)
		i, err := strconv.Atoi(index)
		if err != nil || !isTensor || i > 1000 {
			return nil, fmt.Errorf("entry %s", e.Key)
		}
		for len(layers) <= i {
			layers = append(layers, nn.NewReLU())
		}
		if at[i] == nil {
			at[i] = nn.NewLinear(1, 1, nn.LinearOptions{NoBias: true})
			layers[i] = at[i]
		}
		if name == "weight" {
			at[i].Weight, at[i].InFeatures, at[i].OutFeatures = t, t.Size(1), t.Size(0)
		} else {
			at[i].Bias = t
		}
	}
	m := nn.NewSequential(layers...)
	nn.Eval(m)
	if _, err := quantization.QuantizeInPlace(m, config); err != nil {
		return nil, err
	}
	out := golden.Dict{{Key: "y", Val: run1(m, args[1].(*tensor.Tensor))}}
	for name, c := range nn.NamedModules(m) {
		l, ok := c.(*quantization.Weighted)
		if !ok {
			continue
		}
		w := l.Weight()
		out = append(out, golden.Dict{{Key: name + ".qdata", Val: w.QData}, {Key: name + ".scale", Val: w.Scale},
			{Key: name + ".zero_point", Val: w.ZeroPoint}, {Key: name + ".dequant", Val: w.Dequantize()}}...)
	}
	return out, nil
}
