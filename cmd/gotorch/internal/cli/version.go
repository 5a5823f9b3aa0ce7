package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/gotorch-dev/torch/internal/cpu"
)

// ModuleVersion is the version of the module that the program was built from: v1.2.3, or (devel) for a working copy.
func ModuleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	mods := append(info.Deps, &info.Main)
	for _, m := range mods {
		if m.Path == module && m.Version != "" {
			return m.Version
		}
	}
	return "(devel)"
}

// Version is what --version prints behind the name: the module, Go and the CPU features that the kernels use.
func Version() string {
	return fmt.Sprintf("%s, %s, %s/%s", ModuleVersion(), runtime.Version(), runtime.GOOS, cpu.Description())
}
