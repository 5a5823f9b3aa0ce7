package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/gotorch-dev/torch/internal/atomicfile"
)

// section is the part of the report with one number of threads.
type section struct {
	threads int
	bounds  bounds
	peers   []string // column names
	results []result
}

// finish works the shares out.
func (s *section) finish(r *result) {
	switch {
	case r.GFlops != nil && s.bounds.gflops > 0:
		r.PeakShare = ptr(*r.GFlops / s.bounds.gflops)
	case r.GBps != nil && s.bounds.gbps > 0:
		r.PeakShare = ptr(*r.GBps / s.bounds.gbps)
	}
}

// nameWidth is the width of the first column; longer names push the others to the right.
const nameWidth = 62

// header is the line above a suite's rows.
func (s *section) header(suite string) string {
	h := pad(suite, nameWidth) + fmt.Sprintf(" %2s %9s", "th", "ours")
	for _, p := range s.peers {
		h += fmt.Sprintf(" %11s", p)
	}
	if len(s.peers) > 0 {
		h += fmt.Sprintf(" %7s", "ratio")
	}
	return h + fmt.Sprintf(" %12s %6s", "rate", "share")
}

// line is a row as text.
func (s *section) line(r *result) string {
	l := pad(r.Name, nameWidth) + fmt.Sprintf(" %2d %9s", r.Threads, r.ours())
	for _, p := range s.peers {
		l += fmt.Sprintf(" %11s", r.peerText(p))
	}
	if len(s.peers) > 0 {
		l += fmt.Sprintf(" %7s", r.ratioText())
	}
	l = strings.TrimRight(l+fmt.Sprintf(" %12s %6s", r.rate(), r.share()), " ")
	for _, n := range r.Notes {
		l += "\n    " + n
	}
	return l
}

func (r *result) ours() string {
	switch {
	case r.NS != nil:
		return duration(*r.NS)
	case r.Bytes != nil:
		return size(*r.Bytes)
	}
	return "–"
}

func (r *result) peerText(name string) string {
	v, ok := r.Peers[name]
	switch {
	case !ok:
		return ""
	case r.unit == bytesUsed:
		return size(v)
	}
	return duration(v)
}

func (r *result) ratioText() string {
	if r.Ratio == nil {
		return ""
	}
	return fmt.Sprintf("%.2fx", *r.Ratio)
}

func (r *result) rate() string {
	switch {
	case r.GFlops != nil:
		return fmt.Sprintf("%.0f GF/s", *r.GFlops)
	case r.GBps != nil:
		return fmt.Sprintf("%.1f GB/s", *r.GBps)
	}
	return ""
}

func (r *result) share() string {
	if r.PeakShare == nil {
		return ""
	}
	return fmt.Sprintf("%.0f %%", 100**r.PeakShare)
}

// pad fills up with spaces, counting characters.
func pad(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s)))
}

// duration prints nanoseconds with three digits.
func duration(ns float64) string {
	switch {
	case ns < 1e3:
		return digits(ns) + " ns"
	case ns < 1e6:
		return digits(ns/1e3) + " µs"
	case ns < 1e9:
		return digits(ns/1e6) + " ms"
	}
	return digits(ns/1e9) + " s"
}

func digits(x float64) string {
	switch {
	case x < 10:
		return fmt.Sprintf("%.2f", x)
	case x < 100:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}

func size(bytes float64) string { return digits(bytes/1e6) + " MB" }

// writeJSON writes the records as one array, a record a line.
func writeJSON(path string, all []*section) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		sep := "[\n"
		for _, s := range all {
			for i := range s.results {
				b, err := json.Marshal(&s.results[i])
				if err != nil {
					return err
				}
				if _, err := fmt.Fprintf(w, "%s%s", sep, b); err != nil {
					return err
				}
				sep = ",\n"
			}
		}
		if sep == "[\n" {
			sep = "["
		} else {
			sep = "\n"
		}
		_, err := fmt.Fprintf(w, "%s]\n", sep)
		return err
	})
}
