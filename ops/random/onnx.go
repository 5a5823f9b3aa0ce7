package random

import (
	ox "github.com/gotorch-dev/torch/internal/onnxform"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	drop := func(c *ox.Call) []*ox.Value { // input, p, train
		x := c.T(0)
		if !c.Bool(2) {
			return []*ox.Value{x, nil}
		}
		out := c.Nodes(2, "Dropout", nil, x, c.Num(1, tensor.Float32), c.Scalar(1, tensor.Bool))
		return []*ox.Value{out[0].Typed(x.DType), out[1].Typed(tensor.Bool)}
	}
	ox.Register(drop, "aten::dropout", "aten::native_dropout")
	ox.Register(ox.One(func(c *ox.Call) *ox.Value {
		if c.Bool(2) {
			c.Fail("it drops whole channels in training, which ONNX has no operator for")
		}
		return c.T(0)
	}), "aten::feature_dropout", "aten::alpha_dropout", "aten::feature_alpha_dropout")
	random := func(op string) ox.Form {
		return ox.One(func(c *ox.Call) *ox.Value {
			dt := c.OutType(0)
			if shape := c.IntsValue(0); shape.Folds() {
				return c.Node(op, ox.A{"shape": c.Ints(0), "dtype": dt}).Typed(dt)
			}
			zero := c.Filled(c.IntsValue(0), c.Scalar(0, dt))
			return c.Node(op+"Like", ox.A{"dtype": dt}, zero).Typed(dt)
		})
	}
	like := func(op string) ox.Form {
		return ox.One(func(c *ox.Call) *ox.Value {
			return c.Node(op, ox.A{"dtype": c.OutType(0)}, c.T(0)).Typed(c.OutType(0))
		})
	}
	ox.Register(random("RandomUniform"), "aten::rand")
	ox.Register(random("RandomNormal"), "aten::randn")
	ox.Register(like("RandomUniformLike"), "aten::rand_like")
	ox.Register(like("RandomNormalLike"), "aten::randn_like")
}
