package transforms

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/pil"
	F "github.com/gotorch-dev/torch/vision/transforms/functional"
)

// Compose runs transforms one after the other. Of a single *pil.Image, Resize with the CenterCrop behind it and
// ToTensor with the Normalize behind it are done together, with the same result.
type Compose struct{ Transforms []Transform }

// NewCompose makes a Compose.
func NewCompose(t ...Transform) *Compose { return &Compose{t} }

// Apply runs the transforms.
func (c *Compose) Apply(inputs ...any) []any {
	for i := 0; i < len(c.Transforms); i++ {
		if im, ok := alone(inputs); ok && i+1 < len(c.Transforms) {
			if out := together(c.Transforms[i], c.Transforms[i+1], im); out != nil {
				inputs = []any{out}
				i++
				continue
			}
		}
		inputs = c.Transforms[i].Apply(inputs...)
	}
	return inputs
}

// alone is the only input, if it is an image.
func alone(inputs []any) (*pil.Image, bool) {
	if len(inputs) != 1 {
		return nil, false
	}
	im, ok := inputs[0].(*pil.Image)
	return im, ok
}

// together runs two transforms that can be done as one; nil for others.
func together(first, second Transform, im *pil.Image) any {
	a, ok := first.(*Op)
	b, ok2 := second.(*Op)
	if !ok || !ok2 {
		return nil
	}
	switch x := a.does.(type) {
	case resizing:
		if c, ok := b.does.(centerCropping); ok {
			return F.ResizeCenterCrop(im, x.size, c.size, x.opts...)
		}
	case toTensor:
		if n, ok := b.does.(normalizing); ok {
			return F.ToNormalizedTensor(im, n.mean, n.std)
		}
	}
	return nil
}

// What an Op does, where Compose can do it together with another one.
type (
	resizing struct {
		size []int
		opts []F.ResizeOptions
	}
	centerCropping struct{ size []int }
	toTensor       struct{}
	normalizing    struct{ mean, std []float64 }
)

// applied adapts a function to Transform.
type applied func(inputs []any) []any

// Apply calls the function.
func (f applied) Apply(inputs ...any) []any { return f(inputs) }

// NewRandomApply runs transforms with probability p, 0.5 unless given.
func NewRandomApply(t []Transform, p ...float64) Transform {
	c, q := NewCompose(t...), chance(p, 0.5)
	return applied(func(in []any) []any {
		if rand() >= q {
			return in
		}
		return c.Apply(in...)
	})
}

// NewRandomChoice runs one of the transforms, drawn with the given weights (default equal ones).
func NewRandomChoice(t []Transform, weights ...float64) Transform {
	if len(weights) == 0 {
		weights = make([]float64, len(t))
		for i := range weights {
			weights[i] = 1
		}
	}
	if len(weights) != len(t) || len(t) == 0 {
		tensor.Fail(tensor.ErrValue, "RandomChoice: Length of p doesn't match the number of transforms: %d != %d",
			len(weights), len(t))
	}
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	probs := make([]float32, len(weights))
	for i, w := range weights {
		probs[i] = float32(w / sum)
	}
	return applied(func(in []any) []any {
		i := int(tensor.FromSlice(probs).Multinomial(1).Item())
		return t[i].Apply(in...)
	})
}

// NewRandomOrder runs the transforms in an order that is drawn.
func NewRandomOrder(t ...Transform) Transform {
	return applied(func(in []any) []any {
		for _, i := range randperm(len(t)) {
			in = t[i].Apply(in...)
		}
		return in
	})
}

// NewLambda runs a function on each input.
func NewLambda(f func(x any) any) Transform {
	return applied(func(in []any) []any {
		out := make([]any, len(in))
		for i, x := range in {
			out[i] = f(x)
		}
		return out
	})
}

// NewIdentity changes nothing.
func NewIdentity() Transform { return always("Identity", func(x any) any { return x }) }

// NewLinearTransformation subtracts mean from flattened tensor images (…, C, H, W) and multiplies by matrix (D, D),
// D = C·H·W, as for whitening.
func NewLinearTransformation(matrix, mean *tensor.Tensor) Transform {
	if matrix.Dim() != 2 || matrix.Size(0) != matrix.Size(1) || mean.Numel() != matrix.Size(0) {
		tensor.Fail(tensor.ErrShape, "LinearTransformation: matrix %s should be square, and mean %s of its length",
			tensor.ShapeString(matrix.Shape()), tensor.ShapeString(mean.Shape()))
	}
	return always("LinearTransformation", func(x any) any {
		t, ok := x.(*tensor.Tensor)
		if !ok {
			return x
		}
		s := t.Shape()
		if len(s) < 3 || s[len(s)-1]*s[len(s)-2]*s[len(s)-3] != matrix.Size(0) {
			tensor.Fail(tensor.ErrShape, "LinearTransformation: an image of shape %s does not have %d elements",
				tensor.ShapeString(s), matrix.Size(0))
		}
		return t.Reshape([]int{-1, matrix.Size(0)}).Sub(mean).MatMul(matrix).Reshape(s)
	})
}

// UniformTemporalSubsample takes n frames at equal distances of a video (…, T, C, H, W).
func UniformTemporalSubsample(video *tensor.Tensor, n int) *tensor.Tensor {
	if video.Dim() < 4 {
		tensor.Fail(tensor.ErrShape, "UniformTemporalSubsample: want a video (…, T, C, H, W), got shape %s",
			tensor.ShapeString(video.Shape()))
	}
	at := torch.Linspace(0, video.Size(-4)-1, n).Long()
	return video.IndexSelect(-4, at)
}

// NewUniformTemporalSubsample is UniformTemporalSubsample as a transform.
func NewUniformTemporalSubsample(n int) Transform {
	return always("UniformTemporalSubsample", func(x any) any {
		if t, ok := x.(*tensor.Tensor); ok {
			return UniformTemporalSubsample(t, n)
		}
		return x
	})
}
