package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/tensor"
)

// TestNumberNames holds up the rule of docs/adr/0008-names.md: the bare name takes tensors; XScalar takes a number
// where X takes a tensor, and where several operands may be numbers, XScalar the last, XScalarSelf self, XScalars all
// of them.
func TestNumberNames(t *testing.T) {
	root := filepath.Join("..", "..")
	goNames := goNamesOf(t, root)
	schemas := map[string][]*tensor.Schema{} // by name
	families, err := filepath.Glob(filepath.Join(root, "ops", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, d := range read(f) {
			forms, err := tensor.FormsOf(&tensor.Def{Schema: d.text, Scalar: d.scalar, InPlace: d.inPlace,
				Out: d.out, Aliases: d.aliases, FormNames: d.formNames})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range forms {
				if goNames[f.Schema.FullName()] != "" {
					schemas[f.Schema.Name] = append(schemas[f.Schema.Name], f.Schema)
				}
			}
		}
	}
	n := 0
	for _, l := range schemas {
		for _, bare := range l {
			if slices.ContainsFunc(l, func(s *tensor.Schema) bool { return len(numbersFor(s, bare)) > 0 }) {
				continue // a form with a number itself
			}
			forms := slices.DeleteFunc(slices.Clone(l),
				func(s *tensor.Schema) bool { return len(numbersFor(bare, s)) == 0 })
			for _, s := range forms {
				at := numbersFor(bare, s)
				suffix := "Scalar"
				if len(forms) > 1 && len(at) > 1 {
					suffix = "Scalars"
				} else if len(forms) > 1 && s.Params[at[0]].Name == "self" {
					suffix = "ScalarSelf"
				}
				base, inPlace := strings.CutSuffix(goNames[bare.FullName()], "InPlace")
				want := base + suffix
				if inPlace {
					want += "InPlace"
				}
				if got := goNames[s.FullName()]; got != want {
					t.Errorf("%s is %s beside %s for %s: want %s", s.FullName(), got, goNames[bare.FullName()],
						bare.FullName(), want)
				}
				n++
			}
		}
	}
	if n < 50 {
		t.Errorf("compared %d pairs of names: the search for them has failed", n)
	}
}

// otherName is what PyTorch calls some operands where they are numbers.
var otherName = map[string]string{"src": "value", "test_elements": "test_element"}

// numbersFor are the parameters that are numbers in s and tensors in bare, nil unless the two are alike otherwise.
func numbersFor(bare, s *tensor.Schema) []int {
	if len(bare.Params) != len(s.Params) {
		return nil
	}
	var at []int
	for i := range s.Params {
		a, b := &bare.Params[i], &s.Params[i]
		switch {
		case a.Kind == tensor.KTensor && b.Kind == tensor.KScalar && (a.Name == b.Name || otherName[a.Name] == b.Name):
			at = append(at, i)
		case a.Kind != b.Kind:
			return nil
		}
	}
	return at
}

var slotRE = regexp.MustCompile(`(?m)^var slot(\w+) = (?:tensor\.Slot|slot)\("(aten::[^"]+)"\)`)

// goNamesOf are the names of the generated functions and methods by the full names of the operators.
func goNamesOf(t *testing.T, root string) map[string]string {
	names := map[string]string{}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(folder), "zz_*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range slotRE.FindAllStringSubmatch(string(text), -1) {
				names[m[2]] = m[1]
			}
		}
	}
	return names
}

// A constant of a function hides neither that of another function nor the package's elsewhere.
func TestConstants(t *testing.T) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "x.go", `package x
const doc = "package"
func f() { const doc = "f"; { const doc = "block"; use(doc + "1") }; use(doc + "2") }
func g() { const doc = "g"; use(doc + "3") }
func h() { use(doc + "4"); use(other) }`, 0)
	if err != nil {
		t.Fatal(err)
	}
	known := constantsOf([]*ast.File{f})
	var got []string
	ast.Inspect(f, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			got = append(got, known.text(c.Args[0]))
		}
		return true
	})
	if want := []string{"block1", "f2", "g3", "package4", ""}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
