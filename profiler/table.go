package profiler

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gotorch-dev/torch/tensor"
)

// TableOptions are the options of Table.
type TableOptions struct {
	// SortBy is one of "cpu_time" (of one call), "cpu_time_total", "self_cpu_time_total", "cpu_memory_usage",
	// "self_cpu_memory_usage", "count" and "flops"; the largest comes first. "" keeps the order of the first calls.
	SortBy         string
	RowLimit       int    // 0 is 100, below 0 no limit
	Header         string // printed above
	MaxNameWidth   int    // 0 is 55, below 0 no limit
	MaxShapesWidth int    // 0 is 80, below 0 no limit
	MaxSourceWidth int    // 0 is 75, below 0 no limit
	TopLevelOnly   bool   // leave out what is called inside other events
	TimeUnit       string // "s", "ms" or "us" for all times; "" chooses for each
}

const columnWidth = 12

// column is a column of a table: its header, its width, and on which side its texts stand.
type column struct {
	header string
	width  int
	left   bool
}

// Table prints the sums as PyTorch's key_averages().table() does, down to the spaces. A name in SortBy or TimeUnit that
// does not exist is an error of the call.
// https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.profiler.profile.table
func (a *Averages) Table(opts ...TableOptions) string {
	var o TableOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	list := a.List
	if o.SortBy != "" {
		key := sortKeys[o.SortBy]
		if key == nil {
			tensor.Fail(tensor.ErrValue, "profiler: a table cannot be sorted by %q, only by one of %q", o.SortBy,
				slices.Sorted(maps.Keys(sortKeys)))
		}
		list = sorted(list, key)
	}
	if !slices.Contains([]string{"", "s", "ms", "us"}, o.TimeUnit) {
		tensor.Fail(tensor.ErrValue, "profiler: the unit of times is s, ms or us, not %q", o.TimeUnit)
	}
	if len(list) == 0 {
		return ""
	}
	t := a.layout(list, &o)
	limit := def(o.RowLimit, 100)
	for i := range list {
		if limit == 0 {
			break
		}
		if o.TopLevelOnly && list[i].nested {
			continue
		}
		limit--
		t.row(&list[i])
	}
	t.rule()
	fmt.Fprintf(&t.out, "Self CPU time total: %s\n", t.time(t.total))
	return t.out.String()
}

// def is n, the default for 0, and a number without end below 0.
func def(n, zero int) int {
	switch {
	case n == 0:
		return zero
	case n < 0:
		return math.MaxInt
	}
	return n
}

// table is one that is being printed.
type table struct {
	out                     strings.Builder
	o                       *TableOptions
	columns                 []column
	memory, shapes, sources bool
	flops                   float64 // factor of the numbers in the column of operations, 0 without the column
	total                   time.Duration
}

// layout chooses the columns and prints the head.
func (a *Averages) layout(list []Average, o *TableOptions) *table {
	t := &table{o: o, memory: a.o.ProfileMemory, shapes: a.shapes}
	name, shapes, source, least := 0, 0, 0, int64(math.MaxInt64)
	for i := range list {
		e := &list[i]
		name = max(name, utf8.RuneCountInString(e.label()))
		shapes = max(shapes, len(pyShapes(e.InputShapes)))
		for _, s := range e.Stack {
			source = max(source, utf8.RuneCountInString(s))
		}
		if e.FLOPs > 0 {
			least = min(least, e.FLOPs)
		}
		t.total += e.SelfCPUTime
	}
	t.add("Name", min(name+4, def(o.MaxNameWidth, 55)))
	for _, h := range []string{"Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"} {
		t.add(h, columnWidth)
	}
	if t.memory {
		t.add("CPU Mem", columnWidth)
		t.add("Self CPU Mem", columnWidth)
	}
	t.add("# of Calls", columnWidth)
	if t.shapes {
		t.add("Input Shapes", min(shapes+4, def(o.MaxShapesWidth, 80)))
	}
	// The operations stand in front of the source, where PyTorch has their header behind it.
	if least < math.MaxInt64 {
		units := []string{"FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs"}
		k := min(int(math.Log10(float64(least))/3), len(units)-1)
		t.flops = math.Pow(1000, -float64(k))
		t.add("Total "+units[k], columnWidth)
	}
	if source > 0 {
		t.sources = true
		t.columns = append(t.columns, column{"Source Location", min(source+4, def(o.MaxSourceWidth, 75)), true})
	}
	line := -2
	headers := make([]string, len(t.columns))
	for i, c := range t.columns {
		line += c.width + 2
		headers[i] = c.header
	}
	if o.Header != "" {
		t.out.WriteString(strings.Repeat("=", line) + "\n" + o.Header + "\n")
	}
	if o.TopLevelOnly {
		t.out.WriteString(strings.Repeat("=", line) + "\nThis report only display top-level ops statistics\n")
	}
	t.rule()
	t.line(headers)
	t.rule()
	return t
}

func (t *table) add(header string, width int) {
	t.columns = append(t.columns, column{header, width, false})
}

func (t *table) rule() {
	for _, c := range t.columns {
		t.out.WriteString(strings.Repeat("-", c.width) + "  ")
	}
	t.out.WriteByte('\n')
}

func (t *table) line(cells []string) {
	for i, c := range t.columns {
		pad := strings.Repeat(" ", max(0, c.width-utf8.RuneCountInString(cells[i])))
		if c.left {
			t.out.WriteString(cells[i] + pad + "  ")
		} else {
			t.out.WriteString(pad + cells[i] + "  ")
		}
	}
	t.out.WriteByte('\n')
}

// label is the name of a row.
func (a *Average) label() string {
	if a.Module != "" {
		return a.Name + " in " + a.Module
	}
	return a.Name
}

func (t *table) row(e *Average) {
	cells := make([]string, 0, len(t.columns))
	name := []rune(e.label())
	if w := def(t.o.MaxNameWidth, 55); len(name) >= w-3 && w > 3 {
		name = append(name[:w-3:w-3], []rune("...")...)
	}
	cells = append(cells, string(name), t.share(e.SelfCPUTime), t.time(e.SelfCPUTime), t.share(e.CPUTime),
		t.time(e.CPUTime), t.micro(float64(e.CPUTime)/float64(e.Count)))
	if t.memory {
		cells = append(cells, memoryText(e.CPUMem), memoryText(e.SelfCPUMem))
	}
	cells = append(cells, strconv.Itoa(e.Count))
	if t.shapes {
		s := pyShapes(e.InputShapes)
		cells = append(cells, s[:min(len(s), t.columns[len(cells)].width)])
	}
	if t.flops > 0 {
		s := "--"
		if e.FLOPs > 0 {
			s = fmt.Sprintf("%8.3f", float64(e.FLOPs)*t.flops)
		}
		cells = append(cells, s)
	}
	if !t.sources {
		t.line(cells)
		return
	}
	width := t.columns[len(cells)].width
	empty := make([]string, len(cells))
	source := ""
	if len(e.Stack) > 0 {
		source = trimPath(e.Stack[0], width)
	}
	t.line(append(cells, source))
	for _, s := range e.Stack[min(1, len(e.Stack)):] {
		t.line(append(empty[:len(empty):len(empty)], trimPath(s, width)))
	}
	t.line(append(empty, ""))
}

// trimPath cuts the front of a text that is longer than its column.
func trimPath(s string, width int) string {
	if r := []rune(s); len(r) > width {
		r = r[len(r)-width:]
		if len(r) > 3 {
			return "..." + string(r[3:])
		}
		return string(r)
	}
	return s
}

func (t *table) share(d time.Duration) string {
	if t.total == 0 {
		return "NaN"
	}
	return fmt.Sprintf("%.2f%%", float64(d)*100/float64(t.total))
}

func (t *table) time(d time.Duration) string { return t.micro(float64(d)) }

// micro prints nanoseconds in the unit that the options choose, or in a fitting one.
func (t *table) micro(ns float64) string {
	switch us := ns / 1e3; {
	case t.o.TimeUnit == "s" || t.o.TimeUnit == "" && us >= 1e6:
		return fmt.Sprintf("%.3fs", us/1e6)
	case t.o.TimeUnit == "ms" || t.o.TimeUnit == "" && us >= 1e3:
		return fmt.Sprintf("%.3fms", us/1e3)
	default:
		return fmt.Sprintf("%.3fus", us)
	}
}

// memoryText prints a number of bytes.
func memoryText(n int64) string {
	for _, u := range []struct {
		size int64
		name string
	}{{1 << 30, "GB"}, {1 << 20, "MB"}, {1 << 10, "KB"}} {
		if n >= u.size || n <= -u.size {
			return fmt.Sprintf("%.2f %s", float64(n)/float64(u.size), u.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}

// pyInts prints numbers as a list of Python's.
func pyInts(l []int) string {
	s := make([]string, len(l))
	for i, n := range l {
		s[i] = strconv.Itoa(n)
	}
	return "[" + strings.Join(s, ", ") + "]"
}
