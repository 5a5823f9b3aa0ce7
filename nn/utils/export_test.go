package utils

// PlanOf lists the operators of the prepared forward passes.
func PlanOf(o *Optimized) []string {
	var l []string
	for _, p := range o.plans {
		for _, s := range p.steps {
			l = append(l, s.op.FullName())
		}
	}
	return l
}

// CopiesOf counts the weights that were copied, and the elements of their memory.
func CopiesOf(o *Optimized) (n, elements int) {
	for _, c := range o.copies {
		n, elements = n+1, elements+c.t.Numel()
	}
	return n, elements
}
