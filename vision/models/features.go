package models

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Returned names a layer whose result is wanted, and the name under which.
type Returned struct{ Layer, As string }

// IntermediateLayerGetter runs the children of a module one after the other, up to the last one whose result is
// wanted; the children after that are left out. As in torchvision only direct children can be named, and the module's
// own Forward is not called.
type IntermediateLayerGetter struct {
	nn.ModuleDict
	returned map[string]string
}

// NewIntermediateLayerGetter makes an IntermediateLayerGetter over the children of m, which have to be layers.
func NewIntermediateLayerGetter(m nn.Module, layers ...Returned) *IntermediateLayerGetter {
	g := nn.New(&IntermediateLayerGetter{returned: map[string]string{}})
	missing := map[string]bool{}
	for _, l := range layers {
		g.returned[l.Layer], missing[l.Layer] = l.As, true
	}
	for name, c := range nn.NamedChildren(m) {
		if len(missing) == 0 {
			break
		}
		if _, ok := c.(nn.Layer); !ok {
			tensor.Fail(tensor.ErrType, "IntermediateLayerGetter: child %s of %T is no layer", name, m)
		}
		g.Set(name, c)
		delete(missing, name)
	}
	if len(missing) > 0 {
		tensor.Fail(tensor.ErrNotFound, "IntermediateLayerGetter: return_layers are not present in model")
	}
	return g
}

// Features maps x to the wanted results by their new names.
func (g *IntermediateLayerGetter) Features(x *tensor.Tensor) map[string]*tensor.Tensor {
	out := map[string]*tensor.Tensor{}
	for name, c := range g.All() {
		x = c.(nn.Layer).Forward(x)
		if as, ok := g.returned[name]; ok {
			out[as] = x
		}
	}
	return out
}

// FeatureExtractor gives the results of layers inside a network, whose Forward runs as it is.
type FeatureExtractor struct {
	nn.Base
	Model   nn.Layer
	layers  []Returned
	modules []nn.Module `torch:"-"` // parts of Model
}

// GetGraphNodeNames lists the dotted names of the modules of a network, which CreateFeatureExtractor takes. PyTorch's
// function lists the nodes of a trace, also those between modules.
func GetGraphNodeNames(m nn.Module) []string {
	var names []string
	for name := range nn.NamedModules(m) {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// CreateFeatureExtractor makes a network that gives the results of modules of m by their dotted names
// ("layer4", "features.3.1"), as torchvision.models.feature_extraction.create_feature_extractor does. All of
// m runs, also what comes after the last module that was asked for.
func CreateFeatureExtractor(m nn.Layer, layers ...Returned) (*FeatureExtractor, error) {
	f := &FeatureExtractor{Model: m, layers: layers}
	for i, l := range layers {
		c, err := nn.GetSubmodule(m, l.Layer)
		if err != nil {
			return nil, fmt.Errorf("models: CreateFeatureExtractor: %w (modules begin with %s)", err,
				strings.Join(firstNames(m, 4), ", "))
		}
		if l.As == "" {
			f.layers[i].As = l.Layer
		}
		f.modules = append(f.modules, c)
	}
	return nn.New(f), nil
}

func firstNames(m nn.Module, n int) (names []string) {
	for name := range nn.NamedChildren(m) {
		if len(names) < n {
			names = append(names, name)
		}
	}
	return names
}

// Features runs the network and maps x to the wanted results by their new names. A module that runs several times
// gives its last result. It sets hooks for the time of the call: do not call it in two goroutines at once.
func (f *FeatureExtractor) Features(x *tensor.Tensor) map[string]*tensor.Tensor {
	out := map[string]*tensor.Tensor{}
	for i, m := range f.modules {
		h := nn.RegisterForwardHook(m, func(_ nn.Module, _ []*tensor.Tensor, y *tensor.Tensor) *tensor.Tensor {
			out[f.layers[i].As] = y
			return nil
		})
		defer h.Remove()
	}
	f.Model.Forward(x)
	return out
}
