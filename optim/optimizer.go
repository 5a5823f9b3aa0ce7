package optim

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gotorch-dev/torch/internal/pyfmt"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// Optimizer is what all optimizers have in common.
type Optimizer interface {
	// Step updates every parameter that has a gradient.
	Step()
	// StepClosure calls f with gradients enabled, which clears the gradients, computes the loss and calls Backward;
	// then it steps. It returns the loss.
	StepClosure(f func() *Tensor) *Tensor
	// ZeroGrad drops the gradients of all parameters; with KeepZeros it fills them with zeros instead.
	ZeroGrad(how ...ZeroGradMode)
	// ParamGroups are the groups; their settings may be changed between steps.
	ParamGroups() []*ParamGroup
	// AddParamGroup adds parameters, as when frozen layers are released during training.
	AddParamGroup(g Group)
	// Defaults are the settings that new groups inherit.
	Defaults() *ParamGroup
	// State is what the optimizer remembers of a parameter, nil before its first step.
	State(p *Tensor) *State
	// StateDict is the state under Python's keys; saved with torch.Save, PyTorch's load_state_dict reads it.
	StateDict() *serialize.Dict
	// LoadStateDict takes over a state, of this package or PyTorch's. The tensors are copied.
	LoadStateDict(d *serialize.Dict) error
	// RegisterStepPostHook calls f after every step until remove is called.
	RegisterStepPostHook(f func(Optimizer)) (remove func())
	// RegisterStepPreHook calls f before every step until remove is called.
	RegisterStepPreHook(f func(Optimizer)) (remove func())
	// RegisterStateDictPreHook calls f before StateDict reads the state, until remove is called.
	RegisterStateDictPreHook(f func(Optimizer)) (remove func())
	// RegisterStateDictPostHook calls f with what StateDict returns, which f may change, until remove is called.
	RegisterStateDictPostHook(f func(Optimizer, *serialize.Dict)) (remove func())
	// RegisterLoadStateDictPreHook calls f with a shallow copy of what LoadStateDict is given, which f may change,
	// until remove is called.
	RegisterLoadStateDictPreHook(f func(Optimizer, *serialize.Dict)) (remove func())
	// RegisterLoadStateDictPostHook calls f when LoadStateDict has taken over a state, until remove is called.
	RegisterLoadStateDictPostHook(f func(Optimizer)) (remove func())
	// String prints the groups' settings as Python does.
	String() string
}

// ZeroGradMode says what ZeroGrad leaves behind.
type ZeroGradMode int

const (
	// SetToNone drops the gradients, which also frees their memory: the default.
	SetToNone ZeroGradMode = iota
	// KeepZeros fills the gradients with zeros.
	KeepZeros
)

// State is what an optimizer remembers of one parameter: tensors, or numbers, by PyTorch's names and in its order.
type State struct {
	keys    []string
	vals    []any
	changed *uint64 // counts changes of the optimizer's state
}

// Get returns an entry, nil when there is none.
func (s *State) Get(key string) any {
	if s == nil {
		return nil
	}
	for i, k := range s.keys {
		if k == key {
			return s.vals[i]
		}
	}
	return nil
}

// Tensor returns an entry that is a tensor, nil when there is none.
func (s *State) Tensor(key string) *Tensor {
	t, _ := s.Get(key).(*Tensor)
	return t
}

// Set changes or adds an entry. A tensor is kept when a Tidy around the step ends.
func (s *State) Set(key string, val any) {
	if t, ok := val.(*Tensor); ok {
		t.Keep()
	}
	if s.changed != nil {
		*s.changed++
	}
	for i, k := range s.keys {
		if k == key {
			s.vals[i] = val
			return
		}
	}
	s.keys, s.vals = append(s.keys, key), append(s.vals, val)
}

// Keys lists the entries in order.
func (s *State) Keys() []string {
	if s == nil {
		return nil
	}
	return slices.Clone(s.keys)
}

// base is the part that all optimizers share.
type base struct {
	self     Optimizer
	name     string
	groups   []*ParamGroup
	defaults *ParamGroup
	state    map[*Tensor]*State
	changed  uint64 // counts changes of the state, so that a plan of a step notices them
	hooks    hooks
	check    func(g *ParamGroup)                                    // validates a group's settings
	update   func(g *ParamGroup)                                    // takes a group's step
	sparse   func(g *ParamGroup, p, grad *Tensor, st func() *State) // the step with a sparse gradient; nil: refused
	// makes the state of a new group's parameters; nil: it is made by their first step
	added func(g *ParamGroup)
	// the state's tensors have other shapes than the parameters
	ownSizes bool
	numbers  []tensor.Value // scratch memory of a step

	stepping atomic.Bool // Step runs
	updating atomic.Bool // the part of Step between the hooks runs
}

// init sets the optimizer up and adds the groups.
func (b *base) init(self Optimizer, name string, defaults []setting, groups []Group) {
	b.self, b.name = self, name
	b.defaults = &ParamGroup{settings: defaults}
	b.state = map[*Tensor]*State{}
	b.check(b.defaults)
	if len(groups) == 0 {
		tensor.Fail(tensor.ErrValue, "optimizer got an empty parameter list")
	}
	for i := range groups {
		b.AddParamGroup(groups[i])
	}
}

// one makes the group of a constructor that takes plain parameters.
func one(params []*Tensor) []Group {
	if len(params) == 0 {
		return nil
	}
	return []Group{{Params: params}}
}

// AddParamGroup adds parameters with settings of their own; see [Group].
func (b *base) AddParamGroup(g Group) {
	b.idle("AddParamGroup")
	ng := &ParamGroup{Params: slices.Clone(g.Params)}
	for _, s := range g.overrides() {
		if !b.defaults.Has(s.key) {
			tensor.Fail(tensor.ErrValue, "optim: %s has no setting %q", b.name, s.key)
		}
		ng.settings = append(ng.settings, s)
	}
	for _, s := range b.defaults.settings {
		if !ng.Has(s.key) {
			ng.settings = append(ng.settings, s)
		}
	}
	b.check(ng)
	seen := map[*Tensor]bool{}
	for _, old := range b.groups {
		for _, p := range old.Params {
			seen[p] = true
		}
	}
	for i, p := range ng.Params {
		switch {
		case p == nil:
			tensor.Fail(tensor.ErrType, "optimizer can only optimize Tensors, but parameter %d of the group is nil", i)
		case !p.IsLeaf() && !p.RetainsGrad():
			tensor.Fail(tensor.ErrValue, "can't optimize a non-leaf Tensor")
		case !p.DType().IsDifferentiable():
			tensor.Fail(tensor.ErrDType,
				"optimizer can only optimize floating point and complex tensors, but parameter %d is %s", i, p.DType())
		case seen[p]:
			tensor.Fail(tensor.ErrValue, "some parameters appear in more than one parameter group")
		}
		seen[p] = true
	}
	b.groups = append(b.groups, ng)
	if b.added != nil {
		b.added(ng)
	}
}

// ParamGroups are the groups; their settings may be changed between steps.
func (b *base) ParamGroups() []*ParamGroup { return b.groups }

// Defaults are the settings that new groups inherit.
func (b *base) Defaults() *ParamGroup { return b.defaults }

// State is what the optimizer remembers of a parameter, nil before its first step.
func (b *base) State(p *Tensor) *State { return b.state[p] }

// ZeroGrad drops the gradients of all parameters; with KeepZeros it fills them with zeros instead.
func (b *base) ZeroGrad(how ...ZeroGradMode) {
	b.idle("ZeroGrad")
	tensor.InRegion(tensor.Region{Kind: tensor.RegionZeroGrad, Name: b.name, Of: b.self}, func() []*tensor.Tensor {
		b.zeroGrad(len(how) > 0 && how[0] == KeepZeros)
		return nil
	})
}

func (b *base) zeroGrad(keep bool) {
	var clear []*Tensor
	for _, g := range b.groups {
		for _, p := range g.Params {
			switch grad := tensor.GradRaw(p); {
			case grad == nil:
			case !keep:
				p.SetGrad(nil)
			case grad.GradFn() != nil: // kept by create_graph: cut it off
				tensor.NoGrad(func() { p.SetGrad(grad.ZerosLike()) })
			default:
				clear = append(clear, grad)
			}
		}
	}
	if len(clear) > 0 {
		tensor.NoGrad(func() {
			c := tensor.NewCall(opZero, 1)
			*c.Arg(0) = tensor.TensorsValue(clear)
			c.Do0()
		})
	}
}

// Step updates every parameter that has a gradient. It panics with a *tensor.Error when a step of the same optimizer
// runs already, in another goroutine or around the hook that calls Step.
func (b *base) Step() { b.hooked(b.updateAll) }

// hooked runs a step between the hooks.
func (b *base) hooked(step func()) {
	if !b.stepping.CompareAndSwap(false, true) {
		tensor.Fail(tensor.ErrValue, "optim: %s.Step was called while another Step of the same optimizer runs: an "+
			"optimizer belongs to one goroutine at a time", b.name)
	}
	defer b.stepping.Store(false)
	tensor.InRegion(tensor.Region{Kind: tensor.RegionOptimizer, Name: b.name, Of: b.self}, func() []*tensor.Tensor {
		globalPre.call(b.self)
		b.hooks.pre.call(b.self)
		step()
		b.hooks.post.call(b.self)
		globalPost.call(b.self)
		return nil
	})
}

func (b *base) updateAll() {
	b.updating.Store(true)
	defer b.updating.Store(false)
	for _, g := range b.groups { // no NoGrad around it: nothing in a step is recorded
		b.stepSparse(g)
		b.update(g)
	}
}

// idle refuses what changes parameters, gradients or state while a step reads and writes them.
func (b *base) idle(method string) {
	if b.updating.Load() {
		tensor.Fail(tensor.ErrValue, "optim: %s.%s was called while a Step of the same optimizer runs: an optimizer "+
			"belongs to one goroutine at a time", b.name, method)
	}
}

// StepClosure calls f with gradients enabled, then steps, and returns what f returned.
func (b *base) StepClosure(f func() *Tensor) (loss *Tensor) {
	tensor.EnableGrad(func() { loss = f() })
	b.self.Step()
	return loss
}

// stateOf returns a parameter's state, made on first use.
func (b *base) stateOf(p *Tensor) *State {
	s := b.state[p]
	if s == nil {
		s = &State{changed: &b.changed}
		b.state[p] = s
		b.changed++
	}
	return s
}

// StateDict is the state under Python's keys. Its tensors are the optimizer's own.
func (b *base) StateDict() *serialize.Dict {
	b.hooks.preSave.call(b.self)
	d := b.stateDict()
	for _, f := range b.hooks.postSave.all() {
		f(b.self, d)
	}
	return d
}

func (b *base) stateDict() *serialize.Dict {
	index := map[*Tensor]int{}
	state, groups := serialize.NewDict(), []any{}
	for _, g := range b.groups {
		d, ids := serialize.NewDict(), []any{}
		for _, s := range g.settings {
			v := s.val
			if betas, ok := v.([2]float64); ok {
				v = serialize.Tuple{betas[0], betas[1]}
			}
			d.Set(s.key, v)
		}
		for _, p := range g.Params {
			index[p] = len(index)
			ids = append(ids, index[p])
		}
		d.Set("params", ids)
		groups = append(groups, d)
	}
	for _, g := range b.groups {
		for _, p := range g.Params {
			s := b.state[p]
			if s == nil {
				continue
			}
			d := serialize.NewDict()
			for i, k := range s.keys {
				d.Set(k, s.vals[i])
			}
			state.Set(index[p], d)
		}
	}
	return serialize.NewDict("state", state, "param_groups", groups)
}

// LoadStateDict takes over a state, of this package or PyTorch's. The tensors are copied, to the devices of their
// parameters; step counters go where a new optimizer has them. On an error nothing has changed.
func (b *base) LoadStateDict(d *serialize.Dict) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("optim: %s.LoadStateDict: %s", b.name, fmt.Sprintf(format, args...))
	}
	if err := tensor.Try(func() { b.idle("LoadStateDict") }); err != nil {
		return err
	}
	if fs := b.hooks.preLoad.all(); len(fs) > 0 {
		own := serialize.NewDict()
		for k, v := range d.All() {
			own.Set(k, v)
		}
		for _, f := range fs {
			f(b.self, own)
		}
		d = own
	}
	lists := make([][]*Tensor, len(b.groups))
	for i, g := range b.groups {
		lists[i] = g.Params
	}
	loaded, state, err := b.readState(d, lists, b.adopt)
	if err != nil {
		return fail("%v", err)
	}
	for i, g := range loaded {
		*b.groups[i] = *g // in place: schedulers and users may hold the group
	}
	b.state = state
	b.changed++
	for _, s := range state {
		s.changed = &b.changed
	}
	b.hooks.postLoad.call(b.self)
	return nil
}

// readState reads a state for these lists of parameters, one for each group, and changes nothing. adopt gives the
// tensor to use for one of the state.
func (b *base) readState(d *serialize.Dict, params [][]*Tensor, adopt adopter) (loaded []*ParamGroup,
	state map[*Tensor]*State, err error) {
	groups, ok := d.Get("param_groups").([]any)
	if !ok {
		return nil, nil, fmt.Errorf("param_groups is a %T, want a list", d.Get("param_groups"))
	}
	if len(groups) != len(b.groups) {
		return nil, nil, fmt.Errorf("loaded state dict has a different number of parameter groups: %d, the optimizer "+
			"has %d",
			len(groups), len(b.groups))
	}
	// Everything is read before anything changes, so that a bad file leaves the optimizer as it was.
	byID, owner := map[int]*Tensor{}, map[int]*ParamGroup{}
	for i, g := range groups {
		gd, ok := g.(*serialize.Dict)
		if !ok {
			return nil, nil, fmt.Errorf("param_groups[%d] is a %T, want a dict", i, g)
		}
		ids, ok := gd.Get("params").([]any)
		if !ok || len(ids) != len(params[i]) {
			return nil, nil, fmt.Errorf("loaded state dict contains a parameter group that doesn't match the size of "+
				"optimizer's "+
				"group: group %d has %d parameters in the dict and %d in the optimizer", i, len(ids),
				len(params[i]))
		}
		for j, id := range ids {
			n, ok := id.(int)
			if !ok {
				return nil, nil, fmt.Errorf("param_groups[%d]['params'][%d] is a %T, want an int", i, j, id)
			}
			byID[n] = params[i][j]
		}
		ng := &ParamGroup{Params: params[i]}
		for _, id := range ids {
			owner[id.(int)] = ng
		}
		for k, v := range gd.All() {
			key, ok := k.(string)
			if !ok || key == "params" {
				continue
			}
			switch x := v.(type) {
			case serialize.Tuple:
				if p, ok := pair(x); ok {
					v = p
				}
			case []any:
				if p, ok := pair(x); ok && key == "betas" {
					v = p
				}
			}
			ng.settings = append(ng.settings, setting{key, v})
		}
		// Settings that the file's version did not have yet.
		for _, s := range b.defaults.settings {
			if !ng.Has(s.key) {
				ng.settings = append(ng.settings, s)
			}
		}
		ng.loaded = true
		if err := tensor.Try(func() { b.check(ng) }); err != nil {
			return nil, nil, fmt.Errorf("group %d: %v", i, err)
		}
		ng.loaded = false
		loaded = append(loaded, ng)
	}
	sd, ok := d.Get("state").(*serialize.Dict)
	if !ok {
		return nil, nil, fmt.Errorf("state is a %T, want a dict", d.Get("state"))
	}
	state = map[*Tensor]*State{}
	for k, v := range sd.All() {
		id, ok := k.(int)
		p := byID[id]
		vals, ok2 := v.(*serialize.Dict)
		if !ok || !ok2 || p == nil {
			return nil, nil, fmt.Errorf("state[%v] is a %T that belongs to no parameter", k, v)
		}
		s := &State{}
		for name, val := range vals.All() {
			key, ok := name.(string)
			if !ok {
				return nil, nil, fmt.Errorf("state[%v] has a key %v, want a name", k, name)
			}
			val, err := adoptAll(val, p, key, owner[id].counterDevice(p), adopt)
			if err != nil {
				return nil, nil, fmt.Errorf("state[%v][%q]: %v", k, key, err)
			}
			s.Set(key, val)
		}
		state[p] = s
	}
	return loaded, state, nil
}

// adopter is the tensor that serves as entry key of a parameter's state, given the one of a state dict, and where step
// counters lie.
type adopter func(t, p *Tensor, key string, counters tensor.Device) (*Tensor, error)

// adoptAll adopts the tensors of a loaded entry, which may be a list.
func adoptAll(val any, p *Tensor, key string, counters tensor.Device, adopt adopter) (any, error) {
	switch x := val.(type) {
	case *Tensor:
		return adopt(x, p, key, counters)
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			var err error
			if out[i], err = adoptAll(e, p, key, counters, adopt); err != nil {
				return nil, fmt.Errorf("element %d: %w", i, err)
			}
		}
		return out, nil
	}
	return val, nil
}

// checkShape checks the shape of a tensor of the state.
func (b *base) checkShape(t, p *Tensor, key string) error {
	number := perParameter[key]
	switch {
	case number && t.Numel() != 1:
		return fmt.Errorf("shape %s, want one element", tensor.ShapeString(t.Shape()))
	case !number && !b.ownSizes && !tensor.SameShape(t.Shape(), p.Shape()):
		return fmt.Errorf("shape %s, the parameter's is %s", tensor.ShapeString(t.Shape()),
			tensor.ShapeString(p.Shape()))
	}
	return nil
}

// adopt copies a loaded tensor into the parameter's dtype and layout and to its device. Step counters keep their dtype
// and go to the device of the counters.
func (b *base) adopt(t, p *Tensor, key string, counters tensor.Device) (c *Tensor, err error) {
	if err := b.checkShape(t, p, key); err != nil {
		return nil, err
	}
	number := perParameter[key]
	err = tensor.Try(func() {
		tensor.NoGrad(func() {
			switch {
			case t.IsSparse():
				c = t.Detach().ToDType(p.DType()).Clone()
				return
			case number:
				c = t.Detach().To(counters)
			case b.ownSizes:
				c = t.Detach().To(p.Device()).To(p.DType())
			default:
				c = p.Detach().EmptyLike().CopyInPlace(t)
				return
			}
			if c.Storage() == t.Storage() {
				c = c.Clone()
			}
		})
	})
	return c, err
}

// perParameter are the entries that hold one number for each parameter: they keep their dtype and the device of the
// step counters.
var perParameter = map[string]bool{stepKey: true, "mu_product": true, "eta": true, "mu": true}

func pair(l []any) (p [2]float64, ok bool) {
	if len(l) != 2 {
		return p, false
	}
	for i, v := range l {
		switch x := v.(type) {
		case float64:
			p[i] = x
		case int:
			p[i] = float64(x)
		default:
			return p, false
		}
	}
	return p, true
}

// String prints the groups' settings as Python does.
func (b *base) String() string {
	var s strings.Builder
	s.WriteString(b.name + " (")
	for i, g := range b.groups {
		fmt.Fprintf(&s, "\nParameter Group %d\n", i)
		keys := g.Keys()
		slices.Sort(keys)
		for _, k := range keys {
			fmt.Fprintf(&s, "    %s: %s\n", k, pyfmt.Repr(g.Get(k)))
		}
	}
	s.WriteString(")")
	return s.String()
}

// zerosLike returns a cleared tensor on p's device, of p's shape and, when p has no gaps, layout.
func zerosLike(p *Tensor) *Tensor { return p.Detach().ZerosLike() }

// number boxes a setting as Python has it: a default of 0 prints "0", a given float prints as a float.
func number(f float64) any {
	if f == 0 {
		return 0
	}
	return f
}

// first is the options that were given, or the zero value.
func first[O any](opts []O) O {
	var o O
	if len(opts) > 0 {
		o = opts[0]
	}
	return o
}
