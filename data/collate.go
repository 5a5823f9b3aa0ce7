package data

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/gotorch-dev/torch/tensor"
)

// DefaultCollate joins samples into a batch of the same type: tensors are stacked along a new first dimension, slices
// and maps and structs of tensors element by element. Other kinds (numbers, strings) need a Collate function of your
// own.
func DefaultCollate[T any](samples []T) (T, error) {
	var zero T
	if len(samples) == 0 {
		return zero, errors.New("data: collate: a batch without samples")
	}
	vals := make([]reflect.Value, len(samples))
	for i := range samples {
		vals[i] = reflect.ValueOf(&samples[i]).Elem()
	}
	out, err := collate(vals, "batch")
	if err != nil {
		return zero, err
	}
	return out.Interface().(T), nil
}

var tensorType = reflect.TypeFor[*Tensor]()

func collate(vals []reflect.Value, at string) (reflect.Value, error) {
	t := vals[0].Type()
	switch {
	case t == tensorType:
		ts := make([]*Tensor, len(vals))
		for i, v := range vals {
			ts[i] = v.Interface().(*Tensor)
			if ts[i] == nil {
				return reflect.Value{}, fmt.Errorf("data: collate: %s of sample %d is nil", at, i)
			}
			if !tensor.SameShape(ts[i].Shape(), ts[0].Shape()) || ts[i].DType() != ts[0].DType() {
				return reflect.Value{}, fmt.Errorf("data: collate: stack expects each tensor to be equal size, but "+
					"got %s at entry 0 and %s at entry %d",
					tensor.ShapeString(ts[0].Shape()), tensor.ShapeString(ts[i].Shape()), i)
			}
		}
		out, err := stack(ts)
		if err != nil {
			return reflect.Value{}, fmt.Errorf("data: collate: %s: %w", at, err)
		}
		return reflect.ValueOf(out), nil
	case t.Kind() == reflect.Slice:
		n := vals[0].Len()
		out := reflect.MakeSlice(t, n, n)
		for j := range n {
			part := make([]reflect.Value, len(vals))
			for i, v := range vals {
				if v.Len() != n {
					return reflect.Value{},
						fmt.Errorf("data: collate: each element in list of batch should be of equal size: %d and %d", n,
							v.Len())
				}
				part[i] = v.Index(j)
			}
			r, err := collate(part, fmt.Sprintf("%s[%d]", at, j))
			if err != nil {
				return reflect.Value{}, err
			}
			out.Index(j).Set(r)
		}
		return out, nil
	case t.Kind() == reflect.Map:
		out := reflect.MakeMap(t)
		for _, k := range vals[0].MapKeys() {
			part := make([]reflect.Value, len(vals))
			for i, v := range vals {
				if part[i] = v.MapIndex(k); !part[i].IsValid() {
					return reflect.Value{}, fmt.Errorf("data: collate: sample %d lacks key %v", i, k)
				}
			}
			r, err := collate(part, fmt.Sprintf("%s[%v]", at, k))
			if err != nil {
				return reflect.Value{}, err
			}
			out.SetMapIndex(k, r)
		}
		return out, nil
	case t.Kind() == reflect.Struct:
		out := reflect.New(t).Elem()
		for f := range t.NumField() {
			part := make([]reflect.Value, len(vals))
			for i, v := range vals {
				part[i] = v.Field(f)
			}
			r, err := collate(part, at+"."+t.Field(f).Name)
			if err != nil {
				return reflect.Value{}, err
			}
			out.Field(f).Set(r)
		}
		return out, nil
	}
	return reflect.Value{}, fmt.Errorf("data: default collate cannot join values of type %s (%s): give a Collate "+
		"function", t, at)
}

// stack joins tensors of one shape along a new first dimension, on the device where they are.
func stack(ts []*Tensor) (out *Tensor, err error) {
	r, err := tensor.CallOp("aten::stack", tensor.TensorsValue(ts), tensor.IntValue(0))
	if err != nil {
		return nil, err
	}
	return r[0].T, nil
}
