package shape

import (
	"errors"
	"fmt"

	"github.com/gotorch-dev/torch/tensor"
)

// errAssert is the cause of the errors of assertions in a program.
var errAssert = errors.New("an assertion of the program does not hold")

// The assertions that exported programs make: checks that have no result.
func init() {
	tensor.Register(tensor.Def{
		Schema: "_assert_scalar(Scalar self, str assert_msg) -> ()",
		Doc:    "panics with the text if the number is 0.", Go: "-",
		Body: func(c *Ctx) {
			if n := c.Num(0); n.I == 0 && n.F == 0 && n.C == 0 {
				c.Fail(errAssert, "%s", c.Str(1))
			}
			c.Return()
		},
	})
	for _, schema := range []string{"_assert_async(Tensor self) -> ()",
		"_assert_async.msg(Tensor self, str assert_msg) -> ()"} {
		tensor.Register(tensor.Def{
			Schema: schema,
			Doc:    "panics if the only element of the tensor is 0; on the CPU it waits for nothing.", Go: "-",
			NoGrad: "no result",
			Infer:  func(*Ctx) {},
			CPU: func(c *Ctx) {
				text := "Expected Tensor with single nonzero value, but got zero"
				if c.NumArgs() > 1 {
					text = c.Str(1)
				}
				if !c.T(0).IsNonzero() {
					c.Fail(errAssert, "%s", text)
				}
			},
		})
	}
	tensor.Register(tensor.Def{
		Schema: "_assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, ScalarType? dtype=None, *, Device? device=None, Layout? layout=None) -> ()",
		Doc:    "panics if the tensor differs from the size, strides, dtype or device that are given.", Go: "-",
		CrossDevice: true,
		Body: func(c *Ctx) {
			differ := func(what string, want, got any) {
				if w, g := fmt.Sprint(want), fmt.Sprint(got); w != g {
					c.Fail(errAssert, "Tensor %s mismatch! Expected: %s, Got: %s", what, w, g)
				}
			}
			t := c.T(0)
			if c.Has(1) {
				differ("sizes", tensor.ShapeString(c.Ints(1)), tensor.ShapeString(t.Shape()))
			}
			if c.Has(2) {
				differ("strides", tensor.ShapeString(c.Ints(2)), tensor.ShapeString(t.Strides()))
			}
			if c.Has(3) {
				differ("dtype", c.DType(3), t.DType())
			}
			if d, given := c.DeviceArg(4); given {
				differ("device", d, t.Device())
			}
			c.Return()
		},
	})
}
