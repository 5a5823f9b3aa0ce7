package packed_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/packed"
)

// What was made of a weight is kept by kind and version, until it is dropped or the weight is gone.
func TestFor(t *testing.T) {
	packed.Drop()
	made := 0
	get := func(w *torch.Tensor, kind any, atOnce bool) *int {
		return packed.For(w, kind, atOnce, func() *int {
			made++
			n := made
			return &n
		})
	}
	w := torch.Ones([]int{4})
	for i, c := range []struct {
		kind   any
		atOnce bool
		want   int // 0: nothing
		before func()
	}{
		{"a", true, 1, nil}, {"a", true, 1, nil}, {"b", false, 0, nil}, {"b", false, 2, nil}, {"b", false, 2, nil},
		{"a", false, 1, nil},
		{"a", true, 3, func() { w.AddScalarInPlace(1) }}, {"b", false, 0, nil}, {"b", false, 4, nil},
		{"a", true, 5, packed.Drop}, {"b", false, 0, nil},
	} {
		if c.before != nil {
			c.before()
		}
		if got := get(w, c.kind, c.atOnce); (got == nil) != (c.want == 0) || got != nil && *got != c.want {
			t.Errorf("call %d: %v, want %d", i, got, c.want)
		}
	}
	if n := packed.Len(); n != 1 {
		t.Errorf("%d are kept, want 1", n)
	}
	runtime.KeepAlive(w)
	w = nil
	for range 200 {
		if runtime.GC(); packed.Len() == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d outlive the weight", packed.Len())
}

// Unasked forgets what was made for callers that only came again, and no more.
func TestUnasked(t *testing.T) {
	packed.Drop()
	w, other := torch.Ones([]int{4}), torch.Ones([]int{4})
	made := 0
	get := func(w *torch.Tensor, kind any, atOnce bool) {
		packed.For(w, kind, atOnce, func() *int { made++; return &made })
	}
	twice := func() {
		for range 2 {
			get(w, "again", false)
			get(w, "asked", true)
			get(other, "again", false)
		}
	}
	twice()
	packed.Unasked(w)
	packed.Unasked(torch.Ones([]int{4})) // of which nothing is known
	if n := packed.Len(); n != 2 || made != 3 {
		t.Errorf("%d of %d are kept, want 2 of 3", n, made)
	}
	if twice(); packed.Len() != 3 || made != 4 {
		t.Errorf("%d of %d are kept, want 3 of 4", packed.Len(), made)
	}
	runtime.KeepAlive(w)
	runtime.KeepAlive(other)
}

// Drop reaches those who hold what was made, for as long as they live.
func TestHold(t *testing.T) {
	type owner struct{ drops int }
	o := &owner{}
	packed.Hold(o, func(o *owner) { o.drops++ })
	packed.Drop()
	packed.Drop()
	if o.drops != 2 {
		t.Errorf("told %d times, want 2", o.drops)
	}
}
