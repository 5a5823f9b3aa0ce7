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
	ox.Register(ox.One(func(c *ox.Call) *ox.Value { // self
		return c.Node("Bernoulli", ox.A{"dtype": c.OutType(0)}, c.T(0)).Typed(c.OutType(0))
	}), "aten::bernoulli")
	ox.Register(ox.One(func(c *ox.Call) *ox.Value { // self, p
		p := c.Filled(c.ShapeOf(c.T(0)), c.Num(1, tensor.Float32)).Typed(tensor.Float32)
		return c.Node("Bernoulli", ox.A{"dtype": c.OutType(0)}, p).Typed(c.OutType(0))
	}), "aten::bernoulli.p")
	integers := func(low, size int) ox.Form { // low is the argument of the lower limit, -1 for none
		return ox.One(func(c *ox.Call) *ox.Value {
			const dt = tensor.Float32
			zero := c.Filled(c.IntsValue(size), c.Scalar(0, dt)).Typed(dt)
			u := c.Node("RandomUniformLike", ox.A{"dtype": dt}, zero).Typed(dt)
			if low < 0 {
				return c.Cast(c.Node("Floor", nil, c.Bin("Mul", u, c.Num(0, dt))), c.OutType(0))
			}
			from := c.Num(low, dt)
			u = c.Bin("Mul", u, c.Bin("Sub", c.Num(low+1, dt), from))
			return c.Cast(c.Bin("Add", c.Node("Floor", nil, u), from), c.OutType(0))
		})
	}
	ox.Register(integers(-1, 1), "aten::randint")
	ox.Register(integers(0, 2), "aten::randint.low")
	ox.Register(ox.One(func(c *ox.Call) *ox.Value { // mean, std, size
		dt := c.OutType(0)
		zero := c.Filled(c.IntsValue(2), c.Scalar(0, dt)).Typed(dt)
		return c.Node("RandomNormalLike", ox.A{"mean": c.Float(0), "scale": c.Float(1), "dtype": dt}, zero).Typed(dt)
	}), "aten::normal.float_float")
	ox.Register(ox.One(func(c *ox.Call) *ox.Value { // self, num_samples, replacement
		x, n := c.T(0), c.Int(1)
		if n > 1 && !c.Bool(2) {
			c.Fail("ONNX's Multinomial draws with replacement only")
		}
		vector := c.Rank(x) == 1
		if vector {
			x = c.Unsqueeze(x, 0).Typed(x.DType)
		}
		y := c.Node("Multinomial", ox.A{"sample_size": n, "dtype": tensor.Int64}, c.Node("Log", nil, x)).
			Typed(tensor.Int64).Shaped(-1, n)
		if vector {
			y = c.Squeeze(y, 0).Typed(tensor.Int64)
		}
		return y
	}), "aten::multinomial")
}
