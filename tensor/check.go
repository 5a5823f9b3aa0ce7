package tensor

import "slices"

// This file is what shape rules check arguments with. The arguments of most operators have rules and texts of their
// own; those of gradients and of other inner operators just have to fit together.

// WantShape refuses tensor argument i unless it has the shape; None passes.
func (c *Ctx) WantShape(i int, shape ...int) {
	if c.Has(i) && !SameShape(c.Shape(i), shape) {
		c.Fail(ErrShape, "%s(): expected %s of shape %s, got %s", c.op.Sch.Name, c.op.Sch.Params[i].Name,
			ShapeString(shape), ShapeString(c.Shape(i)))
	}
}

// WantBroadcast refuses tensor argument i unless it broadcasts to the shape; None passes.
func (c *Ctx) WantBroadcast(i int, shape []int) {
	if !c.Has(i) {
		return
	}
	s := c.Shape(i)
	ok := len(s) <= len(shape)
	for j := 0; ok && j < len(s); j++ {
		ok = s[j] == 1 || s[j] == shape[len(shape)-len(s)+j]
	}
	if !ok {
		c.Fail(ErrShape, "%s(): expected %s of a shape that broadcasts to %s, got %s", c.op.Sch.Name,
			c.op.Sch.Params[i].Name, ShapeString(shape), ShapeString(s))
	}
}

// WantNumel refuses tensor argument i unless it has n elements; None passes.
func (c *Ctx) WantNumel(i, n int) {
	if c.Has(i) && Size(c.Shape(i)).Numel() != n {
		c.Fail(ErrShape, "%s(): expected %s with %d elements, got one of shape %s", c.op.Sch.Name,
			c.op.Sch.Params[i].Name, n, ShapeString(c.Shape(i)))
	}
}

// WantDim refuses tensor argument i unless it has n dimensions; None passes.
func (c *Ctx) WantDim(i, n int) {
	if c.Has(i) && len(c.Shape(i)) != n {
		c.Fail(ErrShape, "%s(): expected %s with %d dimensions, got one of shape %s", c.op.Sch.Name,
			c.op.Sch.Params[i].Name, n, ShapeString(c.Shape(i)))
	}
}

// WantDType refuses tensor argument i unless its dtype is among those given; None passes.
func (c *Ctx) WantDType(i int, among ...DType) {
	if c.Has(i) && !slices.Contains(among, c.ArgDType(i)) {
		c.Fail(ErrDType, "%s(): expected %s of dtype %s, got %s", c.op.Sch.Name, c.op.Sch.Params[i].Name,
			dtypeList(among), c.ArgDType(i))
	}
}

func dtypeList(l []DType) string {
	s := ""
	for i, d := range l {
		if i > 0 {
			s += " or "
		}
		s += d.String()
	}
	return s
}

// WantLength refuses list argument i unless it has n elements; None passes.
func (c *Ctx) WantLength(i, n int) {
	if c.Has(i) && len(c.Ints(i)) != n {
		c.Fail(ErrShape, "%s(): expected %d numbers for %s, got %d", c.op.Sch.Name, n, c.op.Sch.Params[i].Name,
			len(c.Ints(i)))
	}
}
