package filecheck

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/serialize/npy"
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
	Inputs  []struct {
		File string `json:"file"`
	} `json:"inputs"`
	Outputs []struct {
		File string `json:"file"`
	} `json:"outputs"`
	Grad struct { // of the sum over the outputs of their mean squares
		Value  float64  `json:"value"`
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
	make := networks[m.Arch]
	if make == nil || len(m.Inputs) != 1 {
		tally.Add(name, "forward", golden.Skip(fmt.Sprintf("no network %q with %d inputs yet", m.Arch, len(m.Inputs))))
		return nil
	}
	net := make()
	out, err := forward(&m, net, file, filepath.Dir(path))
	tally.Add(name, "forward", err)
	if err == nil && m.Grad.Params != nil {
		tally.Add(name, "backward", backward(&m, net, out))
	}
	return nil
}

// forward loads the weights into the network and compares its outputs.
func forward(m *meta, net network, file, dir string) (out []*tensor.Tensor, err error) {
	v, err := serialize.LoadFile(file, onCPU)
	if err != nil {
		return nil, err
	}
	sd, err := findWeights(v, 0)
	if err != nil {
		return nil, err
	}
	if err := nn.LoadStateDict(net, sd); err != nil {
		return nil, err
	}
	nn.Eval(net)
	x, err := array(filepath.Join(dir, m.Inputs[0].File))
	if err != nil {
		return nil, err
	}
	if err := tensor.Try(func() { out = net.outputs(x) }); err != nil {
		return nil, err
	}
	if len(out) != len(m.Outputs) {
		return nil, fmt.Errorf("%d outputs, recorded are %d", len(out), len(m.Outputs))
	}
	for i, o := range m.Outputs {
		want, err := array(filepath.Join(dir, o.File))
		if err != nil {
			return nil, err
		}
		if !tensor.SameShape(out[i].Shape(), want.Shape()) {
			return nil, fmt.Errorf("output %d has shape %v, want %v", i, out[i].Shape(), want.Shape())
		}
		far := out[i].Detach().Sub(want).Abs().Max().Item()
		if most := 1e-4 * math.Max(1, want.Abs().Max().Item()); !(far <= most) {
			return nil, fmt.Errorf("output %d is off by %g, at most %g is allowed", i, far, most)
		}
	}
	return out, nil
}

func array(path string) (*tensor.Tensor, error) {
	golden.Note(path)
	a, err := npy.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return a.Tensor()
}

// backward compares the gradients of the parameters: their sums and the sums of their magnitudes.
func backward(m *meta, net network, out []*tensor.Tensor) error {
	var loss *tensor.Tensor
	err := tensor.Try(func() {
		for _, o := range out {
			o = o.To(tensor.Float64)
			l := o.Mul(o).Mean()
			if loss == nil {
				loss = l
			} else {
				loss = loss.Add(l)
			}
		}
		loss.Backward()
	})
	if err != nil {
		return err
	}
	if got, want := loss.Item(), m.Grad.Value; math.Abs(got-want) > 1e-4*math.Abs(want) {
		return fmt.Errorf("loss %v, want %v", got, want)
	}
	for _, p := range m.Grad.Params {
		name, _ := p[0].(string)
		sum, _ := p[1].(float64)
		size, _ := p[2].(float64)
		t, err := nn.GetParameter(net, name)
		if err != nil {
			return err
		}
		if t.Grad() == nil {
			return fmt.Errorf("%s has no gradient", name)
		}
		g := t.Grad().To(tensor.Float64)
		// Sums cancel out: the magnitudes are the measure for both.
		if s, a := g.Sum().Item(), g.Abs().Sum().Item(); math.Abs(a-size) > 1e-3*size+1e-6 ||
			math.Abs(s-sum) > 1e-3*size+1e-6 {
			return fmt.Errorf("the gradient of %s has sum %g and magnitude %g, want %g and %g", name, s, a, sum, size)
		}
	}
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
