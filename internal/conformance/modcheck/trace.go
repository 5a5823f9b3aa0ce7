package modcheck

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// Bind gives every tensor among the arguments of a case to arg. The function that it returns runs the module on what
// arg has returned, and gives its results.
type Bind func(arg func(*tensor.Tensor) *tensor.Tensor) (forward func() []*tensor.Tensor)

// Each builds the module of every reference case that only matches, with its parameters, and calls f with a function
// that puts the case's seed and buffers in place and then has around run the module.
func Each(dir string, only *regexp.Regexp, f func(name string, m nn.Module, run func(around func(bind Bind)))) error {
	raw, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		return err
	}
	var index struct{ Modules []record }
	if err := json.Unmarshal(raw, &index); err != nil {
		return fmt.Errorf("index.json: %w", err)
	}
	for i := range index.Modules {
		rec := &index.Modules[i]
		if !Known(rec.Cls) || only != nil && !only.MatchString(rec.Name) && !only.MatchString(rec.Cls) {
			continue
		}
		path, err := golden.Path(dir, rec.File)
		if err != nil {
			return err
		}
		d, err := golden.NewDecoder(path)
		if err != nil {
			return err
		}
		d.Sizes = true
		for j := range rec.Cases {
			c := &rec.Cases[j]
			d.Reset()
			ctor, err := d.Module(rec.Ctor)
			if err != nil {
				return err
			}
			m, err := Build(ctor)
			if err != nil {
				continue // TestModules reports it
			}
			train := c.Mode != "eval"
			args, kwargs, _, _, err := prepare(d, c, m, dtype.Parse(rec.DType), train)
			if err != nil {
				continue
			}
			start := map[*tensor.Tensor]*tensor.Tensor{} // running statistics change with every run
			for _, b := range nn.Buffers(m) {
				start[b] = b.Clone()
			}
			f(fmt.Sprintf("%s case %d", rec.Name, j), m,
				func(around func(bind Bind)) {
					if c.Seed != nil {
						rng.Default.ManualSeed(*c.Seed)
					}
					tensor.NoGrad(func() {
						for b, was := range start {
							b.CopyInPlace(was)
						}
					})
					around(func(arg func(*tensor.Tensor) *tensor.Tensor) func() []*tensor.Tensor {
						a := changed(args, arg).([]any)
						kw := map[string]any{}
						for k, v := range kwargs {
							kw[k] = changed(v, arg)
						}
						return func() []*tensor.Tensor { return tensors(forward(m, a, kw)) }
					})
				})
		}
		d.Close()
	}
	return nil
}

// changed replaces the tensors in lists.
func changed(v any, f func(*tensor.Tensor) *tensor.Tensor) any {
	switch x := v.(type) {
	case *tensor.Tensor:
		return f(x)
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = changed(x[i], f)
		}
		return out
	case golden.Tuple:
		out := make(golden.Tuple, len(x))
		for i := range x {
			out[i] = changed(x[i], f)
		}
		return out
	}
	return v
}

// Tracer is a layer that notes the operators that are called, with those of their arguments that are no tensors.
type Tracer struct {
	Names []string
	Calls []string
}

// Rank is that of a tracer.
func (t *Tracer) Rank() tensor.Rank { return tensor.RankTrace }

// Call notes one call.
func (t *Tracer) Call(c *tensor.Ctx, next func()) {
	t.Names = append(t.Names, c.Op().FullName())
	var b strings.Builder
	b.WriteString(c.Op().FullName() + "(")
	for i := range c.NumArgs() {
		switch v := c.Value(i); v.K {
		case tensor.KTensor:
			b.WriteString("tensor, ")
		case tensor.KTensors:
			fmt.Fprintf(&b, "%d tensors, ", len(v.X.([]*tensor.Tensor)))
		default:
			b.WriteString(v.String() + ", ")
		}
	}
	t.Calls = append(t.Calls, strings.TrimSuffix(b.String(), ", ")+")")
	next()
}
