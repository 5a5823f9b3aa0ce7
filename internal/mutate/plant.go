package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// plainClone copies the tracked files of the checkout, changes included, to a folder with no reference data beside it.
func plainClone(root, clone string) error {
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	for _, f := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		b, err := os.ReadFile(filepath.Join(root, f))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, not yet committed
		}
		if err != nil {
			return err
		}
		to := filepath.Join(clone, f)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// plant chooses mutants and writes the changed files, and the overlay that puts them in place, into work.
func plant(clone, work string) ([]*mutant, string, error) {
	var patterns []string
	for _, d := range strings.Split(*dirs, ",") {
		patterns = append(patterns, "./"+d+"/...")
	}
	files, err := load(clone, patterns)
	if err != nil {
		return nil, "", err
	}
	var sites []*mutant
	for _, f := range files {
		sites = append(sites, f.sites()...)
	}
	fmt.Printf("%d places to change in %d files\n", len(sites), len(files))
	r := rand.New(rand.NewPCG(*seed, 0))
	r.Shuffle(len(sites), func(i, j int) { sites[i], sites[j] = sites[j], sites[i] })
	// at most one mutant per line: two changes of one expression would lie inside each other
	chosen, lines := []*mutant{}, map[string]bool{}
	for _, m := range sites {
		key := fmt.Sprint(m.file.path, m.line)
		if len(chosen) == *number {
			break
		}
		if lines[key] || m.inside(chosen) {
			continue
		}
		lines[key] = true
		m.id = len(chosen) + 1
		chosen = append(chosen, m)
	}
	replace := map[string]string{}
	switched := map[string]bool{}
	for _, f := range files {
		path := f.path
		var own []*mutant
		for _, m := range chosen {
			if m.file == f {
				own = append(own, m)
			}
		}
		if len(own) == 0 {
			continue
		}
		text := f.apply(own)
		to := filepath.Join(work, fmt.Sprintf("%d.go", len(replace)))
		if err := os.WriteFile(to, text, 0o644); err != nil {
			return nil, "", err
		}
		replace[path] = to
		if dir := filepath.Dir(path); !switched[dir] {
			switched[dir] = true
			to := filepath.Join(work, fmt.Sprintf("switch%d.go", len(replace)))
			if err := os.WriteFile(to, []byte(fmt.Sprintf(switchSource, f.ast.Name.Name, len(chosen)+1)),
				0o644); err != nil {
				return nil, "", err
			}
			replace[filepath.Join(dir, "mutant_switch.go")] = to
		}
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, "", err
	}
	overlay := filepath.Join(work, "overlay.json")
	return chosen, overlay, os.WriteFile(overlay, b, 0o644)
}

// switchSource is added to each changed package. With MUTANTS_REACHED a program notes which mutants it comes by.
const switchSource = `package %s

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

var (
	mutantActive     = mutantNumbers(os.Getenv("MUTANTS"))
	mutantReachedLog = os.Getenv("MUTANTS_REACHED")
	mutantReached    [mutantCount]atomic.Bool
)

const mutantCount = %d

func mutantNumbers(list string) (on [mutantCount]bool) {
	for s := range strings.FieldsSeq(list) {
		if id, err := strconv.Atoi(s); err == nil {
			on[id] = true
		}
	}
	return on
}

// mutantOn reports whether a mutant is one of those that this process shows.
func mutantOn(id int) bool {
	if mutantReachedLog != "" {
		if !mutantReached[id].Load() && !mutantReached[id].Swap(true) {
			if f, err := os.OpenFile(mutantReachedLog, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
				fmt.Fprintln(f, id)
				f.Close()
			}
		}
	}
	return mutantActive[id]
}

type mutantNumber interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr |
		~float32 | ~float64 | ~complex64 | ~complex128
}

func mutantNegate[T mutantNumber](id int, x T) T {
	if mutantOn(id) {
		return -x
	}
	return x
}

func mutantAdd[T mutantNumber](id int, x T) T {
	if mutantOn(id) {
		return x + 1
	}
	return x
}
`
