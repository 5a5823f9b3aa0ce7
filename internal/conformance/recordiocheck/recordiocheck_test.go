package recordiocheck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func run(t *testing.T, dir string) map[string]Result {
	t.Helper()
	results, err := Run(dir)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]Result{}
	for _, r := range results {
		t.Logf("%-60s %3d passed %3d failed %3d skipped  %s", r.Name, r.Passed, r.Failed, r.Skipped, r.Reason)
		byName[r.Name] = r
	}
	return byName
}

func TestOwn(t *testing.T) {
	results := run(t, "testdata")
	for _, name := range []string{"plain", "images", "proto", "bad_magic", "bad_start", "cut", "long_length",
		"open_split", "bad_flag"} {
		r := results[name+".rec"]
		if r.Failed > 0 || r.Passed < 4 || r.Skipped > 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	// The generator is no record file; index, list and JSON files are no entries.
	if len(results) != 10 || results["gen.py"].Skipped != 1 {
		t.Errorf("%d results", len(results))
	}
}

// The runner has to notice when a file is not what stands beside it.
func TestNoticesDifferences(t *testing.T) {
	cases := []struct {
		name, file string
		old, new   string
		reason     string
	}{
		{"index astray", "plain.idx", "997\t8\n", "997\t12\n", "key 997"},
		{"index form", "plain.idx", "997\t8\n", "997\t 8\n", "other bytes"},
		{"offset", "images.json", `"offset": 0`, `"offset": 4`, "offset"},
		{"label", "images.json", `"label": 4`, `"label": 5`, "label"},
		{"image size", "images.json", "\"image\": [\n    3", "\"image\": [\n    4", "image"},
		{"features", "proto.json", "-2.25", "-2.5", "features"},
		{"list", "images.lst", "4.000000", "3.000000", "list: index 0"},
		{"error offset", "cut.json", `"error_offset": 80`, `"error_offset": 84`, "offset 84"},
		{"payload", "plain.rec", "abcd", "abce", "record"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(filepath.Join(dir, c.file))
			if err != nil || !strings.Contains(string(b), c.old) {
				t.Fatalf("%s does not contain %q (%v)", c.file, c.old, err)
			}
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(strings.Replace(string(b), c.old, c.new, 1)),
				0o666); err != nil {
				t.Fatal(err)
			}
			r := run(t, dir)[strings.TrimSuffix(c.file, filepath.Ext(c.file))+".rec"]
			if r.Failed == 0 || !strings.Contains(r.Reason, c.reason) {
				t.Errorf("%+v, want a failure about %q", r, c.reason)
			}
		})
	}
}

func TestMissingFolder(t *testing.T) {
	if _, err := Run(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no error")
	}
}
