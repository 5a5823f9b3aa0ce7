package ampcheck

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/amp"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/conformance/opcheck"
	"github.com/gotorch-dev/torch/internal/conformance/programs"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/pylite"
	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/tensor"
)

// opRecord is an operator with its arguments, all float32, and the runs under autocast.
type opRecord struct {
	Op     string
	Expr   string
	Own    bool // no sample of OpInfo
	Seed   int64
	Input  json.RawMessage
	Args   []json.RawMessage
	Kwargs json.RawMessage
	Runs   [][]json.RawMessage
}

// opRun is one row: device, autocast type, types of the inputs, result types or error, what ran, number of casts.
type opRun struct {
	device, lo, in string
	out            string
	err            *struct{ Type, Message string }
	ran            []string
	casts          int
	values         json.RawMessage
}

func parseRun(row []json.RawMessage) (r opRun, err error) {
	if len(row) < 4 {
		return r, fmt.Errorf("a row of %d columns", len(row))
	}
	for i, p := range []*string{&r.device, &r.lo, &r.in} {
		if err := json.Unmarshal(row[i], p); err != nil {
			return r, err
		}
	}
	if json.Unmarshal(row[3], &r.out) != nil {
		if err := json.Unmarshal(row[3], &r.err); err != nil {
			return r, err
		}
		return r, nil
	}
	if len(row) > 5 {
		if err := json.Unmarshal(row[4], &r.ran); err != nil {
			return r, err
		}
		if err := json.Unmarshal(row[5], &r.casts); err != nil {
			return r, err
		}
	}
	if len(row) > 6 {
		r.values = row[6]
	}
	return r, nil
}

func operators(dir string, d *golden.Decoder, t *golden.Tally, chosen func(string) bool) error {
	var file struct{ Ops []opRecord }
	if err := golden.ReadJSON(filepath.Join(dir, "ops.json"), &file); err != nil {
		return err
	}
	for i := range file.Ops {
		rec := &file.Ops[i]
		name := rec.Op
		if name == "" {
			name = rec.Expr
		}
		if !chosen(name) {
			continue
		}
		for j, row := range rec.Runs {
			r, err := parseRun(row)
			if err != nil {
				return err
			}
			t.Add(name, strconv.Itoa(i)+"/"+strconv.Itoa(j), golden.Guard(func() error {
				if err := rec.check(d, &r); err != nil {
					return fmt.Errorf("(%s %s %s) %w", r.device, r.lo, r.in, err)
				}
				return nil
			}))
		}
	}
	return nil
}

// caster gives the floating-point tensors of the arguments their types, in order of appearance.
type caster struct {
	types []tensor.DType
	n     int
	meta  bool
}

func (c *caster) cast(v any) any {
	switch x := v.(type) {
	case *tensor.Tensor:
		if x.DType().IsFloat() {
			x = x.ToDType(c.types[c.n%len(c.types)])
			c.n++
		}
		if c.meta {
			x = x.To(tensor.Device{Type: tensor.MetaDevice})
		}
		return x
	case golden.List:
		out := make(golden.List, len(x))
		for i := range x {
			out[i] = c.cast(x[i])
		}
		return out
	case golden.Tuple:
		out := make(golden.Tuple, len(x))
		for i := range x {
			out[i] = c.cast(x[i])
		}
		return out
	}
	return v
}

func (r *opRun) types() []tensor.DType {
	lo := dtype.Parse(r.lo)
	other := tensor.Float16
	if lo == tensor.Float16 {
		other = tensor.BFloat16
	}
	var out []tensor.DType
	for _, n := range strings.Split(r.in, ",") {
		out = append(out, map[string]tensor.DType{"f32": tensor.Float32, "lo": lo, "other": other,
			"f64": tensor.Float64}[n])
	}
	return out
}

func (rec *opRecord) check(d *golden.Decoder, r *opRun) error {
	d.Reset()
	input, err := d.Decode(rec.Input)
	if err != nil {
		return err
	}
	args, err := d.Args(rec.Args)
	if err != nil {
		return err
	}
	kwargs, err := d.Kwargs(rec.Kwargs)
	if err != nil {
		return err
	}
	c := &caster{types: r.types(), meta: r.device == "cuda"}
	all := golden.List{c.cast(input)}
	for _, a := range args {
		all = append(all, c.cast(a))
	}
	order, err := keys(rec.Kwargs)
	if err != nil {
		return err
	}
	for _, k := range order {
		kwargs[k] = c.cast(kwargs[k])
	}
	rng.Default.ManualSeed(rec.Seed)
	l := &casts{}
	var got any
	run := func() { got, err = rec.call(all, kwargs) }
	tensor.WithLayer(l, func() { amp.Autocast(kind(r.device), dtype.Parse(r.lo), run) })
	if r.err != nil {
		if err == nil {
			return fmt.Errorf("no error, want %.100q", r.err.Message)
		}
		return nil
	}
	if err != nil {
		return err
	}
	var types []string
	for _, t := range opcheck.Flatten(got) {
		types = append(types, t.DType().Name())
	}
	if s := strings.Join(types, ","); s != r.out {
		return fmt.Errorf("results of %s, want %s", s, r.out)
	}
	if r.device == "cpu" {
		if err := sameRun(l, r); err != nil {
			return err
		}
	}
	if r.values != nil {
		want, err := d.Decode(r.values)
		if err != nil {
			return err
		}
		return sameOut(got, want, dtype.Parse(r.lo))
	}
	return nil
}

// keys lists the names of the keyword arguments in their order.
func keys(raw json.RawMessage) ([]string, error) {
	var out []string
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	for dec.More() {
		k, err := dec.Token()
		if err != nil {
			return nil, err
		}
		out = append(out, fmt.Sprint(k))
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// sameRun compares the number of casts, and the types of what has run where the same operators have run on both sides:
// an operator that PyTorch has a kernel for may be composed here, of operators with other types.
func sameRun(l *casts, r *opRun) error {
	same := len(l.ran) >= len(r.ran)
	for i, want := range r.ran {
		name, _, _ := strings.Cut(want, "(")
		same = same && l.ran[i].name == name
	}
	if !same {
		return nil
	}
	for i, want := range r.ran {
		_, types, _ := strings.Cut(want, "(")
		in, _, _ := strings.Cut(types, ")")
		if s := strings.Join(l.ran[i].in, ","); s != in && in != "" {
			return fmt.Errorf("%s ran with %s, want %s", l.ran[i].name, s, in)
		}
	}
	if len(l.list) != r.casts {
		return fmt.Errorf("%d casts (%v; ran %v), want %d (ran %v)", len(l.list), l.list, l.ran, r.casts, r.ran)
	}
	return nil
}

// reordered are the samples of PyTorch's OpInfo whose first argument, the input, is not the first one of the function.
var reordered = map[string]string{
	"where":                       "lambda x, condition, other: torch.where(condition, x, other)",
	"einsum":                      "lambda tensors, equation: torch.einsum(equation, tensors)",
	"nn.functional.embedding":     "lambda weight, idx, **kw: torch.nn.functional.embedding(idx, weight, **kw)",
	"nn.functional.embedding_bag": "lambda weight, idx, **kw: torch.nn.functional.embedding_bag(idx, weight, **kw)",
	"polygamma":                   "lambda x, n: torch.polygamma(n, x)",
	"linalg.lstsq.grad_oriented":  "lambda a, b, driver: torch.linalg.lstsq(a, b, driver=driver)[:2]",
	"linalg.pinv.singular":        "lambda a, b: torch.linalg.pinv(a @ b.mT)",
	"zero_":                       "lambda x: torch.zero_(x.clone())",
	"slice":                       "lambda x, *args: torch.ops.aten.slice.Tensor(x, *args)",
}

// pythonNames are the functions that a sample's name may stand for.
func pythonNames(name string) []string {
	for _, ns := range []string{"nn.functional.", "linalg.", "fft.", "special.", "signal.windows.", "masked."} {
		if rest, ok := strings.CutPrefix(name, ns); ok {
			if strings.Contains(rest, ".") {
				return nil
			}
			return []string{"torch." + name}
		}
	}
	if strings.Contains(name, ".") {
		return nil
	}
	names := []string{"torch." + name, "torch.Tensor." + name, "torch.ops.aten." + name, "torch.nn.functional." + name}
	if _, rest, ok := strings.Cut(name, "_"); ok && rest != "" { // int_matmul: the kind of the numbers, the function
		names = append(names, "torch."+rest)
	}
	return names
}

// call calls the operator, or the lambda of the record.
func (rec *opRecord) call(args golden.List, kwargs map[string]any) (any, error) {
	expr := rec.Expr
	name := rec.Op
	for expr == "" {
		if !rec.Own {
			if expr = reordered[name]; expr != "" {
				break
			}
		}
		for _, dotted := range pythonNames(name) {
			if names := opcheck.Names(dotted); opcheck.Exists(names) {
				return opcheck.Call(names, args, kwargs)
			}
		}
		// a variant of the samples has a name of its own behind the function's
		i := strings.LastIndexByte(name, '.')
		if i < 0 {
			return nil, golden.Skip("operator not there yet: " + rec.Op)
		}
		name = name[:i]
	}
	in, _ := programs.New()
	list := make([]any, len(args))
	for i, a := range args {
		list[i] = programs.ToPython(a)
	}
	fn, err := in.Eval(expr)
	if err != nil {
		return nil, err
	}
	f, ok := fn.(*pylite.Func)
	if !ok {
		return nil, fmt.Errorf("%s is no function", expr)
	}
	var out any
	kw := map[string]any{}
	for k, v := range kwargs {
		kw[k] = programs.ToPython(v)
	}
	err = in.Guard(func() { out = programs.FromPython(f.Call(list, kw)) })
	return out, err
}
