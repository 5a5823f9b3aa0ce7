package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/gotorch-dev/torch/internal/goname"
	"github.com/gotorch-dev/torch/tensor"
)

type def struct {
	text                string // the schema
	sch                 *tensor.Schema
	doc, goName, scalar string
	known               constants // of the package
	formNames           string
	inPlace, out, plain bool
	aliases             []string
	pos                 token.Position
	same                *tensor.Schema // of the operator that a function of torch.nn.functional is under another name
}

var schemaRE = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_:.]*\(.*\) -> .+$`)

// read finds the schemas of one family.
func read(dir string) []*def {
	fset := token.NewFileSet()
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	sort.Strings(files)
	helpers := map[string][]string{}
	var parsed []*ast.File
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		check(err)
		parsed = append(parsed, f)
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Doc == nil {
				continue
			}
			for _, c := range fn.Doc.List {
				if rest, ok := strings.CutPrefix(c.Text, "//gen:"); ok {
					fields := strings.Fields(rest)
					helpers[fields[0]] = fields[1:]
				}
			}
		}
	}
	known := constantsOf(parsed)
	var defs []*def
	seen := map[token.Pos]bool{}
	add := func(lit ast.Expr) *def {
		s := known.text(lit)
		if seen[lit.Pos()] || !schemaRE.MatchString(s) {
			return nil
		}
		seen[lit.Pos()] = true
		sch, err := tensor.ParseSchema(s)
		check(err)
		d := &def{text: s, sch: sch, known: known, pos: fset.Position(lit.Pos())}
		defs = append(defs, d)
		return d
	}
	for _, f := range parsed {
		ast.Inspect(f, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.CompositeLit:
				var d *def
				for _, e := range x.Elts {
					if kv, ok := e.(*ast.KeyValueExpr); ok && ident(kv.Key) == "Schema" {
						d = add(kv.Value)
					}
				}
				if d != nil {
					for _, e := range x.Elts {
						if kv, ok := e.(*ast.KeyValueExpr); ok {
							d.field(ident(kv.Key), kv.Value)
						}
					}
				}
			case *ast.CallExpr:
				fn := ident(x.Fun)
				flags, ok := helpers[fn]
				if !ok || len(x.Args) == 0 {
					return true
				}
				d := add(x.Args[0])
				if d == nil {
					return true
				}
				for _, fl := range flags {
					k, v, _ := strings.Cut(fl, "=")
					switch k {
					case "Go":
						d.goName = v
					case "InPlace":
						d.inPlace = true
					case "Out":
						d.out = true
					case "Plain":
						d.plain = true
					case "Scalar":
						d.scalar = v
					}
				}
				if len(x.Args) > 1 {
					d.doc = known.text(x.Args[1])
				}
				for _, a := range x.Args[1:] {
					if cl, ok := a.(*ast.CompositeLit); ok {
						for _, e := range cl.Elts {
							if kv, ok := e.(*ast.KeyValueExpr); ok {
								d.field(ident(kv.Key), kv.Value)
							}
						}
					}
				}
			}
			return true
		})
	}
	for _, f := range parsed {
		ast.Inspect(f, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				if d := functionOnly(known.text(e)); d != nil {
					d.known, d.pos = known, fset.Position(e.Pos())
					defs = append(defs, d)
					return false
				}
			}
			return true
		})
	}
	return defs
}

// functionOnly is the declaration of a function of functionsOnly by its schema, nil for other texts.
func functionOnly(text string) *def {
	if !schemaRE.MatchString(text) {
		return nil
	}
	s, err := tensor.ParseSchema(text)
	check(err)
	overloads := []string{"", "input", "Tensor"}
	if s.Namespace != "aten" || !functionsOnly[s.Name] || !slices.Contains(overloads, s.Overload) {
		return nil
	}
	return &def{text: text, sch: s, goName: goname.Of(s.Name), doc: "has the arguments of Python's torch." + s.Name +
		"; package nn/functional has the function with those of torch.nn.functional, and says what it computes."}
}

func ident(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	}
	return ""
}

func (d *def) field(name string, v ast.Expr) {
	str := func() string { return d.known.text(v) }
	switch name {
	case "Doc":
		d.doc = str()
	case "Go":
		d.goName = str()
	case "Scalar":
		d.scalar = str()
	case "FormNames":
		d.formNames = str()
	case "InPlace":
		d.inPlace = ident(v) == "true"
	case "Out":
		d.out = ident(v) == "true"
	case "Plain":
		d.plain = true
	case "Aliases":
		if cl, ok := v.(*ast.CompositeLit); ok {
			for _, e := range cl.Elts {
				d.aliases = append(d.aliases, d.known.text(e))
			}
		}
	}
}
