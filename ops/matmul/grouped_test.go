package matmul_test

import (
	"testing"

	"github.com/gotorch-dev/torch"
	F "github.com/gotorch-dev/torch/nn/functional"
)

// TestGroupedMM compares each way to cut groups with products one by one.
func TestGroupedMM(t *testing.T) {
	torch.ManualSeed(1)
	offs := torch.FromSlice([]int32{2, 5})
	o := F.GroupedMMOptions{Offs: offs}
	near := func(name string, got, want *torch.Tensor) {
		t.Helper()
		if !torch.AllClose(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	a, b := torch.Randn([]int{6, 3}), torch.Randn([]int{2, 3, 4})
	rows := F.GroupedMM(a, b, o)
	near("rows", rows.Narrow(0, 0, 2), a.Narrow(0, 0, 2).MM(b.Select(0, 0)))
	near("rows", rows.Narrow(0, 2, 3), a.Narrow(0, 2, 3).MM(b.Select(0, 1)))
	near("rows behind the last group", rows.Narrow(0, 5, 1), torch.Zeros([]int{1, 4}))
	a, b = torch.Randn([]int{2, 3, 4}), torch.Randn([]int{4, 5})
	columns := F.GroupedMM(a, b, o)
	near("columns", columns.Narrow(1, 2, 3), a.Select(0, 1).MM(b.Narrow(1, 2, 3)))
	a, b = torch.Randn([]int{3, 5}), torch.Randn([]int{5, 4})
	both := F.GroupedMM(a, b, o)
	near("both", both.Select(0, 1), a.Narrow(1, 2, 3).MM(b.Narrow(0, 2, 3)))
	for name, bad := range map[string]func(){
		"offsets that fall": func() { F.GroupedMM(a, b, F.GroupedMMOptions{Offs: torch.FromSlice([]int32{3, 2})}) },
		"beyond the end":    func() { F.GroupedMM(a, b, F.GroupedMMOptions{Offs: torch.FromSlice([]int32{3, 9})}) },
		"int64 offsets":     func() { F.GroupedMM(a, b, F.GroupedMMOptions{Offs: torch.FromSlice([]int64{3, 5})}) },
		"no offsets":        func() { F.GroupedMM(a, b) },
	} {
		if torch.Try(bad) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
