package serialize_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// TestIdentity saves values that are shared and loads them shared.
func TestIdentity(t *testing.T) {
	w := tensor.FromSlice([]float32{1, 2}, 2)
	list, tuple, dict := []any{1}, serialize.Tuple{2}, serialize.NewDict("a", 3)
	dict.Set("self", dict)
	dict.Set("through a list", []any{dict})
	v, err := serialize.LoadBytes(saved(t, []any{list, list, tuple, tuple, dict, dict, w, w}))
	if err != nil {
		t.Fatal(err)
	}
	x := v.([]any)
	x[0].([]any)[0] = "changed"
	x[2].(serialize.Tuple)[0] = "changed"
	if x[1].([]any)[0] != "changed" || x[3].(serialize.Tuple)[0] != "changed" {
		t.Error("lists or tuples are no longer shared")
	}
	d := x[4].(*serialize.Dict)
	if d != x[5] || d.Get("self") != d || d.Get("through a list").([]any)[0] != d {
		t.Error("dicts are no longer shared")
	}
	if x[6] != x[7] {
		t.Error("tensors are no longer shared")
	}
	if got, want := d.String(), "{'a': 3, 'self': {...}, 'through a list': [{...}]}"; got != want {
		t.Errorf("prints as %s, want %s", got, want)
	}
	// Package fmt ends as well, for the dict prints itself.
	if got := fmt.Sprint(d.Get("through a list")); !strings.Contains(got, "{...}") {
		t.Error(got)
	}
}

func nest(n int, leaf any) any {
	for range n {
		leaf = []any{leaf}
	}
	return leaf
}

// TestSaveRefuses saves what Load would refuse. The error says where it is.
func TestSaveRefuses(t *testing.T) {
	list := []any{1, nil}
	list[1] = list
	behind := []any{serialize.NewDict("k", nil), nil}
	inner := []any{behind}
	behind[0].(*serialize.Dict).Set("k", inner)
	behind[1] = inner
	m := map[string]any{}
	m["self"] = []any{m}
	for _, c := range []struct {
		name string
		v    any
		err  error
		says string
	}{
		{"a list within itself", serialize.NewDict("a", list), serialize.ErrCycle, "at ['a'][1]"},
		{"a list that a dict hides", behind, serialize.ErrCycle, ""},
		{"a map within itself", m, nil, ""},
		{"300 lists", nest(300, 1), nil, ""},
		{"999 lists", nest(999, 1), nil, ""},
		{"1100 lists", nest(1100, 1), serialize.ErrDepth, "more than 1000"},
		{"100,000 lists", nest(100000, 1), serialize.ErrDepth, "at [0][0][0]"},
		{"a channel", serialize.NewDict("a", []any{1, make(chan int)}), nil, "at ['a'][1]: cannot save a chan int"},
		{"a list as a key", serialize.NewDict([2]int{1, 2}, 3), nil, "unhashable"},
		{"a nil tensor", []any{(*tensor.Tensor)(nil)}, nil, "tensor is nil"},
	} {
		var b strings.Builder
		var err error
		within(t, func() { err = serialize.Save(&b, c.v) })
		if c.err == nil && c.says == "" {
			if err == nil {
				_, err = serialize.LoadBytes([]byte(b.String()))
			}
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err == nil || c.err != nil && !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %.300v, want %v: %s", c.name, err, c.err, c.says)
		}
	}
}

// TestKeys tells apart the keys that Python does.
func TestKeys(t *testing.T) {
	d := serialize.NewDict("tuple:(1,)", "text", serialize.Tuple{1}, "tuple", 1, "one", 2.5, "float", nil, "none")
	for key, want := range map[string]any{"text": "tuple:(1,)", "tuple": serialize.Tuple{1}, "one": 1.0, "float": 2.5,
		"none": nil} {
		if got := d.Get(want); got != key {
			t.Errorf("key %v has %v, want %v", want, got, key)
		}
	}
	d.Set(true, "true") // True == 1
	if d.Len() != 5 || d.Get(1) != "true" || d.Has("1") || d.Has(serialize.Tuple{2}) || d.Has(serialize.Tuple{"1"}) {
		t.Errorf("%v", d)
	}
}
