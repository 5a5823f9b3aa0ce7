package onnxcheck

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/serialize/npy"
	"github.com/gotorch-dev/torch/tensor"
)

// array is a .npy file with the name of an input or output.
type array struct{ Name, File string }

// meta runs a folder with meta.json.
func (r *runner) meta(name, dir string) {
	b, err := golden.ReadFile(filepath.Join(dir, "meta.json"))
	var m struct {
		Archive, SHA256 string
		Cases           []struct {
			Args, Inputs, Outputs []array
			RTol, ATol            float64
		}
	}
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	var path string
	if err == nil {
		path, err = r.find(m.SHA256)
	}
	if err != nil {
		r.tally.Add(name, "load", err)
		return
	}
	model, err := open(path)
	if err != nil || len(m.Cases) == 0 {
		r.tally.Add(name, "load", err)
		return
	}
	for i, c := range m.Cases {
		tol := golden.Tolerance{RTol: max(c.RTol, 1e-3), ATol: max(c.ATol, 1e-5)}
		want := outputs{tol: func(_ string, dt tensor.DType) golden.Tolerance {
			if dt.IsIntOrBool() {
				return golden.Tolerance{}
			}
			return tol
		}}
		inputs := map[string]tensor.Value{}
		cerr := func() error {
			for j, a := range append(c.Args, c.Inputs...) {
				v, err := readArray(dir, a)
				if err != nil {
					return err
				}
				if a.Name == "" && j < len(model.Inputs()) {
					a.Name = model.Inputs()[j].Name
				}
				inputs[a.Name] = v
			}
			for j, a := range c.Outputs {
				v, err := readArray(dir, a)
				if err != nil {
					return err
				}
				if a.Name == "" && j < len(model.Outputs()) {
					a.Name = model.Outputs()[j].Name
				}
				want.names, want.vals = append(want.names, a.Name), append(want.vals, v)
			}
			return call(model, inputs, want)
		}()
		r.tally.Add(name, fmt.Sprint(i), cerr)
	}
}

// find is the file with a sha256.
func (r *runner) find(sum string) (string, error) {
	if r.opt.Files == "" {
		return "", golden.Skip("the model is among the files of -files, which is not given")
	}
	if r.sums == nil {
		r.sums = map[string]string{}
		err := filepath.WalkDir(r.opt.Files, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".onnx" {
				return err
			}
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			h := sha256.New()
			if _, err := io.Copy(h, f); err != nil {
				return err
			}
			r.sums[hex.EncodeToString(h.Sum(nil))] = path
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	if path := r.sums[sum]; path != "" {
		return path, nil
	}
	return "", fmt.Errorf("no file of -files has the sha256 %s", sum)
}

func readArray(dir string, a array) (tensor.Value, error) {
	path, err := golden.Path(dir, a.File)
	if err != nil {
		return tensor.Value{}, err
	}
	golden.Note(path)
	x, err := npy.ReadFile(path)
	if err != nil {
		return tensor.Value{}, err
	}
	t, err := golden.TensorOf(x)
	return tensor.TensorValue(t), err
}

// steps is the tolerance of a quantized model: one step of the scale of the output, which is the scale of the last
// node that quantizes it.
func (r *runner) steps(path string, want outputs) func(string, tensor.DType) golden.Tolerance {
	scales := map[string]float64{}
	b, err := os.ReadFile(path)
	if err == nil {
		if m, err := onnxpb.ReadModel(b); err == nil {
			for _, name := range want.names {
				scales[name] = scaleOf(m.Graph, name, 0)
			}
		}
	}
	return func(name string, dt tensor.DType) golden.Tolerance {
		t := golden.ToleranceOf(dt).Times(10)
		if dt.IsInt() {
			t.ATol = 1
		} else if s := scales[name]; s > 0 {
			t.ATol += 1.001 * s
		}
		return t
	}
}

// scaleOf follows a value back to a scale that is an initializer: input 1 of DequantizeLinear.
func scaleOf(g *onnxpb.Graph, name string, depth int) float64 {
	for _, n := range g.Nodes {
		for _, o := range n.Outputs {
			if o != name || depth > 8 || len(n.Inputs) == 0 {
				continue
			}
			if n.Op == "DequantizeLinear" && len(n.Inputs) > 1 {
				for _, t := range g.Initializers {
					if t.Name == n.Inputs[1] {
						if x, err := t.Decode(nil); err == nil && x.Numel() > 0 {
							return x.Max().Num().F
						}
					}
				}
			}
			return scaleOf(g, n.Inputs[0], depth+1)
		}
	}
	return 0
}
