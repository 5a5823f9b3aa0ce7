package train

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gotorch-dev/torch/nn/utils"
	"github.com/gotorch-dev/torch/profiler"
)

// recompute has the blocks of the model compute their activations again instead of keeping them.
func (r *run) recompute() {
	paths, _ := utils.ApplyActivationCheckpointing(r.task.model(), nil)
	if len(paths) == 0 {
		r.report.line("the model has no blocks: --checkpoint-activations changes nothing")
		return
	}
	r.report.line("the activations of %s are computed twice", strings.Join(paths, ", "))
}

// profiledSteps are the steps that --profile records, and warmSteps those before them.
const (
	profiledSteps = 3
	warmSteps     = 2
)

// startProfile profiles some steps of the training that follows, and writes what it finds to dir. The function that it
// returns ends it.
func (r *run) startProfile(dir string) (end func()) {
	warm := warmSteps
	if r.total-r.st.step < warmSteps+profiledSteps {
		warm = 0
	}
	n := max(1, min(profiledSteps, r.total-r.st.step-warm))
	r.prof = profiler.Start(profiler.Options{RecordShapes: true, ProfileMemory: true, WithFLOPs: true, WithModules: true,
		Schedule:     profiler.Schedule(profiler.Cycle{Warmup: warm, Active: n, Repeat: 1}),
		OnTraceReady: func(t *profiler.Trace) { r.profiled(t, dir) }})
	return func() {
		if r.prof != nil {
			r.prof.Stop()
			r.prof = nil
		}
	}
}

// profileStep tells the profiler that a step has ended. It goes when it has seen its steps.
func (r *run) profileStep() {
	if r.prof == nil {
		return
	}
	r.prof.Step()
	if r.prof.StepNumber() >= warmSteps+profiledSteps {
		r.prof.Stop()
		r.prof = nil
	}
}

// profiled prints what was recorded and writes it to a folder. A trace that cannot be written does not end the
// training.
func (r *run) profiled(t *profiler.Trace, dir string) {
	table := t.KeyAverages().Table(profiler.TableOptions{SortBy: "self_cpu_time_total", RowLimit: 15})
	r.report.line("%s", strings.TrimRight(table, "\n"))
	path := filepath.Join(dir, fmt.Sprintf("gotorch_%d.step%d.pt.trace.json", os.Getpid(), r.st.step))
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		err = t.ExportChromeTrace(path)
	}
	if err != nil {
		fmt.Fprintf(r.errOut, "warning: the profile is not written: %v\n", err)
		return
	}
	r.report.line("the trace is %s: open it in https://ui.perfetto.dev, or the folder in TensorBoard", path)
	r.report.event(map[string]any{"event": "profile", "trace": path})
}
