package layers

import "github.com/gotorch-dev/torch/cookbook/internal/expect"

var near, shaped, fails = expect.Near, expect.Shaped, expect.Fails
