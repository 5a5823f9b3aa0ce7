// Package torchtest is the conformance suite of operators: [Run] calls every operator of the registry that has samples
// in many ways and checks that they agree with each other.
//
// A program that brings operators or kernels of its own runs it over them:
//
//	func TestOperators(t *testing.T) { torchtest.Run(t, torchtest.Options{Only: regexp.MustCompile(`^mylib::`)}) }
//
// Tests of one's own compare values with [AssertClose] and make random tensors with [MakeTensor], PyTorch's
// torch.testing.
//
// Checked are, for every sample: transposed, strided, shifted and expanded arguments against contiguous ones; arguments
// without elements and without dimensions (a result or a [tensor.Error], never another panic); every dtype, likewise;
// float32 against float64; gradients and gradients of gradients against difference quotients; in-place, out and number
// forms, and the generated method, against the boxed call; long vectors against short ones; every kernel path of this
// machine (see the environment variable GOTORCH_CPU); and the same bits for any number of threads.
package torchtest

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/tensor"
)

// Options choose what runs; the zero value is everything.
type Options struct {
	// Only limits the run to operators whose full name ("aten::add.Tensor") matches.
	Only *regexp.Regexp
	// Checks limits the run to some of: layout, edge, dtype, float64, grad, variants, method, blocks, paths, threads,
	// fused, meta, second, vmap.
	Checks []string
	// Short looks at fewer elements in gradient checks, at fewer dtypes, and changes the layout of all arguments at
	// once only.
	Short bool
}

// Report counts what ran.
type Report struct {
	Operators int            // with samples that ran
	Samples   int            // calls in the samples
	Checks    map[string]int // calls compared, by check
}

// check is one way to look at a sample.
type check struct {
	name string
	run  func(r *runner, s tensor.Sample)
}

var checks = []check{
	{"layout", (*runner).layouts}, {"edge", (*runner).edges}, {"dtype", (*runner).dtypes}, {"float64", (*runner).wider},
	{"grad", (*runner).gradients},
	{"variants", (*runner).variants}, {"method", (*runner).method}, {"blocks", (*runner).blocks},
	{"paths", (*runner).paths}, {"threads", (*runner).threads},
	{"fused", (*runner).fused}, {"meta", (*runner).meta}, {"second", (*runner).second},
	{"vmap", (*runner).vmap},
}

// runner checks one operator.
type runner struct {
	t      *testing.T
	op     *tensor.Op
	o      Options
	forms  []*tensor.Op // derived from op
	check  string
	note   string
	first  bool // sample of the operator
	report *Report
	failed map[string]int
}

// Run checks the operators of the registry.
func Run(t *testing.T, o Options) Report {
	rep := Report{Checks: map[string]int{}}
	forms := map[*tensor.Op][]*tensor.Op{}
	for _, op := range tensor.Ops() {
		if b := op.Base(); b != nil {
			forms[b] = append(forms[b], op)
		}
	}
	for _, op := range tensor.Ops() {
		if op.IsVariant() || op.IsAlias() || o.Only != nil && !o.Only.MatchString(op.FullName()) {
			continue
		}
		calls := op.Samples()
		if len(calls) == 0 {
			continue
		}
		rep.Operators++
		rep.Samples += len(calls)
		t.Run(strings.TrimPrefix(op.FullName(), "aten::"), func(t *testing.T) {
			r := &runner{t: t, op: op, o: o, forms: forms[op], report: &rep, failed: map[string]int{}}
			for i, s := range calls {
				if i > 1 && o.Short {
					break
				}
				r.note, r.first = s.Note, i == 0
				out, err := r.call(op, clones(s.Args))
				if err != nil {
					r.errorf("%v", err)
					continue
				}
				if len(op.Sch.Results) > 0 && !slices.ContainsFunc(out, given) {
					r.errorf("the call has no result")
					continue
				}
				for _, c := range checks {
					if !o.wants(c.name) {
						continue
					}
					r.check = c.name
					c.run(r, s)
				}
			}
			if err := mem.CheckGuards(); err != nil {
				t.Error(err)
			}
		})
	}
	return rep
}

func (o *Options) wants(name string) bool {
	for _, c := range o.Checks {
		if c == name {
			return true
		}
	}
	return len(o.Checks) == 0
}

// given reports a value that is not undefined, as single results of a rule with a mask are.
func given(v tensor.Value) bool { return v.K != tensor.KNone && (v.K != tensor.KTensor || v.T != nil) }

// errorf reports a failure; of each check of an operator only the first, the rest is mostly the same again.
func (r *runner) errorf(format string, args ...any) {
	r.t.Helper()
	if r.failed[r.check]++; r.failed[r.check] == 1 {
		r.t.Errorf("%s: %s(%s): %s", r.check, r.op.FullName(), r.note, fmt.Sprintf(format, args...))
	}
}

// call runs an operator with the generator of random numbers in a fixed state.
func (r *runner) call(op *tensor.Op, args []tensor.Value) (out []tensor.Value, err error) {
	r.report.Checks[r.check]++
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *tensor.Error:
			err = e
		default:
			err = badPanic{fmt.Sprint(e)}
		}
	}()
	rng.Default.ManualSeed(1)
	c := tensor.NewCall(op, len(op.Sch.Params))
	for i := range op.Sch.Params {
		switch {
		case i < len(args):
			*c.Arg(i) = args[i]
		case op.Sch.Params[i].Default != nil:
			*c.Arg(i) = *op.Sch.Params[i].Default
		}
	}
	return c.DoAll(), nil
}

// badPanic is a panic that is no *tensor.Error: always a bug.
type badPanic struct{ text string }

func (p badPanic) Error() string { return "panic: " + p.text }

// isBad tells bugs from refusals.
func isBad(err error) bool {
	var p badPanic
	return errors.As(err, &p)
}

// mapTensors copies arguments, replacing each tensor; f gets the number of the argument, and the position in a list or
// -1.
func mapTensors(args []tensor.Value, f func(i, j int, t *tensor.Tensor) *tensor.Tensor) []tensor.Value {
	out := append([]tensor.Value(nil), args...)
	for i, v := range args {
		switch v.K {
		case tensor.KTensor:
			out[i] = tensor.TensorValue(f(i, -1, v.T))
		case tensor.KTensors:
			l := append([]*tensor.Tensor(nil), v.X.([]*tensor.Tensor)...)
			for j, t := range l {
				if t != nil {
					l[j] = f(i, j, t)
				}
			}
			out[i] = tensor.TensorsValue(l)
		}
	}
	return out
}

// clones gives a call arguments of its own, for operators that write to them.
func clones(args []tensor.Value) []tensor.Value {
	return mapTensors(args, func(_, _ int, t *tensor.Tensor) *tensor.Tensor { return dense(t) })
}

func dense(t *tensor.Tensor) *tensor.Tensor {
	d := tensor.New(t.Shape(), t.DType())
	tensor.CopyRaw(d, t)
	return d
}

// cast converts the floating-point tensors among the arguments. A dtype argument that names float32 goes along.
func cast(args []tensor.Value, dt tensor.DType) []tensor.Value {
	out := mapTensors(args, func(_, _ int, t *tensor.Tensor) *tensor.Tensor {
		switch {
		case t.DType() == tensor.Float32:
			return dense(t.ToDType(dt))
		case t.DType() == tensor.Complex64 && dt == tensor.Float64:
			return dense(t.ToDType(tensor.Complex128))
		}
		return dense(t)
	})
	for i, v := range out {
		if v.K == tensor.KDType && tensor.DType(v.N) == tensor.Float32 {
			out[i] = tensor.DTypeValue(dt)
		}
	}
	return out
}

// compare compares the results of two calls; tol 0 wants the same bits.
func compare(got, want []tensor.Value, tol float64, dtypes bool) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d results, want %d", len(got), len(want))
	}
	for i := range got {
		g, w := got[i], want[i]
		if g.K != w.K {
			return fmt.Errorf("result %d is %s, want %s", i, g, w)
		}
		var err error
		switch g.K {
		case tensor.KTensor:
			err = compareTensors(g.T, w.T, tol, dtypes)
		case tensor.KTensors:
			gl, wl := g.X.([]*tensor.Tensor), w.X.([]*tensor.Tensor)
			if len(gl) != len(wl) {
				return fmt.Errorf("%d tensors, want %d", len(gl), len(wl))
			}
			for j := range gl {
				if err == nil {
					err = compareTensors(gl[j], wl[j], tol, dtypes)
				}
			}
		case tensor.KFloat:
			if math.Abs(g.Float()-w.Float()) > tol*(1+math.Abs(w.Float())) {
				err = fmt.Errorf("%v, want %v", g, w)
			}
		default:
			if g.String() != w.String() && dtypes {
				err = fmt.Errorf("%v, want %v", g, w)
			}
		}
		if err != nil {
			return fmt.Errorf("result %d: %w", i, err)
		}
	}
	return nil
}

func compareTensors(got, want *tensor.Tensor, tol float64, dtypes bool) error {
	if (got == nil) != (want == nil) {
		return fmt.Errorf("got %v, want %v", got != nil, want != nil)
	}
	if got == nil {
		return nil
	}
	if dtypes && got.DType() != want.DType() {
		return fmt.Errorf("dtype %s, want %s", got.DType().Name(), want.DType().Name())
	}
	if !tensor.SameShape(got.Shape(), want.Shape()) {
		return fmt.Errorf("shape %v, want %v", got.Shape(), want.Shape())
	}
	g, w := numbers(got), numbers(want)
	scale := 1.0
	for _, x := range w {
		if !math.IsInf(x, 0) && !math.IsNaN(x) {
			scale = max(scale, math.Abs(x))
		}
	}
	for i := range g {
		same := g[i] == w[i] || math.IsNaN(g[i]) && math.IsNaN(w[i])
		if !same && !(math.Abs(g[i]-w[i]) <= tol*scale) {
			return fmt.Errorf("element %d is %v, want %v", i, g[i], w[i])
		}
	}
	return nil
}

// numbers are the elements as float64, a complex number as two.
func numbers(t *tensor.Tensor) []float64 {
	t = t.Detach()
	if t.IsComplex() {
		c := tensor.Data[complex128](tensor.DenseAs(t, tensor.Complex128))
		out := make([]float64, 0, 2*len(c))
		for _, z := range c {
			out = append(out, real(z), imag(z))
		}
		return out
	}
	return tensor.Data[float64](tensor.DenseAs(t, tensor.Float64))
}
