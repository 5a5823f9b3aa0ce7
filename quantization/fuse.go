package quantization

import (
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/nn/utils"
)

// Fused is a chain of layers that becomes one quantized layer: a convolution or linear layer with what follows it.
// Prepare observes its result only.
type Fused struct {
	nn.Base
	Layers []nn.Layer `torch:"-"`
	class  string
}

// ClassName is PyTorch's name: "ConvReLU2d", "LinearReLU".
func (m *Fused) ClassName() string { return m.class }

// WalkOwn visits the layers under their numbers.
func (m *Fused) WalkOwn(_ func(string, *Tensor), _ func(string, *Tensor, bool), child func(string, nn.Module)) {
	for i, l := range m.Layers {
		child(fmt.Sprint(i), l)
	}
}

// Forward applies the layers.
func (m *Fused) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		for _, l := range m.Layers {
			x = l.Forward(x)
		}
		return x
	})
}

// kind of a layer in a pattern of layers to be fused.
func kindOf(l nn.Module) (kind, dims string) {
	switch l.(type) {
	case *nn.Conv1d:
		return "Conv", "1d"
	case *nn.Conv2d:
		return "Conv", "2d"
	case *nn.Conv3d:
		return "Conv", "3d"
	case *nn.BatchNorm1d:
		return "Bn", "1d"
	case *nn.BatchNorm2d:
		return "Bn", "2d"
	case *nn.BatchNorm3d:
		return "Bn", "3d"
	case *nn.Linear:
		return "Linear", ""
	case *nn.ReLU:
		return "ReLU", ""
	}
	return "", ""
}

// FuseModules joins layers of a model in evaluation mode, in place: each list names layers that follow one another, by
// their dotted names. Supported are a convolution with batch norm, with ReLU, or with both, a linear layer with batch
// norm or ReLU, and batch norm with ReLU. Batch norm is folded into the weights. The first of the layers becomes the
// fused one, the others become identities. Nothing is changed where an error is returned.
// https://pytorch.org/docs/stable/generated/torch.ao.quantization.fuse_modules.fuse_modules.html
func FuseModules(m nn.Module, lists ...[]string) error { return fuseAll(m, lists, false) }

// FuseModulesQAT is FuseModules for training: batch norm stays a layer of its own inside the fused one.
func FuseModulesQAT(m nn.Module, lists ...[]string) error { return fuseAll(m, lists, true) }

func fuseAll(m nn.Module, lists [][]string, train bool) error {
	type job struct {
		layers []nn.Layer
		with   nn.Layer
	}
	var jobs []job
	for _, names := range lists {
		var layers []nn.Layer
		for _, n := range names {
			c, err := nn.GetSubmodule(m, n)
			if err != nil {
				return err
			}
			l, ok := c.(nn.Layer)
			if !ok {
				return fmt.Errorf("quantization: %s (%s) cannot be fused", n, nn.ClassName(c))
			}
			if nn.IsTraining(l) != train {
				return fmt.Errorf("quantization: %s is in the wrong mode: FuseModules wants evaluation, FuseModulesQAT "+
					"training mode", n)
			}
			layers = append(layers, l)
		}
		with, err := fuse(layers, train)
		if err != nil {
			return fmt.Errorf("quantization: %s: %w", strings.Join(names, ", "), err)
		}
		jobs = append(jobs, job{layers, with})
	}
	for _, j := range jobs {
		nn.Replace(j.layers[0], j.with)
		for _, l := range j.layers[1:] {
			id := nn.NewIdentity()
			nn.Train(id, train)
			nn.Replace(l, id)
		}
	}
	return nil
}

// fuse makes the layer that computes a chain.
func fuse(layers []nn.Layer, train bool) (nn.Layer, error) {
	pattern, dims := "", ""
	for _, l := range layers {
		k, d := kindOf(l)
		if k == "" {
			return nil, fmt.Errorf("a %s cannot be fused", nn.ClassName(l))
		}
		if d != "" {
			dims = d
		}
		pattern += k
	}
	own := make([]nn.Layer, len(layers)) // the originals will have stand-ins
	for i, l := range layers {
		own[i] = nn.DeepCopy(l)
	}
	var out []nn.Layer
	class := pattern + dims
	switch pattern {
	case "ConvReLU", "BnReLU", "LinearReLU":
		out = own
		class = map[string]string{"ConvReLU": "ConvReLU", "BnReLU": "BNReLU", "LinearReLU": "LinearReLU"}[pattern] + dims
	case "ConvBn", "ConvBnReLU", "LinearBn":
		if train {
			out = own
			if pattern == "LinearBn" {
				class = "LinearBn1d"
			}
			break
		}
		first := foldBatchNorm(own[0], own[1])
		if len(own) == 2 {
			return first, nil
		}
		out, class = []nn.Layer{first, own[2]}, "ConvReLU"+dims
	default:
		return nil, fmt.Errorf("layers of this order cannot be fused")
	}
	f := nn.New(&Fused{Layers: out, class: class})
	nn.Train(f, train)
	return f, nil
}

// foldBatchNorm is a convolution or linear layer with the batch norm behind it.
func foldBatchNorm(l, bn nn.Layer) nn.Layer {
	switch c := l.(type) {
	case *nn.Conv1d:
		return utils.FuseConvBNEval(c, bn)
	case *nn.Conv2d:
		return utils.FuseConvBNEval(c, bn)
	case *nn.Conv3d:
		return utils.FuseConvBNEval(c, bn)
	}
	return utils.FuseLinearBNEval(l.(*nn.Linear), bn)
}
