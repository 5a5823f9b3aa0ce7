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
		"format", "gotorch.train", "version", formatVersion, "config", r.cfg.dict(), "task_state", r.task.state(),
		"model", onHost(nn.StateDict(r.task.model())), "optimizer", onHost(r.opt.StateDict()), "scheduler",
		r.schedState(),
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
	if ok && d.Get("format") != "gotorch.train" && filepath.Base(path) == modelFile {
		return nil, fmt.Errorf("%s holds only weights: give the %s beside it", path, checkpointFile)
	}
	if !ok || d.Get("format") != "gotorch.train" {
		return nil, fmt.Errorf("%s is not a checkpoint of gotorch train", path)
	}
	if n, _ := d.Get("version").(int); n > formatVersion || n < 1 {
		return nil, fmt.Errorf("%s has checkpoint version %v; this program reads version %d", path, d.Get("version"),
			formatVersion)
	}
	return d, nil
}

// restore puts a run where the checkpoint was written.
func (r *run) restore(d *serialize.Dict) (err error) {
	rd := &reader{d: d}
	s := &r.st
	s.epoch, s.step, s.inEpoch = get[int](rd, "epoch"), get[int](rd, "step"), get[int](rd, "batch_in_epoch")
	s.lossSum, s.correct, s.seen, s.done = get[float64](rd, "loss_sum"), get[int](rd, "correct"), get[int](rd, "seen"),
		get[bool](rd, "done")
	rngState, epochRNG := get[*torch.Tensor](rd, "rng_state"), get[*torch.Tensor](rd, "epoch_rng_state")
	losses, model := get[*torch.Tensor](rd, "losses"), get[*serialize.Dict](rd, "model")
	opt := get[*serialize.Dict](rd, "optimizer")
	evalSteps, evals := get[[]any](rd, "eval_steps"), get[[]any](rd, "evals")
	if rd.err != nil {
		return rd.err
	}
	if ts, ok := d.Get("task_state").(*serialize.Dict); !ok || ts.Get("vocab") != r.task.state().Get("vocab") {
		return errors.New("the text has other characters than the one the run began with")
	}
	for _, e := range evalSteps {
		n, _ := e.(int)
		s.evalSteps = append(s.evalSteps, n)
	}
	for _, e := range evals {
		x, _ := e.(float64)
		s.evals = append(s.evals, x)
	}
	if len(s.evals) != len(s.evalSteps) {
		return errors.New("eval_steps and evals differ in length")
	}
	if e := torch.Try(func() {
		s.losses = append(s.losses, torch.Data[float64](losses)...)
		for i := range s.losses {
			s.steps = append(s.steps, i+1)
		}
		s.epochRNG = append(s.epochRNG, torch.Data[uint8](epochRNG)...)
		var sd *torch.StateDict
		if sd, err = model.StateDict(); err == nil {
			err = nn.LoadStateDict(r.task.model(), sd)
		}
		if err == nil {
			err = r.opt.LoadStateDict(opt)
		}
		if sched, ok := d.Get("scheduler").(*serialize.Dict); ok && err == nil && r.sched != nil {
			err = r.sched.LoadStateDict(sched)
		}
		if err == nil {
			err = torch.SetRNGState(torch.Data[uint8](rngState))
		}
	}); e != nil {
		return e
	}
	return err
}
