package shape

import (
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

var opToCopy = tensor.Slot("aten::_to_copy")

// convert is to(): t itself when there is nothing to do, else a copy with another dtype, on another device or in
// another memory format. It is one call of _to_copy, as in PyTorch.
func convert(t *T, dt tensor.DType, to tensor.Device, copyIt bool, f tensor.MemoryFormat) *T {
	if dt == 0 {
		dt = t.DType()
	}
	if t.DType() == dt && to == t.Device() && !copyIt &&
		(f == tensor.NoFormat || f == tensor.PreserveFormat || f == t.SuggestFormat() && t.IsContiguousFormat(f)) {
		return t
	}
	k := tensor.NewCall(opToCopy, 7)
	*k.Arg(0), *k.Arg(1), *k.Arg(5) = tensor.TensorValue(t), tensor.DTypeValue(dt), tensor.BoolValue(false)
	if to != t.Device() {
		*k.Arg(3) = tensor.DeviceValue(to)
	}
	if f != tensor.NoFormat {
		*k.Arg(6) = tensor.FormatValue(f)
	}
	return k.Do1()
}

// deviceOr is the device that argument i names, that of self where it is none.
func deviceOr(c *Ctx, i int) tensor.Device {
	if d, given := c.DeviceArg(i); given {
		return d
	}
	return c.T(0).Device()
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
		Doc: "converts the elements; the tensor itself is returned when there is nothing to do and Copy is not " +
			"set.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.to.html",
		Go:   "ToDType",
		Body: func(c *Ctx) { c.Return(convert(c.T(0), c.DType(1), c.T(0).Device(), c.Bool(3), c.Format(4))) },
	})
	tensor.Register(tensor.Def{
		Schema: "to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
		Go:     "-",
		Body:   func(c *Ctx) { c.Return(convert(c.T(0), c.DType(2), deviceOr(c, 1), c.Bool(4), c.Format(5))) },
	})
	tensor.Register(tensor.Def{
		Schema: "Tensor::to(Tensor(a) self, Device? device, ScalarType? dtype=None, bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None) -> Tensor(a)",
		Go:     "-",
		Body:   func(c *Ctx) { c.Return(convert(c.T(0), c.DType(2), deviceOr(c, 1), c.Bool(4), c.Format(5))) },
	})
	tensor.Register(tensor.Def{
		Schema: "to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
		Doc: "converts to the dtype and device of " +
			"other.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.to.html",
		Body: func(c *Ctx) { c.Return(convert(c.T(0), c.ArgDType(1), c.T(1).Device(), c.Bool(3), c.Format(4))) },
	})
	tensor.Register(tensor.Def{
		Schema: "to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
		Go:     "-",
		Body:   func(c *Ctx) { c.Return(convert(c.T(0), c.DType(1), deviceOr(c, 3), c.Bool(6), c.Format(7))) },
	})
	tensor.Register(tensor.Def{
		Schema: "type_as(Tensor self, Tensor other) -> Tensor",
		Doc: "converts to the dtype and device of " +
			"other.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.type_as.html",
		Body: func(c *Ctx) { c.Return(convert(c.T(0), c.ArgDType(1), c.T(1).Device(), false, 0)) },
	})
	to := func(dt tensor.DType) func(c *Ctx) {
		return func(c *Ctx) { c.Return(convert(c.T(0), dt, c.T(0).Device(), false, c.Format(1))) }
	}
	tensor.Register(tensor.Def{Schema: "Tensor::float(Tensor(a) self, *, MemoryFormat? memory_format=None) -> Tensor(a)", Go: "-", Body: to(tensor.Float32)})
	tensor.Register(tensor.Def{Schema: "Tensor::double(Tensor(a) self, *, MemoryFormat? memory_format=None) -> Tensor(a)", Go: "-", Body: to(tensor.Float64)})
	tensor.Register(tensor.Def{Schema: "Tensor::half(Tensor(a) self, *, MemoryFormat? memory_format=None) -> Tensor(a)",
		Go: "-", Body: to(tensor.Float16)})
	tensor.Register(tensor.Def{Schema: "Tensor::bfloat16(Tensor(a) self, *, MemoryFormat? memory_format=None) -> Tensor(a)", Go: "-", Body: to(tensor.BFloat16)})
	tensor.Register(tensor.Def{Schema: "Tensor::int(Tensor(a) self, *, MemoryFormat? memory_format=None) -> Tensor(a)",
		Go: "-", Body: to(tensor.Int32)})
	tensor.Register(tensor.Def{Schema: "Tensor::long(Tensor(a) self, *, MemoryFormat? memory_format=None) -> Tensor(a)",
		Go: "-", Body: to(tensor.Int64)})
	tensor.Register(tensor.Def{Schema: "Tensor::short(Tensor(a) self, *, MemoryFormat? memory_format=None) -> Tensor(a)", Go: "-", Body: to(tensor.Int16)})
	tensor.Register(tensor.Def{Schema: "Tensor::char(Tensor(a) self, *, MemoryFormat? memory_format=None) -> Tensor(a)",
		Go: "-", Body: to(tensor.Int8)})
	tensor.Register(tensor.Def{Schema: "Tensor::byte(Tensor(a) self, *, MemoryFormat? memory_format=None) -> Tensor(a)",
		Go: "-", Body: to(tensor.Uint8)})
	tensor.Register(tensor.Def{Schema: "Tensor::bool(Tensor(a) self, *, MemoryFormat? memory_format=None) -> Tensor(a)",
		Go: "-", Body: to(tensor.Bool)})
	tensor.Register(tensor.Def{Schema: "Tensor::cfloat(Tensor(a) self, *, MemoryFormat? memory_format=None) -> Tensor(a)", Go: "-", Body: to(tensor.Complex64)})
	tensor.Register(tensor.Def{Schema: "chalf(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
		Go: "-", Body: to(tensor.Complex32)})
	tensor.Register(tensor.Def{Schema: "Tensor::cdouble(Tensor(a) self, *, MemoryFormat? memory_format=None) -> Tensor(a)", Go: "-", Body: to(tensor.Complex128)})

	for _, name := range []string{"item", "_local_scalar_dense"} {
		tensor.Register(tensor.Def{
			Schema: name + "(Tensor self) -> Scalar",
			Doc:    "is the only element as a number.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.item.html",
			Go:     "-", NoGrad: "a number", DataDependent: true,
			Body: func(c *Ctx) { c.ReturnValue(c.T(0).Num().Value()) },
		})
	}
	tensor.Register(tensor.Def{
		Schema: "dim(Tensor self) -> int", Go: "-", Aliases: []string{"Tensor::ndimension"},
		Body: func(c *Ctx) { c.ReturnValue(tensor.IntValue(c.T(0).Dim())) },
	})
	for _, f := range []struct {
		name, params, result string
		value                func(c *Ctx) tensor.Value
	}{
		{"numel", "(Tensor self)", "", func(c *Ctx) tensor.Value { return tensor.IntValue(c.T(0).Numel()) }},
		{"storage_offset", "(Tensor self)", "", func(c *Ctx) tensor.Value { return tensor.IntValue(c.T(0).StorageOffset()) }},
		{"size", "(Tensor self)", "[]", func(c *Ctx) tensor.Value {
			return tensor.IntsValue(append([]int{}, c.Shape(0)...))
		}},
		{"size.int", "(Tensor self, int dim)", "", func(c *Ctx) tensor.Value {
			return tensor.IntValue(c.T(0).Size(c.Int(1)))
		}},
		{"stride", "(Tensor self)", "[]", func(c *Ctx) tensor.Value {
			return tensor.IntsValue(append([]int{}, c.T(0).Strides()...))
		}},
		{"stride.int", "(Tensor self, int dim)", "", func(c *Ctx) tensor.Value {
			return tensor.IntValue(c.T(0).Stride(c.Int(1)))
		}},
	} {
		body := func(c *Ctx) { c.ReturnValue(f.value(c)) }
		tensor.Register(tensor.Def{Schema: f.name + f.params + " -> int" + f.result, Go: "-", Body: body})
		// as programs with sizes that are left open ask for it
		tensor.Register(tensor.Def{Schema: "sym_" + f.name + f.params + " -> SymInt" + f.result, Go: "-", Body: body})
	}
	// Python's function takes any number of shapes; so does BroadcastShapes of package torch.
	tensor.Register(tensor.Def{
		Schema: "torch::broadcast_shapes(int[1] a, int[1]? b=None, int[1]? c=None, int[1]? d=None) -> int[]", Go: "-",
		Doc: "is the shape that tensors of these shapes are broadcast to.",
		Body: func(c *Ctx) {
			var shape []int
			for i := range c.NumArgs() {
				if !c.Has(i) {
					continue
				}
				if slices.ContainsFunc(c.Ints(i), func(n int) bool { return n < 0 }) {
					c.Fail(tensor.ErrValue, "Attempting to broadcast a dimension with negative length!")
				}
				shape = tensor.BroadcastShapes(shape, c.Ints(i))
			}
			c.ReturnValue(tensor.IntsValue(slices.Clone(shape)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "is_contiguous(Tensor self) -> bool", Go: "-",
		Body: func(c *Ctx) { c.ReturnValue(tensor.BoolValue(c.T(0).IsContiguous())) },
	})
	tensor.Register(tensor.Def{
		Schema: "is_contiguous.memory_format(Tensor self, MemoryFormat memory_format) -> bool", Go: "-",
		Body: func(c *Ctx) { c.ReturnValue(tensor.BoolValue(c.T(0).IsContiguousFormat(c.Format(1)))) },
	})
	tensor.Register(tensor.Def{
		Schema: "is_floating_point(Tensor self) -> bool", Go: "-",
		Body: func(c *Ctx) { c.ReturnValue(tensor.BoolValue(c.T(0).IsFloatingPoint())) },
	})
	tensor.Register(tensor.Def{
		Schema: "is_complex(Tensor self) -> bool", Go: "-",
		Body: func(c *Ctx) { c.ReturnValue(tensor.BoolValue(c.T(0).IsComplex())) },
	})
	tensor.Register(tensor.Def{
		Schema: "is_inference(Tensor self) -> bool", Go: "-",
		Doc:  "reports a tensor that was made in InferenceMode.",
		Body: func(c *Ctx) { c.ReturnValue(tensor.BoolValue(c.T(0).IsInference())) },
	})
	tensor.Register(tensor.Def{
		Schema: "is_signed(Tensor self) -> bool",
		Doc:    "reports an element type that has negative values.",
		Body: func(c *Ctx) {
			dt := c.ArgDType(0)
			c.ReturnValue(tensor.BoolValue(dt != tensor.Bool && dt != tensor.Uint8 && !dt.IsWideUnsigned() &&
				dt != tensor.Float8E8M0FNU))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "is_same_size(Tensor self, Tensor other) -> bool",
		Doc:    "reports equal shapes.",
		Body:   func(c *Ctx) { c.ReturnValue(tensor.BoolValue(tensor.SameShape(c.Shape(0), c.Shape(1)))) },
	})
	tensor.Register(tensor.Def{
		Schema: "is_nonzero(Tensor self) -> bool",
		Doc: "reports that the only element is not " +
			"zero.\nhttps://pytorch.org/docs/stable/generated/torch.is_nonzero.html",
		DataDependent: true,
		Body: func(c *Ctx) {
			if n := c.T(0).Numel(); n != 1 {
				c.Fail(tensor.ErrShape, "Boolean value of Tensor with %s is ambiguous",
					map[bool]string{true: "no values", false: "more than one value"}[n == 0])
			}
			n := c.T(0).Num()
			c.ReturnValue(tensor.BoolValue(n.C != 0))
		},
	})
	refuse := func(c *Ctx, t *T) {
		if t.RequiresGrad() && tensor.IsGradEnabled() {
			c.Fail(tensor.ErrAutograd, "cannot resize variables that require grad")
		}
	}
	resize := func(c *Ctx, shape []int, f tensor.MemoryFormat) {
		t := c.T(0)
		refuse(c, t)
		if tensor.SameShape(t.Shape(), shape) && f == tensor.NoFormat {
			c.Return(t)
			return
		}
		tensor.ResizeRaw(t, shape)
		if f == tensor.ChannelsLast || f == tensor.ChannelsLast3d {
			st := tensor.FormatStrides(shape, f)
			if st == nil {
				c.Fail(tensor.ErrShape, "required rank %d tensor to use channels_last format",
					map[tensor.MemoryFormat]int{tensor.ChannelsLast: 4, tensor.ChannelsLast3d: 5}[f])
			}
			tensor.BecomeView(t, tensor.Alias(t, shape, st, t.StorageOffset()))
		}
		c.Return(t)
	}
	tensor.Register(tensor.Def{
		Schema: "resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!)",
		Doc: "gives the tensor another shape, growing its storage when needed; new elements are not " +
			"set.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.resize_.html",
		Body: func(c *Ctx) { resize(c, checkSize(c, c.Ints(1)), c.Format(2)) },
	})
	tensor.Register(tensor.Def{
		Schema: "resize_as_(Tensor(a!) self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor(a!)",
		Doc:    "is ResizeInPlace to the shape of another tensor.",
		Body:   func(c *Ctx) { resize(c, c.Shape(1), c.Format(2)) },
	})
	tensor.Register(tensor.Def{
		Schema: "set_.source_Tensor(Tensor(a!) self, Tensor source) -> Tensor(a!)",
		Doc:    "makes the tensor look at the memory of source.",
		Go:     "SetInPlace",
		Body: func(c *Ctx) {
			if c.ArgDType(0) != c.ArgDType(1) {
				c.Fail(tensor.ErrDType, "Could not set tensor of type %s to a tensor of type %s", c.ArgDType(1).Name(),
					c.ArgDType(0).Name())
			}
			sameDevice(c)
			tensor.SetRaw(c.T(0), c.T(1))
			c.Return(c.T(0))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "set_.source_Tensor_storage_offset(Tensor(a!) self, Tensor source, SymInt storage_offset, SymInt[] size, SymInt[] stride=[]) -> Tensor(a!)",
		Go:     "-",
		Body: func(c *Ctx) {
			st := c.Ints(4)
			if len(st) == 0 {
				st = tensor.FormatStrides(c.Ints(3), tensor.ContiguousFormat)
			}
			sameDevice(c)
			tensor.SetRaw(c.T(0), asStrided(c, c.T(1), c.Ints(3), st, c.Int(2)))
			c.Return(c.T(0))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "set_(Tensor(a!) self) -> Tensor(a!)", Go: "-",
		Body: func(c *Ctx) {
			tensor.SetRaw(c.T(0), tensor.NewOn(c.T(0).Device(), []int{0}, nil, c.ArgDType(0)))
			c.Return(c.T(0))
		},
	})
}

// sameDevice refuses to let a tensor look at the memory of another device.
func sameDevice(c *Ctx) {
	if a, b := c.T(0).Device(), c.T(1).Device(); a != b {
		c.Fail(tensor.ErrDevice, "Attempted to set the storage of a tensor on device \"%s\" to a storage on "+
			"different device \"%s\".  This is no longer allowed; the devices must match.", a, b)
	}
}
