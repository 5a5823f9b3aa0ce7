package cococheck

import (
	"os"
	"path/filepath"
	"testing"
)

// TestForms reads objects in every form that pycocotools takes: all are the same square of 2 x 2.
func TestForms(t *testing.T) {
	const square = `{"size": [4, 4], "counts": [0, 2, 2, 2, 10]}`
	for _, form := range []string{square, `{"size": [4, 4], "counts": "02208"}`, `[[0, 0, 2, 0, 2, 2, 0, 2]]`,
		`[0, 0, 2, 0, 2, 2, 0, 2]`, `[0, 0, 2, 2]`, `{"bbox": [0, 0, 2, 2]}`,
		`{"polygons": [[0, 0, 2, 0, 2, 2, 0, 2]]}`,
		`{"segmentation": [[0, 0, 2, 0, 2, 2, 0, 2]]}`} {
		dir := t.TempDir()
		index := `{"uncompressed": [{"in": ` + form + `, "h": 4, "w": 4, "rle": ` + square + `}],
			"iou": [{"kind": "mixed", "size": [4, 4], "dt": [` + form + `, ` + square + `], "gt": [` + square + `],
			"iscrowd": [0], "iou": [[1], [1]]}]}`
		if err := os.WriteFile(filepath.Join(dir, "index.json"), []byte(index), 0o644); err != nil {
			t.Fatal(err)
		}
		results, err := Run(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			if n := len(r.Cases); r.Failed > 0 || r.Skipped > 0 || (r.Name == "iou" || r.Name == "uncompressed") &&
				n != 1 {
				t.Errorf("%s: %+v", form, r)
			}
		}
	}
}

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
