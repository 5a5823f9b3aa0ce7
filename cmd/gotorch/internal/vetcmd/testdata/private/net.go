package private

import "github.com/gotorch-dev/torch/nn"

// Net hides a layer, which gotorch vet reports.
type Net struct {
	nn.Base
	fc *nn.Linear
}

// Layer is the hidden one.
func (n *Net) Layer() *nn.Linear { return n.fc }
