// Package transforms prepares and augments images, boxes, masks and key points: PyTorch's torchvision.transforms.v2,
// whose classes are those of the older torchvision.transforms and more. With the same seed they draw the same numbers.
//
//	t := transforms.NewCompose(
//		transforms.NewRandomResizedCrop([]int{224, 224}),
//		transforms.NewRandomHorizontalFlip(),
//		transforms.NewToDtype(torch.Float32, true),
//		transforms.NewNormalize([]float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}),
//	)
//	out := t.Apply(image, boxes, label)
//
// All inputs of one Apply are changed in the same way; what is neither an image nor boxes, a mask or points, such as a
// label, passes through. Of tensors without a mark the first one is the image. The functions behind the transforms are
// in vision/transforms/functional. The type to know is [Transform].
package transforms

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/pil"
	F "github.com/gotorch-dev/torch/vision/transforms/functional"
	"github.com/gotorch-dev/torch/vision/tvtensors"
)

// Transform changes inputs.
type Transform interface {
	// Apply changes all inputs in the same way and returns as many, unless it says otherwise.
	Apply(inputs ...any) []any
}

// InterpolationMode says how pixels between pixels are found.
type InterpolationMode = F.InterpolationMode

// Op is a transform that draws its parameters once for all inputs and then changes each of them.
type Op struct {
	name string
	p    *float64 // it is left out with probability 1-p; nil for a transform without a probability, which draws none
	// draw gives what is done with each input.
	draw func(inputs []any) func(x any) any
	does any // what Compose looks at, nil for most
}

// String is the transform's name.
func (o *Op) String() string { return o.name + "()" }

// Apply changes the inputs.
func (o *Op) Apply(inputs ...any) []any {
	if o.p != nil && rand() >= *o.p {
		return inputs
	}
	inputs = append([]any(nil), inputs...)
	at := transformed(inputs)
	chosen := make([]any, len(at))
	for i, k := range at {
		chosen[i] = inputs[k]
	}
	f := o.draw(chosen)
	for i, k := range at {
		inputs[k] = f(chosen[i])
	}
	return inputs
}

// transformed are the numbers of the inputs that a transform changes: images, boxes, masks and points. Of tensors
// without a mark it is only the first, where there is no *pil.Image, as in torchvision: others are labels and the like.
func transformed(inputs []any) (at []int) {
	image := HasAny[*pil.Image](inputs)
	for i, x := range inputs {
		switch x.(type) {
		case *pil.Image, *tvtensors.BoundingBoxes, *tvtensors.Mask, *tvtensors.KeyPoints:
			at = append(at, i)
		case *tensor.Tensor:
			if !image {
				at, image = append(at, i), true
			}
		}
	}
	return at
}

// always is an Op without parameters.
func always(name string, f func(x any) any) *Op {
	return drawn(name, func([]any) func(x any) any { return f })
}

// as says what an Op does.
func (o *Op) as(does any) *Op { o.does = does; return o }

// sometimes is an Op without parameters that is left out with probability 1-p.
func sometimes(name string, p float64, f func(x any) any) *Op {
	return perhaps(name, p, func([]any) func(x any) any { return f })
}

// perhaps is an Op with parameters that is left out with probability 1-p.
func perhaps(name string, p float64, draw func(inputs []any) func(x any) any) *Op {
	if !(p >= 0 && p <= 1) {
		tensor.Fail(tensor.ErrValue, "%s: `p` should be a floating point value in the interval [0.0, 1.0], but got %v",
			name,
			p)
	}
	return &Op{name: name, p: &p, draw: draw}
}

// drawn is an Op with parameters.
func drawn(name string, draw func(inputs []any) func(x any) any) *Op {
	return &Op{name: name, draw: draw}
}

// rand draws from [0, 1).
func rand() float64 { return torch.Rand([]int{1}).Item() }

// uniform draws from [lo, hi) in float32.
func uniform(lo, hi float64) float64 {
	return torch.Empty([]int{1}).UniformInPlace(tensor.UniformInPlaceOptions{From: lo, To: tensor.Some(hi)}).Item()
}

// randint draws from [lo, hi).
func randint(lo, hi int) int { return int(torch.RandintLow(lo, hi, []int{1}).Item()) }

func randperm(n int) (out []int) {
	for _, v := range tensor.Data[int64](torch.Randperm(n)) {
		out = append(out, int(v))
	}
	return out
}

// isImage reports an image: a tensor or a *pil.Image.
func isImage(x any) bool {
	switch x.(type) {
	case *tensor.Tensor, *pil.Image:
		return true
	}
	return false
}

// onImages is f for images; other inputs stay as they are.
func onImages(f func(x any) any) func(x any) any {
	return func(x any) any {
		if isImage(x) {
			return f(x)
		}
		return x
	}
}

// QuerySize is the height and width of the first input that has some.
func QuerySize(inputs []any) (height, width int) {
	for _, x := range inputs {
		switch x.(type) {
		case *tensor.Tensor, *pil.Image, *tvtensors.BoundingBoxes, *tvtensors.Mask, *tvtensors.KeyPoints:
			return F.GetSize(x)
		}
	}
	tensor.Fail(tensor.ErrValue, "transforms: no image, boxes, mask or key points among the inputs")
	return 0, 0
}

// QueryCHW is the channels, height and width of the first image among the inputs.
func QueryCHW(inputs []any) (channels, height, width int) {
	for _, x := range inputs {
		if isImage(x) {
			return F.GetDimensions(x)
		}
	}
	tensor.Fail(tensor.ErrValue, "transforms: no image among the inputs")
	return 0, 0, 0
}

// CheckType reports that x has type T.
func CheckType[T any](x any) bool { _, ok := x.(T); return ok }

// HasAny reports that one of the inputs has type T.
func HasAny[T any](inputs []any) bool {
	for _, x := range inputs {
		if CheckType[T](x) {
			return true
		}
	}
	return false
}

// HasAll reports that there are inputs of both types.
func HasAll[T, U any](inputs []any) bool { return HasAny[T](inputs) && HasAny[U](inputs) }

func first[T any](inputs []any, what string) T {
	for _, x := range inputs {
		if v, ok := x.(T); ok {
			return v
		}
	}
	tensor.Fail(tensor.ErrValue, "transforms: no %s among the inputs", what)
	panic("not reached")
}

// GetBoundingBoxes is the first input that is boxes.
func GetBoundingBoxes(inputs []any) *tvtensors.BoundingBoxes {
	return first[*tvtensors.BoundingBoxes](inputs, "bounding boxes")
}

// GetKeyPoints is the first input that is key points.
func GetKeyPoints(inputs []any) *tvtensors.KeyPoints {
	return first[*tvtensors.KeyPoints](inputs, "key points")
}

func firstOf[T any](opts []T) (o T) {
	if len(opts) > 0 {
		o = opts[0]
	}
	return o
}

// chance is the probability that was given, or a default.
func chance(p []float64, def float64) float64 {
	if len(p) > 0 {
		return p[0]
	}
	return def
}
