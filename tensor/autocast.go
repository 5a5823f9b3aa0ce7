package tensor

import "sync/atomic"

// AutocastRegion is the layer of RankAutocast: the region of mixed precision that a goroutine runs in. Package amp has
// the only one; the questions are here, since the root of the module asks them under PyTorch's names.
type AutocastRegion interface {
	Layer
	// Enabled reports that operators on the device cast their arguments.
	Enabled(d DeviceType) bool
	// DType is the type that operators of class AMPLower run in; 0 where the region does not concern the device.
	DType(d DeviceType) DType
	// Cached reports that cast parameters are kept.
	Cached() bool
	// Clear forgets the cast parameters.
	Clear()
}

func autocastRegion() AutocastRegion {
	r, _ := LayerOf(RankAutocast).(AutocastRegion)
	return r
}

// autocastTypes are the types of a device's regions that name none, as SetAutocastDType has set them; 0 for those that
// it has not.
var autocastTypes [maxDeviceTypes]atomic.Uint32

// AutocastDType is the type that operators of class AMPLower run in on a device: that of the region around the caller,
// or else the default, which is bfloat16 on the CPU and for XLA and float16 elsewhere until [SetAutocastDType] changes
// it.
func AutocastDType(d DeviceType) DType {
	if r := autocastRegion(); r != nil && r.DType(d) != 0 {
		return r.DType(d)
	}
	switch t := DType(autocastTypes[d].Load()); {
	case t != 0:
		return t
	case d == CPUDevice || d == XLADevice:
		return BFloat16
	}
	return Float16
}

// SetAutocastDType changes, for the whole program, the type of a device's regions that name none.
func SetAutocastDType(d DeviceType, dt DType) { autocastTypes[d].Store(uint32(dt)) }

// IsAutocastEnabled reports whether the calling goroutine runs in a region of mixed precision for the device.
func IsAutocastEnabled(d DeviceType) bool {
	r := autocastRegion()
	return r != nil && r.Enabled(d)
}

// IsAutocastCacheEnabled reports whether cast parameters are kept. Outside of regions they would be.
func IsAutocastCacheEnabled() bool {
	r := autocastRegion()
	return r == nil || r.Cached()
}

// ClearAutocastCache forgets the cast parameters of the region around the caller: after a parameter was changed inside
// it.
func ClearAutocastCache() {
	if r := autocastRegion(); r != nil {
		r.Clear()
	}
}
