package quantized

import (
	"fmt"

	"github.com/gotorch-dev/torch/tensor"
)

func convClass(dims int) string {
	if dims == 3 {
		return "__torch__.torch.classes.quantized.Conv3dPackedParamsBase"
	}
	return "__torch__.torch.classes.quantized.Conv2dPackedParamsBase"
}

func init() {
	for _, transpose := range []bool{false, true} {
		for dims := 1; dims <= 3; dims++ {
			defineConv(dims, transpose)
		}
	}
	define("quantized::conv_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups) -> "+
		convClass(2), "is conv2d_prepack.", prepack(2, false))
	define("quantized::conv_unpack("+convClass(2)+" packed_weights) -> (Tensor unpacked_weights, Tensor? B_origin)",
		"gives the parameters that were packed.", unpackConv)
	for _, relu := range []bool{false, true} {
		define("quantized::conv2d_add"+suffix(relu)+"(Tensor qx, Tensor qaccum, "+convClass(2)+" packed_weight, float output_scale, "+
			"int output_zero_point) -> Tensor", "adds a tensor to a convolution.", func(c *Ctx) { convAdd(c, relu) })
	}
}

// settings reads stride, padding, output padding, dilation and groups, which begin at argument i.
func settings(c *Ctx, i int, transpose bool) ConvSettings {
	s := ConvSettings{Stride: c.Ints(i), Padding: c.Ints(i + 1), Transpose: transpose}
	i += 2
	if transpose {
		s.OutputPadding = c.Ints(i)
		i++
	}
	s.Dilation, s.Groups = c.Ints(i), c.Int(i+1)
	return s
}

func prepack(dims int, transpose bool) func(c *Ctx) {
	return func(c *Ctx) {
		c.ReturnValue(tensor.AnyValue(PackConv(c, c.T(0), c.T(1), dims, settings(c, 2, transpose))))
	}
}

func unpackConv(c *Ctx) {
	p := argument[Conv](c, 0)
	c.SetOut(0, p.Weight)
	c.SetOut(1, p.Bias)
}

func defineConv(dims int, transpose bool) {
	name := fmt.Sprintf("conv%dd", dims)
	doc := fmt.Sprintf("a convolution of bytes in %d dimensions", dims)
	padding := ""
	if transpose {
		name, doc, padding = fmt.Sprintf("conv_transpose%dd", dims), "a transposed convolution of bytes",
			"int[] output_padding, "
	}
	class := convClass(dims)
	define("quantized::"+name+"_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, "+padding+"int[] dilation, "+
		"int groups) -> "+class, "packs the parameters of "+doc+" for the engine that is set.",
		prepack(dims, transpose))
	define("quantized::"+name+"_unpack("+class+" packed_weights) -> (Tensor unpacked_weights, Tensor? B_origin)",
		"gives the parameters that were packed.", unpackConv)
	if dims > 1 {
		for _, f := range []struct {
			name string
			get  func(p *Conv) []int
		}{{"stride", func(p *Conv) []int { return p.Stride }}, {"padding", func(p *Conv) []int { return p.Padding }},
			{"dilation", func(p *Conv) []int { return p.Dilation }},
			{"output_padding", func(p *Conv) []int { return p.OutputPadding }}} {
			define("quantized::"+name+"_"+f.name+"("+class+" packed_weights) -> int[]",
				"is that number of packed parameters.",
				func(c *Ctx) { c.ReturnValue(tensor.IntsValue(f.get(argument[Conv](c, 0)))) })
		}
		define("quantized::"+name+"_groups("+class+" packed_weights) -> int", "is that number of packed parameters.",
			func(c *Ctx) { c.ReturnValue(tensor.IntValue(argument[Conv](c, 0).Groups)) })
		define("quantized::"+name+"_transpose("+class+" packed_weights) -> int", "is 1 for a transposed convolution.",
			func(c *Ctx) {
				n := 0
				if argument[Conv](c, 0).Transpose {
					n = 1
				}
				c.ReturnValue(tensor.IntValue(n))
			})
	}
	define("quantized::"+name+"_dynamic(Tensor qx, "+class+" packed_weight, bool reduce_range=False) -> Tensor",
		"is "+doc+" that quantizes its float32 input by the input's range.", func(c *Ctx) {
			c.SetOut(0, convFloat(c, c.T(0), argument[Conv](c, 1), dims, c.Bool(2)))
		})
	relus := []bool{false, true}
	if transpose {
		relus = relus[:1]
	}
	for _, relu := range relus {
		full := name + suffix(relu)
		run := func(scale int) func(c *Ctx) {
			return func(c *Ctx) {
				p := argument[Conv](c, 1)
				if p.Transpose != transpose {
					c.Fail(tensor.ErrType, "%s: the parameters are those of another kind of convolution",
						c.Op().FullName())
				}
				c.SetOut(0, conv(c, c.T(0), p, dims, c.Float(scale), c.Int(scale+1), relu))
			}
		}
		overload := ""
		if dims > 1 && !transpose {
			overload = ".new"
			define("quantized::"+full+"(Tensor qx, "+class+" weight, int[] stride, int[] padding, int[] dilation, "+
				"int groups, "+
				"float output_scale, int output_zero_point) -> Tensor",
				"is "+doc+". The packed parameters say stride, padding, dilation and groups.", run(6))
		}
		define("quantized::"+full+overload+"(Tensor qx, "+class+" packed_weight, float output_scale, int output_zero_point) -> Tensor",
			"is "+doc+".", run(2))
	}
}

// convAdd adds a quantized tensor to a convolution before it is quantized.
func convAdd(c *Ctx, relu bool) {
	x, p := c.T(0), argument[Conv](c, 2)
	acc, _ := each(c, 1)
	scale, zero := c.Float(3), c.Int(4)
	checkOutput(c, scale, zero)
	quantizedInput(c, x)
	g, shape := p.plan(c, x, 2)
	if !tensor.SameShape(acc.Shape(), shape) || x.DType() != tensor.QUInt8 {
		c.Fail(tensor.ErrShape, "%s: the tensor to add has shape %s, the result %s", c.Op().FullName(),
			tensor.ShapeString(acc.Shape()), tensor.ShapeString(shape))
	}
	y := p.floats(g, shape, x).Add(dequantize(acc))
	if relu {
		y = y.ReLU()
	}
	c.SetOut(0, quantize(lastChannels(y), scale, zero, x.DType()))
}
