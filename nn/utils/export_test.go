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

// CopiesOf counts the packed weights of linear layers that plans refer to, and the elements of their memory.
func CopiesOf(o *Optimized) (n, elements int) {
	seen := map[*Tensor]bool{}
	for _, p := range o.plans {
		for _, s := range p.steps {
			if s.op == opLinearPacked && !seen[s.args[1].T] {
				seen[s.args[1].T] = true
				n, elements = n+1, elements+s.args[1].T.Numel()
			}
		}
	}
	return n, elements
}

// PlansOf counts the plans that are kept.
func PlansOf(o *Optimized) int { return len(o.plans) }
