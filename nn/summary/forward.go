package summary

import (
	"fmt"
	"reflect"

	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// kept is what a summary leaves as it was: the modes of the modules, and the buffers, which batch norms change in
// training mode.
type kept struct {
	modules []nn.Module // each after what it is part of
	modes   []bool
	buffers map[*tensor.Tensor]*tensor.Tensor
}

func keep(m nn.Module) *kept {
	k := &kept{buffers: map[*tensor.Tensor]*tensor.Tensor{}}
	for c := range nn.Modules(m) {
		k.modules, k.modes = append(k.modules, c), append(k.modes, nn.IsTraining(c))
	}
	tensor.NoGrad(func() {
		for _, b := range nn.NamedBuffers(m) {
			k.buffers[b] = b.Clone()
		}
	})
	return k
}

func (k *kept) restore() {
	for i, c := range k.modules {
		nn.Train(c, k.modes[i])
	}
	tensor.NoGrad(func() {
		for b, was := range k.buffers {
			b.CopyInPlace(was)
		}
	})
}

var tensorType = reflect.TypeFor[*tensor.Tensor]()

// forward calls m.Forward with the inputs, whatever it takes beside them: options are left out. The results are the
// tensors among what it returns.
func forward(m nn.Module, inputs []*tensor.Tensor) (out []*tensor.Tensor, err error) {
	f := reflect.ValueOf(m).MethodByName("Forward")
	if !f.IsValid() {
		return nil, fmt.Errorf("summary: %T has no Forward", m)
	}
	t := f.Type()
	fixed := t.NumIn()
	if t.IsVariadic() {
		fixed--
	}
	var args []reflect.Value
	for i := range fixed {
		if t.In(i) != tensorType || i >= len(inputs) {
			return nil, fmt.Errorf("summary: Forward of %T takes %s, there are %d tensors", m, t, len(inputs))
		}
		args = append(args, reflect.ValueOf(inputs[i]))
	}
	for _, x := range inputs[fixed:] {
		if !t.IsVariadic() || t.In(fixed).Elem() != tensorType {
			return nil, fmt.Errorf("summary: Forward of %T takes %s, there are %d tensors", m, t, len(inputs))
		}
		args = append(args, reflect.ValueOf(x))
	}
	err = tensor.Try(func() {
		tensor.NoGrad(func() {
			for _, r := range f.Call(args) {
				if x, ok := r.Interface().(*tensor.Tensor); ok {
					out = append(out, x)
				}
			}
		})
	})
	return out, err
}

// isSequential reports an nn.Sequential, or a struct that embeds one, as a class that inherits from it does in Python.
func isSequential(m nn.Module) bool {
	if _, ok := m.(*nn.Sequential); ok {
		return true
	}
	v := reflect.ValueOf(m)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return false
	}
	for i := range v.Elem().NumField() {
		f := v.Elem().Type().Field(i)
		if f.Anonymous && (f.Type == reflect.TypeFor[nn.Sequential]() || f.Type == reflect.TypeFor[*nn.Sequential]()) {
			return true
		}
	}
	return false
}
