package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/vision/models"
)

func rss(key string) string {
	b, _ := os.ReadFile("/proc/self/status")
	for _, l := range strings.Split(string(b), "\n") {
		if strings.HasPrefix(l, key) {
			return strings.TrimSpace(l[len(key)+1:])
		}
	}
	return ""
}

func main() {
	m := models.NewResNet18()
	nn.Eval(m)
	start := time.Now()
	for time.Since(start) < 12*time.Second {
		var wg sync.WaitGroup
		for range 8 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range 10 {
					torch.InferenceMode(func() {
						x := torch.Randn([]int{1, 3, 224, 224})
						m.Forward(x).Sum().Item()
					})
				}
			}()
		}
		t := time.Now()
		wg.Wait()
		fmt.Println("80 requests", time.Since(t).Round(time.Millisecond), "rss", rss("VmRSS"), "peak", rss("VmHWM"))
	}
	s := torch.MemoryStats()
	fmt.Printf("%+v\n", s)
	for range 4 {
		time.Sleep(time.Second)
		fmt.Println("quiet rss", rss("VmRSS"), torch.MemoryStats().Reserved>>20)
	}
}
