package shape

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/iter"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// padLine is a dimension of size n padded by lo and hi. Negative padding cuts.
type padLine struct {
	n, lo, hi int
	mode      string
}

func (l padLine) size() int { return max(0, l.n+l.lo+l.hi) }

// entry is the entry that a place shows, -1 for none.
func (l padLine) entry(place int) int {
	i := place - l.lo
	switch l.mode {
	case "constant":
		if i < 0 || i >= l.n {
			return -1
		}
	case "replicate":
		return min(max(i, 0), l.n-1)
	case "reflect":
		if i < 0 {
			i = -i
		}
		if i >= l.n {
			i = 2*(l.n-1) - i
		}
	case "circular":
		from, m := max(-l.lo, 0), l.n+min(l.lo, 0)+min(l.hi, 0) // what negative padding leaves
		if m > 0 {
			return from + ((i-from)%m+m)%m
		}
	}
	return i
}

// entries lists the entries that all places show.
func (l padLine) entries() []int {
	list := make([]int, l.size())
	for i := range list {
		list[i] = l.entry(i)
	}
	return list
}

// checkPad refuses, in PyTorch's words, to pad the last len(pad)/2 dimensions with entries of the tensor itself. nd is
// 0 or the number of padded dimensions wanted.
func checkPad(c *Ctx, t *T, pad []int, mode string, nd int) {
	k := len(pad) / 2
	name := map[string]string{"replicate": "replication_pad", "reflect": "reflection_pad",
		"circular": "circular padding"}[mode]
	if len(pad)%2 != 0 {
		c.Fail(tensor.ErrShape, "Padding length must be divisible by 2")
	}
	if nd > 0 && k != nd {
		c.Fail(tensor.ErrShape, "padding size is expected to be %d, but got: %d", 2*nd, len(pad))
	}
	if t.Dim() != k+1 && t.Dim() != k+2 || mode != "circular" && (k < 1 || k > 3) {
		if mode == "circular" {
			c.Fail(tensor.ErrShape, "Invalid padding size, expected %d but got %d", 2*max(0, t.Dim()-2), len(pad))
		}
		c.Fail(tensor.ErrShape, "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now")
	}
	for i, s := range t.Shape() {
		if s == 0 && !(i == 0 && t.Dim() == k+2) && !(mode == "circular" && i < t.Dim()-k) {
			c.Fail(tensor.ErrShape, "Expected %dD or %dD (batch mode) tensor with possibly 0 batch size and other "+
				"non-zero dimensions for input, but got: %s", k+1, k+2, tensor.ShapeString(t.Shape()))
		}
	}
	for i := 0; i < k; i++ {
		d := t.Dim() - 1 - i
		lo, hi, n := pad[2*i], pad[2*i+1], t.Shape()[d]
		if mode == "reflect" && (lo >= n || hi >= n) {
			c.Fail(tensor.ErrShape, "Argument #4: Padding size should be less than the corresponding input "+
				"dimension, but got: padding (%d, %d) at dimension %d of input %s", lo, hi, d,
				tensor.ShapeString(t.Shape()))
		}
		if mode == "circular" && (lo > n || hi > n) {
			c.Fail(tensor.ErrShape, "Padding value causes wrapping around more than once.")
		}
		if left := n + min(lo, 0) + min(hi, 0); mode == "circular" && left < max(lo, hi) {
			c.Fail(tensor.ErrShape, "Padding value causes wrapping around more than once: padding (%d, %d) leaves %d "+
				"of %d entries to repeat", lo, hi, max(0, left), n)
		}
		if n+lo+hi < 1 && !(mode == "circular" && n+lo+hi == 0) {
			c.Fail(tensor.ErrShape, "%s: input (size %d at dimension %d) is too small for padding (%d, %d)", name, n, d,
				lo, hi)
		}
	}
}

// padding is a padding by entries of the tensor itself as it lies in memory: outer blocks of three dimensions, absent
// ones of size 1, of entries of unit elements.
type padding struct {
	outer, unit int
	in, out     [3]int
	index       [2][]int // the entry that each place of the first two dimensions shows
	line        padLine  // the last dimension
	// In the last dimension the entries from..from+n show side by side from place at on.
	at, from, n int
	none        bool // other places show nothing
}

// newPadding describes the padding of a tensor of shape sh that lies in a memory format.
func newPadding(sh, pad []int, mode string, format tensor.MemoryFormat) *padding {
	k, nd := len(pad)/2, len(sh)
	p := &padding{outer: 1, unit: 1, in: [3]int{1, 1, 1}, none: mode == "constant"}
	for _, s := range sh[:nd-k] {
		p.outer *= s
	}
	if format != tensor.ContiguousFormat { // the channels are inside
		p.unit = sh[1]
		p.outer /= sh[1]
	}
	for i := range 3 {
		lo, hi := 0, 0
		if j := 2 - i; j < k {
			p.in[i], lo, hi = sh[nd-1-j], pad[2*j], pad[2*j+1]
		}
		line := padLine{p.in[i], lo, hi, mode}
		p.out[i] = line.size()
		if i < 2 {
			p.index[i] = line.entries()
		} else {
			p.line = line
			if n := p.in[2] + min(lo, 0) + min(hi, 0); n > 0 { // else one side takes away more than there is
				p.at, p.from, p.n = max(lo, 0), max(-lo, 0), n
			}
		}
	}
	return p
}

func (p *padding) inSize() int  { return p.in[0] * p.in[1] * p.in[2] * p.unit }
func (p *padding) outSize() int { return p.out[0] * p.out[1] * p.out[2] * p.unit }

// places lists, for a block of few places that all show something, of one element each, which entry of its block each
// of them shows: where rows are short, going from place to place costs less than what has to be done around a row. It
// is nil for other blocks.
func (p *padding) places() []int32 {
	if p.none || p.unit != 1 || p.outSize() > 4096 || p.out[2] > 20 {
		return nil
	}
	list := make([]int32, 0, p.outSize())
	line := p.line.entries()
	for _, z := range p.index[0] {
		for _, y := range p.index[1] {
			for _, x := range line {
				list = append(list, int32((z*p.in[1]+y)*p.in[2]+x))
			}
		}
	}
	return list
}

// padMove fills dst with what it shows of src, and with v where it shows nothing.
func padMove[T any](p *padding, dst, src []T, v T) {
	u := p.unit
	row := p.out[2] * u
	lines := p.out[0] * p.out[1]
	const grain = 32 << 10 // elements of a task
	if list := p.places(); list != nil {
		isz, osz := p.inSize(), p.outSize()
		par.For(p.outer, max(1, grain/osz), func(lo, hi int) {
			for o := lo; o < hi; o++ {
				s, d := src[o*isz:][:isz], dst[o*osz:][:len(list)]
				for i, k := range list {
					d[i] = s[k]
				}
			}
		})
		return
	}
	size := int(unsafe.Sizeof(v))
	fill := func(d []T) {
		if len(d) < 32 {
			for i := range d {
				d[i] = v
			}
			return
		}
		iter.Fill(unsafe.Pointer(&d[0]), unsafe.Pointer(&v), len(d), size)
	}
	ends := p.ends()
	par.For(p.outer*lines, max(1, grain/max(1, row)), func(lo, hi int) {
		done := lo * row // places that are written
		o, z, y := lo/lines, lo%lines/p.out[1], lo%p.out[1]
		var n int // lines that are copied at once
		for r := lo; r < hi; r, y = r+n, y+n {
			if y == p.out[1] {
				if y, z = 0, z+1; z == p.out[0] {
					z, o = 0, o+1
				}
			}
			sz, sy := p.index[0][z], p.index[1][y]
			if n = 1; sz < 0 || sy < 0 {
				continue
			}
			if lines == 1 {
				n = hi - r
			}
			for ; r+n < hi && y+n < p.out[1] && p.index[1][y+n] == sy+n; n++ { // lines that show neighbours
			}
			from, d := ((o*p.in[0]+sz)*p.in[1]+sy)*p.in[2]*u, dst[r*row:][:n*row]
			s, in := src[from:][:n*p.in[2]*u], p.in[2]*u
			if p.n > 0 && !vec.MoveRows(unsafe.Pointer(&d[p.at*u]), row*size, unsafe.Pointer(&s[p.from*u]), in*size, n,
				p.n*u*size) {
				for i := range n {
					copy(d[i*row+p.at*u:][:p.n*u], s[i*in+p.from*u:])
				}
			}
			if !p.none {
				padEnds(d, s, n, row, in, u, ends)
				continue
			}
			for i := range n {
				fill(dst[done : (r+i)*row+p.at*u])
				done = (r+i)*row + (p.at+p.n)*u
			}
		}
		if p.none {
			fill(dst[done : hi*row])
		}
	})
}

// padEnd is a place of a line that does not show one of the entries from..from+n, and the place of the entry that it
// shows.
type padEnd struct{ to, from int }

func (p *padding) ends() []padEnd {
	if p.none {
		return nil
	}
	list := make([]padEnd, 0, p.out[2]-p.n)
	for i := 0; i < p.out[2]; i++ {
		if i == p.at {
			i += p.n
			if i >= p.out[2] {
				break
			}
		}
		list = append(list, padEnd{i * p.unit, p.line.entry(i) * p.unit})
	}
	return list
}

// padEnds fills such places of n lines of d, row elements each, from the lines of s, of in elements.
func padEnds[T any](d, s []T, n, row, in, unit int, ends []padEnd) {
	if len(ends) == 0 {
		return
	}
	if unit > 1 {
		for r := range n {
			for _, e := range ends {
				copy(d[r*row+e.to:][:unit], s[r*in+e.from:])
			}
		}
		return
	}
	size := int(unsafe.Sizeof(d[0]))
	dp, sp := unsafe.Pointer(&d[:n*row][0]), unsafe.Pointer(&s[:n*in][0])
	for a, b := 0, 0; a < n*row*size; a, b = a+row*size, b+in*size {
		for _, e := range ends {
			*(*T)(unsafe.Add(dp, a+e.to*size)) = *(*T)(unsafe.Add(sp, b+e.from*size))
		}
	}
}

// padAdd adds each gradient to the entry that its place shows, in the order of the places. Words of 16 bits are floats,
// which are rounded after each addition, as in PyTorch.
func padAdd[E float32 | float64 | uint16](p *padding, dst, g []E, add func(dst, a, b []E)) {
	u, isz, osz := p.unit, p.inSize(), p.outSize()
	row := p.out[2] * u
	ends, list := p.ends(), p.places()
	before := min(p.at, len(ends)) // ends that lie before what is shown side by side
	var e E
	words := unsafe.Sizeof(e) == 2
	if words {
		list = nil
	}
	const grain = 32 << 10
	par.For(p.outer, max(1, grain/max(1, osz)), func(lo, hi int) {
		for o := lo; o < hi; o++ {
			block := dst[o*isz:][:isz]
			clear(block)
			s := g[o*osz:][:osz]
			for i, k := range list {
				block[k] += s[i]
			}
			if list != nil {
				continue
			}
			for _, z := range p.index[0] {
				for _, y := range p.index[1] {
					d := block[(z*p.in[1]+y)*p.in[2]*u:][:p.in[2]*u]
					one := func(e padEnd) {
						if u == 1 && !words {
							d[e.from] += s[e.to]
							return
						}
						a := d[e.from:][:u]
						add(a, a, s[e.to:][:u])
					}
					for _, e := range ends[:before] {
						one(e)
					}
					a := d[p.from*u:][:p.n*u]
					add(a, a, s[p.at*u:][:p.n*u])
					for _, e := range ends[before:] {
						one(e)
					}
					s = s[row:]
				}
			}
		}
	})
}

// memory is the elements of a tensor that is dense in the format that its user has chosen.
func memory[T any](t *tensor.Tensor) []T {
	var one T
	return unsafe.Slice((*T)(tensor.Ptr(t)), t.Numel()*t.ElementSize()/int(unsafe.Sizeof(one)))
}

// padOn pads t, whose elements are as large as T, into o; places that show nothing take the element at v, which may be
// nil where there are none.
func padOn[T any](p *padding, o, t *tensor.Tensor, v unsafe.Pointer) {
	var e T
	if v != nil {
		e = *(*T)(v)
	}
	padMove(p, memory[T](o), memory[T](t), e)
}

// padRun pads t, dense in the format of p, into o.
func padRun(p *padding, o, t *tensor.Tensor, v unsafe.Pointer) {
	switch t.ElementSize() {
	case 1:
		padOn[uint8](p, o, t, v)
	case 2:
		padOn[uint16](p, o, t, v)
	case 4:
		padOn[uint32](p, o, t, v)
	case 8:
		padOn[uint64](p, o, t, v)
	default:
		padOn[[2]uint64](p, o, t, v)
	}
}

// padLeast is the bytes of a line below which it costs less to fill all lines and copy the tensor into them than to
// fill the ends of each.
const padLeast = 128

// padConstant pads the last dimensions with a number if the layout is simple enough and lines are not short.
func padConstant(o, t *tensor.Tensor, pad []int, num tensor.Num) bool {
	f := t.SuggestFormat()
	k, nd := len(pad)/2, t.Dim()
	if f != tensor.ContiguousFormat {
		if k > nd-2 {
			return false
		}
		pad = append(slices.Clone(pad), make([]int, 2*(nd-2-k))...)
	}
	if k > 3 || o.DType() != t.DType() || !o.IsContiguousFormat(f) || o.Numel() == 0 || t.Numel() == 0 {
		return false
	}
	for i := range len(pad) / 2 {
		if n := t.Shape()[nd-1-i]; n+min(pad[2*i], 0)+min(pad[2*i+1], 0) <= 0 {
			return false
		}
	}
	p := newPadding(t.Shape(), pad, "constant", f)
	if p.out[2]*p.unit*t.ElementSize() < padLeast {
		return false
	}
	one := tensor.New(nil, t.DType())
	tensor.CopyRaw(one, num.Tensor())
	padRun(p, o, tensor.DenseIn(t, f, t.DType()), tensor.Ptr(one))
	return true
}

// padFormat is the memory format in which t is padded: its own format, or the ordinary one where channels are padded
// too.
func padFormat(t *tensor.Tensor, pad []int, mode string) tensor.MemoryFormat {
	if f := t.SuggestFormat(); mode != "circular" && len(pad)/2 == t.Dim()-2 {
		return f
	}
	return tensor.ContiguousFormat
}

// padInfer makes the shape rule for padding the last dimensions in a mode; nd is 0 or their number.
func padInfer(mode string, nd int) func(c *Ctx) {
	return func(c *Ctx) {
		t, pad := c.T(0), c.Ints(1)
		checkPad(c, t, pad, mode, nd)
		sh := slices.Clone(t.Shape())
		for i := range len(pad) / 2 {
			sh[len(sh)-1-i] += pad[2*i] + pad[2*i+1]
		}
		c.AllocStrided(0, sh, tensor.FormatStrides(sh, padFormat(t, pad, mode)), t.DType())
	}
}

func padCPU(mode string) func(c *Ctx) {
	return func(c *Ctx) {
		t, o := c.T(0), c.Out(0)
		if o.Numel() == 0 {
			return
		}
		f := padFormat(t, c.Ints(1), mode)
		p := newPadding(t.Shape(), c.Ints(1), mode, f)
		t = tensor.DenseIn(t, f, t.DType())
		padRun(p, o, t, nil)
	}
}

func padVJP(mode string) func(c *Ctx, g *T) []*T {
	return func(c *Ctx, g *T) []*T {
		return []*T{op.Call1("gotorch::pad_backward", g, c.Shape(0), c.Ints(1), mode)}
	}
}

// circularBody is _pad_circular as PyTorch composes it: the tensor is copied into the middle of the result, and then, a
// dimension after the other, the ends of the result are copied from within it.
func circularBody(c *Ctx) {
	t, pad := c.T(0), c.Ints(1)
	checkPad(c, t, pad, "circular", 0)
	sh := slices.Clone(t.Shape())
	for i := range len(pad) / 2 {
		sh[len(sh)-1-i] += pad[2*i] + pad[2*i+1]
	}
	out := t.NewEmpty(sh)
	to, from := out, t
	for i := range len(pad) / 2 {
		d, lo, hi := len(sh)-1-i, pad[2*i], pad[2*i+1]
		to = sliceOp(to, d, max(lo, 0), sh[d]-max(hi, 0), 1)
		from = sliceOp(from, d, max(-lo, 0), t.Size(d)-max(-hi, 0), 1)
	}
	to.CopyInPlace(from)
	for i := range len(pad) / 2 {
		d, lo, hi := len(sh)-1-i, pad[2*i], pad[2*i+1]
		if lo > 0 {
			end := sh[d] - max(hi, 0)
			sliceOp(out, d, 0, lo, 1).CopyInPlace(sliceOp(out, d, end-lo, end, 1))
		}
		if hi > 0 {
			at := max(lo, 0)
			sliceOp(out, d, sh[d]-hi, sh[d], 1).CopyInPlace(sliceOp(out, d, at, at+hi, 1))
		}
	}
	c.Return(out)
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor",
		Doc: "surrounds the last dimension with its mirror " +
			"image.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.pad.html",
		Infer: padInfer("reflect", 1), CPU: padCPU("reflect"), VJP: padVJP("reflect"),
		Grad: "ReflectionPad1DBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor",
		Doc: "surrounds the last two dimensions with their mirror " +
			"images.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.pad.html",
		Infer: padInfer("reflect", 2), CPU: padCPU("reflect"), VJP: padVJP("reflect"),
		Grad: "ReflectionPad2DBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor",
		Doc: "surrounds the last three dimensions with their mirror " +
			"images.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.pad.html",
		Infer: padInfer("reflect", 3), CPU: padCPU("reflect"), VJP: padVJP("reflect"),
		Grad: "ReflectionPad3DBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor",
		Doc: "surrounds the last dimension with its " +
			"border.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.pad.html",
		Infer: padInfer("replicate", 1), CPU: padCPU("replicate"), VJP: padVJP("replicate"),
		Grad: "ReplicationPad1DBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor",
		Doc: "surrounds the last two dimensions with their " +
			"borders.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.pad.html",
		Infer: padInfer("replicate", 2), CPU: padCPU("replicate"), VJP: padVJP("replicate"),
		Grad: "ReplicationPad2DBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor",
		Doc: "surrounds the last three dimensions with their " +
			"borders.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.pad.html",
		Infer: padInfer("replicate", 3), CPU: padCPU("replicate"), VJP: padVJP("replicate"),
		Grad: "ReplicationPad3DBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "_pad_circular(Tensor self, SymInt[] pad) -> Tensor",
		Doc:    "surrounds the last dimensions, each with what lies at its other end.",
		Go:     "-", Body: circularBody,
		Infer: padInfer("circular", 0), CPU: padCPU("circular"), VJP: padVJP("circular"), Grad: "CopySlices",
	})
	tensor.Register(tensor.Def{
		Schema: "pad(Tensor self, SymInt[] pad, str mode=\"constant\", float? value=None) -> Tensor",
		Doc: "surrounds the last dimensions with a number, or with entries of the tensor itself, by the operator " +
			"of the mode.",
		Go: "-", Body: padBody,
	})
	tensor.Register(tensor.Def{
		Schema: "F::pad(Tensor input, int[] pad, str mode=\"constant\", float? value=None) -> Tensor",
		Doc: "surrounds the last dimensions with a number (\"constant\"), their mirror image (\"reflect\"), their " +
			"border (\"replicate\") or their other end (\"circular\"). pad holds two sizes per dimension, the last " +
			"dimension first.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.pad.html",
		Body: func(c *Ctx) { c.Return(op.Call1("aten::pad", c.T(0), c.Ints(1), c.Value(2), c.Value(3))) },
	})
	tensor.Register(tensor.Def{
		Schema: "gotorch::pad_backward(Tensor grad, int[] size, int[] pad, str mode) -> Tensor",
		Doc: "adds up, for each entry of a tensor of the given size, the gradients of all places that show the " +
			"entry after padding.",
		Go: "-",
		Infer: func(c *Ctx) {
			sh, pad := c.Ints(1), c.Ints(2)
			like := op.Zeros(c.T(0), sh, c.ArgDType(0))
			switch mode := c.Str(3); mode {
			case "reflect", "replicate", "circular":
				checkPad(c, like, pad, mode, 0)
			default:
				c.Fail(tensor.ErrValue, "pad_backward(): there is no mode \"%s\"", mode)
			}
			want := slices.Clone(sh)
			for i := range pad {
				want[len(sh)-1-i/2] += pad[i]
			}
			c.WantShape(0, want...)
			c.AllocStrided(0, sh, tensor.FormatStrides(sh, padFormat(c.T(0), c.Ints(2), c.Str(3))), c.ArgDType(0))
		},
		CPU: padBackwardCPU,
		VJP: func(c *Ctx, g *T) []*T { return []*T{op.Call1("aten::pad", g, c.Ints(2), c.Str(3))} },
	})
}

// padBody finds the operator of a padding mode.
func padBody(c *Ctx) {
	t, p, mode := c.T(0), c.Ints(1), c.Str(2)
	switch mode {
	case "constant":
		v := tensor.FloatValue(0)
		if c.Has(3) {
			v = c.Value(3)
		}
		c.Return(op.Call1("aten::constant_pad_nd", t, p, v))
	case "reflect", "replicate", "circular":
		if c.Has(3) && c.Float(3) != 0 {
			c.Fail(tensor.ErrValue, "Padding mode \"%s\" doesn't take in value argument", mode)
		}
		checkPad(c, t, p, mode, 0)
		name := map[string]string{"reflect": "aten::reflection_pad%dd", "replicate": "aten::replication_pad%dd"}[mode]
		if name == "" {
			c.Return(op.Call1("aten::_pad_circular", t, p))
			return
		}
		c.Return(op.Call1(fmt.Sprintf(name, len(p)/2), t, p))
	default:
		c.FailHint(tensor.ErrNotImpl, "the modes are \"constant\", \"reflect\", \"replicate\" and \"circular\"",
			"Unrecognised padding mode %s", mode)
	}
}

func padBackwardCPU(c *Ctx) {
	g, o := c.T(0), c.Out(0)
	if o.Numel() == 0 {
		return
	}
	f := padFormat(g, c.Ints(2), c.Str(3))
	p := newPadding(c.Ints(1), c.Ints(2), c.Str(3), f)
	dt := g.DType()
	if dt.IsComplex() { // two numbers side by side
		p.unit *= 2
	}
	if dt == tensor.Float64 || dt == tensor.Complex128 {
		padAdd(p, memory[float64](o), memory[float64](tensor.DenseIn(g, f, dt)), vec.AddF64)
		return
	}
	if dt == tensor.Float32 || dt == tensor.Complex64 {
		padAdd(p, memory[float32](o), memory[float32](tensor.DenseIn(g, f, dt)), vec.AddF32)
		return
	}
	if dt.IsReduced() && c.Str(3) != "circular" { // which PyTorch composes: it adds up in another order
		padAdd(p, memory[uint16](o), memory[uint16](tensor.DenseIn(g, f, dt)), vec.Add16[half.Index(dt)])
		return
	}
	sum := tensor.NewStrided(o.Shape(), tensor.FormatStrides(o.Shape(), f), tensor.Float32)
	padAdd(p, memory[float32](sum), memory[float32](tensor.DenseIn(g, f, tensor.Float32)), vec.AddF32)
	tensor.CopyRaw(o, sum)
}
