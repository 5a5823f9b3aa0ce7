package jit

import (
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/gotorch-dev/torch/internal/python"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// unit is the code of an archive: its files, and the classes and functions that have been declared from them.
type unit struct {
	read    func(entry string) (string, bool, error) // a file of the archive
	version int

	files     map[string]*sourceFile
	classes   map[string]*graph.Class
	tuples    map[string]*graph.Type // named tuples
	defaults  map[string][]*tensor.Value
	funcs     map[string]*function
	constants []tensor.Value
	declared  map[string]*python.Class // the classes that have code

	queue []*function // whose bodies are to be translated
	depth int

	linked []*unit // programs whose modules are part of a recorded one
	lite   bool    // there is bytecode instead of code
	traced bool    // recorded by Trace

	fuse graph.FuseOptions // of methods that are prepared for inference

	mu      sync.Mutex
	modules map[*graph.Object]*Module
}

// owner is the unit, of this one and those linked with it, that a class belongs to.
func (u *unit) owner(c *graph.Class) *unit {
	for _, v := range u.linked {
		if w := v.owner(c); w.classes[c.Name] == c {
			return w
		}
	}
	return u
}

// module is the Module of an object, the same one each time.
func (u *unit) module(o *graph.Object) *Module {
	if w := u.owner(o.Class); w != u {
		return w.module(o)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if m := u.modules[o]; m != nil {
		return m
	}
	if u.modules == nil {
		u.modules = map[*graph.Object]*Module{}
	}
	m := &Module{obj: o, unit: u}
	u.modules[o] = m
	nn.SetMode(m, m.Training())
	return m
}

type sourceFile struct {
	name string // entry of the archive
	src  string
	defs map[string]python.Stmt // classes and functions by name
}

// function is a function or a method of an archive.
type function struct {
	*graph.Function
	unit *unit
	file *sourceFile
	def  *python.Def
	self *graph.Type // of a method
	res  *graph.Type

	translated bool
	err        error
}

// SyntaxError is a mistake in the code of an archive.
type SyntaxError = python.SyntaxError

// floats are the names by which TorchScript's printer writes floats that have no digits.
var floats = map[string]any{"inf": math.Inf(1), "infinity": math.Inf(1), "nan": math.NaN()}

func newUnit(read func(string) (string, bool, error)) *unit {
	return &unit{read: read, files: map[string]*sourceFile{}, classes: map[string]*graph.Class{},
		tuples: map[string]*graph.Type{}, defaults: map[string][]*tensor.Value{}, funcs: map[string]*function{},
		declared: map[string]*python.Class{}}
}

// file reads and parses the file that defines the members of a qualified prefix, nil when there is none.
func (u *unit) file(prefix string) (*sourceFile, error) {
	if f, ok := u.files[prefix]; ok {
		return f, nil
	}
	u.files[prefix] = nil
	entry := "code/" + strings.ReplaceAll(prefix, ".", "/") + ".py"
	src, ok, err := u.read(entry)
	if err != nil || !ok {
		return nil, err
	}
	body, err := python.Parse(entry, src, floats)
	if err != nil {
		return nil, err
	}
	f := &sourceFile{name: entry, src: src, defs: map[string]python.Stmt{}}
	for _, s := range body {
		switch s := s.(type) {
		case *python.Class:
			f.defs[s.Name] = s
		case *python.Def:
			f.defs[s.Name] = s
		}
	}
	u.files[prefix] = f
	return f, nil
}

// find looks for the definition of a qualified name.
func (u *unit) find(qualified string) (*sourceFile, python.Stmt, error) {
	i := strings.LastIndexByte(qualified, '.')
	if i < 0 {
		return nil, nil, nil
	}
	f, err := u.file(qualified[:i])
	if err != nil || f == nil {
		return nil, nil, err
	}
	return f, f.defs[qualified[i+1:]], nil
}

// typeNamed finds the class, enumeration, interface or named tuple of a qualified name, nil when there is none.
func (u *unit) typeNamed(qualified string) (*graph.Type, error) {
	if c := u.classes[qualified]; c != nil {
		return c.Type, nil
	}
	if t := u.tuples[qualified]; t != nil {
		return t, nil
	}
	if strings.HasPrefix(qualified, "__torch__.torch.classes.") {
		return &graph.Type{Kind: graph.OpaqueType, Name: qualified}, nil
	}
	f, s, err := u.find(qualified)
	if err != nil {
		return nil, err
	}
	c, ok := s.(*python.Class)
	if !ok {
		return nil, nil
	}
	if u.depth++; u.depth > python.MaxDepth {
		return nil, &SyntaxError{File: f.name, Line: c.Line, Msg: "classes refer to each other too deeply"}
	}
	defer func() { u.depth-- }()
	u.declared[qualified] = c
	return u.declare(qualified, f, c)
}

// declare makes a class of its definition. Its methods are translated later, since they may need other classes.
func (u *unit) declare(qualified string, f *sourceFile, s *python.Class) (*graph.Type, error) {
	switch s.Base() {
	case "NamedTuple":
		return u.declareTuple(qualified, f, s)
	case "Enum":
		return u.declareEnum(qualified, f, s)
	}
	kind := graph.ClassType
	if s.Base() == "ModuleInterface" || s.Base() == "Interface" {
		kind = graph.InterfaceType
	}
	c := graph.NewClass(qualified, kind)
	c.Module = s.Base() == "Module"
	u.classes[qualified] = c
	roles := map[string][]string{}
	for _, x := range s.Body {
		if err := u.member(c, f, x, roles); err != nil {
			return nil, err
		}
	}
	for i := range c.Attrs {
		a := &c.Attrs[i]
		a.Parameter = contains(roles["__parameters__"], a.Name)
		a.Buffer = contains(roles["__buffers__"], a.Name)
	}
	if c.Module {
		c.Hooks.Pre, c.Hooks.Post = roles["__forward_pre_hooks__"], roles["__forward_hooks__"]
	}
	for _, x := range s.Body {
		d, ok := x.(*python.Def)
		if !ok {
			continue
		}
		if kind == graph.InterfaceType {
			sch, _, err := u.signature(f, d, c.Type)
			if err != nil {
				return nil, err
			}
			if c.Wants == nil {
				c.Wants = map[string]*graph.Schema{}
			}
			sch.Name = d.Name
			c.Wants[d.Name] = sch
			continue
		}
		m, err := u.function(qualified+"."+d.Name, f, d, c.Type)
		if err != nil {
			return nil, err
		}
		c.AddMethod(d.Name, m.Function)
	}
	return c.Type, nil
}

func contains(l []string, s string) bool {
	for _, x := range l {
		if x == s {
			return true
		}
	}
	return false
}

// member declares an attribute or a constant of a class.
func (u *unit) member(c *graph.Class, f *sourceFile, s python.Stmt, roles map[string][]string) error {
	a, ok := s.(*python.Assign)
	if !ok || len(a.Targets) != 1 {
		return nil
	}
	switch t := a.Targets[0].(type) {
	case *python.Name:
		if a.Type == nil {
			if l, ok := a.Value.(*python.List); ok && strings.HasPrefix(t.Name, "__") {
				for _, e := range l.Items {
					if k, ok := e.(*python.Const); ok {
						if name, ok := k.Value.(string); ok {
							roles[t.Name] = append(roles[t.Name], name)
						}
					}
				}
			}
			return nil
		}
		if ix, ok := a.Type.(*python.Index); ok && len(ix.Subs) == 1 {
			if n, ok := ix.X.(*python.Name); ok && n.Name == "Final" && a.Value != nil {
				v, err := u.literal(f, a.Value)
				if err != nil {
					return err
				}
				c.Consts[t.Name] = v
				return nil
			}
		}
		typ, err := u.typeOf(f, a.Type)
		if err != nil {
			return err
		}
		c.AddAttr(graph.Attr{Name: t.Name, Type: typ})
	case *python.Index: // __annotations__["0"] = type
		n, ok := t.X.(*python.Name)
		if !ok || n.Name != "__annotations__" || len(t.Subs) != 1 {
			return nil
		}
		k, _ := t.Subs[0].(*python.Const)
		if k == nil {
			return nil
		}
		name, _ := k.Value.(string)
		typ, err := u.typeOf(f, a.Value)
		if err != nil {
			return err
		}
		c.AddAttr(graph.Attr{Name: name, Type: typ})
	}
	return nil
}

func (u *unit) declareTuple(qualified string, f *sourceFile, s *python.Class) (*graph.Type, error) {
	t := &graph.Type{Kind: graph.TupleType, Name: qualified}
	u.tuples[qualified] = t
	for _, x := range s.Body {
		a, ok := x.(*python.Assign)
		if !ok || a.Type == nil {
			continue
		}
		n, ok := a.Targets[0].(*python.Name)
		if !ok {
			continue
		}
		e, err := u.typeOf(f, a.Type)
		if err != nil {
			return nil, err
		}
		var def *tensor.Value
		if a.Value != nil {
			v, err := u.literal(f, a.Value)
			if err != nil {
				return nil, err
			}
			def = &v
		}
		t.Fields, t.Elems = append(t.Fields, n.Name), append(t.Elems, e)
		u.defaults[qualified] = append(u.defaults[qualified], def)
	}
	return t, nil
}

func (u *unit) declareEnum(qualified string, f *sourceFile, s *python.Class) (*graph.Type, error) {
	c := graph.NewClass(qualified, graph.EnumType)
	u.classes[qualified] = c
	for _, x := range s.Body {
		a, ok := x.(*python.Assign)
		if !ok || a.Value == nil {
			continue
		}
		n, ok := a.Targets[0].(*python.Name)
		if !ok {
			continue
		}
		v, err := u.literal(f, a.Value)
		if err != nil {
			return nil, err
		}
		c.Members = append(c.Members, &graph.Enum{Class: c, Name: n.Name, Value: v})
	}
	return c.Type, nil
}

// literal is the value of a constant expression.
func (u *unit) literal(f *sourceFile, e python.Expr) (tensor.Value, error) {
	items := func(l []python.Expr) ([]tensor.Value, error) {
		out := make([]tensor.Value, len(l))
		for i, x := range l {
			var err error
			if out[i], err = u.literal(f, x); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	switch e := e.(type) {
	case *python.Const:
		return boxConst(e.Value), nil
	case *python.Unary:
		v, err := u.literal(f, e.X)
		if err == nil && e.Op == "-" && v.K != tensor.KNone && v.K != tensor.KStr && v.K != tensor.KAny {
			n := v.Num()
			n.I, n.F, n.C = -n.I, -n.F, -n.C
			v = n.Value()
		}
		return v, err
	case *python.Tuple:
		l, err := items(e.Items)
		return graph.NewTuple(l...), err
	case *python.List:
		l, err := items(e.Items)
		return graph.NewList(nil, l...), err
	case *python.Dict:
		keys, err := items(e.Keys)
		if err != nil {
			return tensor.Value{}, err
		}
		vals, err := items(e.Vals)
		d := graph.NewDict(nil, nil)
		for i := range vals {
			if err := tensor.Try(func() { d.Set(keys[i], vals[i]) }); err != nil {
				return tensor.Value{}, err
			}
		}
		return graph.Box(d), err
	case *python.Binary: // 3.+2.j
		l, err := u.literal(f, e.L)
		if err != nil {
			return l, err
		}
		r, err := u.literal(f, e.R)
		if err == nil && r.K == tensor.KComplex && (e.Op == "+" || e.Op == "-") && l.K != tensor.KStr &&
			l.K != tensor.KAny {
			c := r.Num().C
			if e.Op == "-" {
				c = -c
			}
			return tensor.ComplexValue(l.Num().C + c), nil
		}
	case *python.Call: // annotate(type, value), torch.device("cpu")
		if n, ok := e.Func.(*python.Name); ok && n.Name == "annotate" && len(e.Args) == 2 {
			return u.literal(f, e.Args[1])
		}
		if a, ok := e.Func.(*python.Attr); ok && a.Name == "device" && len(e.Args) > 0 {
			v, err := u.literal(f, e.Args[0])
			if s, ok := v.X.(string); ok && err == nil {
				d, err := tensor.DeviceNamed(s)
				return tensor.DeviceValue(d), err
			}
		}
	case *python.Attr:
		if q := dotted(e); strings.HasPrefix(q, "CONSTANTS.c") {
			return u.constant(q)
		} else if i := strings.LastIndexByte(q, '.'); i > 0 {
			t, err := u.typeNamed(q[:i])
			if err != nil {
				return tensor.Value{}, err
			}
			if t != nil && t.Kind == graph.EnumType {
				if m := t.Class.Member(q[i+1:]); m != nil {
					return graph.Box(m), nil
				}
			}
		}
	}
	return tensor.Value{}, &SyntaxError{File: f.name, Line: e.At(), Msg: "want a constant"}
}

func boxConst(v any) tensor.Value {
	if n, ok := v.(int64); ok {
		return tensor.Value{K: tensor.KInt, N: n}
	}
	return tensor.Box(v)
}

// constant is CONSTANTS.c7.
func (u *unit) constant(name string) (tensor.Value, error) {
	var i int
	if _, err := fmt.Sscanf(name, "CONSTANTS.c%d", &i); err != nil || i < 0 || i >= len(u.constants) {
		return tensor.Value{}, fmt.Errorf("%s is not among the %d constants of the archive", name, len(u.constants))
	}
	return u.constants[i], nil
}

// dotted is the text of names with dots between, "" for other expressions.
func dotted(e python.Expr) string {
	var parts []string
	for {
		switch x := e.(type) {
		case *python.Name:
			parts = append(parts, x.Name)
			for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
				parts[i], parts[j] = parts[j], parts[i]
			}
			return strings.Join(parts, ".")
		case *python.Attr:
			parts = append(parts, x.Name)
			e = x.X
		default:
			return ""
		}
	}
}

var plainTypes = map[string]*graph.Type{
	"Tensor": graph.Tensor, "int": graph.Int, "float": graph.Float, "bool": graph.Bool, "complex": graph.Complex,
	"str": graph.Str, "NoneType": graph.None, "None": graph.None, "Any": graph.Any, "number": graph.Number,
	"Scalar": graph.Number, "Device": graph.Device, "Generator": graph.Generator, "Layout": graph.Int,
	"list": {Kind: graph.AnyListType}, "tuple": {Kind: graph.AnyTupleType}, "AnyEnumType": {Kind: graph.AnyEnumType},
	"AnyClassType": {Kind: graph.AnyClassType}, "Stream": {Kind: graph.OpaqueType, Name: "Stream"},
	"Storage": {Kind: graph.OpaqueType, Name: "Storage"}, "Capsule": {Kind: graph.OpaqueType, Name: "Capsule"},
	"PyObject": {Kind: graph.OpaqueType, Name: "PyObject"}, "QScheme": graph.Int, "Dimname": graph.Str,
	"AnyListType": {Kind: graph.AnyListType}, "AnyTupleType": {Kind: graph.AnyTupleType},
	"torch.Tensor": graph.Tensor, "torch.device": graph.Device, "torch.dtype": graph.Int, "device": graph.Device,
	"dtype": graph.Int, "Function": {Kind: graph.FunctionType},
}

// typeOf is the type that an annotation names.
func (u *unit) typeOf(f *sourceFile, e python.Expr) (*graph.Type, error) {
	if u.depth++; u.depth > python.MaxDepth {
		return nil, &SyntaxError{File: f.name, Line: e.At(), Msg: "types are nested too deeply"}
	}
	defer func() { u.depth-- }()
	fail := func(format string, args ...any) (*graph.Type, error) {
		return nil, &SyntaxError{File: f.name, Line: e.At(), Msg: fmt.Sprintf(format, args...)}
	}
	switch x := e.(type) {
	case *python.Const:
		if x.Value == nil {
			return graph.None, nil
		}
		if s, ok := x.Value.(string); ok {
			return u.parseType(s)
		}
	case *python.Name:
		if t := plainTypes[x.Name]; t != nil {
			return t, nil
		}
		return fail("unknown type %s", x.Name)
	case *python.Attr:
		q := dotted(e)
		if t := plainTypes[q]; t != nil {
			return t, nil
		}
		t, err := u.typeNamed(q)
		if err != nil {
			return nil, err
		}
		if t == nil {
			return fail("unknown type %s", q)
		}
		return t, nil
	case *python.Index:
		name := dotted(x.X)
		name = name[strings.LastIndexByte(name, '.')+1:]
		var elems []*graph.Type
		subs := x.Subs
		if len(subs) == 1 {
			if t, ok := subs[0].(*python.Tuple); ok { // Tuple[()]
				subs = t.Items
			}
		}
		for _, s := range subs {
			t, err := u.typeOf(f, s)
			if err != nil {
				return nil, err
			}
			elems = append(elems, t)
		}
		want := map[string]int{"List": 1, "Optional": 1, "Future": 1, "Dict": 2, "RRef": 1, "Await": 1,
			"Final": 1}[name]
		if want != 0 && want != len(elems) {
			return fail("%s wants %d types, got %d", name, want, len(elems))
		}
		switch name {
		case "List", "list":
			if len(elems) == 1 {
				return graph.ListOf(elems[0]), nil
			}
		case "Optional":
			return graph.OptionalOf(elems[0]), nil
		case "Final":
			return elems[0], nil
		case "Future", "RRef", "Await":
			return graph.FutureOf(elems[0]), nil
		case "Dict", "dict":
			if len(elems) == 2 {
				return graph.DictOf(elems[0], elems[1]), nil
			}
		case "Tuple", "tuple":
			return graph.TupleOf(elems...), nil
		case "Union":
			return unionOf(elems), nil
		}
		return fail("unknown type %s", name)
	}
	return fail("want a type")
}

// unionOf is a union, or an Optional where that says the same.
func unionOf(elems []*graph.Type) *graph.Type {
	if len(elems) == 1 {
		return elems[0]
	}
	if len(elems) == 2 {
		for i := range elems {
			if elems[i].Kind == graph.NoneType {
				return graph.OptionalOf(elems[1-i])
			}
		}
	}
	return &graph.Type{Kind: graph.UnionType, Elems: elems}
}

// parseType reads the type of a tag in a pickle: "Dict[str, float]".
func (u *unit) parseType(s string) (*graph.Type, error) {
	e, err := python.ParseExpr("type", s, nil)
	if err != nil {
		return nil, err
	}
	return u.typeOf(&sourceFile{name: "type " + s}, e)
}

// function declares a function with its parameters and its result.
func (u *unit) function(name string, f *sourceFile, d *python.Def, self *graph.Type) (*function, error) {
	if fn := u.funcs[name]; fn != nil {
		return fn, nil
	}
	fn := &function{Function: graph.NewFunction(name), unit: u, file: f, def: d, self: self}
	u.funcs[name] = fn
	sch, res, err := u.signature(f, d, self)
	if err != nil {
		return nil, err
	}
	sch.Name = name
	fn.Schema, fn.res = sch, res
	u.queue = append(u.queue, fn)
	return fn, nil
}

// signature reads the parameters and the result of a definition. The first parameter of a method has the class's type
// where no annotation says so.
func (u *unit) signature(f *sourceFile, d *python.Def, self *graph.Type) (*graph.Schema, *graph.Type, error) {
	s := &graph.Schema{Name: d.Name}
	for i, p := range d.Params {
		if p.Star != 0 {
			return nil, nil, &SyntaxError{File: f.name, Line: d.Line,
				Msg: "parameters with * are not part of the language"}
		}
		t := graph.Tensor
		var err error
		switch {
		case p.Type != nil:
			t, err = u.typeOf(f, p.Type)
		case i == 0 && self != nil:
			t = self
		}
		if err != nil {
			return nil, nil, err
		}
		q := graph.Param{Name: p.Name, Type: t, KwOnly: p.KwOnly}
		if p.Default != nil {
			v, err := u.literal(f, p.Default)
			if err != nil {
				return nil, nil, err
			}
			q.Default = &v
		}
		s.Params = append(s.Params, q)
	}
	res := graph.Any
	if d.Result != nil {
		var err error
		if res, err = u.typeOf(f, d.Result); err != nil {
			return nil, nil, err
		}
	}
	s.Results = []graph.Result{{Type: res}}
	return s, res, nil
}

// funcNamed finds a function by its qualified name, nil when there is none.
func (u *unit) funcNamed(qualified string) (*function, error) {
	if fn := u.funcs[qualified]; fn != nil {
		return fn, nil
	}
	f, s, err := u.find(qualified)
	if err != nil {
		return nil, err
	}
	d, ok := s.(*python.Def)
	if !ok {
		return nil, nil
	}
	return u.function(qualified, f, d, nil)
}
