package profiler

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gotorch-dev/torch/internal/atomicfile"
	"github.com/gotorch-dev/torch/tensor"
)

// ExportChromeTrace writes the trace to a file that chrome://tracing, https://ui.perfetto.dev and TensorBoard's profile
// plugin read. Names, categories and arguments are those of PyTorch; arrows lead from operators to their gradient
// rules. A file whose name ends in .gz is compressed.
// https://docs.pytorch.org/docs/stable/profiler.html#torch.profiler._KinetoProfile.export_chrome_trace
func (t *Trace) ExportChromeTrace(path string) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		if !strings.HasSuffix(path, ".gz") {
			return t.WriteChromeTrace(w)
		}
		z := gzip.NewWriter(w)
		if err := t.WriteChromeTrace(z); err != nil {
			return err
		}
		return z.Close()
	})
}

// epoch is the moment that the times of a trace are counted from: as in PyTorch the last one that is a whole number of
// quarters of a year after 1970, the same for all processes. Counted from 1970, microseconds in float64 would be off by
// a quarter, and short events not lie inside those around them.
func (t *Trace) epoch() time.Time {
	const quarter = 7889238 // seconds
	s := t.wall.Unix()
	return time.Unix(s-s%quarter, 0)
}

// chromeEvent is an event of the format.
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
type chromeEvent struct {
	Ph    string         `json:"ph"`
	Cat   string         `json:"cat,omitempty"`
	Name  string         `json:"name"`
	PID   any            `json:"pid"`
	TID   any            `json:"tid"`
	TS    float64        `json:"ts"`
	Dur   *float64       `json:"dur,omitempty"`
	ID    int64          `json:"id,omitempty"`
	BP    string         `json:"bp,omitempty"`
	Scope string         `json:"s,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// WriteChromeTrace is ExportChromeTrace to a writer.
func (t *Trace) WriteChromeTrace(w io.Writer) error {
	b := bufio.NewWriter(w)
	flag := func(on bool) int {
		if on {
			return 1
		}
		return 0
	}
	head, err := json.MarshalIndent(map[string]any{
		"schemaVersion": 1, "deviceProperties": []any{}, "displayTimeUnit": "ms", "host_name": t.host,
		"with_stack": flag(t.o.WithStack), "profile_memory": flag(t.o.ProfileMemory),
		"record_shapes": flag(t.o.RecordShapes), "with_modules": flag(t.o.WithModules),
		"with_flops": flag(t.o.WithFLOPs), "baseTimeNanoseconds": t.epoch().UnixNano(),
	}, "", "  ")
	if err != nil {
		return err
	}
	b.WriteString(strings.TrimSuffix(string(head), "\n}") + ",\n  \"traceEvents\": [\n")
	first := true
	put := func(e chromeEvent) {
		if err != nil {
			return
		}
		var line []byte
		if line, err = json.Marshal(e); err != nil {
			return
		}
		if !first {
			b.WriteString(",\n")
		}
		first = false
		b.WriteString("  ")
		b.Write(line)
	}
	t.chromeEvents(put)
	if err != nil {
		return err
	}
	b.WriteString("\n  ]\n}\n")
	return b.Flush()
}

// chromeEvents gives the events to put.
func (t *Trace) chromeEvents(put func(chromeEvent)) {
	pid := os.Getpid()
	base := t.wall.Sub(t.epoch())
	at := func(d time.Duration) float64 { return float64(base+d) / 1e3 }
	put(chromeEvent{Ph: "M", Name: "process_name", PID: pid, TID: 0, TS: at(0),
		Args: map[string]any{"name": filepath.Base(os.Args[0])}})
	put(chromeEvent{Ph: "M", Name: "process_labels", PID: pid, TID: 0, TS: at(0),
		Args: map[string]any{"labels": "CPU"}})
	named := map[int]bool{}
	// the innermost call with a number made the node
	makers := map[int64]int{}
	for i := range t.events {
		if e := &t.events[i]; e.Kind == KindOperator && e.Sequence != 0 {
			makers[e.Sequence] = i
		}
	}
	var end time.Duration
	for i := range t.events {
		e := &t.events[i]
		end = max(end, e.Start+e.Duration)
		if !named[e.Thread] {
			named[e.Thread] = true
			name := fmt.Sprintf("goroutine %d", e.Thread)
			if e.Thread == 0 {
				name = "garbage collector"
			}
			put(chromeEvent{Ph: "M", Name: "thread_name", PID: pid, TID: e.Thread, TS: at(0),
				Args: map[string]any{"name": name}})
		}
		dur := float64(e.Duration) / 1e3
		c := chromeEvent{Ph: "X", Name: e.Name, PID: pid, TID: e.Thread, TS: at(e.Start), Dur: &dur,
			Args: map[string]any{"Ev Idx": i}}
		switch e.Kind {
		case KindOperator, KindRule:
			c.Cat = "cpu_op"
		case KindAnnotation:
			c.Cat = "user_annotation"
		case KindStep:
			c.Cat, c.Name = "user_annotation", e.FullName
		default:
			c.Cat = "python_function"
			c.Args["Python module id"] = 0
		}
		if e.Kind != KindModule {
			c.Args["External id"] = i + 1
			c.Args["Record function id"] = 0
		}
		e.arguments(c.Args)
		k, made := makers[e.Sequence]
		if made = made && e.Kind == KindRule; made {
			c.Args["Fwd thread id"] = t.events[k].Thread
		}
		if e.Kind != KindMemory { // there is no call, only the amount
			put(c)
		}
		for _, m := range e.Memories {
			put(chromeEvent{Ph: "i", Cat: "cpu_instant_event", Scope: "t", Name: "[memory]", PID: pid, TID: e.Thread,
				TS: at(m.At), Args: map[string]any{"Total Reserved": 0, "Total Allocated": m.Total, "Bytes": m.Bytes,
					"Device Id": -1, "Device Type": 0, "Ev Idx": i}})
		}
		if made && strings.HasPrefix(e.Name, "autograd::engine") {
			f := &t.events[k]
			put(chromeEvent{Ph: "s", Cat: "fwdbwd", Name: "fwdbwd", ID: e.Sequence, PID: pid, TID: f.Thread,
				TS: at(f.Start)})
			put(chromeEvent{Ph: "f", Cat: "fwdbwd", Name: "fwdbwd", ID: e.Sequence, PID: pid, TID: e.Thread,
				TS: at(e.Start), BP: "e"})
		}
	}
	all := float64(end) / 1e3
	put(chromeEvent{Ph: "X", Cat: "Trace", Name: "PyTorch Profiler (0)", PID: "Spans", TID: "PyTorch Profiler",
		TS: at(0), Dur: &all, Args: map[string]any{"Op count": 0}})
	put(chromeEvent{Ph: "i", Scope: "g", Name: "Iteration Start: PyTorch Profiler", PID: "Traces",
		TID: "Trace PyTorch Profiler", TS: at(0)})
	put(chromeEvent{Ph: "i", Scope: "g", Name: "Record Window End", PID: "", TID: "", TS: at(end)})
}

// arguments adds what is known of a call.
func (e *Event) arguments(args map[string]any) {
	if e.Sequence != 0 {
		args["Sequence number"] = e.Sequence
		args["Fwd thread id"] = 0
	}
	if e.Inputs != nil {
		dims, strides := make([]any, len(e.Inputs)), make([]any, len(e.Inputs))
		types, values := make([]string, len(e.Inputs)), make([]string, len(e.Inputs))
		for i, in := range e.Inputs {
			dims[i], strides[i] = append([]int{}, in.Shape...), append([]int{}, in.Stride...)
			if in.Shapes != nil {
				dims[i], strides[i] = in.Shapes, in.Strides
			}
			types[i], values[i] = in.Type, in.Value
		}
		args["Input Dims"], args["Input Strides"], args["Input type"] = dims, strides, types
		args["Concrete Inputs"] = values
	}
	if e.Module != "" {
		args["Module Hierarchy"] = e.Module
	}
	if e.Stack != nil {
		args["Call stack"] = strings.Join(e.Stack, ";")
	}
	if e.FLOPs > 0 {
		args["flops"] = e.FLOPs
	}
}

// TensorBoardTraceHandler is an OnTraceReady that writes each trace into a folder, where TensorBoard's profile plugin
// finds it: dir/worker.TIME.pt.trace.json. An empty worker is the host's name with the number of the process. A trace
// that cannot be written is an error (ErrValue) of the call of Step.
// https://docs.pytorch.org/docs/stable/profiler.html#torch.profiler.tensorboard_trace_handler
func TensorBoardTraceHandler(dir, worker string) func(t *Trace) {
	return func(t *Trace) {
		name := worker
		if name == "" {
			name = fmt.Sprintf("%s_%d", t.host, os.Getpid())
		}
		err := os.MkdirAll(dir, 0o777)
		if err == nil {
			err = t.ExportChromeTrace(filepath.Join(dir, fmt.Sprintf("%s.%d.pt.trace.json", name,
				time.Now().UnixNano())))
		}
		if err != nil {
			tensor.Fail(tensor.ErrValue, "profiler: %v", err)
		}
	}
}

// ExportStacks writes the places from which operators were called, with the microseconds that they took there, for
// programs that draw flame graphs: "main.main;layer.Forward 12". Options.WithStack is needed.
// https://docs.pytorch.org/docs/stable/profiler.html#torch.profiler._KinetoProfile.export_stacks
func (t *Trace) ExportStacks(path string) error {
	sums, order := map[string]int64{}, []string{}
	for i := range t.events {
		e := &t.events[i]
		if len(e.Stack) == 0 || e.Self < time.Microsecond {
			continue
		}
		var b strings.Builder
		for k := len(e.Stack) - 1; k >= 0; k-- {
			b.WriteString(strings.ReplaceAll(e.Stack[k], " ", "_") + ";")
		}
		b.WriteString(e.Name)
		if _, ok := sums[b.String()]; !ok {
			order = append(order, b.String())
		}
		sums[b.String()] += e.Self.Microseconds()
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		for _, s := range order {
			if _, err := fmt.Fprintf(w, "%s %d\n", s, sums[s]); err != nil {
				return err
			}
		}
		return nil
	})
}
