// Command bench measures GoTorch and, beside it, PyTorch and ONNX Runtime on the same machine.
//
//	go run ./bench -suite gemm                          our side alone
//	go run ./bench -suite all -torch python3            against PyTorch, in turns
//	go run ./bench -only 'resnet18' -torch a/bin/python,b/bin/python -json out.json
//
// Each row of a suite is one line of the report: the median time of a call, that of the same work in each peer, the
// ratio of the fastest peer to us, GF/s or GB/s, and the share of what the machine can do: of its peak of fused
// multiply-adds for arithmetic, of the triad bandwidth for memory, both measured at the beginning. Rows that fit the
// caches can pass the latter.
//
// The code of the rows is an example of its own: how to write a step so that it is fast. See docs/performance.md for
// the method.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/term"
)

func main() {
	if child() {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		err = run(ctx, c, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// parse reads the flags. Usage goes to w.
func parse(args []string, w io.Writer) (*config, error) {
	c := &config{windows: 5, window: 100 * time.Millisecond}
	var only, threads, pythons string
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.SetOutput(w)
	fs.StringVar(&c.suite, "suite", "all", "what to measure: all, "+strings.Join(suiteNames(), ", "))
	fs.StringVar(&only, "only", "", "only rows whose suite/name matches this regular `expression`")
	fs.StringVar(&threads, "threads", strconv.Itoa(runtime.GOMAXPROCS(0)),
		"`number` of threads of both sides; 1,2 makes a table for each")
	fs.StringVar(&pythons, "torch", "", "Python `programs` with torch (and onnxruntime) to compare with, separated "+
		"by commas")
	fs.StringVar(&c.json, "json", "", "`file` to write the records to")
	fs.StringVar(&c.md, "md", "", "Markdown `file` in which the table between the marks is replaced; with -torch, a "+
		"picture is drawn beside it (file.png)")
	fs.DurationVar(&c.window, "window", c.window, "length of a window")
	fs.IntVar(&c.windows, "windows", c.windows, "windows of each side, whose median counts")
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if fs.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q: everything is a flag", fs.Arg(0))
	}
	if c.suite != "all" && !slices.Contains(suiteNames(), c.suite) {
		return nil, fmt.Errorf("-suite %s: expected all, %s", c.suite, strings.Join(suiteNames(), ", "))
	}
	if only != "" {
		var err error
		if c.only, err = regexp.Compile(only); err != nil {
			return nil, fmt.Errorf("-only: %w", err)
		}
	}
	for _, s := range strings.Split(threads, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-threads %s: expected a number of at least 1", threads)
		}
		c.threads = append(c.threads, n)
	}
	if pythons != "" {
		for _, p := range strings.Split(pythons, ",") {
			if p == "" {
				return nil, fmt.Errorf("-torch %s: a name is empty", pythons)
			}
			c.pythons = append(c.pythons, p)
		}
	}
	if c.window <= 0 {
		return nil, fmt.Errorf("-window %v: expected more than 0", c.window)
	}
	if c.windows < 1 {
		return nil, fmt.Errorf("-windows %d: expected at least 1", c.windows)
	}
	return c, nil
}

// run measures and reports.
func run(ctx context.Context, c *config, w io.Writer) error {
	rows := choose(c)
	if len(rows) == 0 {
		return errors.New("no row matches -suite and -only")
	}
	if c.md != "" { // fail now, not after an hour
		if err := checkMarkdown(c.md); err != nil {
			return err
		}
	}
	if c.json != "" {
		if st, err := os.Stat(filepath.Dir(c.json)); err != nil {
			return fmt.Errorf("-json: %w", err)
		} else if !st.IsDir() {
			return fmt.Errorf("-json %s: %s is not a folder", c.json, filepath.Dir(c.json))
		}
	}
	defer dropModels()
	var peers []*peer
	defer func() {
		for _, p := range peers {
			p.stop()
		}
	}()
	for i, python := range c.pythons {
		p, err := startPeer(ctx, python, i+1)
		if err != nil {
			return err
		}
		peers = append(peers, p)
	}
	torch.ManualSeed(0)
	fmt.Fprintln(w, machineName())
	for _, p := range peers {
		fmt.Fprintln(w, p)
	}
	var all []*section
	for _, n := range c.threads {
		s, err := runSection(ctx, c, w, rows, n, peers)
		if err != nil {
			return err
		}
		all = append(all, s)
	}
	if c.json != "" {
		if err := writeJSON(c.json, all); err != nil {
			return err
		}
	}
	if c.md == "" {
		return nil
	}
	picture, err := drawPicture(c.md, all)
	if err != nil {
		return err
	}
	return writeMarkdown(c.md, picture, all, peers)
}

// runSection measures all rows with one number of threads.
func runSection(ctx context.Context, c *config, w io.Writer, rows []row, threads int, peers []*peer) (*section, error) {
	torch.SetNumThreads(threads)
	s := &section{threads: threads, bounds: measureBounds(c, threads), peers: columns(peers)}
	fmt.Fprintf(w, "\n%s: FMA peak %.0f GF/s, triad %.1f GB/s\n", plural(threads, "thread"), s.bounds.gflops,
		s.bounds.gbps)
	suite := ""
	for i := range rows {
		r := rows[i]
		if r.suite != suite {
			suite = r.suite
			fmt.Fprintf(w, "\n%s\n", s.header(suite))
		}
		status(fmt.Sprintf("%d/%d %s", i+1, len(rows), r.name))
		gc := watchCollector()
		res := measure(ctx, c, r, threads, peers)
		status("")
		if ctx.Err() != nil {
			return nil, errors.New("interrupted: nothing was written")
		}
		if strings.Contains(r.name, "train step (SGD)") {
			res.note("%s", gc.report())
		}
		s.finish(&res)
		s.results = append(s.results, res)
		fmt.Fprintln(w, s.line(&res))
	}
	ranked(w, s.results)
	return s, nil
}

// columns are the names of the sides that the peers can have.
func columns(peers []*peer) []string {
	var s []string
	for _, p := range peers {
		s = append(s, p.name)
		if p.libs["onnxruntime"] != "" {
			s = append(s, strings.Replace(p.name, "torch", "onnxruntime", 1))
		}
	}
	return s
}

// status shows what is being measured, on a terminal.
func status(s string) {
	if term.IsTerminal(os.Stderr) {
		fmt.Fprintf(os.Stderr, "\r\033[K%s", s)
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// check panics with an error of a row's own code, as tensors do with theirs: torch.Try in own turns it into the row's
// note.
func check(err error) {
	if err != nil {
		panic(&torch.Error{Op: "bench", Err: err})
	}
}
