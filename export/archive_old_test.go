package export_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/export"
	"github.com/gotorch-dev/torch/tensor"
)

// TestOldLayout loads an archive in the layout of PyTorch 2.6 and 2.7: a linear layer with buffers, one of which is not
// persistent, and a constant. Its program has none of the fields that came later.
func TestOldLayout(t *testing.T) {
	p, err := export.LoadFile("testdata/old_layout.pt2")
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.Call(context.Background(), []tensor.Value{tensor.TensorValue(torch.Ones([]int{3, 4}))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	row := torch.TensorOf[float32](5.0073, 6.9938, 6.8973)
	if !torch.AllClose(v.T, row.Expand([]int{3, 3}), tensor.AllCloseOptions{Atol: tensor.Some(1e-4)}) {
		t.Errorf("results %v, want rows of %v", v.T, row)
	}
	var names []string
	for _, w := range p.StateDict() {
		if names = append(names, w.Name); w.Name == "count" && w.Tensor.Item() != 1 {
			t.Errorf("count is %v after a call, want 1", w.Tensor)
		} else if strings.HasPrefix(w.Name, "l.") != w.Parameter {
			t.Errorf("%s is a parameter: %v", w.Name, w.Parameter)
		}
	}
	if got := strings.Join(names, " "); got != "b count l.bias l.weight" && got != "l.weight l.bias b count" {
		t.Errorf("the state dict has %s", got)
	}
	file := filepath.Join(t.TempDir(), "new.pt2") // and is written in the newer layout
	if err := p.Save(file); err != nil {
		t.Fatal(err)
	}
	if _, err := export.LoadFile(file); err != nil {
		t.Error(err)
	}
}

// Older schemas are refused with their version.
func TestOlderSchema(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("serialized_exported_program.json")
	if err == nil {
		_, err = w.Write([]byte(`{"schema_version": {"major": 7, "minor": 3}}`))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = export.Load(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if !errors.Is(err, export.ErrUnsupported) || !strings.Contains(err.Error(), "schema version 7.3") {
		t.Errorf("an archive of schema 7.3: %v", err)
	}
}
