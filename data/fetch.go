package data

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"reflect"
	"runtime/debug"
	"sync"
)

// load makes one batch. Errors and panics name the sample that caused them.
func (l *DataLoader[T, B]) load(at *place, indices []int, getBatch func([]int) (B, error),
	collate func([]T) (B, error)) (b B, err error) {
	whole := true
	err = guard(func() error {
		at.enter(atBatch, first(indices))
		if err := inRange(indices, l.dataset.Len()); err != nil {
			return err
		}
		if getBatch != nil {
			b, err = getBatch(indices)
			return err
		}
		samples := make([]T, len(indices))
		for k, i := range indices {
			at.enter(atSample, i)
			whole = false
			if samples[k], err = l.dataset.Get(i); err != nil {
				return fmt.Errorf("data: sample %d: %w", i, err)
			}
		}
		whole = true
		at.enter(atBatch, first(indices))
		b, err = collate(samples)
		return err
	}, func() string {
		if whole {
			return fmt.Sprintf("batch of samples %v", indices)
		}
		return at.String()
	})
	return b, err
}

// first is what names a batch.
func first(indices []int) int {
	if len(indices) == 0 {
		return -1
	}
	return indices[0]
}

// inRange refuses indices that the dataset does not have. Negative ones count from its end, as in Python.
func inRange(indices []int, n int) error {
	for _, i := range indices {
		if i >= n || i < -n {
			return fmt.Errorf("data: the sampler gave index %d, which is out of range for a dataset of %d samples", i, n)
		}
	}
	return nil
}

// streamBatches groups a stream into batches.
func (l *DataLoader[T, B]) streamBatches(ctx context.Context, at *place, w WorkerInfo,
	collate func([]T) (B, error)) iter.Seq2[B, error] {
	return func(yield func(B, error) bool) {
		var buf []T
		n := 0
		stopped := false
		at.enter(atStream, 0)
		err := guard(func() error {
			for v, err := range l.stream.Iter(ctx, w) {
				if err != nil {
					return fmt.Errorf("data: sample %d of the stream: %w", n, err)
				}
				n++
				if buf = append(buf, v); len(buf) == l.o.BatchSize {
					b, err := collate(buf)
					if err != nil {
						return err
					}
					buf = nil
					if !yield(b, nil) {
						stopped = true
						return nil
					}
				}
				at.enter(atStream, n)
			}
			return nil
		}, at.String)
		var zero B
		switch {
		case stopped:
		case err != nil:
			yield(zero, err)
		case len(buf) > 0 && !l.o.DropLast:
			var b B
			err := guard(func() (err error) {
				b, err = collate(buf)
				return err
			}, func() string { return fmt.Sprintf("the last batch of the stream, of %d samples", len(buf)) })
			yield(b, err)
		}
	}
}

// PanicError is a panic of a dataset, collate function or stream, turned into an error.
type PanicError struct {
	Where string
	Value any
	Stack []byte // of the goroutine, from the panic on
}

// Error says where the panic happened, what it said, and how the program got there.
func (p *PanicError) Error() string {
	return fmt.Sprintf("data: %s: panic: %v\n%s", p.Where, p.Value, p.Stack)
}

// Unwrap returns the panic's value when it is an error.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// guard turns a panic of f into an error.
func guard(f func() error, where func() string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &PanicError{where(), r, trimStack(debug.Stack())}
		}
	}()
	return f()
}

// trimStack leaves out what stands above the panic: the recovering itself.
func trimStack(s []byte) []byte {
	if i := bytes.LastIndex(s, []byte("\npanic(")); i >= 0 {
		return s[i+1:]
	}
	return s
}

// tensorsIn lists the tensors of a batch: of slices, maps, pointers and structs at any depth up to that of any sensible
// batch.
func tensorsIn(batch any) []*Tensor {
	switch b := batch.(type) {
	case *Tensor:
		return []*Tensor{b}
	case []*Tensor:
		return b
	}
	var out []*Tensor
	listTensors(reflect.ValueOf(batch), 8, &out)
	return out
}

func listTensors(v reflect.Value, depth int, out *[]*Tensor) {
	if depth == 0 || !v.IsValid() || !mayHold(v.Type(), 8) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.Type() == tensorType {
			*out = append(*out, (*Tensor)(v.UnsafePointer()))
			return
		}
		listTensors(v.Elem(), depth-1, out)
	case reflect.Interface:
		listTensors(v.Elem(), depth-1, out)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			listTensors(v.Index(i), depth-1, out)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			listTensors(it.Value(), depth-1, out)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			listTensors(v.Field(i), depth-1, out)
		}
	}
}

// holders remembers which types may hold tensors.
var holders sync.Map

// mayHold reports that values of the type may lead to a tensor, so that a slice of numbers is not walked.
func mayHold(t reflect.Type, depth int) bool {
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map, reflect.Struct:
	default:
		return false
	}
	if t == tensorType {
		return true
	}
	if depth == 0 {
		return false
	}
	if yes, ok := holders.Load(t); ok {
		return yes.(bool)
	}
	yes := false
	if t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			yes = yes || mayHold(t.Field(i).Type, depth-1)
		}
	} else {
		yes = mayHold(t.Elem(), depth-1)
	}
	if depth == 8 {
		holders.Store(t, yes)
	}
	return yes
}
