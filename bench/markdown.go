package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gotorch-dev/torch/internal/atomicfile"
)

// The table of a Markdown file stands between these lines; the text around it is people's.
const (
	markBegin = "<!-- table: begin -->"
	markEnd   = "<!-- table: end -->"
)

// checkMarkdown finds the marks.
func checkMarkdown(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("-md: %w", err)
	}
	if i, j := bytes.Index(b, []byte(markBegin)), bytes.Index(b, []byte(markEnd)); i < 0 || j < i {
		return fmt.Errorf("-md %s: the file lacks the lines %s and %s", path, markBegin, markEnd)
	}
	return nil
}

// writeMarkdown replaces the table, and the picture above it if there is one.
func writeMarkdown(path, picture string, all []*section, peers []*peer) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, _ := strings.Cut(string(b), markBegin)
	_, after, _ := strings.Cut(rest, markEnd)
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s%s\n%s%s%s", before, markBegin, table(picture, all, peers, time.Now()), markEnd,
			after)
		return err
	})
}

// table is the report in Markdown.
func table(picture string, all []*section, peers []*peer, now time.Time) string {
	var w strings.Builder
	fmt.Fprintf(&w, "\n%s, %s.\n", machineName(), now.Format("2 January 2006"))
	for _, p := range peers {
		fmt.Fprintf(&w, "%s.\n", p)
	}
	if picture != "" {
		fmt.Fprintf(&w, "\n![GoTorch beside the fastest peer: ratios of all rows](%s)\n", filepath.Base(picture))
	}
	for _, s := range all {
		fmt.Fprintf(&w, "\n### %s\n\nFMA peak %.0f GF/s, triad %.1f GB/s.\n", plural(s.threads, "thread"),
			s.bounds.gflops, s.bounds.gbps)
		suite := ""
		for i := range s.results {
			r := &s.results[i]
			if r.Suite != suite {
				suite = r.Suite
				cols := append([]string{suite, "GoTorch"}, s.peers...)
				cols = append(cols, "ratio", "rate", "share")
				fmt.Fprintf(&w, "\n| %s |\n|---|%s\n", strings.Join(cols, " | "), strings.Repeat("--:|", len(cols)-1))
			}
			cells := []string{r.Name, r.ours()}
			for _, p := range s.peers {
				cells = append(cells, r.peerText(p))
			}
			cells = append(cells, r.ratioText(), r.rate(), r.share())
			fmt.Fprintf(&w, "| %s |\n", strings.Join(cells, " | "))
		}
		for i := range s.results {
			for _, n := range s.results[i].Notes {
				fmt.Fprintf(&w, "\n%s: %s\n", s.results[i].Name, n)
			}
		}
	}
	w.WriteString("\n")
	return w.String()
}
