package tensorboard

import (
	"fmt"
	"image"
	"image/draw"
	"slices"
)

// Kind is the element type of an [Array]. It decides how numbers are scaled and
// written: uint8 images hold 0…255, all others 0…1.
type Kind uint8

// Element types.
const (
	Float32 Kind = iota
	Float64
	Float16
	BFloat16
	Uint8
	Int8
	Int16
	Int32
	Int64
	Bool
)

var kindNames = [...]string{"float32", "float64", "float16", "bfloat16", "uint8", "int8", "int16", "int32", "int64",
	"bool"}

// String returns the type's name, such as "float32".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

func (k Kind) float() bool { return k <= BFloat16 }

// Array is what the Add methods take for a tensor: numbers with a shape.
type Array interface {
	// Shape returns the sizes; no sizes is a scalar.
	Shape() []int
	// Kind returns the element type.
	Kind() Kind
	// Float64s returns the elements in row-major order. The caller does not change them.
	Float64s() []float64
}

// Number is the element type of slices that [Of] takes.
type Number interface {
	float32 | float64 | uint8 | int8 | int16 | int32 | int64 | int | bool
}

// Int64Array is an [Array] of [Int64] that can also give its elements exactly:
// those beyond ±2⁵³ do not fit a float64. [Of] and [FromTensor] make such arrays.
type Int64Array interface {
	Array
	// Int64s returns the elements in row-major order. The caller does not change them.
	Int64s() []int64
}

// int64s gives the elements of an array of integers, exactly if it can.
func int64s(a Array) []int64 {
	if x, ok := a.(Int64Array); ok && a.Kind() == Int64 {
		if v := x.Int64s(); v != nil {
			return v
		}
	}
	return convert[int64](a.Float64s())
}

type array struct {
	shape []int
	kind  Kind
	data  []float64
	exact []int64 // of Int64 arrays, when a float64 does not hold them all
}

func (a *array) Shape() []int        { return a.shape }
func (a *array) Kind() Kind          { return a.kind }
func (a *array) Float64s() []float64 { return a.data }
func (a *array) Int64s() []int64     { return a.exact }

// keepExact keeps the integers themselves if one of them is no float64.
func (a *array) keepExact(v []int64) {
	for _, x := range v {
		if x > 1<<53 || x < -1<<53 {
			a.exact = slices.Clone(v)
			return
		}
	}
}

// Of makes an array of data with a shape; without sizes it is a vector. The data
// is copied. A shape that does not hold len(data) elements is reported by the
// method that the array is given to.
func Of[T Number](data []T, shape ...int) Array {
	a := &array{shape: shape, data: make([]float64, len(data))}
	if len(shape) == 0 {
		a.shape = []int{len(data)}
	}
	switch d := any(data).(type) {
	case []float32:
		fill(a, Float32, d)
	case []float64:
		fill(a, Float64, d)
	case []uint8:
		fill(a, Uint8, d)
	case []int8:
		fill(a, Int8, d)
	case []int16:
		fill(a, Int16, d)
	case []int32:
		fill(a, Int32, d)
	case []int64:
		fill(a, Int64, d)
		a.keepExact(d)
	case []int:
		fill(a, Int64, d)
		a.keepExact(toInt64s(d))
	case []bool:
		a.kind = Bool
		for i, v := range d {
			if v {
				a.data[i] = 1
			}
		}
	}
	return a
}

func toInt64s(v []int) []int64 {
	out := make([]int64, len(v))
	for i, x := range v {
		out[i] = int64(x)
	}
	return out
}

func fill[T float32 | float64 | uint8 | int8 | int16 | int32 | int64 | int](a *array, k Kind, d []T) {
	a.kind = k
	for i, v := range d {
		a.data[i] = float64(v)
	}
}

// Scalar makes an array of one number without dimensions.
func Scalar(v float64) Array { return &array{shape: []int{}, kind: Float64, data: []float64{v}} }

// FromImage makes a uint8 array of shape (height, width, 3), or (height, width, 4)
// if the image is not opaque: use it with the format "HWC".
func FromImage(m image.Image) Array {
	b := m.Bounds()
	px := image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	draw.Draw(px, px.Bounds(), m, b.Min, draw.Src)
	c := 4
	if px.Opaque() {
		c = 3
	}
	a := &array{shape: []int{b.Dy(), b.Dx(), c}, kind: Uint8, data: make([]float64, 0, b.Dx()*b.Dy()*c)}
	for i := 0; i < len(px.Pix); i += 4 {
		for _, v := range px.Pix[i : i+c] {
			a.data = append(a.data, float64(v))
		}
	}
	return a
}

// check verifies that an array's data fits its shape, and its number of
// dimensions unless dims is negative.
func check(op string, a Array, dims int) error {
	if a == nil {
		return fmt.Errorf("tensorboard: %s: no array", op)
	}
	n := 1
	for _, d := range a.Shape() {
		if d < 0 {
			return fmt.Errorf("tensorboard: %s: negative size in shape %v", op, a.Shape())
		}
		n *= d
	}
	if len(a.Float64s()) != n {
		return fmt.Errorf("tensorboard: %s: %d elements do not fill shape %v", op, len(a.Float64s()), a.Shape())
	}
	if dims >= 0 && len(a.Shape()) != dims {
		return fmt.Errorf("tensorboard: %s: shape %v has %d dimensions, want %d", op, a.Shape(), len(a.Shape()), dims)
	}
	return nil
}
