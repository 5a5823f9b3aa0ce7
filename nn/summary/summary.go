// Package summary prints a table of a model's layers: output shapes, parameters, multiply-adds, memory.
package summary

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// Row is one module of the table.
type Row struct {
	Name     string // in the state dict's notation
	Class    string
	Depth    int
	Output   []int // shape of the last output; nil when the module was not run by itself
	Params   int   // of the module itself and everything below
	Own      int   // of the module itself
	Trains   bool
	MultAdds int // of the module itself
	Calls    int // how often it ran
}

// Table is a summary.
type Table struct {
	Rows              []Row
	Params, Trainable int
	MultAdds          int
	InputBytes        int
	ForwardBytes      int // outputs of the layers
	ParamBytes        int
	InputShape        []int
}

// Of runs a model once, in evaluation mode and without gradients, and collects its layers. Shapes are known of modules
// that call their hooks (all of package nn do; a module of your own does when its Forward uses Base.Run).
func Of(m nn.Module, x *tensor.Tensor) (*Table, error) {
	t := &Table{InputShape: x.Shape(), InputBytes: x.Numel() * x.ElementSize()}
	var order []*Row
	var handles []nn.Handle
	defer func() {
		for _, h := range handles {
			h.Remove()
		}
	}()
	counted := map[*tensor.Tensor]bool{}
	for name, c := range nn.NamedModules(m) {
		r := &Row{Name: name, Class: nn.ClassName(c), Trains: true}
		if name != "" {
			r.Depth = strings.Count(name, ".") + 1
		}
		for _, p := range nn.Parameters(c) {
			r.Params += p.Numel()
			r.Trains = r.Trains && p.RequiresGrad()
		}
		for _, p := range nn.OwnParameters(c) {
			if counted[p] {
				continue
			}
			counted[p] = true
			r.Own += p.Numel()
			t.Params += p.Numel()
			t.ParamBytes += p.Numel() * p.ElementSize()
			if p.RequiresGrad() {
				t.Trainable += p.Numel()
			}
		}
		order = append(order, r)
		h := nn.RegisterForwardHook(c, func(_ nn.Module, _ []*tensor.Tensor, out *tensor.Tensor) *tensor.Tensor {
			r.Output = append([]int(nil), out.Shape()...)
			r.Calls++
			r.MultAdds += multAdds(c, out)
			return nil
		})
		handles = append(handles, h)
	}
	forward, ok := m.(interface {
		Forward(*tensor.Tensor) *tensor.Tensor
	})
	if !ok {
		return nil, fmt.Errorf("summary: %s has no Forward with one input and one output", reflect.TypeOf(m))
	}
	type trainer interface{ Training() bool }
	was := true
	if tr, ok := m.(trainer); ok {
		was = tr.Training()
	}
	nn.Eval(m)
	defer nn.Train(m, was)
	err := tensor.Try(func() {
		tensor.NoGrad(func() {
			out := forward.Forward(x)
			if order[0].Output == nil {
				order[0].Output = append([]int(nil), out.Shape()...)
			}
		})
	})
	if err != nil {
		return nil, err
	}
	for _, r := range order {
		t.Rows = append(t.Rows, *r)
		t.MultAdds += r.MultAdds
		if r.Own > 0 && r.Output != nil {
			n := 4
			for _, s := range r.Output {
				n *= s
			}
			t.ForwardBytes += n * max(1, r.Calls)
		}
	}
	return t, nil
}

// multAdds counts multiplications of layers whose weight meets every output position: linear, convolution.
func multAdds(m nn.Module, out *tensor.Tensor) int {
	w := nn.OwnParameters(m)
	if len(w) == 0 || w[0].Dim() < 2 {
		n := 0
		for _, p := range w {
			n += p.Numel()
		}
		return n
	}
	positions := out.Numel()
	switch class := nn.ClassName(m); {
	case strings.HasPrefix(class, "ConvTranspose"):
		return 0
	case strings.HasPrefix(class, "Conv"):
		positions /= w[0].Size(0)
	case class == "Linear":
		positions /= max(1, out.Size(-1))
	default:
		return w[0].Numel()
	}
	return positions * w[0].Numel()
}

// Fprint writes the table of a model, run on x.
func Fprint(w io.Writer, m nn.Module, x *tensor.Tensor) error {
	t, err := Of(m, x)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, t.String())
	return err
}

// String draws the table.
func (t *Table) String() string {
	const width = 92
	var b strings.Builder
	line := strings.Repeat("=", width) + "\n"
	b.WriteString(line)
	fmt.Fprintf(&b, "%-40s %-22s %12s %15s\n", "Layer (type)", "Output shape", "Params", "Mult-adds")
	b.WriteString(line)
	for _, r := range t.Rows {
		name := r.Class
		if r.Name != "" {
			last := r.Name[strings.LastIndexByte(r.Name, '.')+1:]
			name = strings.Repeat("  ", r.Depth-1) + "├─" + r.Class + " (" + last + ")"
		}
		shape, params, mult := "--", "--", "--"
		if r.Output != nil {
			shape = tensor.ShapeString(r.Output)
		}
		if r.Own > 0 {
			params = comma(r.Own)
			if !r.Trains {
				params = "(" + params + ")"
			}
		}
		if r.MultAdds > 0 {
			mult = comma(r.MultAdds)
		}
		pad := max(0, 40-len([]rune(name)))
		fmt.Fprintf(&b, "%s%s %-22s %12s %15s\n", name, strings.Repeat(" ", pad), shape, params, mult)
	}
	b.WriteString(line)
	fmt.Fprintf(&b, "Total params: %s\nTrainable params: %s\nNon-trainable params: %s\nTotal mult-adds: %s\n",
		comma(t.Params), comma(t.Trainable), comma(t.Params-t.Trainable), comma(t.MultAdds))
	b.WriteString(line)
	mb := func(n int) float64 { return float64(n) / 1e6 }
	fmt.Fprintf(&b, "Input shape: %s\nInput size (MB): %.2f\nForward pass size (MB): %.2f\nParams size (MB): "+
		"%.2f\nEstimated total size (MB): %.2f\n", tensor.ShapeString(t.InputShape),
		mb(t.InputBytes), mb(t.ForwardBytes), mb(t.ParamBytes), mb(t.InputBytes+t.ForwardBytes+t.ParamBytes))
	b.WriteString(line)
	return b.String()
}

func comma(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
