package torch

import (
	"github.com/gotorch-dev/torch/internal/autocast"
	"github.com/gotorch-dev/torch/tensor"
)

// Autocast, automatic mixed precision, is package amp. These are the names by which Python's torch asks about it, and
// those by which Python code sets its state by hand. What is set holds until the region of amp.Autocast around the
// caller ends; outside of regions it holds for the whole program, but for goroutines that run inside NoGrad or another
// function that sets a mode: such a goroutine keeps what held when it entered the function. In Python it holds for the
// calling thread.

// IsAutocastEnabled reports whether the calling goroutine runs in a region of autocast for the kind of device.
func IsAutocastEnabled(d tensor.DeviceType) bool { return tensor.IsAutocastEnabled(d) }

// IsAutocastCPUEnabled is [IsAutocastEnabled] of the CPU.
func IsAutocastCPUEnabled() bool { return tensor.IsAutocastEnabled(tensor.CPUDevice) }

// GetAutocastDType is the type that products and convolutions run in on the kind of device: that of the region around
// the caller, or else the default.
func GetAutocastDType(d tensor.DeviceType) DType { return tensor.AutocastDType(d) }

// GetAutocastCPUDType is [GetAutocastDType] of the CPU.
func GetAutocastCPUDType() DType { return tensor.AutocastDType(tensor.CPUDevice) }

// GetAutocastGPUDType is [GetAutocastDType] of CUDA.
func GetAutocastGPUDType() DType { return tensor.AutocastDType(tensor.CUDADevice) }

// SetAutocastDType changes, for the whole program, the type of regions that name none.
func SetAutocastDType(d tensor.DeviceType, dt DType) { tensor.SetAutocastDType(d, dt) }

// SetAutocastCPUDType is [SetAutocastDType] of the CPU.
func SetAutocastCPUDType(dt DType) { tensor.SetAutocastDType(tensor.CPUDevice, dt) }

// SetAutocastGPUDType is [SetAutocastDType] of CUDA.
func SetAutocastGPUDType(dt DType) { tensor.SetAutocastDType(tensor.CUDADevice, dt) }

// IsAutocastCacheEnabled reports whether parameters that were cast are kept until the outermost region ends.
func IsAutocastCacheEnabled() bool { return tensor.IsAutocastCacheEnabled() }

// ClearAutocastCache forgets the parameters that were cast in the region around the caller.
func ClearAutocastCache() { tensor.ClearAutocastCache() }

// SetAutocastEnabled switches autocast on or off for a kind of device, as Python's context managers do: amp.Autocast
// is the same for the length of a function.
func SetAutocastEnabled(d tensor.DeviceType, on bool) { autocast.SetEnabled(d, on) }

// SetAutocastCPUEnabled is [SetAutocastEnabled] of the CPU.
func SetAutocastCPUEnabled(on bool) { autocast.SetEnabled(tensor.CPUDevice, on) }

// SetAutocastCacheEnabled says whether parameters that were cast are kept.
func SetAutocastCacheEnabled(on bool) { autocast.SetCached(on) }

// AutocastIncrementNesting counts one more region around the caller and returns their number.
func AutocastIncrementNesting() int { return autocast.Nest(1) }

// AutocastDecrementNesting counts one region less around the caller and returns their number. As in Python, the caller
// is to call [ClearAutocastCache] when that is 0.
func AutocastDecrementNesting() int { return autocast.Nest(-1) }

// IsAutocastIPUEnabled is [IsAutocastEnabled] of IPUs.
func IsAutocastIPUEnabled() bool { return tensor.IsAutocastEnabled(tensor.IPUDevice) }

// IsAutocastXLAEnabled is [IsAutocastEnabled] of XLA's devices.
func IsAutocastXLAEnabled() bool { return tensor.IsAutocastEnabled(tensor.XLADevice) }

// SetAutocastIPUEnabled is [SetAutocastEnabled] of IPUs.
func SetAutocastIPUEnabled(on bool) { autocast.SetEnabled(tensor.IPUDevice, on) }

// SetAutocastXLAEnabled is [SetAutocastEnabled] of XLA's devices.
func SetAutocastXLAEnabled(on bool) { autocast.SetEnabled(tensor.XLADevice, on) }

// GetAutocastIPUDType is [GetAutocastDType] of IPUs.
func GetAutocastIPUDType() DType { return tensor.AutocastDType(tensor.IPUDevice) }

// GetAutocastXLADType is [GetAutocastDType] of XLA's devices.
func GetAutocastXLADType() DType { return tensor.AutocastDType(tensor.XLADevice) }

// SetAutocastIPUDType is [SetAutocastDType] of IPUs.
func SetAutocastIPUDType(dt DType) { tensor.SetAutocastDType(tensor.IPUDevice, dt) }

// SetAutocastXLADType is [SetAutocastDType] of XLA's devices.
func SetAutocastXLADType(dt DType) { tensor.SetAutocastDType(tensor.XLADevice, dt) }
