package tensor

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"
)

// Profile is a set of print options under a name.
type Profile uint8

// The profiles of PyTorch's set_printoptions.
const (
	NoProfile      Profile = iota
	DefaultProfile         // 4 digits, long tensors summarised
	ShortProfile           // 2 digits, 2 items at each edge
	FullProfile            // nothing summarised
)

// PrintOptions say how tensors print. Fields left unset stay as they are, except SciMode: leaving it unset goes back to
// choosing by the values, as in PyTorch.
type PrintOptions struct {
	// Precision is the number of digits after the point (4).
	Precision Opt[int]
	// Threshold is the number of elements above which a tensor is summarised (1000).
	Threshold Opt[int]
	// EdgeItems is the number of items at each end of a summarised dimension (3).
	EdgeItems Opt[int]
	// LineWidth is the number of characters of a line (80).
	LineWidth Opt[int]
	// SciMode forces scientific notation on or off; unset, it is used where the values' sizes differ much.
	SciMode Opt[bool]
	// Profile sets all but SciMode at once; the other fields win over it.
	Profile Profile
}

type printOpts struct {
	precision, threshold, edge, width int
	sci                               Opt[bool]
}

var printOptions atomic.Pointer[printOpts]

func init() { printOptions.Store(&printOpts{precision: 4, threshold: 1000, edge: 3, width: 80}) }

// SetPrintOptions changes how tensors print, for the whole program, and returns what held before: pass that to change
// back.
func SetPrintOptions(o PrintOptions) (old PrintOptions) {
	p := *printOptions.Load()
	old = PrintOptions{Some(p.precision), Some(p.threshold), Some(p.edge), Some(p.width), p.sci, NoProfile}
	switch o.Profile {
	case DefaultProfile:
		p = printOpts{precision: 4, threshold: 1000, edge: 3, width: 80}
	case ShortProfile:
		p = printOpts{precision: 2, threshold: 1000, edge: 2, width: 80}
	case FullProfile:
		p = printOpts{precision: 4, threshold: math.MaxInt, edge: 3, width: 80}
	}
	for _, f := range []struct {
		name string
		opt  Opt[int]
		dst  *int
	}{{"Precision", o.Precision, &p.precision}, {"Threshold", o.Threshold, &p.threshold},
		{"EdgeItems", o.EdgeItems, &p.edge}, {"LineWidth", o.LineWidth, &p.width}} {
		if n, ok := f.opt.Get(); ok {
			if n < 0 {
				Fail(ErrValue, "SetPrintOptions: %s is %d, want 0 or more", f.name, n)
			}
			*f.dst = n
		}
	}
	p.sci = o.SciMode
	printOptions.Store(&p)
	return old
}

// Size is a tensor's shape as a value that prints as Python's torch.Size.
type Size []int

// String prints "torch.Size([2, 3])".
func (s Size) String() string { return "torch.Size(" + ShapeString(s) + ")" }

// Numel is the number of elements of a tensor of this size.
func (s Size) Numel() int { return numel(s) }

// String prints "torch.channels_last".
func (f MemoryFormat) String() string { return "torch." + FormatValue(f).String() }

// GoString prints as Python's repr: "device(type='cuda', index=1)".
func (d Device) GoString() string {
	if d.Type == CPUDevice || d.Type == MetaDevice {
		return fmt.Sprintf("device(type='%s')", d)
	}
	name, _, _ := strings.Cut(d.String(), ":")
	return fmt.Sprintf("device(type='%s', index=%d)", name, d.Index)
}

// String prints the tensor as Python's repr does, to the byte: rounded by the print options, summarised when long, with
// dtype, grad_fn and requires_grad where they are not the usual ones.
func (t *Tensor) String() string {
	if t == nil {
		return "None"
	}
	if t.st == nil {
		return "torch.Tensor{}"
	}
	s := t.repr()
	if t.IsParameter() {
		return "Parameter containing:\n" + s
	}
	return s
}

// Format makes the fmt verbs work: %v and %s print as String does; %d, %f, %e, %g and their like, with width and
// precision, print the number in a tensor of no dimensions, and String for others.
func (t *Tensor) Format(f fmt.State, verb rune) {
	if t != nil && t.st != nil && !strings.ContainsRune("vsq", verb) && len(t.shape) == 0 && t.dev.Type == CPUDevice {
		var x any
		switch n := t.Num(); n.K {
		case KBool:
			x = n.I != 0
			if verb == 'd' {
				x = n.I
			}
		case KInt:
			x = n.I
			if strings.ContainsRune("eEfFgG", verb) {
				x = n.F
			}
		case KFloat:
			x = n.F
		default:
			x = n.C
		}
		fmt.Fprintf(f, fmt.FormatString(f, verb), x)
		return
	}
	s := t.String()
	if verb == 'q' {
		s = strconv.Quote(s)
	}
	if w, ok := f.Width(); ok && len(s) < w {
		pad := strings.Repeat(" ", w-len(s))
		if f.Flag('-') {
			s += pad
		} else {
			s = pad + s
		}
	}
	fmt.Fprint(f, s)
}

func (t *Tensor) repr() string {
	o := printOptions.Load()
	const prefix = "tensor("
	def := DefaultDType()
	// int64 and bool are what Python makes of its numbers, so they go without saying; complex follows the default float
	// type.
	usual := t.dt == def || t.dt == Int64 || t.dt == Bool || t.dt == Complex128 && def == Float64 ||
		t.dt == Complex64 && def != Float64
	var suffixes []string
	suffix := func(format string, a ...any) { suffixes = append(suffixes, fmt.Sprintf(format, a...)) }
	if t.dev.Type != CPUDevice {
		suffix("device='%s'", t.dev)
	}
	body := "..."
	switch {
	case t.flags&flagSparse != 0:
		body = t.sparseRepr(len(prefix))
		suffix("size=%s", tupleString(t.shape))
		suffix("nnz=%d", t.nnz())
		if !usual {
			suffix("dtype=%s", t.dt)
		}
		suffix("layout=%s", t.Layout())
	case t.flags&flagQuantized != 0:
		shown, more := t.quantizedRepr()
		suffixes = append(suffixes, more...)
		if body = "[]"; shown.numel > 0 {
			p := newPrinter(shown, o)
			p.tensor(0, shown.off, len(prefix))
			body = p.b.String()
		}
	case t.dev.Type == MetaDevice: // there are no elements
		suffix("size=%s", tupleString(t.shape))
		if t.dt != def {
			suffix("dtype=%s", t.dt)
		}
	case t.numel == 0:
		body = "[]"
		if len(t.shape) != 1 {
			suffix("size=%s", tupleString(t.shape))
		}
		if t.dt != def {
			suffix("dtype=%s", t.dt)
		}
	default:
		if o.edge == 0 {
			suffix("size=%s", tupleString(t.shape))
		}
		if !usual {
			suffix("dtype=%s", t.dt)
		}
		h := HostCopy(t.resolved())
		p := newPrinter(h, o)
		p.tensor(0, h.off, len(prefix))
		body = p.b.String()
	}
	if n := t.gradNode(); n != nil {
		suffix("grad_fn=<%s>", n.Name())
	} else if t.RequiresGrad() {
		suffix("requires_grad=True")
	}
	if t.flags&flagNamed != 0 {
		suffix("names=%s", tupleOfNames(t.ag.names))
	}
	return addSuffixes(prefix+body, suffixes, len(prefix), o.width, t.IsSparse())
}

// addSuffixes appends what follows the elements, on new lines where a line would become too long, and with apart the
// first one, too.
func addSuffixes(s string, suffixes []string, indent, width int, apart bool) string {
	var b strings.Builder
	b.WriteString(s)
	last := len(s) - strings.LastIndexByte(s, '\n') + 1
	for _, x := range suffixes {
		if apart || last+len(x)+2 > width {
			b.WriteString(",\n" + strings.Repeat(" ", indent) + x)
			last, apart = indent+len(x), false
		} else {
			b.WriteString(", " + x)
			last += len(x) + 2
		}
	}
	b.WriteByte(')')
	return b.String()
}

// tupleString prints a shape as a Python tuple.
func tupleString(s []int) string {
	if len(s) == 1 {
		return fmt.Sprintf("(%d,)", s[0])
	}
	l := ShapeString(s)
	return "(" + l[1:len(l)-1] + ")"
}

// printer writes the elements of one tensor. It reads only those that are shown.
type printer struct {
	t         *Tensor
	o         *printOpts
	b         strings.Builder
	summarize bool
	re, im    numberFormat // im is for complex tensors only
	base      unsafe.Pointer
}

func newPrinter(t *Tensor, o *printOpts) *printer {
	if t.dt.IsOpaque() && !t.dt.IsFloat() { // the numbers in its bytes
		v := &Tensor{st: t.st, ver: t.ver, off: t.off, dt: [...]DType{1: Uint8, 2: Uint16}[t.dt.Size()], dev: t.dev}
		v.setDims(t.shape, t.stride)
		t = v
	}
	p := &printer{t: t, o: o, summarize: t.numel > o.threshold, base: t.st.p}
	Ptr(t) // refuses released memory
	kind := kindFloat
	switch {
	case t.dt == Bool:
		kind = kindBool
	case t.dt.IsInt():
		kind = kindInt
	}
	var re, im numberScan
	p.visit(0, t.off, func(off int) {
		switch {
		case t.dt.IsComplex():
			c := p.complexAt(off)
			re.add(real(c))
			im.add(imag(c))
		case kind == kindFloat:
			re.add(p.floatAt(off))
		default:
			re.width = max(re.width, len(p.whole(off)))
		}
	})
	p.re, p.im = re.format(kind, o), im.format(kind, o)
	return p
}

// visit calls f for the place of every element that is shown.
func (p *printer) visit(dim, off int, f func(off int)) {
	if dim == len(p.t.shape) {
		f(off)
		return
	}
	n, s, e := p.t.shape[dim], p.t.stride[dim], p.o.edge
	cut := p.summarize && n > 2*e
	// A dimension that only shows dots hides what is below it.
	if p.summarize && e == 0 {
		return
	}
	for i := 0; i < n; i++ {
		if cut && i == e {
			i = n - e
		}
		p.visit(dim+1, off+i*s, f)
	}
}

func at[T any](p *printer, off int) T {
	var z T
	return *(*T)(unsafe.Add(p.base, off*int(unsafe.Sizeof(z))))
}

func (p *printer) floatAt(off int) float64 {
	switch p.t.dt {
	case Float64:
		return at[float64](p, off)
	case Float32:
		return float64(at[float32](p, off))
	case Float4E2M1FNx2: // PyTorch prints the byte
		return float64(at[uint8](p, off))
	}
	var f float32
	convertRun(Float32, p.t.dt, unsafe.Pointer(&f), unsafe.Add(p.base, off*p.t.dt.Size()), 1)
	return float64(f)
}

func (p *printer) complexAt(off int) complex128 {
	switch p.t.dt {
	case Complex64:
		return complex128(at[complex64](p, off))
	case Complex128:
		return at[complex128](p, off)
	}
	var c complex64
	convertRun(Complex64, p.t.dt, unsafe.Pointer(&c), unsafe.Add(p.base, off*p.t.dt.Size()), 1)
	return complex128(c)
}

// whole is an integer or bool.
func (p *printer) whole(off int) string {
	var n int64
	switch p.t.dt {
	case Bool:
		if at[uint8](p, off) != 0 {
			return "True"
		}
		return "False"
	case Uint8:
		n = int64(at[uint8](p, off))
	case Int8:
		n = int64(at[int8](p, off))
	case Int16:
		n = int64(at[int16](p, off))
	case Int32:
		n = int64(at[int32](p, off))
	case Uint16:
		n = int64(at[uint16](p, off))
	case Uint32:
		n = int64(at[uint32](p, off))
	case Uint64:
		return strconv.FormatUint(at[uint64](p, off), 10)
	default:
		n = at[int64](p, off)
	}
	return strconv.FormatInt(n, 10)
}

// element is one element, padded to the common width.
func (p *printer) element(off int) string {
	switch {
	case p.t.dt.IsComplex():
		c := p.complexAt(off)
		re, im := p.re.text(real(c)), strings.TrimLeft(p.im.text(imag(c)), " ")+"j"
		if im[0] == '+' || im[0] == '-' {
			return re + im
		}
		return re + "+" + im
	case p.t.dt.IsFloat():
		return p.re.text(p.floatAt(off))
	}
	return pad(p.whole(off), p.re.width)
}

func pad(s string, width int) string {
	if n := width - len(s); n > 0 {
		return strings.Repeat(" ", n) + s
	}
	return s
}

// tensor writes the part of the tensor from dimension dim on.
func (p *printer) tensor(dim, off, indent int) {
	left := len(p.t.shape) - dim
	switch left {
	case 0:
		p.b.WriteString(p.element(off))
		return
	case 1:
		p.vector(dim, off, indent)
		return
	}
	n, s, e := p.t.shape[dim], p.t.stride[dim], p.o.edge
	cut := p.summarize && n > 2*e
	sep := "," + strings.Repeat("\n", left-1) + strings.Repeat(" ", indent+1)
	p.b.WriteByte('[')
	for i, first := 0, true; i < n; i, first = i+1, false {
		if !first {
			p.b.WriteString(sep)
		}
		if cut && i == e {
			p.b.WriteString("...")
			if i = n - e; i == n {
				break
			}
			p.b.WriteString(sep)
		}
		p.tensor(dim+1, off+i*s, indent+1)
	}
	p.b.WriteByte(']')
}

// vector writes the last dimension, in lines.
func (p *printer) vector(dim, off, indent int) {
	length := p.re.width + 2
	if p.t.dt.IsComplex() {
		length += p.im.width + 1
	}
	perLine := max(1, floorDiv(p.o.width-indent, length))
	n, s, e := p.t.shape[dim], p.t.stride[dim], p.o.edge
	cut := p.summarize && n > 2*e
	dots := " ..."
	if p.summarize && e == 0 {
		cut, dots = true, "..."
	}
	p.b.WriteByte('[')
	count := 0
	put := func(x string) {
		if count > 0 {
			if count%perLine == 0 {
				p.b.WriteString(",\n" + strings.Repeat(" ", indent+1))
			} else {
				p.b.WriteString(", ")
			}
		}
		count++
		p.b.WriteString(x)
	}
	for i := 0; i < n; i++ {
		if cut && i == e {
			put(dots)
			if i = n - e; i == n {
				break
			}
		}
		put(p.element(off + i*s))
	}
	p.b.WriteByte(']')
}

func floorDiv(a, b int) int { return int(math.Floor(float64(a) / float64(b))) }

const (
	kindFloat = iota
	kindInt
	kindBool
)

// numberScan collects what decides the notation of a tensor's numbers.
type numberScan struct {
	vals     []float64 // finite and not zero
	min, max float64
	broken   bool // one is not whole
	width    int
}

func (s *numberScan) add(f float64) {
	if f == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
		return
	}
	a := math.Abs(f)
	if len(s.vals) == 0 || a < s.min {
		s.min = a
	}
	s.max = max(s.max, a)
	s.broken = s.broken || f != math.Ceil(f)
	s.vals = append(s.vals, f)
}

// numberFormat writes numbers in one notation and width.
type numberFormat struct {
	whole, sci bool
	precision  int
	width      int
}

func (s *numberScan) format(kind int, o *printOpts) numberFormat {
	f := numberFormat{whole: true, precision: o.precision, width: max(1, s.width)}
	if kind != kindFloat || len(s.vals) == 0 {
		return f
	}
	f.whole = !s.broken
	f.sci = o.sci.Or(s.max/s.min > 1000 || s.max > 1e8 || s.min < 1e-4)
	for _, v := range s.vals {
		f.width = max(f.width, len(f.plain(v)))
	}
	return f
}

// plain is a number without padding. Whole numbers end in a point, which tells them from integers.
func (f *numberFormat) plain(v float64) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	case f.sci:
		return strconv.FormatFloat(v, 'e', f.precision, 64)
	case f.whole:
		return strconv.FormatFloat(v, 'f', 0, 64) + "."
	}
	return strconv.FormatFloat(v, 'f', f.precision, 64)
}

func (f *numberFormat) text(v float64) string { return pad(f.plain(v), f.width) }
