// Package tvtensors marks tensors as what they are in pictures, PyTorch's torchvision.tv_tensors: transforms move
// boxes, masks and key points along with the images. An image itself is a plain tensor (…, C, H, W), or a *pil.Image.
package tvtensors

import (
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/ops"
)

// BoundingBoxFormat says what the numbers of a box mean; the values are those of package ops.
type BoundingBoxFormat = ops.BoxFormat

// ClampingMode says what happens to boxes that leave the canvas.
type ClampingMode string

// The modes of clamping.
const (
	ClampSoft ClampingMode = "soft" // cut
	ClampHard ClampingMode = "hard" // cut, turned boxes also where only a corner leaves
	ClampNone ClampingMode = "none" // left as they are
)

// BoundingBoxes are boxes (N, 4) on a canvas.
type BoundingBoxes struct {
	*tensor.Tensor
	Format     BoundingBoxFormat
	CanvasSize [2]int       // height, width
	Clamping   ClampingMode // default ClampSoft
}

// NewBoundingBoxes marks boxes.
func NewBoundingBoxes(t *tensor.Tensor, format BoundingBoxFormat, canvasSize [2]int) *BoundingBoxes {
	return &BoundingBoxes{Tensor: t, Format: format, CanvasSize: canvasSize}
}

// With is other boxes of the same kind on a canvas.
func (b *BoundingBoxes) With(t *tensor.Tensor, canvasSize [2]int) *BoundingBoxes {
	return &BoundingBoxes{t, b.Format, canvasSize, b.Clamping}
}

// Mask is masks (…, H, W), which are resized and turned without interpolation.
type Mask struct{ *tensor.Tensor }

// NewMask marks a mask.
func NewMask(t *tensor.Tensor) *Mask { return &Mask{t} }

// KeyPoints are points (…, 2), x before y, on a canvas.
type KeyPoints struct {
	*tensor.Tensor
	CanvasSize [2]int // height, width
}

// NewKeyPoints marks points.
func NewKeyPoints(t *tensor.Tensor, canvasSize [2]int) *KeyPoints { return &KeyPoints{t, canvasSize} }
