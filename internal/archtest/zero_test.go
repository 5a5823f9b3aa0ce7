package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// zeroMeansDefault are the numbers in options for which a constructor puts another one in the place of zero, with the
// reason why zero itself cannot be meant. Where PyTorch takes a zero, the field is a tensor.Opt instead, so that a
// given zero is a zero.
var zeroMeansDefault = map[string]string{
	"TorchInfoOptions.ColWidth":      "a column has a width",
	"FigureOptions.Width":            "a figure has a width",
	"FigureOptions.Height":           "a figure has a height",
	"FigureOptions.DPI":              "a figure has pixels",
	"DownloadOptions.MaxBytes":       "a file has bytes",
	"LoaderOptions.BatchSize":        "PyTorch refuses 0",
	"LoaderOptions.Prefetch":         "a worker loads one batch at least",
	"ExportOptions.Opset":            "there is no version 0",
	"AugMixOptions.Alpha":            "Dirichlet's distribution wants positive numbers",
	"RandAugmentOptions.Bins":        "a magnitude has a bin",
	"TrivialAugmentWideOptions.Bins": "a magnitude has a bin",
	"FakeDataOptions.Size":           "a data set has images",
	"FakeDataOptions.NumClasses":     "an image has a class",
	"Options.NumClasses":             "a classifier has classes",
	"GridOptions.NRow":               "a row has images",
	"DrawOptions.FontSize":           "letters have a height",
	"ImgOptions.Quality":             "the encoders want 1 or more",
	"WallTime":                       "nothing was logged in the first second of 1970",
	"FromBufferOptions.Count":        "PyTorch refuses 0",
}

// TestZeroIsZero finds options whose zero is replaced: "if o.Field == 0 { o.Field = 3 }". Such a field takes an
// explicit zero for "not given", silently.
func TestZeroIsZero(t *testing.T) {
	root := filepath.Join("..", "..")
	type place struct{ field, pos string }
	fields := map[string]map[string][]string{} // by folder and field, the types
	replaced := map[string][]place{}           // by folder
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" ||
			d.Name() == "internal" || d.Name() == "bench"):
			return filepath.SkipDir
		case filepath.Ext(p) != ".go" || strings.HasSuffix(p, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(fset, p, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := filepath.Dir(p)
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				s, ok := n.Type.(*ast.StructType)
				if !ok || !n.Name.IsExported() || !strings.HasSuffix(n.Name.Name, "Options") {
					return true
				}
				for _, field := range s.Fields.List {
					if id, ok := field.Type.(*ast.Ident); ok && strings.Contains("int int64 float64", id.Name) {
						if fields[dir] == nil {
							fields[dir] = map[string][]string{}
						}
						for _, name := range field.Names {
							fields[dir][name.Name] = append(fields[dir][name.Name], n.Name.Name)
						}
					}
				}
			case *ast.IfStmt:
				if name := replacesZero(n); name != "" {
					replaced[dir] = append(replaced[dir], place{name, fset.Position(n.Pos()).String()})
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for dir, l := range replaced {
		for _, r := range l {
			for _, typ := range fields[dir][r.field] {
				name := typ + "." + r.field
				if r.field == "WallTime" {
					name = r.field
				}
				found[name] = true
				if zeroMeansDefault[name] == "" {
					t.Errorf("%s: a zero in %s.%s becomes another number: make the field a tensor.Opt", r.pos, typ,
						r.field)
				}
			}
		}
	}
	for name := range zeroMeansDefault {
		if !found[name] {
			t.Errorf("zeroMeansDefault: %s is not replaced any more", name)
		}
	}
}

// replacesZero is the field F of a statement "if x.F == 0 { x.F = … }", also with <=.
func replacesZero(s *ast.IfStmt) string {
	cond, ok := s.Cond.(*ast.BinaryExpr)
	if !ok || cond.Op != token.EQL && cond.Op != token.LEQ {
		return ""
	}
	sel, ok := cond.X.(*ast.SelectorExpr)
	zero, isLit := cond.Y.(*ast.BasicLit)
	if !ok || !isLit || zero.Value != "0" || len(s.Body.List) == 0 {
		return ""
	}
	for _, stmt := range s.Body.List {
		if a, ok := stmt.(*ast.AssignStmt); ok && len(a.Lhs) == 1 {
			if to, ok := a.Lhs[0].(*ast.SelectorExpr); ok && to.Sel.Name == sel.Sel.Name {
				return sel.Sel.Name
			}
		}
	}
	return ""
}
