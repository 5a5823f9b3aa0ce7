package opcheck

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/tensor"
)

// inputs remembers the memory of a case's tensors before its call.
type inputs struct {
	names  map[*tensor.Storage]string // by the key of a tensor that lies there
	before map[*tensor.Storage][]byte
}

// remember copies what the tensors decoded so far hold. On other devices than the CPU nothing is copied.
func remember(d *golden.Decoder) *inputs {
	m := &inputs{names: map[*tensor.Storage]string{}, before: map[*tensor.Storage][]byte{}}
	for key, t := range d.Tensors {
		s := t.Storage()
		m.names[s] = key
		if t.Device() == (tensor.Device{}) {
			m.before[s] = bytes.Clone(s.Bytes())
		}
	}
	return m
}

// unchanged fails when a call wrote to an input that PyTorch's call leaves as it is. written are the arguments that
// the call changes there.
func (m *inputs) unchanged(written []any) error {
	may := map[*tensor.Storage]bool{}
	for _, v := range written {
		for _, t := range Flatten(v) {
			may[t.Storage()] = true
		}
	}
	for s, before := range m.before {
		if !may[s] && !bytes.Equal(before, s.Bytes()) {
			return fmt.Errorf("the call wrote to its input %s", m.names[s])
		}
	}
	return nil
}

// separate fails when a result lies in the memory of an input and PyTorch's does not: the record of a result that
// shares memory says so, see compare.
func (m *inputs) separate(d *golden.Decoder, got, want any) error {
	gots, wants := Flatten(got), Flatten(want)
	if len(gots) != len(wants) { // a result that is no tensor, or of which the elements are not defined
		return nil
	}
	for i, g := range gots {
		if key, ok := m.names[g.Storage()]; ok && d.Info[wants[i]].Alias == "" && g.Numel() > 0 {
			return fmt.Errorf("result %d lies in the memory of %s, which PyTorch's does not", i, key)
		}
	}
	return nil
}

// named lists the tensors of each argument by the name that records use for it: input, args.1, kwargs.out.
func named(input any, args []any, kwargs map[string]any) map[string][]*tensor.Tensor {
	out := map[string][]*tensor.Tensor{"input": Flatten(input)}
	for i, a := range args {
		out["args."+strconv.Itoa(i)] = Flatten(a)
	}
	for k, a := range kwargs {
		out["kwargs."+k] = Flatten(a)
	}
	return out
}

// argument finds an argument by the name that records use: input, args.1, kwargs.out.
func argument(name string, input any, args []any, kwargs map[string]any) (any, error) {
	if name == "input" {
		return input, nil
	}
	if n, ok := strings.CutPrefix(name, "args."); ok {
		i, err := strconv.Atoi(n)
		if err != nil || i < 0 || i >= len(args) {
			return nil, fmt.Errorf("no argument %s among %d", name, len(args))
		}
		return args[i], nil
	}
	if n, ok := strings.CutPrefix(name, "kwargs."); ok {
		return kwargs[n], nil
	}
	return nil, fmt.Errorf("no argument %s", name)
}
