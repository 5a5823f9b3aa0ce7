package train

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch/nn/summary"
	"github.com/gotorch-dev/torch/tensor"
)

// opRow is one operator of the registry.
type opRow struct {
	Name   string `json:"name"`
	Schema string `json:"schema"`
	Floor  string `json:"floor"` // public, transparent, private
	Kind   string `json:"kind"`  // kernel, view, composed, fused
	// that have a kernel of their own; a composed operator runs wherever its parts do
	Backends []string `json:"backends"`
	Gradient string   `json:"gradient"` // rule, "by its parts", or why there is none
	Autocast string   `json:"autocast"` // class on the CPU
	Vmap     string   `json:"vmap"`     // how vmap takes it to a batch: rule, pointwise, body, random, none, loop, refused
	Of       string   `json:"of"`       // the operator that this form is derived from
}

func rowOf(op *tensor.Op) opRow {
	r := opRow{Name: op.FullName(), Schema: op.SchemaText(), Floor: op.Floor(), Backends: op.Backends(),
		Autocast: op.AMPOn(tensor.CPUDevice).String(), Vmap: op.Batching()}
	switch {
	case op.Body != nil && op.CPU != nil:
		r.Kind = "fused"
	case op.Body != nil:
		r.Kind = "composed"
	case op.View != nil:
		r.Kind = "view"
	default:
		r.Kind = "kernel"
	}
	switch {
	case op.VJP != nil:
		r.Gradient = "rule"
	case op.NoGrad != "":
		r.Gradient = "none: " + op.NoGrad
	default:
		r.Gradient = "by its parts"
	}
	if b := op.Base(); b != nil {
		r.Of = b.FullName()
	}
	return r
}

func opsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "ops [NAME]", Short: "List the operators: schemas, backends, gradients, autocast classes",
		Args: cobra.MaximumNArgs(1),
		Long: "ops lists the operators of the registry. NAME limits the list to those whose name holds it; a full " +
			"name (aten::add.Tensor, aten.add.Tensor)\n" +
			"shows one operator with all its forms.",
		Example: "  gotorch ops conv2d\n  gotorch ops --json > ops.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			want := ""
			if len(args) > 0 {
				want = strings.TrimSuffix(strings.Replace(args[0], "aten.", "aten::", 1), ".default")
			}
			rows := []opRow{}
			exact := tensor.LookupOp(want)
			for _, op := range tensor.Ops() {
				switch {
				case exact != nil:
					if op == exact || op.Base() == exact {
						rows = append(rows, rowOf(op))
					}
				case strings.Contains(op.FullName(), want):
					rows = append(rows, rowOf(op))
				}
			}
			if len(rows) == 0 {
				return fmt.Errorf("no operator's name holds %q", want)
			}
			if asJSON {
				return summary.PrintLines(cmd.OutOrStdout(), rows)
			}
			return printOps(cmd.OutOrStdout(), rows)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func printOps(w io.Writer, rows []opRow) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "FLOOR\tKIND\tBACKENDS\tGRADIENT\tAUTOCAST\tSCHEMA")
	for _, r := range rows {
		gradient, _, _ := strings.Cut(r.Gradient, ":")
		backends := strings.Join(r.Backends, ",")
		if backends == "" {
			backends = "-"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", r.Floor, r.Kind, backends, gradient, r.Autocast, r.Schema)
	}
	return t.Flush()
}
