// Package modulecheck finds what nn.New and every walk over a module would refuse, before the program runs: private
// fields that hold layers or parameters without the tag `torch:"-"`, fields that have the same name in the state dict,
// and types that cannot be walked. It follows the rules of package nn (see nn/plan.go), on go/types instead of reflect.
package modulecheck

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"github.com/gotorch-dev/torch/internal/goname"
	"golang.org/x/tools/go/analysis"
)

const (
	nnPath     = "github.com/gotorch-dev/torch/nn"
	tensorPath = "github.com/gotorch-dev/torch/tensor"
)

// Analyzer reports fields of modules that training, saving and printing would miss.
var Analyzer = &analysis.Analyzer{
	Name: "gotorchmodule",
	Doc: "report fields of modules that a walk over the module cannot reach or name\n\n" +
		"A module's parameters and layers are found by walking its fields. A private field, a map whose keys are no " +
		"strings, or two fields with one name in the state dict would be left out: neither trained, nor saved.",
	URL: "https://pkg.go.dev/" + nnPath,
	Run: run,
}

func run(pass *analysis.Pass) (any, error) {
	nn := find(pass.Pkg, nnPath, map[*types.Package]bool{})
	if nn == nil {
		return nil, nil
	}
	object := nn.Scope().Lookup("Module")
	if object == nil {
		return nil, nil
	}
	module, ok := object.Type().Underlying().(*types.Interface)
	if !ok {
		return nil, nil
	}
	c := &checker{pass: pass, module: module}
	for _, f := range pass.Files {
		ast.Inspect(f, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && !spec.Assign.IsValid() {
				c.typeSpec(spec)
			}
			return true
		})
	}
	return nil, nil
}

// find is the package of a path among p and what it imports.
func find(p *types.Package, path string, seen map[*types.Package]bool) *types.Package {
	if p.Path() == path {
		return p
	}
	seen[p] = true
	for _, q := range p.Imports() {
		if !seen[q] {
			if r := find(q, path, seen); r != nil {
				return r
			}
		}
	}
	return nil
}

type checker struct {
	pass   *analysis.Pass
	module *types.Interface
	names  map[string]string // of the module that is looked at, by name in the state dict
}

// typeSpec looks at a declared type, if it is a module whose fields are walked.
func (c *checker) typeSpec(spec *ast.TypeSpec) {
	obj, ok := c.pass.TypesInfo.Defs[spec.Name].(*types.TypeName)
	if !ok {
		return
	}
	st, ok := obj.Type().Underlying().(*types.Struct)
	ptr := types.NewPointer(obj.Type())
	if !ok || !types.Implements(ptr, c.module) || c.walksItself(ptr) {
		return
	}
	c.names = map[string]string{}
	c.fields(obj.Name(), st, spec.Name.Pos(), map[types.Type]bool{})
}

// walksItself reports that a type declares WalkOwn.
func (c *checker) walksItself(ptr types.Type) bool {
	f, index, _ := types.LookupFieldOrMethod(ptr, true, c.pass.Pkg, "WalkOwn")
	_, method := f.(*types.Func)
	return method && len(index) == 1
}

// fields looks at the fields of a struct. Those of an embedded struct of another package are reported where the struct
// is embedded.
func (c *checker) fields(owner string, st *types.Struct, at token.Pos, busy map[types.Type]bool) {
	for i := range st.NumFields() {
		f := st.Field(i)
		name, _, _ := strings.Cut(reflect.StructTag(st.Tag(i)).Get("torch"), ",")
		if name == "-" || isBase(f.Type()) || f.Name() == "_" {
			continue
		}
		pos := f.Pos()
		if f.Pkg() != c.pass.Pkg {
			pos = at
		}
		path := owner + "." + f.Name()
		if f.Embedded() && name == "" {
			if inner, ok := c.inherits(f.Type()); ok {
				if !busy[f.Type()] {
					busy[f.Type()] = true
					c.fields(owner, inner, pos, busy)
				}
				continue
			}
		}
		if !f.Exported() {
			c.private(path, f, pos)
			continue
		}
		relevant, why := c.walkable(f.Type(), true, map[types.Type]bool{})
		switch {
		case why != "":
			c.pass.Reportf(pos, "%s (%s) %s", path, c.show(f.Type()), why)
			continue
		case !relevant:
			continue
		case strings.Contains(name, "."):
			c.pass.Reportf(pos, "the tag of %s names it %s, and a name can't contain \".\"", path, strconv.Quote(name))
		}
		if name == "" {
			name = goname.Snake(f.Name())
		}
		if other, ok := c.names[name]; ok {
			c.pass.Reportf(pos, "%s and %s both have the name %q in the state dict: rename one of them, or give it a "+
				"name "+
				"by a tag such as `torch:\"%s_2\"`", other, path, name, name)
		}
		c.names[name] = path
	}
}

// inherits gives the struct whose fields an embedded field adds as the module's own: a struct by value.
func (c *checker) inherits(t types.Type) (*types.Struct, bool) {
	st, ok := t.Underlying().(*types.Struct)
	if !ok || isTensor(t) {
		return nil, false
	}
	if c.walksItself(types.NewPointer(t)) {
		return types.NewStruct(nil, nil), true // its own business
	}
	return st, true
}

// private reports a private field that can hold modules, or parameters.
func (c *checker) private(path string, f *types.Var, pos token.Pos) {
	modules, tensors := c.holds(f.Type(), map[types.Type]bool{})
	switch {
	case modules:
		c.pass.Reportf(pos, "%s (%s) is a private field that holds a module, which would be neither trained, saved, "+
			"printed "+
			"nor switched by Eval: %s", path, c.show(f.Type()), wayOut(f.Name()))
	case tensors && isMap(f.Type()):
		c.pass.Reportf(pos, "%s (%s) is a private field with tensors in a map, which cannot be searched for "+
			"parameters while "+
			"it may be written to: %s", path, c.show(f.Type()), wayOut(f.Name()))
	}
}

// wayOut says what to do about a private field.
func wayOut(name string) string {
	r := []rune(strings.TrimLeft(name, "_"))
	if len(r) == 0 {
		return "export it, or leave it out on purpose with the tag `torch:\"-\"`"
	}
	r[0] = unicode.ToUpper(r[0])
	return fmt.Sprintf("export it (%s), or leave it out on purpose with the tag `torch:\"-\"`", string(r))
}

// walkable reports whether there is something to walk in values of a type, and why it cannot be walked.
func (c *checker) walkable(t types.Type, addressable bool, busy map[types.Type]bool) (relevant bool, why string) {
	switch {
	case isTensor(t):
		return false, "is a torch.Tensor by value: write *torch.Tensor"
	case isTensorPointer(t), c.isModule(t):
		return true, ""
	case c.isModule(types.NewPointer(t)):
		if _, ok := t.Underlying().(*types.Struct); ok && !addressable {
			return false, fmt.Sprintf("holds modules by value in a map: write *%s", c.show(t))
		}
		return true, ""
	}
	if busy[t] {
		return false, ""
	}
	busy[t] = true
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return c.walkable(u.Elem(), true, busy)
	case *types.Array:
		return c.walkable(u.Elem(), addressable, busy)
	case *types.Map:
		if modules, _ := c.holds(u.Key(), map[types.Type]bool{}); modules {
			return false, "has modules as keys of a map, which have no names: make them its values"
		}
		relevant, why = c.walkable(u.Elem(), false, busy)
		if b, ok := u.Key().Underlying().(*types.Basic); relevant && (!ok || b.Info()&types.IsString == 0) {
			return false, fmt.Sprintf("is a map whose keys are no strings (%s), and only strings can be names",
				c.show(u.Key()))
		}
		return relevant, why
	case *types.Struct:
		return c.group(t, u, addressable, busy)
	case *types.Chan:
		if modules, _ := c.holds(u.Elem(), map[types.Type]bool{}); modules {
			return false, "is a channel of modules, which the walk cannot see: hold them in a list, or leave the field " +
				"out on purpose with the tag `torch:\"-\"`"
		}
	case *types.Pointer:
		if modules, _ := c.holds(u.Elem(), map[types.Type]bool{}); modules {
			return false, fmt.Sprintf("is a pointer to what is no module but holds modules: embed nn.Base in %s, or "+
				"hold it "+
				"by value, or leave it out on purpose with the tag `torch:\"-\"`", c.show(u.Elem()))
		}
	}
	return false, ""
}

// group is walkable for a struct that is no module.
func (c *checker) group(t types.Type, st *types.Struct, addressable bool, busy map[types.Type]bool) (bool, string) {
	relevant := false
	for i := range st.NumFields() {
		f := st.Field(i)
		if name, _, _ := strings.Cut(reflect.StructTag(st.Tag(i)).Get("torch"), ","); name == "-" {
			continue
		}
		if !f.Exported() && !f.Embedded() {
			if modules, _ := c.holds(f.Type(), map[types.Type]bool{}); modules {
				return false, fmt.Sprintf("cannot be walked: the private field %s of %s holds a module: %s", f.Name(),
					c.show(t),
					wayOut(f.Name()))
			}
			continue
		}
		r, why := c.walkable(f.Type(), addressable, busy)
		if why != "" {
			return false, fmt.Sprintf("cannot be walked: its field %s (%s) %s", f.Name(), c.show(f.Type()), why)
		}
		relevant = relevant || r
	}
	return relevant, ""
}

// holds reports whether values of a type can hold modules or tensors.
func (c *checker) holds(t types.Type, seen map[types.Type]bool) (modules, tensors bool) {
	if seen[t] {
		return false, false
	}
	seen[t] = true
	switch {
	case isTensor(t), isTensorPointer(t):
		return false, true
	case c.isModule(t):
		return true, false
	}
	both := func(u types.Type) {
		m, x := c.holds(u, seen)
		modules, tensors = modules || m, tensors || x
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		both(u.Elem())
	case *types.Slice:
		both(u.Elem())
	case *types.Array:
		both(u.Elem())
	case *types.Chan:
		both(u.Elem())
	case *types.Map:
		both(u.Key())
		both(u.Elem())
	case *types.Struct:
		if c.isModule(types.NewPointer(t)) {
			return true, false
		}
		for i := range u.NumFields() {
			if reflect.StructTag(u.Tag(i)).Get("torch") != "-" {
				both(u.Field(i).Type())
			}
		}
	}
	return modules, tensors
}

func (c *checker) isModule(t types.Type) bool {
	if isBase(t) {
		return false
	}
	if p, ok := t.(*types.Pointer); ok && isBase(p.Elem()) {
		return false
	}
	return types.Implements(t, c.module)
}

func (c *checker) show(t types.Type) string { return types.TypeString(t, types.RelativeTo(c.pass.Pkg)) }

func isMap(t types.Type) bool {
	_, ok := t.Underlying().(*types.Map)
	return ok
}

func isTensorPointer(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && isTensor(p.Elem())
}

func isTensor(t types.Type) bool { return isNamed(t, tensorPath, "Tensor") }

func isBase(t types.Type) bool { return isNamed(t, nnPath, "Base") }

func isNamed(t types.Type, path, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == name && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == path
}
