package op_test

import (
	"errors"
	"testing"

	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func TestCallUnknown(t *testing.T) {
	err := tensor.Try(func() { op.Call1("aten::no_such_operator") })
	if !errors.Is(err, tensor.ErrNotFound) {
		t.Errorf("got %v, expected an error that says that there is no such operator", err)
	}
}
