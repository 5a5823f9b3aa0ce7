package torchtest_test

import (
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/tensor"
)

var (
	rounds = flag.Int("rounds", 0, "random calls of each operator (0: a few)")
	round0 = flag.Int("round0", 0, "number of the first of them")
	trace  = flag.String("trace", "", "file that holds the number of the random call that runs, for crashes")
)

const (
	callMemory = 64 << 20 // bytes that tensors may have together while an operator is called with random arguments
	// Bytes that such a call may allocate one after the other: several results and temporary tensors that are as large
	// as callMemory allows.
	callAllocates = 1 << 30
	callTakes     = 10 * time.Second // that such a call may take at most on a busy machine
)

// TestRandomCalls calls every form of every operator with random arguments. Each call gives results or a
// *tensor.Error: it has no other panic, allocates no more than callAllocates and ends within callTakes. Then the
// gradients of the results are computed, under the same conditions.
func TestRandomCalls(t *testing.T) {
	n := *rounds
	if n == 0 {
		n = 6
		if testing.Short() {
			n = 2
		}
	}
	var re *regexp.Regexp
	if *only != "" {
		re = regexp.MustCompile(*only)
	}
	before := tensor.SetWarnings(func(tensor.Warning) {})
	defer func() { tensor.SetWarnings(before) }()
	calls, accepted := 0, 0
	found := map[string]bool{}
	for _, op := range tensor.Ops() {
		if re != nil && !re.MatchString(op.FullName()) {
			continue
		}
		for k := range n {
			ok, err := randomCall(op, uint64(*round0+k))
			calls++
			if ok {
				accepted++
			}
			if err != nil && !found[op.FullName()+err.kind] {
				found[op.FullName()+err.kind] = true
				text := fmt.Sprintf("%s, call %d: %s", op.FullName(), *round0+k, err.text)
				t.Error(text)
				if *trace != "" { // a later call may end the process
					fmt.Fprintln(os.Stderr, text)
				}
			}
		}
	}
	t.Logf("%d calls, of which %d had results", calls, accepted)
}

// FuzzRandomCalls is TestRandomCalls for operators and seeds that the fuzzer chooses.
func FuzzRandomCalls(f *testing.F) {
	tensor.SetWarnings(func(tensor.Warning) {})
	ops := tensor.Ops()
	for i := 0; i < len(ops); i += len(ops) / 16 {
		f.Add(uint16(i), uint64(i))
	}
	f.Fuzz(func(t *testing.T, number uint16, seed uint64) {
		op := ops[int(number)%len(ops)]
		if _, err := randomCall(op, seed); err != nil {
			t.Errorf("%s, call %d: %s", op.FullName(), seed, err.text)
		}
	})
}

// fault is what must not happen in a call. Faults of one kind are probably the same mistake.
type fault struct{ kind, text string }

// randomCall calls the operator with the arguments of a number and reports whether there were results.
func randomCall(op *tensor.Op, number uint64) (ok bool, bad *fault) {
	if *trace != "" {
		if err := os.WriteFile(*trace, fmt.Appendf(nil, "%s %d\n", op.FullName(), number), 0o600); err != nil {
			return false, &fault{"trace", err.Error()}
		}
	}
	h := fnv.New64a()
	h.Write([]byte(op.FullName()))
	args := newDraws(h.Sum64() ^ number*0x9E3779B97F4A7C15).args(op)
	text := make([]string, len(args))
	for i, a := range args {
		text[i] = a.String()
		if len(text[i]) > 200 {
			text[i] = text[i][:200] + "…"
		}
	}
	defer torch.SetMemoryLimit(torch.SetMemoryLimit(torch.MemoryStats().Allocated + callMemory))
	done := make(chan *fault, 1)
	before := allocated()
	go func() {
		debug.SetPanicOnFault(true) // a kernel that reads elsewhere
		done <- attempt(func() { ok = useful(op, args) })
	}()
	select {
	case bad = <-done:
	case <-time.After(callTakes):
		buf := make([]byte, 1<<20)
		text := fmt.Sprintf("does not end within %v", callTakes)
		for _, s := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(s, "torchtest_test.useful(") {
				text += "\n" + s
			}
		}
		bad = &fault{"time", text}
	}
	if n := allocated() - before; bad == nil && n > callAllocates {
		bad = &fault{"memory", fmt.Sprintf("allocates %s", mem.Human(n))}
	}
	if bad == nil && mem.Guarded {
		if err := mem.CheckGuards(); err != nil {
			bad = &fault{"guard", err.Error()}
		}
	}
	if bad != nil {
		bad.text += "\narguments: " + strings.Join(text, ", ")
	}
	return ok, bad
}

// attempt reports a panic with anything but a *tensor.Error.
func attempt(f func()) (bad *fault) {
	defer func() {
		r := recover()
		if _, ok := r.(*tensor.Error); ok || r == nil {
			return
		}
		bad = &fault{"panic", fmt.Sprintf("panic: %v\n%s", r, origin(string(debug.Stack())))}
	}()
	f()
	return nil
}

// origin are the functions that a stack of a panic begins with, with their lines, up to the dispatcher.
func origin(stack string) string {
	lines := strings.Split(stack, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.HasPrefix(lines[i], "panic(") {
			lines = lines[i+2:]
			break
		}
	}
	var b strings.Builder
	for i := 0; i+1 < len(lines) && !strings.Contains(lines[i], "dispatch("); i += 2 {
		fmt.Fprintln(&b, strings.TrimSpace(lines[i+1]))
	}
	return b.String()
}

// useful calls the operator, looks at all elements of its results, and computes gradients.
func useful(op *tensor.Op, args []tensor.Value) bool {
	res, err := op.Call(args...)
	if err != nil {
		if e := (*tensor.Error)(nil); !errors.As(err, &e) {
			panic(err)
		}
		return false
	}
	var outs []*tensor.Tensor
	for _, v := range res {
		if v.K == tensor.KTensor {
			outs = append(outs, v.T)
		} else if l, ok := v.X.([]*tensor.Tensor); ok {
			outs = append(outs, l...)
		}
	}
	var roots []*tensor.Tensor
	for _, t := range outs {
		if t == nil {
			continue
		}
		inside(t)
		if t.Device().Type == tensor.CPUDevice && t.Numel() < 1<<16 {
			tensor.DenseAs(t.Detach(), tensor.Complex128)
		}
		if t.RequiresGrad() && t.IsFloatingPoint() {
			roots = append(roots, t.Sum())
		}
	}
	if len(roots) > 0 {
		tensor.BackwardAll(roots, make([]*tensor.Tensor, len(roots)), tensor.BackwardOptions{})
	}
	return true
}

// inside panics if a tensor reaches beyond its memory.
func inside(t *tensor.Tensor) {
	if t.Numel() == 0 {
		return
	}
	if t.IsSparse() {
		if t.IsCoalesced() {
			inside(t.Indices())
			inside(t.Values())
		}
		return
	}
	if t.IsSparseCSR() {
		inside(t.CrowIndices())
		inside(t.ColIndices())
		inside(t.Values())
		return
	}
	end := t.StorageOffset() + 1
	for i, s := range t.Strides() {
		if s < 0 {
			panic(fmt.Sprintf("result with strides %v", t.Strides()))
		}
		end += (t.Size(i) - 1) * s
	}
	if size := end * t.DType().Size(); size > t.Storage().NumBytes() {
		panic(fmt.Sprintf("result of shape %v with strides %v and offset %d reaches beyond the %d bytes of its memory",
			t.Shape(), t.Strides(), t.StorageOffset(), t.Storage().NumBytes()))
	}
}

// allocated counts the bytes that the program has taken from the Go heap and for tensors so far.
func allocated() int {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return int(s[0].Value.Uint64())
}
