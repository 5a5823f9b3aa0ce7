// Command skips prints what go test prints, from its JSON, and lists the tests that were skipped, by reason, so that a
// run that checked less than it seems says so. .ci/run uses it:
//
//	go test -json ./... | go run ./internal/skips LISTFILE
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
)

// event is a line of go test -json.
type event struct{ Action, Package, Test, Output string }

func main() {
	if err := run(os.Stdin, os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "skips:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer, listFile string) error {
	list, err := filter(in, out)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(listFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(list); err != nil {
		return err
	}
	return f.Close()
}

// filter copies the lines of packages and of failing tests to out and returns the list of skipped tests.
func filter(in io.Reader, out io.Writer) (string, error) {
	said := map[[2]string][]string{} // by package and test
	byReason := map[string][]string{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(out, lines.Text()) // a message of go itself
			continue
		}
		key := [2]string{e.Package, e.Test}
		switch {
		case e.Action == "output" && e.Test == "":
			if s := e.Output; s != "PASS\n" && s != "FAIL\n" && !strings.HasSuffix(s, "[no test files]\n") {
				fmt.Fprint(out, s)
			}
		case e.Action == "output":
			said[key] = append(said[key], e.Output)
		case e.Action == "build-output":
			fmt.Fprint(out, e.Output)
		case e.Action == "fail" && e.Test != "":
			fmt.Fprint(out, strings.Join(said[key], ""))
		case e.Action == "skip" && e.Test != "":
			reason := why(said[key])
			name := strings.TrimPrefix(e.Package, "github.com/gotorch-dev/torch/") + "." + e.Test
			byReason[reason] = append(byReason[reason], name)
		}
		if e.Action == "pass" || e.Action == "skip" || e.Action == "fail" {
			delete(said, key)
		}
	}
	if err := lines.Err(); err != nil {
		return "", err
	}
	var reasons []string
	for r := range byReason {
		reasons = append(reasons, r)
	}
	sort.Strings(reasons)
	var b strings.Builder
	for _, r := range reasons {
		fmt.Fprintf(&b, "  %s: %s\n", r, strings.Join(byReason[r], " "))
	}
	return b.String(), nil
}

// why finds the reason among the lines that a skipped test printed: the last one that is not go test's own, without
// the place in the source.
func why(lines []string) string {
	for i := len(lines) - 1; i >= 0; i-- {
		s := strings.TrimSpace(lines[i])
		if s == "" || strings.HasPrefix(s, "---") || strings.HasPrefix(s, "===") {
			continue
		}
		if file, rest, ok := strings.Cut(s, ".go:"); ok && !strings.Contains(file, " ") {
			if _, rest, ok = strings.Cut(rest, ": "); ok {
				s = rest
			}
		}
		return s
	}
	return "no reason given"
}
