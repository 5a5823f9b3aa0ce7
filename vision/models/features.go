package models

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/graph/trace"
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

// FeatureExtractor gives results inside a network.
type FeatureExtractor struct {
	nn.Base
	Model  nn.Layer
	layers []Returned

	mu    sync.Mutex
	plans map[string]*graph.Function `torch:"-"` // by shape and dtype of the input, and mode
	self  map[string]*graph.Object   `torch:"-"`
}

// GetGraphNodeNames lists the names of the values that a network computes for x, for CreateFeatureExtractor, as
// torchvision.models.feature_extraction.get_graph_node_names does: "layer1.0.conv1", "layer1.0.add", "flatten". The
// network is recorded, in its mode, which is why it needs an input; see trace.Program.Nodes for the rules. Of nodes of
// torchvision's that are no tensors there are none.
func GetGraphNodeNames(m nn.Layer, x *tensor.Tensor) ([]string, error) {
	var p *trace.Program
	var err error
	tensor.NoGrad(func() { p, err = trace.Record(m, []any{x}) })
	if err != nil {
		return nil, err
	}
	var names []string
	for _, n := range p.Nodes() {
		names = append(names, n.Name)
	}
	return names, nil
}

// CreateFeatureExtractor makes a network that gives results of m by their names, as
// torchvision.models.feature_extraction.create_feature_extractor does. A name is one of GetGraphNodeNames
// ("layer4.1.add") or that of a module ("layer4", "features.3"), which stands for the last result in it. x is an input
// to record m with; inputs of other shapes are recorded when they come. What comes after the last result that was asked
// for does not run.
func CreateFeatureExtractor(m nn.Layer, x *tensor.Tensor, layers ...Returned) (*FeatureExtractor, error) {
	f := nn.New(&FeatureExtractor{Model: m, layers: slices.Clone(layers), plans: map[string]*graph.Function{},
		self: map[string]*graph.Object{}})
	for i, l := range layers {
		if l.As == "" {
			f.layers[i].As = l.Layer
		}
	}
	_, _, err := f.plan(x)
	return f, err
}

// plan is the function for inputs such as x, recorded when the first one comes.
func (f *FeatureExtractor) plan(x *tensor.Tensor) (*graph.Function, *graph.Object, error) {
	key := fmt.Sprint(x.DType(), x.Shape(), x.Device(), nn.IsTraining(f.Model))
	f.mu.Lock()
	defer f.mu.Unlock()
	if g := f.plans[key]; g != nil {
		return g, f.self[key], nil
	}
	p, err := trace.Record(f.Model, []any{x})
	if err != nil {
		return nil, nil, err
	}
	nodes := p.Nodes()
	var values []*graph.Value
	for _, l := range f.layers {
		var v *graph.Value
		for _, n := range nodes {
			if n.Name == l.Layer {
				v = n.Value
				break
			}
			if strings.HasPrefix(n.Name, l.Layer+".") { // the last one counts
				v = n.Value
			}
		}
		if v == nil {
			return nil, nil, fmt.Errorf("models: CreateFeatureExtractor: %s computes no %q (its values begin with %s)",
				nn.ClassName(f.Model), l.Layer, strings.Join(firstNames(nodes, 6), ", "))
		}
		values = append(values, v)
	}
	g := p.Extract(values...)
	f.plans[key], f.self[key] = g, p.Self
	return g, p.Self, nil
}

func firstNames(nodes []trace.Node, n int) (names []string) {
	for _, x := range nodes[:min(n, len(nodes))] {
		names = append(names, x.Name)
	}
	return names
}

// Features runs the network up to the last result that is wanted and maps x to the results by their new names. Many
// goroutines may call it at the same time in evaluation mode. Gradients are recorded in the mode of the caller. It
// panics with a *torch.Error when the network cannot be recorded for x, or lacks one of the names there.
func (f *FeatureExtractor) Features(x *tensor.Tensor) map[string]*tensor.Tensor {
	g, self, err := f.plan(x)
	if err != nil {
		tensor.Fail(tensor.ErrValue, "FeatureExtractor: %s", err)
	}
	res, err := g.Run(context.Background(), graph.Box(self), tensor.TensorValue(x))
	if err != nil {
		tensor.Fail(tensor.ErrValue, "FeatureExtractor: %s", err)
	}
	out := map[string]*tensor.Tensor{}
	for i, l := range f.layers {
		out[l.As] = res[i].T
	}
	return out
}
