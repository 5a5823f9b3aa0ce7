package op

import (
	"maps"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/internal/cpu/gemm"
	"github.com/gotorch-dev/torch/tensor"
)

// Activations are the names of the functions that fused products and convolutions apply to their results.
var Activations = map[string]gemm.Activation{"none": gemm.ActNone, "relu": gemm.ActReLU, "gelu": gemm.ActGELU,
	"gelu_tanh": gemm.ActGELUTanh, "silu": gemm.ActSiLU, "hardswish": gemm.ActHardswish, "sigmoid": gemm.ActSigmoid,
	"hardsigmoid": gemm.ActHardsigmoid, "tanh": gemm.ActTanh, "mish": gemm.ActMish}

// CheckActivation refuses an argument that names no activation.
func CheckActivation(c *tensor.Ctx, i int) {
	if _, ok := Activations[c.Str(i)]; !ok {
		c.Fail(tensor.ErrValue, "%s: got %q, expected %s", c.Op().Sch.Params[i].Name, c.Str(i),
			strings.Join(slices.Sorted(maps.Keys(Activations)), ", "))
	}
}

// Activate applies the function that argument i names, by the operator that a module would call.
func Activate(c *tensor.Ctx, i int, t *tensor.Tensor) *tensor.Tensor {
	CheckActivation(c, i)
	switch name := c.Str(i); name {
	case "none":
		return t
	case "gelu_tanh":
		return Call1("aten::gelu", t, "tanh")
	default:
		return Call1("aten::"+name, t)
	}
}
