package torchtest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gotorch-dev/torch/internal/second"
	"github.com/gotorch-dev/torch/tensor"
)

// meta runs the sample where tensors have no memory: results have the CPU's shapes, strides and dtypes, forward and
// backward.
func (r *runner) meta(s tensor.Sample) {
	r.onDevice(s, tensor.Device{Type: tensor.MetaDevice}, sameLayout)
}

// second runs the sample on a device whose memory the CPU cannot reach: results and gradients have the CPU's bits.
func (r *runner) second(s tensor.Sample) {
	r.onDevice(s, second.Device, func(got, want *tensor.Tensor) error {
		if err := sameLayout(got, want); err != nil {
			return err
		}
		return compareTensors(got.CPU(), want, 0, true)
	})
}

// sameLayout compares what is known of a tensor without its elements.
func sameLayout(got, want *tensor.Tensor) error {
	switch {
	case got.DType() != want.DType() || !tensor.SameShape(got.Shape(), want.Shape()):
		return fmt.Errorf("%s%v, want %s%v", got.DType(), got.Shape(), want.DType(), want.Shape())
	case !tensor.SameShape(got.Strides(), want.Strides()) && want.Numel() > 0:
		return fmt.Errorf("strides %v, want %v", got.Strides(), want.Strides())
	}
	return nil
}

// deviceArg is the number of the parameter that names a device, -1 without.
func deviceArg(op *tensor.Op) int {
	return slices.IndexFunc(op.Sch.Params, func(p tensor.Param) bool { return p.Kind == tensor.KDevice })
}

// onDevice compares the sample's calls on a device with those on the CPU.
func (r *runner) onDevice(s tensor.Sample, d tensor.Device, same func(got, want *tensor.Tensor) error) {
	forms := []*tensor.Op{r.op}
	for _, f := range r.forms {
		if f.IsInPlace() && numberForm(f) < 0 {
			forms = append(forms, f)
		}
	}
	for _, op := range forms {
		r.callOn(op, s, d, true, same)
		if d.Type != tensor.MetaDevice { // which has no fused operators
			r.callOn(op, s, d, false, same)
		}
	}
}

// callOn compares one call, by the bodies of fused operators or by their kernels.
func (r *runner) callOn(op *tensor.Op, s tensor.Sample, d tensor.Device, bodies bool,
	same func(got, want *tensor.Tensor) error) {
	wantsGrad := !s.NoGrad && op.NoGrad == "" && !op.Sch.Params[0].Writes || len(op.Sch.Params) == 0
	run := func(d tensor.Device) (out, args []tensor.Value, grads []*tensor.Tensor, err error) {
		var leaves []*tensor.Tensor
		args = mapTensors(s.Args, func(i, _ int, t *tensor.Tensor) *tensor.Tensor {
			t = dense(t).To(d)
			if wantsGrad && t.DType() == tensor.Float32 && !slices.Contains(s.Const, i) {
				t = t.Detach().SetRequiresGrad(true)
				leaves = append(leaves, t)
			}
			return t
		})
		if i := deviceArg(op); i >= 0 && d.Type != tensor.CPUDevice {
			for len(args) <= i {
				if p := &op.Sch.Params[len(args)]; p.Default != nil {
					args = append(args, *p.Default)
				} else {
					return nil, nil, nil, fmt.Errorf("no value for %s", p.Name)
				}
			}
			args[i] = tensor.DeviceValue(d)
		}
		if out, err = r.call(op, args); err != nil || len(leaves) == 0 {
			return out, args, nil, err
		}
		var sums []*tensor.Tensor
		for i, v := range out {
			if i > 0 && s.First {
				break
			}
			list, _ := v.X.([]*tensor.Tensor)
			for _, t := range append([]*tensor.Tensor{v.T}, list...) {
				if t != nil && t.Numel() > 0 && t.DType() == tensor.Float32 && t.RequiresGrad() {
					sums = append(sums, t.Mul(weights(t.Shape()).Float().To(d)).Sum())
				}
			}
		}
		if len(sums) > 0 {
			err = try(func() { grads = tensor.Grad(sums, leaves, tensor.GradOptions{AllowUnused: true}) })
		}
		return out, args, grads, err
	}
	look := func(f func()) { f() }
	if bodies { // a watcher makes the dispatcher run the bodies of fused operators
		look = func(f func()) { tensor.WithLayer(idle{}, f) }
	}
	var want, wantArgs, got, gotArgs []tensor.Value
	var wantGrads, gotGrads []*tensor.Tensor
	var err error
	look(func() { want, wantArgs, wantGrads, err = run(tensor.Device{}) })
	if err != nil {
		return
	}
	look(func() { got, gotArgs, gotGrads, err = run(d) })
	if err != nil {
		if d.Type == tensor.MetaDevice && r.op.DataDependent &&
			(errors.Is(err, tensor.ErrNotImpl) || errors.Is(err, tensor.ErrDevice)) {
			return
		}
		r.errorf("%s on %s: %v", op.FullName(), d, err)
		return
	}
	onDevice := func(t *tensor.Tensor) bool { return t.Device() == d }
	each := func(what string, got, want []tensor.Value, moved bool) {
		for i := range want {
			if got[i].K != want[i].K {
				r.errorf("%s on %s: %s %d is %s, want %s", op.FullName(), d, what, i, got[i], want[i])
				return
			}
			gl, _ := got[i].X.([]*tensor.Tensor)
			wl, _ := want[i].X.([]*tensor.Tensor)
			gl, wl = append([]*tensor.Tensor{got[i].T}, gl...), append([]*tensor.Tensor{want[i].T}, wl...)
			if len(gl) != len(wl) {
				r.errorf("%s on %s: %s %d has %d tensors, want %d", op.FullName(), d, what, i, len(gl), len(wl))
				return
			}
			for j, w := range wl {
				switch g := gl[j]; {
				case w == nil && g == nil:
				case w == nil || g == nil:
					r.errorf("%s on %s: %s %d is %v, want %v", op.FullName(), d, what, i, g != nil, w != nil)
				case moved && !onDevice(g):
					r.errorf("%s on %s: %s %d is on %s", op.FullName(), d, what, i, g.Device())
				default:
					if err := same(g, w); err != nil {
						r.errorf("%s on %s: %s %d: %v", op.FullName(), d, what, i, err)
					}
				}
			}
		}
	}
	moved := deviceArg(op) >= 0 || len(leavesOf(gotArgs)) > 0
	if !moved {
		return
	}
	each("result", got, want, moved)
	for i := range wantArgs {
		if k := wantArgs[i].K; k == tensor.KTensor || k == tensor.KTensors {
			each("argument", gotArgs[i:i+1], wantArgs[i:i+1], false)
		}
	}
	for i, w := range wantGrads {
		g := gotGrads[i]
		if (g == nil) != (w == nil) {
			r.errorf("%s on %s: gradient %d is %v, want %v", op.FullName(), d, i, g != nil, w != nil)
		} else if w != nil {
			if !onDevice(g) {
				r.errorf("%s on %s: gradient %d is on %s", op.FullName(), d, i, g.Device())
			} else if d.Type != tensor.MetaDevice || tensor.SameShape(g.Shape(), w.Shape()) {
				if d.Type == tensor.MetaDevice {
					continue // strides of gradients are the kernels' choice
				}
				if err := compareTensors(g.CPU(), w, 0, true); err != nil {
					r.errorf("%s on %s: gradient %d: %v", op.FullName(), d, i, err)
				}
			} else {
				r.errorf("%s on %s: gradient %d has shape %v, want %v", op.FullName(), d, i, g.Shape(), w.Shape())
			}
		}
	}
}

// leavesOf lists the tensors among arguments.
func leavesOf(args []tensor.Value) []*tensor.Tensor {
	var out []*tensor.Tensor
	mapTensors(args, func(_, _ int, t *tensor.Tensor) *tensor.Tensor {
		out = append(out, t)
		return t
	})
	return out
}

// fused compares the kernel of a fused operator with its body: a watcher makes the dispatcher take the body.
func (r *runner) fused(s tensor.Sample) {
	if r.op.Body == nil || r.op.CPU == nil {
		return
	}
	want, err := r.call(r.op, clones(s.Args))
	if err != nil {
		return
	}
	var got []tensor.Value
	tensor.WithLayer(idle{}, func() { got, err = r.call(r.op, clones(s.Args)) })
	if err != nil {
		r.errorf("body: %v", err)
		return
	}
	if isRandom(r.op) {
		return
	}
	tol := s.Tol
	if tol == 0 {
		tol = tolerance
	}
	if err := compare(got, want, tol, true); err != nil {
		r.errorf("body: %v", err)
	}
}

// idle is a layer that looks on.
type idle struct{}

func (idle) Rank() tensor.Rank               { return tensor.RankWatch }
func (idle) Call(_ *tensor.Ctx, next func()) { next() }
