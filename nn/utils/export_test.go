package utils

import "github.com/gotorch-dev/torch/graph"

// PlanOf lists the operators of the prepared forward passes.
func PlanOf(o *Optimized) []string {
	var l []string
	nodesOf(o, func(n *graph.Node) {
		if n.Operator != nil && n.Operator.Op() != nil {
			l = append(l, n.Op)
		}
	})
	return l
}

// nodesOf calls f with the nodes of the prepared forward passes.
func nodesOf(o *Optimized, f func(n *graph.Node)) {
	for _, p := range o.plans {
		if p.fn != nil {
			for _, n := range p.fn.Body.Nodes {
				f(n)
			}
		}
	}
}

// CopiesOf counts the packed weights of linear layers that plans refer to, and the elements of their memory.
func CopiesOf(o *Optimized) (n, elements int) {
	seen := map[*Tensor]bool{}
	nodesOf(o, func(x *graph.Node) {
		if x.Op == "gotorch::linear_packed" {
			if w := x.In[1].Node.Const.T; !seen[w] {
				seen[w] = true
				n, elements = n+1, elements+w.Numel()
			}
		}
	})
	return n, elements
}

// PlansOf counts the plans that are kept.
func PlansOf(o *Optimized) int { return len(o.plans) }
