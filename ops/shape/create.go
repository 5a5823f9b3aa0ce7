package shape

import (
	"math"
	"strconv"
	"strings"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/iter"
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// dtypeOr is the dtype of a new tensor: the argument, that of the out tensor, or def.
func dtypeOr(c *Ctx, arg int, def tensor.DType) tensor.DType {
	if c.Has(arg) {
		return c.DType(arg)
	}
	if o := c.GivenOut(0); o != nil {
		return o.DType()
	}
	return def
}

// checkSize refuses negative sizes in PyTorch's words.
func checkSize(c *Ctx, size []int) []int {
	for _, s := range size {
		if s < 0 {
			c.Fail(tensor.ErrShape, "Trying to create tensor with negative dimension %d: %s", s,
				tensor.ShapeString(size))
		}
	}
	return size
}

// fillNum sets every element of t. A number that the dtype cannot hold is converted as C does.
func fillNum(t *T, n tensor.Num) {
	if t.Numel() == 0 {
		return
	}
	if conj, neg := tensor.Bits(t); conj || neg {
		tensor.CopyRaw(t, n.Tensor())
		return
	}
	if n.C == 0 && !math.Signbit(n.F) && !math.Signbit(imag(n.C)) && t.IsDense() && !n.IsNaN() {
		tensor.ZeroRaw(t)
		return
	}
	if t.IsDense() {
		one := tensor.New(nil, t.DType())
		tensor.CopyRaw(one, n.Tensor())
		iter.Fill(tensor.Ptr(t), tensor.Ptr(one), t.Numel(), t.ElementSize())
		return
	}
	tensor.CopyRaw(t, n.Tensor())
}

// bytesFrom is the memory of n elements from the first one on. (Storage.Bytes would keep the memory from being reused
// at once.)
func bytesFrom(t *T, n int) []byte {
	return unsafe.Slice((*byte)(tensor.Ptr(t)), n*t.ElementSize())
}

var (
	zeroNum = tensor.IntValue(0).Num()
	oneNum  = tensor.IntValue(1).Num()
)

// likeStrides are the strides of a new tensor like t in a memory format (None counts as preserve).
func likeStrides(c *Ctx, t *T, f tensor.MemoryFormat) []int { return formatStrides(c, t, f) }

func factory(fill func(c *Ctx) tensor.Num) func(c *Ctx) {
	return func(c *Ctx) {
		n := fill(c)
		op.CheckFits(c, n, c.Out(0).DType())
		fillNum(c.Out(0), n)
	}
}

func init() {
	none := func(c *Ctx) {}
	noGrad := "makes a new tensor"
	tensor.Register(tensor.Def{
		Schema: "zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Doc:    "makes a tensor of zeros.\nhttps://pytorch.org/docs/stable/generated/torch.zeros.html",
		Out:    true, NoGrad: noGrad,
		Infer: func(c *Ctx) { c.Alloc(0, checkSize(c, c.Ints(0)), dtypeOr(c, 1, tensor.DefaultDType())) },
		CPU:   factory(func(c *Ctx) tensor.Num { return zeroNum }),
		Raw:   true,
	})
	tensor.Register(tensor.Def{
		Schema: "ones(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Doc:    "makes a tensor of ones.\nhttps://pytorch.org/docs/stable/generated/torch.ones.html",
		Out:    true, NoGrad: noGrad,
		Infer: func(c *Ctx) { c.Alloc(0, checkSize(c, c.Ints(0)), dtypeOr(c, 1, tensor.DefaultDType())) },
		CPU:   factory(func(c *Ctx) tensor.Num { return oneNum }),
		Raw:   true,
	})
	tensor.Register(tensor.Def{
		Schema: "full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Doc: "makes a tensor filled with one number, whose kind decides the dtype unless one is " +
			"given.\nhttps://pytorch.org/docs/stable/generated/torch.full.html",
		Out: true, NoGrad: noGrad,
		Infer: func(c *Ctx) { c.Alloc(0, checkSize(c, c.Ints(0)), dtypeOr(c, 2, c.Num(1).DType())) },
		CPU:   factory(func(c *Ctx) tensor.Num { return c.Num(1) }),
		Raw:   true,
	})
	tensor.Register(tensor.Def{
		FormNames: ".memory_format_out=.out",
		Schema:    "empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
		Doc: "makes a tensor whose elements are not " +
			"set.\nhttps://pytorch.org/docs/stable/generated/torch.empty.html",
		Go: "Empty", Out: true, NoGrad: noGrad,
		Infer: func(c *Ctx) {
			size := checkSize(c, c.Ints(0))
			var st []int
			switch f := c.Format(5); f {
			case tensor.ChannelsLast, tensor.ChannelsLast3d:
				if st = tensor.FormatStrides(size, f); st == nil {
					c.Fail(tensor.ErrShape, "required rank %d tensor to use channels_last format",
						map[tensor.MemoryFormat]int{tensor.ChannelsLast: 4, tensor.ChannelsLast3d: 5}[f])
				}
			case tensor.PreserveFormat:
				c.Fail(tensor.ErrValue, "unsupported memory format option preserve_format")
			}
			c.AllocStrided(0, size, st, dtypeOr(c, 1, tensor.DefaultDType()))
		},
		CPU: none,
		Raw: true,
	})
	tensor.Register(tensor.Def{
		Schema: "empty_strided(SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Doc: "makes a tensor with the given strides whose elements are not " +
			"set.\nhttps://pytorch.org/docs/stable/generated/torch.empty_strided.html",
		NoGrad: noGrad,
		Infer: func(c *Ctx) {
			c.AllocStrided(0, checkSize(c, c.Ints(0)), checkStrides(c, c.Ints(0), c.Ints(1)),
				dtypeOr(c, 2, tensor.DefaultDType()))
		},
		CPU: none,
		Raw: true,
	})
	tensor.Register(tensor.Def{
		Schema: "empty_permuted(SymInt[] size, int[] physical_layout, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Doc: "makes a dense tensor, its elements not set, whose dimensions lie in memory in the given order, " +
			"outermost first.\nhttps://pytorch.org/docs/stable/generated/torch.empty_permuted.html",
		NoGrad: noGrad,
		Infer: func(c *Ctx) {
			size, perm := checkSize(c, c.Ints(0)), c.Ints(1)
			n := len(size)
			if len(perm) != n {
				c.Fail(tensor.ErrShape, "Number of dimensions in size does not match the length of the "+
					"physical_layout; i.e. len(size) = %d is not equal to len(physical_layout) = %d", n, len(perm))
			}
			st, seen, s := make([]int, n), make([]bool, n), 1
			for i := n - 1; i >= 0; i-- {
				d := perm[i]
				if d < 0 || d >= n {
					c.Fail(tensor.ErrIndex,
						"Dimension out of range (expected to be between 0 and %d, but got %d at index %d).  NB: "+
							"negative dims not currently supported; file an issue if you want it.", n-1, d, i)
				}
				if seen[d] {
					c.Fail(tensor.ErrShape, "Duplicate dim not allowed")
				}
				seen[d], st[d] = true, s
				s *= max(1, size[d])
			}
			c.AllocStrided(0, size, st, dtypeOr(c, 2, tensor.DefaultDType()))
		},
		CPU: none,
		Raw: true,
	})

	like := func(dtArg, fmtArg int) func(c *Ctx) {
		return func(c *Ctx) {
			t := c.T(0)
			c.AllocStrided(0, t.Shape(), likeStrides(c, t, c.Format(fmtArg)), dtypeOr(c, dtArg, t.DType()))
		}
	}
	tensor.Register(tensor.Def{
		Schema: "empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
		Doc: "makes a tensor of self's shape, dtype and layout whose elements are not " +
			"set.\nhttps://pytorch.org/docs/stable/generated/torch.empty_like.html",
		NoGrad: noGrad, Infer: like(1, 5), CPU: none,
		Raw: true,
	})
	tensor.Register(tensor.Def{
		Schema: "zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
		Doc: "makes a tensor of zeros of self's shape, dtype and " +
			"layout.\nhttps://pytorch.org/docs/stable/generated/torch.zeros_like.html",
		NoGrad: noGrad, Infer: like(1, 5), CPU: factory(func(c *Ctx) tensor.Num { return zeroNum }),
		Raw: true,
	})
	tensor.Register(tensor.Def{
		Schema: "ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
		Doc: "makes a tensor of ones of self's shape, dtype and " +
			"layout.\nhttps://pytorch.org/docs/stable/generated/torch.ones_like.html",
		NoGrad: noGrad, Infer: like(1, 5), CPU: factory(func(c *Ctx) tensor.Num { return oneNum }),
		Raw: true,
	})
	tensor.Register(tensor.Def{
		Schema: "full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
		Doc: "makes a tensor of self's shape, dtype and layout filled with one " +
			"number.\nhttps://pytorch.org/docs/stable/generated/torch.full_like.html",
		NoGrad: noGrad, Infer: like(2, 6), CPU: factory(func(c *Ctx) tensor.Num { return c.Num(1) }),
		Raw: true,
	})

	tensor.Register(tensor.Def{
		Schema: "new_empty(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Doc:    "makes a tensor of self's dtype whose elements are not set.",
		NoGrad: noGrad,
		Infer:  func(c *Ctx) { c.Alloc(0, checkSize(c, c.Ints(1)), dtypeOr(c, 2, c.ArgDType(0))) },
		CPU:    none,
		Raw:    true,
	})
	tensor.Register(tensor.Def{
		Schema: "new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Doc:    "makes a tensor of self's dtype with the given strides whose elements are not set.",
		NoGrad: noGrad,
		Infer: func(c *Ctx) {
			c.AllocStrided(0, checkSize(c, c.Ints(1)), checkStrides(c, c.Ints(1), c.Ints(2)),
				dtypeOr(c, 3, c.ArgDType(0)))
		},
		CPU: none,
		Raw: true,
	})
	tensor.Register(tensor.Def{
		Schema: "new_zeros(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Doc:    "makes a tensor of zeros of self's dtype.",
		NoGrad: noGrad,
		Infer:  func(c *Ctx) { c.Alloc(0, checkSize(c, c.Ints(1)), dtypeOr(c, 2, c.ArgDType(0))) },
		CPU:    factory(func(c *Ctx) tensor.Num { return zeroNum }),
		Raw:    true,
	})
	tensor.Register(tensor.Def{
		Schema: "new_ones(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Doc:    "makes a tensor of ones of self's dtype.",
		NoGrad: noGrad,
		Infer:  func(c *Ctx) { c.Alloc(0, checkSize(c, c.Ints(1)), dtypeOr(c, 2, c.ArgDType(0))) },
		CPU:    factory(func(c *Ctx) tensor.Num { return oneNum }),
		Raw:    true,
	})
	tensor.Register(tensor.Def{
		Schema: "new_full(Tensor self, SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Doc:    "makes a tensor of self's dtype filled with one number.",
		NoGrad: noGrad,
		Infer:  func(c *Ctx) { c.Alloc(0, checkSize(c, c.Ints(1)), dtypeOr(c, 3, c.ArgDType(0))) },
		CPU:    factory(func(c *Ctx) tensor.Num { return c.Num(2) }),
		Raw:    true,
	})
	tensor.Register(tensor.Def{
		Schema: "scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Doc:    "makes a 0-d tensor of the default dtype from a number.",
		NoGrad: noGrad,
		Infer:  func(c *Ctx) { c.Alloc(0, nil, dtypeOr(c, 1, tensor.DefaultDType())) },
		CPU:    factory(func(c *Ctx) tensor.Num { return c.Num(0) }),
		Raw:    true,
	})

	eye := func(c *Ctx, n, m, dt int) {
		if n < 0 {
			c.Fail(tensor.ErrShape, "n must be greater or equal to 0, got %d", n)
		}
		if m < 0 {
			c.Fail(tensor.ErrShape, "m must be greater or equal to 0, got %d", m)
		}
		c.Alloc(0, []int{n, m}, dtypeOr(c, dt, tensor.DefaultDType()))
	}
	eyeCPU := func(c *Ctx) {
		o := c.Out(0)
		fillNum(o, zeroNum)
		n, m := o.Shape()[0], o.Shape()[1]
		if k := min(n, m); k > 0 {
			fillNum(tensor.Alias(o, []int{k}, []int{o.Strides()[0] + o.Strides()[1]}, o.StorageOffset()), oneNum)
		}
	}
	tensor.Register(tensor.Def{
		Schema: "eye(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Doc:    "makes the identity matrix of n rows.\nhttps://pytorch.org/docs/stable/generated/torch.eye.html",
		Out:    true, NoGrad: noGrad,
		Infer: func(c *Ctx) { eye(c, c.Int(0), c.Int(0), 1) }, CPU: eyeCPU,
	})
	tensor.Register(tensor.Def{
		Schema: "eye.m(SymInt n, SymInt m, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Doc: "makes an n x m matrix with ones on the " +
			"diagonal.\nhttps://pytorch.org/docs/stable/generated/torch.eye.html",
		Out: true, NoGrad: noGrad,
		Infer: func(c *Ctx) { eye(c, c.Int(0), c.Int(1), 2) }, CPU: eyeCPU,
	})

	arange := func(start, end, step, dt int) (infer, cpu func(c *Ctx)) {
		get := func(c *Ctx) (a, b, s tensor.Num) {
			a, s = zeroNum, oneNum
			if start >= 0 {
				a = c.Num(start)
			}
			if step >= 0 {
				s = c.Num(step)
			}
			return a, c.Num(end), s
		}
		infer = func(c *Ctx) {
			a, b, s := get(c)
			d := tensor.DefaultDType()
			if a.IsInt() && b.IsInt() && s.IsInt() {
				d = tensor.Int64
			}
			d = dtypeOr(c, dt, d)
			if d == tensor.Bool || d.IsComplex() {
				c.FailDType(tensor.ErrNotImpl, "arange_cpu", d)
			}
			switch {
			case math.IsNaN(s.F) || math.IsInf(s.F, 0):
				c.Fail(tensor.ErrValue, "step must be finite but got %s", strings.ToLower(strings.TrimPrefix(
					strconv.FormatFloat(s.F, 'g', -1, 64), "+")))
			case s.F == 0:
				c.Fail(tensor.ErrValue, "step must be nonzero")
			case math.IsNaN(a.F) || math.IsInf(a.F, 0) || math.IsNaN(b.F) || math.IsInf(b.F, 0):
				c.Fail(tensor.ErrValue, "unsupported range: %v -> %v", a.F, b.F)
			case s.F > 0 && b.F < a.F || s.F < 0 && b.F > a.F:
				c.Fail(tensor.ErrValue, "upper bound and lower bound inconsistent with step sign")
			}
			var n int
			if d.IsIntOrBool() && a.IsInt() && b.IsInt() && s.IsInt() {
				q := b.I - a.I
				n = int((q + s.I - sign64(s.I)) / s.I)
			} else {
				n = int(math.Ceil((b.F - a.F) / s.F))
			}
			if n < 0 || n > 1<<46 {
				c.Fail(tensor.ErrValue, "invalid size, possible overflow?")
			}
			c.Alloc(0, []int{n}, d)
		}
		cpu = func(c *Ctx) {
			a, _, s := get(c)
			count(c.Out(0), a, s)
		}
		return
	}
	i1, k1 := arange(-1, 0, -1, 1)
	tensor.Register(tensor.Def{
		Schema: "arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Doc: "counts from 0 to end, which is left out. Ints give int64, floats the default " +
			"dtype.\nhttps://pytorch.org/docs/stable/generated/torch.arange.html",
		Out: true, NoGrad: noGrad, Infer: i1, CPU: k1,
	})
	i2, k2 := arange(0, 1, -1, 2)
	tensor.Register(tensor.Def{
		Schema: "arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Doc: "counts from start to end, which is left " +
			"out.\nhttps://pytorch.org/docs/stable/generated/torch.arange.html",
		NoGrad: noGrad, Infer: i2, CPU: k2,
	})
	i3, k3 := arange(0, 1, 2, 3)
	tensor.Register(tensor.Def{
		FormNames: ".start_step_out=.start_out",
		Schema:    "arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Doc: "counts from start to end, which is left out, in steps of " +
			"Step.\nhttps://pytorch.org/docs/stable/generated/torch.arange.html",
		Go: "ArangeStep", Out: true, NoGrad: noGrad, Infer: i3, CPU: k3,
	})

	space := func(dt int, log bool) (infer, cpu func(c *Ctx)) {
		infer = func(c *Ctx) {
			for i := 0; i < 2; i++ {
				if c.Value(i).K == tensor.KTensor && c.T(i).Dim() != 0 {
					c.Fail(tensor.ErrShape,
						"%s only supports 0-dimensional start and end tensors, but got start with %d dimension(s) "+
							"and end with %d dimension(s).", c.Op().Sch.Name, len(c.Shape(0)), len(c.Shape(1)))
				}
			}
			n := c.Int(2)
			if n < 0 {
				c.Fail(tensor.ErrValue, "number of steps must be non-negative")
			}
			d := tensor.DefaultDType()
			for i := range 2 { // the type alone: a shape rule reads no elements
				if c.Value(i).K == tensor.KTensor && c.ArgDType(i).IsComplex() || c.Value(i).K == tensor.KComplex {
					d = tensor.DefaultComplexDType()
					break
				}
			}
			inferred := d
			switch d = dtypeOr(c, dt, d); {
			case inferred.IsComplex() && !d.IsComplex():
				c.Fail(tensor.ErrDType, "torch.%s(): inferred dtype %s can't be safely cast to passed dtype %s",
					c.Op().Sch.Name, inferred.CName(), d.ClassName())
			case d == tensor.Bool && n > 1:
				c.FailDType(tensor.ErrNotImpl, c.Op().Sch.Name+"_cpu", d)
			}
			c.Alloc(0, []int{n}, d)
		}
		cpu = func(c *Ctx) {
			a, b, n, o := c.Num(0), c.Num(1), c.Int(2), c.Out(0)
			base := 0.0
			if log {
				base = c.Float(3)
			}
			spaceFill(o, a, b, n, log, base)
		}
		return
	}
	li, lk := space(3, false)
	tensor.Register(tensor.Def{
		Schema: "linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Doc: "makes steps numbers evenly spaced from start to end, both " +
			"included.\nhttps://pytorch.org/docs/stable/generated/torch.linspace.html",
		Out: true, NoGrad: noGrad, Infer: li, CPU: lk,
	})
	tensor.Register(tensor.Def{
		Schema: "linspace.Tensor_Tensor(Tensor start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Go:     "-", Out: true, NoGrad: noGrad, Infer: li, CPU: lk,
	})
	tensor.Register(tensor.Def{
		Schema: "linspace.Tensor_Scalar(Tensor start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Go:     "-", Out: true, NoGrad: noGrad, Infer: li, CPU: lk,
	})
	tensor.Register(tensor.Def{
		Schema: "linspace.Scalar_Tensor(Scalar start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Go:     "-", Out: true, NoGrad: noGrad, Infer: li, CPU: lk,
	})
	gi, gk := space(4, true)
	tensor.Register(tensor.Def{
		Schema: "logspace(Scalar start, Scalar end, int steps, float base=10.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Doc:    "raises Base to the powers of Linspace.\nhttps://pytorch.org/docs/stable/generated/torch.logspace.html",
		Out:    true, NoGrad: noGrad, Infer: gi, CPU: gk,
	})
	tensor.Register(tensor.Def{
		Schema: "logspace.Tensor_Tensor(Tensor start, Tensor end, int steps, float base=10.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Go:     "-", Out: true, NoGrad: noGrad, Infer: gi, CPU: gk,
	})
	tensor.Register(tensor.Def{
		Schema: "logspace.Tensor_Scalar(Tensor start, Scalar end, int steps, float base=10.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Go:     "-", Out: true, NoGrad: noGrad, Infer: gi, CPU: gk,
	})
	tensor.Register(tensor.Def{
		Schema: "logspace.Scalar_Tensor(Scalar start, Tensor end, int steps, float base=10.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Go:     "-", Out: true, NoGrad: noGrad, Infer: gi, CPU: gk,
	})

	tri := func(upper bool) (infer, cpu func(c *Ctx)) {
		each := func(c *Ctx, f func(row, lo, hi int)) { // the columns [lo, hi) of every row that has any
			first, end := triangleRows(c.Int(0), c.Int(1), c.Int(2), upper)
			for i := first; i < end; i++ {
				lo, hi := triangleColumns(i, c.Int(1), c.Int(2), upper)
				f(i, lo, hi)
			}
		}
		infer = func(c *Ctx) {
			if c.Int(0) < 0 || c.Int(1) < 0 {
				c.Fail(tensor.ErrShape, "row and col must be non-negative, got row=%d col=%d", c.Int(0), c.Int(1))
			}
			dt := dtypeOr(c, 3, tensor.Int64)
			if !dt.IsInt() && dt != tensor.Float32 && dt != tensor.Float64 {
				c.FailDType(tensor.ErrNotImpl, c.Op().Sch.Name, dt)
			}
			c.Alloc(0, []int{2, triangleSize(c.Int(0), c.Int(1), c.Int(2), upper)}, dt)
		}
		cpu = func(c *Ctx) {
			o := c.Out(0)
			t := o
			if o.DType() != tensor.Int64 || !o.IsContiguous() {
				t = tensor.New(o.Shape(), tensor.Int64)
			}
			d := tensor.Data[int64](t)
			rows, cols := d[:len(d)/2], d[len(d)/2:]
			at := 0
			each(c, func(row, lo, hi int) {
				rs, cs := rows[at:][:hi-lo], cols[at:][:hi-lo]
				at += hi - lo
				for j := range cs {
					rs[j], cs[j] = int64(row), int64(lo+j)
				}
			})
			if t != o {
				tensor.CopyRaw(o, t)
			}
		}
		return
	}
	ti, tk := tri(false)
	tensor.Register(tensor.Def{
		Schema: "tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Doc: "lists the row and column numbers of the lower triangle of a row x col " +
			"matrix.\nhttps://pytorch.org/docs/stable/generated/torch.tril_indices.html",
		NoGrad: noGrad, Infer: ti, CPU: tk,
	})
	ui, uk := tri(true)
	tensor.Register(tensor.Def{
		Schema: "triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Doc: "lists the row and column numbers of the upper triangle of a row x col " +
			"matrix.\nhttps://pytorch.org/docs/stable/generated/torch.triu_indices.html",
		NoGrad: noGrad, Infer: ui, CPU: uk,
	})

	tensor.Register(tensor.Def{
		Overlap: tensor.OverlapTaken,
		Schema:  "zero(Tensor self) -> Tensor",
		Doc:     "is self with every element 0.",
		InPlace: true, Elementwise: true,
		Infer: func(c *Ctx) { c.AllocStrided(0, c.Shape(0), likeStrides(c, c.T(0), tensor.NoFormat), c.ArgDType(0)) },
		CPU:   factory(func(c *Ctx) tensor.Num { return zeroNum }),
		Raw:   true,
		VJP:   func(c *Ctx, g *T) []*T { return []*T{op.Zeros(g, c.Shape(0), c.ArgDType(0))} },
	})
	tensor.Register(tensor.Def{
		Overlap: tensor.OverlapTaken,
		Schema:  "fill.Tensor(Tensor self, Tensor value) -> Tensor",
		Doc: "is self with every element replaced by a 0-d " +
			"value.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.fill_.html",
		InPlace: true, Elementwise: true, Scalar: "value",
		Infer: func(c *Ctx) {
			if n := len(c.Shape(1)); n != 0 {
				c.Fail(tensor.ErrShape, "fill only supports 0-dimension value tensor but got tensor with %d dimensions.", n)
			}
			c.AllocStrided(0, c.Shape(0), likeStrides(c, c.T(0), tensor.NoFormat), c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			n := c.T(1).Num()
			if c.T(1).IsWrappedNumber() {
				op.CheckFits(c, n, c.Out(0).DType())
			}
			fillNum(c.Out(0), n)
		},
		Raw: true,
		VJP: func(c *Ctx, g *T) []*T {
			r := []*T{op.Zeros(g, c.Shape(0), c.ArgDType(0)), nil}
			if c.Needs(1) {
				r[1] = op.Call1("aten::sum", g)
			}
			return r
		},
	})
}

func sign64(x int64) int64 {
	if x < 0 {
		return -1
	}
	return 1
}

// ramp counts in the integers of its type, which wrap around.
// count writes a, a+s, a+2s and so on to o.
func count(o *T, a, s tensor.Num) {
	switch o.DType() {
	case tensor.Int64:
		ramp(tensor.Data[int64](o), a.I, s.I)
	case tensor.Int32:
		ramp(tensor.Data[int32](o), int32(a.I), int32(s.I))
	case tensor.Int16:
		ramp(tensor.Data[int16](o), int16(a.I), int16(s.I))
	case tensor.Int8:
		ramp(tensor.Data[int8](o), int8(a.I), int8(s.I))
	case tensor.Uint8:
		ramp(tensor.Data[uint8](o), uint8(a.I), uint8(s.I))
	case tensor.Float64:
		rampF(tensor.Data[float64](o), a.F, s.F)
	case tensor.Float32:
		rampF(tensor.Data[float32](o), a.F, s.F)
	default:
		w := tensor.New(o.Shape(), tensor.Float64)
		if o.DType().IsIntOrBool() {
			a.F, s.F = float64(a.I), float64(s.I)
		}
		rampF(tensor.Data[float64](w), a.F, s.F)
		tensor.CopyRaw(o, w)
	}
}

func ramp[E uint8 | int8 | int16 | int32 | int64](d []E, a, s E) {
	for i := range d {
		d[i] = a
		a += s
	}
}

// rampF computes in float64, as PyTorch does for float32 too.
func rampF[E float32 | float64](d []E, a, s float64) {
	for i := range d {
		d[i] = E(a + float64(i)*s)
	}
}

// spaceFill counts from both ends towards the middle, so that both ends are exact.
func spaceFill(o *T, a, b tensor.Num, n int, log bool, base float64) {
	if n == 0 {
		return
	}
	dt := o.DType()
	if dt.IsComplex() {
		w := make([]complex128, n)
		step := complex(0, 0)
		if n > 1 {
			step = (b.C - a.C) / complex(float64(n-1), 0)
		}
		for i := range w {
			if n == 1 || i < n/2 {
				w[i] = a.C + step*complex(float64(i), 0)
			} else {
				w[i] = b.C - step*complex(float64(n-1-i), 0)
			}
			if log {
				l := math.Log(base)
				m, ph := math.Exp(real(w[i])*l), imag(w[i])*l
				w[i] = complex(m*math.Cos(ph), m*math.Sin(ph))
			}
		}
		tensor.CopyRaw(o, tensor.FromSlice(w))
		return
	}
	x, y := a.F, b.F
	if dt.IsIntOrBool() { // the ends are converted first
		x, y = float64(a.I), float64(b.I)
	}
	if dt.IsReduced() { // and rounded
		ends := tensor.DenseAs(tensor.DenseAs(tensor.FromSlice([]float64{x, y}), dt), tensor.Float64)
		x, y = tensor.Data[float64](ends)[0], tensor.Data[float64](ends)[1]
	}
	if dt == tensor.Float32 && !log {
		lin(tensor.Data[float32](o), float32(x), float32(y))
		return
	}
	if dt == tensor.Float64 && !log {
		lin(tensor.Data[float64](o), x, y)
		return
	}
	w := mem.Make[float64](n)
	if log && dt.IsIntOrBool() { // PyTorch's step is a float32 there
		step := float32(0)
		if n > 1 {
			step = float32((y - x) / float64(n-1))
		}
		for i := range w {
			if n == 1 || i < n/2 {
				w[i] = x + float64(step*float32(i))
			} else {
				w[i] = y - float64(step*float32(n-1-i))
			}
		}
	} else {
		lin(w, x, y)
	}
	if log {
		par.For(n, 1<<12, func(lo, hi int) {
			for i, x := range w[lo:hi] {
				w[lo+i] = math.Pow(base, x)
			}
		})
	}
	tensor.CopyRaw(o, tensor.FromSlice(w))
}

func lin[E float32 | float64](d []E, a, b E) {
	n := len(d)
	if n == 1 {
		d[0] = a
		return
	}
	step := (b - a) / E(n-1)
	par.For(n, 1<<15, func(lo, hi int) {
		for i := lo; i < min(hi, n/2); i++ {
			d[i] = E(math.FMA(float64(step), float64(i), float64(a))) // rounded once, as PyTorch's compiler has it
		}
		for i := max(lo, n/2); i < hi; i++ {
			d[i] = E(math.FMA(-float64(step), float64(n-1-i), float64(b)))
		}
	})
}

// checkStrides refuses strides that do not fit the shape.
func checkStrides(c *Ctx, size, stride []int) []int {
	if len(size) != len(stride) {
		c.Fail(tensor.ErrShape, "mismatch in length of strides and shape")
	}
	for _, s := range stride {
		if s < 0 {
			c.Fail(tensor.ErrShape, "empty_strided: Negative strides are not supported at the moment, got strides: %s",
				tensor.ShapeString(stride))
		}
	}
	if stride == nil {
		return []int{}
	}
	return stride
}
