package torchtest

import (
	"testing"

	"github.com/gotorch-dev/torch/tensor"
)

// The operators that vmap runs one example after the other are those that vmap.tsv lists, no more; and it lists none
// that has a rule.
func TestVmapLoops(t *testing.T) {
	table := vmapTable()
	for _, op := range tensor.Ops() {
		if op.IsVariant() || op.IsAlias() {
			continue
		}
		row, listed := table[op.FullName()]
		switch how := op.Batching(); {
		case listed && row.why == "":
			t.Errorf("%s is listed without a reason", op.FullName())
		case how == "loop" && !listed:
			t.Errorf("%s runs one example after the other: give it a batching rule, or list it with the reason",
				op.FullName())
		case how != "loop" && listed && row.how == "loop":
			t.Errorf("%s is listed, but vmap takes it by %s", op.FullName(), how)
		}
	}
	for name := range table {
		if tensor.LookupOp(name) == nil {
			t.Errorf("vmap.tsv lists %s, which is no operator", name)
		}
	}
	for _, name := range tensor.BatchRuleNames() {
		if tensor.LookupOp(name) == nil {
			t.Errorf("there is a batching rule for %s, which is no operator", name)
		}
	}
}
