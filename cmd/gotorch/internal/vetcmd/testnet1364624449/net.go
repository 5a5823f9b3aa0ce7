package p

import "github.com/gotorch-dev/torch/nn"

type Net struct {
	nn.Base
	fc *nn.Linear `torch:"-"`
}

func (n *Net) Layer() *nn.Linear { return n.fc }
