package amp

import (
	"math"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/autocast"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// GradScalerOptions are the options of [NewGradScaler]; zero fields are PyTorch's defaults.
type GradScalerOptions struct {
	InitScale      tensor.Opt[float64] // 65536
	GrowthFactor   tensor.Opt[float64] // 2; more than 1
	BackoffFactor  tensor.Opt[float64] // 0.5; less than 1
	GrowthInterval tensor.Opt[int]     // 2000 steps without infinite gradients before the scale grows
	Disabled       bool                // Scale returns what it is given, Step steps
}

// GradScaler multiplies losses by a scale so that small gradients do not vanish in float16. Step divides the gradients
// by the scale and leaves the step out when one of them is infinite or NaN; Update makes the scale smaller then, and
// larger after many good steps:
//
//	amp.Autocast(torch.CPU, torch.Float16, func() { loss = lossOf(model.Forward(x), y) })
//	scaler.Scale(loss).Backward()
//	scaler.Unscale(opt) // only to clip gradients
//	scaler.Step(opt)
//	scaler.Update()
//
// A GradScaler serves one training loop; it is not for several goroutines at once.
// https://pytorch.org/docs/stable/amp.html#torch.amp.GradScaler
type GradScaler struct {
	init, growth, backoff float64
	interval              int
	disabled              bool
	device                tensor.DeviceType
	initAt                int // the growth tracker before the first Scale
	scale                 *Tensor
	tracker               *Tensor
	opts                  map[optim.Optimizer]*scaled
}

// stage says what an optimizer has gone through since the last Update.
type stage uint8

const (
	ready stage = iota
	unscaled
	stepped
)

// scaled is what a scaler remembers of an optimizer until Update.
type scaled struct {
	stage stage
	found []*Tensor // per device: 1 where a gradient was infinite
}

// NewGradScaler makes a scaler for gradients on a device. Where the program has no such device, it warns, as PyTorch
// does, and makes a disabled one.
func NewGradScaler(device tensor.DeviceType, opts ...GradScalerOptions) *GradScaler {
	var o GradScalerOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	s := &GradScaler{init: o.InitScale.Or(65536), growth: o.GrowthFactor.Or(2), backoff: o.BackoffFactor.Or(0.5),
		interval: o.GrowthInterval.Or(2000), disabled: o.Disabled, device: device, opts: map[optim.Optimizer]*scaled{}}
	if !s.disabled && !available(device) {
		tensor.Warn("torch.%s.amp.GradScaler is enabled, but %s is not available.  Disabling.", device,
			autocast.DeviceTitle(device))
		s.disabled = true
	}
	if s.growth <= 1 && !s.disabled {
		tensor.Fail(tensor.ErrValue, "The growth factor must be > 1.0.")
	}
	if s.backoff >= 1 && !s.disabled {
		tensor.Fail(tensor.ErrValue, "The backoff factor must be < 1.0.")
	}
	return s
}

func available(d tensor.DeviceType) bool {
	return torch.Try(func() { tensor.Device{Type: d}.Check() }) == nil
}

// IsEnabled reports that the scaler scales.
func (s *GradScaler) IsEnabled() bool { return !s.disabled }

// Scale multiplies a loss, or any other result that Backward starts from, by the scale.
func (s *GradScaler) Scale(loss *Tensor) *Tensor {
	if s.disabled {
		return loss
	}
	if loss == nil {
		tensor.Fail(tensor.ErrType, "outputs must be a Tensor or an iterable of Tensors")
	}
	s.start()
	return loss.Mul(s.scale)
}

// ScaleAll scales several results.
func (s *GradScaler) ScaleAll(outputs []*Tensor) []*Tensor {
	out := make([]*Tensor, len(outputs))
	for i, t := range outputs {
		out[i] = s.Scale(t)
	}
	return out
}

// start makes the tensors of the scale, once the device is known to be used.
func (s *GradScaler) start() {
	if s.scale != nil {
		return
	}
	d := tensor.Device{Type: s.device}
	s.scale = torch.Full([]int{}, s.init, torch.FullOptions{DType: torch.Float32, Device: d}).Keep()
	s.tracker = torch.Full([]int{}, s.initAt, torch.FullOptions{DType: torch.Int32, Device: d}).Keep()
}

func (s *GradScaler) check(what string) {
	if s.scale == nil {
		tensor.Fail(tensor.ErrValue, "Attempted %s but _scale is None.  This may indicate your script did not use "+
			"scaler.scale(loss or outputs) earlier in the iteration.", what)
	}
}

func (s *GradScaler) state(opt optim.Optimizer) *scaled {
	x := s.opts[opt]
	if x == nil {
		x = &scaled{}
		s.opts[opt] = x
	}
	return x
}

// Unscale divides the gradients of an optimizer's parameters by the scale, so that they can be clipped or looked at
// before Step. It may be called once between two Updates.
func (s *GradScaler) Unscale(opt optim.Optimizer) {
	if s.disabled {
		return
	}
	s.check("unscale_")
	x := s.state(opt)
	switch x.stage {
	case unscaled:
		tensor.Fail(tensor.ErrValue, "unscale_() has already been called on this optimizer since the last update().")
	case stepped:
		tensor.Fail(tensor.ErrValue, "unscale_() is being called after step().")
	}
	x.found = s.unscale(opt)
	x.stage = unscaled
}

// unscale divides the gradients and tells, per device, whether one of them was infinite.
func (s *GradScaler) unscale(opt optim.Optimizer) []*Tensor {
	var found []*Tensor
	tensor.NoGrad(func() {
		// 1/scale in float64, as PyTorch computes it
		inv := s.scale.ToDType(tensor.Float64).Reciprocal().ToDType(tensor.Float32)
		lists := map[tensor.Device][]*Tensor{}
		var devices []tensor.Device
		for _, g := range opt.ParamGroups() {
			for _, p := range g.Params {
				grad := p.Grad()
				if grad == nil {
					continue
				}
				if grad.DType() == tensor.Float16 {
					tensor.Fail(tensor.ErrDType, "Attempting to unscale FP16 gradients.")
				}
				if grad.IsSparse() { // its values are divided in place; indices may repeat
					grad = must("aten::_values", tensor.TensorValue(grad))[0].T
				}
				d := grad.Device()
				if lists[d] == nil {
					devices = append(devices, d)
				}
				lists[d] = append(lists[d], grad)
			}
		}
		for _, d := range devices {
			f := torch.Zeros([]int{}, torch.ZerosOptions{DType: torch.Float32, Device: d}).Keep()
			must("aten::_amp_foreach_non_finite_check_and_unscale_", tensor.TensorsValue(lists[d]),
				tensor.TensorValue(f), tensor.TensorValue(inv.To(d)))
			found = append(found, f)
		}
	})
	return found
}

// Step divides the gradients by the scale, unless Unscale has, and lets the optimizer step when all of them are finite.
// It reports whether the optimizer has stepped.
func (s *GradScaler) Step(opt optim.Optimizer) bool {
	if s.disabled {
		opt.Step()
		return true
	}
	s.check("step")
	x := s.state(opt)
	if x.stage == stepped {
		tensor.Fail(tensor.ErrValue, "step() has already been called since the last update().")
	}
	if x.stage == ready {
		s.Unscale(opt)
	}
	if len(x.found) == 0 {
		tensor.Fail(tensor.ErrValue, "No inf checks were recorded for this optimizer.")
	}
	x.stage = stepped
	for _, f := range x.found {
		if f.Num().F != 0 {
			return false
		}
	}
	opt.Step()
	return true
}

// Update adjusts the scale; it is called once, after the steps of all optimizers. With a number, that is the new scale.
func (s *GradScaler) Update(newScale ...float64) {
	if s.disabled {
		return
	}
	s.check("update")
	if len(newScale) > 0 {
		s.scale.FillScalarInPlace(newScale[0])
	} else {
		s.adjust()
	}
	clear(s.opts)
}

// UpdateTensor is Update with a scale that a float32 tensor of one element holds.
func (s *GradScaler) UpdateTensor(newScale *Tensor) {
	if s.disabled {
		return
	}
	s.check("update")
	if newScale == nil || newScale.Numel() != 1 || newScale.RequiresGrad() {
		tensor.Fail(tensor.ErrValue, "new_scale should be a float or a 1-element torch.cuda.FloatTensor or "+
			"torch.FloatTensor with requires_grad=False.")
	}
	s.scale.CopyInPlace(newScale)
	clear(s.opts)
}

func (s *GradScaler) adjust() {
	var found *Tensor
	for _, x := range s.opts { // the sum of zeros and ones has no order
		for _, f := range x.found {
			f = f.To(s.scale.Device())
			if found == nil {
				found = f
			} else {
				found = found.Add(f)
			}
		}
	}
	if found == nil {
		tensor.Fail(tensor.ErrValue, "No inf checks were recorded prior to update.")
	}
	must("aten::_amp_update_scale_", tensor.TensorValue(s.scale), tensor.TensorValue(s.tracker),
		tensor.TensorValue(found), tensor.FloatValue(s.growth), tensor.FloatValue(s.backoff),
		tensor.IntValue(s.interval))
}

// GetScale is the present scale; 1 of a disabled scaler.
func (s *GradScaler) GetScale() float64 {
	switch {
	case s.disabled:
		return 1
	case s.scale == nil:
		return s.init
	}
	return s.scale.Num().F
}

// GrowthTracker is the number of good steps since the scale last changed.
func (s *GradScaler) GrowthTracker() int {
	if s.tracker == nil {
		return s.initAt
	}
	return int(s.tracker.Num().F)
}

// GetGrowthFactor is what the scale is multiplied by when it grows.
func (s *GradScaler) GetGrowthFactor() float64 { return s.growth }

// SetGrowthFactor changes it.
func (s *GradScaler) SetGrowthFactor(f float64) { s.growth = f }

// GetBackoffFactor is what the scale is multiplied by after infinite gradients.
func (s *GradScaler) GetBackoffFactor() float64 { return s.backoff }

// SetBackoffFactor changes it.
func (s *GradScaler) SetBackoffFactor(f float64) { s.backoff = f }

// GetGrowthInterval is the number of good steps before the scale grows.
func (s *GradScaler) GetGrowthInterval() int { return s.interval }

// SetGrowthInterval changes it.
func (s *GradScaler) SetGrowthInterval(n int) { s.interval = n }

// StateDict is the scaler's state under PyTorch's keys, empty for a disabled one. It belongs between Update and the
// next Scale.
func (s *GradScaler) StateDict() *serialize.Dict {
	d := serialize.NewDict()
	if s.disabled {
		return d
	}
	d.Set("scale", s.GetScale())
	d.Set("growth_factor", s.growth)
	d.Set("backoff_factor", s.backoff)
	d.Set("growth_interval", s.interval)
	d.Set("_growth_tracker", s.GrowthTracker())
	return d
}

// LoadStateDict takes over a state, of this package or PyTorch's. A disabled scaler ignores it.
func (s *GradScaler) LoadStateDict(d *serialize.Dict) error {
	if s.disabled {
		return nil
	}
	if d == nil || d.Len() == 0 {
		return &tensor.Error{Op: "GradScaler.LoadStateDict", Err: tensor.ErrValue, Msg: "The source state dict is " +
			"empty, possibly because it was saved from a disabled instance of GradScaler."}
	}
	var num [5]float64
	for i, k := range []string{"scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker"} {
		f, ok := toFloat(d.Get(k))
		if !ok {
			return &tensor.Error{Op: "GradScaler.LoadStateDict", Err: tensor.ErrValue,
				Msg: "the state has no number under " + k}
		}
		num[i] = f
	}
	s.init, s.growth, s.backoff = num[0], num[1], num[2]
	s.interval, s.initAt = int(num[3]), int(num[4])
	if s.scale != nil {
		s.scale.FillScalarInPlace(num[0])
		s.tracker.FillScalarInPlace(s.initAt)
	}
	return nil
}

// must calls an operator by name.
func must(name string, args ...tensor.Value) []tensor.Value {
	out, err := tensor.CallOp(name, args...)
	if err != nil {
		panic(err)
	}
	return out
}

func toFloat(v any) (float64, bool) {
	switch x := v.(type) {
	case int:
		return float64(x), true
	case int64:
		return float64(x), true
	case float64:
		return x, !math.IsNaN(x)
	}
	return 0, false
}
