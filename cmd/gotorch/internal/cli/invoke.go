package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/gotorch-dev/torch/internal/version"
)

const (
	module  = version.Path
	command = module + "/cmd/gotorch"
)

// Invocation is what to type in this folder to start the program once more: "go run …" when go run started it, and the
// name that was typed otherwise.
var Invocation = sync.OnceValue(func() string {
	exe, err := os.Executable()
	if err != nil {
		exe = ""
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = ""
	}
	info, _ := debug.ReadBuildInfo()
	return invocation(exe, os.Args[0], dir, info)
})

func invocation(exe, typed, dir string, info *debug.BuildInfo) string {
	name := strings.TrimSuffix(filepath.Base(exe), ".exe")
	switch {
	case strings.HasSuffix(name, ".test"): // the tests of a command
		return "gotorch"
	case !builtByGoRun(exe):
		if filepath.Base(typed) == typed { // found in PATH
			return strings.TrimSuffix(typed, ".exe")
		}
		return Quote(typed)
	}
	for _, place := range []struct{ main, arg string }{{"cmd/gotorch/main.go", "./cmd/gotorch"}, {"main.go", "."}} {
		inside := place.arg != "." || strings.HasSuffix(filepath.ToSlash(dir), "cmd/gotorch")
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(place.main))); err == nil && inside {
			return "go run " + place.arg
		}
	}
	// From a folder of another module, which requires this one, or by a version: go run …/cmd/gotorch@v1.2.3.
	if info != nil && info.Main.Path == module && strings.HasPrefix(info.Main.Version, "v") {
		return "go run " + command + "@" + info.Main.Version
	}
	return "go run " + command
}

// builtByGoRun tells the place where go run puts a program: go-buildNNN/bNNN/exe/NAME, below GOTMPDIR or the system's
// folder for temporary files.
func builtByGoRun(exe string) bool {
	parts := strings.Split(filepath.ToSlash(exe), "/")
	n := len(parts)
	return n >= 4 && parts[n-2] == "exe" && strings.HasPrefix(parts[n-3], "b") &&
		strings.HasPrefix(parts[n-4], "go-build")
}

// Line is a command line that can be typed as it stands: the name of the program and quoted arguments.
func Line(args ...string) string {
	line := Invocation()
	for _, a := range args {
		line += " " + Quote(a)
	}
	return line
}

// Quote is a word as a shell takes it: in quotes where it has anything but letters, digits and the signs of paths.
func Quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_./=:,+@%", r) ||
			runtime.GOOS == "windows" && r == '\\'
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	if runtime.GOOS == "windows" {
		return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"`
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
