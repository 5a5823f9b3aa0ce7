package cli

import (
	"fmt"
	"slices"
	"strings"
)

// Choose checks a name and suggests the nearest one; what says what is chosen, such as "--model".
func Choose(what, value string, names []string) error {
	if slices.Contains(names, value) {
		return nil
	}
	hint := ""
	if near := Nearest(value, names); near != "" {
		hint = fmt.Sprintf("; did you mean %s %s?", what, near)
	}
	return fmt.Errorf("unknown %s %q: want one of %s%s", what, value, strings.Join(names, ", "), hint)
}

// Nearest finds the name with the smallest edit distance, "" when none is within two edits.
func Nearest(s string, names []string) string {
	best, at := 3, ""
	for _, n := range names {
		if abs := len(s) - len(n); abs > 2 || abs < -2 {
			continue
		}
		if d := distance(strings.ToLower(s), n); d < best && d < len(n) {
			best, at = d, n
		}
	}
	return at
}

// distance is the Levenshtein distance with an exchange of neighbours as one edit (optimal string alignment), since
// exchanged letters are the commonest slip.
func distance(a, b string) int {
	before, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, prev, row = prev, row, before
		row[0] = i + 1
		for j := range len(b) {
			cost := prev[j]
			if a[i] != b[j] {
				cost++
			}
			row[j+1] = min(cost, row[j]+1, prev[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
