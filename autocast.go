package torch

import "github.com/gotorch-dev/torch/tensor"

// Autocast, automatic mixed precision, is package amp. These are the names by which Python's torch asks about it.

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
