package modcheck_test

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/conformance/modcheck"
	sharedata "github.com/gotorch-dev/torch/internal/shared"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// same compares two traces line by line.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: a tracer sees\n\t%s\nexpected\n\t%s", what, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// schemaNames are the names of PyTorch's operators.
func schemaNames(t *testing.T) map[string]bool {
	f, err := os.Open(sharedata.Path(t, "golden/schemas.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	names := map[string]bool{}
	for s := bufio.NewScanner(f); s.Scan(); {
		l := strings.SplitN(s.Text(), "\t", 3)
		if len(l) < 2 {
			continue
		}
		n := l[0]
		if l[1] != "" {
			n += "." + l[1]
		}
		names[n] = true
	}
	return names
}

// A tracer sees PyTorch's operators for every module, and the same calls with and without gradients and in both memory
// formats.
func TestTraces(t *testing.T) {
	public := schemaNames(t)
	bad := map[string]bool{}
	cases := 0
	err := modcheck.Each(sharedata.Path(t, "golden/modules"), nil,
		func(name string, _ nn.Module, run func(func(modcheck.Bind))) {
			cases++
			trace := func(arg func(*tensor.Tensor) *tensor.Tensor, grad bool) *modcheck.Tracer {
				tr := &modcheck.Tracer{}
				run(func(bind modcheck.Bind) {
					forward := bind(arg)
					tensor.SetGradEnabled(grad, func() { tensor.WithLayer(tr, func() { forward() }) })
				})
				return tr
			}
			clone := func(x *tensor.Tensor) *tensor.Tensor { return x.Clone() }
			last := func(x *tensor.Tensor) *tensor.Tensor {
				switch x = x.Clone(); x.Dim() {
				case 4:
					return x.Contiguous(tensor.ContiguousOptions{MemoryFormat: tensor.ChannelsLast})
				case 5:
					return x.Contiguous(tensor.ContiguousOptions{MemoryFormat: tensor.ChannelsLast3d})
				}
				return x
			}
			if err := tensor.Try(func() {
				want := trace(clone, true)
				for _, n := range want.Names {
					if !public[n] && !bad[n] {
						bad[n] = true
						t.Errorf("%s: a tracer sees %s, which is no operator of PyTorch's, in\n\t%s", name, n,
							strings.Join(want.Calls, "\n\t"))
					}
				}
				same(t, name+" without gradients", trace(clone, false).Calls, want.Calls)
				same(t, name+" in channels-last memory", trace(last, true).Calls, want.Calls)
				same(t, name+" in channels-last memory without gradients", trace(last, false).Calls, want.Calls)
			}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	if err != nil {
		t.Fatal(err)
	}
	if cases < 500 {
		t.Errorf("only %d cases ran", cases)
	}
}

// seenOtherwise are the classes of which a tracer sees other operators than PyTorch shows, with the reason.
var seenOtherwise = map[string]string{
	"AdaptiveLogSoftmaxWithLoss": "Python's & of masks is __and__, which has no typed function here",
	"CTCLoss":                    "lengths are tensors here, which PyTorch gives another overload than tuples",
	"CrossMapLRN2d": "PyTorch computes it in a Python function with a gradient of its own, by writing " +
		"to memory",
	"LinearCrossEntropyLoss": "PyTorch has an operator of the package torch.nn for it, which computes the " +
		"classes in chunks",
}

// The operators that a tracer sees of every module case are those that PyTorch shows, in their order:
// testdata/traces.py made the table.
func TestModuleTraces(t *testing.T) {
	raw, err := os.ReadFile("testdata/traces.tsv")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		ops, cases, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		for _, c := range strings.Fields(cases) {
			want[c] = ops
		}
	}
	failed := map[string]int{} // by what is seen and expected: a class has many cases
	compared := 0
	err = modcheck.Each(sharedata.Path(t, "golden/modules"), nil,
		func(name string, m nn.Module, run func(func(modcheck.Bind))) {
			ops, ok := want[strings.Replace(name, " case ", ":", 1)]
			if !ok {
				t.Errorf("%s is not in the table", name)
				return
			}
			if strings.HasPrefix(ops, "! ") || seenOtherwise[nn.ClassName(m)] != "" { // or PyTorch cannot trace it
				return
			}
			compared++
			var tr modcheck.Tracer
			run(func(bind modcheck.Bind) {
				forward := bind(func(x *tensor.Tensor) *tensor.Tensor { return x })
				tensor.WithLayer(&tr, func() { forward() })
			})
			if got := strings.Join(tr.Names, " "); got != ops {
				if key := got + "|" + ops; failed[key] == 0 {
					t.Errorf("%s: a tracer sees\n\t%s\nexpected\n\t%s", name, got, ops)
				}
				failed[got+"|"+ops]++
			}
		})
	if err != nil {
		t.Fatal(err)
	}
	if compared < 1100 {
		t.Errorf("only %d cases were compared", compared)
	}
}

// Layers that one operator computes together are seen one by one, whatever the memory format and whether gradients are
// recorded.
func TestTraceOfChain(t *testing.T) {
	for _, last := range []bool{false, true} {
		for _, inplace := range []bool{false, true} {
			net := nn.NewSequential(nn.NewConv2d(3, 6, 3, nn.Conv2dOptions{Padding: nn.Size{1}}), nn.NewBatchNorm2d(6),
				nn.NewReLU(nn.InplaceOptions{Inplace: inplace}),
				nn.NewMaxPool2d(2), nn.NewConv2d(6, 4, 3), nn.NewReLU(nn.InplaceOptions{Inplace: inplace}),
				nn.NewMaxPool2d(2), nn.NewConv2d(4, 4, 1), nn.NewMaxPool2d(2),
				nn.NewReLU(), nn.NewFlatten(), nn.NewLinear(4, 5), nn.NewReLU(), nn.NewLinear(5, 5), nn.NewGELU())
			net.Eval()
			x := torch.Randn([]int{2, 3, 16, 16})
			if last {
				nn.ToMemoryFormat(net, tensor.ChannelsLast)
				x = x.To(tensor.ChannelsLast)
			}
			relu := "aten::relu"
			if inplace {
				relu = "aten::relu_"
			}
			want := []string{"aten::conv2d", "aten::batch_norm", relu, "aten::max_pool2d", "aten::conv2d", relu,
				"aten::max_pool2d", "aten::conv2d", "aten::max_pool2d",
				"aten::relu", "aten::flatten.using_ints", "aten::linear", "aten::relu", "aten::linear", "aten::gelu"}
			for _, grad := range []bool{true, false} {
				var tr modcheck.Tracer
				tensor.SetGradEnabled(grad, func() { tensor.WithLayer(&tr, func() { net.Forward(x) }) })
				same(t, "chain", tr.Names, want)
			}
		}
	}
}
