package autograd

import "github.com/gotorch-dev/torch/cookbook/internal/expect"

var near, fails = expect.Near, expect.Fails
