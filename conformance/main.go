// Command conformance runs reference cases from a directory and reports, per operator or class, how many pass.
//
//	go run ./conformance -kind opinfo -dir DIR [-only REGEX] [-device NAME] [-strict] [-json FILE] [-v]
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"sort"
	"strings"

	_ "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/conformance/cococheck"
	"github.com/gotorch-dev/torch/internal/conformance/distcheck"
	"github.com/gotorch-dev/torch/internal/conformance/einopscheck"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/conformance/modcheck"
	"github.com/gotorch-dev/torch/internal/conformance/opcheck"
	"github.com/gotorch-dev/torch/internal/conformance/optcheck"
	"github.com/gotorch-dev/torch/internal/conformance/printcheck"
	"github.com/gotorch-dev/torch/internal/conformance/recordiocheck"
	"github.com/gotorch-dev/torch/internal/conformance/rngcheck"
	"github.com/gotorch-dev/torch/internal/conformance/tbcheck"
	"github.com/gotorch-dev/torch/internal/mem"
	_ "github.com/gotorch-dev/torch/internal/second" // the device of that name
	"github.com/gotorch-dev/torch/tensor"
)

// kinds are the runners by name.
var kinds = map[string]func(dir string, only *regexp.Regexp, verbose func(string, ...any)) ([]golden.Result, error){
	"opinfo": func(dir string, only *regexp.Regexp, verbose func(string, ...any)) ([]golden.Result, error) {
		return opcheck.Run(dir, opcheck.Options{Only: only, Verbose: verbose})
	},
	"optim": func(dir string, only *regexp.Regexp, verbose func(string, ...any)) ([]golden.Result, error) {
		return optcheck.Run(dir, optcheck.Options{Only: only, Verbose: verbose})
	},
	"print": func(dir string, only *regexp.Regexp, verbose func(string, ...any)) ([]golden.Result, error) {
		return printcheck.Run(dir, printcheck.Options{Only: only, Verbose: verbose, Module: modcheck.PrintRecord})
	},
	"rng": func(dir string, only *regexp.Regexp, verbose func(string, ...any)) ([]golden.Result, error) {
		return rngcheck.Run(dir, rngcheck.Options{Only: only, Verbose: verbose, Module: modcheck.Call,
			Init: modcheck.Init})
	},
	"modules":       modcheck.Run,
	"tensorboard":   whole(tbcheck.Run),
	"coco":          whole(cococheck.Run),
	"distributions": distcheck.Run,
	"einops":        einopscheck.Run,
	"recordio":      whole(recordiocheck.Run),
}

// whole adapts a runner that has no options.
func whole(run func(dir string) ([]golden.Result, error)) func(string, *regexp.Regexp,
	func(string, ...any)) ([]golden.Result, error) {
	return func(dir string, _ *regexp.Regexp, _ func(string, ...any)) ([]golden.Result, error) { return run(dir) }
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run() error {
	kind := flag.String("kind", "", "what the directory holds: "+strings.Join(kindNames(), ", "))
	dir := flag.String("dir", "", "directory of the cases")
	only := flag.String("only", "", "run only names that match this regular expression")
	strict := flag.Bool("strict", false, "exit 1 when a case fails")
	out := flag.String("json", "", "also write the results to this file")
	device := flag.String("device", "cpu",
		"where the cases run: "+strings.Join(tensor.BackendNames(),
			", ")+" (on meta shapes, strides and dtypes are compared)")
	verbose := flag.Bool("v", false, "print every failing case, and what was skipped")
	flag.Parse()
	f := kinds[*kind]
	if f == nil {
		return fmt.Errorf("unknown -kind %q: want one of %s", *kind, strings.Join(kindNames(), ", "))
	}
	if *dir == "" {
		return fmt.Errorf("-dir is missing")
	}
	var re *regexp.Regexp
	if *only != "" {
		var err error
		if re, err = regexp.Compile(*only); err != nil {
			return fmt.Errorf("-only: %w", err)
		}
	}
	var log func(string, ...any)
	if *verbose {
		log = func(format string, args ...any) { fmt.Printf("  "+format+"\n", args...) }
	}
	d, err := tensor.ParseDevice(*device)
	if err != nil {
		return fmt.Errorf("-device: %w", err)
	}
	golden.Device = d
	var results []golden.Result
	tensor.WithDevice(d, func() { results, err = f(*dir, re, log) })
	if err != nil {
		return err
	}
	if err := mem.CheckGuards(); err != nil {
		return err
	}
	var passed, failed, skipped int
	for _, r := range results {
		if re != nil && *kind == "opinfo" && !re.MatchString(r.Name) {
			continue
		}
		passed, failed, skipped = passed+r.Passed, failed+r.Failed, skipped+r.Skipped
		if r.Passed+r.Failed == 0 && !*verbose {
			continue
		}
		line := fmt.Sprintf("%-50s %4d passed", r.Name, r.Passed)
		if r.Failed > 0 {
			line += fmt.Sprintf(", %d failed", r.Failed)
		}
		if r.Skipped > 0 {
			line += fmt.Sprintf(", %d skipped", r.Skipped)
		}
		if r.Reason != "" {
			line += ": " + r.Reason
		}
		fmt.Println(line)
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if *out != "" {
		if err := writeJSON(*out, results); err != nil {
			return err
		}
	}
	if *strict && failed > 0 {
		return fmt.Errorf("%d cases failed", failed)
	}
	return nil
}

func kindNames() []string {
	var out []string
	for k := range kinds {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

func writeJSON(path string, results []golden.Result) error {
	type row struct {
		Name    string `json:"name"`
		Passed  int    `json:"passed"`
		Failed  int    `json:"failed"`
		Skipped int    `json:"skipped"`
		Reason  string `json:"reason"`
	}
	rows := []row{}
	for _, r := range results {
		rows = append(rows, row(r))
	}
	b, err := json.MarshalIndent(rows, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}
