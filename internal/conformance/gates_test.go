package conformance

import (
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/internal/atomicfile"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/shared"
)

var update = flag.Bool("update", false, "write what fails and what is skipped to known.tsv")

// check runs one gate over a directory, or brings the list up to date.
func check(t *testing.T, g Gate, kind, dir string) []golden.Result {
	t.Helper()
	known, err := LoadKnown()
	if err != nil {
		t.Fatal(err)
	}
	run := samples[g.Kind]
	if run == nil {
		run = func(dir string) ([]golden.Result, error) { return g.Run(dir, nil, nil) }
	}
	results, err := run(dir)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		old, err := os.ReadFile("known.tsv") // an earlier gate may have written it
		if err != nil {
			t.Fatal(err)
		}
		if known, err = parseKnown(string(old)); err != nil {
			t.Fatal(err)
		}
		known.Update(kind, results)
		if err := atomicfile.Write("known.tsv", func(w io.Writer) error {
			_, err := io.WriteString(w, known.text())
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	passed := 0
	for _, r := range results {
		passed += r.Passed
	}
	if passed == 0 {
		t.Error("no case passed")
	}
	for _, w := range known.Check(kind, results, true) {
		t.Error(w)
	}
	if t.Failed() {
		t.Log("go test ./internal/conformance -update rewrites known.tsv; new failures need a reason written there")
	}
	return results
}

// kernels are the gates that compare operators one by one: those that also run without assembly.
var kernels = map[string]bool{"distributions": true, "modules": true, "opinfo": true, "optim": true, "rng": true}

// TestGolden runs every gate over the reference data beside the repository. Each file of a gate's folder has to be one
// that its runner looks at.
func TestGolden(t *testing.T) {
	for _, g := range Gates {
		t.Run(g.Kind, func(t *testing.T) {
			dir := shared.Path(t, g.Folder)
			if testing.Short() && !kernels[g.Kind] {
				t.Skip("-short: compares what is made of operators, not the operators")
			}
			check(t, g, g.Kind, dir)
			every(t, dir, func(path string) {
				if !golden.Noted(path) && !about(path) {
					t.Errorf("no runner looks at %s", path)
				}
			})
		})
	}
}

// others are the parts of the golden data that no gate runs: the test that compares with them, or why nothing does yet.
var others = map[string]string{
	"README.md":      "describes the data",
	"api.tsv":        "a list of names",
	"graphs":         "gates onnx, pt2 and torchscript; modcheck compares names with the programs of torch.export",
	"promotion.json": "ops/pointwise",
	"schemas.tsv":    "ops/all",
	"text":           "no language models of Hugging Face and no tokenizers of theirs yet",
	"train":          "internal/curves",
}

// TestNothingOutside finds golden data that neither a gate nor another test looks at.
func TestNothingOutside(t *testing.T) {
	entries, err := os.ReadDir(shared.Path(t, "golden"))
	if err != nil {
		t.Fatal(err)
	}
	gates := map[string]int{}
	for _, g := range Gates {
		gates[g.Folder]++
	}
	for _, e := range entries {
		owners := gates["golden/"+e.Name()]
		if others[e.Name()] != "" {
			owners++
		}
		if owners != 1 {
			t.Errorf("golden/%s belongs to %d gates, want one", e.Name(), owners)
		}
	}
}

// about reports files that describe the data, and the files beside the events of a log, which the tests of package
// tensorboard compare with what it writes.
func about(path string) bool {
	switch filepath.Base(path) {
	case "NOTES.md", "README.md", "skipped.json":
		return true
	case "projector_config.pbtxt", "metadata.tsv", "sprite.png", "tensors.tsv":
		return strings.Contains(filepath.ToSlash(path), "golden/tensorboard/logdir/")
	}
	return false
}

func every(t *testing.T, dir string, f func(path string)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			f(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
