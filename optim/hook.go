package optim

import (
	"slices"
	"sync"

	"github.com/gotorch-dev/torch/serialize"
)

// hooks are the functions that users have registered with one optimizer.
type hooks struct {
	pre, post, preSave, postLoad optimizerHooks
	postSave, preLoad            hookList[func(Optimizer, *serialize.Dict)]
}

// globalPre and globalPost belong to all optimizers.
var globalPre, globalPost optimizerHooks

// optimizerHooks are functions that take the optimizer alone.
type optimizerHooks struct{ hookList[func(Optimizer)] }

func (h *optimizerHooks) call(o Optimizer) {
	for _, f := range h.all() {
		f(o)
	}
}

// hookList holds functions in the order in which they were registered. Optimizers in several goroutines share the
// global ones.
type hookList[F any] struct {
	mu   sync.Mutex
	list []*F
}

func (h *hookList[F]) add(f F) (remove func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := &f
	h.list = append(h.list, p)
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.list = slices.DeleteFunc(h.list, func(x *F) bool { return x == p })
	}
}

// all copies the list: a hook may remove itself.
func (h *hookList[F]) all() []F {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.list) == 0 {
		return nil
	}
	out := make([]F, len(h.list))
	for i, p := range h.list {
		out[i] = *p
	}
	return out
}

// RegisterOptimizerStepPreHook calls f before every step of every optimizer until remove is called.
func RegisterOptimizerStepPreHook(f func(Optimizer)) (remove func()) { return globalPre.add(f) }

// RegisterOptimizerStepPostHook calls f after every step of every optimizer until remove is called.
func RegisterOptimizerStepPostHook(f func(Optimizer)) (remove func()) { return globalPost.add(f) }

// RegisterStepPreHook calls f before every step until remove is called.
func (b *base) RegisterStepPreHook(f func(Optimizer)) (remove func()) { return b.hooks.pre.add(f) }

// RegisterStepPostHook calls f after every step until remove is called.
func (b *base) RegisterStepPostHook(f func(Optimizer)) (remove func()) { return b.hooks.post.add(f) }

// RegisterStateDictPreHook calls f before StateDict reads the state, until remove is called.
func (b *base) RegisterStateDictPreHook(f func(Optimizer)) (remove func()) {
	return b.hooks.preSave.add(f)
}

// RegisterStateDictPostHook calls f with what StateDict returns, which f may change, until remove is called.
func (b *base) RegisterStateDictPostHook(f func(Optimizer, *serialize.Dict)) (remove func()) {
	return b.hooks.postSave.add(f)
}

// RegisterLoadStateDictPreHook calls f with a shallow copy of what LoadStateDict is given, which f may change, until
// remove is called.
func (b *base) RegisterLoadStateDictPreHook(f func(Optimizer, *serialize.Dict)) (remove func()) {
	return b.hooks.preLoad.add(f)
}

// RegisterLoadStateDictPostHook calls f when LoadStateDict has taken over a state, until remove is called.
func (b *base) RegisterLoadStateDictPostHook(f func(Optimizer)) (remove func()) {
	return b.hooks.postLoad.add(f)
}
