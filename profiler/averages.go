package profiler

import (
	"slices"
	"strings"
	"time"
)

// Trace is what a profiler has recorded.
type Trace struct {
	events []Event
	o      Options
	wall   time.Time // when the profiler was started
	host   string
}

// Events are the single calls, goroutine by goroutine, in the order in which they began.
func (t *Trace) Events() []Event { return t.events }

// GroupBy says which calls are summed up together. The zero value is calls of one name.
type GroupBy struct {
	InputShape bool // and with inputs of the same shapes
	Stack      int  // and called from the same place: as many functions of the stack are compared and printed
	Module     bool // and inside the same module
}

// Average is the sum of some calls.
type Average struct {
	Name        string
	Count       int
	CPUTime     time.Duration // with what is called inside
	SelfCPUTime time.Duration
	CPUMem      int64
	SelfCPUMem  int64
	FLOPs       int64
	InputShapes [][]int // when grouped by them
	Stack       []string
	Module      string
	nested      bool // one of the calls is inside another event
}

// Averages are sums in the order in which their first calls began.
type Averages struct {
	List   []Average
	o      Options
	shapes bool
}

// KeyAverages sums the calls up by name, and by what GroupBy names besides.
// https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.profiler.profile.key_averages
func (t *Trace) KeyAverages(by ...GroupBy) *Averages {
	var g GroupBy
	if len(by) > 0 {
		g = by[0]
	}
	a := &Averages{o: t.o, shapes: g.InputShape}
	at := map[string]int{}
	for i := range t.events {
		e := &t.events[i]
		if e.Kind == KindModule {
			continue
		}
		avg := Average{Name: e.Name}
		key := e.Name
		if g.InputShape {
			avg.InputShapes = shapesOf(e)
			key += "\x00" + pyShapes(avg.InputShapes)
		}
		if g.Stack > 0 {
			avg.Stack = e.Stack[:min(g.Stack, len(e.Stack))]
			key += "\x00" + strings.Join(avg.Stack, "\x01")
		}
		if g.Module {
			avg.Module = e.Module
			key += "\x00" + avg.Module
		}
		k, ok := at[key]
		if !ok {
			k = len(a.List)
			at[key] = k
			a.List = append(a.List, avg)
		}
		s := &a.List[k]
		s.Count++
		s.CPUTime += e.Duration
		s.SelfCPUTime += e.Self
		s.CPUMem += e.Memory
		s.SelfCPUMem += e.SelfMem
		s.FLOPs += e.FLOPs
		s.nested = s.nested || e.Parent >= 0
	}
	return a
}

// TotalAverage is the sum of all calls; its CPUTime is that of the calls that are inside no other one.
func (t *Trace) TotalAverage() Average {
	a := Average{Name: "Total"}
	for i := range t.events {
		e := &t.events[i]
		if e.Kind == KindModule {
			continue
		}
		a.Count++
		a.SelfCPUTime += e.Self
		a.SelfCPUMem += e.SelfMem
		a.FLOPs += e.FLOPs
		if e.Parent < 0 {
			a.CPUTime += e.Duration
			a.CPUMem += e.Memory
		}
	}
	return a
}

// shapesOf are the shapes of the arguments, empty for what is no tensor.
func shapesOf(e *Event) [][]int {
	out := make([][]int, len(e.Inputs))
	for i, in := range e.Inputs {
		out[i] = in.Shape
	}
	return out
}

// pyShapes prints shapes as Python prints a list of lists.
func pyShapes(shapes [][]int) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, s := range shapes {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(pyInts(s))
	}
	b.WriteByte(']')
	return b.String()
}

// sortKeys are PyTorch's names of what a table can be sorted by.
var sortKeys = map[string]func(a *Average) int64{
	"cpu_time":              func(a *Average) int64 { return int64(a.mean()) },
	"cpu_time_total":        func(a *Average) int64 { return int64(a.CPUTime) },
	"self_cpu_time_total":   func(a *Average) int64 { return int64(a.SelfCPUTime) },
	"cpu_memory_usage":      func(a *Average) int64 { return a.CPUMem },
	"self_cpu_memory_usage": func(a *Average) int64 { return a.SelfCPUMem },
	"count":                 func(a *Average) int64 { return int64(a.Count) },
	"flops":                 func(a *Average) int64 { return a.FLOPs },
}

func (a *Average) mean() time.Duration { return a.CPUTime / time.Duration(max(a.Count, 1)) }

// sorted are the sums with the largest first; equal ones keep their order.
func sorted(list []Average, key func(a *Average) int64) []Average {
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b Average) int {
		switch x, y := key(&a), key(&b); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	return out
}
