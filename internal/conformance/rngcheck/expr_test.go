package rngcheck

import (
	"slices"
	"testing"

	_ "github.com/gotorch-dev/torch" // the operators
	"github.com/gotorch-dev/torch/internal/rng"
)

func TestReadCall(t *testing.T) {
	c, rest, ok := readCall("DataLoader(arange(17),5,sampler=Sub([1,3,..,9])) 2 epochs, then rand(1)")
	if !ok || c.name != "DataLoader" || !slices.Equal(c.args, []string{"arange(17)", "5"}) ||
		c.kw["sampler"] != "Sub([1,3,..,9])" || rest != "2 epochs, then rand(1)" {
		t.Errorf("read %+v, rest %q, %t", c, rest, ok)
	}
	if got := wholes(inside(c.kw["sampler"])); !slices.Equal(got, []int{1, 3, 5, 7, 9}) {
		t.Errorf("the list is %v", got)
	}
	for _, s := range []string{"", "rand", "rand(3", "a=rand(3)", "7"} {
		if _, _, ok := readCall(s); ok {
			t.Errorf("%q is no call", s)
		}
	}
}

// TestDraws evaluates expressions and counts what they give; drawing again from a saved state gives the same.
func TestDraws(t *testing.T) {
	before := rng.Default.State()
	defer setState(before)
	for text, n := range map[string]int{"randn(2),rand(3),rand(1,f64)": 3, "4 x randn(3)": 4,
		"randn(1),manual_seed(5),randn(1),initial_seed": 3, "rand(2); fork_rng: rand(5),randn(1); rand(2)": 3,
		"q=Generator(seed+1): rand(3,q); r=copy of q: randn(2,q),randn(2,r)":            3,
		"s=get_rng_state; a=randn(3); set_rng_state(s); [a, randn(3), a[-2:]]":          3,
		"randint(0,9,(2,3)),randperm(5),_standard_gamma(2.)x5,log_normal_(2),rand(2,3)": 5} {
		setSeed(7)
		out, ok := draws(&caseRecord{Case: text, Seed: 7, Group: "mix"})
		if !ok || len(out) != n {
			t.Errorf("%q gives %d results, %t, want %d", text, len(out), ok, n)
			continue
		}
		if text[0] == 's' && (out[0].Ne(out[1]).Any().Item() != 0 || out[2].Numel() != 2) {
			t.Errorf("%q gives %v", text, out)
		}
	}
	for _, text := range []string{"rand", "nonsense(3), rand(1)", "rand(x)", "q=Other(3): rand(1)"} {
		if out, ok := draws(&caseRecord{Case: text}); ok {
			t.Errorf("%q gives %v", text, out)
		}
	}
}
