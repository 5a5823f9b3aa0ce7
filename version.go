package torch

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/version"
)

// PyTorchVersion is the version of PyTorch whose names, numbers and files this module follows.
const PyTorchVersion = version.PyTorch

// Version is the version of this module in the running program, as Python's torch.__version__: v1.2.3, or (devel) for
// a working copy.
func Version() string {
	if v := version.Module(); v != "" {
		return v
	}
	return "(devel)"
}

// ConfigShow describes how the program was built and what its kernels use, an item a line, as Python's
// torch.__config__.show().
func ConfigShow() string {
	items := []string{
		"Go " + strings.TrimPrefix(runtime.Version(), "go") + ", " + runtime.GOOS + "/" + runtime.GOARCH,
		"module " + Version() + ", follows PyTorch " + PyTorchVersion,
		"CPU kernels: " + cpu.Description(),
		"linear algebra (LAPACK) and FFT: built in",
		fmt.Sprintf("operators: %d", NumOperators()),
		fmt.Sprintf("threads: %d", NumThreads()),
	}
	if flags := BuildFlags(); len(flags) > 0 {
		items = append(items, "build settings: "+strings.Join(flags, " "))
	}
	return "GoTorch built with:\n  - " + strings.Join(items, "\n  - ") + "\n"
}

// BuildFlags lists the settings that the Go command built the program with: "-tags=purego", "CGO_ENABLED=0",
// "vcs.revision=…". It is empty where the program does not know them. Python has the flags of the C++ compiler
// (torch.__config__._cxx_flags()).
func BuildFlags() (flags []string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	for _, s := range info.Settings {
		if s.Value != "" {
			flags = append(flags, s.Key+"="+s.Value)
		}
	}
	return flags
}
