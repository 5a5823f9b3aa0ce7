package ampcheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/conformance/programs"
	nnutils "github.com/gotorch-dev/torch/nn/utils"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/tensor"
)

// scalerRun is a training run of 300 steps with planted infinities.
type scalerRun struct {
	Kwargs    map[string]any
	Pattern   string
	Mode      string
	FoundInf  string `json:"found_inf"`
	FoundInf2 string `json:"found_inf2"`
	Grads     json.RawMessage
	P0        json.RawMessage
	Scale     [][2]float64
	Tracker   []int
	Norms     []any // numbers, or "inf", "-inf", "nan"
	Params    map[string]json.RawMessage
}

func scalerRuns(dir string, d *golden.Decoder, t *golden.Tally, chosen func(string) bool) error {
	var file struct {
		Runs  []scalerRun
		Rules []program
	}
	if err := golden.ReadJSON(filepath.Join(dir, "scaler.json"), &file); err != nil {
		return err
	}
	for i := range file.Runs {
		if name := "scaler"; chosen(name) {
			t.Add(name, strconv.Itoa(i), golden.Guard(func() error { return file.Runs[i].check(d) }))
		}
	}
	for i := range file.Rules {
		p := &file.Rules[i]
		if chosen("scaler rules") {
			t.Add("scaler rules", p.Name, golden.Guard(func() error { return runProgram(d, p) }))
		}
	}
	return nil
}

func (r *scalerRun) check(d *golden.Decoder) error {
	d.Reset()
	decoded := func(raw json.RawMessage) (*tensor.Tensor, error) {
		v, err := d.Decode(raw)
		if err != nil {
			return nil, err
		}
		t, ok := v.(*tensor.Tensor)
		if !ok {
			return nil, fmt.Errorf("%s is no tensor", raw)
		}
		return t, nil
	}
	grads, err := decoded(r.Grads)
	if err != nil {
		return err
	}
	p0, err := decoded(r.P0)
	if err != nil {
		return err
	}
	p := p0.Clone().SetRequiresGrad(true)
	var opt, opt2 optim.Optimizer
	var p2 *tensor.Tensor
	if r.Mode == "adam" {
		opt = optim.NewAdam([]*tensor.Tensor{p}, 0.01)
	} else {
		opt = optim.NewSGD([]*tensor.Tensor{p}, 0.05, optim.SGDOptions{Momentum: 0.9})
	}
	if r.Mode == "two_opt" {
		p2 = p0.Clone().SetRequiresGrad(true)
		opt2 = optim.NewSGD([]*tensor.Tensor{p2}, 0.05)
	}
	s := programs.MakeScaler("cpu", r.Kwargs)
	bad := []float64{inf, -inf, nan}
	var scales []float64
	for step := range len(r.FoundInf) {
		g := grads.Select(0, step).Clone()
		if r.FoundInf[step] == '1' {
			g.Select(0, step%4).FillScalarInPlace(bad[step%3])
		}
		opt.ZeroGrad()
		s.Scale(p.Mul(g).Sum()).Backward()
		if opt2 != nil {
			g2 := grads.Select(0, step).MulScalar(2)
			if step < len(r.FoundInf2) && r.FoundInf2[step] == '1' {
				g2.Select(0, 0).FillScalarInPlace(inf)
			}
			opt2.ZeroGrad()
			s.Scale(p2.Mul(g2).Sum()).Backward()
		}
		if r.Mode == "unscale_clip" {
			s.Unscale(opt)
			n := nnutils.ClipGradNorm([]*tensor.Tensor{p}, 0.15)
			if step < len(r.Norms) {
				want, err := strconv.ParseFloat(fmt.Sprint(r.Norms[step]), 64)
				if err != nil {
					return err
				}
				if got := n.Item(); !near(got, want) {
					return fmt.Errorf("step %d: norm %v, want %v", step, got, want)
				}
			}
		}
		s.Step(opt)
		if opt2 != nil {
			s.Step(opt2)
		}
		s.Update()
		scales = append(scales, s.GetScale())
		if len(r.Tracker) > step && s.GrowthTracker() != r.Tracker[step] {
			return fmt.Errorf("step %d: growth tracker %d, want %d", step, s.GrowthTracker(), r.Tracker[step])
		}
		for name, x := range map[string]*tensor.Tensor{"p." + strconv.Itoa(step): p, "p2." + strconv.Itoa(step): p2} {
			raw, ok := r.Params[name]
			if !ok || x == nil {
				continue
			}
			want, err := decoded(raw)
			if err != nil {
				return err
			}
			if why := golden.Close(x, want, golden.Tolerance{RTol: 1e-6, ATol: 1e-6}); why != "" {
				return fmt.Errorf("step %d: %s", step, why)
			}
		}
	}
	at := 0
	for _, run := range r.Scale {
		for range int(run[1]) {
			if at < len(scales) && scales[at] != run[0] {
				return fmt.Errorf("step %d: scale %v, want %v", at, scales[at], run[0])
			}
			at++
		}
	}
	if at != len(scales) {
		return errors.New("the record has another number of steps")
	}
	return nil
}

var (
	inf = math.Inf(1)
	nan = math.NaN()
)

func near(got, want float64) bool {
	return got == want || math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= 1e-5*math.Abs(want)+1e-6
}
