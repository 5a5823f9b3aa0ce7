package quantcheck

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/quantization/pt2e"
	"github.com/gotorch-dev/torch/tensor"
)

// quantizerOf is the quantizer of a case: "x86", "x86_dynamic", "xnnpack_channel", ….
func quantizerOf(spec string) (pt2e.Quantizer, error) {
	name, rest, _ := strings.Cut(spec, "_")
	options := strings.Split(rest, "_")
	has := func(name string) bool { return slices.Contains(options, name) }
	switch name {
	case "x86":
		return pt2e.NewX86InductorQuantizer().SetGlobal(pt2e.X86InductorConfig(pt2e.X86InductorOptions{
			IsDynamic: has("dynamic"), ReduceRange: has("reduce"), IsQAT: has("qat")})), nil
	case "xnnpack":
		return pt2e.NewXNNPACKQuantizer().SetGlobal(pt2e.SymmetricConfig(pt2e.SymmetricOptions{
			IsDynamic: has("dynamic"), IsPerChannel: has("dynamic") || has("channel"), IsQAT: has("qat")})), nil
	}
	return nil, golden.Skip("a quantizer that is not known: " + spec)
}

// recording is the flow's model as it was recorded, its input and the quantizer for it.
func (f *flow) recording(train bool) (g *pt2e.Model, x *tensor.Tensor, q pt2e.Quantizer, err error) {
	m, x, _, err := f.trained()
	if err != nil {
		return nil, nil, nil, err
	}
	if q, err = quantizerOf(f.Spec); err != nil {
		return nil, nil, nil, err
	}
	if train {
		nn.Train(m, true)
	}
	g, err = pt2e.Capture(m, []any{x})
	return g, x, q, err
}

// finish converts a prepared recording: its operators with their scales and its result are PyTorch's.
func (f *flow) finish(g *pt2e.Model, x *tensor.Tensor, tol golden.Tolerance) error {
	if err := pt2e.ConvertPT2E(g); err != nil {
		return err
	}
	if err := f.sameNodes(g); err != nil {
		return err
	}
	tol.ATol += f.quantum()
	return f.closeTo("quantized program", run1(g, x), f.Out, tol)
}

// recorded quantizes a recorded model: its operators are PyTorch's, with PyTorch's scales and zero points, and so is
// its result.
func (f *flow) recorded() error {
	g, x, q, err := f.recording(false)
	if err != nil {
		return err
	}
	if err := pt2e.PreparePT2E(g, q); err != nil {
		return err
	}
	for _, c := range f.Calibration {
		b, err := f.tensor(c)
		if err != nil {
			return err
		}
		run1(g, b)
	}
	return f.finish(g, x, golden.Tolerance{RTol: 1e-4, ATol: 1e-4})
}

// recordedQAT trains a recorded model with fake quantization and converts it: the losses, the operators with their
// scales, and the result are PyTorch's.
func (f *flow) recordedQAT() error {
	g, x, q, err := f.recording(true)
	if err != nil {
		return err
	}
	if err := pt2e.PrepareQATPT2E(g, q); err != nil {
		return err
	}
	if err := f.train(g); err != nil {
		return err
	}
	g.Eval()
	tol := golden.Tolerance{RTol: 1e-4, ATol: 1e-4}
	if err := f.closeTo("trained program", run1(g, x), f.EvalOut, tol); err != nil {
		return err
	}
	return f.finish(g, x, tol)
}

// step is an operator of a program with the numbers of a scale.
type step struct {
	name    string
	numbers []float64
}

func (s step) String() string { return fmt.Sprint(s.name, s.numbers) }

// quantum is the largest scale of the program.
func (f *flow) quantum() float64 {
	var most float64
	for _, s := range f.steps() {
		if len(s.numbers) > 0 {
			most = max(most, s.numbers[0])
		}
	}
	return most
}

func (f *flow) steps() (out []step) {
	for _, n := range f.Nodes {
		var s step
		if len(n) == 2 && json.Unmarshal(n[0], &s.name) == nil && json.Unmarshal(n[1], &s.numbers) == nil {
			out = append(out, s)
		}
	}
	return out
}

func (f *flow) sameNodes(m *pt2e.Model) error {
	var got []step
	for _, n := range m.Graph().Body.Nodes {
		if n.Operator == nil {
			continue
		}
		s := step{name: strings.Replace(n.Op, "::", ".", 1)}
		if strings.HasSuffix(n.Op, "quantize_per_tensor") {
			for _, v := range n.In[1:] {
				if v.Node.Op == graph.Constant && v.Node.Const.K != tensor.KDType {
					s.numbers = append(s.numbers, v.Node.Const.Num().F)
				}
			}
		}
		got = append(got, s)
	}
	want := f.steps()
	byName := func(a, b step) int {
		if c := strings.Compare(a.name, b.name); c != 0 {
			return c
		}
		return slices.Compare(a.numbers, b.numbers)
	}
	slices.SortFunc(got, byName)
	slices.SortFunc(want, byName)
	same := func(a, b step) bool {
		return a.name == b.name && slices.EqualFunc(a.numbers, b.numbers,
			func(x, y float64) bool { return x == y || near(x, y) })
	}
	if !slices.EqualFunc(got, want, same) {
		return fmt.Errorf("the operators are\n%v\nwant\n%v", got, want)
	}
	return nil
}
