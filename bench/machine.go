package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/cpu/gemm"
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// bounds are what the machine can do with a number of threads.
type bounds struct {
	gflops float64 // independent fused multiply-adds in registers; 0 without assembly
	gbps   float64 // STREAM's triad on arrays beyond the caches
}

// measureBounds finds both. The pool of kernels must have its threads already.
func measureBounds(c *config, threads int) bounds {
	d := 200 * time.Millisecond
	n := 16 << 20 // elements of each array
	if c.tiny {
		d, n = 5*time.Millisecond, 1<<16
	}
	return bounds{peakFlops(threads, d), triad(n)}
}

// peakFlops is the sum of the peaks that the threads reach side by side: cores clock down when all of them work.
// Threads beyond the processors add nothing.
func peakFlops(threads int, d time.Duration) float64 {
	each := make([]float64, min(threads, runtime.NumCPU()))
	var wg sync.WaitGroup
	for i := range each {
		wg.Add(1)
		go func() {
			defer wg.Done()
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			each[i] = gemm.Peak(d)
		}()
	}
	wg.Wait()
	sum := 0.0
	for _, p := range each {
		sum += p
	}
	return sum
}

// triad is the rate of a = b + s·c, three arrays counted as STREAM does (https://www.cs.virginia.edu/stream/).
func triad(n int) float64 {
	// Tensors, for their huge pages.
	data := func(v float64) []float32 { return torch.Data[float32](torch.Full([]int{n}, v)) }
	a, b, c := data(0), data(1), data(2)
	best := 0.0
	for range 8 {
		start := time.Now()
		par.For(n, 1<<16, func(lo, hi int) { vec.AddScaledF32(a[lo:hi], b[lo:hi], c[lo:hi], 3) })
		best = max(best, float64(12*n)/float64(time.Since(start)))
	}
	return best
}

// machineName describes the processor in a line.
func machineName() string {
	name := runtime.GOARCH
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		defer func() { _ = f.Close() }()
		name = processor(f, name)
	}
	return fmt.Sprintf("%s, %d cores, %s kernels, %s/%s, %s", name, runtime.NumCPU(), kernels(), runtime.GOOS,
		runtime.GOARCH, runtime.Version())
}

// processor reads the name of the first processor in Linux's list, with its family and model where the name does not
// tell a generation; it is other where there is none.
func processor(list io.Reader, other string) string {
	first := map[string]string{}
	for s := bufio.NewScanner(list); s.Scan() && s.Text() != ""; {
		k, v, _ := strings.Cut(s.Text(), ":")
		first[strings.TrimSpace(k)] = strings.TrimSpace(v)
	}
	name := cmp.Or(first["model name"], other)
	if first["cpu family"] != "" {
		name += fmt.Sprintf(" (family %s, model %s)", first["cpu family"], first["model"])
	}
	return name
}

// kernels names the instructions that kernels use.
func kernels() string {
	switch f := cpu.Current(); {
	case f.AVX512:
		return "AVX-512"
	case f.AVX2FMA:
		return "AVX2"
	case f.NEON:
		return "NEON"
	}
	return "plain Go"
}
