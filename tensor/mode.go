package tensor

import (
	"sync"
	"sync/atomic"

	"github.com/gotorch-dev/torch/internal/gls"
)

// Interceptor sees every operator call of a goroutine: autocast, tracing, profiling, anomaly mode. It must call next exactly once, or
// set the outputs itself.
type Interceptor interface {
	Intercept(c *Ctx, next func())
}

// mode is what holds for one goroutine while a function runs.
type mode struct {
	noGrad    bool
	inference bool
	scope     *scope
	chain     []Interceptor
	parent    *mode
}

// activeModes counts the modes of all goroutines: while it is zero nobody has to look.
var activeModes atomic.Int32

const shards = 64

var modes [shards]struct {
	sync.RWMutex
	m map[uintptr]*mode
	_ [24]byte
}

func currentMode() *mode {
	if activeModes.Load() == 0 {
		return nil
	}
	id := gls.ID()
	s := &modes[(id>>8)%shards]
	s.RLock()
	m := s.m[id]
	s.RUnlock()
	return m
}

func setMode(m *mode) {
	id := gls.ID()
	s := &modes[(id>>8)%shards]
	s.Lock()
	if m == nil {
		delete(s.m, id)
	} else {
		if s.m == nil {
			s.m = map[uintptr]*mode{}
		}
		s.m[id] = m
	}
	s.Unlock()
}

// with runs f under a changed copy of the goroutine's mode.
func with(change func(m *mode), f func()) {
	old := currentMode()
	m := &mode{}
	if old != nil {
		*m = *old
	}
	m.parent = old
	change(m)
	activeModes.Add(1)
	setMode(m)
	defer func() {
		setMode(old)
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

// InferenceMode runs f without recording gradients; tensors made in it can never take part in recording.
func InferenceMode(f func()) { with(func(m *mode) { m.noGrad, m.inference = true, true }, f) }

// Intercepted runs f with an interceptor around every operator call of this goroutine.
func Intercepted(i Interceptor, f func()) {
	with(func(m *mode) { m.chain = append(m.chain[:len(m.chain):len(m.chain)], i) }, f)
}

// IsGradEnabled reports whether operators record gradients on this goroutine.
func IsGradEnabled() bool {
	m := currentMode()
	return m == nil || !m.noGrad
}

// IsInferenceModeEnabled reports whether the goroutine runs in InferenceMode.
func IsInferenceModeEnabled() bool {
	m := currentMode()
	return m != nil && m.inference
}

// scope lists the storages made while it is the innermost one.
type scope struct {
	made []*Storage
}

func track(s *Storage) {
	if m := currentMode(); m != nil && m.scope != nil {
		m.scope.made = append(m.scope.made, s)
	}
}
