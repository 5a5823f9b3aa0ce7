// Command mutate measures how many small faults the tests notice: mutation testing (DeMillo, Lipton and Sayward, "Hints
// on Test Data Selection", 1978). .ci/mutate runs it.
//
//	go run ./internal/mutate [-n 60] [-seed 1] [-dirs tensor,ops,optim,serialize] [-timeout 3m] [-v]
//
// It changes one thing at a time: + and -, < and <=, && and ||, == and !=, a constant by one, a statement left out, a
// condition turned round. All chosen mutants are compiled into one set of test programs, in which a variable of the
// environment says which of them is on (mutant schemata: Untch, Offutt and Harrold, 1993); compiling a program for each
// would take most of the time. The changed files reach the compiler by go build's -overlay, so that nothing in the
// checkout is touched. A first run of the tests notes which mutants each test program reaches; after it a mutant is
// given only to those. Tests run without the shared reference data, as in a plain clone. A mutant of a family of
// operators meets the suite of package torchtest, over the operators of that family, before other packages' tests.
//
// Changes that can only make a program slower or larger are no faults and are left alone; see the functions harmless
// and visit.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

var (
	number = flag.Int("n", 60, "how many mutants")
	seed   = flag.Uint64("seed", 1, "which ones: the same seed chooses the same mutants of the same sources")
	dirs   = flag.String("dirs", "tensor,ops,optim,serialize",
		"folders whose files are changed, with those below them")
	limit = flag.Duration("timeout", 3*time.Minute, "time for one test program")
	tests = flag.String("tests", "", "packages whose tests run, as a regular expression: fewer take less time and "+
		"notice less")
	only    = flag.Int("mutant", 0, "run only the mutant of this number")
	verbose = flag.Bool("v", false, "name the test program that notices each mutant")
)

// program is the compiled tests of one package, or some of them.
type program struct {
	pkg, dir, path string
	args           []string // that choose tests
	family         string   // where set, only mutants of this package are given to it
	reaches        map[int]bool
	took           time.Duration
}

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run() error {
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
	programs, err := build(clone, work, overlay)
	if err != nil {
		return err
	}
	programs, err = withFamilies(programs, clone, mutants)
	if err != nil {
		return err
	}
	if err := baseline(programs, work, mutants); err != nil {
		return err
	}
	killed := 0
	var survivors []*mutant
	for _, m := range mutants {
		if *only != 0 && m.id != *only {
			continue
		}
		by := m.killer(programs)
		if by == "" {
			survivors = append(survivors, m)
			fmt.Printf("survives %d: %s\n", m.id, m)
			continue
		}
		killed++
		if *verbose {
			fmt.Printf("killed %d by %s: %s\n", m.id, by, m)
		}
	}
	total := killed + len(survivors)
	fmt.Printf("\n%d of %d mutants killed (%.1f %%)\n", killed, total, 100*float64(killed)/float64(max(total, 1)))
	for _, m := range survivors {
		fmt.Printf("  %d %s\n", m.id, m)
	}
	return nil
}

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

// switchSource is added to each changed package. With MUTANT_REACHED a program notes which mutants it comes by.
const switchSource = `package %s

import (
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
)

var (
	mutantActive, _  = strconv.Atoi(os.Getenv("MUTANT"))
	mutantReachedLog = os.Getenv("MUTANT_REACHED")
	mutantReached    [%d]atomic.Bool
)

// mutantOn reports whether a mutant is the one that this process shows.
func mutantOn(id int) bool {
	if mutantReachedLog != "" {
		if !mutantReached[id].Load() && !mutantReached[id].Swap(true) {
			if f, err := os.OpenFile(mutantReachedLog, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
				fmt.Fprintln(f, id)
				f.Close()
			}
		}
	}
	return id == mutantActive
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

// goCommand runs go without the shared reference data.
func goCommand(dir string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = dir, environment()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, stderr.String())
	}
	return out, nil
}

func environment(more ...string) []string {
	env := slices.DeleteFunc(os.Environ(), func(s string) bool {
		return strings.HasPrefix(s, "GOTORCH_SHARED=") || strings.HasPrefix(s, "MUTANT")
	})
	return append(env, more...)
}

// build compiles the tests of all packages that have some.
func build(clone, work, overlay string) ([]*program, error) {
	out, err := goCommand(clone, "list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}\t{{.Dir}}{{end}}",
		"./...")
	if err != nil {
		return nil, err
	}
	wanted, err := regexp.Compile(*tests)
	if err != nil {
		return nil, fmt.Errorf("-tests: %w", err)
	}
	bin := filepath.Join(work, "bin")
	start := time.Now()
	var programs []*program
	for i, l := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		pkg, dir, _ := strings.Cut(l, "\t")
		if strings.Contains(pkg, "/internal/mutate") || strings.Contains(pkg, "/internal/archtest") ||
			!wanted.MatchString(pkg) {
			continue // about the sources, not about what they do, or not wanted
		}
		p := &program{pkg: pkg, dir: dir, path: filepath.Join(bin, strconv.Itoa(i)), reaches: map[int]bool{}}
		if _, err := goCommand(clone, "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", p.path,
			pkg); err != nil {
			return nil, err
		}
		programs = append(programs, p)
	}
	fmt.Printf("%d test programs built in %.0f s\n", len(programs), time.Since(start).Seconds())
	return programs, nil
}

// suite is the package whose tests run every operator in every way.
const suite = "github.com/gotorch-dev/torch/torchtest"

// withFamilies adds, for each family of operators that has mutants, the suite over the operators of that family.
func withFamilies(programs []*program, clone string, mutants []*mutant) ([]*program, error) {
	at := slices.IndexFunc(programs, func(p *program) bool { return p.pkg == suite })
	done := map[string]bool{}
	for _, m := range mutants {
		pkg := m.file.pkg
		if at < 0 || done[pkg] || !strings.HasPrefix(pkg, "github.com/gotorch-dev/torch/ops/") {
			continue
		}
		done[pkg] = true
		names, err := operators(filepath.Dir(m.file.path))
		if err != nil {
			return nil, err
		}
		if len(names) == 0 {
			continue
		}
		p := *programs[at]
		p.args = []string{"-test.run=^TestOperators$", "-op=::(?:" + strings.Join(names, "|") + `)_?(?:\.|$)`}
		p.family, p.reaches = pkg, map[int]bool{}
		programs = append(programs, &p)
	}
	return programs, nil
}

// schema is a string literal that declares an operator, with its name.
var schema = regexp.MustCompile(`["` + "`" + `](?:\w+::)?(\w+?)_?(?:\.\w+)?\([^"` + "`" + `\n]*\) -> `)

// operators lists the names of the operators that the files of a folder declare.
func operators(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		for _, found := range schema.FindAllStringSubmatch(string(b), -1) {
			names = append(names, found[1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// test runs a program and reports whether its tests pass.
func (p *program) test(limit time.Duration, env ...string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.path, append([]string{"-test.failfast"}, p.args...)...)
	cmd.Dir, cmd.Env = p.dir, environment(env...)
	cmd.WaitDelay = time.Second
	return cmd.Run() == nil
}

// baseline runs all tests once without a mutant and notes what each program reaches. A program that fails by itself
// is left out.
func baseline(programs []*program, work string, mutants []*mutant) error {
	start := time.Now()
	for i, p := range programs {
		log := filepath.Join(work, fmt.Sprintf("reached%d", i))
		begin := time.Now()
		if !p.test(*limit, "MUTANT_REACHED="+log) {
			fmt.Printf("left out: %s %s fails, or takes longer than %s, without a mutant\n", p.pkg, p.family, *limit)
			continue
		}
		p.took = time.Since(begin)
		b, err := os.ReadFile(log)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, s := range strings.Fields(string(b)) {
			id, err := strconv.Atoi(s)
			if err != nil {
				return err
			}
			if p.family == "" || p.family == mutants[id-1].file.pkg {
				p.reaches[id] = true
			}
		}
	}
	reached := 0
	for _, m := range mutants {
		if slices.ContainsFunc(programs, func(p *program) bool { return p.reaches[m.id] }) {
			reached++
		}
	}
	fmt.Printf("tests without a mutant: %.0f s; they reach %d of the mutants\n", time.Since(start).Seconds(), reached)
	return nil
}

// killer finds a test program that fails with the mutant: first its own package's, then the suite over its family, then
// the quick ones.
func (m *mutant) killer(programs []*program) string {
	var list []*program
	for _, p := range programs {
		if p.reaches[m.id] {
			list = append(list, p)
		}
	}
	rank := func(p *program) time.Duration {
		switch {
		case p.pkg == m.file.pkg:
			return -2
		case p.family != "":
			return -1
		}
		return p.took
	}
	sort.SliceStable(list, func(i, j int) bool { return rank(list[i]) < rank(list[j]) })
	for _, p := range list {
		if !p.test(min(*limit, 5*p.took+20*time.Second), "MUTANT="+strconv.Itoa(m.id)) {
			return p.pkg
		}
	}
	return ""
}
