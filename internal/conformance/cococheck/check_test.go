package cococheck

import (
	"os"
	"path/filepath"
	"testing"
)

// A runner that cannot fail proves nothing.
func TestWrongDataFails(t *testing.T) {
	dir := t.TempDir()
	const wrong = `{"polygons": [{"h": 4, "w": 4, "polygons": [[0, 0, 2, 0, 2, 2, 0, 2]],
		"rles": [{"size": [4, 4], "counts": "0:4"}], "merged": {"size": [4, 4], "counts": ""}, "intersect": {"size": [4, 4], "counts": ""}}],
		"iou": [{"kind": "bbox", "dt": [[0, 0, 2, 2]], "gt": [[0, 0, 2, 2]], "iscrowd": [0], "iou": [[0.5]]}, {"kind": "?"}],
		"eval": {"x": {"type": "bbox"}}}`
	if err := os.WriteFile(filepath.Join(dir, "index.json"), []byte(wrong), 0o644); err != nil {
		t.Fatal(err)
	}
	results, err := Run(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Result{}
	for _, r := range results {
		got[r.Name] = r
	}
	if r := got["polygons"]; r.Failed != 1 || r.Reason == "" {
		t.Errorf("polygons: %+v", r)
	}
	if r := got["iou"]; r.Failed != 1 || r.Skipped != 1 {
		t.Errorf("iou: %+v", r)
	}
	if r := got["eval"]; r.Skipped != 1 {
		t.Errorf("eval: %+v", r)
	}
	if _, err := Run(filepath.Join(dir, "none")); err == nil {
		t.Error("no error for a missing directory")
	}
}
