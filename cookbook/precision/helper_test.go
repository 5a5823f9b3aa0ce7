package precision

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/amp"
	"github.com/gotorch-dev/torch/cookbook/internal/expect"
	"github.com/gotorch-dev/torch/tensor"
)

var near, fails = expect.Near, expect.Fails

// lower runs f under autocast to bfloat16.
func lower(f func()) { amp.Autocast(tensor.CPUDevice, torch.BFloat16, f) }
