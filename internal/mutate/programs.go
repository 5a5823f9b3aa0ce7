package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const module = "github.com/gotorch-dev/torch"

// suite is the package whose tests run every operator in every way.
const suite = module + "/torchtest"

// program is the compiled tests of one package, or some of them.
type program struct {
	pkg, dir, path string
	args           []string        // that choose tests
	family         string          // where set, only mutants of this package are given to it
	deps           map[string]bool // packages of the module that its tests contain
	rank           int             // programs of lower rank come first
}

func (p *program) String() string {
	if p.family != "" && p.family != p.pkg {
		return p.pkg + " over " + p.family
	}
	return p.pkg
}

// list finds the test programs of the module and puts them in order.
func list(clone, work string, mutants []*mutant) ([]*program, error) {
	wanted, err := regexp.Compile(*tests)
	if err != nil {
		return nil, fmt.Errorf("-tests: %w", err)
	}
	out, err := goCommand(clone, "list", "-test", "-json=ImportPath,Dir,Deps,ForTest", "./...")
	if err != nil {
		return nil, err
	}
	changed := map[string]bool{}
	for _, m := range mutants {
		changed[m.file.pkg] = true
	}
	var programs []*program
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var q struct {
			ImportPath, Dir, ForTest string
			Deps                     []string
		}
		if err := dec.Decode(&q); err != nil {
			return nil, err
		}
		pkg, isTest := strings.CutSuffix(q.ImportPath, ".test")
		if !isTest || !wanted.MatchString(pkg) || slices.Contains([]string{module + "/internal/mutate",
			module + "/internal/archtest"}, pkg) {
			continue // not wanted, or about the sources and not about what they do
		}
		p := &program{pkg: pkg, dir: q.Dir, path: filepath.Join(work, "bin", path.Base(pkg)+".test"),
			deps: map[string]bool{pkg: true}}
		for _, d := range q.Deps {
			d, _, _ = strings.Cut(d, " ") // "a [a.test]" is package a, compiled for the test
			if strings.HasPrefix(d, module) {
				p.deps[d] = true
			}
		}
		if changed[pkg] {
			own := *p
			own.family = pkg
			programs = append(programs, &own)
		}
		switch pkg {
		case module:
			p.rank = 2
		case suite, module + "/internal/conformance":
			p.rank = 3
		default:
			p.rank = 4 + len(p.deps) // the fewer packages a test contains, the nearer it is to those at the bottom
		}
		programs = append(programs, p)
	}
	programs, err = withFamilies(programs, mutants)
	slices.SortStableFunc(programs, func(a, b *program) int { return a.rank - b.rank })
	return programs, err
}

// withFamilies adds, for each family of operators that has mutants, the suite over the operators of that family.
func withFamilies(programs []*program, mutants []*mutant) ([]*program, error) {
	at := slices.IndexFunc(programs, func(p *program) bool { return p.pkg == suite && p.family == "" })
	done := map[string]bool{}
	for _, m := range mutants {
		pkg := m.file.pkg
		if at < 0 || done[pkg] || !strings.HasPrefix(pkg, module+"/ops/") {
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
		p.family, p.rank = pkg, 1
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
		return strings.HasPrefix(s, "GOTORCH_SHARED=") || strings.HasPrefix(s, "MUTANTS")
	})
	return append(env, more...)
}

// build compiles the first programs of the list, at most a few, whose files have different names, and returns them. One
// command builds them, since each command spends seconds on finding what is to be built; few are built at once, since
// each takes some 40 MB of disk and all mutants may be dead before the last ones are needed.
func build(programs []*program, clone, overlay string) (map[*program]bool, error) {
	const atOnce = 16
	pkgs := map[string]string{} // by file
	built := map[*program]bool{}
	for _, p := range programs {
		if other, ok := pkgs[p.path]; ok && other != p.pkg || !ok && len(pkgs) == atOnce {
			break
		}
		pkgs[p.path] = p.pkg
		built[p] = true
	}
	dir := filepath.Dir(programs[0].path)
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	start := time.Now()
	args := []string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", dir + "/"}
	_, err := goCommand(clone, append(args, slices.Sorted(maps.Values(pkgs))...)...)
	if *verbose {
		fmt.Printf("%d test programs built in %.0f s\n", len(pkgs), time.Since(start).Seconds())
	}
	return built, err
}

// hunt gives the mutants to the programs and returns those that survive all of them.
func hunt(programs []*program, clone, overlay string, alive []*mutant) ([]*mutant, error) {
	var built map[*program]bool
	for i, p := range programs {
		prey := p.prey(alive)
		if len(prey) == 0 {
			continue
		}
		if !built[p] {
			next := slices.DeleteFunc(slices.Clone(programs[i:]), func(q *program) bool {
				return len(q.prey(alive)) == 0
			})
			var err error
			if built, err = build(next, clone, overlay); err != nil {
				return nil, err
			}
		}
		start := time.Now()
		killed, err := p.killed(prey)
		if err != nil {
			return nil, err
		}
		if *verbose {
			fmt.Printf("%s: %d of %d in %.0f s\n", p, len(killed), len(prey), time.Since(start).Seconds())
			for _, m := range killed {
				fmt.Printf("  killed %d: %s\n", m.id, m)
			}
		}
		alive = slices.DeleteFunc(slices.Clone(alive), func(m *mutant) bool { return slices.Contains(killed, m) })
	}
	return alive, nil
}

// prey are the mutants whose code the program contains and that it is meant for.
func (p *program) prey(alive []*mutant) []*mutant {
	var out []*mutant
	for _, m := range alive {
		if p.deps[m.file.pkg] && (p.family == "" || p.family == m.file.pkg) {
			out = append(out, m)
		}
	}
	return out
}

// killed finds the mutants with which the program fails.
func (p *program) killed(prey []*mutant) ([]*mutant, error) {
	if p.family == "" && p.test(*limit, prey) {
		return nil, nil // far from the changes most programs notice nothing
	}
	log := p.path + ".reached"
	if err := os.RemoveAll(log); err != nil {
		return nil, err
	}
	start := time.Now()
	if !p.test(*limit, nil, "MUTANTS_REACHED="+log) {
		fmt.Printf("left out: %s fails, or takes longer than %s, without a mutant\n", p, *limit)
		return nil, nil
	}
	took := time.Since(start)
	b, err := os.ReadFile(log)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	reached := strings.Fields(string(b))
	prey = slices.DeleteFunc(slices.Clone(prey), func(m *mutant) bool {
		return !slices.Contains(reached, strconv.Itoa(m.id))
	})
	return halves(prey, func(ms []*mutant) bool { return p.test(min(*limit, 5*took+20*time.Second), ms) }), nil
}

// halves finds the mutants with each of which alone the tests fail, under the assumption that the tests pass with some
// mutants on if they pass with each of these.
func halves(ms []*mutant, pass func([]*mutant) bool) []*mutant {
	if len(ms) == 0 || pass(ms) {
		return nil
	}
	if len(ms) == 1 {
		return ms
	}
	h := len(ms) / 2
	return append(slices.Clone(halves(ms[:h], pass)), halves(ms[h:], pass)...)
}

// test runs the program with some mutants on and reports whether its tests pass.
func (p *program) test(limit time.Duration, on []*mutant, env ...string) bool {
	ids := make([]string, len(on))
	for i, m := range on {
		ids[i] = strconv.Itoa(m.id)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.path, append([]string{"-test.failfast"}, p.args...)...)
	// the temporary files of a program that is ended lie where the rest of our work is removed
	env = append(env, "MUTANTS="+strings.Join(ids, " "), "TMPDIR="+filepath.Dir(p.path))
	cmd.Dir, cmd.Env = p.dir, environment(env...)
	cmd.WaitDelay = time.Second
	return cmd.Run() == nil
}
