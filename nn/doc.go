// Package nn holds the building blocks of networks: layers, containers, losses, and what works on any module.
//
// A module is a pointer to a struct that embeds Base and has a Forward method. Its parameters are its fields that hold
// tensors made by NewParameter, its buffers those tagged `torch:",buffer"`, its children those that are modules.
// Nothing is registered: the fields are walked when they are needed. The name of a field in the state dict is the
// field's name in snake_case (InProjWeight is in_proj_weight, FC1 is fc1); a tag `torch:"name"` gives another one,
// `torch:"-"` leaves the field out.
//
//	type Net struct {
//		nn.Base
//		Conv1 *nn.Conv2d
//		FC    *nn.Linear
//	}
//
//	net := nn.New(&Net{Conv1: nn.NewConv2d(1, 32, 3), FC: nn.NewLinear(128, 10)})
//
// # What is walked
//
// Exported fields are walked, and in them modules (pointers, interfaces, values), parameters, slices, arrays, maps with
// string keys (in the order of the keys), and structs that are no modules, in each other to any depth. The names of
// their parts are joined by dots: "blocks.0.left.weight". The fields of an embedded struct are the module's own. A
// tensor that is neither a parameter nor a buffer is left alone, as in Python.
//
// What the walk cannot reach or name is refused, by New and by every walk, rather than left out in silence: a private
// field that can hold a module or holds a parameter, two fields with one name (FC1 and Fc1), a map with other keys, a
// pointer to a struct that is no module but holds modules, a channel of modules, a module that is inside itself. The
// error names the field and the way out: export it, or tag it `torch:"-"`. New also looks into private maps and lists
// of interfaces, sync.Map, atomic.Value, container/list, and behind pointers; later walks do not, since other
// goroutines may be writing there. What a func, a sync.Pool or a weak.Pointer holds cannot be seen. "gotorch vet ./..."
// finds most of this before the program runs.
//
// # Several goroutines
//
// A model in evaluation mode may run in any number of goroutines at once, with or without recorded gradients, each with
// its own input: Forward of the layers here reads parameters and buffers and writes to neither. In training mode this
// does not hold: batch norm writes its running statistics. Training one model in two goroutines is not safe, since
// their backward passes add to the same gradients while a step reads them: train copies of the model and add their
// gradients, or hold a lock from Forward to Step. Train, Eval, LoadStateDict, ToDType and ToDevice write to the model,
// and so do lazy layers in their first Forward: call them while nothing else uses the model. Walks that only read
// (Parameters, StateDict, String) may run beside each other and beside Forward.
package nn
