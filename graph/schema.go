package graph

import (
	"fmt"
	"strings"
	"sync"

	"github.com/gotorch-dev/torch/internal/pyfmt"
	"github.com/gotorch-dev/torch/tensor"
)

// Param is one parameter of an operator or a function.
type Param struct {
	Name    string
	Type    *Type
	KwOnly  bool
	Default *tensor.Value // nil: the argument must be given
	Alias   string        // what the parentheses of Tensor(a!) hold, "" without
	Fixed   int           // int[2]: a single number counts as two
}

// Writes reports that the call changes the argument.
func (p *Param) Writes() bool { return strings.Contains(p.Alias, "!") }

// Result is one result of an operator or a function.
type Result struct {
	Name  string
	Type  *Type
	Alias string
}

// Schema is the signature of an operator or a function.
type Schema struct {
	Name     string // with the namespace: "aten::add"
	Overload string
	Params   []Param
	Results  []Result
	VarArgs  bool // any arguments may follow
}

// FullName is the name with the overload: "aten::add.Tensor".
func (s *Schema) FullName() string {
	if s.Overload == "" {
		return s.Name
	}
	return s.Name + "." + s.Overload
}

// Index finds a parameter by name, -1 when there is none.
func (s *Schema) Index(name string) int {
	for i := range s.Params {
		if s.Params[i].Name == name {
			return i
		}
	}
	return -1
}

// String is the schema in PyTorch's notation, without what parameters alias. Of a qualified name it has the last part.
func (s *Schema) String() string {
	var b strings.Builder
	b.WriteString(s.FullName()[strings.LastIndexByte(s.Name, '.')+1:] + "(")
	for i, p := range s.Params {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.Type.String() + " " + p.Name)
		if p.Default != nil {
			var d strings.Builder
			switch p.Default.K {
			case tensor.KFloat:
				d.WriteString(pyfmt.Float(p.Default.Float()))
			case tensor.KStr:
				d.WriteString(pyfmt.Str(text(*p.Default)))
			default:
				writeValue(&d, *p.Default, 0)
			}
			b.WriteString("=" + d.String())
		}
	}
	b.WriteString(") -> ")
	parts := make([]string, len(s.Results))
	for i, r := range s.Results {
		parts[i] = r.Type.String()
	}
	if text := strings.Join(parts, ", "); len(parts) == 1 && !strings.HasPrefix(text, "(") {
		b.WriteString(text)
	} else {
		b.WriteString("(" + text + ")")
	}
	return b.String()
}

// ParseSchema reads PyTorch's schema language with all its types, which tensor.ParseSchema reduces to those of tensor
// operators.
func ParseSchema(text string) (*Schema, error) {
	fail := func(err error) (*Schema, error) { return nil, fmt.Errorf("schema %q: %w", text, err) }
	open := strings.IndexByte(text, '(')
	if open <= 0 {
		return fail(fmt.Errorf("want name(parameters) -> results"))
	}
	s := &Schema{Name: text[:open]}
	if i := strings.IndexByte(s.Name, '.'); i >= 0 {
		s.Name, s.Overload = s.Name[:i], s.Name[i+1:]
	}
	p := &typeParser{s: text[open+1:]}
	kw := false
	for !p.eat(")") {
		p.s = strings.TrimLeft(p.s, " ,")
		if p.eat("*") {
			kw = true
			continue
		}
		if p.eat("...") {
			s.VarArgs = true
			continue
		}
		t, alias, fixed, err := p.parse()
		if err != nil {
			return fail(err)
		}
		a := Param{Type: t, Alias: alias, Fixed: fixed, KwOnly: kw, Name: p.word()}
		if a.Name == "" {
			return fail(fmt.Errorf("parameter without a name at %q", p.s))
		}
		if p.eat("=") {
			v, err := p.constant(t)
			if err != nil {
				return fail(err)
			}
			a.Default = &v
		}
		s.Params = append(s.Params, a)
		if p.s == "" {
			return fail(fmt.Errorf("want )"))
		}
	}
	if p.s = strings.TrimLeft(p.s, " "); !p.eat("->") {
		return fail(fmt.Errorf("want -> at %q", p.s))
	}
	p.s = strings.TrimSpace(p.s)
	if !p.eat("(") {
		t, alias, _, err := p.parse()
		if err != nil {
			return fail(err)
		}
		s.Results = []Result{{Type: t, Alias: alias}}
		return s, nil
	}
	for !p.eat(")") {
		p.s = strings.TrimLeft(p.s, " ,")
		if p.s == "" {
			return fail(fmt.Errorf("want ) after the results"))
		}
		t, alias, _, err := p.parse()
		if err != nil {
			return fail(err)
		}
		s.Results = append(s.Results, Result{Type: t, Alias: alias, Name: p.word()})
	}
	if strings.HasPrefix(p.s, "[") { // one list of tuples
		t := TupleOf()
		for _, r := range s.Results {
			t.Elems = append(t.Elems, r.Type)
		}
		for p.eat("[]") {
			t = ListOf(t)
		}
		s.Results = []Result{{Type: t}}
	}
	return s, nil
}

// constant reads the default of a parameter up to the next comma or parenthesis.
func (p *typeParser) constant(t *Type) (tensor.Value, error) {
	end, depth, quote := 0, 0, byte(0)
	for ; end < len(p.s); end++ {
		c := p.s[end]
		if quote != 0 {
			if c == quote {
				quote = 0
			}
			continue
		}
		if c == '"' || c == '\'' {
			quote = c
		} else if c == '[' {
			depth++
		} else if c == ']' {
			depth--
		} else if depth == 0 && (c == ',' || c == ')') {
			break
		}
	}
	text := p.s[:end]
	p.s = p.s[end:]
	// a schema with this one default has the value read as the registry reads it
	name := t.String()
	if t.Kind == OptionalType {
		name = t.Elems[0].String() + "?"
	}
	if t.Kind == VarType || t.Kind == DeviceType || strings.HasPrefix(name, "Dict") {
		name = "Any"
	}
	s, err := tensor.ParseSchema("x(" + name + " x=" + text + ") -> Tensor")
	if err != nil {
		return tensor.Value{}, err
	}
	return *s.Params[0].Default, nil
}

// Func computes a helper operator on values that are not tensors. It panics with a *tensor.Error, as operators do. An
// operator with several results returns them in a *Tuple.
type Func func(args []tensor.Value) tensor.Value

// Operator is what a node can call: an operator of the registry of package tensor, or a helper.
type Operator struct {
	*Schema
	op   *tensor.Op // of the registry
	fn   Func       // of a helper
	same string     // the operator of the registry that a helper is by another name, "" for none
	// calls is the form of a helper that may call methods of objects, in the run that it is part of; nil for others.
	calls func(x *exec, a []tensor.Value) tensor.Value
}

// Op is the operator of the registry, nil for a helper.
func (o *Operator) Op() *tensor.Op { return o.op }

// Compute calls a helper. It panics with a *tensor.Error, as operators do.
func (o *Operator) Compute(args ...tensor.Value) tensor.Value {
	if o.fn == nil || len(args) != len(o.Params) {
		tensor.Fail(tensor.ErrType, "%s is no helper of %d arguments", o.FullName(), len(args))
	}
	return o.fn(args)
}

var helpers = struct {
	sync.RWMutex
	byFull map[string]*Operator
	byName map[string][]*Operator
}{byFull: map[string]*Operator{}, byName: map[string][]*Operator{}}

var registered sync.Map // *tensor.Op → *Operator

// NewHelper makes a helper operator for the nodes of one program, which Lookup does not find. It panics on a faulty
// schema.
func NewHelper(schema string, fn Func) *Operator {
	s, err := ParseSchema(schema)
	if err != nil {
		panic("graph.NewHelper: " + err.Error())
	}
	return &Operator{Schema: s, fn: fn}
}

// Register adds a helper operator: plain Go for what is no computation on tensors, such as the length of a list. It
// panics on a faulty or doubled schema, at program start.
func Register(schema string, fn Func) { register(schema, "", fn) }

// register is Register for a helper that is an operator of the registry by another name, or "".
func register(schema, same string, fn Func) {
	s, err := ParseSchema(schema)
	if err != nil {
		panic("graph.Register: " + err.Error())
	}
	helpers.Lock()
	defer helpers.Unlock()
	if helpers.byFull[s.FullName()] != nil {
		panic("graph.Register: " + s.FullName() + " is registered twice")
	}
	o := &Operator{Schema: s, fn: fn, same: same}
	helpers.byFull[s.FullName()] = o
	helpers.byName[s.Name] = append(helpers.byName[s.Name], o)
}

// Lookup finds an operator by its full name, first among the helpers, nil when there is none.
func Lookup(full string) *Operator {
	helpers.RLock()
	o := helpers.byFull[full]
	helpers.RUnlock()
	if o != nil {
		return o
	}
	if op := tensor.LookupOp(full); op != nil {
		return operatorOf(op)
	}
	return nil
}

// Overloads lists the operators of a name without overload, helpers first.
func Overloads(name string) []*Operator {
	helpers.RLock()
	out := append([]*Operator(nil), helpers.byName[name]...)
	known := len(out)
	helpers.RUnlock()
next:
	for _, op := range tensor.Overloads(name) {
		for _, h := range out[:known] {
			if h.FullName() == op.FullName() {
				continue next
			}
		}
		if o := operatorOf(op); o != nil {
			out = append(out, o)
		}
	}
	return out
}

func operatorOf(op *tensor.Op) *Operator {
	if o, ok := registered.Load(op); ok {
		return o.(*Operator)
	}
	s := &Schema{Name: op.Sch.Namespace + "::" + op.Sch.Name, Overload: op.Sch.Overload}
	for i := range op.Sch.Params {
		p := &op.Sch.Params[i]
		t := typeOfKind(p.Kind, p.ElemOpt)
		if p.Optional {
			t = OptionalOf(t)
		}
		s.Params = append(s.Params, Param{Name: p.Name, Type: t, KwOnly: p.KwOnly, Default: p.Default, Alias: p.Alias,
			Fixed: p.Fixed})
	}
	for _, r := range op.Sch.Results {
		t := typeOfKind(r.Kind, false)
		if r.Optional {
			t = OptionalOf(t)
		}
		s.Results = append(s.Results, Result{Name: r.Name, Type: t, Alias: r.Alias})
	}
	o, _ := registered.LoadOrStore(op, &Operator{Schema: s, op: op})
	return o.(*Operator)
}

// typeOfKind is the static type of a kind of the registry.
func typeOfKind(k tensor.Kind, elemOpt bool) *Type {
	switch k {
	case tensor.KTensor:
		return Tensor
	case tensor.KTensors:
		if elemOpt {
			return ListOf(OptionalOf(Tensor))
		}
		return ListOf(Tensor)
	case tensor.KInt, tensor.KDType, tensor.KLayout, tensor.KFormat:
		return Int
	case tensor.KFloat:
		return Float
	case tensor.KBool:
		return Bool
	case tensor.KComplex:
		return Complex
	case tensor.KScalar:
		return Number
	case tensor.KStr:
		return Str
	case tensor.KInts:
		return ListOf(Int)
	case tensor.KFloats:
		return ListOf(Float)
	case tensor.KBools:
		return ListOf(Bool)
	case tensor.KScalars:
		return ListOf(Number)
	case tensor.KDevice:
		return Device
	case tensor.KGenerator:
		return Generator
	case tensor.KNone:
		return None
	}
	return Any
}
