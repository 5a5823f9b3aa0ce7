// Package train holds the commands that train a model and use it: train, eval, predict, generate, summary, ops, env.
package train

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/cli"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/tensorboard"
)

// Commands are the commands of this package.
func Commands() []*cobra.Command {
	return []*cobra.Command{trainCommand(), finetuneCommand(), evalCommand(), predictCommand(), generateCommand(),
		quantizeCommand(),
		summaryCommand(),
		opsCommand(), envCommand()}
}

type trainFlags struct {
	cfg         Config
	out         string
	resume      string
	every       int
	threads     int
	workers     int
	device      string
	json, quiet bool
	board       bool
	recompute   bool
	profile     string
}

// latest stands for --resume without a path.
const latest = "latest"

func trainCommand() *cobra.Command { return new(trainFlags).command() }

func (f *trainFlags) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "train",
		Short: "Train a model; without flags, a LeNet on embedded digits",
		Long: "Trains a model and writes checkpoint.pt, model.pt (a state dict that PyTorch's torch.load opens), " +
			"loss.png and TensorBoard logs to a folder.\n\n" +
			"A run that was stopped, even by kill -9, goes on with --resume and ends with the identical model.",
		Example: "  gotorch train\n" +
			"  gotorch train --data mnist --root DIR --epochs 3\n" +
			"  gotorch train --task charlm --text FILE --steps 500\n" +
			"  gotorch train --resume runs/digits-lenet",
		Args: f.args("train"),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	fl, c := cmd.Flags(), &f.cfg
	fl.StringVar(&c.Task, "task", "classify", "what to learn: classify, charlm")
	fl.StringVar(&c.Data, "data", "digits", "pictures: digits (embedded), mnist (needs --root)")
	fl.StringVar(&c.Root, "root", "", "folder of the mnist files")
	fl.StringVar(&c.Text, "text", "", "text file that charlm learns from")
	fl.StringVar(&c.Model, "model", "", "mlp, lenet, resnet9, gpt (default lenet; gpt for charlm)")
	fl.IntVar(&c.Epochs, "epochs", 0, "passes over the data (default 4; mnist 3)")
	fl.IntVar(&c.Steps, "steps", 0, "batches, instead of epochs (default for charlm 500)")
	fl.IntVar(&c.BatchSize, "batch-size", 0, "samples of a batch (default 64; charlm 32)")
	fl.Float64Var(&c.LR, "lr", 0, "learning rate, the highest one with onecycle (default 0.002; sgd 0.05; charlm 0.003)")
	fl.StringVar(&c.Optimizer, "optimizer", "", "sgd, adam, adamw (default adam; charlm adamw)")
	fl.StringVar(&c.Scheduler, "scheduler", "",
		"none, step, cosine, linear, onecycle (default onecycle; charlm cosine)")
	fl.Float64Var(&c.WeightDecay, "weight-decay", 0, "weight decay (default 0; charlm 0.01)")
	fl.Float64Var(&c.ClipNorm, "clip-norm", 0, "largest norm of the gradient; 0 means no bound (default 0; charlm 1)")
	fl.Float64Var(&c.Dropout, "dropout", 0, "dropout of the gpt")
	fl.IntVar(&c.Context, "context", 64, "characters that the gpt sees")
	fl.IntVar(&c.Layers, "layers", 3, "layers of the gpt")
	fl.IntVar(&c.Heads, "heads", 4, "attention heads of the gpt")
	fl.IntVar(&c.Width, "width", 96, "width of the gpt")
	f.common(cmd)
	for flag, names := range map[string][]string{"task": taskNames, "data": dataNames, "model": modelNames} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	}
	return cmd
}

// args accepts the values of flags that stand behind a blank.
func (f *trainFlags) args(command string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 && f.resume == latest { // --resume PATH
			f.resume = args[0]
			return nil
		}
		if len(args) == 1 && cmd.Flags().Changed("amp") && slices.Contains(ampNames, args[0]) { // --amp TYPE
			f.cfg.AMP = args[0]
			return nil
		}
		if len(args) > 0 {
			return fmt.Errorf("%s takes flags only, got %q", command, args[0])
		}
		return nil
	}
}

// common adds the flags of all commands that train.
func (f *trainFlags) common(cmd *cobra.Command) {
	fl, c := cmd.Flags(), &f.cfg
	fl.StringVar(&c.AMP, "amp", "none", "compute products and convolutions in 16 bits: bfloat16, or float16 with "+
		"scaled "+
		"gradients")
	fl.Lookup("amp").NoOptDefVal = "bfloat16"
	fl.IntVar(&c.Seed, "seed", 0, "seed of every random number")
	fl.IntVar(&f.threads, "threads", 0, "threads of the operators (default: all cores)")
	fl.StringVar(&f.device, "device", "cpu",
		"where to train: "+strings.Join(tensor.BackendNames(), ", ")+"; a run may be resumed on another device")
	fl.IntVar(&f.workers, "workers", 1, "goroutines that prepare batches; 0: none")
	fl.StringVar(&f.out, "out", "", "folder for the results (default runs/NAME, numbered when it exists)")
	fl.StringVar(&f.resume, "resume", "",
		"go on from a checkpoint: a file, a folder, or nothing for --out or the latest run")
	fl.Lookup("resume").NoOptDefVal = latest
	fl.IntVar(&f.every, "checkpoint-every", 100, "steps between checkpoints; 0: only at the end of epochs")
	fl.BoolVar(&f.json, "json", false, "print JSON lines")
	fl.BoolVar(&f.quiet, "quiet", false, "print nothing but errors")
	fl.BoolVar(&f.board, "tensorboard", true, "write TensorBoard logs into the folder")
	fl.BoolVar(&f.recompute, "checkpoint-activations", false,
		"compute the activations of the model's blocks again in the backward pass instead of keeping them")
	fl.StringVar(&f.profile, "profile", "",
		"profile some steps, print the operators that take longest, and write a trace for TensorBoard to a folder")
	for flag, names := range map[string][]string{"optimizer": optimizerNames, "scheduler": schedulerNames,
		"amp": ampNames} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	}
}

func (f *trainFlags) run(cmd *cobra.Command) (err error) {
	set := cmd.Flags().Changed
	if f.json && f.quiet {
		return errors.New("--json prints and --quiet does not: give one of them")
	}
	if err := errors.Join(checkRange("checkpoint-every", f.every, 0, maxSteps), checkRange("workers", f.workers, 0,
		maxThreads), setThreads(f.threads)); err != nil {
		return err
	}
	device, err := trainingDevice(f.device)
	if err != nil {
		return err
	}
	r := &run{ctx: cmd.Context(), device: device, every: f.every, errOut: cmd.ErrOrStderr(),
		report: report{w: cmd.OutOrStdout(), json: f.json, quiet: f.quiet}}
	defer func() {
		if r.lock != nil {
			err = errors.Join(err, r.lock.Release())
		}
	}()
	if err := f.place(r, set); err != nil {
		return err
	}
	epochs, steps := 0, 0
	if r.resume != nil && (set("epochs") || set("steps")) {
		epochs, steps = f.cfg.Epochs, f.cfg.Steps
	}
	if err := r.prepare(f.workers, epochs, steps); err != nil {
		if r.fresh { // a run that never began leaves no folder
			err = errors.Join(err, r.lock.Release(), os.RemoveAll(r.path(lockFile)), os.Remove(r.out))
			r.lock = nil
		}
		return err
	}
	if f.board {
		var options tensorboard.SummaryWriterOptions
		if r.st.step > 0 {
			step := int64(r.st.step) + 1 // the points up to the checkpoint stay
			options.PurgeStep = &step
		}
		w, err := tensorboard.NewSummaryWriter(r.out, options)
		if err != nil {
			return fmt.Errorf("cannot write logs to %s (--tensorboard=false does without): %w", r.out, err)
		}
		r.board = w
		defer func() {
			if e := w.Close(); e != nil && err == nil {
				err = fmt.Errorf("cannot finish the logs in %s: %w", r.out, e)
			}
		}()
		if err := r.logGraph(); err != nil {
			return err
		}
	}
	if r.resume != nil {
		r.report.line("resuming %s at step %d of %d", r.out, r.st.step, r.total)
	}
	where := count(torch.NumThreads(), "thread")
	if device.Type != tensor.CPUDevice {
		where = "device " + device.String()
	}
	if f.recompute {
		r.recompute()
	}
	if f.profile != "" {
		defer r.startProfile(f.profile)()
	}
	r.report.line("training %s on %s, %s of %d samples, %s, into %s", r.cfg.Model, dataName(&r.cfg),
		count(r.total, "step"), r.cfg.BatchSize, where, r.out)
	err = r.train(cmd.Context())
	if errors.Is(err, errInterrupted) {
		return cli.ExitCode(cli.Interrupted)
	}
	return err
}

// setThreads sets the number of threads of the operators; 0 leaves it at all cores.
func setThreads(n int) error {
	if err := checkRange("threads", n, 0, maxThreads); err != nil || n == 0 {
		return err
	}
	torch.SetNumThreads(n)
	return nil
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func dataName(c *Config) string {
	switch {
	case c.Task == "charlm":
		return fmt.Sprintf("the text %q", c.Text)
	case c.Task == finetuning:
		return fmt.Sprintf("the images in %q", c.Root)
	case c.Data == "mnist":
		return fmt.Sprintf("mnist in %q", c.Root)
	}
	return "the embedded digits"
}
