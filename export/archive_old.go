package export

import (
	"bytes"
	"fmt"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// oldModel is the program in the layout that PyTorch had before 2.8: one file with the program, and one of torch.save
// each with the state dict, the constants and the example inputs. torch.export.load reads it, too
// (torch/export/__init__.py).
const oldModel = "serialized_exported_program.json"

func (a *archive) loadOld() (*Program, error) {
	raw, err := a.text(oldModel)
	if err != nil {
		return nil, err
	}
	m, err := readModel(oldModel, raw)
	if err != nil {
		return nil, err
	}
	if a.opts.Model != "" && a.opts.Model != "model" {
		return nil, fmt.Errorf("%w: there is no program %q; there is only one, without a name", ErrInput, a.opts.Model)
	}
	p := &Program{model: raw, name: "model", limit: graph.Options{MaxSteps: a.opts.MaxSteps},
		state: map[string]*Weight{}}
	if err := a.oldTensors(p, "serialized_state_dict.pt", false); err != nil {
		return nil, err
	}
	if err := a.oldTensors(p, "serialized_constants.pt", true); err != nil {
		return nil, err
	}
	if p.samples, err = a.oldEntry("serialized_example_inputs.pt"); err != nil {
		return nil, err
	}
	return p, p.build(m)
}

// oldEntry reads a file of torch.save, which is empty or missing where there is nothing to save.
func (a *archive) oldEntry(entry string) ([]byte, error) {
	if !a.zr.Has(entry) || a.zr.Size(entry) == 0 {
		return nil, nil
	}
	return a.whole(entry)
}

// oldTensors reads a dictionary of tensors. Other constants than tensors are objects; a program that uses one is
// refused.
func (a *archive) oldTensors(p *Program, entry string, constants bool) error {
	b, err := a.oldEntry(entry)
	if b == nil || err != nil {
		return err
	}
	v, err := serialize.Load(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrFormat, entry, err)
	}
	d, ok := v.(*serialize.Dict)
	if !ok {
		return fmt.Errorf("%w: %s holds no dictionary", ErrFormat, entry)
	}
	for key, value := range d.All() {
		name, ok := key.(string)
		t, isTensor := value.(*tensor.Tensor)
		switch {
		case !ok || !isTensor && !constants:
			return fmt.Errorf("%w: %s has a key or a value that no state dict has", ErrFormat, entry)
		case !isTensor:
			p.state[name] = &Weight{Name: name, constant: true}
		default:
			p.state[name] = &Weight{Name: name, Tensor: t, Parameter: t.IsParameter(), constant: constants}
		}
	}
	return nil
}
