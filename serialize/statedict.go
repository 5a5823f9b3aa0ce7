package serialize

import (
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/tensor"
)

// StateDict reads the dict as a state dict: string keys, tensor values. Other values are an error that names the first
// such key, and, where the dict wraps a state dict as training scripts write it, the entry to take. The versions of the
// modules, which a file of PyTorch's holds beside the names, come along as Metadata.
func (d *Dict) StateDict() (*tensor.StateDict, error) {
	sd := &tensor.StateDict{Metadata: d.versions}
	for _, e := range d.entries {
		k, ok := e.key.(string)
		t, ok2 := e.val.(*tensor.Tensor)
		if !ok || !ok2 {
			return nil, fmt.Errorf("serialize: entry %s is %s: a state dict has names and tensors only%s",
				cut(text(e.key)), describeValue(e.val), d.wrapped())
		}
		sd.Set(k, t)
	}
	return sd, nil
}

// LoadStateDict reads a file that holds a state dict. A file that holds one inside a larger checkpoint is an error that
// names the call to use.
func LoadStateDict(path string, opts ...LoadOptions) (*tensor.StateDict, error) {
	v, err := LoadFile(path, opts...)
	if err != nil {
		return nil, err
	}
	d, ok := v.(*Dict)
	if !ok {
		return nil, fmt.Errorf("%s holds %s, not a state dict", path, describeValue(v))
	}
	sd, err := d.StateDict()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return sd, nil
}

// isStateDict reports a dict of names and tensors alone, at least one.
func (d *Dict) isStateDict() bool {
	for _, e := range d.entries {
		_, ok1 := e.key.(string)
		_, ok2 := e.val.(*tensor.Tensor)
		if !ok1 || !ok2 {
			return false
		}
	}
	return len(d.entries) > 0
}

// wrapped tells which entries of a dict are state dicts, two levels deep, and how to take one out.
func (d *Dict) wrapped() string {
	var found []string
	call := ""
	var look func(d *Dict, at path, get string)
	look = func(d *Dict, at path, get string) {
		for _, e := range d.entries {
			inner, ok := e.val.(*Dict)
			key, ok2 := e.key.(string)
			if !ok || !ok2 || len(found) >= 4 {
				continue
			}
			at, get := append(at[:len(at):len(at)], key), fmt.Sprintf("%s.Get(%q)", get, cut(key))
			if inner.isStateDict() {
				found = append(found, fmt.Sprintf("%s (%d tensors)", at, inner.Len()))
				if call == "" {
					call = get + ".(*serialize.Dict).StateDict()"
				}
			} else if len(at) < 2 {
				look(inner, at, get+".(*serialize.Dict)")
			}
		}
	}
	look(d, nil, "v.(*serialize.Dict)")
	if call == "" {
		return ""
	}
	return fmt.Sprintf(". This is a checkpoint with more in it; its state dicts are %s. Take one out: v, err := "+
		"serialize.LoadFile(path); sd, err := %s", strings.Join(found, ", "), call)
}

// describeValue says what a value is, in a few words.
func describeValue(v any) string {
	switch x := v.(type) {
	case nil:
		return "None"
	case *Dict:
		return fmt.Sprintf("a dict of %d entries", x.Len())
	case []any:
		return fmt.Sprintf("a list of %d values", len(x))
	case Tuple:
		return fmt.Sprintf("a tuple of %d values", len(x))
	case *tensor.Tensor:
		return fmt.Sprintf("a tensor of shape %v", x.Shape())
	case string:
		return "text"
	}
	return fmt.Sprintf("a value of type %T", v)
}
