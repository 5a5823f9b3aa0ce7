package programs

import (
	"errors"
	"fmt"
	"math"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/tensor"
)

// Same compares a value with the recorded one, tensors with times the usual tolerance.
func Same(got, want any, times float64) error {
	switch w := want.(type) {
	case *tensor.Tensor:
		g, ok := got.(*tensor.Tensor)
		if !ok {
			return fmt.Errorf("got %v, want a tensor", got)
		}
		if why := golden.Close(g, w, golden.ToleranceOf(w.DType()).Times(times)); why != "" {
			return errors.New(why)
		}
		return nil
	case golden.List:
		g, ok := got.(golden.List)
		return sameList(g, ok, w, times)
	case golden.Tuple:
		g, ok := got.(golden.Tuple)
		return sameList(golden.List(g), ok, golden.List(w), times)
	case golden.Dict:
		g, ok := got.(golden.Dict)
		if !ok || len(g) != len(w) {
			return fmt.Errorf("got %v, want %v", got, want)
		}
		for i, e := range w {
			if g[i].Key != e.Key {
				return fmt.Errorf("key %s, want %s", g[i].Key, e.Key)
			}
			if err := Same(g[i].Val, e.Val, times); err != nil {
				return fmt.Errorf("%s: %w", e.Key, err)
			}
		}
		return nil
	case float64:
		g, ok := got.(float64)
		if i, isInt := got.(int); isInt {
			g, ok = float64(i), true
		}
		if !ok || g != w && !(math.IsNaN(g) && math.IsNaN(w)) {
			return fmt.Errorf("got %v, want %v", got, want)
		}
		return nil
	}
	if got != want {
		return fmt.Errorf("got %v (%T), want %v (%T)", got, got, want, want)
	}
	return nil
}

func sameList(got golden.List, ok bool, want golden.List, times float64) error {
	if !ok || len(got) != len(want) {
		return fmt.Errorf("got %v, want %v", got, want)
	}
	for i := range want {
		if err := Same(got[i], want[i], times); err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return nil
}
