package bottleneckcmd

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBottleneck(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	keep := t.TempDir()
	var out, errOut bytes.Buffer
	if err := run(context.Background(), "./testdata/prog", nil, keep, &out, &errOut); err != nil {
		t.Fatalf("%v\n%s%s", err, out.String(), errOut.String())
	}
	page := out.String()
	for _, want := range []string{"trained", "Operators", "aten::linear", "aten::_fused_sgd_", "0 (Linear)", "Findings",
		"1. ", "Go functions", "flat%"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if n := strings.Count(page, "\n"); n > 75 {
		t.Errorf("%d lines are more than a page", n)
	}
	for _, f := range []string{"cpu.pprof", "trace.json", "report.txt"} {
		if info, err := os.Stat(filepath.Join(keep, f)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
}

func TestNoPrograms(t *testing.T) {
	for _, p := range []string{"./testdata/none", ".", "./testdata/none.go"} {
		if err := run(context.Background(), p, nil, "", &bytes.Buffer{}, &bytes.Buffer{}); err == nil {
			t.Errorf("%s: no error", p)
		}
	}
}

func TestRenameMain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.go")
	const src = "package main\n\ntype t int\n\nfunc (t) main() {}\n\nfunc main() { t(0).main() }\n"
	if err := os.WriteFile(path, []byte(src), 0o666); err != nil {
		t.Fatal(err)
	}
	got, err := renameMain(path)
	if want := strings.Replace(src, "func main()", "func "+renamed+"()", 1); err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
}
