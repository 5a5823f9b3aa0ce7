package sort

import (
	"math"
	"slices"
	"sync"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	const base = "https://pytorch.org/docs/stable/generated/torch."
	tensor.Register(tensor.Def{
		Schema: "bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor",
		Doc: "counts how often each number from 0 occurs, or adds up the weights of its occurrences.\n" + base +
			"bincount.html",
		NoGrad: "counts", DataDependent: true, Infer: bincountCheck, CPU: bincount,
	})
	tensor.Register(tensor.Def{
		Schema: "histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor", Out: true,
		Doc: "counts the elements in bins of equal width between Min and Max, or between the smallest and the " +
			"largest element when both are 0.\n" + base + "histc.html",
		NoGrad: "counts", Infer: histcInfer, CPU: histc,
	})
	const isinDoc = "reports for each element whether it is among the test elements.\n" + base + "isin.html"
	membership("isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor", isinDoc,
		tensor.Def{Go: "IsIn"})
	membership("isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False) -> Tensor", isinDoc,
		tensor.Def{Go: "IsInScalar"})
	tensor.Register(tensor.Def{
		Schema: "isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor", Doc: isinDoc, Go: "-",
		Out: true, NoGrad: "a question", Infer: isInInfer, CPU: isIn,
	})
}

//gen:membership Out
func membership(schema, doc string, d tensor.Def) {
	d.Schema, d.Doc, d.Out, d.NoGrad, d.Infer, d.CPU = schema, doc, true, "a question", isInInfer, isIn
	tensor.Register(d)
}

func isInInfer(c *Ctx) {
	for i := range 2 {
		if dt := c.T(i).DType(); dt == tensor.Bool || dt.IsComplex() {
			c.Fail(tensor.ErrNotImpl, "Unsupported input type encountered for isin(): %s", dt.ClassName())
		}
	}
	c.Alloc(0, c.T(0).Shape(), tensor.Bool)
}

// bincountCheck refuses arguments; the kernel allocates the result, whose size is the largest element and one.
func bincountCheck(c *Ctx) {
	x, w, least := c.T(0), c.T(1), c.Int(2)
	if x.Dim() != 1 || !x.DType().IsIntOrBool() {
		c.Fail(tensor.ErrShape, "bincount only supports 1-d non-negative integral inputs.")
	}
	if x.DType() == tensor.Bool {
		c.FailDType(tensor.ErrNotImpl, "bincount_cpu", tensor.Bool)
	}
	if least < 0 {
		c.Fail(tensor.ErrValue, "minlength should be >= 0")
	}
	if w != nil && x.Numel() > 0 && (w.Dim() != 1 || w.Numel() != x.Numel()) {
		c.Fail(tensor.ErrShape, "weights should be 1-d and have the same length as input")
	}
}

// countBytes counts each byte, in four tables: equal bytes one after the other would wait for each other's counts.
func countBytes(x []uint8) (n [256]int64) {
	var t [3][256]int64
	for ; len(x) >= 4; x = x[4:] {
		n[x[0]]++
		t[0][x[1]]++
		t[1][x[2]]++
		t[2][x[3]]++
	}
	for _, v := range x {
		n[v]++
	}
	for i := range n {
		n[i] += t[0][i] + t[1][i] + t[2][i]
	}
	return n
}

func bincount(c *Ctx) {
	size, w := c.Int(2), c.T(1)
	if dt := c.ArgDType(0); w == nil && (dt == tensor.Uint8 || dt == tensor.Bool) {
		counts := countBytes(op.Raw[uint8](tensor.Dense(c.T(0))))
		for v, n := range counts {
			if n > 0 {
				size = max(size, v+1)
			}
		}
		o := c.Alloc(0, []int{size}, tensor.Int64)
		tensor.ZeroRaw(o)
		copy(op.Raw[int64](o), counts[:])
		return
	}
	x := op.Raw[int64](tensor.DenseAs(c.T(0), tensor.Int64))
	if len(x) > 0 {
		var lo, hi [1]int64
		vec.MinRowsInt(lo[:], x, 1, len(x), 0)
		vec.MaxRowsInt(hi[:], x, 1, len(x), 0)
		if lo[0] < 0 {
			c.Fail(tensor.ErrValue, "bincount only supports 1-d non-negative integral inputs.")
		}
		if hi[0] == math.MaxInt64 {
			c.Fail(tensor.ErrMemory, "bincount: the largest element is %d: so many counts have no room", hi[0])
		}
		size = max(size, int(hi[0])+1)
	}
	dt := tensor.Int64
	switch {
	case w == nil || len(x) == 0:
	case w.DType() == tensor.Float32:
		dt = tensor.Float32
	default:
		dt = tensor.Float64
	}
	o := c.Alloc(0, []int{size}, dt)
	tensor.ZeroRaw(o)
	switch o.DType() {
	case tensor.Int64:
		d, even := op.Raw[int64](o), []int64(nil)
		// two tables: equal numbers one after the other would wait for each other's counts
		if len(d) <= 4096 && len(x) >= 4*len(d) {
			even = make([]int64, len(d))
			for ; len(x) >= 2; x = x[2:] {
				even[x[0]]++
				d[x[1]]++
			}
		}
		for _, v := range x {
			d[v]++
		}
		for i, n := range even {
			d[i] += n
		}
	case tensor.Float32:
		d, w := op.Raw[float32](o), op.Raw[float32](tensor.Dense(c.T(1)))
		for i, v := range x {
			d[v] += w[i]
		}
	default:
		d, w := op.Raw[float64](o), op.Raw[float64](tensor.DenseAs(c.T(1), tensor.Float64))
		for i, v := range x {
			d[v] += w[i]
		}
	}
}

func histcInfer(c *Ctx) {
	if dt := c.ArgDType(0); dt != tensor.Float32 && dt != tensor.Float64 && dt != tensor.Float16 &&
		dt != tensor.BFloat16 {
		c.FailDType(tensor.ErrNotImpl, "histogram_cpu", dt)
	}
	if c.Int(1) <= 0 {
		c.Fail(tensor.ErrValue, "torch.histc(): bins must be > 0")
	}
	c.Alloc(0, []int{c.Int(1)}, c.ArgDType(0))
}

func histc(c *Ctx) {
	x, bins := tensor.Dense(c.T(0)), c.Int(1)
	lo, hi := c.Num(2).F, c.Num(3).F
	if lo == hi && x.Numel() > 0 {
		if x.DType() == tensor.Float64 {
			lo, hi = vec.MinF64(op.Raw[float64](x)), vec.MaxF64(op.Raw[float64](x))
		} else {
			wide := op.Raw[float32](tensor.DenseAs(x, tensor.Float32))
			lo, hi = float64(vec.MinF32(wide)), float64(vec.MaxF32(wide))
		}
	}
	if lo == hi {
		lo, hi = lo-1, hi+1
	}
	if math.IsInf(lo, 0) || math.IsInf(hi, 0) || math.IsNaN(lo) || math.IsNaN(hi) {
		c.Fail(tensor.ErrValue, "torch.histc: range of [%v, %v] is not finite", lo, hi)
	}
	if lo > hi {
		c.Fail(tensor.ErrValue, "torch.histc: max must be larger than min")
	}
	n := mem.Make[float64](bins)
	switch x.DType() { // the bin that the element's type computes
	case tensor.Float64:
		countBins(n, op.Raw[float64](x), lo, hi, vec.SubScalarF64, vec.MulScalarF64, vec.DivScalarF64)
	case tensor.Float32:
		countBins(n, op.Raw[float32](x), float32(lo), float32(hi), vec.SubScalarF32, vec.MulScalarF32, vec.DivScalarF32)
	default:
		countBins16(n, x, lo, hi)
	}
	tensor.CopyRaw(c.Out(0), tensor.FromSlice(n))
}

// countBins counts elements in bins of equal width; those outside the range and NaN do not count. Neighbouring elements
// count apart, up to some number of bins: each increment of a bin waits for the one before it.
func countBins[E float32 | float64](n []float64, x []E, lo, hi E, sub, mul, div func(dst, a []E, s E)) {
	const most = 4096
	apart := 4
	if len(n) > most {
		apart = 1
	}
	var lock sync.Mutex
	par.For(len(x), max(64*1024, 4*len(n)), func(from, to int) {
		counts := mem.Make[int64](apart * len(n))
		var at [1024]E
		for from < to {
			part := x[from:min(to, from+len(at))]
			from += len(part)
			b := at[:len(part)]
			sub(b, part, lo)
			mul(b, b, E(len(n)))
			div(b, b, hi-lo)
			for i, v := range part {
				if v >= lo && v <= hi {
					k := max(0, min(int(b[i]), len(n)-1)) // a range too narrow for the type gives NaN
					counts[i&(apart-1)*len(n)+k]++
				}
			}
		}
		lock.Lock()
		defer lock.Unlock()
		for i, k := range counts {
			n[i%len(n)] += float64(k) // whole numbers, whose sums have no order
		}
	})
}

// countBins16 is countBins for 16-bit floats, to which each step is rounded.
func countBins16(n []float64, t *T, lo, hi float64) {
	dt, k := t.DType(), half.Index(t.DType())
	lo, hi = half.Round(lo, dt), half.Round(hi, dt)
	var buf [1024]uint16
	var wide, at [1024]float32
	widen := [...]func(d []float32, a []uint16){vec.F16ToF32s, vec.BF16ToF32s}[k]
	x := op.Raw[uint16](t)
	for i := 0; i < len(x); i += len(buf) {
		m := min(len(buf), len(x)-i)
		b := buf[:m]
		vec.SubScalar16[k](b, x[i:i+m], float32(lo))
		vec.MulScalar16[k](b, b, float32(half.Round(float64(len(n)), dt)))
		vec.DivScalar16[k](b, b, float32(half.Round(hi-lo, dt)))
		widen(at[:m], b)
		widen(wide[:m], x[i:i+m])
		for j, v := range wide[:m] {
			if float64(v) >= lo && float64(v) <= hi {
				n[max(0, min(int(at[j]), len(n)-1))]++
			}
		}
	}
}

func isIn(c *Ctx) {
	a, b, invert := c.T(0), c.T(1), c.Bool(3)
	d := op.Raw[uint8](c.Out(0))
	if a.DType().IsInt() && b.DType().IsInt() {
		among(d, op.Raw[int64](tensor.DenseAs(a, tensor.Int64)), op.Raw[int64](tensor.DenseAs(b, tensor.Int64)), invert,
			equalInts)
		return
	}
	if a.DType() == tensor.Float32 || b.DType() == tensor.Float32 { // a number counts in the tensor's type
		among(d, op.Raw[float32](tensor.DenseAs(a, tensor.Float32)), op.Raw[float32](tensor.DenseAs(b, tensor.Float32)),
			invert, vec.EqScalarF32)
		return
	}
	among(d, op.Raw[float64](tensor.DenseAs(a, tensor.Float64)), op.Raw[float64](tensor.DenseAs(b, tensor.Float64)),
		invert, vec.EqScalarF64)
}

// equalInts sets d[i] = 1 where a[i] == v, else 0.
func equalInts(d []uint8, a []int64, v int64) {
	if f := vec.IntByNumber[uint8, int64](vec.EqNumber); f != nil {
		f(d, a[:len(d)], &v)
		return
	}
	var run [256]int64
	for i := range min(len(run), len(d)) {
		run[i] = v
	}
	for len(d) > 0 {
		n := min(len(run), len(d))
		vec.EqInt(d[:n], a, run[:])
		d, a = d[n:], a[n:]
	}
}

// among asks for each element of a whether it is in b: few are compared with, by equal, more are looked up.
func among[E comparable](d []uint8, a, b []E, invert bool, equal func(d []uint8, a []E, v E)) {
	const few, run = 8, 4096
	if len(a) <= few {
		for i, v := range a {
			d[i] = bit(slices.Contains(b, v) != invert)
		}
		return
	}
	var set map[E]struct{}
	if len(b) > few {
		set = make(map[E]struct{}, len(b))
		for _, v := range b {
			set[v] = struct{}{}
		}
	}
	no := bit(invert)
	par.For(len(a), 1<<14, func(lo, hi int) {
		d, a := d[lo:hi], a[lo:hi]
		if len(b) > few {
			for i, v := range a {
				_, ok := set[v]
				d[i] = bit(ok) ^ no
			}
			return
		}
		var is [run]uint8
		for len(d) > 0 {
			n := min(run, len(d))
			d1 := d[:n]
			if len(b) == 0 {
				clear(d1)
			}
			for i, w := range b {
				if i == 0 {
					equal(d1, a[:n], w)
				} else {
					equal(is[:n], a[:n], w)
					vec.OrU8(d1, d1, is[:n])
				}
			}
			if invert {
				vec.LogicalNotU8(d1, d1)
			}
			d, a = d[n:], a[n:]
		}
	})
}

// bit is 1 for true; the compiler makes no branch of it.
func bit(b bool) uint8 {
	var x uint8
	if b {
		x = 1
	}
	return x
}
