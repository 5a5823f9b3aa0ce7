package tagged

import "github.com/gotorch-dev/torch/nn"

// Net leaves a layer out on purpose.
type Net struct {
	nn.Base
	fc *nn.Linear `torch:"-"`
}

// Layer is the hidden one.
func (n *Net) Layer() *nn.Linear { return n.fc }
