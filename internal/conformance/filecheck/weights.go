package filecheck

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// RunWeights is Run for a folder of published weights, beside which stand results of the networks that they belong to:
// in expect/NAME/meta.json the file, the network, how many parameters it has, and the files of its inputs and outputs.
func RunWeights(dir string, only *regexp.Regexp, verbose func(string, ...any)) ([]golden.Result, error) {
	results, err := Run(dir, only, verbose)
	if err != nil {
		return nil, err
	}
	tally := golden.Tally{Verbose: verbose}
	metas, err := filepath.Glob(filepath.Join(dir, "expect", "*", "meta.json"))
	if err != nil {
		return nil, err
	}
	for _, path := range metas {
		name := "expect/" + filepath.Base(filepath.Dir(path))
		if only == nil || only.MatchString(name) {
			if err := expected(&tally, dir, name, path); err != nil {
				return nil, fmt.Errorf("filecheck: %s: %w", path, err)
			}
		}
	}
	return append(results, tally.Results()...), nil
}

// meta is a recorded result.
type meta struct {
	Weights string `json:"weights"`
	Arch    string `json:"arch"`
	Params  int    `json:"params"`
	Grad    struct {
		Params [][3]any `json:"params"` // name, sum, sum of magnitudes
	} `json:"grad"`
}

func expected(tally *golden.Tally, dir, name, path string) error {
	b, err := golden.ReadFile(path)
	if err != nil {
		return err
	}
	var m meta
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	// The path is that of the machine that recorded the results: the file of that name is meant, or the one whose name
	// ends with it.
	file, base := "", filepath.Base(m.Weights)
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && (d.Name() == base || strings.HasSuffix(d.Name(), "_"+base) && file == "") {
			file = p
		}
		return err
	})
	if err != nil {
		return err
	}
	if file == "" {
		tally.Add(name, "params", golden.Skip("the file "+base+" is not there"))
		return nil
	}
	tally.Add(name, "params", params(&m, file))
	tally.Add(name, "forward", golden.Skip(fmt.Sprintf("no network %q yet", m.Arch)))
	return nil
}

// params finds the parameters whose gradients were recorded, and counts all: the tensors but for the buffers of batch
// norms.
func params(m *meta, file string) error {
	v, err := serialize.LoadFile(file, onCPU)
	if err != nil {
		return err
	}
	sd, err := findWeights(v, 0)
	if err != nil {
		return err
	}
	total := 0
	for name, t := range sd.All() {
		switch name[strings.LastIndexByte(name, '.')+1:] {
		case "running_mean", "running_var", "num_batches_tracked":
		default:
			total += t.Numel()
		}
	}
	if m.Params > 0 && total != m.Params {
		return fmt.Errorf("%d parameters, recorded are %d", total, m.Params)
	}
	for _, p := range m.Grad.Params {
		if name, _ := p[0].(string); !sd.Has(name) {
			return fmt.Errorf("no tensor %q, whose gradient is recorded", name)
		}
	}
	return nil
}

// findWeights is the state dict of a file, or the first one within its dicts.
func findWeights(v any, depth int) (*tensor.StateDict, error) {
	switch x := v.(type) {
	case *serialize.Object:
		return x.StateDict()
	case *serialize.Dict:
		sd, err := x.StateDict()
		if err == nil && sd.Len() > 0 {
			return sd, nil
		}
		for _, inner := range x.All() {
			if depth < 3 {
				if sd, err := findWeights(inner, depth+1); err == nil && sd.Len() > 0 {
					return sd, nil
				}
			}
		}
	}
	return nil, fmt.Errorf("no state dict in the file")
}
