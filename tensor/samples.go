package tensor

import "sync"

// Sampler collects the sample calls of an operator.
type Sampler struct {
	Op    *Op
	Calls []Sample
}

// Sample is one call: arguments by schema position, those that are missing at their defaults. Floating-point tensors
// are float32; a test casts them to the type that it is about.
type Sample struct {
	Args []Value
	Note string
	// NoGrad leaves the call out of gradient checks (a kink, a random choice), NoGradGrad out of those of second order.
	NoGrad, NoGradGrad bool
	// First says that only the first result has a gradient; Const are the arguments that have none although they are
	// floating-point tensors (statistics that are updated, class weights).
	First bool
	Const []int
	// NoLayout says that the result may depend on the memory layout of the arguments, as that of as_strided does.
	NoLayout bool
	// FixedOut says that a given out must have the right shape already and be contiguous.
	FixedOut bool
	// Tol is the relative error that float32 may have against float64; 0 stands for the usual one.
	Tol float64
}

// Add adds a call and returns it for further settings.
func (s *Sampler) Add(args ...any) *Sample {
	c := Sample{}
	for _, a := range args {
		c.Args = append(c.Args, Box(a))
	}
	s.Calls = append(s.Calls, c)
	return &s.Calls[len(s.Calls)-1]
}

// facts are what the families' tables say about operators, by the full name of the Def.
var facts = struct {
	sync.RWMutex
	samples   map[string]func(s *Sampler)
	noSamples map[string]string
	amp       [maxDeviceTypes]map[string]AMPClass
}{samples: map[string]func(s *Sampler){}, noSamples: map[string]string{}}

// RegisterSamples gives an operator its samples. The Def may be registered before or after.
func RegisterSamples(full string, f func(s *Sampler)) {
	facts.Lock()
	defer facts.Unlock()
	if facts.samples[full] != nil {
		panic("tensor.RegisterSamples: " + full + " has samples already")
	}
	facts.samples[full] = f
}

// RegisterNoSamples says why an operator has no samples.
func RegisterNoSamples(full, why string) {
	facts.Lock()
	defer facts.Unlock()
	facts.noSamples[full] = why
}

// RegisterAMP puts operators into an autocast class on one device; it goes before the AMP field of the Def. Names
// without an overload ("aten::exp") stand for every overload.
func RegisterAMP(d DeviceType, class AMPClass, names ...string) {
	facts.Lock()
	defer facts.Unlock()
	if facts.amp[d] == nil {
		facts.amp[d] = map[string]AMPClass{}
	}
	for _, n := range names {
		facts.amp[d][n] = class
	}
}

// Samples are the operator's sample calls. Variants and aliases have those of the operator that they come from.
func (o *Op) Samples() []Sample {
	f := o.Def.Samples
	if f == nil {
		facts.RLock()
		f = facts.samples[o.def]
		facts.RUnlock()
	}
	if f == nil {
		return nil
	}
	s := &Sampler{Op: o}
	if o.base != nil {
		s.Op = o.base
	}
	f(s)
	return s.Calls
}

// NoSamples says why the operator has no samples; "" when nothing was said.
func (o *Op) NoSamples() string {
	facts.RLock()
	defer facts.RUnlock()
	return facts.noSamples[o.def]
}

// AMPOn is the operator's autocast class on a device. In-place forms and those with out never take part.
func (o *Op) AMPOn(d DeviceType) AMPClass {
	if o.variant != functional {
		return AMPKeep
	}
	facts.RLock()
	defer facts.RUnlock()
	if o.target != nil { // an alias: what it calls takes part
		return facts.amp[d][o.full]
	}
	if c, ok := facts.amp[d][o.def]; ok {
		return c
	}
	if c, ok := facts.amp[d][o.Sch.Namespace+"::"+o.Sch.Name]; ok {
		return c
	}
	return o.AMP
}

// SampleNames lists the names that samples were given for, so that a test finds those of no operator.
func SampleNames() []string {
	facts.RLock()
	defer facts.RUnlock()
	var out []string
	for n := range facts.samples {
		out = append(out, n)
	}
	for n := range facts.noSamples {
		out = append(out, n)
	}
	return out
}
