package serialize

import (
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/serialize/npy"
	"github.com/gotorch-dev/torch/tensor"
)

// StateDict reads the dict as a state dict: string keys, and tensors or arrays of NumPy as values. Other values are an
// error that names the first such key, and, where the dict wraps a state dict as training scripts write it, the entry
// to take. The versions of the modules, which a file of PyTorch's holds beside the names, come along as Metadata.
func (d *Dict) StateDict() (*tensor.StateDict, error) {
	sd := &tensor.StateDict{Metadata: d.versions}
	for _, e := range d.entries {
		k, ok := e.key.(string)
		if ok {
			switch x := e.val.(type) {
			case *tensor.Tensor:
				sd.Set(k, x)
				continue
			case *npy.Array:
				t, err := x.Tensor()
				if err != nil {
					return nil, fmt.Errorf("serialize: entry %s: %w", cut(text(e.key)), err)
				}
				sd.Set(k, t)
				continue
			}
		}
		wrapped := d.wrapped()
		if o, ok := e.val.(*Object); ok && wrapped == "" {
			return nil, fmt.Errorf("serialize: entry %s: %w", cut(text(e.key)), notData(o))
		}
		return nil, fmt.Errorf("serialize: entry %s is %s: a state dict has names and tensors only%s",
			cut(text(e.key)), describeValue(e.val), wrapped)
	}
	return sd, nil
}

// stateDictOf is the state dict that a value of a file is or holds under the given keys: a dict of tensors, or a module
// that was pickled whole.
func stateDictOf(v any, entry []string) (*tensor.StateDict, error) {
	at := ""
	for _, key := range entry {
		d, ok := v.(*Dict)
		if !ok || !d.Has(key) {
			return nil, fmt.Errorf("serialize: there is no entry %q in v%s, which is %s", cut(key), at,
				describeValue(v))
		}
		v, at = d.Get(key), fmt.Sprintf("%s[%q]", at, cut(key))
	}
	switch x := v.(type) {
	case *Dict:
		return x.StateDict()
	case *Object:
		if x.IsModule() {
			return x.StateDict()
		}
		return nil, fmt.Errorf("serialize: %w", notData(x))
	case Global:
		return nil, fmt.Errorf("serialize: %w: the file holds nothing but a reference to %s", ErrNotData,
			cut(x.String()))
	}
	if at != "" {
		at = " at " + at
	}
	return nil, fmt.Errorf("serialize: the file holds %s%s, not a state dict", describeValue(v), at)
}

// isStateDict reports a dict of names and tensors alone, at least one.
func (d *Dict) isStateDict() bool {
	for _, e := range d.entries {
		_, ok1 := e.key.(string)
		switch e.val.(type) {
		case *tensor.Tensor, *npy.Array:
		default:
			return false
		}
		if !ok1 {
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
			key, ok := e.key.(string)
			if !ok || len(found) >= 4 {
				continue
			}
			at, get := append(at[:len(at):len(at)], key), fmt.Sprintf("%s.Get(%q)", get, cut(key))
			if o, ok := e.val.(*Object); ok && o.IsModule() {
				found = append(found, fmt.Sprintf("%s (a whole model, class %s)", at, cut(o.Class.String())))
				if call == "" {
					call = get + ".(*serialize.Object).StateDict()"
				}
				continue
			}
			inner, ok := e.val.(*Dict)
			if !ok {
				continue
			}
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
	case *Opaque:
		return "a tensor of dtype " + x.DType + ", which has no operators here"
	case *npy.Array:
		return fmt.Sprintf("an array of NumPy of shape %v", x.Shape)
	case *Object:
		return "an object of class " + cut(x.Class.String())
	case Global:
		return "a reference to " + cut(x.String())
	case string:
		return "text"
	}
	return fmt.Sprintf("a value of type %T", v)
}
