package main

import (
	"os"
	"path/filepath"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/serialize/safetensors"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/models"
)

// ioRows write and read the weights of a resnet18, 47 MB, and of a resnet50, 102 MB, in PyTorch's format and in
// safetensors.
func ioRows(c *config) []row {
	weights := func(net string) *torch.StateDict {
		switch {
		case c.tiny:
			return newModel("mlp").StateDict()
		case net == "resnet50":
			return nn.StateDict(models.NewResNet50())
		}
		return newModel(net).StateDict()
	}
	file := func(name, net, how string) row {
		var shapes [][]int
		bytes := 0.0
		torch.WithDevice(torch.Device{Type: tensor.MetaDevice}, func() { // costs nothing where the row is not wanted
			for _, t := range weights(net).All() {
				shapes = append(shapes, t.Shape())
				bytes += float64(t.Numel() * t.ElementSize())
			}
		})
		r := row{name: name, bytes: bytes, peer: "state_dict", args: arg{"shapes": shapes, "how": how}}
		if how == "mmap" || how == "safetensors load" {
			r.bytes = 0 // the elements are not moved
		}
		r.prepare = func() work {
			dir, err := os.MkdirTemp("", "bench")
			check(err)
			path := filepath.Join(dir, "weights")
			sd := weights(net)
			read := func(o serialize.LoadOptions) func() {
				return func() {
					torch.Tidy(func() {
						_, err := serialize.LoadStateDict(path, o)
						check(err)
					})
				}
			}
			w := work{grad: true, close: func() { _ = os.RemoveAll(dir) }}
			switch how {
			case "save", "load", "mmap":
				check(torch.Save(path, sd))
			default:
				check(safetensors.Save(path, sd, nil))
			}
			switch how {
			case "save":
				w.step = func() { check(torch.Save(path, sd)) }
			case "safetensors save":
				w.step = func() { check(safetensors.Save(path, sd, nil)) }
			case "mmap", "safetensors load": // as the loader of Python does
				w.step = read(serialize.LoadOptions{MMap: true})
			default:
				w.step = read(serialize.LoadOptions{})
			}
			return w
		}
		return r
	}
	return []row{
		file("save the weights of resnet18", "resnet18", "save"),
		file("load the weights of resnet18", "resnet18", "load"),
		file("save the weights of resnet50", "resnet50", "save"),
		file("load the weights of resnet50", "resnet50", "load"),
		file("map the weights of resnet50", "resnet50", "mmap"),
		file("save resnet50 as safetensors", "resnet50", "safetensors save"),
		file("map resnet50 from safetensors", "resnet50", "safetensors load"),
	}
}
