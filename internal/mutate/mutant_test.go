package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const source = `package p

const three = 1 + 2

func f(n int, x []float64) (s float64) {
	if n < len(x) && x[0] != 0 {
		s = x[n-1] + x[0]
		g()
	}
	switch n {
	case 4:
		s++
	}
	return s
}

func g() { panic("no") }
`

func sitesOf(t *testing.T, src string) *file {
	t.Helper()
	return sitesIn(t, "p", src)
}

// sitesIn is sitesOf for a package with the given path.
func sitesIn(t *testing.T, pkg, src string) *file {
	t.Helper()
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, "p.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	if _, err := (&types.Config{Importer: importer.Default()}).Check(pkg, set, []*ast.File{tree}, info); err != nil {
		t.Fatal(err)
	}
	f := &file{path: "p.go", pkg: pkg, src: []byte(src), set: set, ast: tree, info: info}
	f.sites()
	return f
}

func TestSites(t *testing.T) {
	f := sitesOf(t, source)
	var got []string
	for _, m := range f.found {
		got = append(got, m.String())
	}
	want := []string{
		"p/p.go:6: f returns at once",
		"p/p.go:6: if n < len(x) && x[0] != 0, turned round",
		"p/p.go:6: n < len(x) && x[0] != 0: && becomes ||",
		"p/p.go:6: n < len(x): < becomes <=",
		"p/p.go:6: x[0] != 0: != becomes ==",
		"p/p.go:6: 0 becomes 0+1",
		"p/p.go:6: 0 becomes 0+1",
		"p/p.go:7: left out: s = x[n-1] + x[0]",
		"p/p.go:8: left out: g()",
		"p/p.go:7: x[n-1] + x[0]: the other sign",
		"p/p.go:7: n-1: the other sign",
		"p/p.go:7: 1 becomes 1+1",
		"p/p.go:7: 0 becomes 0+1",
		"p/p.go:11: 4 becomes 4+1",
		"p/p.go:12: left out: s++",
		"p/p.go:17: g returns at once",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Each mutant alone leaves a file that compiles.
func TestApply(t *testing.T) {
	n := len(sitesOf(t, source).found)
	for i := range n {
		f := sitesOf(t, source)
		m := f.found[i]
		m.id = 1
		text := string(f.apply([]*mutant{m})) + `
func mutantOn(int) bool { return false }
func mutantNegate[T int | float64](_ int, x T) T { return -x }
func mutantAdd[T int | float64](_ int, x T) T { return x + 1 }
`
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, "p.go", text, 0)
		if err == nil {
			_, err = (&types.Config{}).Check("p", set, []*ast.File{tree}, nil)
		}
		if err != nil {
			t.Errorf("%s: %v\n%s", m, err, text)
		}
	}
}

func TestInside(t *testing.T) {
	f, g := &file{}, &file{}
	a := &mutant{file: f, start: 3, end: 9}
	for _, c := range []struct {
		m    *mutant
		want bool
	}{
		{&mutant{file: f, start: 8, end: 12}, true}, {&mutant{file: f, start: 9, end: 12}, false},
		{&mutant{file: f, start: 4, end: 4}, true}, {&mutant{file: g, start: 4, end: 5}, false},
	} {
		if got := c.m.inside([]*mutant{a}); got != c.want {
			t.Errorf("%d to %d: %v", c.m.start, c.m.end, got)
		}
	}
}

// What only costs time or memory is left alone.
func TestHarmless(t *testing.T) {
	f := sitesIn(t, "github.com/gotorch-dev/torch/internal/mem", `package mem

func Free(x []int) {}

func f(n int, keep func(x []int)) {
	x := make([]int, 0, n+2)
	keep(x)
	Free(x)
}
`)
	var got []string
	for _, m := range f.found {
		got = append(got, m.what)
	}
	want := []string{"f returns at once", "left out: keep(x)", "0 becomes 0+1"}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %q, expected %q", got, want)
	}
}

func TestOperators(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.go"), []byte("package x\n\nvar _ = []string{\"add.Tensor(Tensor a, "+
		"Tensor b) -> Tensor\", \"F::elu(Tensor x) -> Tensor\", \"fill_.Scalar(Tensor(a!) self, Scalar v) -> "+
		"Tensor(a!)\", \"a text (of no operator)\"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := operators(dir)
	if want := []string{"add", "elu", "fill"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, expected %q", got, err, want)
	}
}

// Group testing finds the mutants that make a program fail, and runs the program once where there are none.
func TestHalves(t *testing.T) {
	var ms []*mutant
	for i := range 20 {
		ms = append(ms, &mutant{id: i})
	}
	for _, c := range []struct {
		noticed []int
		most    int // runs
	}{{nil, 1}, {[]int{7}, 11}, {[]int{0, 13, 19}, 27}} {
		runs := 0
		var got []int
		for _, m := range halves(ms, func(on []*mutant) bool {
			runs++
			return !slices.ContainsFunc(on, func(m *mutant) bool { return slices.Contains(c.noticed, m.id) })
		}) {
			got = append(got, m.id)
		}
		if !slices.Equal(got, c.noticed) || runs > c.most {
			t.Errorf("%v: got %v in %d runs", c.noticed, got, runs)
		}
	}
}

// A mutant is given only to programs that contain its package, and to a suite over a family only if it is of that
// family.
func TestPrey(t *testing.T) {
	p := &program{pkg: "x", deps: map[string]bool{"x": true, "y": true}}
	suite := &program{pkg: "x", deps: p.deps, family: "y"}
	for _, c := range []struct {
		pkg     string
		own, by int
	}{{"x", 1, 0}, {"y", 1, 1}, {"z", 0, 0}} {
		ms := []*mutant{{file: &file{pkg: c.pkg}}}
		if got, by := len(p.prey(ms)), len(suite.prey(ms)); got != c.own || by != c.by {
			t.Errorf("a mutant of %s: %d and %d, expected %d and %d", c.pkg, got, by, c.own, c.by)
		}
	}
}
