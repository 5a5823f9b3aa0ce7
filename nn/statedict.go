package nn

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/internal/pyfmt"
	"github.com/gotorch-dev/torch/tensor"
)

// Versioned is implemented by modules whose state dict has a version number (batch norm: 2).
type Versioned interface{ StateVersion() int }

// Defaulted is implemented by modules whose older state dicts lack entries: StateDefaults names those that a state dict
// of the given version (0: unknown) may lack; they keep their values then.
type Defaulted interface{ StateDefaults(version int) []string }

// missingInOld lists the names that sd may lack because it was made by an older version of a module.
func missingInOld(m Module, sd *tensor.StateDict) map[string]bool {
	versions := make(map[string]int, len(sd.Metadata))
	for _, v := range sd.Metadata {
		versions[v.Prefix] = v.Version
	}
	out := map[string]bool{}
	for prefix, c := range NamedModules(m) {
		if d, ok := c.(Defaulted); ok {
			for _, name := range d.StateDefaults(versions[prefix]) {
				out[join(prefix, name)] = true
			}
		}
	}
	return out
}

// StateDict lists the parameters and persistent buffers of m and its children under Python's names. The tensors share
// memory with the module but are not connected to the tape.
func StateDict(m Module) *tensor.StateDict {
	sd := &tensor.StateDict{}
	stateDict(m, "", sd, nil)
	return sd
}

func stateDict(m Module, prefix string, sd *tensor.StateDict, above *trail) {
	above = above.enter(m)
	v := 1
	if w, ok := m.(Versioned); ok {
		v = w.StateVersion()
	}
	sd.Metadata = append(sd.Metadata, tensor.ModuleVersion{Prefix: prefix, Version: v})
	type kid struct {
		name string
		m    Module
	}
	var kids []kid
	var bufs []func()
	walkOwn(m, func(n string, t *Tensor) { sd.Set(join(prefix, n), t.Detach()) },
		func(n string, t *Tensor, keep bool) {
			if keep {
				bufs = append(bufs, func() { sd.Set(join(prefix, n), t.Detach()) })
			}
		},
		func(n string, c Module) { kids = append(kids, kid{n, c}) })
	for _, f := range bufs {
		f()
	}
	for _, k := range kids {
		stateDict(k.m, join(prefix, k.name), sd, above)
	}
}

// LoadOptions are the options of LoadStateDict.
type LoadOptions struct {
	// NonStrict ignores missing and unexpected keys.
	NonStrict bool
	// IgnoreMismatched leaves parameters as they are whose shapes are not those of the state dict, such as those of a
	// head for another number of classes. PyTorch has no such option; there the entries are taken out by hand.
	IgnoreMismatched bool
	// Result, when given, receives the names that did not match.
	Result *LoadResult
	// Release frees the memory of each tensor that was copied, as soon as it and those that share its memory are. The
	// caller, who has just read them from a file, hands them over: using one afterwards panics with ErrReleased. So no
	// more than the file and what the module had before is in memory, and after the call only the module.
	Release bool
}

// LoadResult lists the names that did not match.
type LoadResult struct {
	MissingKeys, UnexpectedKeys []string
	// Mismatched are the names whose shapes differ.
	Mismatched []Mismatch
}

// Mismatch is a name with two shapes.
type Mismatch struct {
	Key        string
	Got, Model []int // the shapes in the state dict and in the module
}

// String prints the result as Python does, and behind it the names whose shapes differ.
func (r LoadResult) String() string {
	list := func(l []string) string {
		q := make([]string, len(l))
		for i, s := range l {
			q[i] = pyfmt.Repr(s)
		}
		return "[" + strings.Join(q, ", ") + "]"
	}
	if len(r.MissingKeys)+len(r.UnexpectedKeys)+len(r.Mismatched) == 0 {
		return "<All keys matched successfully>"
	}
	s := fmt.Sprintf("_IncompatibleKeys(missing_keys=%s, unexpected_keys=%s)", list(r.MissingKeys),
		list(r.UnexpectedKeys))
	for _, m := range r.Mismatched {
		s += fmt.Sprintf("\n\t%s", m)
	}
	return s
}

// String says it in PyTorch's words.
func (m Mismatch) String() string {
	return fmt.Sprintf("size mismatch for %s: copying a param with shape torch.Size(%s) from "+
		"checkpoint, the shape in current model is torch.Size(%s).",
		m.Key, tensor.ShapeString(m.Got), tensor.ShapeString(m.Model))
}

// LoadMatching copies those tensors of sd that the module has under the same name with the same shape, and reports the
// rest: what people write by hand to start from published weights with a head of their own.
func LoadMatching(m Module, sd *tensor.StateDict) (LoadResult, error) {
	var r LoadResult
	err := LoadStateDict(m, sd, LoadOptions{NonStrict: true, IgnoreMismatched: true, Result: &r})
	return r, err
}

// Freeze makes the parameters of a module need no gradients, except those of the submodules and parameters that are
// named: nn.Freeze(m, "fc") leaves the head to be trained. A name that no parameter has is an error; nothing has been
// changed then.
func Freeze(m Module, except ...string) error { return setTrainable(m, except, false) }

// Unfreeze makes the parameters of the named submodules, or those named, need gradients; without names all of them.
func Unfreeze(m Module, names ...string) error { return setTrainable(m, names, true) }

func setTrainable(m Module, names []string, unfreeze bool) error {
	for _, name := range names {
		found := false
		for k := range NamedParameters(m) {
			found = found || tensor.Below(k, name)
		}
		if !found {
			return fmt.Errorf("nn: %s has no parameters below %q", className(m), name)
		}
	}
	for k, p := range NamedParameters(m) {
		switch named := tensor.Below(k, names...); {
		case unfreeze && (named || len(names) == 0):
			p.SetRequiresGrad(true)
		case !unfreeze:
			p.SetRequiresGrad(named)
		}
	}
	return nil
}

// LoadStateDict copies the tensors of sd into the parameters and buffers of the same names. Missing or unexpected names
// (unless NonStrict) and other shapes are an error that lists them all, in Python's words; nothing has been changed
// then.
func LoadStateDict(m Module, sd *tensor.StateDict, opts ...LoadOptions) error {
	var o LoadOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	if sd == nil {
		return errors.New("nn: LoadStateDict: the state dict is nil")
	}
	sd = prepared(m, sd)
	own := StateDict(m)
	var res LoadResult
	var msgs []string
	mayMiss := missingInOld(m, sd)
	for k, t := range own.All() {
		src := sd.Get(k)
		switch {
		case src == nil && mayMiss[k]:
		case src == nil:
			res.MissingKeys = append(res.MissingKeys, k)
		case !tensor.SameShape(src.Shape(), t.Shape()):
			res.Mismatched = append(res.Mismatched, Mismatch{k, src.Shape(), t.Shape()})
			if !o.IgnoreMismatched {
				msgs = append(msgs, res.Mismatched[len(res.Mismatched)-1].String())
			}
		}
	}
	for k := range sd.All() {
		if !own.Has(k) {
			res.UnexpectedKeys = append(res.UnexpectedKeys, k)
		}
	}
	if o.Result != nil {
		*o.Result = res
	}
	if !o.NonStrict {
		quote := func(l []string) string {
			q := make([]string, len(l))
			for i, s := range l {
				q[i] = strconv.Quote(s)
			}
			return strings.Join(q, ", ")
		}
		var first []string
		if len(res.UnexpectedKeys) > 0 {
			first = append(first, "Unexpected key(s) in state_dict: "+quote(res.UnexpectedKeys)+". ")
		}
		if len(res.MissingKeys) > 0 {
			first = append([]string{"Missing key(s) in state_dict: " + quote(res.MissingKeys) + ". "}, first...)
		}
		msgs = append(first, msgs...)
		if hint := prefixHint(own, sd); len(res.MissingKeys) > 0 && hint != "" {
			msgs = append(msgs, hint)
		}
	}
	if len(msgs) > 0 {
		return fmt.Errorf("Error(s) in loading state_dict for %s:\n\t%s", className(m), strings.Join(msgs, "\n\t"))
	}
	sharing := map[*tensor.Storage]int{} // how many tensors of sd wait to be copied from each storage
	if o.Release {
		for _, src := range sd.All() {
			sharing[src.Storage()]++
		}
		for _, t := range own.All() {
			delete(sharing, t.Storage())
		}
	}
	for k, t := range own.All() {
		src := sd.Get(k)
		if src == nil || !tensor.SameShape(src.Shape(), t.Shape()) {
			continue
		}
		if t.Device().Type == tensor.MetaDevice && src.Device().Type != tensor.MetaDevice {
			tensor.Warn("for %s: copying from a non-meta parameter in the checkpoint to a meta parameter in the "+
				"current model, which is a no-op.", k)
		}
		tensor.NoGrad(func() { t.CopyInPlace(src) })
		if st := src.Storage(); sharing[st] > 0 {
			if sharing[st]--; sharing[st] == 0 {
				tensor.ReleaseRaw(src)
			}
		}
	}
	Refresh(m)
	return nil
}
