package main

import (
	"fmt"
	"math"
	"runtime/metrics"
)

// collector watches what Go's garbage collector does to a row.
type collector struct {
	s      []metrics.Sample
	before struct {
		hist   metrics.Float64Histogram
		cycles uint64
		cpu    float64
	}
}

func watchCollector() *collector {
	c := &collector{s: []metrics.Sample{
		{Name: "/sched/pauses/total/gc:seconds"}, {Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
	}}
	metrics.Read(c.s)
	// The histogram's counts may be reused by the next Read.
	h := *c.s[0].Value.Float64Histogram()
	h.Counts = append([]uint64(nil), h.Counts...)
	c.before.hist, c.before.cycles, c.before.cpu = h, c.s[1].Value.Uint64(), c.s[2].Value.Float64()
	return c
}

// report says how long the longest pause was in which the world stood still, how often the collector ran, and what it
// cost.
func (c *collector) report() string {
	metrics.Read(c.s)
	h := c.s[0].Value.Float64Histogram()
	longest, pauses := 0.0, uint64(0)
	for i, n := range h.Counts {
		n -= c.before.hist.Counts[i]
		pauses += n
		if n > 0 {
			// The bucket's upper edge: the pause was not longer.
			if longest = h.Buckets[i+1]; math.IsInf(longest, 1) {
				longest = h.Buckets[i]
			}
		}
	}
	return fmt.Sprintf("garbage collector: longest stop of the world %s in %d pauses, %d collections, %.3g s of CPU "+
		"time",
		duration(1e9*longest), pauses, c.s[1].Value.Uint64()-c.before.cycles, c.s[2].Value.Float64()-c.before.cpu)
}
