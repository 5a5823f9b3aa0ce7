package cli

import (
	"fmt"
	"runtime"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/cpu"
)

// Version is what --version prints behind the name: the module, Go and the CPU features that the kernels use.
func Version() string {
	return fmt.Sprintf("%s, %s, %s/%s", torch.Version(), runtime.Version(), runtime.GOOS, cpu.Description())
}
