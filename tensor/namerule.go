package tensor

import "slices"

// This file works out the names of an operator's results.

// ArgNames are the names of tensor argument i, "" for dimensions without one.
func (c *Ctx) ArgNames(i int) []string { return c.T(i).Names() }

// runNamed runs a call with a named argument.
func (c *Ctx) runNamed() {
	op := c.op
	rule := op.nameRule()
	if rule == nil && (op.Body != nil || op.target != nil) {
		c.runLayered() // the operators inside look for themselves
		return
	}
	var names [][]string
	if rule != nil {
		names = rule(c)
	}
	given := c.toWrite()
	for i, g := range given {
		if names == nil {
			c.refuseNames()
		}
		if i < len(names) && op.View == nil {
			checkGivenNames(g, names[i])
		}
	}
	withoutNames(func() {
		mode := c.mode
		c.mode = currentMode()
		c.runLayered()
		c.mode = mode
	})
	for i, t := range c.outs {
		switch {
		case t == nil:
		case i < len(names) && names[i] != nil:
			if len(names[i]) == len(t.shape) && (t.flags&flagNamed != 0 || slices.ContainsFunc(names[i], hasName)) {
				t.setNames(names[i])
			}
		case names == nil && len(t.shape) > 0:
			c.refuseNames()
		}
	}
}

func hasName(n string) bool { return n != "" }

// toWrite are the tensors that the call writes to.
func (c *Ctx) toWrite() (out []*Tensor) {
	for i := range c.op.Sch.Params {
		if i < len(c.args) && c.op.Sch.Params[i].Writes && c.args[i].T != nil {
			out = append(out, c.args[i].T)
		}
	}
	return out
}

func (c *Ctx) refuseNames() {
	c.FailHint(ErrNotImpl, "in Go: x.RenameNone()",
		"%s is not yet supported with named tensors. Please drop names via "+
			"`tensor = tensor.rename(None)`, call the op with an unnamed tensor, and set names on the result of the "+
			"operation.", c.op.full)
}

// checkGivenNames refuses to write results with some names to a tensor with others.
func checkGivenNames(g *Tensor, names []string) {
	if g.flags&flagNamed != 0 && slices.ContainsFunc(names, hasName) && !slices.Equal(g.ag.names, names) {
		Fail(ErrValue, "Name mismatch: specified out tensor with names %s are not the same as the computed output "+
			"names %s. Please rename the out tensor's dims with `Tensor.rename`.", NamesString(g.ag.names),
			NamesString(names))
	}
}

// UnifiedNames is the rule of operators that broadcast their arguments: names at the same place from the right must be
// equal, or one of them missing.
func UnifiedNames(c *Ctx) [][]string {
	var names []string
	for i := range c.op.Sch.Params {
		p := &c.op.Sch.Params[i]
		if i < len(c.args) && c.args[i].K == KTensor && !(p.Writes && p.KwOnly) {
			if t := c.args[i].T; names == nil {
				names = t.Names()
			} else {
				names = UnifyNames(names, t.Names(), "broadcast")
			}
		}
	}
	return c.sameForAll(names)
}

// sameForAll gives all results the same names.
func (c *Ctx) sameForAll(names []string) [][]string {
	out := make([][]string, max(1, len(c.op.Sch.Results)))
	for i := range out {
		out[i] = names
	}
	return out
}

// KeptNames is the rule of operators whose results have the dimensions of their first argument.
func KeptNames(c *Ctx) [][]string { return c.sameForAll(c.ArgNames(0)) }

// NoNames is the rule of operators whose results have no names.
func NoNames(*Ctx) [][]string { return [][]string{} }

// reducedNames is the rule of reductions: the names of dim go, unless keepdim is set.
func reducedNames(c *Ctx) [][]string {
	d := c.op.Sch.Index("dim")
	names := c.ArgNames(0)
	if c.Bool(c.op.Sch.Index("keepdim")) {
		return c.sameForAll(names)
	}
	dims := c.Ints(d)
	if len(dims) == 0 {
		return c.sameForAll([]string{})
	}
	return c.sameForAll(NamesExcept(names, dims...))
}

// NamesExcept are the names but for those of some dimensions, which may count from the end.
func NamesExcept(names []string, dims ...int) []string {
	out := []string{}
	for i, n := range names {
		if !slices.Contains(dims, i) && !slices.Contains(dims, i-len(names)) {
			out = append(out, n)
		}
	}
	return out
}

// UnifyNames joins the names of two shapes that are broadcast; doing is what they are joined for, in errors.
// https://github.com/pytorch/pytorch/blob/v1.13.1/aten/src/ATen/NamedTensorUtils.cpp
func UnifyNames(a, b []string, doing string) []string {
	n := max(len(a), len(b))
	out := make([]string, n)
	at := func(l []string, i int) string {
		if i -= n - len(l); i >= 0 {
			return l[i]
		}
		return ""
	}
	for i := n - 1; i >= 0; i-- {
		x, y := at(a, i), at(b, i)
		switch {
		case x == y || y == "":
			out[i] = x
		case x == "":
			out[i] = y
		default:
			Fail(ErrValue, "Error when attempting to %s dims %s and dims %s: dim %s and dim %s are at the same "+
				"position "+
				"from the right but do not match.", doing, NamesString(a), NamesString(b), nameString(x), nameString(y))
		}
		for _, m := range []struct {
			name        string
			in, missing []string
		}{{x, a, b}, {y, b, a}} {
			if m.name != "" && (x == "" || y == "") && slices.Contains(m.missing, m.name) {
				Fail(ErrValue, "Misaligned dims when attempting to %s dims %s and dims %s: dim %s appears in a "+
					"different "+
					"position from the right across both lists.", doing, NamesString(m.in), NamesString(m.missing),
					nameString(m.name))
			}
		}
	}
	return out
}
