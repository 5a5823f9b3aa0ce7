package safetensors

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/internal/atomicfile"
	"github.com/gotorch-dev/torch/tensor"
)

// Index says which file of a folder has which tensor.
type Index struct {
	Metadata  map[string]any    `json:"metadata,omitempty"`
	WeightMap map[string]string `json:"weight_map"`
}

// ReadIndex reads an index, such as model.safetensors.index.json. Names of files must be plain names: the files of a
// model lie beside its index.
func ReadIndex(path string) (*Index, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	b, err := io.ReadAll(io.LimitReader(f, maxHeader+1))
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	if len(b) > maxHeader {
		return nil, fmt.Errorf("%s: %w", path, formatErr("an index of more than %d bytes", maxHeader))
	}
	var x Index
	if err := json.Unmarshal(b, &x); err != nil {
		return nil, fmt.Errorf("%s: %w", path, formatErr("index: %v", err))
	}
	if len(x.WeightMap) == 0 {
		return nil, fmt.Errorf("%s: %w", path, formatErr("this JSON file is no index of weights: it has no weight_map"))
	}
	for name, file := range x.WeightMap {
		if !filepath.IsLocal(file) || strings.ContainsAny(file, `/\`) || file == "." {
			return nil, fmt.Errorf("%s: %w", path, formatErr("the index sends %q to the file %q, want a plain name",
				cut(name), cut(file)))
		}
	}
	return &x, nil
}

// Files lists the files, sorted.
func (x *Index) Files() []string {
	return slices.Compact(slices.Sorted(maps.Values(x.WeightMap)))
}

// Names lists the tensors, sorted.
func (x *Index) Names() []string { return slices.Sorted(maps.Keys(x.WeightMap)) }

// SaveSharded writes a state dict to a folder as Hugging Face's save_pretrained does: files of at most maxBytes each
// ("model-00001-of-00002.safetensors") in the order of the state dict and their index; a tensor that is larger has a
// file of its own. What fits one file becomes model.safetensors alone.
func SaveSharded(dir string, sd *tensor.StateDict, maxBytes int, meta map[string]string) error {
	if maxBytes <= 0 {
		return fmt.Errorf("safetensors: files of at most %d bytes", maxBytes)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	var parts []*tensor.StateDict
	size, total := 0, 0
	for name, t := range sd.All() {
		n := t.Numel() * t.ElementSize()
		if len(parts) == 0 || size+n > maxBytes && size > 0 {
			parts, size = append(parts, &tensor.StateDict{}), 0
		}
		parts[len(parts)-1].Set(name, t)
		size, total = size+n, total+n
	}
	if len(parts) <= 1 {
		return Save(filepath.Join(dir, "model.safetensors"), sd, meta)
	}
	x := Index{Metadata: map[string]any{"total_size": total}, WeightMap: map[string]string{}}
	for i, p := range parts {
		file := fmt.Sprintf("model-%05d-of-%05d.safetensors", i+1, len(parts))
		if err := Save(filepath.Join(dir, file), p, meta); err != nil {
			return err
		}
		for name := range p.All() {
			x.WeightMap[name] = file
		}
	}
	b, err := json.MarshalIndent(&x, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, "model.safetensors.index.json"), func(w io.Writer) error {
		_, err := w.Write(append(b, '\n'))
		return err
	})
}
