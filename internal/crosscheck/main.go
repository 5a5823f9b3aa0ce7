// Command crosscheck checks the types of packages for other systems, without compiling: that takes a tenth of the time
// of a build and finds what goes wrong when files are chosen by system: names that exist for one system only, constants
// that overflow, functions whose assembly is missing. .ci/run uses it:
//
//	go run ./internal/crosscheck linux/arm64,js/wasm ./...
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: crosscheck GOOS/GOARCH[,GOOS/GOARCH...] package...")
		os.Exit(2)
	}
	for target := range strings.SplitSeq(os.Args[1], ",") {
		n, err := check(target, os.Args[2:])
		if err != nil {
			fmt.Fprintf(os.Stderr, "crosscheck: %s: %v\n", target, err)
			os.Exit(1)
		}
		fmt.Printf("%s: %d packages\n", target, n)
	}
}

// listed is what go list tells of a package.
type listed struct {
	ImportPath, Dir string
	GoFiles, SFiles []string
	ImportMap       map[string]string
	Standard        bool
	Module          *struct{ Main bool }
	Error           *struct{ Err string }
}

// ours says whether the package belongs to this module.
func (p listed) ours() bool { return p.Module != nil && p.Module.Main }

// checker holds the packages that are checked, in the order of their imports.
type checker struct {
	fset   *token.FileSet
	config types.Config
	done   map[string]*types.Package
}

// check checks the packages that patterns match and what they import, for a system like "linux/arm64", and returns how
// many of them belong to this module.
func check(target string, patterns []string) (int, error) {
	goos, goarch, ok := strings.Cut(target, "/")
	if !ok {
		return 0, fmt.Errorf("want GOOS/GOARCH")
	}
	args := append([]string{"list", "-deps", "-json=ImportPath,Dir,GoFiles,SFiles,ImportMap,Standard,Module,Error"},
		patterns...)
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	list, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("go list: %w\n%s", err, stderr.Bytes())
	}
	c := &checker{fset: token.NewFileSet(), done: map[string]*types.Package{"unsafe": types.Unsafe}}
	c.config.Sizes = types.SizesFor("gc", goarch)
	ours := 0
	for dec := json.NewDecoder(bytes.NewReader(list)); ; {
		var p listed
		if err := dec.Decode(&p); err == io.EOF {
			return ours, nil
		} else if err != nil {
			return 0, err
		}
		if p.Error != nil {
			return 0, errors.New(p.Error.Err)
		}
		if p.ImportPath == "unsafe" {
			continue
		}
		if err := c.add(p); err != nil {
			return 0, err
		}
		if p.ours() {
			ours++
		}
	}
}

// add checks the types of one package, whose imports were checked before. Of the standard library only declarations are
// looked at.
func (c *checker) add(p listed) error {
	files := make([]*ast.File, len(p.GoFiles))
	errs := make([]error, len(p.GoFiles))
	var wg sync.WaitGroup
	for i, name := range p.GoFiles {
		wg.Go(func() {
			files[i], errs[i] = parser.ParseFile(c.fset, filepath.Join(p.Dir, name), nil,
				parser.ParseComments|parser.SkipObjectResolution)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	config := c.config
	config.IgnoreFuncBodies = p.Standard
	config.Importer = importer{c.done, p.ImportMap}
	var all []error
	config.Error = func(err error) { all = append(all, err) }
	pkg, _ := config.Check(p.ImportPath, c.fset, files, nil)
	c.done[p.ImportPath] = pkg
	if p.Standard {
		return nil // whose errors are not ours: its bodies, for one, use what its imports alone declare
	}
	if p.ours() {
		all = append(all, c.withoutBodies(p, files))
	}
	return errors.Join(all...)
}

// withoutBodies reports the functions that have neither a body, nor assembly, nor a //go:linkname.
func (c *checker) withoutBodies(p listed, files []*ast.File) error {
	var assembly []byte
	for _, name := range p.SFiles {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return err
		}
		assembly = append(assembly, text...)
	}
	var missing []error
	for _, file := range files {
		linked := linknames(file)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body != nil || linked[f.Name.Name] {
				continue
			}
			if !bytes.Contains(assembly, []byte("TEXT ·"+f.Name.Name+"(")) &&
				!bytes.Contains(assembly, []byte("TEXT ·"+f.Name.Name+"<ABIInternal>(")) {
				missing = append(missing, fmt.Errorf("%v: %s has neither a body nor assembly",
					c.fset.Position(f.Pos()), f.Name.Name))
			}
		}
	}
	return errors.Join(missing...)
}

// linknames returns the functions of a file that //go:linkname takes from elsewhere.
func linknames(file *ast.File) map[string]bool {
	names := map[string]bool{}
	for _, group := range file.Comments {
		for _, line := range group.List {
			if words := strings.Fields(line.Text); len(words) > 1 && words[0] == "//go:linkname" {
				names[words[1]] = true
			}
		}
	}
	return names
}

// importer finds the packages that were checked before.
type importer struct {
	done map[string]*types.Package
	as   map[string]string // what an import path means in the standard library, which has copies of other modules
}

func (i importer) Import(path string) (*types.Package, error) {
	if real, ok := i.as[path]; ok {
		path = real
	}
	if p := i.done[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("package %s is not among the imports that go list names", path)
}
