package archtest

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/gotorch-dev/torch"

// core lists the packages, with all below them, that must not need third-party code.
var core = []string{
	"", "tensor", "ops", "autograd", "nn", "optim", "data", "amp",
	"linalg", "fft", "special", "distributions", "func", "einops",
}

// allowed are the modules that the core may use all the same.
var allowed = []string{"golang.org/x/sys"}

// linksC are packages of the standard library that link the C library where there is one, which the core, and so a
// program that needs no more than it, must not.
var linksC = []string{"archive/tar", "net", "os/user", "plugin", "runtime/cgo"}

// families below ops that are not operators, and may be imported by all of them.
var opsHelpers = []string{"internal"}

// opsAll links all families in by importing them, and is imported by none.
const opsAll = "ops/all"

// layer ranks a package by its path below the module; packages below internal have
// rank 0 and count for what they import in turn.
func layer(pkg string) int {
	switch first(pkg) {
	case "internal":
		return 0
	case "tensor":
		return 1
	case "ops", "serialize": // the root saves and loads files
		return 2
	case "":
		return 3
	case "cmd", "examples", "bench", "conformance":
		return 5
	}
	return 4
}

var layerName = []string{"internal", "tensor", "ops", "the root", "the libraries", "the commands"}

func first(pkg string) string { f, _, _ := strings.Cut(pkg, "/"); return f }

// family returns the operator family of a package, or "" if it has none.
func family(pkg string) string {
	rest, ok := strings.CutPrefix(pkg, "ops/")
	if !ok || slices.Contains(opsHelpers, first(rest)) {
		return ""
	}
	return first(rest)
}

func inCore(pkg string) bool {
	return slices.ContainsFunc(core, func(c string) bool { return pkg == c || c != "" && first(pkg) == c })
}

// violations checks a graph of imports. Packages of the module are named by their path
// below it ("" for the root), others by their import path after "!".
func violations(imports map[string][]string) []string {
	var bad []string
	for _, pkg := range slices.Sorted(maps.Keys(imports)) {
		if first(pkg) == "internal" {
			continue // checked through the packages that import it
		}
		// Walk what pkg imports, going on through internal packages only: what any other
		// package imports is that package's own affair.
		seen := map[string]bool{pkg: true}
		var walk func(from, via string)
		walk = func(from, via string) {
			for _, dep := range imports[from] {
				if seen[dep] {
					continue
				}
				seen[dep] = true
				how := via + " → " + name(dep)
				if ext, ok := strings.CutPrefix(dep, "!"); ok {
					if inCore(pkg) && slices.Contains(linksC, ext) {
						bad = append(bad, how+": the core is linked statically, and this takes the C library along")
					} else if inCore(pkg) &&
						!slices.ContainsFunc(allowed,
							func(m string) bool { return ext == m || strings.HasPrefix(ext, m+"/") }) {
						bad = append(bad, how+": the core has no third-party imports")
					}
					continue
				}
				if layer(dep) > layer(pkg) {
					bad = append(bad, fmt.Sprintf("%s: %s may not import %s", how, layerName[layer(pkg)],
						layerName[layer(dep)]))
				}
				if a, b := family(pkg), family(dep); a != "" && b != "" && a != b && pkg != opsAll {
					bad = append(bad, how+": operator families do not import each other; use the Tensor method")
				}
				if first(dep) == "internal" {
					walk(dep, how)
				}
			}
		}
		walk(pkg, name(pkg))
	}
	return bad
}

func name(pkg string) string {
	if pkg == "" {
		return "torch"
	}
	return strings.TrimPrefix(pkg, "!")
}

// graph reads the imports of all packages below root, of all platforms, without tests.
func graph(t *testing.T, root string) map[string][]string {
	t.Helper()
	imports := map[string][]string{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if p == root {
				return nil
			}
			// What the go command does not see, we do not either.
			if n := d.Name(); n == "testdata" || n == "vendor" || strings.HasPrefix(n, ".") ||
				strings.HasPrefix(n, "_") {
				return fs.SkipDir
			}
			if _, err := os.Stat(filepath.Join(p, "go.mod")); err == nil {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(p))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(rel)
		if pkg == "." {
			pkg = ""
			// A generator in the root (//go:build ignore) is a program of its own.
			if f.Name.Name == "main" {
				return nil
			}
		}
		if imports[pkg] == nil {
			imports[pkg] = []string{}
		}
		for _, s := range f.Imports {
			dep, err := strconv.Unquote(s.Path.Value)
			if err != nil {
				return err
			}
			switch {
			case dep == module:
				dep = ""
			case strings.HasPrefix(dep, module+"/"):
				dep = strings.TrimPrefix(dep, module+"/")
			case strings.Contains(first(dep), "."), slices.Contains(linksC, dep):
				dep = "!" + dep // a host name: third party
			default:
				continue // the standard library
			}
			if !slices.Contains(imports[pkg], dep) {
				imports[pkg] = append(imports[pkg], dep)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return imports
}

func TestImports(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	imports := graph(t, root)
	if _, ok := imports["internal/archtest"]; !ok {
		t.Fatalf("found no package internal/archtest below %s", root)
	}
	for _, v := range violations(imports) {
		t.Error(v)
	}
}

// The rule itself, on imports made up for it.
func TestRule(t *testing.T) {
	for _, c := range []struct {
		from, to string
		through  string // an internal package in between
		ok       bool
	}{
		{"tensor", "internal/mem", "", true},
		{"tensor", "ops/conv", "", false},
		{"tensor", "", "", false},
		{"tensor", "ops/conv", "internal/x", false},
		{"tensor", "!golang.org/x/sys/unix", "", true},
		{"tensor", "!golang.org/x/system", "", false},
		{"tensor", "!gonum.org/v1/plot", "internal/x", false},
		{"tensor", "!archive/tar", "internal/x", false},
		{"cmd/gotorch", "!net", "", true},
		{"ops/conv", "tensor", "", true},
		{"ops/conv", "ops/internal/infer", "", true},
		{"ops/conv", "ops/conv/winograd", "", true},
		{"ops/conv", "ops/matmul", "", false},
		{"ops/conv", "ops/matmul", "internal/x", false},
		{"ops/conv", "", "", false},
		{"ops/all", "ops/conv", "", true},
		{"ops/conv", "ops/all", "", false},
		{"", "ops/conv", "", true},
		{"", "nn", "", false},
		{"nn", "", "", true},
		{"nn/functional", "tensor", "", true},
		{"nn", "cmd/gotorch", "", false},
		{"nn/functional", "!github.com/x/y", "", false},
		{"vision", "!golang.org/x/image", "", true},
		{"cmd/gotorch", "vision", "", true},
	} {
		g := map[string][]string{c.from: {c.to}}
		if c.through != "" {
			g = map[string][]string{c.from: {c.through}, c.through: {c.to}}
		}
		v := violations(g)
		if (len(v) == 0) != c.ok {
			t.Errorf("%s imports %s (through %q): violations %q", name(c.from), name(c.to), c.through, v)
		}
		for _, s := range v {
			if !strings.Contains(s, name(c.from)) || !strings.Contains(s, path.Base(name(c.to))) {
				t.Errorf("%q does not name both packages", s)
			}
		}
	}
}
