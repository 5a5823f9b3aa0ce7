package tensor

import (
	"iter"
	"regexp"
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

// AddPrefix is a copy with a prefix before all keys, such as "module." for a network inside DataParallel, or
// "backbone.body." for a classifier inside a detector. The order is kept; the tensors are shared.
func (s *StateDict) AddPrefix(prefix string) *StateDict {
	out := &StateDict{}
	for k, t := range s.All() {
		out.Set(prefix+k, t)
	}
	for _, v := range s.Metadata {
		if v.Prefix == "" {
			v.Prefix = strings.TrimSuffix(prefix, ".")
		} else {
			v.Prefix = prefix + v.Prefix
		}
		out.Metadata = append(out.Metadata, v)
	}
	return out
}

// Filter is a copy of the entries whose keys keep accepts, for a part of a network or without one: see [Below]. The
// order is kept; the tensors are shared.
func (s *StateDict) Filter(keep func(key string) bool) *StateDict {
	out := &StateDict{Metadata: append([]ModuleVersion(nil), s.Metadata...)}
	for k, t := range s.All() {
		if keep(k) {
			out.Set(k, t)
		}
	}
	return out
}

// Below reports whether a key is that of a module or tensor of one of the names, or below it: "fc.weight" is below
// "fc", "fc2.weight" is not. The empty name stands for the whole network.
func Below(key string, names ...string) bool {
	for _, n := range names {
		n = strings.TrimSuffix(n, ".")
		if rest, ok := strings.CutPrefix(key, n); ok && (n == "" || rest == "" || rest[0] == '.') {
			return true
		}
	}
	return false
}

// Rename is a copy under the keys that rename gives; entries for which it gives "" are left out. The order is kept; the
// tensors are shared. The versions of modules follow their tensors. Two entries that would get one key are an error.
func (s *StateDict) Rename(rename func(key string) string) (*StateDict, error) {
	out := &StateDict{}
	from := map[string]string{}
	modules := map[string]string{"": ""}
	for k, t := range s.All() {
		name := rename(k)
		if name == "" {
			continue
		}
		if other, taken := from[name]; taken {
			return nil, &Error{Err: ErrValue, Msg: "StateDict.Rename: both " + other + " and " + k + " would become " +
				name}
		}
		from[name] = k
		out.Set(name, t)
		if old := moduleOf(k); modules[old] == "" {
			modules[old] = moduleOf(name)
		}
	}
	for _, v := range s.Metadata {
		if name, ok := modules[v.Prefix]; ok {
			v.Prefix = name
			out.Metadata = append(out.Metadata, v)
		}
	}
	return out, nil
}

// moduleOf is the name of the module that a key's tensor belongs to.
func moduleOf(key string) string { return key[:max(0, strings.LastIndexByte(key, '.'))] }

// RenameMap is Rename by a table of names of modules or tensors: {"fc": "classifier.1"} renames "fc.weight" to
// "classifier.1.weight". Where several names fit, the longest counts. The name "" stands for a module or tensor to be
// left out.
func (s *StateDict) RenameMap(names map[string]string) (*StateDict, error) {
	return s.Rename(func(key string) string {
		best := -1
		to := key
		for from, name := range names {
			if Below(key, from) && len(from) > best {
				best = len(from)
				rest := strings.TrimPrefix(key[len(from):], ".")
				switch {
				case name == "":
					to = ""
				case rest == "":
					to = name
				default:
					to = name + "." + rest
				}
			}
		}
		return to
	})
}

// RenameRegexp is Rename by a regular expression: what it matches of a key is replaced as by Regexp.ReplaceAllString,
// with $1 for the first group.
func (s *StateDict) RenameRegexp(re *regexp.Regexp, replacement string) (*StateDict, error) {
	return s.Rename(func(key string) string { return re.ReplaceAllString(key, replacement) })
}
