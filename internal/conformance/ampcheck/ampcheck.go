// Package ampcheck compares autocast and gradient scaling with reference cases: operators by the dtypes of their
// inputs, programs, modules, and runs of a GradScaler.
package ampcheck

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/conformance/programs"
	"github.com/gotorch-dev/torch/internal/pylite"
	"github.com/gotorch-dev/torch/tensor"
)

// Run checks the files of a directory.
func Run(dir string, only *regexp.Regexp, verbose func(format string, args ...any)) ([]golden.Result, error) {
	d, err := golden.NewDecoder(filepath.Join(dir, "amp.npz"))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	t := &golden.Tally{Verbose: verbose}
	chosen := func(name string) bool { return only == nil || only.MatchString(name) }
	golden.Note(filepath.Join(dir, "lists.json")) // compared by a test of the operators
	for _, f := range []func(string, *golden.Decoder, *golden.Tally, func(string) bool) error{operators, scenarios,
		modules,
		scalerRuns} {
		if err := f(dir, d, t, chosen); err != nil {
			return nil, err
		}
	}
	return t.Results(), nil
}

// casts is a layer that notes conversions below autocast.
type casts struct {
	list []string
	ran  []call
}

// call is an operator with the dtypes of its floating-point arguments and results.
type call struct {
	name    string
	in, out []string
}

// Rank says that the layer sees what autograd calls.
func (*casts) Rank() tensor.Rank { return tensor.RankBelow }

// Call notes one call.
func (l *casts) Call(c *tensor.Ctx, next func()) {
	next()
	name := strings.Replace(c.Op().FullName(), "::", ".", 1)
	var x call
	x.name = name
	for i := range c.NumArgs() {
		v := c.Value(i)
		if k := c.Op().Sch.Params[i].Kind; k != tensor.KTensor && k != tensor.KTensors {
			continue
		}
		switch v.K {
		case tensor.KTensor:
			if v.T != nil {
				x.in = append(x.in, v.T.DType().Name())
			}
		case tensor.KTensors:
			for _, t := range v.X.([]*tensor.Tensor) {
				if t != nil {
					x.in = append(x.in, t.DType().Name())
				}
			}
		}
	}
	for _, v := range c.Results() {
		if v.K == tensor.KTensor && v.T != nil {
			x.out = append(x.out, v.T.DType().Name())
		}
	}
	if name == "aten._to_copy" {
		if len(x.in) == 1 && len(x.out) == 1 && x.in[0] != x.out[0] {
			l.list = append(l.list, fmt.Sprintf("aten._to_copy(%s)->%s", x.in[0], x.out[0]))
		}
		return
	}
	l.ran = append(l.ran, x)
}

// program is a Python program with its results.
type program struct {
	Name     string
	Code     string
	Inputs   map[string]json.RawMessage
	Out      map[string]json.RawMessage
	Error    *struct{ Type, Message string }
	Warnings []string
	Casts    []string
}

func scenarios(dir string, d *golden.Decoder, t *golden.Tally, chosen func(string) bool) error {
	var file struct{ Scenarios []program }
	if err := golden.ReadJSON(filepath.Join(dir, "scenarios.json"), &file); err != nil {
		return err
	}
	for i := range file.Scenarios {
		p := &file.Scenarios[i]
		if chosen(p.Name) {
			t.Add("scenarios", p.Name, golden.Guard(func() error { return runProgram(d, p) }))
		}
	}
	return nil
}

// runProgram runs a program and compares what it leaves behind.
func runProgram(d *golden.Decoder, p *program) error {
	d.Reset()
	in, h := programs.New()
	for n, raw := range p.Inputs {
		v, err := d.Decode(raw)
		if err != nil {
			return err
		}
		in.Globals[n] = programs.ToPython(v)
	}
	l := &casts{}
	var err error
	tensor.WithLayer(l, func() { err = programs.Run(in, h, p.Code) })
	if p.Error != nil {
		if err := programs.Matches(err, p.Error.Message); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	out := in.Globals["out"].(*pylite.Dict)
	for name, raw := range p.Out {
		want, err := d.Decode(raw)
		if err != nil {
			return err
		}
		got, _ := out.Get(name)
		if err := programs.Same(programs.FromPython(got), want, 4); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, w := range p.Warnings {
		if !contains(h.Warnings, w) {
			return fmt.Errorf("no warning %q, got %q", w, h.Warnings)
		}
	}
	if p.Casts != nil && strings.Join(l.list, " ") != strings.Join(p.Casts, " ") {
		return fmt.Errorf("casts %v, want %v", l.list, p.Casts)
	}
	return nil
}

func contains(list []string, text string) bool {
	for _, s := range list {
		if strings.Contains(s, text) {
			return true
		}
	}
	return false
}

// kind is the autocast device of a name in the data.
func kind(name string) tensor.DeviceType {
	if name == "cuda" {
		return tensor.CUDADevice
	}
	return tensor.CPUDevice
}
