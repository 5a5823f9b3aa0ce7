package einops

import (
	"sort"
	"strings"
)

// Mix is what the patterns of an EinMix layer come to; see package layers.
type Mix struct {
	Before     string // rearrangement before the einsum, "" for none
	BeforeAxes Axes
	Einsum     string
	After      string // rearrangement after it, "" for none
	Weight     []int  // shape of the weight
	Bias       []int  // shape of the bias, which broadcasts; nil for none
	FanIn      int    // inputs that are summed for one output
}

// ParseMix reads the patterns of an EinMix layer: "b (head cin) -> b (head cout)" with the weight "head cin cout", and
// a bias ("" for none).
func ParseMix(pattern, weightShape, biasShape string, axes Axes) (*Mix, error) {
	id := 0
	left, right, err := parseSides(pattern, &id)
	if err != nil {
		return nil, err
	}
	weight, err := parse(weightShape, rules{}, &id)
	if err != nil {
		return nil, err
	}
	if err := checkMix(pattern, weightShape, left, right, weight, axes); err != nil {
		return nil, err
	}
	m := &Mix{FanIn: 1}
	// The einsum works on elementary axes; composed ones are taken apart before and put together after it.
	flat := func(e *expression) (names []string) {
		for _, g := range e.groups {
			if g.ellipsis {
				names = append(names, "...")
			}
			for _, a := range g.axes {
				if a.name == ellipsis {
					names = append(names, "...")
				} else {
					names = append(names, a.name)
				}
			}
		}
		return names
	}
	plain := func(e *expression) bool {
		for _, g := range e.groups {
			if !g.ellipsis && len(g.axes) != 1 {
				return false
			}
		}
		return !e.parenthesized
	}
	if !plain(left) {
		names := flat(left)
		m.Before = left.text + "-> " + strings.Join(names, " ")
		m.BeforeAxes = Axes{}
		for _, n := range names {
			if l, ok := axes[n]; ok {
				m.BeforeAxes[n] = l
			}
		}
	}
	if !plain(right) {
		m.After = strings.Join(flat(right), " ") + " ->" + right.text
	}
	for _, g := range weight.groups {
		a := g.axes[0]
		m.Weight = append(m.Weight, axes[a.name])
		if !right.has(a) {
			m.FanIn *= axes[a.name]
		}
	}
	if m.Weight == nil {
		m.Weight = []int{}
	}
	if biasShape != "" {
		if m.Bias, err = mixBias(biasShape, right, axes); err != nil {
			return nil, err
		}
	}
	letters := map[string]string{}
	var names []string
	for _, e := range []*expression{left, right, weight} {
		for _, a := range e.names {
			if _, ok := letters[a.name]; !ok && a.name != ellipsis {
				letters[a.name] = ""
				names = append(names, a.name)
			}
		}
	}
	if len(names) > 26 {
		return nil, errf("Too many axes in EinMix: %s", pattern)
	}
	sort.Strings(names)
	for i, n := range names {
		letters[n] = string(rune('a' + i))
	}
	compact := func(e *expression) string {
		var b strings.Builder
		for _, n := range flat(e) {
			if n == "..." {
				b.WriteString(n)
			} else {
				b.WriteString(letters[n])
			}
		}
		return b.String()
	}
	m.Einsum = compact(left) + "," + compact(weight) + "->" + compact(right)
	return m, nil
}

func checkMix(pattern, weightShape string, left, right, weight *expression, axes Axes) error {
	var unknown []axis
	for _, a := range without(right, left) {
		if !weight.has(a) {
			unknown = append(unknown, a)
		}
	}
	switch {
	case len(unknown) > 0:
		return errf("Unrecognized identifiers on the right side of EinMix %s", set(unknown))
	case weight.ellipsis:
		return errf("Ellipsis is not supported in weight, as its shape should be fully specified")
	case left.ellipsis != right.ellipsis:
		return errf("Ellipsis in EinMix should be on both sides, %s", pattern)
	case left.parenthesized:
		return errf("Ellipsis on left side can't be in parenthesis, got %s", pattern)
	case left.anonymous || right.anonymous || weight.anonymous:
		return errf("Anonymous axes (numbers) are not allowed in EinMix")
	case strings.ContainsAny(weightShape, "()"):
		return errf("Parenthesis is not allowed in weight shape: %s", weightShape)
	}
	for _, g := range weight.groups {
		if len(g.axes) == 0 {
			return errf("Axes of length 1 are not allowed in weight shape: %s", weightShape)
		}
	}
	for _, a := range weight.names {
		if _, ok := axes[a.name]; !ok {
			return errf("Dimension %s of weight should be specified", a.name)
		}
	}
	var unused, redundant []axis
	for _, n := range axes.sorted() {
		if a := (axis{name: n}); !left.has(a) && !weight.has(a) {
			unused = append(unused, a)
		}
	}
	for _, a := range weight.names {
		if !left.has(a) && !right.has(a) {
			redundant = append(redundant, a)
		}
	}
	if len(unused) > 0 {
		return errf("Axes %s are not used in pattern", set(unused))
	}
	if len(redundant) > 0 {
		return errf("Weight axes %s are redundant", set(redundant))
	}
	return nil
}

// mixBias is the shape of a bias: as long as the output's elementary axes after the ellipsis, 1 where it does not
// depend on them.
func mixBias(biasShape string, right *expression, axes Axes) ([]int, error) {
	id := 0
	bias, err := parse(biasShape, rules{}, &id)
	if err != nil {
		return nil, err
	}
	if d := without(bias, right); len(d) > 0 {
		return nil, errf("Bias axes %s not present in output", set(d))
	}
	var unsized []axis
	for _, a := range bias.names {
		if _, ok := axes[a.name]; !ok {
			unsized = append(unsized, a)
		}
	}
	if len(unsized) > 0 {
		return nil, errf("Sizes not provided for bias axes %s", set(unsized))
	}
	shape, used := []int{}, false
	for _, g := range right.groups {
		list := g.axes
		if g.ellipsis {
			list = []axis{{name: ellipsis}}
		}
		for _, a := range list {
			switch {
			case a.name == ellipsis && used:
				return nil, errf("all bias dimensions should go after ellipsis in the output")
			case a.name == ellipsis:
			case bias.has(a):
				shape, used = append(shape, axes[a.name]), true
			default:
				shape = append(shape, 1)
			}
		}
	}
	return shape, nil
}
