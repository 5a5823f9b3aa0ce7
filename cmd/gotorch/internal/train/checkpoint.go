package train

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/serialize"
)

// formatVersion is raised when older programs can no longer read a checkpoint.
const formatVersion = 1

// checkpointFormat tells a checkpoint from other dicts.
const checkpointFormat = "gotorch.train"

// state is where a run stands between two steps.
type state struct {
	epoch     int    // epochs done
	step      int    // steps done
	inEpoch   int    // batches done of this epoch
	epochRNG  []byte // generator before this epoch drew its order
	lossSum   float64
	correct   int
	seen      int
	steps     []int     // of the loss curve
	losses    []float64 // one per step
	evalSteps []int
	evals     []float64 // test accuracy or validation loss, by epoch
	done      bool
}

func bytesTensor(b []byte) *torch.Tensor { return torch.FromSlice(b) }

// checkpoint is what a checkpoint file holds.
func (r *run) checkpoint() *serialize.Dict {
	s := &r.st
	return serialize.NewDict(
		"format", checkpointFormat, "version", formatVersion, "config", r.cfg.dict(), "task_state", r.task.state(),
		"model", onHost(nn.StateDict(r.task.model())), "optimizer", onHost(r.opt.StateDict()), "scheduler",
		r.schedState(), "scaler", r.scaler.StateDict(),
		"rng_state", bytesTensor(torch.RNGState()), "epoch_rng_state", bytesTensor(s.epochRNG),
		"epoch", s.epoch, "step", s.step, "batch_in_epoch", s.inEpoch, "loss_sum", s.lossSum, "correct", s.correct,
		"seen", s.seen,
		"losses", torch.FromSlice(s.losses), "eval_steps", s.evalSteps, "evals", s.evals, "done", s.done)
}

// save writes the checkpoint: a new file that replaces the old one only when it is whole.
func (r *run) save() error {
	if err := serialize.SaveFile(r.path(checkpointFile), r.checkpoint()); err != nil {
		return fmt.Errorf("cannot write the checkpoint %s: %w (the previous one is untouched)", r.path(checkpointFile),
			err)
	}
	return nil
}

const (
	checkpointFile = "checkpoint.pt"
	modelFile      = "model.pt"
	curveFile      = "loss.png"
	confusionFile  = "confusion.png" // of finetune
	classesFile    = "classes.txt"   // of finetune: names, a line each
)

func (r *run) path(name string) string { return filepath.Join(r.out, name) }

// loadCheckpoint reads a file and checks what it is.
func loadCheckpoint(path string) (*serialize.Dict, error) {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		path = filepath.Join(path, checkpointFile)
	}
	v, err := serialize.LoadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no checkpoint %s: %w", path, fs.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the checkpoint %s: %w", path, err)
	}
	d, ok := v.(*serialize.Dict)
	if ok && d.Get("format") != checkpointFormat && filepath.Base(path) == modelFile {
		return nil, fmt.Errorf("%s holds only weights: give the %s beside it", path, checkpointFile)
	}
	if !ok || d.Get("format") != checkpointFormat {
		return nil, fmt.Errorf("%s is not a checkpoint of gotorch train", path)
	}
	if n, ok := d.Get("version").(int); !ok || n > formatVersion || n < 1 {
		return nil, fmt.Errorf("%s has checkpoint version %v; this program reads version %d", path, d.Get("version"),
			formatVersion)
	}
	return d, nil
}
