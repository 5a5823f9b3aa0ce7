package conformance

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
)

func result(name string, errs ...error) golden.Result {
	r := golden.Result{Name: name}
	for i, err := range errs {
		r.Add([]string{"0", "1", "2", "3", "4"}[i], err)
	}
	return r
}

// A gate that cannot fail proves nothing: whatever is not as the list says is named.
func TestCheck(t *testing.T) {
	bad, skip := errors.New("bad"), golden.Skip("no such operator")
	for _, c := range []struct {
		name    string
		rows    string
		results []golden.Result
		want    []string
	}{
		{"all pass", "", []golden.Result{result("add", nil, nil)}, nil},
		{"a new failure", "", []golden.Result{result("add", nil, bad)}, []string{"add case 1: fail: bad"}},
		{"a new skip", "", []golden.Result{result("add", skip)}, []string{"add case 0: skip: no such operator"}},
		{"known", "k\tadd\tfail\t0\twhy\nk\tadd\tskip\t1-3\twhy not\n",
			[]golden.Result{result("add", bad, skip, skip, skip, nil)}, nil},
		{"all known", "k\tadd\tskip\t*\twhy\n", []golden.Result{result("add", skip, skip)}, nil},
		{"a known failure passes", "k\tadd\tfail\t0\twhy\n", []golden.Result{result("add", nil)},
			[]string{"add case 0 passes, but is on the list of what does not"}},
		{"one of all passes", "k\tadd\tskip\t*\twhy\n", []golden.Result{result("add", skip, nil)},
			[]string{"add case 1 passes, but is on the list of what does not"}},
		{"skipped instead", "k\tadd\tfail\t0\twhy\n", []golden.Result{result("add", skip)},
			[]string{"add case 0: skip: no such operator; on the list it is fail"}},
		{"no such case", "k\tadd\tfail\t7\twhy\n", []golden.Result{result("add", nil)},
			[]string{"add case 7 is on the list, but is not there"}},
		{"no such operator", "k\tsub\tfail\t*\twhy\n", []golden.Result{result("add", nil)},
			[]string{"sub is on the list, but has no cases"}},
		{"twice", "k\tadd\tfail\t0\twhy\nk\tadd\tfail\t0\twhy not\n", []golden.Result{result("add", bad)},
			[]string{"add case 0 is on the list twice"}},
		{"no reason", "k\tadd\tfail\t0\tTODO bad\n", []golden.Result{result("add", bad)},
			[]string{"add: known.tsv gives no reason"}},
		{"another kind", "l\tadd\tfail\t0\twhy\n", []golden.Result{result("add", nil)}, nil},
		{"one ID twice", "", []golden.Result{{Name: "add", Cases: []golden.Case{{ID: "a", Status: golden.Pass},
			{ID: "a", Status: golden.Pass}}}}, []string{"add case a: an ID has to be unique, without semicolons"}},
	} {
		k, err := parseKnown(header + "\n" + c.rows)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if got := k.Check("k", c.results, true); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestUpdate(t *testing.T) {
	bad, skip := errors.New("bad"), golden.Skip("no\nsuch operator")
	k, err := parseKnown(header + "\na\tx\tfail\t*\tother\nk\tadd\tfail\t0;1\twhy\nk\tgone\tskip\t*\twhy\nz\tx\tskip\ta/b;c\tother\n")
	if err != nil {
		t.Fatal(err)
	}
	k.Update("k", []golden.Result{result("add", bad, nil, bad, skip, skip), result("mul", skip, skip),
		result("sub", nil)})
	want := header + "\na\tx\tfail\t*\tother\nk\tadd\tfail\t0\twhy\nk\tadd\tfail\t2\tTODO bad\n" +
		"k\tadd\tskip\t3;4\tno such operator\nk\tmul\tskip\t*\tno such operator\nz\tx\tskip\ta/b;c\tother\n"
	if got := k.text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if n := k.Count("k", []golden.Result{result("add", bad, bad, bad)}); n != 2 {
		t.Errorf("%d known failures, want 2", n)
	}
}

func TestParseKnown(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "first line"}, {header + "\nk\tadd\tfail\t0\n", "4 columns"},
		{header + "\nk\tadd\tpass\t0\twhy\n", "status"},
	} {
		if _, err := parseKnown(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want an error about %q", c.text, err, c.want)
		}
	}
	for text, want := range map[string][]string{"0": {"0"}, "1-3;7;x/0": {"1", "2", "3", "7", "x/0"}, "a-b": {"a-b"}} {
		if got := parseCases(text); !slices.Equal(got, want) || formatCases(got) != text {
			t.Errorf("%s: %q, written %q", text, got, formatCases(got))
		}
	}
	k, err := LoadKnown()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range k.Rows {
		if kind := strings.TrimPrefix(r.Kind, "sample/"); GateOf(kind) == nil {
			t.Errorf("known.tsv speaks of %s, which is no gate", r.Kind)
		}
	}
	if k.text() != knownTSV {
		t.Error("known.tsv is not written as go test ./internal/conformance -update writes it")
	}
}
