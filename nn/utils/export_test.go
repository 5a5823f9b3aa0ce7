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
