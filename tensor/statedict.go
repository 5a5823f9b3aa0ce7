package tensor

import (
	"iter"
	"strings"
)

// StateDict is an ordered dictionary of tensors, what a module's state_dict is in Python. The zero value is empty and
// ready to use.
type StateDict struct {
	keys []string
	m    map[string]*Tensor
	// Metadata holds, per module prefix, its state's version number, as Python's _metadata does.
	Metadata []ModuleVersion
}

// ModuleVersion is one entry of a state dict's metadata.
type ModuleVersion struct {
	Prefix  string
	Version int // 0: none
}

// Set adds a tensor at the end, or replaces it in its place.
func (s *StateDict) Set(key string, t *Tensor) {
	if s.m == nil {
		s.m = map[string]*Tensor{}
	}
	if _, ok := s.m[key]; !ok {
		s.keys = append(s.keys, key)
	}
	s.m[key] = t
}

// Get finds a tensor, nil when there is none.
func (s *StateDict) Get(key string) *Tensor { return s.m[key] }

// Has reports whether the key is there.
func (s *StateDict) Has(key string) bool { _, ok := s.m[key]; return ok }

// Delete removes a key.
func (s *StateDict) Delete(key string) {
	if !s.Has(key) {
		return
	}
	delete(s.m, key)
	for i, k := range s.keys {
		if k == key {
			s.keys = append(s.keys[:i:i], s.keys[i+1:]...)
			return
		}
	}
}

// Len is the number of tensors.
func (s *StateDict) Len() int { return len(s.keys) }

// Keys lists the keys in order.
func (s *StateDict) Keys() []string { return append([]string(nil), s.keys...) }

// All walks the entries in order.
func (s *StateDict) All() iter.Seq2[string, *Tensor] {
	return func(yield func(string, *Tensor) bool) {
		for _, k := range s.keys {
			if !yield(k, s.m[k]) {
				return
			}
		}
	}
}

// StripPrefix is a copy without a prefix of the keys: the weights of a network that was saved inside a wrapper
// (DataParallel's are called "module.weight") under the names that the network itself knows. Keys that do not begin
// with the prefix stay as they are; the order is kept. The tensors are shared.
func (s *StateDict) StripPrefix(prefix string) *StateDict {
	out := &StateDict{}
	for k, t := range s.All() {
		out.Set(strings.TrimPrefix(k, prefix), t)
	}
	// The metadata's prefixes are module names, which lack the final point of a prefix of keys.
	root := strings.TrimSuffix(prefix, ".")
	for _, v := range s.Metadata {
		switch {
		case v.Prefix == "" && root != "":
			continue // the wrapper's own entry
		case v.Prefix == root:
			v.Prefix = ""
		default:
			v.Prefix = strings.TrimPrefix(v.Prefix, prefix)
		}
		out.Metadata = append(out.Metadata, v)
	}
	return out
}
