package filecmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch/cmd/gotorch/internal/cli"
	"github.com/gotorch-dev/torch/tensor"
)

// difference is how one key differs.
type difference struct {
	Key string `json:"key"`
	// How is "only in A", "only in B", "shape", "dtype", "values" or "equal".
	How  string   `json:"how"`
	A    string   `json:"a,omitempty"`
	B    string   `json:"b,omitempty"`
	Most *float64 `json:"max_difference,omitempty"` // nil where shapes differ; left out of JSON where it is infinite
}

func diffCommand() *cobra.Command {
	var entryA, entryB []string
	var tolerance float64
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare the weights of two files, of any formats",
		Long: "diff compares the tensors of two files by name: which are missing, have another shape or dtype, and " +
			"how far\n" +
			"the values are apart. It ends with status 1 where something differs.",
		Example: "  gotorch diff before.pt after.pt\n  gotorch diff a.pth b.safetensors --tolerance 1e-6",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, errA := load(args[0], entryA, "--entry-a")
			b, errB := load(args[1], entryB, "--entry-b")
			if err := errors.Join(errA, errB); err != nil {
				return fmt.Errorf("diff: %w", err)
			}
			list, differ, err := compare(a, b, tolerance)
			if err != nil {
				return fmt.Errorf("diff: %w", err)
			}
			if !all {
				list = slices.DeleteFunc(list, func(d difference) bool { return d.How == "equal" })
			}
			if asJSON {
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetIndent("", " ")
				if err := e.Encode(list); err != nil {
					return err
				}
			} else {
				printDiff(cmd.OutOrStdout(), list)
				fmt.Fprintf(cmd.OutOrStdout(), "%d of %s differ\n", differ, plural(union(a, b), "tensor"))
			}
			if differ > 0 {
				return cli.ExitCode(1)
			}
			return nil
		},
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&entryA, "entry-a", nil, "key under which A has the weights; again for one level deeper")
	fl.StringArrayVar(&entryB, "entry-b", nil, "the same for B")
	fl.Float64Var(&tolerance, "tolerance", 0, "differences of values up to this count as equal")
	fl.BoolVar(&all, "all", false, "list equal tensors, too")
	fl.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func union(a, b *tensor.StateDict) int {
	n := a.Len()
	for k := range b.All() {
		if !a.Has(k) {
			n++
		}
	}
	return n
}

func compare(a, b *tensor.StateDict, tolerance float64) (list []difference, differ int, err error) {
	text := func(t *tensor.Tensor) string { return t.DType().Name() + " " + tensor.ShapeString(t.Shape()) }
	for k, x := range a.All() {
		y := b.Get(k)
		if y == nil {
			list = append(list, difference{Key: k, How: "only in A", A: text(x)})
			continue
		}
		d := difference{Key: k, How: "equal", A: text(x), B: text(y)}
		if !slices.Equal(x.Shape(), y.Shape()) {
			d.How = "shape"
			list = append(list, d)
			continue
		}
		most := 0.0
		if x.DType() != y.DType() || !bytes.Equal(elements(x), elements(y)) {
			if most, err = maxDifference(x, y); err != nil {
				return nil, 0, fmt.Errorf("%s: %w", k, err)
			}
		}
		if !math.IsInf(most, 0) {
			d.Most = &most
		}
		switch {
		case most > tolerance:
			d.How = "values"
		case x.DType() != y.DType():
			d.How = "dtype"
		}
		list = append(list, d)
	}
	for k, y := range b.All() {
		if !a.Has(k) {
			list = append(list, difference{Key: k, How: "only in B", B: text(y)})
		}
	}
	for _, d := range list {
		if d.How != "equal" {
			differ++
		}
	}
	return list, differ, nil
}

func printDiff(w io.Writer, list []difference) {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, d := range list {
		what := d.A
		switch {
		case d.A == "":
			what = d.B
		case d.B != "" && d.A != d.B:
			what = d.A + " and " + d.B
		}
		most := ""
		if d.Most != nil {
			most = fmt.Sprintf("max difference %.3g", *d.Most)
		} else if d.How == "values" {
			most = "max difference inf"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", d.Key, d.How, what, most)
	}
	_ = t.Flush() // an error of w shows in what follows
}

// elements are the bytes of a tensor in row-major order.
func elements(t *tensor.Tensor) []byte {
	if t.Numel() == 0 || t.Device().Type == tensor.MetaDevice {
		return nil
	}
	d := tensor.Dense(tensor.Resolved(t.Detach()))
	from := d.StorageOffset() * d.ElementSize()
	return d.Storage().Bytes()[from : from+d.Numel()*d.ElementSize()]
}
