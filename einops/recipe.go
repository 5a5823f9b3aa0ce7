package einops

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// recipe is a pattern made ready for tensors of a number of dimensions: elementary axes are numbered in the order of
// the left side, then the new ones of the right side.
type recipe struct {
	lengths []int          // of the elementary axes; -1 where the shape or Axes tell
	index   map[string]int // of the axes named in Axes
	input   []dimension    // what each dimension of the input consists of
	perm    []int          // order of the input's elementary axes: those of the result, then those that are reduced
	kept    int            // how many of them are in the result
	added   [][2]int       // position in the result's elementary axes, and axis, of new ones
	output  [][]int        // elementary axes of each dimension of the result
}

// dimension is a dimension of the input: the axes whose lengths are known, and the one to be inferred (-1: none).
type dimension struct {
	known   []int
	unknown int
}

// cacheSize bounds the number of patterns remembered.
const cacheSize = 1024

var cache = struct {
	sync.Mutex
	m map[string]*recipe
}{m: map[string]*recipe{}}

// prepare finds or makes the recipe.
func prepare(pattern, operation string, names []string, ndim int) (*recipe, error) {
	key := strings.Join(append([]string{pattern, operation, strconv.Itoa(ndim)}, names...), "\x00")
	cache.Lock()
	r := cache.m[key]
	cache.Unlock()
	if r != nil {
		return r, nil
	}
	r, err := newRecipe(pattern, operation, names, ndim)
	if err != nil {
		return nil, err
	}
	cache.Lock()
	defer cache.Unlock()
	if len(cache.m) >= cacheSize {
		clear(cache.m)
	}
	cache.m[key] = r
	return r, nil
}

var reductions = []string{"min", "max", "sum", "mean", "prod", "any", "all"}

// custom is the operation of a reduction that the caller brings along.
const custom = "custom"

// checkSides refuses axes that come or go where the operation does not allow it.
func checkSides(left, right *expression, pattern, operation string, names []string) error {
	if !left.ellipsis && right.ellipsis {
		return errf("Ellipsis found in right side, but not left side of a pattern %s", pattern)
	}
	if left.ellipsis && left.parenthesized {
		return errf("Ellipsis inside parenthesis in the left side is not allowed: %s", pattern)
	}
	switch {
	case operation == "rearrange":
		if left.anonymous || right.anonymous {
			return errf("Non-unitary anonymous axes are not supported in rearrange (exception is length 1)")
		}
		if d := append(without(left, right), without(right, left)...); len(d) > 0 {
			return errf("Identifiers only on one side of expression (should be on both): %s", set(d))
		}
	case operation == "repeat":
		if d := without(left, right); len(d) > 0 {
			return errf("Unexpected identifiers on the left side of repeat: %s", set(d))
		}
		var unsized []axis
		for _, a := range without(right, left) {
			if !a.anonymous() && !slices.Contains(names, a.name) {
				unsized = append(unsized, a)
			}
		}
		if len(unsized) > 0 {
			return errf("Specify sizes for new axes in repeat: %s", set(unsized))
		}
	case operation == custom || slices.Contains(reductions, operation):
		if d := without(right, left); len(d) > 0 {
			return errf("Unexpected identifiers on the right side of reduce %s: %s", operation, set(d))
		}
	default:
		return errf("Unknown reduction %s. Expect one of ('%s').", operation, strings.Join(reductions, "', '"))
	}
	return nil
}

// spread replaces the ellipsis by n axes with names that no pattern can have.
func spread(e *expression, n int) [][]axis {
	dots := make([]axis, n)
	for i := range dots {
		dots[i] = axis{name: ellipsis, id: i + 1}
	}
	var out [][]axis
	for _, g := range e.groups {
		if g.ellipsis {
			for _, a := range dots {
				out = append(out, []axis{a})
			}
			continue
		}
		axes := []axis{}
		for _, a := range g.axes {
			if a.name == ellipsis {
				axes = append(axes, dots...)
			} else {
				axes = append(axes, a)
			}
		}
		out = append(out, axes)
	}
	return out
}

func newRecipe(pattern, operation string, names []string, ndim int) (*recipe, error) {
	id := 0
	left, right, err := parseSides(pattern, &id)
	if err != nil {
		return nil, err
	}
	if err := checkSides(left, right, pattern, operation, names); err != nil {
		return nil, err
	}
	dots := 0
	if left.ellipsis {
		others := len(left.groups) - 1
		if ndim < others {
			return nil, errf("Wrong shape: expected >=%d dims. Received %d-dim tensor.", others, ndim)
		}
		dots = ndim - others
	} else if ndim != len(left.groups) {
		return nil, errf("Wrong shape: expected %d dims. Received %d-dim tensor.", len(left.groups), ndim)
	}
	lg, rg := spread(left, dots), spread(right, dots)
	r := &recipe{index: map[string]int{}}
	at := map[axis]int{}
	number := func(a axis) {
		if _, ok := at[a]; ok {
			return
		}
		at[a] = len(r.lengths)
		n := -1
		if a.anonymous() {
			n = a.length
		}
		r.lengths = append(r.lengths, n)
	}
	for _, g := range lg {
		for _, a := range g {
			number(a)
		}
	}
	inputs := len(r.lengths)
	inRight := map[axis]bool{}
	for _, g := range rg {
		for _, a := range g {
			number(a)
			inRight[a] = true
		}
	}
	given := map[int]bool{}
	for _, n := range names {
		if why := badName(n, false); why != "" {
			return nil, errf("('Invalid name for an axis', '%s')", n)
		}
		i, ok := at[axis{name: n}]
		if !ok {
			return nil, errf("Axis %s is not used in transform", n)
		}
		r.index[n], given[i] = i, true
	}
	for _, g := range lg {
		d := dimension{unknown: -1}
		var open []axis
		for _, a := range g {
			if i := at[a]; a.anonymous() || given[i] {
				d.known = append(d.known, i)
			} else {
				d.unknown = i
				open = append(open, a)
			}
		}
		if len(open) > 1 {
			return nil, errf("Could not infer sizes for %s", set(open))
		}
		r.input = append(r.input, d)
	}
	pos := 0
	for _, g := range rg {
		var axes []int
		for _, a := range g {
			i := at[a]
			axes = append(axes, i)
			if i < inputs {
				r.perm = append(r.perm, i)
			} else {
				r.added = append(r.added, [2]int{pos, i})
			}
			pos++
		}
		r.output = append(r.output, axes)
	}
	r.kept = len(r.perm)
	for _, g := range lg {
		for _, a := range g {
			if !inRight[a] {
				r.perm = append(r.perm, at[a])
			}
		}
	}
	return r, nil
}

// steps are what a recipe comes to for one shape; nil ones are left out.
type steps struct {
	first, perm, reduced, last []int
	added                      [][2]int // position and length
}

// solve finds the lengths of all axes from a shape.
func (r *recipe) solve(shape []int, axes Axes) (s steps, err error) {
	lengths := slices.Clone(r.lengths)
	for n, l := range axes {
		lengths[r.index[n]] = l
	}
	reshape := false
	for i, d := range r.input {
		n := shape[i]
		if len(d.known) == 0 && d.unknown >= 0 {
			lengths[d.unknown] = n
			continue
		}
		product := 1
		for _, a := range d.known {
			product *= lengths[a]
		}
		switch {
		case d.unknown < 0 && n != product:
			return s, errf("Shape mismatch, %d != %d", n, product)
		case d.unknown >= 0 && (product == 0 || n%product != 0):
			return s, errf("Shape mismatch, can't divide axis of length %d in chunks of %d", n, product)
		case d.unknown >= 0:
			lengths[d.unknown] = n / product
		}
		reshape = reshape || len(d.known) != 1 || d.unknown >= 0
	}
	if reshape {
		s.first = lengths[:len(r.perm)]
	}
	if !sort.IntsAreSorted(r.perm) {
		s.perm = r.perm
	}
	for i := r.kept; i < len(r.perm); i++ {
		s.reduced = append(s.reduced, i)
	}
	for _, a := range r.added {
		s.added = append(s.added, [2]int{a[0], lengths[a[1]]})
	}
	final := make([]int, len(r.output))
	compose := false
	for i, g := range r.output {
		final[i] = 1
		for _, a := range g {
			final[i] *= lengths[a]
		}
		compose = compose || len(g) != 1
	}
	if compose {
		s.last = final
	}
	return s, nil
}
