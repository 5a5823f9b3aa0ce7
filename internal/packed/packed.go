// Package packed keeps what kernels have made of weights in order to read them faster: the weights of convolutions and
// of linear layers in the order in which the kernels take them. Whoever uses a weight, in whatever shapes of input,
// shares what was made of it. All of it can be made again, so torch.EmptyCache drops it.
package packed

import (
	"runtime"
	"sync"
	"weak"

	"github.com/gotorch-dev/torch/tensor"
)

// key names what is kept: what was made of the weights in a storage, in one way.
type key struct {
	storage weak.Pointer[tensor.Storage]
	kind    any
}

type entry struct {
	version int
	made    any  // nil: only seen
	asked   bool // the caller has asked for it at once
}

var kept sync.Map // key -> *entry

// known are the storages that drop their entries when they are collected.
var known sync.Map // weak.Pointer[tensor.Storage] -> *sync.Map of kinds

// For returns what make has made of the weight's memory, and keeps it while that lives. kind says what is made: two
// kinds, which must be comparable, are kept apart, as the parts of one storage have to be. A change in place, which
// raises the version, starts anew. Unless at once is set, nothing is made for the first call with a version, and nil
// returned: what is used once is not worth keeping.
//
// Memory that the program holds as a slice may change unseen, so weights of which that is so (Storage.Shown) should be
// kept only where the caller says that they must not change.
func For[V any](w *tensor.Tensor, kind any, atOnce bool, make func() *V) *V {
	s := weak.Make(w.Storage())
	k, version := key{s, kind}, w.Version()
	var last *entry
	if e, ok := kept.Load(k); ok {
		last = e.(*entry)
	} else {
		kinds, ok := known.LoadOrStore(s, &sync.Map{})
		if !ok {
			runtime.AddCleanup(w.Storage(), forget, s)
		}
		kinds.(*sync.Map).Store(kind, true)
	}
	seen := last != nil && last.version == version
	if seen && last.made != nil {
		return last.made.(*V)
	}
	e := &entry{version: version, asked: atOnce}
	var v *V
	if seen || atOnce {
		v = make()
		e.made = v
	}
	kept.Store(k, e)
	return v
}

// forget drops what was made of a storage that is no more.
func forget(s weak.Pointer[tensor.Storage]) {
	if kinds, ok := known.LoadAndDelete(s); ok {
		kinds.(*sync.Map).Range(func(kind, _ any) bool {
			kept.Delete(key{s, kind})
			return true
		})
	}
}

// holders are told by Drop.
var holders sync.Map // any comparable -> func()

// Hold has Drop call drop(owner) for as long as the owner lives: for what refers to packed weights, and so would keep
// them in memory.
func Hold[T any](owner *T, drop func(*T)) {
	w := weak.Make(owner)
	holders.Store(w, func() {
		if o := w.Value(); o != nil {
			drop(o)
		}
	})
	runtime.AddCleanup(owner, func(w weak.Pointer[T]) { holders.Delete(w) }, w)
}

// Drop forgets everything that was made. Calls that run keep what they have.
func Drop() {
	holders.Range(func(_, f any) bool {
		f.(func())()
		return true
	})
	kept.Range(func(k, e any) bool {
		kept.CompareAndDelete(k, e)
		return true
	})
}

// Unasked forgets what was made of the weight for callers that did not ask for it at once but came again: operators,
// when a program that has weights of its own takes their place. Should they come again all the same, it is made anew.
func Unasked(w *tensor.Tensor) {
	s := weak.Make(w.Storage())
	kinds, ok := known.Load(s)
	if !ok {
		return
	}
	kinds.(*sync.Map).Range(func(kind, _ any) bool {
		k := key{s, kind}
		if e, ok := kept.Load(k); ok && !e.(*entry).asked {
			kept.CompareAndDelete(k, e)
		}
		return true
	})
}

// Len counts what is kept.
func Len() (n int) {
	kept.Range(func(_, e any) bool {
		if e.(*entry).made != nil {
			n++
		}
		return true
	})
	return n
}
