package tensorboard_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensorboard"
)

func TestTraceGraph(t *testing.T) {
	m := nn.NewSequential(nn.NewLinear(4, 3), nn.NewReLU(), nn.NewSequential(nn.NewLinear(3, 2)))
	g, err := tensorboard.TraceGraph(m, torch.Ones([]int{5, 4}))
	if err != nil {
		t.Fatal(err)
	}
	find := func(name string) *tensorboard.GraphNode {
		i := slices.IndexFunc(g.Nodes, func(n tensorboard.GraphNode) bool { return n.Name == name })
		if i < 0 {
			var names []string
			for _, n := range g.Nodes {
				names = append(names, n.Name)
			}
			t.Fatalf("no node %s among\n%s", name, strings.Join(names, "\n"))
		}
		return &g.Nodes[i]
	}
	if n := find("Sequential/Linear[0]/weight"); !slices.Equal(n.OutputShapes[0], []int64{3, 4}) {
		t.Errorf("weight has shape %v", n.OutputShapes)
	}
	relu := find("Sequential/ReLU[1]/relu")
	if !slices.Equal(relu.OutputShapes[0], []int64{5, 3}) || len(relu.Inputs) != 1 ||
		!strings.HasPrefix(relu.Inputs[0], "Sequential/Linear[0]/") {
		t.Errorf("relu = %+v", relu)
	}
	find("Sequential/Sequential[2]/Linear[0]/bias")
	if out := find("output/output.1"); !strings.HasPrefix(out.Inputs[0], "Sequential/Sequential[2]/Linear[0]/") ||
		!slices.Equal(out.OutputShapes[0], []int64{5, 2}) {
		t.Errorf("output = %+v", out)
	}
	w, err := tensorboard.NewSummaryWriter(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.AddGraph(g); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
