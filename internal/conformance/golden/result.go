package golden

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// Status is what became of a case.
type Status string

// What becomes of a case.
const (
	Pass    Status = "pass"
	Failing Status = "fail"
	Skipped Status = "skip"
)

// Case is what became of one case. Its ID is unique among the cases of its result and stays the same when other cases
// are added at the end of their file: it is the case's number or its name.
type Case struct {
	ID     string
	Status Status
	Why    string // for a case that did not pass
}

// Result is what a check reports for one operator, class or file. Reason is the first failure, or else why cases were
// skipped.
type Result struct {
	Name                    string
	Passed, Failed, Skipped int
	Reason                  string
	Cases                   []Case
}

// Skip is the reason why a case cannot run here.
type Skip string

func (e Skip) Error() string { return string(e) }

// Add counts a case: one that passed when err is nil, one that could not run when err is a [Skip] or says that elements
// are missing (see [NeedsElements]), and else one that failed.
func (r *Result) Add(id string, err error) Status {
	c := Case{ID: id, Status: Pass}
	var skip Skip
	switch {
	case err == nil:
		r.Passed++
	case errors.As(err, &skip) || NeedsElements(err):
		c.Status, c.Why = Skipped, err.Error()
		if r.Skipped++; r.Reason == "" {
			r.Reason = c.Why
		}
	default:
		c.Status, c.Why = Failing, err.Error()
		if r.Failed++; r.Failed == 1 {
			r.Reason = "case " + id + ": " + c.Why
		}
	}
	r.Cases = append(r.Cases, c)
	return c.Status
}

// Tally collects results by name, in the order in which the names appear.
type Tally struct {
	Verbose func(format string, args ...any) // is told of what fails; may be nil
	results []*Result
	byName  map[string]*Result
}

// Add counts a case of the operator, class or file called name; see [Result.Add].
func (t *Tally) Add(name, id string, err error) {
	r := t.byName[name]
	if r == nil {
		if t.byName == nil {
			t.byName = map[string]*Result{}
		}
		r = &Result{Name: name}
		t.byName[name] = r
		t.results = append(t.results, r)
	}
	if r.Add(id, err) == Failing && t.Verbose != nil {
		t.Verbose("%s case %s: %v", name, id, err)
	}
}

// Results lists what was counted.
func (t *Tally) Results() []Result {
	out := make([]Result, len(t.results))
	for i, r := range t.results {
		out[i] = *r
	}
	return out
}

// read are the files that runners have looked at.
var read struct {
	sync.Mutex
	paths map[string]bool
}

// Note remembers that a runner looks at a file of the reference data, or knows what the file is for though it cannot
// run the file's cases yet; [Noted] tells. What no runner looks at would be outside all checks without anyone knowing.
func Note(path string) {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	read.Lock()
	defer read.Unlock()
	if read.paths == nil {
		read.paths = map[string]bool{}
	}
	read.paths[path] = true
}

// Noted reports whether a runner has looked at a file.
func Noted(path string) bool {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	read.Lock()
	defer read.Unlock()
	return read.paths[path]
}

// ReadFile reads a file of the reference data and notes it.
func ReadFile(path string) ([]byte, error) {
	Note(path)
	return os.ReadFile(path)
}

// ReadJSON reads a JSON file of the reference data into v and notes it.
func ReadJSON(path string, v any) error {
	raw, err := ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
