package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// mutant is one change of one file.
type mutant struct {
	id         int
	file       *file
	line       int
	start, end int    // what is replaced
	what       string // for people
	text       func(id int, src string) string
}

func (m *mutant) String() string {
	return fmt.Sprintf("%s:%d: %s", filepath.Join(strings.TrimPrefix(m.file.pkg, "github.com/gotorch-dev/torch/"),
		filepath.Base(m.file.path)), m.line, m.what)
}

// inside reports whether a mutant's text overlaps one of the others.
func (m *mutant) inside(others []*mutant) bool {
	for _, o := range others {
		if o.file == m.file && m.start < o.end && o.start < m.end {
			return true
		}
	}
	return false
}

// file is a source file with the types of its expressions.
type file struct {
	path, pkg string
	src       []byte
	set       *token.FileSet
	ast       *ast.File
	info      *types.Info
	found     []*mutant
}

// apply writes the file with its mutants in place.
func (f *file) apply(ms []*mutant) []byte {
	sort.Slice(ms, func(i, j int) bool { return ms[i].start < ms[j].start })
	var b bytes.Buffer
	at := 0
	for _, m := range ms {
		b.Write(f.src[at:m.start])
		b.WriteString(m.text(m.id, string(f.src[m.start:m.end])))
		at = m.end
	}
	b.Write(f.src[at:])
	return b.Bytes()
}

// load parses and checks the packages that patterns name, and returns their files that may be changed.
func load(clone string, patterns []string) ([]*file, error) {
	out, err := goCommand(clone, append([]string{"list", "-deps", "-export",
		"-json=Dir,ImportPath,GoFiles,Export,DepOnly"}, patterns...)...)
	if err != nil {
		return nil, err
	}
	type pkg struct {
		Dir, ImportPath, Export string
		GoFiles                 []string
		DepOnly                 bool
	}
	exports := map[string]string{}
	var pkgs []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p pkg
		if err := dec.Decode(&p); err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			pkgs = append(pkgs, p)
		}
	}
	set := token.NewFileSet()
	imp := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var files []*file
	for _, p := range pkgs {
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
		var parsed []*ast.File
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			src, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			tree, err := parser.ParseFile(set, path, src, parser.ParseComments)
			if err != nil {
				return nil, err
			}
			parsed = append(parsed, tree)
			if strings.HasPrefix(name, "zz_") || name == "samples.go" || name == "doc.go" {
				continue // generated, or no logic
			}
			files = append(files, &file{path: path, pkg: p.ImportPath, src: src, set: set, ast: tree, info: info})
		}
		conf := types.Config{Importer: imp}
		if _, err := conf.Check(p.ImportPath, set, parsed, info); err != nil {
			return nil, fmt.Errorf("%s: %w", p.ImportPath, err)
		}
	}
	return files, nil
}

func (f *file) add(from, to token.Pos, what string, text func(id int, src string) string) {
	p := f.set.Position(from)
	f.found = append(f.found, &mutant{file: f, line: p.Line, start: p.Offset, end: f.set.Position(to).Offset,
		what: what,
		text: text})
}

func (f *file) source(n ast.Node) string {
	return string(f.src[f.set.Position(n.Pos()).Offset:f.set.Position(n.End()).Offset])
}

// short is the source of a node on one line, for messages.
func (f *file) short(n ast.Node) string {
	s := strings.Join(strings.Fields(f.source(n)), " ")
	if len(s) > 80 {
		s = s[:77] + "..."
	}
	return s
}

// flipped are the operators that stand for each other.
var flipped = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
}

// sites lists all mutants of the file.
func (f *file) sites() []*mutant {
	for _, d := range f.ast.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			f.early(fn)
			ast.Inspect(fn.Body, f.visit)
		}
	}
	return f.found
}

// early makes the mutant that returns at once from a function without results, or with named ones.
func (f *file) early(fn *ast.FuncDecl) {
	r := fn.Type.Results
	if len(fn.Body.List) == 0 || r != nil &&
		(len(r.List) == 0 || len(r.List[0].Names) == 0 || r.List[0].Names[0].Name == "_") {
		return
	}
	at := fn.Body.List[0].Pos()
	f.add(at, at, fn.Name.Name+" returns at once", func(id int, src string) string {
		return fmt.Sprintf("if mutantOn(%d) { return }; ", id)
	})
}

func (f *file) visit(n ast.Node) bool {
	switch x := n.(type) {
	case *ast.CallExpr:
		f.call(x)
		return false
	case *ast.GenDecl:
		return x.Tok == token.VAR // constants have to stay constant
	case *ast.ArrayType, *ast.KeyValueExpr:
		return false // lengths and keys have to be constant
	case *ast.IfStmt:
		f.add(x.Cond.Pos(), x.Cond.End(), "if "+f.short(x.Cond)+", turned round", func(id int, src string) string {
			return fmt.Sprintf("((%s) != mutantOn(%d))", src, id)
		})
	case *ast.BlockStmt:
		f.statements(x.List)
	case *ast.CaseClause:
		f.statements(x.Body)
	case *ast.BinaryExpr:
		f.binary(x)
	case *ast.BasicLit:
		f.constant(x)
	}
	return true
}

// call makes the mutants inside a call. It leaves out the arguments that only say how much room to provide or how large
// the pieces of parallel work are: no result may depend on them, and package internal/par's tests say so.
func (f *file) call(x *ast.CallExpr) {
	ast.Inspect(x.Fun, f.visit)
	from, to := len(x.Args), len(x.Args)
	switch name := f.callee(x); {
	case name == "make" && len(x.Args) == 3:
		from = 2
	case strings.HasPrefix(name, "github.com/gotorch-dev/torch/internal/par.") && len(x.Args) > 2: // For, Sweep
		from, to = 1, len(x.Args)-1
	}
	for i, a := range x.Args {
		if i < from || i >= to {
			ast.Inspect(a, f.visit)
		}
	}
}

// callee is the full name of the function that is called: "make", "(*sync.Pool).Put".
func (f *file) callee(x *ast.CallExpr) string {
	fun := ast.Unparen(x.Fun)
	if i, ok := fun.(*ast.IndexExpr); ok {
		fun = i.X // type arguments
	}
	var name *ast.Ident
	switch e := fun.(type) {
	case *ast.Ident:
		name = e
	case *ast.SelectorExpr:
		name = e.Sel
	default:
		return ""
	}
	switch o := f.info.Uses[name].(type) {
	case *types.Func:
		return o.Origin().FullName()
	case *types.Builtin:
		return o.Name()
	}
	return ""
}

// harmless are the functions that only give memory back for others to use. A program that leaves out one call of them
// computes the same, with more memory; tests of package internal/mem and of Tidy watch the memory itself.
var harmless = map[string]bool{
	"(*sync.Pool).Put": true,
	"github.com/gotorch-dev/torch/internal/mem.Free":        true,
	"github.com/gotorch-dev/torch/ops/internal/half.Return": true,
	"github.com/gotorch-dev/torch/tensor.ReleaseRaw":        true,
}

// statements makes the mutants that leave out a call, an assignment or a count.
func (f *file) statements(list []ast.Stmt) {
	for _, s := range list {
		switch x := s.(type) {
		case *ast.ExprStmt:
			if c, ok := x.X.(*ast.CallExpr); !ok || f.source(c.Fun) == "panic" || harmless[f.callee(c)] {
				continue
			}
		case *ast.AssignStmt:
			if x.Tok == token.DEFINE {
				continue
			}
		case *ast.IncDecStmt:
		default:
			continue
		}
		f.add(s.Pos(), s.End(), "left out: "+f.short(s), func(id int, src string) string {
			return fmt.Sprintf("if !mutantOn(%d) { %s }", id, src)
		})
	}
}

func (f *file) binary(x *ast.BinaryExpr) {
	if f.info.Types[x].Value != nil {
		return // a constant
	}
	if to, ok := flipped[x.Op]; ok {
		a, b := f.source(x.X), f.source(x.Y)
		f.add(x.Pos(), x.End(), fmt.Sprintf("%s: %s becomes %s", f.short(x), x.Op, to),
			func(id int, src string) string {
				return fmt.Sprintf("(mutantOn(%d) && ((%s) %s (%s)) || !mutantOn(%d) && (%s))", id, a, to, b, id, src)
			})
		return
	}
	if x.Op != token.ADD && x.Op != token.SUB {
		return
	}
	name, ok := f.number(x.Y)
	if !ok {
		return
	}
	f.add(x.Y.Pos(), x.Y.End(), fmt.Sprintf("%s: the other sign", f.short(x)), func(id int, src string) string {
		return fmt.Sprintf("mutantNegate(%d, %s(%s))", id, name, src)
	})
}

// number gives the name of an expression's type, for a conversion, if it is a plain number.
func (f *file) number(e ast.Expr) (string, bool) {
	b, ok := f.info.Types[e].Type.(*types.Basic)
	if !ok || b.Info()&types.IsNumeric == 0 || b.Info()&types.IsUntyped != 0 {
		return "", false
	}
	return b.Name(), true
}

func (f *file) constant(x *ast.BasicLit) {
	name, ok := f.number(x)
	if !ok || x.Kind != token.INT || len(x.Value) > 2 {
		return
	}
	f.add(x.Pos(), x.End(), x.Value+" becomes "+x.Value+"+1", func(id int, src string) string {
		return fmt.Sprintf("mutantAdd(%d, %s(%s))", id, name, src)
	})
}
