// Package bottleneck runs a program under the profiler of package profiler and Go's CPU profiler and writes, on one
// page, where its time goes and what to do about it: torch.utils.bottleneck for Go. The command "gotorch bottleneck"
// builds a program such that its main function runs under [Run].
// https://docs.pytorch.org/docs/stable/bottleneck.html
package bottleneck

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/atomicfile"
	"github.com/gotorch-dev/torch/profiler"
)

// Env is the variable that names the folder for the results. Run only runs the program where it is not set.
const Env = "GOTORCH_BOTTLENECK"

// The files that Run writes.
const (
	ReportFile = "report.txt"
	CPUFile    = "cpu.pprof"
	TraceFile  = "trace.json"
)

// Run runs main under the profilers and writes the results. A program that ends itself with os.Exit leaves none.
func Run(main func()) {
	dir := os.Getenv(Env)
	if dir == "" {
		main()
		return
	}
	if err := run(dir, main); err != nil {
		fmt.Fprintln(os.Stderr, "bottleneck:", err)
		os.Exit(1)
	}
}

func run(dir string, main func()) error {
	f, err := os.Create(filepath.Join(dir, CPUFile))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	s, err := Measure(main)
	pprof.StopCPUProfile()
	if err != nil {
		return err
	}
	if err := s.first.ExportChromeTrace(filepath.Join(dir, TraceFile)); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, ReportFile), s.Write)
}

// Sums is what was measured.
type Sums struct {
	Wall, Busy time.Duration // all, and while an operator or gradient rule ran on some goroutine, summed up over them
	Backward   time.Duration // of Busy
	UserCPU    float64       // seconds of processors in the program, and in the garbage collector
	GCCPU      float64
	Cycles     uint64 // of the garbage collector
	Peak       int    // bytes of tensors
	Threads    int
	Rows       []Row // by name and module
	first      *profiler.Trace
}

// Row is the sum of the calls of an operator in a module.
type Row struct {
	Name, Module string
	Count        int
	Self         time.Duration
}

// interval is how often events are summed up and forgotten.
const interval = 2 * time.Second

// Measure runs f under the profiler. A panic of f is returned as an error.
func Measure(f func()) (s *Sums, err error) {
	s = &Sums{Threads: torch.NumThreads()}
	rows := map[[2]string]int{}
	add := func(t *profiler.Trace) {
		if s.first == nil {
			s.first = t
		}
		for _, a := range t.KeyAverages(profiler.GroupBy{Module: true}).List {
			k, ok := rows[[2]string{a.Name, a.Module}]
			if !ok {
				k = len(s.Rows)
				rows[[2]string{a.Name, a.Module}] = k
				s.Rows = append(s.Rows, Row{Name: a.Name, Module: a.Module})
			}
			s.Rows[k].Count += a.Count
			s.Rows[k].Self += a.SelfCPUTime
		}
		for _, e := range t.Events() {
			if e.Kind == profiler.KindOperator || e.Kind == profiler.KindRule {
				s.Busy += e.Self
			}
			if e.Kind == profiler.KindRule && strings.HasPrefix(e.Name, "autograd::engine") {
				s.Backward += e.Duration
			}
		}
	}
	before := cpuClasses()
	torch.ResetPeakMemoryStats()
	p := profiler.Start(profiler.Options{WithModules: true, Labels: true})
	start := time.Now()
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				add(p.Take())
			case <-quit:
				return
			}
		}
	}()
	err = torch.Try(f)
	s.Wall = time.Since(start)
	close(quit)
	<-done
	add(p.Stop())
	after := cpuClasses()
	s.UserCPU, s.GCCPU, s.Cycles = after.user-before.user, after.gc-before.gc, after.cycles-before.cycles
	s.Peak = torch.MemoryStats().Peak
	slices.SortStableFunc(s.Rows, func(a, b Row) int { return int(b.Self - a.Self) })
	return s, err
}

type classes struct {
	user, gc float64
	cycles   uint64
}

// cpuClasses reads the Go runtime's account of processor time, which it brings up to date in each collection.
func cpuClasses() classes {
	runtime.GC()
	l := []metrics.Sample{{Name: "/cpu/classes/user:cpu-seconds"}, {Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/gc/cycles/automatic:gc-cycles"}}
	metrics.Read(l)
	var c classes
	for i, p := range []*float64{&c.user, &c.gc} {
		if l[i].Value.Kind() == metrics.KindFloat64 {
			*p = l[i].Value.Float64()
		}
	}
	if l[2].Value.Kind() == metrics.KindUint64 {
		c.cycles = l[2].Value.Uint64()
	}
	return c
}

// by sums the rows up by a key, the largest first.
func (s *Sums) by(key func(r *Row) string) []Row {
	at := map[string]int{}
	var out []Row
	for i := range s.Rows {
		r := &s.Rows[i]
		k := key(r)
		if k == "" {
			continue
		}
		j, ok := at[k]
		if !ok {
			j = len(out)
			at[k] = j
			out = append(out, Row{Name: k})
		}
		out[j].Count += r.Count
		out[j].Self += r.Self
	}
	slices.SortStableFunc(out, func(a, b Row) int { return int(b.Self - a.Self) })
	return out
}

func percent(a, b time.Duration) float64 {
	if b <= 0 {
		return 0
	}
	return 100 * float64(a) / float64(b)
}

// Write prints the page.
func (s *Sums) Write(w io.Writer) error {
	var b strings.Builder
	title := func(t string) { fmt.Fprintf(&b, "\n%s\n%s\n", t, strings.Repeat("-", len(t))) }
	fmt.Fprintf(&b, "%s, %s/%s, %d processors, %d threads of operators\n", runtime.Version(), runtime.GOOS,
		runtime.GOARCH, runtime.NumCPU(), s.Threads)
	title("Time")
	fmt.Fprintf(&b, "%10.3f s  from beginning to end\n", s.Wall.Seconds())
	fmt.Fprintf(&b, "%10.3f s  in operators and gradient rules (%.0f %%), %.3f s of it in backward passes\n",
		s.Busy.Seconds(), percent(s.Busy, s.Wall), s.Backward.Seconds())
	fmt.Fprintf(&b, "%10.3f s  of processors in the program, %.3f s in the garbage collector (%d cycles)\n", s.UserCPU,
		s.GCCPU, s.Cycles)
	fmt.Fprintf(&b, "%10.1f MB most memory of tensors at a time\n", float64(s.Peak)/1e6)
	table := func(rows []Row, most int) {
		fmt.Fprintf(&b, "%10s  %6s  %9s  %12s\n", "own time", "share", "calls", "per call")
		for i, r := range rows {
			if i == most {
				break
			}
			fmt.Fprintf(&b, "%8.3f s  %4.1f %%  %9d  %9.1f us  %s\n", r.Self.Seconds(), percent(r.Self, s.Wall), r.Count,
				float64(r.Self.Nanoseconds())/1e3/float64(max(r.Count, 1)), r.Name)
		}
	}
	title("Operators")
	table(s.by(func(r *Row) string { return r.Name }), 12)
	if modules := s.by(func(r *Row) string { return r.Module }); len(modules) > 0 {
		title("Modules (forward passes)")
		table(modules, 8)
	}
	title("Findings")
	for i, f := range s.Findings() {
		fmt.Fprintf(&b, "%d. %s\n", i+1, f)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
