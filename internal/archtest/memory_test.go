package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// memoryExceptions are functions that may touch memory although a rule calls them, with the reason.
var memoryExceptions = map[string]string{
	"index.boolList": "Go bools in an index become a tensor on the CPU, as in PyTorch; indices may be on the CPU " +
		"whatever the device",
	"index.numberList": "Go numbers in an index become a tensor on the CPU, as in PyTorch; indices may be on the " +
		"CPU whatever the device",
	"matmul.panelWidth": "the packed form of a weight is that of the CPU's kernels; no element is read",
}

// rawNames are the functions of package tensor that read or make host memory.
var rawNames = []string{"Ptr", "Data", "SharedData", "CopyRaw", "CloneRaw", "ZeroRaw", "Dense", "DenseAs", "DenseIn",
	"New", "NewStrided",
	"FromSlice", "NewStorage"}

// ruleFields are the fields of a tensor.Def that hold a rule.
var ruleFields = []string{"Body", "VJP", "View", "Infer", "Fuses"}

// TestRulesTouchNoMemory reads the source of operator families, whose bodies, gradient rules, views and shape rules
// must not touch memory (docs/adr/0006-two-floors.md). A rule is what a field of a Def literal holds, and any
// function literal or declaration with the signature of a gradient rule; it reaches the functions of its package that
// it names, by name and transitively.
func TestRulesTouchNoMemory(t *testing.T) {
	used := map[string]bool{}
	dirs, err := filepath.Glob(filepath.Join("..", "..", "ops", "*"))
	if err != nil || len(dirs) == 0 {
		t.Fatal("no families of operators", err)
	}
	for _, d := range dirs {
		found, err := rawUses(d, used)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			t.Errorf("ops/%s: %s", filepath.Base(d), f)
		}
	}
	for name, why := range memoryExceptions {
		if why == "" || !used[name] {
			t.Errorf("the exception %s is not needed or has no reason", name)
		}
	}
}

// source is the parsed source of one package.
type source struct {
	set    *token.FileSet
	funcs  map[string]*ast.FuncDecl // functions, and methods under ".name"
	raw    map[string][]string      // by file: names of imported packages that are raw altogether
	family string
	used   map[string]bool
	found  map[string]finding // by place
}

// finding is one place of raw access, and the rules that come there.
type finding struct {
	text  string
	rules []string
}

// rawUses lists the places where rules of the package in dir touch memory.
func rawUses(dir string, used map[string]bool) ([]string, error) {
	s := &source{set: token.NewFileSet(), funcs: map[string]*ast.FuncDecl{}, raw: map[string][]string{},
		family: filepath.Base(dir), used: used,
		found: map[string]finding{}}
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, p := range paths {
		if strings.HasSuffix(p, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(s.set, p, nil, 0)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
		for _, im := range f.Imports {
			path, _ := strconv.Unquote(im.Path.Value)
			if path == "unsafe" || strings.Contains(path, "/internal/cpu/") {
				s.raw[p] = append(s.raw[p], filepath.Base(path))
			}
		}
		for _, d := range f.Decls {
			if fd, ok := d.(*ast.FuncDecl); ok {
				name := fd.Name.Name
				if fd.Recv != nil {
					name = "." + name
				}
				if name != "init" {
					s.funcs[name] = fd
				}
			}
		}
	}
	for _, f := range files {
		for _, d := range f.Decls {
			fd, _ := d.(*ast.FuncDecl)
			if fd != nil && isGradientRule(fd.Type) {
				s.follow(fd.Name.Name, fd.Body, fd, nil, map[ast.Node]bool{})
			}
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncLit:
					if isGradientRule(n.Type) {
						s.follow("a gradient rule", n.Body, fd, nil, map[ast.Node]bool{})
					}
				case *ast.CompositeLit:
					name := schemaOf(n)
					for _, e := range n.Elts {
						if kv, ok := e.(*ast.KeyValueExpr); ok && name != "" {
							if key, ok := kv.Key.(*ast.Ident); ok && slices.Contains(ruleFields, key.Name) {
								s.follow(name+" "+key.Name, kv.Value, fd, nil, map[ast.Node]bool{})
							}
						}
					}
				}
				return true
			})
		}
	}
	list := make([]string, 0, len(s.found))
	for at, f := range s.found {
		more := ""
		if n := len(f.rules) - 1; n > 0 {
			more = fmt.Sprintf(" (and %d more rules)", n)
		}
		list = append(list, at+": "+f.text+more)
	}
	slices.Sort(list)
	return list, nil
}

// isGradientRule reports the signature func(c *Ctx, g *T) []*T.
func isGradientRule(f *ast.FuncType) bool {
	star := func(e ast.Expr, names ...string) bool {
		p, ok := e.(*ast.StarExpr)
		if !ok {
			return false
		}
		if sel, ok := p.X.(*ast.SelectorExpr); ok {
			return slices.Contains(names, sel.Sel.Name)
		}
		id, ok := p.X.(*ast.Ident)
		return ok && slices.Contains(names, id.Name)
	}
	if f.Results == nil || len(f.Results.List) != 1 || len(f.Params.List) != 2 {
		return false
	}
	list, ok := f.Results.List[0].Type.(*ast.ArrayType)
	return ok && list.Len == nil && star(list.Elt, "T", "Tensor") && star(f.Params.List[0].Type, "Ctx") &&
		star(f.Params.List[1].Type, "T", "Tensor")
}

// schemaOf is the name of the operator that a Def literal defines, "" for other literals.
func schemaOf(l *ast.CompositeLit) string {
	for _, e := range l.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := kv.Key.(*ast.Ident); ok && key.Name == "Schema" {
				name := "an operator"
				ast.Inspect(kv.Value, func(n ast.Node) bool {
					if b, ok := n.(*ast.BasicLit); ok && name == "an operator" {
						if text, err := strconv.Unquote(b.Value); err == nil && text != "" {
							name, _, _ = strings.Cut(text, "(")
						}
					}
					return true
				})
				return name
			}
		}
	}
	return ""
}

// follow looks for raw access in the code n, which is part of the declaration in, and in what that calls. path names
// the functions on the way from the rule.
func (s *source) follow(rule string, n ast.Node, in *ast.FuncDecl, path []string, seen map[ast.Node]bool) {
	if n == nil || seen[n] {
		return
	}
	seen[n] = true
	here := in
	if len(path) > 0 && s.funcs[path[len(path)-1]] != nil {
		here = s.funcs[path[len(path)-1]]
	}
	report := func(at ast.Node, what string) {
		p := s.set.Position(at.Pos())
		where := s.family + "." + strings.TrimPrefix(pathEnd(path, "init"), ".")
		if _, ok := memoryExceptions[where]; ok {
			s.used[where] = true
			return
		}
		via := ""
		if len(path) > 0 {
			via = " through " + strings.Join(path, ", ")
		}
		key := fmt.Sprintf("%s:%d", filepath.Base(p.Filename), p.Line)
		f := s.found[key]
		if f.text == "" {
			f.text = rule + " uses " + what + via
		}
		if !slices.Contains(f.rules, rule) {
			f.rules = append(f.rules, rule)
		}
		s.found[key] = f
	}
	ast.Inspect(n, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.SelectorExpr:
			pkg, ok := x.X.(*ast.Ident)
			file := s.set.Position(x.Pos()).Filename
			switch {
			case ok && pkg.Name == "tensor" && slices.Contains(rawNames, x.Sel.Name):
				report(x, "tensor."+x.Sel.Name)
			case ok && pkg.Name == "op" && x.Sel.Name == "Raw":
				report(x, "op.Raw")
			case ok && slices.Contains(s.raw[file], pkg.Name):
				report(x, pkg.Name+"."+x.Sel.Name)
			case x.Sel.Name == "Memory":
				report(x, "Storage.Memory")
			}
			if m := s.funcs["."+x.Sel.Name]; m != nil && !ast.IsExported(x.Sel.Name) {
				s.follow(rule, m.Body, m, append(slices.Clip(path), "."+x.Sel.Name), seen)
			}
			ast.Inspect(x.X, func(y ast.Node) bool { return s.name(rule, y, here, path, seen) })
			return false
		case *ast.KeyValueExpr: // the name of a field is no function
			s.follow(rule, x.Value, here, path, seen)
			return false
		}
		return s.name(rule, x, here, path, seen)
	})
}

// name follows the function that an identifier names: one of the package, or a function literal that the declaration
// around assigns to a variable.
func (s *source) name(rule string, n ast.Node, in *ast.FuncDecl, path []string, seen map[ast.Node]bool) bool {
	if sel, ok := n.(*ast.SelectorExpr); ok {
		s.follow(rule, sel, in, path, seen)
		return false
	}
	id, ok := n.(*ast.Ident)
	if !ok {
		return true
	}
	if f := s.funcs[id.Name]; f != nil && (in == nil || !declares(in, id.Name)) {
		s.follow(rule, f.Body, f, append(slices.Clip(path), id.Name), seen)
		return true
	}
	if in != nil {
		for _, v := range s.values(in.Body, id.Name) {
			s.follow(rule, v, in, path, seen)
		}
	}
	return true
}

// declares reports that a function has a parameter or a variable of this name, which hides the package's function.
func declares(f *ast.FuncDecl, name string) bool {
	is := func(id *ast.Ident) bool { return id.Name == name }
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			found = found || slices.ContainsFunc(n.Names, is)
		case *ast.ValueSpec:
			found = found || slices.ContainsFunc(n.Names, is)
		case *ast.RangeStmt:
			k, _ := n.Key.(*ast.Ident)
			v, _ := n.Value.(*ast.Ident)
			found = found || k != nil && is(k) || v != nil && is(v)
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				id, ok := l.(*ast.Ident)
				found = found || ok && n.Tok == token.DEFINE && is(id)
			}
		}
		return !found
	})
	return found
}

// values are the function literals, and calls of functions that make them, that body assigns to a variable. Of a
// function with several named results only what it assigns to the one in question counts.
func (s *source) values(body *ast.BlockStmt, name string) []ast.Node {
	var out []ast.Node
	if body == nil {
		return nil
	}
	ast.Inspect(body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		for i, l := range a.Lhs {
			id, ok := l.(*ast.Ident)
			if !ok || id.Name != name {
				continue
			}
			if len(a.Rhs) == len(a.Lhs) {
				if f, ok := a.Rhs[i].(*ast.FuncLit); ok {
					out = append(out, f)
				}
				continue
			}
			call, ok := a.Rhs[0].(*ast.CallExpr)
			if !ok {
				continue
			}
			maker, _ := call.Fun.(*ast.Ident)
			if maker == nil {
				continue
			}
			var typ *ast.FuncType
			var made *ast.BlockStmt
			if f := s.funcs[maker.Name]; f != nil {
				typ, made = f.Type, f.Body
			} else if lits := s.values(body, maker.Name); len(lits) == 1 {
				if f, ok := lits[0].(*ast.FuncLit); ok {
					typ, made = f.Type, f.Body
				}
			}
			if typ == nil || typ.Results == nil {
				continue
			}
			var results []string
			for _, r := range typ.Results.List {
				for _, id := range r.Names {
					results = append(results, id.Name)
				}
			}
			if i < len(results) {
				out = append(out, s.values(made, results[i])...)
			}
		}
		return true
	})
	return out
}

func pathEnd(path []string, none string) string {
	if len(path) == 0 {
		return none
	}
	return path[len(path)-1]
}
