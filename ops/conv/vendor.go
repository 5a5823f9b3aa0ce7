package conv

import "github.com/gotorch-dev/torch/tensor"

// PyTorch has convolutions under the names of the vendors' libraries that compute them. A program that was traced or
// frozen on a GPU calls them by these names, and runs here; PyTorch refuses them where the library is not linked.

const (
	vendorConv = "is the convolution of self [n, in, ...] with weight [out, in/groups, ...] under the name of a " +
		"library for GPUs, with padding in front of stride. benchmark, deterministic and allow_tf32 change nothing. " +
		"PyTorch refuses it without that library; here programs that were made on a GPU run."
	vendorTranspose = "is the transposed convolution of self [n, in, ...] with weight [in, out/groups, ...] under the " +
		"name of a library for GPUs, with padding in front of stride. benchmark, deterministic and allow_tf32 change " +
		"nothing. PyTorch refuses it without that library; here programs that were made on a GPU run."
	vendorReLU = "is the convolution of self [n, in, ...] with weight [out, in/groups, ...] and ReLU behind it, under " +
		"the name of a library for GPUs. PyTorch refuses it without that library; here programs that were frozen on a " +
		"GPU run."
	vendorAddReLU = "is the convolution of self [n, in, ...] with weight [out, in/groups, ...], plus alpha (1 where it " +
		"is nil) times z, and ReLU of the sum, under the name of a library for GPUs. PyTorch refuses it without that " +
		"library; here programs that were frozen on a GPU run."
)

func init() {
	for _, d := range []tensor.Def{
		{
			Schema: "cudnn_is_acceptable(Tensor self) -> bool",
			Doc:    "reports whether cuDNN would compute with the tensor: never, since a Go program has no such library.",
			Body:   func(c *Ctx) { c.ReturnValue(tensor.BoolValue(false)) },
		},
		{
			Schema: "cudnn_convolution(Tensor self, Tensor weight, SymInt[] padding, SymInt[] stride, SymInt[] dilation, SymInt groups, bool benchmark, bool deterministic, bool allow_tf32) -> Tensor",
			Doc:    vendorConv, Out: true,
			Body: func(c *Ctx) { vendorBody(c, nil, 2, -1, 3, 4, 5) },
		},
		{
			Schema: "cudnn_convolution_transpose(Tensor self, Tensor weight, SymInt[] padding, SymInt[] output_padding, SymInt[] stride, SymInt[] dilation, SymInt groups, bool benchmark, bool deterministic, bool allow_tf32) -> Tensor",
			Doc:    vendorTranspose, Out: true,
			Body: func(c *Ctx) { vendorBody(c, nil, 2, 3, 4, 5, 6) },
		},
		{
			Schema: "cudnn_convolution_relu(Tensor self, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, SymInt groups) -> Tensor",
			Doc:    vendorReLU, Out: true, Body: vendorReLUBody,
		},
		{
			Schema: "cudnn_convolution_add_relu(Tensor self, Tensor weight, Tensor z, Scalar? alpha, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, SymInt groups) -> Tensor",
			Doc:    vendorAddReLU, Out: true, Body: vendorAddReLUBody,
		},
		{
			Schema: "miopen_convolution(Tensor self, Tensor weight, Tensor? bias, SymInt[] padding, SymInt[] stride, SymInt[] dilation, SymInt groups, bool benchmark, bool deterministic) -> Tensor",
			Doc:    vendorConv, Out: true,
			Body: func(c *Ctx) { vendorBody(c, c.T(2), 3, -1, 4, 5, 6) },
		},
		{
			Schema: "miopen_depthwise_convolution(Tensor self, Tensor weight, Tensor? bias, SymInt[] padding, SymInt[] stride, SymInt[] dilation, SymInt groups, bool benchmark, bool deterministic) -> Tensor",
			Doc:    vendorConv, Out: true,
			Body: func(c *Ctx) { vendorBody(c, c.T(2), 3, -1, 4, 5, 6) },
		},
		{
			Schema: "miopen_convolution_transpose(Tensor self, Tensor weight, Tensor? bias, SymInt[] padding, SymInt[] output_padding, SymInt[] stride, SymInt[] dilation, SymInt groups, bool benchmark, bool deterministic) -> Tensor",
			Doc:    vendorTranspose, Out: true,
			Body: func(c *Ctx) { vendorBody(c, c.T(2), 3, 4, 5, 6, 7) },
		},
		{
			Schema: "miopen_convolution_relu(Tensor self, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, SymInt groups) -> Tensor",
			Doc:    vendorReLU, Body: vendorReLUBody,
		},
		{
			Schema: "miopen_convolution_add_relu(Tensor self, Tensor weight, Tensor z, Scalar? alpha, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, SymInt groups) -> Tensor",
			Doc:    vendorAddReLU, Body: vendorAddReLUBody,
		},
	} {
		tensor.Register(d)
	}
}

// vendorConvolution is the convolution with settings at these places of the call; without outPad it is not transposed.
func vendorConvolution(c *Ctx, bias *T, pad, outPad, stride, dilation, groups int) *T {
	n := max(c.T(1).Dim()-2, 0)
	output := make([]int, n)
	if outPad >= 0 {
		output = spread(c.Ints(outPad), n)
	}
	return call(opConvolution, c.T(0), c.T(1), bias, spread(c.Ints(stride), n), spread(c.Ints(pad), n),
		spread(c.Ints(dilation), n), outPad >= 0, output, c.Int(groups))[0]
}

func vendorBody(c *Ctx, bias *T, pad, outPad, stride, dilation, groups int) {
	c.Return(vendorConvolution(c, bias, pad, outPad, stride, dilation, groups))
}

func vendorReLUBody(c *Ctx) {
	c.Return(vendorConvolution(c, c.T(2), 4, -1, 3, 5, 6).ReLU())
}

func vendorAddReLUBody(c *Ctx) {
	y, z := vendorConvolution(c, c.T(4), 6, -1, 5, 7, 8), c.T(2)
	if !tensor.SameShape(y.Shape(), z.Shape()) {
		c.Fail(tensor.ErrShape, "z must have the convolution's shape %s, got %s", tensor.ShapeString(y.Shape()),
			tensor.ShapeString(z.Shape()))
	}
	if c.Has(3) {
		y = y.Add(z, tensor.AddOptions{Alpha: c.Num(3)})
	} else {
		y = y.Add(z)
	}
	c.Return(y.ReLU())
}
