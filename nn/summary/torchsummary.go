package summary

import (
	"fmt"
	"math"
	"strings"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// TorchSummaryOptions are the options of TorchSummary.
type TorchSummaryOptions struct {
	// BatchSize is the first number of the shapes; 0 means -1, as in Python.
	BatchSize int
}

// TorchSummary is the table that the Python package torchsummary prints: a row for each time that a layer runs, in the
// order in which they end. inputSizes are the shapes of the inputs without the batch, of which there are two samples.
//
// As in Python the model runs in the mode that it is in; unlike there, the statistics of batch norms are afterwards
// what they were. A module of your own has a row when its Forward calls its hooks, see nn.Base.Run.
// https://github.com/sksq96/pytorch-summary
func TorchSummary(m nn.Module, inputSizes [][]int, opts ...TorchSummaryOptions) (string, error) {
	batch := -1
	if len(opts) > 0 && opts[0].BatchSize != 0 {
		batch = opts[0].BatchSize
	}
	var b strings.Builder
	var total, trainable int
	outputs := 0.0 // elements, of either sign
	thin, thick := strings.Repeat("-", 64)+"\n", strings.Repeat("=", 64)+"\n"
	fmt.Fprintf(&b, "%s%20s  %25s %15s\n%s", thin, "Layer (type)", "Output Shape", "Param #", thick)
	rows := 0
	var handles []nn.Handle
	defer func() {
		for _, h := range handles {
			h.Remove()
		}
	}()
	nn.Apply(m, func(c nn.Module) {
		if _, list := c.(*nn.ModuleList); list || isSequential(c) || c == m {
			return
		}
		handles = append(handles, nn.RegisterForwardHookAll(c,
			func(c nn.Module, _, out []*tensor.Tensor) []*tensor.Tensor {
				rows++
				params := 0
				trains := false
				for name, p := range nn.OwnNamedParameters(c) {
					if name == "weight" || name == "bias" {
						params += p.Numel()
						trains = trains || name == "weight" && p.RequiresGrad()
					}
				}
				total += params
				if trains {
					trainable += params
				}
				shape, n := outputShape(out, batch)
				outputs += n
				fmt.Fprintf(&b, "%20s  %25s %15s\n", fmt.Sprintf("%s-%d", nn.ClassName(c), rows), shape, comma(params))
				return nil
			}))
	})
	var inputs []*tensor.Tensor
	elements := 1.0 // the product over all inputs, as the package has it
	for _, s := range inputSizes {
		inputs = append(inputs, torch.Zeros(append([]int{2}, s...)))
		for _, n := range s {
			elements *= float64(n)
		}
	}
	k := keep(m)
	_, err := forward(m, inputs)
	k.restore()
	if err != nil {
		return "", err
	}
	const mb = 1 << 20
	in := math.Abs(elements * float64(batch) * 4 / mb)
	out := math.Abs(2 * outputs * 4 / mb) // twice, for the gradients
	par := math.Abs(float64(total) * 4 / mb)
	fmt.Fprintf(&b, "%sTotal params: %s\nTrainable params: %s\nNon-trainable params: %s\n%s", thick, comma(total),
		comma(trainable), comma(total-trainable), thin)
	fmt.Fprintf(&b, "Input size (MB): %.2f\nForward/backward pass size (MB): %.2f\nParams size (MB): %.2f\n"+
		"Estimated Total Size (MB): %.2f\n%s", in, out, par, par+out+in, thin)
	return b.String(), nil
}

// outputShape prints the shape of the results, and multiplies its numbers.
func outputShape(out []*tensor.Tensor, batch int) (string, float64) {
	var shapes []string
	n := 1.0
	for _, x := range out {
		if x == nil {
			continue
		}
		s := append([]int(nil), x.Shape()...)
		if len(s) > 0 {
			s[0] = batch
			if len(out) > 1 {
				s[0] = -1
			}
		}
		for _, d := range s {
			n *= float64(d)
		}
		shapes = append(shapes, tensor.ShapeString(s))
	}
	if len(shapes) == 1 {
		return shapes[0], n
	}
	return "[" + strings.Join(shapes, ", ") + "]", n
}
