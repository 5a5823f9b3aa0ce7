// Package runcmd holds "gotorch run", which runs a model from a file.
package runcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/modelfile"
)

// options are the flags of the command.
type options struct {
	inputs []string
	output string
	repeat int
	seed   int64
	json   bool
}

// Command is "gotorch run".
func Command() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "run FILE",
		Short: "Run a model: " + modelfile.Names(),
		Long: "run loads a model, runs it once or several times, and says what comes out: dtype, shape, range and " +
			"mean of each output, and the time.\n\nAn input is a file (.npy, or a tensor in .pt), or a tensor that is " +
			"made: rand(SIZES) and randn(SIZES), zeros(SIZES) and ones(SIZES). An input that is not given is " +
			"rand with the shape that the model declares, 1 for sizes that it leaves open.",
		Example: "  gotorch run model.onnx\n  gotorch run model.onnx --input x=photo.npy --repeat 20\n" +
			"  gotorch run scripted.pt --input 'x=rand(1,3,224,224)' --json\n" +
			"  gotorch run exported.pt2\n" +
			"  gotorch run model.onnx --input x=a.npy --output results",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd.Context(), cmd.OutOrStdout(), args[0], o)
		},
	}
	f := c.Flags()
	f.StringArrayVar(&o.inputs, "input", nil,
		"an input, NAME=FILE or NAME=rand(1,3,224,224), or in order without NAME=; several times")
	f.StringVar(&o.output, "output", "", "folder for the outputs, each as NAME.npy")
	f.IntVar(&o.repeat, "repeat", 1, "run this many times; the time is the median")
	f.Int64Var(&o.seed, "seed", 0, "seed of random inputs")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	return c
}

// report is what the command prints.
type report struct {
	File     string            `json:"file"`
	Inputs   []string          `json:"inputs"`
	Outputs  []output          `json:"outputs"`
	Metadata map[string]string `json:"metadata,omitempty"`
	LoadMS   float64           `json:"load_ms"`
	RunMS    float64           `json:"run_ms"` // the median
	FirstMS  float64           `json:"first_run_ms"`
}

// output describes a result.
type output struct {
	Name  string  `json:"name"`
	DType string  `json:"dtype"`
	Shape []int   `json:"shape"`
	Min   float64 `json:"min"`
	Max   float64 `json:"max"`
	Mean  float64 `json:"mean"`
}

func run(ctx context.Context, w io.Writer, path string, o options) error {
	if o.repeat < 1 {
		return fmt.Errorf("--repeat is %d, expected at least 1", o.repeat)
	}
	start := time.Now()
	m, err := modelfile.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	r := report{File: path, Metadata: m.Metadata(), LoadMS: ms(time.Since(start))}
	for _, p := range m.Inputs() {
		r.Inputs = append(r.Inputs, p.String())
	}
	torch.ManualSeed(o.seed)
	inputs, err := modelfile.Inputs(m.Inputs(), o.inputs)
	if err != nil {
		return err
	}
	var out map[string]*torch.Tensor
	times := make([]float64, o.repeat)
	for i := range times {
		start = time.Now()
		if out, err = m.Run(ctx, inputs); err != nil {
			return err
		}
		times[i] = ms(time.Since(start))
	}
	r.FirstMS = times[0]
	slices.Sort(times)
	r.RunMS = times[len(times)/2]
	for _, p := range m.Outputs() {
		t := out[p.Name]
		if t == nil {
			continue
		}
		r.Outputs = append(r.Outputs, describe(p.Name, t))
		if o.output != "" {
			if err := modelfile.Save(filepath.Join(o.output, fileName(p.Name)+".npy"), t); err != nil {
				return err
			}
		}
	}
	if o.json {
		return json.NewEncoder(w).Encode(r)
	}
	r.print(w, o.repeat)
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// describe sums up a tensor.
func describe(name string, t *torch.Tensor) output {
	o := output{Name: name, DType: t.DType().Name(), Shape: t.Shape()}
	if t.Numel() > 0 && !t.DType().IsComplex() {
		x := t.ToDType(torch.Float64)
		o.Min, o.Max, o.Mean = x.Min().Item(), x.Max().Item(), x.Mean().Item()
	}
	return o
}

func (r report) print(w io.Writer, repeat int) {
	for _, in := range r.Inputs {
		fmt.Fprintln(w, "in ", in)
	}
	for _, o := range r.Outputs {
		fmt.Fprintf(w, "out %s: %s%v  min %.6g, max %.6g, mean %.6g\n", o.Name, o.DType, o.Shape, o.Min, o.Max, o.Mean)
	}
	fmt.Fprintf(w, "loaded in %.1f ms, first run %.2f ms", r.LoadMS, r.FirstMS)
	if repeat > 1 {
		fmt.Fprintf(w, ", median of %d %.2f ms", repeat, r.RunMS)
	}
	fmt.Fprintln(w)
}

// fileName is an output's name without what may not stand in the name of a file.
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ':' || r < ' ' {
			return '_'
		}
		return r
	}, s)
}
