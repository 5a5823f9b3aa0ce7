package tensor

import (
	"slices"
	"sync"
)

// Rank is the place of a layer between the program, which calls operators, and the backend, which computes them. Layers
// act in the order of their ranks however their functions are nested. Layers of one rank act in the order of nesting,
// the outermost first, except for transforms: the innermost transform acts first, since the values of its function are
// made of those of the transforms around it.
//
//	program → watchers → transforms → autocast → tracer → autograd → below autograd → backend
//
// Autograd itself is no Layer: it is what dispatch does between RankTrace and RankBelow.
type Rank uint8

// The ranks, outermost first.
const (
	RankWatch     Rank = iota // profiler, anomaly mode: see every call, also those that other layers make
	RankTransform             // vmap and other transforms of functions
	RankAutocast              // casts arguments
	RankTrace                 // records the program
	RankBelow                 // functional and memory passes: they see the operators with kernels that autograd calls
)

// Sight says how a layer takes the call of a composed operator.
type Sight uint8

// The ways to take a call.
const (
	// Whole: the layer handles the call, and what the operator's body calls is hidden from it.
	Whole Sight = iota
	// Inside: the layer leaves the call alone and handles what the body calls.
	Inside
	// Both: the layer handles the call and what the body calls.
	Both
)

// Layer sees the operator calls of a goroutine: autocast, tracing, profiling, anomaly mode. A layer sees public
// operators only, those of PyTorch (see Op.IsPublic); a transform also sees every operator of our own that has no body,
// since its values may meet any kernel, and so does a layer with a method SeesPrivate, since it must miss nothing. The
// calls that a layer makes itself go to the layers below it and to the watchers; those of a watcher are seen by nobody.
type Layer interface {
	Rank() Rank
	// Call handles one call. It must run next exactly once, or set the results itself.
	Call(c *Ctx, next func())
}

// Chooser is a Layer that decides for each operator how to take a call. A Layer that is no Chooser takes every call
// whole, a watcher both ways. Layers of RankBelow are not asked: they see operators with kernels, never composed ones.
type Chooser interface {
	Layer
	Sees(op *Op) Sight
}

// seesPrivate reports a layer that also sees the operators of our own that have no body.
func seesPrivate(l Layer) bool {
	_, ok := l.(interface{ SeesPrivate() })
	return ok || l.Rank() == RankTransform
}

// seesPrivate reports that one of the layers does.
func (m *mode) seesPrivate() bool { return m != nil && slices.ContainsFunc(m.layers, seesPrivate) }

func sightOf(l Layer, op *Op) Sight {
	switch ch, ok := l.(Chooser); {
	case ok:
		return ch.Sees(op)
	case l.Rank() == RankWatch:
		return Both
	}
	return Whole
}

// WithLayer runs f with a layer around every operator call of this goroutine.
func WithLayer(l Layer, f func()) {
	w, ok := l.(Witness)
	if ok {
		witnesses.Add(1)
		defer witnesses.Add(-1)
	}
	if _, ok := l.(RegionLayer); ok {
		regionLayers.Add(1)
		defer regionLayers.Add(-1)
	}
	with(func(m *mode) {
		m.layers = insertLayer(m.layers, l)
		m.observe(l)
		if ok {
			m.witness = w
		}
	}, f)
}

// InsteadOfLayers runs f with a layer in place of all layers of a rank: of nested regions of autocast the innermost
// alone counts. A nil layer takes them away.
func InsteadOfLayers(r Rank, l Layer, f func()) {
	with(func(m *mode) {
		m.layers = slices.DeleteFunc(slices.Clone(m.layers), func(x Layer) bool { return x.Rank() == r })
		if l != nil {
			m.layers = insertLayer(m.layers, l)
		}
	}, f)
}

// LayerOf is the innermost layer of a rank that is set for this goroutine, nil when there is none. A layer that asks
// while it handles a call is told of the layers below it alone.
func LayerOf(r Rank) Layer {
	return FindLayer(func(l Layer) bool { return l.Rank() == r })
}

// FindLayer is the innermost layer set for this goroutine that match accepts, nil when there is none.
func FindLayer(match func(Layer) bool) Layer {
	m := currentMode()
	if m == nil {
		return nil
	}
	for i := len(m.layers) - 1; i >= 0; i-- {
		if match(m.layers[i]) {
			return m.layers[i]
		}
	}
	return nil
}

// insertLayer returns a copy of the list with l behind the layers of its rank and those before. A transform goes before
// the other transforms.
func insertLayer(list []Layer, l Layer) []Layer {
	i := len(list)
	for i > 0 && (list[i-1].Rank() > l.Rank() || l.Rank() == RankTransform && list[i-1].Rank() == RankTransform) {
		i--
	}
	return slices.Insert(slices.Clone(list), i, l)
}

// SetGlobalLayer sets the layer of a rank for all goroutines that are in no mode of their own yet; nil removes it.
func SetGlobalLayer(r Rank, l Layer) {
	globalLayers.Lock()
	defer globalLayers.Unlock()
	old := defaultMode.Load()
	var layers []Layer
	if old != nil {
		layers = slices.DeleteFunc(slices.Clone(old.layers), func(x Layer) bool { return x.Rank() == r })
	}
	if l != nil {
		layers = insertLayer(layers, l)
	}
	var m *mode
	if len(layers) > 0 {
		m = &mode{layers: layers, shared: true}
		for _, x := range layers {
			m.observe(x)
		}
	}
	defaultMode.Store(m)
	if n := numRegionLayers(m) - numRegionLayers(old); n != 0 {
		regionLayers.Add(int32(n))
	}
	if (old == nil) != (m == nil) {
		if m != nil {
			activeModes.Add(1)
		} else {
			activeModes.Add(-1)
		}
	}
}

// globalLayers is held by those who set one.
var globalLayers sync.Mutex

func numRegionLayers(m *mode) int {
	if m == nil {
		return 0
	}
	return len(m.regions)
}

// observe lists a layer among those that see regions, and among those that see memory and gradient rules, too.
func (m *mode) observe(l Layer) {
	if r, ok := l.(RegionLayer); ok {
		m.regions = append(slices.Clip(m.regions), r)
	}
	if o, ok := l.(Observer); ok {
		m.observers = append(slices.Clip(m.observers), o)
	}
}

// watched reports that a layer, or a hook of saved tensors, looks at single operators: then a composed operator runs
// its body even where a backend has a kernel for the whole.
func (m *mode) watched() bool { return m != nil && (len(m.layers) > 0 || m.pack != nil) }

// runLayers runs a call of a public operator through the layers of the goroutine's mode, the outermost first.
func (c *Ctx) runLayers(m *mode) {
	var takes, inside []Layer
	for _, l := range m.layers {
		if l.Rank() == RankBelow { // see kernel
			inside = append(inside, l)
			continue
		}
		if !c.op.IsPublic() && !seesPrivate(l) {
			inside = append(inside, l)
			continue
		}
		s := sightOf(l, c.op)
		if s != Inside {
			takes = append(takes, l)
		}
		if s != Whole {
			inside = append(inside, l)
		}
	}
	if len(takes) == 0 {
		c.dispatch()
		return
	}
	c.through(m.layers, takes, func() {
		withLayers(inside, func() {
			c.mode = currentMode()
			c.dispatch()
		})
	})
}

// through runs the layers of takes, a part of all, one inside the other, and bottom in the last one.
func (c *Ctx) through(all, takes []Layer, bottom func()) {
	if len(takes) == 0 {
		bottom()
		return
	}
	l := takes[0]
	withLayers(under(all, l), func() {
		l.Call(c, func() { c.through(all, takes[1:], bottom) })
	})
}

// under lists the layers that see the calls which l makes itself.
func under(all []Layer, l Layer) []Layer {
	if l.Rank() == RankWatch {
		return nil
	}
	var out []Layer
	below := false
	for _, x := range all {
		if below || x.Rank() == RankWatch {
			out = append(out, x)
		}
		below = below || x == l
	}
	return out
}

func withLayers(list []Layer, f func()) { with(func(m *mode) { m.layers = list }, f) }

// kernelUnderLayers runs the layers of RankBelow around a kernel. What the kernel itself calls is hidden from all
// layers.
func (c *Ctx) kernelUnderLayers(m *mode) {
	var takes []Layer
	if c.op.IsPublic() {
		for _, l := range m.layers {
			if l.Rank() == RankBelow {
				takes = append(takes, l)
			}
		}
	}
	c.through(m.layers, takes, func() { withLayers(nil, c.kernel) })
}
