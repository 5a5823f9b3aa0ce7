package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The repository, its examples and its documentation use no name that is deprecated: they are what readers copy.
func TestDeprecatedNamesAreNotUsed(t *testing.T) {
	root := filepath.Join("..", "..")
	deprecated := map[string]bool{}
	uses := map[string][]string{} // the places of each name
	fset := token.NewFileSet()
	markdown := regexp.MustCompile(`\.([A-Z]\w+)`)
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case filepath.Ext(p) == ".md" && d.Name() != "CHANGELOG.md" && filepath.Base(filepath.Dir(p)) != "adr":
			text, err := os.ReadFile(p)
			for _, m := range markdown.FindAllStringSubmatch(string(text), -1) {
				uses[m[1]] = append(uses[m[1]], p)
			}
			return err
		case filepath.Ext(p) != ".go":
			return nil
		}
		f, err := parser.ParseFile(fset, p, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, decl := range f.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Doc != nil && strings.Contains(d.Doc.Text(), "\nDeprecated: use ") {
					deprecated[d.Name.Name] = true
				}
			case *ast.GenDecl:
				if s, ok := d.Specs[0].(*ast.TypeSpec); ok && strings.Contains(d.Doc.Text(), "\nDeprecated: use ") {
					deprecated[s.Name.Name] = true
				}
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if x, ok := n.(*ast.SelectorExpr); ok {
				uses[x.Sel.Name] = append(uses[x.Sel.Name], fset.Position(x.Sel.Pos()).String())
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"PowTensor", "ClampTensorOptions"} { // any names of internal/gen/former.go
		if !deprecated[name] {
			t.Errorf("%s is not found among the deprecated names", name)
		}
	}
	for name := range deprecated {
		for _, at := range uses[name] {
			t.Errorf("%s: %s is deprecated", at, name)
		}
	}
}
