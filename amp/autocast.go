package amp

import (
	"github.com/gotorch-dev/torch/internal/autocast"
	"github.com/gotorch-dev/torch/tensor"
)

// Tensor is torch.Tensor.
type Tensor = tensor.Tensor

// AutocastOptions are the options of [Autocast].
type AutocastOptions struct {
	// Disabled makes it a region without autocast for the device, for a part that must run in the types of its inputs.
	Disabled bool
	// NoCache casts a parameter anew for each use, instead of keeping the cast one until the outermost region ends.
	NoCache bool
}

// Autocast runs f such that operators on tensors of the device cast their floating-point arguments by their class:
// products and convolutions to dtype, which is bfloat16 or float16; sums, exponentials, norms and losses to float32;
// operators that join tensors to the widest type among them. All others run in the types that they are given. Float64
// tensors, in-place forms and calls with out= are left alone. dtype 0 is the device's default: bfloat16 on the CPU,
// float16 elsewhere. It holds for the calling goroutine; regions may be nested, and the innermost counts.
//
// Tensors on the meta device follow the region of CUDA, unlike in PyTorch, where no region concerns them: so what a
// model would compute on a GPU can be looked at without one.
//
// What f leaves behind may have the lower type. Backward belongs behind the region: gradients are computed in the types
// that the forward pass used.
// https://pytorch.org/docs/stable/amp.html#torch.autocast
func Autocast(device tensor.DeviceType, dtype tensor.DType, f func(), opts ...AutocastOptions) {
	var o AutocastOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	autocast.Run(device, dtype, !o.Disabled, !o.NoCache, f)
}

// DType is the type that operators of class lower run in on a device: that of the region around the caller, or else
// the default.
// https://pytorch.org/docs/stable/amp.html#torch.amp.autocast
func DType(device tensor.DeviceType) tensor.DType { return tensor.AutocastDType(device) }

// SetDType changes, for the whole program, the type of a device's regions that name none.
func SetDType(device tensor.DeviceType, dtype tensor.DType) { tensor.SetAutocastDType(device, dtype) }

// IsEnabled reports whether the calling goroutine runs in a region of Autocast for the device.
func IsEnabled(device tensor.DeviceType) bool { return tensor.IsAutocastEnabled(device) }

// IsCacheEnabled reports whether cast parameters are kept. Outside of regions they would be.
func IsCacheEnabled() bool { return tensor.IsAutocastCacheEnabled() }

// ClearCache forgets the cast parameters of the region around the caller: after a parameter was changed inside it.
func ClearCache() { tensor.ClearAutocastCache() }
