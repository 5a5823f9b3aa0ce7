package tbcheck

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/gotorch-dev/torch/tensorboard"
)

// write makes a checkable directory: one file with a scalar, listed as dump.
func write(t *testing.T, dump string) string {
	t.Helper()
	dir := t.TempDir()
	e := &tensorboard.Event{WallTime: 1.5, Step: 7, What: tensorboard.EventSummary, Summary: &tensorboard.Summary{
		Values: []*tensorboard.Value{{Tag: "a", Kind: tensorboard.ValueSimple, SimpleValue: 0.1}}}}
	if err := os.Mkdir(filepath.Join(dir, "logdir"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "logdir", "x.tfevents.1"), tensorboard.AppendRecord(nil, e.Append(nil)),
		0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "dump.json"), []byte(dump), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRun(t *testing.T) {
	raw := `{"wallTime":1.5,"step":"7","summary":{"value":[{"tag":"a","simpleValue":0.1}]}}`
	migrated := `{"wallTime":1.5,"step":"7","summary":{"value":[{"tag":"a","tensor":{"dtype":"DT_FLOAT","tensorShape":{},"floatVal":[0.1]},
		"metadata":{"pluginData":{"pluginName":"scalars"},"displayName":"a","dataClass":"DATA_CLASS_SCALAR"}}]}}`
	for _, c := range []struct {
		name, dump              string
		passed, failed, skipped int
	}{
		{"raw", `{"x.tfevents.1":[` + raw + `]}`, 1, 0, 0},
		{"migrated", `{"x.tfevents.1":[` + migrated + `]}`, 1, 0, 0},
		{"wrong value", `{"x.tfevents.1":[{"wallTime":1.5,"step":"7","summary":{"value":[{"tag":"a","simpleValue":0.2}]}}]}`, 0, 1, 0},
		{"extra field", `{"x.tfevents.1":[{"wallTime":1.5,"summary":{"value":[{"tag":"a","simpleValue":0.1}]}}]}`, 0, 1,
			0},
		{"one missing", `{"x.tfevents.1":[` + raw + `,` + raw + `]}`, 1, 1, 0},
		{"not listed", `{}`, 0, 0, 1},
		{"no such file", `{"y.tfevents.1":[` + raw + `]}`, 0, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			rs, err := Run(write(t, c.dump))
			if err != nil {
				t.Fatal(err)
			}
			var p, f, s int
			for _, r := range rs {
				p, f, s = p+r.Passed, f+r.Failed, s+r.Skipped
				if r.Failed+r.Skipped > 0 && r.Reason == "" {
					t.Errorf("%s: no reason", r.Name)
				}
			}
			if p != c.passed || f != c.failed || s != c.skipped {
				b, _ := json.Marshal(rs)
				t.Errorf("got %d/%d/%d, want %d/%d/%d: %s", p, f, s, c.passed, c.failed, c.skipped, b)
			}
		})
	}
}
