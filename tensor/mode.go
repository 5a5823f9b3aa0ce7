package tensor

import (
	"sync"
	"sync/atomic"

	"github.com/gotorch-dev/torch/internal/gls"
)

// mode is what holds for one goroutine while a function runs.
type mode struct {
	noGrad    bool
	inference bool
	partial   bool // a backward pass runs that computes the gradients of chosen tensors only
	scope     *scope
	layers    []Layer // by rank, outermost first
	// those among the layers; both stay while operators hide the layers from what they do
	regions   []RegionLayer
	observers []Observer
	witness   Witness // one of the layers; stays while operators hide the layers from what they do
	pack      *packer
	shared    bool   // this is defaultMode
	device    Device // where factories make tensors, if hasDevice
	hasDevice bool
	noNames   bool          // calls do not look for names of dimensions
	attention AttentionWays // that are switched off
}

// activeModes counts the modes of all goroutines: while it is zero nobody has to look.
var activeModes atomic.Int32

// defaultMode holds for goroutines that have set none: a layer switched on for the whole program. It counts as one
// active mode.
var defaultMode atomic.Pointer[mode]

// modeEntry is one goroutine's mode in the table. Only that goroutine reads and writes m; everybody may walk past.
type modeEntry struct {
	id   uintptr
	m    *mode
	next atomic.Pointer[modeEntry]
}

const modeBuckets = 256

// modes is a hash table from goroutines to modes. Reading takes no lock, which keeps operators under NoGrad (and so the
// whole backward pass) nearly as cheap as without a mode.
var modes [modeBuckets]struct {
	sync.Mutex // held by writers
	head       atomic.Pointer[modeEntry]
	_          [48]byte
}

func bucketOf(id uintptr) int { return int(uint64(id) * 0x9E3779B97F4A7C15 >> 56) }

func currentMode() *mode {
	if activeModes.Load() == 0 {
		return nil
	}
	id := gls.ID()
	for e := modes[bucketOf(id)].head.Load(); e != nil; e = e.next.Load() {
		if e.id == id {
			return e.m
		}
	}
	return defaultMode.Load()
}

// setMode sets the goroutine's mode; nil removes it. room serves as the goroutine's entry if it has none yet.
func setMode(m *mode, room *modeEntry) {
	id := gls.ID()
	b := &modes[bucketOf(id)]
	var prev *modeEntry
	for e := b.head.Load(); e != nil; e = e.next.Load() {
		if e.id == id {
			if m != nil {
				e.m = m
				return
			}
			break
		}
	}
	b.Lock()
	defer b.Unlock()
	if m != nil {
		room.id, room.m = id, m
		room.next.Store(b.head.Load())
		b.head.Store(room)
		return
	}
	for e := b.head.Load(); e != nil; prev, e = e, e.next.Load() {
		if e.id != id {
			continue
		}
		if prev == nil {
			b.head.Store(e.next.Load())
		} else {
			prev.next.Store(e.next.Load())
		}
		return
	}
}

// with runs f under a changed copy of the goroutine's mode.
func with(change func(m *mode), f func()) {
	old := currentMode()
	x := &struct {
		m mode
		e modeEntry
	}{}
	m := &x.m
	if old != nil {
		*m = *old
	}
	change(m)
	m.shared = false
	if old != nil && old.shared { // the program's mode is nobody's own
		old = nil
	}
	activeModes.Add(1)
	setMode(m, &x.e)
	defer func() {
		setMode(old, nil)
		activeModes.Add(-1)
	}()
	f()
}

// NoGrad runs f without recording gradients on this goroutine.
func NoGrad(f func()) { with(func(m *mode) { m.noGrad = true }, f) }

// EnableGrad runs f with recording switched on again inside NoGrad.
func EnableGrad(f func()) {
	if m := currentMode(); m == nil || !m.noGrad {
		f()
		return
	}
	with(func(m *mode) { m.noGrad = m.inference }, f)
}

// SetGradEnabled runs f with recording on or off.
func SetGradEnabled(on bool, f func()) {
	if on {
		EnableGrad(f)
	} else {
		NoGrad(f)
	}
}

// WithDevice runs f with another device for the tensors that factories such as zeros and rand make where no device is
// given. It is Python's "with torch.device(d):". The CPU is the zero Device, which an options struct cannot tell from
// none: inside f, a tensor on the CPU is made by another WithDevice.
// https://pytorch.org/docs/stable/generated/torch.set_default_device.html
func WithDevice(d Device, f func()) {
	d.Check()
	with(func(m *mode) { m.device, m.hasDevice = d, true }, f)
}

var programDevice atomic.Pointer[Device]

// SetDefaultDevice changes, for the whole program, the device of new tensors where none is given and no WithDevice says
// otherwise.
func SetDefaultDevice(d Device) {
	d.Check()
	programDevice.Store(&d)
}

// DefaultDevice is the device of new tensors where none is given: the CPU unless WithDevice or SetDefaultDevice says
// otherwise.
func DefaultDevice() Device {
	if m := currentMode(); m != nil && m.hasDevice {
		return m.device
	}
	if d := programDevice.Load(); d != nil {
		return *d
	}
	return Device{}
}

// InferenceMode runs f without recording gradients; tensors made in it (and their views) can never take part in
// recording: saving one for a gradient, changing one in place outside the mode, and SetRequiresGrad outside the mode
// panic. A clone made outside is an ordinary tensor. EnableGrad has no effect inside.
func InferenceMode(f func()) { with(func(m *mode) { m.noGrad, m.inference = true, true }, f) }

// IsGradEnabled reports whether operators record gradients on this goroutine.
func IsGradEnabled() bool {
	m := currentMode()
	return m == nil || !m.noGrad
}

// IsTracing reports that a layer records, or transforms, the program of this goroutine, as torch.jit.is_tracing does.
// It is for programs that must choose another way then, because what they would do depends on the elements of tensors.
// A Witness learns when a program reads elements and does not count, unless it has a method Traces.
func IsTracing() bool {
	m := currentMode()
	if m == nil {
		return false
	}
	for _, l := range m.layers {
		_, traces := l.(interface{ Traces() })
		if r := l.Rank(); r == RankTransform || r == RankTrace && (traces || l != Layer(m.witness)) {
			return true
		}
	}
	return false
}

// Unwatched reports that no layer looks at single operators. A body may leave out operators that change nothing then,
// such as broadcasting to the same shape.
func Unwatched() bool { return !currentMode().watched() }

// IsInference reports a tensor that was made in InferenceMode.
func (t *Tensor) IsInference() bool {
	t.mustHaveMemory("Tensor.IsInference")
	return t.st.bits.Load()&stInference != 0
}

// refuseInference refuses to save a tensor made in InferenceMode for a gradient.
func refuseInference(t *Tensor) {
	if t.IsInference() {
		FailHint(ErrAutograd, "in Go: t.Clone(), or torch.NoGrad instead of torch.InferenceMode",
			"Inference tensors cannot be saved for backward. Please do not use Tensors created in "+
				"inference mode in computation tracked by autograd. To work around this, you can make a clone to get a "+
				"normal tensor and use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.")
	}
}

// refuseInferenceWrite refuses to change such a tensor outside the mode.
func (c *Ctx) refuseInferenceWrite(t *Tensor) {
	if t.IsInference() && !IsInferenceModeEnabled() {
		c.Fail(ErrAutograd, "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a "+
			"clone to get a normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 "+
			"for more details.")
	}
}

// IsInferenceModeEnabled reports whether the goroutine runs in InferenceMode.
func IsInferenceModeEnabled() bool {
	m := currentMode()
	return m != nil && m.inference
}
