package profiler_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/profiler"
)

// training is a small network with a function that trains it for a step.
func training() (step func()) {
	torch.ManualSeed(0)
	net := nn.NewSequential(nn.NewLinear(10, 20), nn.NewReLU(), nn.NewLinear(20, 5))
	opt := optim.NewSGD(nn.Parameters(net), 0.1)
	x, y := torch.Randn([]int{4, 10}), torch.FromSlice([]int64{1, 2, 3, 4}, 4)
	return func() {
		var loss *torch.Tensor
		profiler.RecordFunction("forward", func() { loss = F.CrossEntropy(net.Forward(x), y) })
		loss.Backward()
		opt.Step()
		opt.ZeroGrad()
	}
}

func find(t *testing.T, tr *profiler.Trace, name string) []profiler.Event {
	t.Helper()
	var out []profiler.Event
	for _, e := range tr.Events() {
		if e.Name == name {
			out = append(out, e)
		}
	}
	if len(out) == 0 {
		t.Fatalf("no event %s", name)
	}
	return out
}

func TestTrainingStep(t *testing.T) {
	step := training()
	tr := profiler.Profile(profiler.Options{RecordShapes: true, ProfileMemory: true, WithStack: true, WithFLOPs: true,
		WithModules: true}, func(*profiler.Profiler) { step() })
	linear := find(t, tr, "aten::linear")
	if len(linear) != 2 {
		t.Fatalf("%d calls of linear, want 2", len(linear))
	}
	if m := linear[1].Module; m != "2 (Linear)" {
		t.Errorf("the second linear is in module %q", m)
	}
	if parent := tr.Events()[linear[0].Parent].Name; parent != "forward" {
		t.Errorf("linear is inside %s, want the part with a name", parent)
	}
	first := linear[0]
	if first.FLOPs != 2*4*10*20 {
		t.Errorf("linear takes %d operations", first.FLOPs)
	}
	if first.SelfMem != 4*20*4 {
		t.Errorf("linear takes %d bytes, want the bytes of its result", first.SelfMem)
	}
	if s := first.Inputs[1].Shape; !slices.Equal(s, []int{20, 10}) || first.Inputs[1].Type != "float" {
		t.Errorf("the second input is %v", first.Inputs[1])
	}
	if !slices.ContainsFunc(first.Stack, func(s string) bool { return strings.Contains(s, "profiler_test.go") }) {
		t.Errorf("the stack lacks the caller: %q", first.Stack)
	}
	rules := find(t, tr, "AddmmBackward0")
	if len(rules) != 2 || rules[1].Sequence != first.Sequence || first.Sequence == 0 {
		t.Errorf("the last rule has number %d, its operator %d", rules[1].Sequence, first.Sequence)
	}
	if e := tr.Events()[rules[0].Parent].Name; e != "autograd::engine::evaluate_function: AddmmBackward0" {
		t.Errorf("the rule is inside %s", e)
	}
	find(t, tr, "torch::autograd::AccumulateGrad")
	find(t, tr, "Optimizer.step#SGD.step")
	find(t, tr, "Optimizer.zero_grad#SGD.zero_grad")
	for _, e := range tr.Events() {
		if e.Duration < 0 || e.Self < 0 || e.Self > e.Duration {
			t.Errorf("%s takes %v, %v itself", e.Name, e.Duration, e.Self)
		}
	}
}

// What is seen does not depend on a profiler, and nothing is recorded without one.
func TestResultsAreTheSame(t *testing.T) {
	run := func(profiled bool) []float64 {
		step := training()
		loop := func() {
			for range 3 {
				step()
			}
		}
		if profiled {
			profiler.Profile(profiler.Options{Labels: true}, func(*profiler.Profiler) { loop() })
		} else {
			loop()
		}
		x := torch.Rand([]int{3})
		return []float64{x.Select(0, 0).Item(), x.Select(0, 1).Item()}
	}
	if a, b := run(false), run(true); !slices.Equal(a, b) {
		t.Errorf("random numbers behind the training: %v, with a profiler %v", a, b)
	}
}

func TestSchedule(t *testing.T) {
	step := training()
	var counts []int
	last := profiler.Profile(profiler.Options{
		Schedule: profiler.Schedule(profiler.Cycle{SkipFirst: 1, Wait: 1, Warmup: 1, Active: 2, Repeat: 2}),
		OnTraceReady: func(tr *profiler.Trace) {
			n := 0
			for _, e := range tr.Events() {
				if e.Name == "forward" {
					n++
				}
			}
			counts = append(counts, n)
		},
	}, func(p *profiler.Profiler) {
		for range 12 {
			step()
			p.Step()
		}
		if p.StepNumber() != 12 {
			t.Errorf("%d steps", p.StepNumber())
		}
	})
	if !slices.Equal(counts, []int{2, 2}) {
		t.Errorf("steps in the traces: %v, want two cycles of two", counts)
	}
	if len(last.Events()) == 0 {
		t.Error("the last trace is not returned")
	}
	first := profiler.Schedule(profiler.Cycle{SkipFirst: 1, Wait: 3, Active: 1, Repeat: 2, SkipFirstWait: true})
	var actions []profiler.Action
	for step := range 8 {
		actions = append(actions, first(step))
	}
	save := profiler.RecordAndSave
	if want := []profiler.Action{0, save, 0, 0, 0, save, 0, 0}; !slices.Equal(actions, want) {
		t.Errorf("without the first wait: %v, want %v", actions, want)
	}
	if err := torch.Try(func() { profiler.Schedule(profiler.Cycle{}) }); err == nil {
		t.Error("a cycle without active steps is no error")
	}
}

func TestPanicLeavesTheRestInOrder(t *testing.T) {
	a, b := torch.Ones([]int{2, 3}), torch.Ones([]int{2, 3})
	tr := profiler.Profile(profiler.Options{}, func(*profiler.Profiler) {
		if err := torch.Try(func() {
			profiler.RecordFunction("wrong", func() { a.MM(b) })
		}); err == nil {
			t.Error("no error")
		}
		profiler.RecordFunction("right", func() { a.Add(b) })
	})
	if e := find(t, tr, "right")[0]; e.Parent != -1 {
		t.Errorf("an event behind a panic is inside %d", e.Parent)
	}
	if e := find(t, tr, "aten::add")[0]; tr.Events()[e.Parent].Name != "right" {
		t.Errorf("add is inside %d", e.Parent)
	}
}

func TestChromeTrace(t *testing.T) {
	step := training()
	dir := t.TempDir()
	profiler.Profile(profiler.Options{RecordShapes: true, ProfileMemory: true, WithModules: true, WithStack: true,
		OnTraceReady: profiler.TensorBoardTraceHandler(dir, "worker")}, func(*profiler.Profiler) { step() })
	files, err := filepath.Glob(filepath.Join(dir, "worker.*.pt.trace.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v", files, err)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		TraceEvents []struct {
			Ph, Cat, Name string
			ID            int64
			TS            float64
			Dur           *float64
			Args          map[string]any
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	ids := map[int64]string{}
	for _, e := range file.TraceEvents {
		count[e.Ph+" "+e.Cat]++
		if e.Ph == "X" && (e.Dur == nil || *e.Dur < 0) {
			t.Errorf("%s has no duration", e.Name)
		}
		if e.Cat == "fwdbwd" {
			ids[e.ID] += e.Ph
		}
		if e.Name == "aten::linear" && len(e.Args["Input Dims"].([]any)) != 3 {
			t.Errorf("linear has inputs %v", e.Args["Input Dims"])
		}
	}
	for _, k := range []string{"X cpu_op", "X user_annotation", "X python_function", "i cpu_instant_event", "s fwdbwd"} {
		if count[k] == 0 {
			t.Errorf("no event of kind %s, only %v", k, count)
		}
	}
	for id, s := range ids {
		if s != "sf" {
			t.Errorf("arrow %d has ends %q", id, s)
		}
	}
}

// The events of a trace lie inside each other, the steps of a schedule among them, and say what Python's say.
func TestTraceOfSteps(t *testing.T) {
	x := torch.Ones([]int{2, 3}).SetRequiresGrad(true)
	path := filepath.Join(t.TempDir(), "trace.json.gz")
	tr := profiler.Profile(profiler.Options{
		RecordShapes: true,
		Schedule:     profiler.Schedule(profiler.Cycle{Wait: 1, Active: 2, Repeat: 1}),
		OnTraceReady: func(tr *profiler.Trace) {
			if err := tr.ExportChromeTrace(path); err != nil {
				t.Error(err)
			}
		}}, func(p *profiler.Profiler) {
		for range 5 {
			torch.Cat([]*torch.Tensor{x, x}).Sum().Backward()
			p.Step()
		}
	})
	if a := tr.KeyAverages().List[0]; a.Name != "ProfilerStep*" || a.Count != 2 {
		t.Errorf("first row %s, %d calls, want two of ProfilerStep*", a.Name, a.Count)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		TraceEvents []struct {
			Ph, Name string
			PID, TID any
			TS, Dur  float64
			Args     map[string]any
		}
	}
	if err := json.NewDecoder(z).Decode(&file); err != nil {
		t.Fatal(err)
	}
	args := map[string]string{}
	var open []float64 // ends of the events around
	for _, e := range file.TraceEvents {
		if _, ok := e.TID.(float64); e.Ph != "X" || !ok {
			continue
		}
		for len(open) > 0 && open[len(open)-1] <= e.TS {
			open = open[:len(open)-1]
		}
		if n := len(open); n > 0 && e.TS+e.Dur > open[n-1]+0.01 {
			t.Errorf("%s ends at %f, behind the event around it, %f", e.Name, e.TS+e.Dur, open[n-1])
		}
		open = append(open, e.TS+e.Dur)
		args[e.Name] = fmt.Sprint(e.Args["Input Dims"], e.Args["Input type"], e.Args["Fwd thread id"])
	}
	for name, want := range map[string]string{
		"ProfilerStep#1": "<nil> <nil> <nil>",
		"ProfilerStep#2": "<nil> <nil> <nil>",
		"aten::cat":      "[[[2 3] [2 3]] []] [TensorList Scalar] 0",
		"CatBackward0":   "[[4 3]] [float] 1",
	} {
		if got, ok := args[name]; !ok || got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// Taking events away does not disturb goroutines that are in the middle of a call.
func TestStepsBesideOtherGoroutines(t *testing.T) {
	p := profiler.Start(profiler.Options{Schedule: profiler.Schedule(profiler.Cycle{Active: 1}), ProfileMemory: true,
		WithModules: true})
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		net := nn.NewLinear(3, 3)
		for {
			select {
			case <-stop:
				return
			default:
				net.Forward(torch.Ones([]int{2, 3})).Sum().Backward()
			}
		}
	}()
	for range 200 {
		torch.Ones([]int{2}).Exp()
		p.Step()
	}
	close(stop)
	<-done
	p.Stop()
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestWriteErrors(t *testing.T) {
	step := training()
	tr := profiler.Profile(profiler.Options{}, func(*profiler.Profiler) { step() })
	if err := tr.WriteChromeTrace(broken{}); err == nil {
		t.Error("a full disk is no error")
	}
	missing := filepath.Join(t.TempDir(), "no", "trace.json")
	if err := tr.ExportChromeTrace(missing); err == nil {
		t.Error("a missing folder is no error")
	}
	var b bytes.Buffer
	if err := (&profiler.Trace{}).WriteChromeTrace(&b); err != nil || !json.Valid(b.Bytes()) {
		t.Errorf("an empty trace: %v, %s", err, b.String())
	}
}

func TestGroups(t *testing.T) {
	step := training()
	tr := profiler.Profile(profiler.Options{RecordShapes: true, WithStack: true, WithModules: true},
		func(*profiler.Profiler) { step() })
	count := func(a *profiler.Averages) (n int) {
		for _, e := range a.List {
			if e.Name == "aten::linear" {
				n++
			}
		}
		return n
	}
	if n := count(tr.KeyAverages()); n != 1 {
		t.Errorf("%d rows of linear by name", n)
	}
	if n := count(tr.KeyAverages(profiler.GroupBy{InputShape: true})); n != 2 {
		t.Errorf("%d rows of linear by shapes", n)
	}
	if n := count(tr.KeyAverages(profiler.GroupBy{Module: true})); n != 2 {
		t.Errorf("%d rows of linear by modules", n)
	}
	table := tr.KeyAverages(profiler.GroupBy{Stack: 2}).Table(profiler.TableOptions{SortBy: "self_cpu_time_total"})
	if !strings.Contains(table, "Source Location") {
		t.Errorf("no sources:\n%s", table)
	}
	sum := tr.TotalAverage()
	if sum.SelfCPUTime != sum.CPUTime {
		t.Errorf("all events take %v themselves, those at the top %v", sum.SelfCPUTime, sum.CPUTime)
	}
}

func TestStartSeesOtherGoroutines(t *testing.T) {
	p := profiler.Start(profiler.Options{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		torch.Ones([]int{2}).Exp()
	}()
	<-done
	tr := p.Stop()
	find(t, tr, "aten::exp")
	torch.Ones([]int{2}).Sin()
	for _, e := range tr.Events() {
		if e.Name == "aten::sin" {
			t.Error("recorded behind the end")
		}
	}
}
