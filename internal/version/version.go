// Package version tells which version of this module a program holds, and which version of PyTorch the module follows.
package version

import "runtime/debug"

const (
	// Path is the module's path.
	Path = "github.com/gotorch-dev/torch"
	// PyTorch is the version of PyTorch whose names, numbers and files the module follows.
	PyTorch = "2.15.0"
)

// Module is the version of this module in the running program: v1.2.3; "" for a working copy, and where the program
// does not know.
func Module() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path == Path && m.Version != "(devel)" {
			return m.Version
		}
	}
	return ""
}
