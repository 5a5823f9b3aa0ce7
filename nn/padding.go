package nn

import (
	F "github.com/gotorch-dev/torch/nn/functional"

	"fmt"

	"github.com/gotorch-dev/torch/tensor"
)

// PadBase is what the padding layers share. Padding lists the elements added at both ends, beginning with the last
// dimension.
type PadBase struct {
	Base
	Padding Size
}

func (m *PadBase) pad(x *Tensor, o F.PadOptions) *Tensor {
	return m.Run(m.self, x, func(x *Tensor) *Tensor { return F.Pad(x, m.Padding, o) })
}

// ExtraRepr prints the padding.
func (m *PadBase) ExtraRepr() string { return m.Padding.tuple() }

// ZeroPad1d adds zeros at the ends of the last 1 dimension.
type ZeroPad1d struct{ PadBase }

// NewZeroPad1d makes a ZeroPad1d. The padding is one number for all sides, or two per dimension, the last dimension
// first.
func NewZeroPad1d[S SizeArg](padding S) *ZeroPad1d {
	return New(&ZeroPad1d{PadBase{Padding: sizeOf(padding).expand(2)}})
}

// Forward applies the layer.
func (m *ZeroPad1d) Forward(x *Tensor) *Tensor {
	return m.pad(x, F.PadOptions{Value: tensor.Some(0.0)})
}

// ZeroPad2d adds zeros at the ends of the last 2 dimensions.
type ZeroPad2d struct{ PadBase }

// NewZeroPad2d makes a ZeroPad2d. The padding is one number for all sides, or two per dimension, the last dimension
// first.
func NewZeroPad2d[S SizeArg](padding S) *ZeroPad2d {
	return New(&ZeroPad2d{PadBase{Padding: sizeOf(padding).expand(4)}})
}

// Forward applies the layer.
func (m *ZeroPad2d) Forward(x *Tensor) *Tensor {
	return m.pad(x, F.PadOptions{Value: tensor.Some(0.0)})
}

// ZeroPad3d adds zeros at the ends of the last 3 dimensions.
type ZeroPad3d struct{ PadBase }

// NewZeroPad3d makes a ZeroPad3d. The padding is one number for all sides, or two per dimension, the last dimension
// first.
func NewZeroPad3d[S SizeArg](padding S) *ZeroPad3d {
	return New(&ZeroPad3d{PadBase{Padding: sizeOf(padding).expand(6)}})
}

// Forward applies the layer.
func (m *ZeroPad3d) Forward(x *Tensor) *Tensor {
	return m.pad(x, F.PadOptions{Value: tensor.Some(0.0)})
}

// ReflectionPad1d adds the input mirrored at its edge at the ends of the last 1 dimension.
type ReflectionPad1d struct{ PadBase }

// NewReflectionPad1d makes a ReflectionPad1d. The padding is one number for all sides, or two per dimension, the last
// dimension first.
func NewReflectionPad1d[S SizeArg](padding S) *ReflectionPad1d {
	return New(&ReflectionPad1d{PadBase{Padding: sizeOf(padding).expand(2)}})
}

// Forward applies the layer.
func (m *ReflectionPad1d) Forward(x *Tensor) *Tensor { return m.pad(x, F.PadOptions{Mode: "reflect"}) }

// ReflectionPad2d adds the input mirrored at its edge at the ends of the last 2 dimensions.
type ReflectionPad2d struct{ PadBase }

// NewReflectionPad2d makes a ReflectionPad2d. The padding is one number for all sides, or two per dimension, the last
// dimension first.
func NewReflectionPad2d[S SizeArg](padding S) *ReflectionPad2d {
	return New(&ReflectionPad2d{PadBase{Padding: sizeOf(padding).expand(4)}})
}

// Forward applies the layer.
func (m *ReflectionPad2d) Forward(x *Tensor) *Tensor { return m.pad(x, F.PadOptions{Mode: "reflect"}) }

// ReflectionPad3d adds the input mirrored at its edge at the ends of the last 3 dimensions.
type ReflectionPad3d struct{ PadBase }

// NewReflectionPad3d makes a ReflectionPad3d. The padding is one number for all sides, or two per dimension, the last
// dimension first.
func NewReflectionPad3d[S SizeArg](padding S) *ReflectionPad3d {
	return New(&ReflectionPad3d{PadBase{Padding: sizeOf(padding).expand(6)}})
}

// Forward applies the layer.
func (m *ReflectionPad3d) Forward(x *Tensor) *Tensor { return m.pad(x, F.PadOptions{Mode: "reflect"}) }

// ReplicationPad1d adds the edge repeated at the ends of the last 1 dimension.
type ReplicationPad1d struct{ PadBase }

// NewReplicationPad1d makes a ReplicationPad1d. The padding is one number for all sides, or two per dimension, the last
// dimension first.
func NewReplicationPad1d[S SizeArg](padding S) *ReplicationPad1d {
	return New(&ReplicationPad1d{PadBase{Padding: sizeOf(padding).expand(2)}})
}

// Forward applies the layer.
func (m *ReplicationPad1d) Forward(x *Tensor) *Tensor {
	return m.pad(x, F.PadOptions{Mode: "replicate"})
}

// ReplicationPad2d adds the edge repeated at the ends of the last 2 dimensions.
type ReplicationPad2d struct{ PadBase }

// NewReplicationPad2d makes a ReplicationPad2d. The padding is one number for all sides, or two per dimension, the last
// dimension first.
func NewReplicationPad2d[S SizeArg](padding S) *ReplicationPad2d {
	return New(&ReplicationPad2d{PadBase{Padding: sizeOf(padding).expand(4)}})
}

// Forward applies the layer.
func (m *ReplicationPad2d) Forward(x *Tensor) *Tensor {
	return m.pad(x, F.PadOptions{Mode: "replicate"})
}

// ReplicationPad3d adds the edge repeated at the ends of the last 3 dimensions.
type ReplicationPad3d struct{ PadBase }

// NewReplicationPad3d makes a ReplicationPad3d. The padding is one number for all sides, or two per dimension, the last
// dimension first.
func NewReplicationPad3d[S SizeArg](padding S) *ReplicationPad3d {
	return New(&ReplicationPad3d{PadBase{Padding: sizeOf(padding).expand(6)}})
}

// Forward applies the layer.
func (m *ReplicationPad3d) Forward(x *Tensor) *Tensor {
	return m.pad(x, F.PadOptions{Mode: "replicate"})
}

// CircularPad1d adds the other end of the input at the ends of the last 1 dimension.
type CircularPad1d struct{ PadBase }

// NewCircularPad1d makes a CircularPad1d. The padding is one number for all sides, or two per dimension, the last
// dimension first.
func NewCircularPad1d[S SizeArg](padding S) *CircularPad1d {
	return New(&CircularPad1d{PadBase{Padding: sizeOf(padding).expand(2)}})
}

// Forward applies the layer.
func (m *CircularPad1d) Forward(x *Tensor) *Tensor { return m.pad(x, F.PadOptions{Mode: "circular"}) }

// CircularPad2d adds the other end of the input at the ends of the last 2 dimensions.
type CircularPad2d struct{ PadBase }

// NewCircularPad2d makes a CircularPad2d. The padding is one number for all sides, or two per dimension, the last
// dimension first.
func NewCircularPad2d[S SizeArg](padding S) *CircularPad2d {
	return New(&CircularPad2d{PadBase{Padding: sizeOf(padding).expand(4)}})
}

// Forward applies the layer.
func (m *CircularPad2d) Forward(x *Tensor) *Tensor { return m.pad(x, F.PadOptions{Mode: "circular"}) }

// CircularPad3d adds the other end of the input at the ends of the last 3 dimensions.
type CircularPad3d struct{ PadBase }

// NewCircularPad3d makes a CircularPad3d. The padding is one number for all sides, or two per dimension, the last
// dimension first.
func NewCircularPad3d[S SizeArg](padding S) *CircularPad3d {
	return New(&CircularPad3d{PadBase{Padding: sizeOf(padding).expand(6)}})
}

// Forward applies the layer.
func (m *CircularPad3d) Forward(x *Tensor) *Tensor { return m.pad(x, F.PadOptions{Mode: "circular"}) }

// ConstantPad1d adds a value at the ends of the last 1 dimension.
type ConstantPad1d struct {
	PadBase
	Value tensor.Scalar
}

// NewConstantPad1d makes a ConstantPad1d. The padding is one number for all sides, or two per dimension, the last
// dimension first.
func NewConstantPad1d[S SizeArg](padding S, value tensor.Scalar) *ConstantPad1d {
	return New(&ConstantPad1d{PadBase: PadBase{Padding: sizeOf(padding).expand(2)}, Value: value})
}

// Forward applies the layer.
func (m *ConstantPad1d) Forward(x *Tensor) *Tensor {
	return m.pad(x, F.PadOptions{Value: some(m.Value)})
}

// ExtraRepr prints the settings.
func (m *ConstantPad1d) ExtraRepr() string {
	return fmt.Sprintf("padding=%s, value=%s", m.Padding.tuple(), pyNum(m.Value))
}

// ConstantPad2d adds a value at the ends of the last 2 dimensions.
type ConstantPad2d struct {
	PadBase
	Value tensor.Scalar
}

// NewConstantPad2d makes a ConstantPad2d. The padding is one number for all sides, or two per dimension, the last
// dimension first.
func NewConstantPad2d[S SizeArg](padding S, value tensor.Scalar) *ConstantPad2d {
	return New(&ConstantPad2d{PadBase: PadBase{Padding: sizeOf(padding).expand(4)}, Value: value})
}

// Forward applies the layer.
func (m *ConstantPad2d) Forward(x *Tensor) *Tensor {
	return m.pad(x, F.PadOptions{Value: some(m.Value)})
}

// ExtraRepr prints the settings.
func (m *ConstantPad2d) ExtraRepr() string {
	return fmt.Sprintf("padding=%s, value=%s", m.Padding.tuple(), pyNum(m.Value))
}

// ConstantPad3d adds a value at the ends of the last 3 dimensions.
type ConstantPad3d struct {
	PadBase
	Value tensor.Scalar
}

// NewConstantPad3d makes a ConstantPad3d. The padding is one number for all sides, or two per dimension, the last
// dimension first.
func NewConstantPad3d[S SizeArg](padding S, value tensor.Scalar) *ConstantPad3d {
	return New(&ConstantPad3d{PadBase: PadBase{Padding: sizeOf(padding).expand(6)}, Value: value})
}

// Forward applies the layer.
func (m *ConstantPad3d) Forward(x *Tensor) *Tensor {
	return m.pad(x, F.PadOptions{Value: some(m.Value)})
}

// ExtraRepr prints the settings.
func (m *ConstantPad3d) ExtraRepr() string {
	return fmt.Sprintf("padding=%s, value=%s", m.Padding.tuple(), pyNum(m.Value))
}
