// Package cookbook holds the table of the recipes that the project promises: rows.tsv names the tests and examples of
// each by its number in the list of promises.
package cookbook

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each row stands once, in order, and names tests or examples that exist; the numbers stand nowhere else.
func TestRows(t *testing.T) {
	recipes := recipesOf(t)
	text, err := os.ReadFile("rows.tsv")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if lines[0] != "row\texamples" {
		t.Errorf("the heading is %q", lines[0])
	}
	number, before := regexp.MustCompile(`^S\d-\d{3}$`), ""
	for _, line := range lines[1:] {
		row, examples, _ := strings.Cut(line, "\t")
		if !number.MatchString(row) {
			t.Errorf("%q is no row", line)
		}
		if row <= before {
			t.Errorf("%s stands after %s", row, before)
		}
		before = row
		names := strings.Split(examples, " ")
		for i, name := range names {
			if !recipes[name] || slices.Contains(names[:i], name) {
				t.Errorf("%s: %q is no test or example of the cookbook, or stands there twice", row, name)
			}
		}
	}
}

// recipesOf are the tests and examples of all chapters: "tensors.TestCat".
func recipesOf(t *testing.T) map[string]bool {
	recipes := map[string]bool{}
	files, err := filepath.Glob(filepath.Join("*", "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil &&
				(strings.HasPrefix(fn.Name.Name, "Test") || strings.HasPrefix(fn.Name.Name, "Example")) {
				recipes[filepath.Base(filepath.Dir(name))+"."+fn.Name.Name] = true
			}
		}
	}
	return recipes
}

// Chapters and documents speak of topics: the numbers of rows mean nothing to their readers.
func TestRowsStandInTheTableAlone(t *testing.T) {
	number := regexp.MustCompile(`\bS\d-\d{3}\b|_s\d_test`)
	for _, root := range []string{".", filepath.Join("..", "docs"), filepath.Join("..", "README.md")} {
		err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(p) != ".go" && filepath.Ext(p) != ".md" {
				return err
			}
			text, err := os.ReadFile(p)
			if m := number.Find(append(text, p...)); m != nil && p != "rows_test.go" {
				t.Errorf("%s speaks of %s", p, m)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
