package npy

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/tensor"
)

// New makes an array of its parts: descr is NumPy's code of the dtype with its byte order, such as "<f4" or ">i8".
// The data is copied where its bytes have to be turned around. An error says that the dtype is unknown or that the data
// does not fit the shape.
func New(descr string, shape []int, fortran bool, data []byte) (*Array, error) {
	k, swap, err := parseDescr(descr)
	if err != nil {
		return nil, err
	}
	a := &Array{DType: k.name, Shape: slices.Clone(shape), FortranOrder: fortran, Data: data}
	want := uint64(k.size)
	for _, n := range shape {
		hi, lo := bits.Mul64(want, uint64(n))
		if n < 0 || hi != 0 {
			return nil, formatErr("shape %v is too large or negative", shape)
		}
		want = lo
	}
	if want != uint64(len(data)) {
		return nil, formatErr("shape %v of %s needs %d bytes, got %d", shape, k.name, want, len(data))
	}
	if swap {
		a.Data = slices.Clone(data)
		swapBytes(a.Data, k.unit)
	}
	return a, nil
}

// Descr is NumPy's code of the dtype with the byte order of Data: "<f4". An error says that the dtype is unknown.
func (a *Array) Descr() (string, error) { return descr(a.DType) }

// Tensor is the array as a tensor of the same shape, in row-major order, with memory of its own. An error says that
// there is no such dtype: text and raw bytes.
func (a *Array) Tensor() (t *tensor.Tensor, err error) {
	dt := dtype.Parse(a.DType)
	if !dt.Valid() {
		return nil, fmt.Errorf("npy: %w %q of an array: there are no tensors of it", ErrDType, a.DType)
	}
	want := dt.Size()
	for _, n := range a.Shape {
		hi, lo := bits.Mul64(uint64(want), uint64(n))
		if n < 0 || hi != 0 || lo>>62 != 0 {
			return nil, formatErr("shape %v is too large or negative", a.Shape)
		}
		want = int(lo)
	}
	if want != len(a.Data) {
		return nil, formatErr("shape %v of %s needs %d bytes, got %d", a.Shape, a.DType, want, len(a.Data))
	}
	a = a.RowMajor()
	err = tensor.Try(func() {
		t = tensor.NewOn(tensor.Device{}, a.Shape, nil, dt)
		copy(t.Storage().Bytes(), a.Data)
	})
	return t, err
}

// FromTensor is a tensor as an array with memory of its own. An error says that NumPy has no such dtype, as bfloat16.
func FromTensor(t *tensor.Tensor) (a *Array, err error) {
	name := t.DType().Name()
	if _, ok := codes[name]; !ok {
		return nil, fmt.Errorf("npy: %w: NumPy has no %s", ErrDType, name)
	}
	err = tensor.Try(func() {
		d := tensor.Dense(tensor.HostCopy(tensor.Resolved(t.Detach())))
		n, from := d.Numel()*d.ElementSize(), d.StorageOffset()*d.ElementSize()
		a = &Array{DType: name, Shape: slices.Clone(t.Shape()),
			Data: slices.Clone(d.Storage().Bytes()[from : from+n])}
	})
	return a, err
}
