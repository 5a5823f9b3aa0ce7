package utils

import (
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// SkipInit makes a module without drawing starting values: make runs on the meta device, and the parameters then get
// memory that nobody has written to, on the default device.
//
//	layer := utils.SkipInit(func() *nn.Linear { return nn.NewLinear(1024, 1024) })
//
// https://pytorch.org/docs/stable/generated/torch.nn.utils.skip_init.html
func SkipInit[M nn.Module](make func() M) M {
	var m M
	device := tensor.DefaultDevice()
	tensor.WithDevice(tensor.Device{Type: tensor.MetaDevice}, func() { m = make() })
	nn.ToEmpty(m, device)
	return m
}

// ConvertConv2dWeightMemoryFormat lays the weights of the two-dimensional convolutions in m out in a memory format
// (tensor.ChannelsLast), in place, and returns m. Inputs in another format then come out in this one.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.convert_conv2d_weight_memory_format.html
func ConvertConv2dWeightMemoryFormat[M nn.Module](m M, f tensor.MemoryFormat) M {
	convert(m, f, func(c nn.Module) bool {
		switch c.(type) {
		case *nn.Conv2d, *nn.ConvTranspose2d:
			return true
		}
		return false
	})
	return m
}

// ConvertConv3dWeightMemoryFormat is ConvertConv2dWeightMemoryFormat for three-dimensional convolutions
// (tensor.ChannelsLast3d).
// https://pytorch.org/docs/stable/generated/torch.nn.utils.convert_conv3d_weight_memory_format.html
func ConvertConv3dWeightMemoryFormat[M nn.Module](m M, f tensor.MemoryFormat) M {
	convert(m, f, func(c nn.Module) bool {
		switch c.(type) {
		case *nn.Conv3d, *nn.ConvTranspose3d:
			return true
		}
		return false
	})
	return m
}

// convert lays out the weights of the modules that are wanted.
func convert(m nn.Module, f tensor.MemoryFormat, wanted func(nn.Module) bool) {
	for c := range nn.Modules(m) {
		if !wanted(c) {
			continue
		}
		if at := nn.TensorField(c, "weight"); *at != nil {
			tensor.NoGrad(func() { tensor.SetRaw(*at, (*at).Detach().Clone(tensor.CloneOptions{MemoryFormat: f})) })
		}
	}
}
