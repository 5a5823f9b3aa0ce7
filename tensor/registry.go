package tensor

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
)

// Def describes one operator: everything that is derived from it (methods, boxed calls, in-place and out variants,
// gradients of composed operators, tests) follows from this one value. A Def has either Kernel (with Infer) or View or
// Body.
type Def struct {
	// Schema is the functional form in PyTorch's schema language. The namespace is aten; "F::name" declares a function
	// of torch.nn.functional with Python's signature.
	Schema string
	// Doc becomes the generated method's comment.
	Doc string
	// Go overrides the generated Go name ("-": generate nothing).
	Go string
	// Aliases are further names of the operator ("absolute" for abs), which have the same forms and call it. A name
	// with a namespace ("Tensor::__abs__") is a function of Python's that calls the operator; it has no other forms,
	// and a number in place of the tensor that Scalar names calls the form with a number.
	Aliases []string
	// InPlace derives name_ which writes to the first tensor argument; Out derives the overload with an out argument.
	InPlace, Out bool
	// Scalar names a tensor parameter that may also be a number: derives the overload ".Scalar".
	Scalar string
	// FormNames gives PyTorch's names of derived forms where the rule of FormsOf does not: ".out=.Tensor_out", with the
	// names of the out arguments where they are not those of the results (".dim_out=.dim_max(max,max_values)"); "-" is
	// for a form that PyTorch has not. In front of the first name may stand that of an alias.
	FormNames string

	// Infer checks the arguments and allocates the outputs with Ctx.Alloc.
	Infer func(c *Ctx)
	// CPU computes the outputs.
	CPU func(c *Ctx)
	// Plain are shortcuts past Infer and CPU for small calls of the usual kind. The generated methods look for them
	// where the Def literal has the field, or the helper that makes it the flag.
	Plain *Plain
	// Fuses says for which arguments of a composed operator the kernel serves instead of Body; nil is for all.
	Fuses func(c *Ctx) bool
	// View returns an alias of an argument (Ctx.SetOut for several).
	View func(c *Ctx) *Tensor
	// Body is a composed operator: public operators only; it ends with Ctx.Return or Ctx.ReturnValue. A Def with a Body
	// and a kernel is a fused operator: the kernel computes what the body says where the backend has one, Fuses agrees
	// and no layer looks on; VJP, if any, is the gradient of the kernel's results. Without VJP the kernel serves only
	// where nothing is recorded.
	Body func(c *Ctx)

	// VJP is the gradient rule: given the gradient of the first output (see Ctx.G for others) it returns one gradient
	// per tensor argument in schema order (a list counts as its elements), nil where there is none. Results may have
	// the broadcast shape or a promoted dtype: the engine reduces and casts them.
	VJP func(c *Ctx, g *Tensor) []*Tensor
	// Save names the tensor arguments and results that VJP reads ("self other result"). Others may be asked for their
	// shape only. "self/other" names self, which is read for the gradient of other alone: it is not kept where other
	// needs none, as the activations in front of frozen weights and the factor of a number.
	Save string
	// SaveInPlace is what the in-place form saves instead; the rule asks c.Op().IsInPlace().
	SaveInPlace string
	// Constant names tensor arguments that have no gradient in VJP, as the weights of classes: as PyTorch does, a call
	// that is recorded refuses those that require grad.
	Constant string
	// NoGrad says why there is no gradient ("integer result"); every Def has VJP, Body or NoGrad.
	NoGrad string
	// Grad overrides the name of the node ("SumBackward1"), with a Body where that ends with Ctx.ReturnNamed.
	Grad string
	// GradOf names the node instead of Grad where PyTorch's name depends on the arguments: PyTorch composes l1_loss,
	// and the node has the name of the last step, "MeanBackward0" or "SumBackward0".
	GradOf func(args []Value) string

	// DataDependent says that the size or the value of a result depends on the elements of the arguments, as nonzero's
	// does: on the meta device such a call is an error.
	DataDependent bool
	// CrossDevice allows tensors of several devices: the call runs where the first one is.
	CrossDevice bool
	// Raw says that the kernel takes tensors of every dtype, and minds their conjugate and negative bits: it copies
	// elements with CopyRaw, or does not look at them.
	Raw bool
	// Storage says which of the types that are made for storage the operator takes.
	Storage StorageClass
	// Elementwise allows an output to be the very memory of an input, and lays outputs out like the inputs.
	Elementwise bool
	// Overlap says what the in-place form makes of a tensor that holds a place of memory twice, as expand gives it.
	Overlap Overlap
	// Draw says what the random numbers of an operator depend on; vmap has to know. An operator whose schema has a
	// generator draws random numbers even where Draw is not set.
	Draw Draw
	// AMP is the autocast class.
	AMP AMPClass
	// Samples are arguments that tests, benchmarks and documentation run the operator with; a family may give them in a
	// table of its own instead, with RegisterSamples.
	Samples func(s *Sampler)

	full   string                        // of the schema
	others *[maxDeviceTypes]func(c *Ctx) // kernels of backends other than the CPU, one table for all forms
	rare   *rareKernels                  // for sparse and quantized arguments, one set for all forms
}

// Overlap says what an in-place form makes of a tensor that holds a place of memory twice.
type Overlap uint8

// What PyTorch makes of such tensors.
const (
	OverlapRefused Overlap = iota // refuses them: what is written would depend on the order of the work
	OverlapTaken                  // takes them
	OverlapWarned                 // takes them with a warning that this is deprecated
)

// Draw says what the random numbers that an operator draws depend on.
type Draw uint8

// What random numbers depend on.
const (
	// DrawByElements: on elements of the arguments, as the probabilities of bernoulli. An operator without a generator
	// in its schema draws none.
	DrawByElements Draw = iota
	DrawByShape         // on shapes and numbers alone, as those of rand_like
	DrawFactors         // on shapes and numbers alone; the first result is the first argument times them, as in dropout
)

// AMPClass says what autocast does with an operator's floating-point arguments.
type AMPClass uint8

// The autocast classes.
const (
	AMPKeep            AMPClass = iota // leave as they are
	AMPLower                           // cast to the autocast type
	AMPFP32                            // cast to float32
	AMPPromote                         // cast to the widest type among them
	AMPBanned                          // refuse
	AMPFP32OptDType                    // give the option dtype float32, unless it is set
	AMPFP32AppendDType                 // call the overload with a dtype, float32
)

// String is the class's name in PyTorch's lists.
func (c AMPClass) String() string {
	return [...]string{"keep", "lower", "fp32", "promote", "banned", "fp32_set_opt_dtype", "fp32_append_dtype"}[c]
}

// Op is a registered operator, or one of its derived variants.
type Op struct {
	*Def
	Sch     *Schema
	full    string
	base    *Op // of a derived variant
	variant variant
	scalar  int     // parameter that a .Scalar variant turns into a tensor
	saveIn  uint64  // bit per parameter
	saveFor [8]int8 // per parameter: 1 + the only parameter whose gradient reads it, 0 if there is no such
	saveOut uint64  // bit per result
	grad    string
	nparams int
	devArg  int    // the parameter that names a device, -1 without
	lists   bool   // there are lists of tensors among the parameters
	needs   uint64 // bit per parameter that must be a tensor or a list of tensors
	consts  uint64 // bit per parameter that Constant names
	floor   floor
	def     string // full name that the Def's schema gives, without aliases and variants
	// where the Def's schema has dtype, layout, device and pin_memory, which this out form lacks; -1 in other forms
	options int

	target       *Op // of an alias: the form under the operator's own name that it calls
	numberTarget *Op // what it calls when argument numberArg is a number, nil where that makes no difference
	numberArg    int
}

type variant uint8

const (
	functional variant = iota
	inPlace
	outVariant
)

// floor says who sees the calls of an operator.
type floor uint8

const (
	public floor = iota // PyTorch's own operators: layers see them
	// functions of Python's torch, torch.Tensor and torch.nn.functional: layers see the operators that they call
	transparent
	private // ours, in the namespace gotorch: nobody sees them
)

// IsPublic reports an operator of PyTorch's, which layers see. Others are functions of Python's that call operators,
// and the operators of the namespace gotorch, our own.
func (o *Op) IsPublic() bool { return o.floor == public }

// IsPrivate reports an operator of the namespace gotorch.
func (o *Op) IsPrivate() bool { return o.floor == private }

// Floor says who sees the operator's calls: "public" (layers do), "transparent" (a function of Python's: layers see
// what it calls) or "private" (ours: nobody does).
func (o *Op) Floor() string { return [...]string{"public", "transparent", "private"}[o.floor] }

// Backends are the names of the backends that have a kernel for the operator.
func (o *Op) Backends() []string {
	var out []string
	if o.CPU != nil || o.View != nil {
		out = append(out, CPUDevice.String())
	}
	for d, k := range o.others {
		if k != nil {
			out = append(out, DeviceType(d).String())
		}
	}
	return out
}

// SchemaText is the schema of this form in PyTorch's notation.
func (o *Op) SchemaText() string { return o.Sch.String() }

// FullName is the boxed name: "aten::add_.Tensor".
func (o *Op) FullName() string { return o.full }

// IsInPlace reports a variant that writes to its first argument.
func (o *Op) IsInPlace() bool { return o.variant == inPlace }

// IsOut reports a variant that takes its outputs as arguments.
func (o *Op) IsOut() bool { return o.variant == outVariant }

var registry = struct {
	sync.RWMutex
	ops    map[string]*Op   // by full name
	byName map[string][]*Op // overloads of "aten::add"
}{ops: map[string]*Op{}, byName: map[string][]*Op{}}

// slot returns the operator of a full name, creating an empty one that Register fills in.
//
//go:noinline // the generated methods' 800 variables would each have a copy
func slot(full string) *Op {
	o := registry.ops[full]
	if o == nil {
		o = &Op{full: full}
		registry.ops[full] = o
	}
	return o
}

// Slot is slot for generated code in other packages.
func Slot(full string) *Op {
	registry.Lock()
	defer registry.Unlock()
	return slot(full)
}

// Register adds an operator and its derived variants. It panics on a faulty Def, at program start.
func Register(d Def) {
	sch, err := ParseSchema(d.Schema)
	if err != nil {
		panic(err)
	}
	if d.Body == nil && d.VJP == nil && d.NoGrad == "" {
		panic("tensor.Register: " + d.Schema + ": give VJP, Body or NoGrad")
	}
	if d.Body == nil && d.CPU == nil && d.View == nil {
		panic("tensor.Register: " + d.Schema + ": give CPU, View or Body")
	}
	forms, err := FormsOf(&d)
	if err != nil {
		panic(err)
	}
	d.full = sch.FullName()
	d.others, d.rare = new([maxDeviceTypes]func(c *Ctx)), new(rareKernels)
	registry.Lock()
	defer registry.Unlock()
	if k := waitingRare[d.full]; k != nil {
		d.rare = k
		delete(waitingRare, d.full)
	}
	own := map[string]*Op{} // the forms under the operator's own name
	var base *Op
	var dd *Def
	for i, f := range forms {
		if i == 0 || f.Alias != forms[i-1].Alias {
			copied := d
			dd, base = &copied, nil
		}
		v := functional
		switch {
		case f.Out:
			v = outVariant
		case f.InPlace:
			v = inPlace
		}
		o := add(dd, sch, f.Schema, base, v)
		o.scalar = f.Number
		if f.Out {
			o.options = sch.options()
		}
		if base == nil {
			base = o
		}
		switch {
		case f.Alias == 0:
			own[f.suffix] = o
		case o.floor == transparent:
			o.target, o.scalar = own["."+sch.Overload], -1
			if sch.Overload == "" {
				o.target = own[""]
			}
			if f.Number >= 0 {
				o.numberTarget, o.numberArg = numberTarget(forms, own), f.Number
			}
		default:
			o.target = own[f.suffix]
		}
	}
}

// numberTarget is the form of an operator's own name that takes a number and gives a new tensor.
func numberTarget(forms []Form, own map[string]*Op) *Op {
	for _, f := range forms {
		if f.Alias == 0 && f.Number >= 0 && !f.InPlace && !f.Out {
			return own[f.suffix]
		}
	}
	return nil
}

// add registers one form with its schema s; declared is the schema of the Def.
func add(d *Def, declared, s *Schema, base *Op, v variant) *Op {
	o := slot(s.FullName())
	if o.Def != nil {
		panic("tensor.Register: " + s.FullName() + " is registered twice")
	}
	o.Def, o.Sch, o.base, o.variant, o.scalar, o.options = d, s, base, v, -1, -1
	o.nparams = len(s.Params)
	o.def = d.full
	o.devArg = s.Index("device")
	o.needs = neededTensors(s)
	for i := range s.Params {
		o.lists = o.lists || s.Params[i].Kind == KTensors
	}
	switch s.Namespace {
	case "aten", "quantized", "_quantized", "torchvision": // torchvision registers operators of its own
	case "gotorch":
		o.floor = private
	default:
		o.floor = transparent
	}
	save := d.Save
	if v == inPlace && d.SaveInPlace != "" {
		save = d.SaveInPlace
	}
	for _, name := range strings.Fields(save) {
		name, reader, conditional := strings.Cut(name, "/")
		found := false
		for i := range declared.Params {
			if declared.Params[i].Name == name {
				o.saveIn |= 1 << i
				found = true
				if conditional {
					o.saveFor[i] = int8(1 +
						slices.IndexFunc(declared.Params, func(p Param) bool { return p.Name == reader }))
					found = o.saveFor[i] > 0
				}
			}
		}
		for i, r := range declared.Results {
			if r.Name == name || (name == "result" && i == 0) || name == fmt.Sprintf("result%d", i) {
				o.saveOut |= 1 << i
				found = true
			}
		}
		if !found {
			panic("tensor.Register: " + d.Schema + ": Save names " + name + ", which is no argument or result")
		}
	}
	for _, name := range strings.Fields(d.Constant) {
		i := declared.Index(name)
		if i < 0 {
			panic("tensor.Register: " + d.Schema + ": Constant names " + name + ", which is no argument")
		}
		o.consts |= 1 << i
	}
	o.grad = nodeName(s, d.Grad)
	key := s.Namespace + "::" + s.Name
	registry.byName[key] = append(registry.byName[key], o)
	return o
}

// RegisterKernel adds a backend's kernel to an operator that is already defined, for all its forms at once: functional,
// in place, with out= and with numbers, under all names.
func RegisterKernel(full string, d DeviceType, kernel func(c *Ctx)) {
	registry.Lock()
	defer registry.Unlock()
	o := registry.ops[full]
	if o == nil || o.Def == nil {
		panic("tensor.RegisterKernel: there is no operator " + full)
	}
	o.Def.others[d] = kernel
}

// LookupOp finds an operator by its full name ("aten::add.Tensor"), nil when it is not registered.
func LookupOp(full string) *Op {
	registry.RLock()
	defer registry.RUnlock()
	if o := registry.ops[full]; o != nil && o.Def != nil {
		return o
	}
	return nil
}

// Overloads lists the overloads of a name without overload part ("aten::add"), in order of registration.
func Overloads(name string) []*Op {
	registry.RLock()
	defer registry.RUnlock()
	return registry.byName[name]
}

// Ops lists every registered operator and variant, sorted by full name.
func Ops() []*Op {
	registry.RLock()
	defer registry.RUnlock()
	var out []*Op
	for _, o := range registry.ops {
		if o.Def != nil {
			out = append(out, o)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].full < out[j].full })
	return out
}

// Base is the operator that a derived variant comes from, nil for others.
func (o *Op) Base() *Op { return o.base }

// IsAlias reports a further name of an operator.
func (o *Op) IsAlias() bool { return o.base == nil && o.full != o.def }

// IsVariant reports an in-place, out or scalar form derived from another operator.
func (o *Op) IsVariant() bool { return o.base != nil }

// Box turns a Go value into a boxed argument.
func Box(a any) Value {
	switch x := a.(type) {
	case nil:
		return Value{}
	case Value:
		return x
	case *Tensor:
		return TensorValue(x)
	case []*Tensor:
		return TensorsValue(x)
	case []int:
		return IntsValue(x)
	case []float64:
		return FloatsValue(x)
	case []bool:
		return BoolsValue(x)
	case string:
		return StrValue(x)
	case []string:
		return StrsValue(x)
	case DType:
		return DTypeValue(x)
	case Device:
		return DeviceValue(x)
	case MemoryFormat:
		return FormatValue(x)
	case int, float64, float32, bool, complex128, complex64, int64, int32, uint8, Num:
		return ScalarValue(x)
	}
	return AnyValue(a)
}
