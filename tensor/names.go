package tensor

import (
	"slices"
	"strings"
	"sync"
)

// This file gives names to dimensions, as PyTorch's named tensors have them
// (https://pytorch.org/docs/1.13/named_tensor.html; releases from 2.5 on have none). Names are among the extras that
// few tensors have. A call looks for them with the same test as for sparse tensors: with a named argument, Ctx.Run
// works out the names of the results by the operator's rule, has the operator run as if there were no names, and sets
// them. The "" among names is PyTorch's None, a dimension without a name; in arguments "..." is an ellipsis.

// Ellipsis stands for the dimensions that a list of names leaves out.
const Ellipsis = "..."

// NameRule gives the names of a call's results, one list for each: nil for a result without names. It sees the call
// before it runs and panics where names do not fit.
type NameRule func(c *Ctx) [][]string

var nameRules = struct {
	sync.RWMutex
	m map[string]NameRule
}{m: map[string]NameRule{}}

// RegisterNameRule gives operators, by the full names of their Defs, a rule for the names of dimensions. Where there is
// none, operators that compute element by element unify the names of their arguments, reductions (with arguments dim
// and keepdim) leave the names of the other dimensions, composed operators run their bodies, and others refuse names
// unless their results have no dimensions.
func RegisterNameRule(r NameRule, names ...string) {
	nameRules.Lock()
	defer nameRules.Unlock()
	for _, n := range names {
		if nameRules.m[n] != nil {
			panic("tensor.RegisterNameRule: " + n + " has a rule already")
		}
		nameRules.m[n] = r
	}
}

func (o *Op) nameRule() NameRule {
	nameRules.RLock()
	r := nameRules.m[o.def]
	nameRules.RUnlock()
	switch {
	case r != nil:
		return r
	case o.Elementwise:
		return UnifiedNames
	case o.reduces():
		return reducedNames
	}
	return nil
}

// reduces reports an operator that takes the numbers of dimensions and leaves these out, or makes them 1.
func (o *Op) reduces() bool {
	d := o.Sch.Index("dim")
	return d > 0 && o.Sch.Index("keepdim") > 0 && (o.Sch.Params[d].Kind == KInt || o.Sch.Params[d].Kind == KInts)
}

// Names are the names of the dimensions, "" for one without a name.
func (t *Tensor) Names() []string {
	t.mustHaveMemory("Tensor.Names")
	if t.flags&flagNamed == 0 {
		return make([]string, len(t.shape))
	}
	return slices.Clone(t.ag.names)
}

// HasNames reports that a dimension has a name.
func (t *Tensor) HasNames() bool {
	t.mustHaveMemory("Tensor.HasNames")
	return t.flags&flagNamed != 0
}

// setNames sets or, with nil or names that are all "", removes the names.
func (t *Tensor) setNames(names []string) {
	if !slices.ContainsFunc(names, func(n string) bool { return n != "" }) {
		t.flags &^= flagNamed
		if t.ag != nil {
			t.ag.names = nil
		}
		return
	}
	t.meta().names = slices.Clone(names)
	t.flags |= flagNamed
}

// DimOf is the number of the dimension with a name. A name that is not there is an error.
func (t *Tensor) DimOf(name string) int {
	t.mustHaveMemory("Tensor.DimOf")
	if t.flags&flagNamed != 0 && name != "" {
		if i := slices.Index(t.ag.names, name); i >= 0 {
			return i
		}
	}
	Fail(ErrIndex, "Name %s not found in Tensor%s.", nameString(name), NamesString(t.Names()))
	return 0
}

// DimsOf are the numbers of the dimensions with names: x.SumDim(x.DimsOf("C")).
func (t *Tensor) DimsOf(names ...string) []int {
	out := make([]int, len(names))
	for i, n := range names {
		out[i] = t.DimOf(n)
	}
	return out
}

func nameString(n string) string {
	if n == "" {
		return "None"
	}
	return "'" + n + "'"
}

// NamesString prints names as PyTorch's messages do: "['N', None]".
func NamesString(names []string) string {
	l := make([]string, len(names))
	for i, n := range names {
		l[i] = nameString(n)
	}
	return "[" + strings.Join(l, ", ") + "]"
}

// tupleOfNames prints names as Python prints a tuple of them.
func tupleOfNames(names []string) string {
	s := NamesString(names)
	if len(names) == 1 {
		return "(" + s[1:len(s)-1] + ",)"
	}
	return "(" + s[1:len(s)-1] + ")"
}

// checkNames refuses names that are no identifiers, that are there twice, or of another number than n.
func checkNames(names []string, n int) {
	for _, name := range names {
		ok := name == "" || name[0] < '0' || name[0] > '9'
		for _, r := range name {
			ok = ok && (r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
		}
		if !ok {
			refuseName(name)
		}
	}
	if len(names) != n {
		Fail(ErrValue, "Number of names (%d) and number of dimensions in tensor (%d) do not match. Attempted to "+
			"create a tensor with names %s", len(names), n, NamesString(names))
	}
	for i, name := range names {
		if name != "" && slices.Contains(names[:i], name) {
			Fail(ErrValue, "Cannot construct a tensor with duplicate names. Got names: %s.", NamesString(names))
		}
	}
}

func refuseName(name string) {
	Fail(ErrValue, "Invalid name: a valid identifier contains only digits, alphabetical characters, and/or underscore "+
		"and starts with a non-digit. got: '%s'.", name)
}

// fillEllipsis puts what stands between before and behind in place of an ellipsis among names.
func fillEllipsis(op string, names []string, fill func(i, rest int) []string) []string {
	at := slices.Index(names, Ellipsis)
	if at < 0 {
		return names
	}
	if slices.Contains(names[at+1:], Ellipsis) {
		l := make([]string, len(names))
		for i, n := range names {
			if l[i] = nameString(n); n == Ellipsis {
				l[i] = "Ellipsis"
			}
		}
		Fail(ErrValue, "%s: More than one Ellipsis ('...') found in names ((%s)). This function supports up to one "+
			"Ellipsis.", op, strings.Join(l, ", "))
	}
	return slices.Concat(names[:at], fill(at, len(names)-at-1), names[at+1:])
}

// between are the names of t that an ellipsis at i with rest names behind it stands for.
func (t *Tensor) between(i, rest int) []string {
	n := t.Names()
	return n[min(i, len(n)):max(min(i, len(n)), len(n)-rest)]
}

// withoutNames runs f with operators that do not look for names.
func withoutNames(f func()) { with(func(m *mode) { m.noNames = true }, f) }

// viewNamed gives the view of t that f makes, without names while it runs, the given names.
func (t *Tensor) viewNamed(names []string, f func() *Tensor) (v *Tensor) {
	withoutNames(func() { v = f() })
	if v == t {
		withoutNames(func() { v = t.AliasView() })
	}
	v.setNames(names)
	return v
}

// Rename returns a view of t with other names, one for each dimension, "" for none. "..." stands for the names that t
// has there. [Tensor.RenameNone] removes all names.
// https://pytorch.org/docs/1.13/named_tensor.html#torch.Tensor.rename
func (t *Tensor) Rename(names ...string) *Tensor {
	t.mustHaveMemory("Tensor.Rename")
	names = fillEllipsis("rename", names, t.between)
	checkNames(names, len(t.shape))
	return t.viewNamed(names, t.AliasView)
}

// RenameNone returns a view of t without names, as Python's x.rename(None).
func (t *Tensor) RenameNone() *Tensor {
	t.mustHaveMemory("Tensor.RenameNone")
	return t.viewNamed(nil, t.AliasView)
}

// RenameMap returns a view of t in which the names that are keys of m are replaced by its values.
func (t *Tensor) RenameMap(m map[string]string) *Tensor {
	t.mustHaveMemory("Tensor.RenameMap")
	names := t.Names()
	old := t.Names()
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		i := slices.Index(old, k)
		if i < 0 || k == "" {
			Fail(ErrValue, "rename: Tried to rename dim %s to dim %s in Tensor[%s] but dim %s does not exist",
				nameString(k),
				m[k], tupleOfNames(old), nameString(k))
		}
		names[i] = m[k]
	}
	checkNames(names, len(t.shape))
	return t.viewNamed(names, t.AliasView)
}

// RenameInPlace sets the names of t itself, "" for none, and returns it; no arguments remove them.
func (t *Tensor) RenameInPlace(names ...string) *Tensor {
	t.mustHaveMemory("Tensor.RenameInPlace")
	if names == nil {
		t.setNames(nil)
		return t
	}
	names = fillEllipsis("rename_", names, t.between)
	checkNames(names, len(t.shape))
	t.setNames(names)
	return t
}

// RefineNames returns a view of t that has names where t has none. A name that t has stays: another one there is an
// error. https://pytorch.org/docs/1.13/named_tensor.html#torch.Tensor.refine_names
func (t *Tensor) RefineNames(names ...string) *Tensor {
	t.mustHaveMemory("Tensor.RefineNames")
	old := t.Names()
	names = fillEllipsis("refine_names", names, t.between)
	const format = "refine_names: cannot coerce Tensor%s to Tensor%s because "
	if len(names) != len(old) {
		Fail(ErrValue, format+"they have a different number of dims (%d and %d respectively).", NamesString(old),
			NamesString(names), len(old), len(names))
	}
	for i, n := range names {
		switch o := old[i]; {
		case o == n || o == "":
		case n == "":
			Fail(ErrValue, format+"%s is more specific than None at index %d", NamesString(old), NamesString(names),
				nameString(o), i)
		default:
			Fail(ErrValue, format+"%s is different from %s at index %d", NamesString(old), NamesString(names),
				nameString(o), nameString(n), i)
		}
	}
	checkNames(names, len(old))
	return t.viewNamed(names, t.AliasView)
}

// AlignTo returns a view of t with its dimensions in the order of the names; names that t does not have become
// dimensions of size 1, and "..." stands for the names of t that are not listed. All dimensions of t must have names.
// https://pytorch.org/docs/1.13/named_tensor.html#torch.Tensor.align_to
func (t *Tensor) AlignTo(names ...string) *Tensor {
	t.mustHaveMemory("Tensor.AlignTo")
	listed := names
	return t.align(fillEllipsis("align_to", names, func(int, int) (rest []string) {
		for _, n := range t.Names() {
			if !slices.Contains(listed, n) {
				rest = append(rest, n)
			}
		}
		return rest
	}))
}

// AlignAs returns a view of t with the dimensions of other, by name.
// https://pytorch.org/docs/1.13/named_tensor.html#torch.Tensor.align_as
func (t *Tensor) AlignAs(other *Tensor) *Tensor {
	t.mustHaveMemory("Tensor.AlignAs")
	return t.align(other.Names())
}

func (t *Tensor) align(names []string) *Tensor {
	old := t.Names()
	for i, n := range old {
		if n == "" {
			Fail(ErrValue, "align_to: All input dims must be named. Found unnamed dim at index %d of Tensor%s", i,
				NamesString(old))
		}
	}
	checkNames(names, len(names))
	for _, n := range old {
		if !slices.Contains(names, n) {
			Fail(ErrValue, "align_to: Cannot find dim %s from Tensor%s in desired alignment %s.", nameString(n),
				NamesString(names), NamesString(names))
		}
	}
	return t.viewNamed(names, func() *Tensor {
		perm := make([]int, 0, len(old))
		for _, n := range names {
			if i := slices.Index(old, n); i >= 0 {
				perm = append(perm, i)
			}
		}
		v := t.Permute(perm)
		for i, n := range names {
			if !slices.Contains(old, n) {
				v = v.Unsqueeze(i)
			}
		}
		return v
	})
}

// FlattenNamed joins neighbouring dimensions to one with the name out.
// https://pytorch.org/docs/1.13/named_tensor.html#torch.Tensor.flatten
func (t *Tensor) FlattenNamed(dims []string, out string) *Tensor {
	t.mustHaveMemory("Tensor.FlattenNamed")
	if len(dims) == 0 {
		Fail(ErrValue, "flatten(tensor, dims, out_dim): dims cannot be empty")
	}
	at := t.DimsOf(dims...)
	for i := range at {
		if at[i] != at[0]+i {
			Fail(ErrValue, "flatten(tensor, dims, out_dim): dims %s must be consecutive in Tensor%s", NamesString(dims),
				NamesString(t.Names()))
		}
	}
	return t.FlattenTo(at[0], at[len(at)-1], out)
}

// FlattenTo joins the dimensions from one to another to one with the name out.
func (t *Tensor) FlattenTo(from, to int, out string) *Tensor {
	t.mustHaveMemory("Tensor.FlattenTo")
	from, to = WrapDim(from, len(t.shape)), WrapDim(to, len(t.shape))
	if from > to {
		Fail(ErrValue, "flatten() has invalid args: start_dim cannot come after end_dim")
	}
	names := slices.Concat(t.Names()[:from], []string{out}, t.Names()[to+1:])
	checkNames(names, len(names))
	return t.viewNamed(names, func() *Tensor {
		return t.Flatten(FlattenOptions{StartDim: from, EndDim: Some(to)})
	})
}

// UnflattenNamed parts the dimension dim into several with names and sizes, of which one may be -1.
// https://pytorch.org/docs/1.13/named_tensor.html#torch.Tensor.unflatten
func (t *Tensor) UnflattenNamed(dim string, names []string, sizes []int) *Tensor {
	t.mustHaveMemory("Tensor.UnflattenNamed")
	at := t.DimOf(dim)
	if len(names) != len(sizes) {
		Fail(ErrValue, "unflatten: %d names for %d sizes", len(names), len(sizes))
	}
	n, open := 1, -1
	for i, s := range sizes {
		switch {
		case s == -1 && open < 0:
			open = i
		case s < 0:
			n = -1
		case n >= 0:
			n *= s
		}
		if n > t.shape[at] { // no product can overflow
			n = -1
		}
	}
	if open < 0 && n != t.shape[at] || open >= 0 && (n <= 0 || t.shape[at]%n != 0) {
		Fail(ErrShape, "unflatten: Provided sizes %s don't multiply up to the size of dim %d (%s: %d) in Tensor%s",
			ShapeString(sizes), at, nameString(dim), t.shape[at], NamesString(t.Names()))
	}
	all := slices.Concat(t.Names()[:at], names, t.Names()[at+1:])
	checkNames(all, len(all))
	return t.viewNamed(all, func() *Tensor { return t.Unflatten(at, sizes) })
}
