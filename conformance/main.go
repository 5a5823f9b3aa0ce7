// Command conformance runs reference cases from a directory and reports, per operator or class, how many pass.
//
//	go run ./conformance -kind opinfo -dir DIR [-only REGEX] [-device NAME] [-files DIR] [-strict] [-json FILE] [-v]
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/mem"
	_ "github.com/gotorch-dev/torch/internal/second" // the device of that name
	"github.com/gotorch-dev/torch/tensor"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run() error {
	kind := flag.String("kind", "", "what the directory holds: "+strings.Join(conformance.Kinds(), ", "))
	dir := flag.String("dir", "", "directory of the cases")
	only := flag.String("only", "", "run only names that match this regular expression")
	strict := flag.Bool("strict", false, "exit 1 when a case fails")
	out := flag.String("json", "", "also write the results to this file")
	device := flag.String("device", "cpu",
		"where the cases run: "+strings.Join(tensor.BackendNames(),
			", ")+" (on meta shapes, strides and dtypes are compared)")
	files := flag.String("files", "", "where the files lie that the cases name by their SHA-256 or name alone")
	verbose := flag.Bool("v", false, "print every failing case, and what was skipped")
	flag.Parse()
	gate := conformance.GateOf(*kind)
	if gate == nil {
		return fmt.Errorf("unknown -kind %q: want one of %s", *kind, strings.Join(conformance.Kinds(), ", "))
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
	golden.Device, golden.Files = d, *files
	var results []golden.Result
	tensor.WithDevice(d, func() { results, err = gate.Run(*dir, re, log) })
	if err != nil {
		return err
	}
	if err := mem.CheckGuards(); err != nil {
		return err
	}
	var passed, failed, skipped int
	for _, r := range results {
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
	known, err := conformance.LoadKnown()
	if err != nil {
		return err
	}
	if n := known.Count(*kind, results); n > 0 {
		fmt.Printf("%d of the failures are known, with reasons in internal/conformance/known.tsv\n", n)
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
		rows = append(rows, row{r.Name, r.Passed, r.Failed, r.Skipped, r.Reason})
	}
	b, err := json.MarshalIndent(rows, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}
