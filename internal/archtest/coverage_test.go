package archtest

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

	"github.com/gotorch-dev/torch/internal/shared"
)

// namespaces are those of PyTorch whose public names are counted, with the folders that offer them here. A method of
// Tensor's serves for a function of torch, since Python has most of them twice.
var namespaces = map[string][]string{
	"torch":                           {"", "tensor", "autograd", "func", "#Tensor"},
	"torch.Tensor":                    {"#Tensor"},
	"torch.nn":                        {"nn"},
	"torch.nn.attention":              {"nn/attention"},
	"torch.nn.functional":             {"nn/functional"},
	"torch.nn.init":                   {"nn/init"},
	"torch.nn.utils":                  {"nn/utils"},
	"torch.nn.utils.parametrize":      {"nn/utils/parametrize"},
	"torch.nn.utils.parametrizations": {"nn/utils/parametrizations"},
	"torch.nn.utils.prune":            {"nn/utils/prune"},
	"torch.nn.utils.rnn":              {"nn/utils/rnn"},
	"torch.linalg":                    {"linalg"},
	"torch.fft":                       {"fft"},
	"torch.special":                   {"special"},
	"torch.distributions":             {"distributions", "distributions/constraints", "distributions/transforms"},
	"torch.optim":                     {"optim"},
	"torch.optim.lr_scheduler":        {"optim/lr"},
	"torch.optim.swa_utils":           {"optim/swa", "optim/lr"},
	"torch.func":                      {"func"},
	"torch.autograd":                  {"autograd", ""},
	"torch.autograd.functional":       {"autograd", "autograd/functional"},
	"torch.utils.data":                {"data"},
	"torch.random":                    {""},
	"torch.testing":                   {"torchtest"},
}

// Each public name of PyTorch in these namespaces is exported here, or docs/coverage.md says why it is not.
func TestNamesAreThereOrExplained(t *testing.T) {
	api, err := os.ReadFile(shared.Path(t, "golden/api.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	explained := explanations(t)
	exported := exports(t, "../..")
	used := map[string]bool{}
	for _, line := range strings.Split(string(api), "\n") {
		c := strings.Split(line, "\t")
		if len(c) < 4 || c[3] != "now" || namespaces[c[0]] == nil {
			continue
		}
		ns, name := c[0], c[1]
		var patterns []string // that explain the name
		for _, e := range explained[ns] {
			if ok, _ := filepath.Match(e, name); ok {
				patterns = append(patterns, e)
				used[ns+" "+e] = true
			}
		}
		if len(patterns) == 0 && !slices.ContainsFunc(namespaces[ns], func(dir string) bool {
			return exported[dir][spelled(name)]
		}) {
			t.Errorf("%s.%s is not there, and docs/coverage.md does not say why", ns, name)
		}
	}
	for ns, patterns := range explained {
		for _, e := range patterns {
			if namespaces[ns] != nil && !used[ns+" "+e] && ns != "torch" && ns != "torch.Tensor" {
				t.Errorf("docs/coverage.md leaves out %s of %s, a name that PyTorch does not have", e, ns)
			}
		}
	}
}

// spelled is what Python's and Go's spelling of a name have in common: log_softmax and LogSoftmax, add_ and AddInPlace.
func spelled(name string) string {
	if s := strings.TrimRight(name, "_"); s != name {
		name = s + "InPlace"
	}
	return strings.ToLower(strings.ReplaceAll(name, "_", ""))
}

// exports lists the exported names of each folder, and the methods of Tensor's under "#Tensor".
func exports(t *testing.T, root string) map[string]map[string]bool {
	t.Helper()
	out := map[string]map[string]bool{}
	add := func(dir, name string) {
		if out[dir] == nil {
			out[dir] = map[string]bool{}
		}
		out[dir][spelled(name)] = true
		out[dir][spelled(strings.TrimPrefix(name, "New"))] = true
	}
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if n := d.Name(); path != root && (n[0] == '.' || n[0] == '_' || n == "testdata" || n == "internal") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir, _ := filepath.Rel(root, filepath.Dir(path))
		if dir = filepath.ToSlash(dir); dir == "." {
			dir = ""
		}
		for _, decl := range f.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					add(dir, d.Name.Name)
				} else if s, ok := d.Recv.List[0].Type.(*ast.StarExpr); ok && dir == "tensor" {
					if id, ok := s.X.(*ast.Ident); ok && id.Name == "Tensor" {
						add("#Tensor", d.Name.Name)
					}
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						add(dir, s.Name.Name)
					case *ast.ValueSpec:
						for _, n := range s.Names {
							add(dir, n.Name)
						}
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var quoted = regexp.MustCompile("`([^`]+)`")

// explanations reads the names of the table in docs/coverage.md by namespace. They may be patterns: `cudnn_*`.
func explanations(t *testing.T) map[string][]string {
	t.Helper()
	b, err := os.ReadFile("../../docs/coverage.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	var spaces []string
	for _, line := range strings.Split(string(b), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		if q := quoted.FindAllStringSubmatch(cells[1], -1); len(q) > 0 {
			spaces = nil
			for _, m := range q {
				spaces = append(spaces, m[1])
			}
		}
		for _, m := range quoted.FindAllStringSubmatch(cells[2], -1) {
			for _, s := range spaces {
				out[s] = append(out[s], strings.TrimPrefix(m[1], "Tensor."))
			}
		}
	}
	return out
}
