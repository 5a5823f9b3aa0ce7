package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/internal/plotpng"
)

// drawPicture draws the ratios of all rows, by suite and number of threads, beside the Markdown file and returns its
// path. Without a ratio there is nothing to draw, and the path is "".
func drawPicture(md string, all []*section) (string, error) {
	var suites []string
	var series []plotpng.RatioSeries
	for _, s := range all {
		for i := range s.results {
			if r := &s.results[i]; r.Ratio != nil && !slices.Contains(suites, r.Suite) {
				suites = append(suites, r.Suite)
			}
		}
	}
	if len(suites) == 0 {
		return "", nil
	}
	for _, s := range all {
		values := make([][]float64, len(suites))
		for i := range s.results {
			if r := &s.results[i]; r.Ratio != nil {
				k := slices.Index(suites, r.Suite)
				values[k] = append(values[k], *r.Ratio)
			}
		}
		series = append(series, plotpng.RatioSeries{Name: plural(s.threads, "thread"), Values: values})
	}
	path := strings.TrimSuffix(md, filepath.Ext(md)) + ".png"
	return path, plotpng.Ratios(path, "GoTorch beside the fastest peer",
		"times as fast (one dot a row, a stroke at the median)", suites, series)
}
