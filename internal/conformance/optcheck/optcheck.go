// Package optcheck runs the optimizer and learning-rate-schedule cases of a directory in the optim format. The losses
// and gradients of its small problems are worked out here, in plain loops, so that what is checked is the optimizers
// alone.
package optcheck

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

type runRecord struct {
	I            int
	Name         string
	Problem      string
	DType        string
	Steps        int
	Kwargs       map[string]any
	Params       []int
	Groups       []map[string]any
	ClipNorm     float64        `json:"clip_norm"`
	AddGroup     map[string]any `json:"add_group"`
	Losses       []float64
	ParamSteps   []int `json:"param_steps"`
	Mid          int
	StateFile    string `json:"state_file"`
	StateMidFile string `json:"state_mid_file"`
}

// Options choose what runs.
type Options struct {
	Only    *regexp.Regexp
	Verbose func(format string, args ...any)
}

// Run checks every case of dir's optim.json and schedulers.json.
func Run(dir string, o Options) ([]golden.Result, error) {
	t := &golden.Tally{Verbose: o.Verbose}
	var index struct {
		Runs     []runRecord
		Averaged []averagedRecord
	}
	if err := golden.ReadJSON(filepath.Join(dir, "optim.json"), &index); err != nil {
		return nil, err
	}
	d, err := golden.NewDecoder(filepath.Join(dir, "optim.npz"))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	for i := range index.Runs {
		r := &index.Runs[i]
		golden.Note(filepath.Join(dir, r.StateFile))
		golden.Note(filepath.Join(dir, r.StateMidFile))
		if o.Only == nil || o.Only.MatchString(r.Name) {
			t.Add(r.Name, strconv.Itoa(r.I), golden.Guard(func() error { return checkRun(dir, d, r) }))
		}
	}
	for i := range index.Averaged {
		if o.Only == nil || o.Only.MatchString("AveragedModel") {
			r := &index.Averaged[i]
			t.Add("AveragedModel", strconv.Itoa(r.I), golden.Guard(func() error { return checkAveraged(d, r) }))
		}
	}
	if err := checkSchedules(filepath.Join(dir, "schedulers.json"), o, t); err != nil {
		return nil, err
	}
	return t.Results(), nil
}

func num(m map[string]any, key string) float64 { f, _ := m[key].(float64); return f }

func flag(m map[string]any, key string) bool { b, _ := m[key].(bool); return b }

// explicit is a number that may be missing.
func explicit(m map[string]any, key string) (o tensor.Opt[float64]) {
	if f, ok := m[key].(float64); ok {
		o = tensor.Some(f)
	}
	return o
}

func explicitInt(m map[string]any, key string) (o tensor.Opt[int]) {
	if f, ok := m[key].(float64); ok {
		o = tensor.Some(int(f))
	}
	return o
}

func betas(m map[string]any) tensor.Opt[[2]float64] { return pair(m, "betas") }

func pair(m map[string]any, key string) (o tensor.Opt[[2]float64]) {
	if l, ok := m[key].([]any); ok && len(l) == 2 {
		o = tensor.Some([2]float64{l[0].(float64), l[1].(float64)})
	}
	return o
}

func ints(v any) []int {
	l, _ := v.([]any)
	out := make([]int, len(l))
	for i, e := range l {
		out[i] = int(e.(float64))
	}
	return out
}

func group(m map[string]any, params []*tensor.Tensor) optim.Group {
	g := optim.Group{LR: explicit(m, "lr"), Betas: betas(m), Eps: explicit(m, "eps"), Momentum: explicit(m, "momentum"),
		Dampening: explicit(m, "dampening"), WeightDecay: explicit(m, "weight_decay")}
	for _, f := range []struct {
		key string
		dst *tensor.Opt[bool]
	}{{"nesterov", &g.Nesterov}, {"amsgrad", &g.AMSGrad}, {"maximize", &g.Maximize}} {
		if b, ok := m[f.key].(bool); ok {
			*f.dst = tensor.Some(b)
		}
	}
	for k, v := range m { // settings that only some optimizers have
		switch k {
		case "lr", "betas", "momentum", "dampening", "weight_decay", "nesterov", "amsgrad", "maximize", "params", "step":
			continue
		case "eps":
			if _, ok := g.Eps.Get(); ok { // Adafactor has two
				continue
			}
		}
		if g.Settings == nil {
			g.Settings = map[string]any{}
		}
		if l, ok := v.([]any); ok && len(l) == 2 {
			if first, ok := l[0].(float64); ok {
				v = [2]float64{first, l[1].(float64)}
			} else {
				v = serialize.Tuple{nil, l[1]}
			}
		}
		g.Settings[k] = v
	}
	for _, i := range ints(m["params"]) {
		g.Params = append(g.Params, params[i])
	}
	return g
}

// build makes the optimizer of a run; nil when there is no such class.
func build(r *runRecord, params []*tensor.Tensor) optim.Optimizer {
	k := r.Kwargs
	var groups []optim.Group
	for _, g := range r.Groups {
		groups = append(groups, group(g, params))
	}
	if groups == nil {
		which := params
		if r.Params != nil {
			which = nil
			for _, i := range r.Params {
				which = append(which, params[i])
			}
		}
		groups = []optim.Group{{Params: which}}
	}
	lr, ok := k["lr"].(float64)
	if !ok {
		lr = DefaultLR(r.Name)
	}
	opt := Make(r.Name, groups, lr, k)
	if opt != nil && opt.Defaults().Has("foreach") { // the reference ran with foreach=False, which its state files say
		opt.Defaults().Set("foreach", false)
		for _, g := range opt.ParamGroups() {
			g.Set("foreach", false)
		}
	}
	return opt
}

// DefaultLR is the learning rate of an optimizer of PyTorch that is given none.
func DefaultLR(name string) float64 {
	switch name {
	case "Adadelta", "LBFGS":
		return 1
	case "Adagrad", "RMSprop", "Rprop", "ASGD", "Adafactor":
		return 1e-2
	case "Adamax", "NAdam":
		return 2e-3
	}
	return 1e-3
}

// Make constructs an optimizer by its Python name and arguments; nil when there is no such class.
func Make(name string, groups []optim.Group, lr float64, k map[string]any) optim.Optimizer {
	decay, maximize := num(k, "weight_decay"), flag(k, "maximize")
	switch name {
	case "SGD":
		return optim.NewSGDGroups(groups, lr,
			optim.SGDOptions{Momentum: num(k, "momentum"), Dampening: num(k, "dampening"),
				WeightDecay: decay, Nesterov: flag(k, "nesterov"), Maximize: maximize})
	case "Adam":
		return optim.NewAdamGroups(groups, lr,
			optim.AdamOptions{Betas: betas(k), Eps: explicit(k, "eps"), WeightDecay: decay,
				AMSGrad: flag(k, "amsgrad"), Maximize: maximize,
				DecoupledWeightDecay: flag(k, "decoupled_weight_decay")})
	case "AdamW":
		return optim.NewAdamWGroups(groups, lr,
			optim.AdamWOptions{Betas: betas(k), Eps: explicit(k, "eps"), WeightDecay: explicit(k, "weight_decay"),
				AMSGrad: flag(k, "amsgrad"), Maximize: maximize})
	case "Adagrad":
		return optim.NewAdagradGroups(groups, lr,
			optim.AdagradOptions{LRDecay: num(k, "lr_decay"), WeightDecay: decay,
				InitialAccumulatorValue: num(k, "initial_accumulator_value"), Eps: explicit(k, "eps"),
				Maximize: maximize})
	case "SparseAdam":
		return optim.NewSparseAdamGroups(groups, lr,
			optim.SparseAdamOptions{Betas: betas(k), Eps: explicit(k, "eps"), Maximize: maximize})
	case "Adadelta":
		return optim.NewAdadeltaGroups(groups, lr,
			optim.AdadeltaOptions{Rho: explicit(k, "rho"), Eps: explicit(k, "eps"), WeightDecay: decay,
				Maximize: maximize})
	case "Adamax":
		return optim.NewAdamaxGroups(groups, lr,
			optim.AdamaxOptions{Betas: betas(k), Eps: explicit(k, "eps"), WeightDecay: decay, Maximize: maximize})
	case "NAdam":
		return optim.NewNAdamGroups(groups, lr,
			optim.NAdamOptions{Betas: betas(k), Eps: explicit(k, "eps"), WeightDecay: decay,
				MomentumDecay:        explicit(k, "momentum_decay"),
				DecoupledWeightDecay: flag(k, "decoupled_weight_decay"), Maximize: maximize})
	case "RAdam":
		return optim.NewRAdamGroups(groups, lr,
			optim.RAdamOptions{Betas: betas(k), Eps: explicit(k, "eps"), WeightDecay: decay,
				DecoupledWeightDecay: flag(k, "decoupled_weight_decay"), Maximize: maximize})
	case "RMSprop":
		return optim.NewRMSpropGroups(groups, lr,
			optim.RMSpropOptions{Alpha: explicit(k, "alpha"), Eps: explicit(k, "eps"), WeightDecay: decay,
				Momentum: num(k, "momentum"), Centered: flag(k, "centered"), Maximize: maximize})
	case "Rprop":
		return optim.NewRpropGroups(groups, lr,
			optim.RpropOptions{Etas: pair(k, "etas"), StepSizes: pair(k, "step_sizes"), Maximize: maximize})
	case "ASGD":
		return optim.NewASGDGroups(groups, lr,
			optim.ASGDOptions{Lambd: explicit(k, "lambd"), Alpha: explicit(k, "alpha"), T0: explicit(k, "t0"),
				WeightDecay: decay, Maximize: maximize})
	case "Adafactor":
		o := optim.AdafactorOptions{Beta2Decay: explicit(k, "beta2_decay"), D: explicit(k, "d"), WeightDecay: decay,
			Maximize: maximize}
		if l, ok := k["eps"].([]any); ok {
			if e, ok := l[0].(float64); ok {
				o.Eps1 = tensor.Some(e)
			}
			o.Eps2 = tensor.Some(l[1].(float64))
		}
		return optim.NewAdafactorGroups(groups, lr, o)
	case "Muon":
		o := optim.MuonOptions{WeightDecay: explicit(k, "weight_decay"), Momentum: explicit(k, "momentum"),
			Eps: explicit(k, "eps"), NSSteps: explicitInt(k, "ns_steps")}
		if n, ok := k["nesterov"].(bool); ok {
			o.Nesterov = tensor.Some(n)
		}
		if l, ok := k["ns_coefficients"].([]any); ok {
			o.NSCoefficients = tensor.Some([3]float64{l[0].(float64), l[1].(float64), l[2].(float64)})
		}
		o.AdjustLRFn, _ = k["adjust_lr_fn"].(string)
		return optim.NewMuonGroups(groups, lr, o)
	case "LBFGS":
		o := optim.LBFGSOptions{MaxIter: explicitInt(k, "max_iter"), MaxEval: explicitInt(k, "max_eval"),
			ToleranceGrad: explicit(k, "tolerance_grad"), ToleranceChange: explicit(k, "tolerance_change"),
			HistorySize: explicitInt(k, "history_size"), Maximize: maximize}
		o.LineSearchFn, _ = k["line_search_fn"].(string)
		return optim.NewLBFGS(groups[0].Params, lr, o)
	}
	return nil
}

func tolerance(r *runRecord) float64 {
	switch {
	case r.Name == "Muon":
		return 2e-2
	case r.Name == "LBFGS" || r.DType == "float32":
		return 1e-4
	case r.Name == "Rprop":
		return 1e-5
	}
	return 1e-6
}

// absolute is how far a parameter may be off after some steps. Each step of Muon has about the same size, whatever the
// gradient's, and a rounding to 16 bits that falls the other way turns the directions of small singular values: what
// counts is the way that the parameter can have gone by then.
func absolute(r *runRecord, steps int) float64 {
	tol := tolerance(r)
	if lr := num(r.Kwargs, "lr"); r.Name == "Muon" {
		return max(tol/10, tol*lr*float64(steps))
	}
	return tol / 10
}

func checkRun(dir string, d *golden.Decoder, r *runRecord) error {
	p, err := newProblem(d, r.Problem, dtype.Parse(r.DType))
	if err != nil {
		return err
	}
	opt := build(r, p.params)
	if opt == nil {
		return golden.Skip("no optimizer " + r.Name + " yet")
	}
	if err := follow(d, r, p, opt, 0); err != nil {
		return err
	}
	if err := sameState(filepath.Join(dir, r.StateFile), opt, r); err != nil {
		return fmt.Errorf("%s: %w", r.StateFile, err)
	}
	// Go on from the state that PyTorch wrote in the middle.
	if p, err = newProblem(d, r.Problem, dtype.Parse(r.DType)); err != nil {
		return err
	}
	for j := range p.params {
		at, err := d.Array(fmt.Sprintf("%d.step%d.p%d", r.I, r.Mid, j))
		if err != nil {
			return err
		}
		tensor.CopyRaw(p.params[j], at)
	}
	opt = build(r, p.params)
	if r.AddGroup != nil && num(r.AddGroup, "step") < float64(r.Mid) {
		opt.AddParamGroup(group(r.AddGroup, p.params))
	}
	v, err := serialize.LoadFile(filepath.Join(dir, r.StateMidFile))
	if err != nil {
		return err
	}
	sd, ok := v.(*serialize.Dict)
	if !ok {
		return fmt.Errorf("%s holds a %T", r.StateMidFile, v)
	}
	if err := opt.LoadStateDict(sd); err != nil {
		return fmt.Errorf("%s: %w", r.StateMidFile, err)
	}
	if err := follow(d, r, p, opt, r.Mid); err != nil {
		return fmt.Errorf("after loading %s: %w", r.StateMidFile, err)
	}
	return nil
}

// follow takes the steps from one on and compares losses and parameters.
func follow(d *golden.Decoder, r *runRecord, p *problem, opt optim.Optimizer, from int) error {
	tol := tolerance(r)
	for s := from; s < r.Steps; s++ {
		if r.AddGroup != nil && num(r.AddGroup, "step") == float64(s) {
			opt.AddParamGroup(group(r.AddGroup, p.params))
		}
		var loss float64
		set := func() *tensor.Tensor {
			opt.ZeroGrad()
			var grads [][]float64
			loss, grads = p.loss(s)
			if r.ClipNorm > 0 {
				clip(grads, r.ClipNorm)
			}
			for j, q := range p.params {
				g := tensor.FromSlice(grads[j], q.Shape()...).To(q.DType()).To(q.Device())
				if p.sparse {
					g = g.ToSparseDim(1)
				}
				q.SetGrad(g)
			}
			return tensor.FromSlice([]float64{loss}, []int{}...)
		}
		if _, evaluates := opt.(*optim.LBFGS); evaluates {
			loss = opt.StepClosure(set).Item()
		} else {
			set()
			opt.Step()
		}
		if s < len(r.Losses) && math.Abs(loss-r.Losses[s]) > tol*math.Max(1, math.Abs(r.Losses[s])) {
			return fmt.Errorf("loss before step %d is %.9g, want %.9g", s, loss, r.Losses[s])
		}
		for _, at := range r.ParamSteps {
			if at != s+1 {
				continue
			}
			for j, q := range p.params {
				want, err := d.Array(fmt.Sprintf("%d.step%d.p%d", r.I, at, j))
				if err != nil {
					return err
				}
				if why := golden.Close(q, want, golden.Tolerance{RTol: tol, ATol: absolute(r, at)}); why != "" {
					return fmt.Errorf("p%d after step %d: %s", j, at, why)
				}
			}
		}
	}
	return nil
}

func clip(grads [][]float64, most float64) {
	sum := 0.0
	for _, g := range grads {
		for _, x := range g {
			sum += x * x
		}
	}
	if f := most / (math.Sqrt(sum) + 1e-6); f < 1 {
		for _, g := range grads {
			for i := range g {
				g[i] *= f
			}
		}
	}
}

// sameState compares an optimizer's state dict with the one in a file: keys and their order, kinds of values, values.
func sameState(path string, opt optim.Optimizer, r *runRecord) error {
	want, err := serialize.LoadFile(path)
	if err != nil {
		return err
	}
	got := opt.StateDict()
	given := slices.Clone(r.Groups)
	if r.AddGroup != nil {
		given = append(make([]map[string]any, len(opt.ParamGroups())-1), r.AddGroup)
	}
	if w, ok := want.(*serialize.Dict); ok {
		for i, g := range given {
			arrange(got, w, i, g)
		}
	}
	return same("", got, want, tolerance(r))
}

// arrange puts the settings that group i was given into the file's order: a group of Python lists them first, as they
// were written down, and a Group of Go has no such order.
func arrange(got, want *serialize.Dict, i int, given map[string]any) {
	groups, _ := got.Get("param_groups").([]any)
	theirs, _ := want.Get("param_groups").([]any)
	if i >= len(groups) || i >= len(theirs) {
		return
	}
	g, _ := groups[i].(*serialize.Dict)
	w, _ := theirs[i].(*serialize.Dict)
	if g == nil || w == nil {
		return
	}
	out := serialize.NewDict()
	for k := range w.All() {
		if key, ok := k.(string); ok && key != "params" && given[key] != nil && g.Has(k) {
			out.Set(k, g.Get(k))
		}
	}
	for k, v := range g.All() {
		out.Set(k, v)
	}
	groups[i] = out
}

func same(at string, got, want any, tol float64) error {
	switch w := want.(type) {
	case *serialize.Dict:
		g, ok := got.(*serialize.Dict)
		if !ok {
			return fmt.Errorf("%s is a %T, want a dict", at, got)
		}
		var gk, wk []any
		for k := range g.All() {
			gk = append(gk, k)
		}
		for k := range w.All() {
			wk = append(wk, k)
		}
		if fmt.Sprint(gk) != fmt.Sprint(wk) {
			return fmt.Errorf("%s has the keys %v, want %v", at, gk, wk)
		}
		for k, v := range w.All() {
			if err := same(fmt.Sprintf("%s[%v]", at, k), g.Get(k), v, tol); err != nil {
				return err
			}
		}
		return nil
	case *tensor.Tensor:
		g, ok := got.(*tensor.Tensor)
		if !ok {
			return fmt.Errorf("%s is a %T, want a tensor", at, got)
		}
		if g.IsSparse() != w.IsSparse() {
			return fmt.Errorf("%s is of layout %s, want %s", at, g.Layout(), w.Layout())
		}
		if w.IsSparse() {
			g, w = g.ToDense(), w.ToDense()
		}
		if why := golden.Close(g, w, golden.Tolerance{RTol: tol, ATol: tol / 10}); why != "" {
			return fmt.Errorf("%s: %s", at, why)
		}
		return nil
	case []any:
		return sameList(at, got, w, tol)
	case serialize.Tuple:
		return sameList(at, got, w, tol)
	case float64, int:
		if g, ok := float(got); ok {
			within := 1e-9 // of settings, which are not computed
			if strings.HasPrefix(at, "[state]") {
				within = tol
			}
			if f, _ := float(want); g == f || math.Abs(g-f) <= within*math.Abs(f) {
				return nil
			}
		}
		return fmt.Errorf("%s is %v, want %v", at, got, want)
	}
	if got != want {
		return fmt.Errorf("%s is %v, want %v", at, got, want)
	}
	return nil
}

func sameList(at string, got any, want []any, tol float64) error {
	var g []any
	switch x := got.(type) {
	case []any:
		g = x
	case serialize.Tuple:
		g = x
	default:
		return fmt.Errorf("%s is a %T, want a list", at, got)
	}
	if len(g) != len(want) {
		return fmt.Errorf("%s has %d entries, want %d", at, len(g), len(want))
	}
	for i := range want {
		if err := same(fmt.Sprintf("%s[%d]", at, i), g[i], want[i], tol); err != nil {
			return err
		}
	}
	return nil
}

func float(v any) (float64, bool) {
	switch x := v.(type) {
	case float64:
		return x, true
	case int:
		return float64(x), true
	}
	return 0, false
}
