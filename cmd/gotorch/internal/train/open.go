package train

import (
	"errors"
	"fmt"

	"github.com/gotorch-dev/torch/cmd/gotorch/internal/cli"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/serialize"
	textmodels "github.com/gotorch-dev/torch/text/models"
	"github.com/gotorch-dev/torch/vision/datasets/chartext"
)

// trained is a model from a checkpoint.
type trained struct {
	path  string
	cfg   Config
	model nn.Module
	vocab *chartext.Vocab // of a language model
	names []string        // of the classes, of a model of finetune
}

// open reads a checkpoint and makes its model, in evaluation mode.
func open(path string) (*trained, error) {
	if path == "" {
		hint := "train a model first: " + cli.Line("train")
		if run, err := latestRun(); err == nil {
			hint = "the latest is --checkpoint " + cli.Quote(run)
		}
		return nil, fmt.Errorf("which checkpoint? Give --checkpoint FILE, or the folder of a run; %s", hint)
	}
	d, err := loadCheckpoint(path)
	if err != nil {
		return nil, err
	}
	t, err := modelOf(d)
	if err != nil {
		return nil, fmt.Errorf("the checkpoint in %s: %w", path, err)
	}
	t.path = path
	return t, nil
}

// modelOf makes the model of a checkpoint.
func modelOf(d *serialize.Dict) (*trained, error) {
	c, sd, err := configOf(d)
	if err != nil {
		return nil, err
	}
	t := &trained{cfg: c}
	n := 0
	switch c.Task {
	case "charlm":
		if t.vocab, err = vocabOf(d); err != nil {
			return nil, err
		}
		n = t.vocab.Len()
	case finetuning:
		if t.names, err = classesOf(d); err != nil {
			return nil, err
		}
		n = len(t.names)
	}
	t.model = newModel(&c, n)
	if err := nn.LoadStateDict(t.model, sd); err != nil {
		return nil, err
	}
	nn.Eval(t.model)
	return t, nil
}

// classifier is the model as one that classifies pictures.
func (t *trained) classifier() (classifier, error) {
	if c, ok := t.model.(classifier); ok && t.cfg.classifies() {
		return c, nil
	}
	return nil, fmt.Errorf("%s is a language model: use %s", t.path, cli.Line("generate", "--checkpoint", t.path))
}

// language is the model as one of language.
func (t *trained) language() (*textmodels.GPT, error) {
	if m, ok := t.model.(*textmodels.GPT); ok {
		return m, nil
	}
	return nil, fmt.Errorf("%s classifies pictures: use %s", t.path, cli.Line("predict", "--checkpoint", t.path))
}

// oneCheckpoint lets a command take its checkpoint by position as well: gotorch eval runs/digits-lenet.
func oneCheckpoint(checkpoint *string, args []string) error {
	switch {
	case len(args) > 1 || len(args) == 1 && *checkpoint != "":
		return errors.New("give one checkpoint")
	case len(args) == 1:
		*checkpoint = args[0]
	}
	return nil
}
