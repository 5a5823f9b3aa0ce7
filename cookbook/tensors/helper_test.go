package tensors

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/cookbook/internal/expect"
)

var near, shaped, fails = expect.Near, expect.Shaped, expect.Fails

// sameMemory tells whether two tensors begin at the same address.
func sameMemory(a, b *torch.Tensor) bool { return a.DataPtr() == b.DataPtr() }
