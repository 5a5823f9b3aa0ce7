package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/optim"
)

func hist(name string, old *metrics.Float64Histogram) (p50, p99, mx float64, n uint64, h *metrics.Float64Histogram) {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	h = s[0].Value.Float64Histogram()
	c := append([]uint64(nil), h.Counts...)
	h.Counts = c
	d := make([]uint64, len(c))
	for i := range c {
		d[i] = c[i]
		if old != nil {
			d[i] -= old.Counts[i]
		}
		n += d[i]
	}
	q := func(f float64) float64 {
		var k uint64
		for i := range d {
			k += d[i]
			if float64(k) >= f*float64(n) {
				return h.Buckets[i+1]
			}
		}
		return 0
	}
	return q(.5) * 1e3, q(.99) * 1e3, q(1) * 1e3, n, h
}

func main() {
	if len(os.Args) > 2 {
		f, _ := os.Create(os.Args[2])
		pprof.StartCPUProfile(f)
		defer pprof.StopCPUProfile()
	}
	which := "both"
	if len(os.Args) > 1 {
		which = os.Args[1]
	}
	_, _, _, _, h0 := hist("/sched/pauses/total/gc:seconds", nil)
	_, _, _, _, h1 := hist("/sched/pauses/stopping/gc:seconds", nil)
	start := time.Now()
	leaves := map[string][]float64{}
	_, _, _, _, h2 := hist("/sched/pauses/stopping/other:seconds", nil)
	if os.Getenv("STACKS") != "" {
		go func() {
			buf := make([]byte, 1<<20)
			for {
				time.Sleep(3 * time.Millisecond)
				s := []metrics.Sample{{Name: "/sched/pauses/stopping/other:seconds"}}
				metrics.Read(s)
				_, _, c0, _, h := hist("/sched/pauses/stopping/other:seconds", nil)
				_ = c0
				n := runtime.Stack(buf, true)
				_, _, c, _, _ := hist("/sched/pauses/stopping/other:seconds", h)
				if c < 1 {
					continue
				}
				for _, g := range strings.Split(string(buf[:n]), "\n\n") {
					l := strings.Split(g, "\n")
					if len(l) < 4 || !strings.Contains(l[0], "runnable") && !strings.Contains(l[0], "running") || strings.Contains(g, "main.main.func1(") {
						continue
					}
					var k []string
					for i := 1; i < len(l) && len(k) < 4; i += 2 {
						f := l[i]
						if j := strings.LastIndex(f, "("); j > 0 {
							f = f[:j]
						}
						if i+1 < len(l) {
							w := strings.Fields(l[i+1])
							if len(w) > 0 {
								f += " " + w[0][strings.LastIndex(w[0], "/")+1:]
							}
						}
						k = append(k, strings.TrimPrefix(f, "github.com/gotorch-dev/torch/"))
					}
					key := strings.Join(k, " < ")
					leaves[key] = append(leaves[key], c)
				}
			}
		}()
	}
	var wg sync.WaitGroup
	steps := make([]int, 8)
	for i := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if which == "spin" {
				a := 0.0
				for time.Since(start) < 12*time.Second {
					for k := range 1000000 {
						a += float64(k) * a
					}
					steps[i]++
				}
				return
			}
			var m nn.Layer
			var x *torch.Tensor
			if which == "mlp" || which == "both" && i%2 == 0 {
				m = nn.NewSequential(nn.NewLinear(1024, 1024), nn.NewReLU(), nn.NewLinear(1024, 1024), nn.NewReLU(), nn.NewLinear(1024, 10))
				x = torch.Randn([]int{256, 1024})
			} else {
				m = nn.NewSequential(nn.NewConv2d(3, 32, 3, nn.Conv2dOptions{Padding: nn.Size{1}}), nn.NewReLU(), nn.NewMaxPool2d(2),
					nn.NewConv2d(32, 64, 3, nn.Conv2dOptions{Padding: nn.Size{1}}), nn.NewReLU(), nn.NewMaxPool2d(2), nn.NewFlatten(), nn.NewLinear(64*8*8, 10))
				x = torch.Randn([]int{64, 3, 32, 32})
			}
			y := torch.Zeros([]int{x.Size(0)}, torch.ZerosOptions{DType: torch.Int64})
			o := optim.NewAdam(nn.Parameters(m), 1e-3)
			for time.Since(start) < 12*time.Second {
				l := F.CrossEntropy(m.Forward(x), y)
				o.ZeroGrad()
				l.Backward()
				o.Step()
				steps[i]++
			}
		}()
	}
	wg.Wait()
	a, b, c, n, _ := hist("/sched/pauses/total/gc:seconds", h0)
	fmt.Printf("total    p50 %.3f p99 %.3f max %.3f ms of %d\n", a, b, c, n)
	a, b, c, n, _ = hist("/sched/pauses/stopping/gc:seconds", h1)
	fmt.Printf("stopping p50 %.3f p99 %.3f max %.3f ms of %d\n", a, b, c, n)
	a, b, c, n, _ = hist("/sched/pauses/stopping/other:seconds", h2)
	fmt.Printf("other    p50 %.3f p99 %.3f max %.3f ms of %d\n", a, b, c, n)
	for k, v := range leaves {
		if len(v) > 1 || v[0] > 4 {
			fmt.Println(len(v), slices.Max(v), k)
		}
	}
	fmt.Println(steps)
	fmt.Printf("%+v\n", torch.MemoryStats())
}
