package conformance

import (
	_ "embed" // the list
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
)

//go:embed known.tsv
var knownTSV string

// header is the first line of known.tsv.
const header = "kind\tname\tstatus\tcases\treason"

// Row says that cases of an operator, a class or a file do not pass, and why. In known.tsv Cases is "*" when it is all
// cases of the name, and else the list of their IDs, separated by semicolons, runs of numbers as "3-7".
type Row struct {
	Kind, Name string
	Status     golden.Status
	Cases      []string // the IDs; nil for all
	Reason     string
}

// Known is the list of the cases that are known not to pass.
type Known struct{ Rows []Row }

// LoadKnown reads the list of this build.
func LoadKnown() (*Known, error) { return parseKnown(knownTSV) }

func parseKnown(text string) (*Known, error) {
	k := &Known{}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if lines[0] != header {
		return nil, fmt.Errorf("known.tsv: the first line is %q, want %q", lines[0], header)
	}
	for i, l := range lines[1:] {
		f := strings.Split(l, "\t")
		if len(f) != 5 {
			return nil, fmt.Errorf("known.tsv:%d: %d columns, want 5", i+2, len(f))
		}
		r := Row{Kind: f[0], Name: f[1], Status: golden.Status(f[2]), Reason: f[4]}
		if r.Status != golden.Failing && r.Status != golden.Skipped {
			return nil, fmt.Errorf("known.tsv:%d: status %q, want %q or %q", i+2, f[2], golden.Failing, golden.Skipped)
		}
		if f[3] != "*" {
			r.Cases = parseCases(f[3])
		}
		k.Rows = append(k.Rows, r)
	}
	return k, nil
}

// text writes the list as known.tsv has it.
func (k *Known) text() string {
	var b strings.Builder
	b.WriteString(header + "\n")
	for _, r := range k.Rows {
		cases := "*"
		if r.Cases != nil {
			cases = formatCases(r.Cases)
		}
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%s\n", r.Kind, r.Name, r.Status, cases, r.Reason)
	}
	return b.String()
}

// parseCases reads "1;3-5;name".
func parseCases(s string) []string {
	var out []string
	for _, p := range strings.Split(s, ";") {
		if a, b, ok := strings.Cut(p, "-"); ok {
			from, err1 := strconv.Atoi(a)
			to, err2 := strconv.Atoi(b)
			if err1 == nil && err2 == nil && from >= 0 && to-from < 1<<20 {
				for i := from; i <= to; i++ {
					out = append(out, strconv.Itoa(i))
				}
				continue
			}
		}
		out = append(out, p)
	}
	return out
}

// formatCases is the opposite of parseCases, for IDs in their order.
func formatCases(ids []string) string {
	var out []string
	for i := 0; i < len(ids); {
		first, err := strconv.Atoi(ids[i])
		j := i + 1
		for err == nil && j < len(ids) && ids[j] == strconv.Itoa(first+j-i) {
			j++
		}
		if j-i > 2 {
			out = append(out, ids[i]+"-"+ids[j-1])
		} else {
			out = append(out, ids[i:j]...)
		}
		i = j
	}
	return strings.Join(out, ";")
}

// row finds the row that a case belongs to.
func (k *Known) row(kind, name, id string) *Row {
	for i := range k.Rows {
		r := &k.Rows[i]
		if r.Kind == kind && r.Name == name && (r.Cases == nil || slices.Contains(r.Cases, id)) {
			return r
		}
	}
	return nil
}

// Check compares results with the list and says what is not as it should be: a case that fails or is skipped and is not
// on the list, one that is on the list and passes, one that is on the list twice, and a row with cases that are not
// there. whole says that the results are of all cases of the kind.
func (k *Known) Check(kind string, results []golden.Result, whole bool) []string {
	var wrong []string
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	seen := map[string]map[string]bool{}
	for _, r := range results {
		ids := map[string]bool{}
		seen[r.Name] = ids
		for _, c := range r.Cases {
			if ids[c.ID] || c.ID == "" || c.ID == "*" || strings.ContainsAny(c.ID, ";\t\n") {
				say("%s case %s: an ID has to be unique, without semicolons", r.Name, c.ID)
			}
			ids[c.ID] = true
			switch row := k.row(kind, r.Name, c.ID); {
			case row == nil && c.Status == golden.Pass:
			case row == nil:
				say("%s case %s: %s: %s", r.Name, c.ID, c.Status, c.Why)
			case c.Status == golden.Pass:
				say("%s case %s passes, but is on the list of what does not", r.Name, c.ID)
			case c.Status != row.Status:
				say("%s case %s: %s: %s; on the list it is %s", r.Name, c.ID, c.Status, c.Why, row.Status)
			}
		}
	}
	rows := map[string]bool{}
	for _, r := range k.Rows {
		if r.Kind != kind {
			continue
		}
		if r.Reason == "" || strings.HasPrefix(r.Reason, todo) {
			say("%s: known.tsv gives no reason", r.Name)
		}
		ids := seen[r.Name]
		if ids == nil && whole {
			say("%s is on the list, but has no cases", r.Name)
		}
		cases := r.Cases
		if cases == nil {
			cases = []string{"*"}
		}
		for _, id := range cases {
			if r.Cases != nil && ids != nil && !ids[id] {
				say("%s case %s is on the list, but is not there", r.Name, id)
			}
			if rows[r.Name+"\t"+id] {
				say("%s case %s is on the list twice", r.Name, id)
			}
			rows[r.Name+"\t"+id] = true
		}
	}
	return wrong
}

// todo begins the reason that Update gives to cases that fail: a person has to write it.
const todo = "TODO "

// Update replaces what the list says about a kind by what became of its cases. Cases that stay what they are keep their
// reasons; what is skipped anew gets the runner's reason.
func (k *Known) Update(kind string, results []golden.Result) {
	var rows []Row
	for _, r := range results {
		first := len(rows)
		for _, c := range r.Cases {
			if c.Status == golden.Pass {
				continue
			}
			reason := strings.Join(strings.Fields(c.Why), " ")
			if old := k.row(kind, r.Name, c.ID); old != nil && old.Status == c.Status {
				reason = old.Reason
			} else if c.Status == golden.Failing {
				reason = todo + reason
			}
			i := slices.IndexFunc(rows[first:], func(x Row) bool { return x.Status == c.Status && x.Reason == reason })
			if i < 0 {
				rows = append(rows, Row{Kind: kind, Name: r.Name, Status: c.Status, Reason: reason})
				i = len(rows) - 1 - first
			}
			rows[first+i].Cases = append(rows[first+i].Cases, c.ID)
		}
		if len(rows) == first+1 && len(rows[first].Cases) == len(r.Cases) {
			rows[first].Cases = nil
		}
	}
	at := slices.IndexFunc(k.Rows, func(r Row) bool { return r.Kind >= kind })
	if at < 0 {
		at = len(k.Rows)
	}
	kept := slices.DeleteFunc(slices.Clone(k.Rows), func(r Row) bool { return r.Kind == kind })
	k.Rows = slices.Insert(kept, at, rows...)
}

// Count says how many of the failures among results are on the list.
func (k *Known) Count(kind string, results []golden.Result) (known int) {
	for _, r := range results {
		for _, c := range r.Cases {
			row := k.row(kind, r.Name, c.ID)
			if c.Status == golden.Failing && row != nil && row.Status == golden.Failing {
				known++
			}
		}
	}
	return known
}
