package profiler

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gotorch-dev/torch/tensor"
)

// sums are four rows; the tables of testdata were printed by PyTorch from the same numbers.
func sums(shapes, stack bool) []Average {
	us := func(x float64) time.Duration { return time.Duration(x * 1e3) }
	l := []Average{
		{Name: "step", Count: 1, CPUTime: us(1541.701), SelfCPUTime: us(246.053), CPUMem: 408, SelfCPUMem: -80},
		{Name: "autograd::engine::evaluate_function: NllLossBackward0", Count: 2, CPUTime: us(39.268),
			SelfCPUTime: us(10.555), CPUMem: 1219, SelfCPUMem: -400, InputShapes: [][]int{{4, 5}, {}, {4}},
			Stack: []string{"m.go(3): main.f"}},
		{Name: "aten::addmm", Count: 2, CPUTime: us(126.868), SelfCPUTime: us(91.956), CPUMem: 5 << 20,
			SelfCPUMem: 3 << 30, FLOPs: 2400, InputShapes: [][]int{{20}, {4, 10}, {10, 20}, {}, {}},
			Stack: []string{"net/" + strings.Repeat("x", 80) + ".go(12): main.main", "m.go(4): main.g"}},
		{Name: "aten::mm", Count: 3, CPUTime: us(1234567.5), SelfCPUTime: us(32.005), CPUMem: 1517, SelfCPUMem: 1517,
			FLOPs: 3200000, InputShapes: [][]int{{20, 4}, {4, 10}}},
	}
	for i := range l {
		if !shapes {
			l[i].InputShapes = nil
		}
		if !stack {
			l[i].Stack = nil
		}
	}
	return l
}

func TestTable(t *testing.T) {
	noFLOPs := func(l []Average) []Average {
		for i := range l {
			l[i].FLOPs = 0
		}
		return l
	}
	for _, c := range []struct {
		file string
		a    Averages
		o    TableOptions
	}{
		{"table0.txt", Averages{List: noFLOPs(sums(false, false))}, TableOptions{SortBy: "cpu_time_total"}},
		{"table1.txt", Averages{List: sums(false, false), o: Options{ProfileMemory: true}}, TableOptions{}},
		{"table2.txt", Averages{List: noFLOPs(sums(true, false)), o: Options{ProfileMemory: true}, shapes: true},
			TableOptions{SortBy: "self_cpu_memory_usage", RowLimit: 3, Header: "shapes"}},
		{"table3.txt", Averages{List: noFLOPs(sums(false, true))},
			TableOptions{SortBy: "count", TimeUnit: "ms", MaxSourceWidth: 40, MaxNameWidth: 30}},
	} {
		want, err := os.ReadFile("testdata/" + c.file)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.a.Table(c.o); got != string(want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.file, got, want)
		}
	}
}

func TestTableRefuses(t *testing.T) {
	a := Averages{List: sums(false, false)}
	for _, o := range []TableOptions{{SortBy: "beauty"}, {TimeUnit: "h"}} {
		if err := tensor.Try(func() { a.Table(o) }); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	if s := (&Averages{}).Table(); s != "" {
		t.Errorf("a table of nothing is %q", s)
	}
}
