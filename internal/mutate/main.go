// Command mutate measures how many small faults the tests notice: mutation testing (DeMillo, Lipton and Sayward, "Hints
// on Test Data Selection", 1978). .ci/mutate runs it.
//
//	go run ./internal/mutate [-n 60] [-seed 1] [-dirs tensor,ops,optim,serialize] [-timeout 10m] [-v]
//
// It changes one thing at a time: + and -, < and <=, && and ||, == and !=, a constant by one, a statement left out, a
// condition turned round. All chosen mutants are compiled into one set of test programs, in which a variable of the
// environment says which of them are on (mutant schemata: Untch, Offutt and Harrold, 1993); compiling a program for
// each would take most of the time. The changed files reach the compiler by go build's -overlay, so that nothing in the
// checkout is touched. Tests run without the shared reference data, as in a plain clone.
//
// Test programs run in the order in which they are likely to notice something: each changed package's own tests and,
// over the operators of each changed family, the suite of package torchtest, for the mutants of that package alone;
// then for all mutants the tests of the root package, the comparison with PyTorch's results, the whole suite, and the
// rest, nearest packages first. Each program runs with all mutants on that are still alive and that it could reach. If
// the program passes, it notices none of them; if it fails, halves of the mutants are tried until those that it notices
// are found (group testing: Dorfman, "The Detection of Defective Members of Large Populations", 1943). So a program
// that notices nothing, which is the common case far from the changes, runs once and not once for each mutant. Two
// mutants that are on together could hide each other; that would make the score lower, never higher, since only a
// mutant with which alone the program fails is counted as killed.
//
// Changes that can only make a program slower or larger are no faults and are left alone; see the functions harmless
// and visit.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

var (
	number = flag.Int("n", 60, "how many mutants")
	seed   = flag.Uint64("seed", 1, "which ones: the same seed chooses the same mutants of the same sources")
	dirs   = flag.String("dirs", "tensor,ops,optim,serialize",
		"folders whose files are changed, with those below them")
	limit = flag.Duration("timeout", 10*time.Minute, "time for one test program")
	tests = flag.String("tests", "", "packages whose tests run, as a regular expression: fewer take less time and "+
		"notice less")
	only    = flag.Int("mutant", 0, "run only the mutant of this number")
	verbose = flag.Bool("v", false, "name the test program that notices each mutant, and how long each program takes")
)

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run() error {
	start := time.Now()
	root, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	clone := filepath.Join(work, "clone", "torch")
	if err := plainClone(root, clone); err != nil {
		return err
	}
	mutants, overlay, err := plant(clone, work)
	if err != nil {
		return err
	}
	fmt.Printf("%d mutants of seed %d in %s\n", len(mutants), *seed, *dirs)
	programs, err := list(clone, work, mutants)
	if err != nil {
		return err
	}
	alive := mutants
	if *only != 0 {
		alive = nil
		for _, m := range mutants {
			if m.id == *only {
				alive = append(alive, m)
			}
		}
	}
	total := len(alive)
	if alive, err = hunt(programs, clone, overlay, alive); err != nil {
		return err
	}
	killed := total - len(alive)
	fmt.Printf("\n%d of %d mutants killed (%.1f %%) in %.0f s\n", killed, total,
		100*float64(killed)/float64(max(total, 1)), time.Since(start).Seconds())
	for _, m := range alive {
		fmt.Printf("  survives %d: %s\n", m.id, m)
	}
	return nil
}
