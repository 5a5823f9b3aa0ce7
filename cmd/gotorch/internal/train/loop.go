package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/amp"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/cli"
	"github.com/gotorch-dev/torch/internal/filelock"
	"github.com/gotorch-dev/torch/internal/plotpng"
	"github.com/gotorch-dev/torch/internal/progress"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/nn/utils"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/optim/lr"
	"github.com/gotorch-dev/torch/profiler"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensorboard"
)

// run is one training run.
type run struct {
	ctx    context.Context // while it is prepared
	cfg    Config
	device torch.Device
	task   task
	opt    optim.Optimizer
	scaler *amp.GradScaler // scales nothing unless --amp float16
	sched  lr.Scheduler    // nil: constant
	st     state
	out    string
	every  int // steps between checkpoints

	report report
	errOut io.Writer
	lock   *filelock.Lock
	fresh  bool // the folder was made for this run
	board  *tensorboard.SummaryWriter
	total  int                // steps of the whole run
	prof   *profiler.Profiler // nil unless steps are profiled
	resume *serialize.Dict
}

// report says where output goes.
type report struct {
	w     io.Writer
	json  bool
	quiet bool
}

func (r *report) line(format string, args ...any) {
	if !r.json && !r.quiet {
		fmt.Fprintf(r.w, format+"\n", args...)
	}
}

func (r *report) event(v any) {
	if r.json {
		b, _ := json.Marshal(v)
		fmt.Fprintln(r.w, string(b))
	}
}

// groups are the parameters that are trained.
func (r *run) groups() []optim.Group {
	if t, ok := r.task.(*classify); ok {
		return t.groups(&r.cfg)
	}
	return []optim.Group{{Params: nn.Parameters(r.task.model())}}
}

func newOptimizer(c *Config, groups []optim.Group) optim.Optimizer {
	switch c.Optimizer {
	case "sgd":
		return optim.NewSGDGroups(groups, c.LR, optim.SGDOptions{Momentum: 0.9, WeightDecay: c.WeightDecay})
	case "adamw":
		return optim.NewAdamWGroups(groups, c.LR, optim.AdamWOptions{WeightDecay: torch.Some(c.WeightDecay)})
	}
	return optim.NewAdamGroups(groups, c.LR, optim.AdamOptions{WeightDecay: c.WeightDecay})
}

func newScheduler(c *Config, opt optim.Optimizer, total int) lr.Scheduler {
	switch c.Scheduler {
	case "step":
		return lr.NewStepLR(opt, max(1, total/3))
	case "cosine":
		return lr.NewCosineAnnealingLR(opt, total)
	case "linear":
		return lr.NewLambdaLR(opt, func(step int) float64 { return 1 - float64(step)/float64(total) })
	case "onecycle":
		return lr.NewOneCycleLR(opt, c.LR, total)
	}
	return nil
}

func (r *run) schedState() any {
	if r.sched == nil {
		return nil
	}
	return r.sched.StateDict()
}

// prepare builds everything that a run needs, new or from its checkpoint. A positive number of epochs or steps
// lengthens a run from a checkpoint.
func (r *run) prepare(workers, epochs, steps int) (err error) {
	torch.ManualSeed(int64(r.cfg.Seed))
	if r.task, err = r.newTask(workers); err != nil {
		return err
	}
	r.total = r.length(r.cfg.Epochs, r.cfg.Steps)
	r.opt = newOptimizer(&r.cfg, r.groups())
	r.scaler = amp.NewGradScaler(r.device.Type, amp.GradScalerOptions{Disabled: r.cfg.AMP != "float16"})
	r.sched = newScheduler(&r.cfg, r.opt, r.total)
	if r.resume == nil {
		return nil
	}
	if err := r.restore(r.resume); err != nil {
		return fmt.Errorf("the checkpoint in %s does not fit: %w", r.out, err)
	}
	if epochs == 0 && steps == 0 {
		return nil
	}
	switch total := r.length(epochs, steps); {
	case total < r.total:
		return fmt.Errorf("%s would shorten the run in %s, which is planned for %s: give more to lengthen it, or "+
			"nothing to end it as planned", lengthFlag(epochs, steps), r.out, count(r.total, "step"))
	case total > r.total:
		r.cfg.Epochs, r.cfg.Steps = epochs, steps
		return r.extend(total)
	}
	return nil
}

// length is the number of steps of a run.
func (r *run) length(epochs, steps int) int {
	if steps > 0 {
		return steps
	}
	return epochs * r.task.stepsPerEpoch()
}

func lengthFlag(epochs, steps int) string {
	if steps > 0 {
		return fmt.Sprintf("--steps %d", steps)
	}
	return fmt.Sprintf("--epochs %d", epochs)
}

// errInterrupted ends a run that Ctrl-C stopped; its checkpoint is written.
var errInterrupted = errors.New("interrupted")

// train runs to the end, or until the context ends.
func (r *run) train(ctx context.Context) error {
	per := r.task.stepsPerEpoch()
	epochs := (r.total + per - 1) / per
	start := time.Now()
	samples := 0
	if r.resume == nil {
		if err := r.save(); err != nil { // so that --resume works from the first moment
			return err
		}
	}
	if r.finished() {
		r.report.line("the run is finished: --epochs or --steps makes it longer")
	}
	last := time.Now()
	for !r.finished() {
		var b batches
		// resumed in the middle: draw the same order again, then go on with the generator as it was
		if r.st.inEpoch > 0 {
			now := torch.RNGState()
			if err := torch.SetRNGState(r.st.epochRNG); err != nil {
				return err
			}
			b = r.task.begin(ctx, r.st.inEpoch)
			if err := torch.SetRNGState(now); err != nil {
				return err
			}
		} else {
			r.st.epochRNG = torch.RNGState()
			r.st.lossSum, r.st.correct, r.st.seen = 0, 0, 0
			b = r.task.begin(ctx, 0)
		}
		n, err := r.epoch(ctx, b, epochs, min(per, r.total-r.st.epoch*per), &last)
		b.close()
		samples += n
		if err != nil {
			return err
		}
	}
	return r.finish(start, samples)
}

// finished reports that no step is left to do.
func (r *run) finished() bool { return r.st.done || r.st.step >= r.total }

// epoch trains until the end of an epoch and evaluates.
func (r *run) epoch(ctx context.Context, b batches, epochs, steps int, last *time.Time) (samples int, err error) {
	s := &r.st
	bar := progress.NewBar(os.Stderr, s.epoch+1, epochs, steps-s.inEpoch, r.report.quiet || r.report.json)
	defer bar.Done()
	began := time.Now()
	for s.inEpoch < steps {
		x, err, ok := b.next()
		if errors.Is(err, context.Canceled) || ctx.Err() != nil {
			return samples, r.interrupted(bar)
		}
		if err != nil {
			return samples, err
		}
		if !ok {
			break
		}
		loss, err := r.step(x)
		if err != nil {
			return samples, err
		}
		r.profileStep()
		n := x.x.Size(0)
		samples += n
		acc := math.NaN()
		if s.correct >= 0 && s.seen > 0 && r.cfg.classifies() {
			acc = float64(s.correct) / float64(s.seen)
		}
		bar.Step(n, loss, acc)
		if bar == nil && time.Since(*last) > 5*time.Second {
			*last = time.Now()
			rate := float64(samples) / time.Since(began).Seconds()
			r.report.line("epoch %d/%d  step %d/%d  loss %.4f  %s", s.epoch+1, epochs, s.step, r.total, loss,
				progress.Rate(rate))
			r.report.event(map[string]any{"event": "progress", "epoch": s.epoch + 1, "step": s.step,
				"loss": jsonFloat(loss), "samples_per_second": rate})
		}
		if r.every > 0 && s.step%r.every == 0 && s.inEpoch < steps {
			if err := r.save(); err != nil {
				return samples, err
			}
		}
	}
	bar.Done()
	e, err := r.task.evaluate(ctx)
	if errors.Is(err, context.Canceled) {
		return samples, r.interrupted(bar)
	}
	if err != nil {
		return samples, err
	}
	mean := s.lossSum / float64(max(1, s.seen))
	value := e.accuracy()
	if r.cfg.Task == "charlm" {
		value = e.loss
		r.report.line("epoch %d/%d  train loss %.4f  validation loss %.4f", s.epoch+1, epochs, mean, e.loss)
		r.report.event(map[string]any{"event": "epoch", "epoch": s.epoch + 1, "step": s.step,
			"train_loss": jsonFloat(mean), "val_loss": jsonFloat(e.loss)})
	} else {
		r.report.line("epoch %d/%d  train loss %.4f  train accuracy %.2f %%  test accuracy %.2f %%  (%.1f s)",
			s.epoch+1, epochs, mean,
			100*float64(s.correct)/float64(max(1, s.seen)), 100*e.accuracy(), time.Since(began).Seconds())
		r.report.event(map[string]any{"event": "epoch", "epoch": s.epoch + 1, "step": s.step,
			"train_loss": jsonFloat(mean), "test_accuracy": e.accuracy(), "test_loss": jsonFloat(e.loss)})
	}
	if err := r.showConfusion(e); err != nil {
		return samples, err
	}
	s.evalSteps, s.evals = append(s.evalSteps, s.step), append(s.evals, value)
	s.epoch++
	s.inEpoch = 0
	s.done = s.step >= r.total
	if r.cfg.Task == "charlm" {
		r.scalar("loss/validation", e.loss)
	} else {
		r.scalar("accuracy/test", e.accuracy())
		r.scalar("loss/test", e.loss)
	}
	return samples, r.save()
}

// sampleText is a beginning that generate can go on from: the first word of the text.
func (r *run) sampleText() string {
	t, ok := r.task.(*charLM)
	if !ok {
		return ""
	}
	text, _ := t.text.Vocab.Decode(t.text.Train[:min(100, len(t.text.Train))])
	word, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if f := strings.Fields(word); len(f) > 0 && len(f[0]) <= 40 {
		return f[0]
	}
	return t.text.Vocab.String()[:1]
}

// scalar logs a number at the current step, where there is a log. A log that cannot be written does not end a
// training that has perhaps run for days: it says so once and goes on without.
func (r *run) scalar(tag string, value float64) {
	if r.board == nil {
		return
	}
	if err := r.board.AddScalar(tag, value, int64(r.st.step)); err != nil {
		r.report.line("warning: no more logs from step %d on: %v", r.st.step, err)
		r.board = nil
	}
}

// loss is the loss of a batch, in the types that --amp asks for.
func (r *run) loss(b batch) (loss *torch.Tensor, correct int) {
	if r.cfg.AMP == "none" {
		return r.task.loss(b)
	}
	amp.Autocast(r.device.Type, ampTypes[r.cfg.AMP], func() { loss, correct = r.task.loss(b) })
	return loss, correct
}

// ampTypes are the types that --amp names.
var ampTypes = map[string]torch.DType{"bfloat16": torch.BFloat16, "float16": torch.Float16}

// step trains on one batch.
func (r *run) step(b batch) (float64, error) {
	s := &r.st
	var value float64
	tidily := func(f func()) error { return torch.Try(func() { torch.Tidy(f) }) } // frees activations at once
	err := tidily(func() {
		r.opt.ZeroGrad()
		loss, correct := r.loss(b)
		r.scaler.Scale(loss).Backward()
		if r.cfg.ClipNorm > 0 {
			r.scaler.Unscale(r.opt)
			utils.ClipGradNorm(nn.Parameters(r.task.model()), r.cfg.ClipNorm)
		}
		r.scaler.Step(r.opt)
		r.scaler.Update()
		if r.sched != nil && s.step+1 < r.total {
			r.sched.Step()
		}
		value = itemOf(loss)
		n := b.x.Size(0)
		s.lossSum += value * float64(n)
		s.correct += max(0, correct)
		s.seen += n
	})
	if err != nil {
		return 0, err
	}
	s.step++
	s.inEpoch++
	s.steps, s.losses = append(s.steps, s.step), append(s.losses, value)
	r.scalar("loss/train", value)
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return value, fmt.Errorf("the loss is %g at step %d: try a smaller --lr (the last checkpoint is %s)", value,
			s.step, r.path(checkpointFile))
	}
	return value, nil
}

func (r *run) interrupted(bar *progress.Bar) error {
	bar.Done()
	if err := r.save(); err != nil {
		return err
	}
	r.report.event(map[string]any{"event": "interrupted", "step": r.st.step, "checkpoint": r.path(checkpointFile)})
	if !r.report.json {
		fmt.Fprintf(r.errOut, "\ninterrupted at step %d; everything is saved. Go on with:\n  %s\n", r.st.step,
			cli.Line(append([]string{r.cfg.command(), "--resume", r.out}, r.cfg.files()...)...))
	}
	return errInterrupted
}

// finish writes the model and the curve and reports the end.
func (r *run) finish(start time.Time, samples int) error {
	s := &r.st
	if err := serialize.SaveFile(r.path(modelFile), onHost(nn.StateDict(r.task.model()))); err != nil {
		return fmt.Errorf("cannot write the model %s: %w", r.path(modelFile), err)
	}
	if len(s.steps) > 0 {
		o := plotpng.Options{Title: "Training loss, " + r.cfg.name()}
		if r.cfg.classifies() {
			o.AccuracySteps, o.Accuracy = s.evalSteps, s.evals
		}
		if err := plotpng.LossCurve(r.path(curveFile), s.steps, s.losses, o); err != nil {
			return err
		}
	}
	secs := time.Since(start).Seconds()
	trainLoss := math.NaN()
	if k := len(s.losses); k > 0 {
		n := min(k, 50)
		trainLoss = 0
		for _, l := range s.losses[k-n:] {
			trainLoss += l / float64(n)
		}
	}
	took := ""
	if samples > 0 {
		took = fmt.Sprintf(" in %.1f s", secs)
	}
	final := math.NaN()
	if len(s.evals) > 0 {
		final = s.evals[len(s.evals)-1]
	}
	done := doneEvent{"done", s.epoch, s.step, jsonFloat(trainLoss), jsonFloat(final), nil, secs,
		float64(samples) / math.Max(secs, 1e-9), r.path(checkpointFile), r.path(modelFile)}
	if r.cfg.Task == "charlm" {
		done.TestAccuracy, done.ValLoss = nil, jsonFloat(final)
		r.report.line("done: %s%s, train loss %.4f, validation loss %.4f", count(s.step, "step"), took, trainLoss, final)
	} else {
		if samples > 0 {
			took += fmt.Sprintf(" (%s samples)", progress.Rate(float64(samples)/math.Max(secs, 1e-9)))
		}
		r.report.line("done: %s%s, train loss %.4f, test accuracy %.2f %%", count(s.step, "step"), took, trainLoss,
			100*final)
	}
	r.report.line("  model       %s\n  checkpoint  %s\n  loss curve  %s", r.path(modelFile), r.path(checkpointFile),
		r.path(curveFile))
	switch r.cfg.Task {
	case "charlm":
		r.report.line("next: %s", cli.Line("generate", "--checkpoint", r.out, "--prompt", r.sampleText()))
	case finetuning:
		r.report.line("  confusion   %s\n  classes     %s", r.path(confusionFile), r.path(classesFile))
		r.report.line("next: %s IMAGE", cli.Line("predict", "--checkpoint", r.out))
	default:
		r.report.line("next: %s", cli.Line(append([]string{"eval", "--checkpoint", r.out}, r.cfg.files()...)...))
	}
	if r.board != nil {
		r.report.line("      %s", cli.Line("board", "--logdir", r.out))
	}
	r.report.event(done)
	return nil
}

// doneEvent is the last line of --json.
type doneEvent struct {
	Event            string  `json:"event"`
	Epochs           int     `json:"epochs"`
	Steps            int     `json:"steps"`
	TrainLoss        any     `json:"train_loss"`
	TestAccuracy     any     `json:"test_accuracy"` // null for a language model
	ValLoss          any     `json:"val_loss,omitempty"`
	Seconds          float64 `json:"seconds"`
	SamplesPerSecond float64 `json:"samples_per_second"`
	Checkpoint       string  `json:"checkpoint"`
	Model            string  `json:"model"`
}

// jsonFloat makes a number that JSON lacks null.
func jsonFloat(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return f
}

// logGraph draws the model into the logs of a new run. In evaluation mode nothing is drawn from the generator and no
// statistics change.
func (r *run) logGraph() error {
	m, ok := r.task.model().(nn.Layer)
	if !ok || r.st.step > 0 {
		return nil
	}
	nn.Eval(m)
	defer r.task.trainMode()
	g, err := tensorboard.TraceGraph(m, r.task.input().To(r.device))
	if err != nil {
		return err
	}
	return r.board.AddGraph(g)
}
