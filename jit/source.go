package jit

import (
	"fmt"
	"strings"
	"sync"

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
	declared  map[string]*classStmt // the classes that have code

	queue []*function // whose bodies are to be translated
	depth int

	linked []*unit // programs whose modules are part of a recorded one
	lite   bool    // there is bytecode instead of code
	traced bool    // recorded by Trace

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
	defs map[string]stmt // classes and functions by name
}

// function is a function or a method of an archive.
type function struct {
	*graph.Function
	unit *unit
	file *sourceFile
	def  *defStmt
	self *graph.Type // of a method
	res  *graph.Type

	translated bool
	err        error
}

func newUnit(read func(string) (string, bool, error)) *unit {
	return &unit{read: read, files: map[string]*sourceFile{}, classes: map[string]*graph.Class{},
		tuples: map[string]*graph.Type{}, defaults: map[string][]*tensor.Value{}, funcs: map[string]*function{},
		declared: map[string]*classStmt{}}
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
	body, err := parse(entry, src)
	if err != nil {
		return nil, err
	}
	f := &sourceFile{name: entry, src: src, defs: map[string]stmt{}}
	for _, s := range body {
		switch s := s.(type) {
		case *classStmt:
			f.defs[s.name] = s
		case *defStmt:
			f.defs[s.name] = s
		}
	}
	u.files[prefix] = f
	return f, nil
}

// find looks for the definition of a qualified name.
func (u *unit) find(qualified string) (*sourceFile, stmt, error) {
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
	c, ok := s.(*classStmt)
	if !ok {
		return nil, nil
	}
	if u.depth++; u.depth > maxExprDepth {
		return nil, &SyntaxError{File: f.name, Line: c.line, Msg: "classes refer to each other too deeply"}
	}
	defer func() { u.depth-- }()
	u.declared[qualified] = c
	return u.declare(qualified, f, c)
}

// declare makes a class of its definition. Its methods are translated later, since they may need other classes.
func (u *unit) declare(qualified string, f *sourceFile, s *classStmt) (*graph.Type, error) {
	switch s.base {
	case "NamedTuple":
		return u.declareTuple(qualified, f, s)
	case "Enum":
		return u.declareEnum(qualified, f, s)
	}
	kind := graph.ClassType
	if s.base == "ModuleInterface" || s.base == "Interface" {
		kind = graph.InterfaceType
	}
	c := graph.NewClass(qualified, kind)
	c.Module = s.base == "Module"
	u.classes[qualified] = c
	roles := map[string][]string{}
	for _, x := range s.body {
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
	for _, x := range s.body {
		d, ok := x.(*defStmt)
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
			sch.Name = d.name
			c.Wants[d.name] = sch
			continue
		}
		m, err := u.function(qualified+"."+d.name, f, d, c.Type)
		if err != nil {
			return nil, err
		}
		c.AddMethod(d.name, m.Function)
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
func (u *unit) member(c *graph.Class, f *sourceFile, s stmt, roles map[string][]string) error {
	a, ok := s.(*assignStmt)
	if !ok || len(a.targets) != 1 {
		return nil
	}
	switch t := a.targets[0].(type) {
	case *nameExpr:
		if a.typ == nil {
			if l, ok := a.value.(*listExpr); ok && strings.HasPrefix(t.name, "__") {
				for _, e := range l.items {
					if k, ok := e.(*constExpr); ok {
						if name, ok := k.v.(string); ok {
							roles[t.name] = append(roles[t.name], name)
						}
					}
				}
			}
			return nil
		}
		if ix, ok := a.typ.(*indexExpr); ok && len(ix.subs) == 1 {
			if n, ok := ix.x.(*nameExpr); ok && n.name == "Final" && a.value != nil {
				v, err := u.literal(f, a.value)
				if err != nil {
					return err
				}
				c.Consts[t.name] = v
				return nil
			}
		}
		typ, err := u.typeOf(f, a.typ)
		if err != nil {
			return err
		}
		c.AddAttr(graph.Attr{Name: t.name, Type: typ})
	case *indexExpr: // __annotations__["0"] = type
		n, ok := t.x.(*nameExpr)
		if !ok || n.name != "__annotations__" || len(t.subs) != 1 {
			return nil
		}
		k, _ := t.subs[0].(*constExpr)
		if k == nil {
			return nil
		}
		name, _ := k.v.(string)
		typ, err := u.typeOf(f, a.value)
		if err != nil {
			return err
		}
		c.AddAttr(graph.Attr{Name: name, Type: typ})
	}
	return nil
}

func (u *unit) declareTuple(qualified string, f *sourceFile, s *classStmt) (*graph.Type, error) {
	t := &graph.Type{Kind: graph.TupleType, Name: qualified}
	u.tuples[qualified] = t
	for _, x := range s.body {
		a, ok := x.(*assignStmt)
		if !ok || a.typ == nil {
			continue
		}
		n, ok := a.targets[0].(*nameExpr)
		if !ok {
			continue
		}
		e, err := u.typeOf(f, a.typ)
		if err != nil {
			return nil, err
		}
		var def *tensor.Value
		if a.value != nil {
			v, err := u.literal(f, a.value)
			if err != nil {
				return nil, err
			}
			def = &v
		}
		t.Fields, t.Elems = append(t.Fields, n.name), append(t.Elems, e)
		u.defaults[qualified] = append(u.defaults[qualified], def)
	}
	return t, nil
}

func (u *unit) declareEnum(qualified string, f *sourceFile, s *classStmt) (*graph.Type, error) {
	c := graph.NewClass(qualified, graph.EnumType)
	u.classes[qualified] = c
	for _, x := range s.body {
		a, ok := x.(*assignStmt)
		if !ok || a.value == nil {
			continue
		}
		n, ok := a.targets[0].(*nameExpr)
		if !ok {
			continue
		}
		v, err := u.literal(f, a.value)
		if err != nil {
			return nil, err
		}
		c.Members = append(c.Members, &graph.Enum{Class: c, Name: n.name, Value: v})
	}
	return c.Type, nil
}

// literal is the value of a constant expression.
func (u *unit) literal(f *sourceFile, e expr) (tensor.Value, error) {
	items := func(l []expr) ([]tensor.Value, error) {
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
	case *constExpr:
		return boxConst(e.v), nil
	case *unaryExpr:
		v, err := u.literal(f, e.x)
		if err == nil && e.op == "-" && v.K != tensor.KNone && v.K != tensor.KStr && v.K != tensor.KAny {
			n := v.Num()
			n.I, n.F, n.C = -n.I, -n.F, -n.C
			v = n.Value()
		}
		return v, err
	case *tupleExpr:
		l, err := items(e.items)
		return graph.NewTuple(l...), err
	case *listExpr:
		l, err := items(e.items)
		return graph.NewList(nil, l...), err
	case *dictExpr:
		keys, err := items(e.keys)
		if err != nil {
			return tensor.Value{}, err
		}
		vals, err := items(e.vals)
		d := graph.NewDict(nil, nil)
		for i := range vals {
			if err := tensor.Try(func() { d.Set(keys[i], vals[i]) }); err != nil {
				return tensor.Value{}, err
			}
		}
		return graph.Box(d), err
	case *binExpr: // 3.+2.j
		l, err := u.literal(f, e.l)
		if err != nil {
			return l, err
		}
		r, err := u.literal(f, e.r)
		if err == nil && r.K == tensor.KComplex && (e.op == "+" || e.op == "-") && l.K != tensor.KStr &&
			l.K != tensor.KAny {
			c := r.Num().C
			if e.op == "-" {
				c = -c
			}
			return tensor.ComplexValue(l.Num().C + c), nil
		}
	case *callExpr: // annotate(type, value), torch.device("cpu")
		if n, ok := e.f.(*nameExpr); ok && n.name == "annotate" && len(e.args) == 2 {
			return u.literal(f, e.args[1])
		}
		if a, ok := e.f.(*attrExpr); ok && a.name == "device" && len(e.args) > 0 {
			v, err := u.literal(f, e.args[0])
			if s, ok := v.X.(string); ok && err == nil {
				d, err := tensor.DeviceNamed(s)
				return tensor.DeviceValue(d), err
			}
		}
	case *attrExpr:
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
	return tensor.Value{}, &SyntaxError{File: f.name, Line: e.at(), Msg: "want a constant"}
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
func dotted(e expr) string {
	var parts []string
	for {
		switch x := e.(type) {
		case *nameExpr:
			parts = append(parts, x.name)
			for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
				parts[i], parts[j] = parts[j], parts[i]
			}
			return strings.Join(parts, ".")
		case *attrExpr:
			parts = append(parts, x.name)
			e = x.x
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
func (u *unit) typeOf(f *sourceFile, e expr) (*graph.Type, error) {
	if u.depth++; u.depth > maxExprDepth {
		return nil, &SyntaxError{File: f.name, Line: e.at(), Msg: "types are nested too deeply"}
	}
	defer func() { u.depth-- }()
	fail := func(format string, args ...any) (*graph.Type, error) {
		return nil, &SyntaxError{File: f.name, Line: e.at(), Msg: fmt.Sprintf(format, args...)}
	}
	switch x := e.(type) {
	case *constExpr:
		if x.v == nil {
			return graph.None, nil
		}
		if s, ok := x.v.(string); ok {
			return u.parseType(s)
		}
	case *nameExpr:
		if t := plainTypes[x.name]; t != nil {
			return t, nil
		}
		return fail("unknown type %s", x.name)
	case *attrExpr:
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
	case *indexExpr:
		name := dotted(x.x)
		name = name[strings.LastIndexByte(name, '.')+1:]
		var elems []*graph.Type
		subs := x.subs
		if len(subs) == 1 {
			if t, ok := subs[0].(*tupleExpr); ok { // Tuple[()]
				subs = t.items
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
	toks, err := lex("type", s)
	if err != nil {
		return nil, err
	}
	var e expr
	err = func() (err error) {
		defer func() {
			if r := recover(); r != nil {
				se, ok := r.(*SyntaxError)
				if !ok {
					panic(r)
				}
				err = se
			}
		}()
		p := &parser{file: "type", toks: toks}
		e = p.expr()
		return nil
	}()
	if err != nil {
		return nil, err
	}
	return u.typeOf(&sourceFile{name: "type " + s}, e)
}

// function declares a function with its parameters and its result.
func (u *unit) function(name string, f *sourceFile, d *defStmt, self *graph.Type) (*function, error) {
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
func (u *unit) signature(f *sourceFile, d *defStmt, self *graph.Type) (*graph.Schema, *graph.Type, error) {
	s := &graph.Schema{Name: d.name}
	for i, p := range d.params {
		t := graph.Tensor
		var err error
		switch {
		case p.typ != nil:
			t, err = u.typeOf(f, p.typ)
		case i == 0 && self != nil:
			t = self
		}
		if err != nil {
			return nil, nil, err
		}
		q := graph.Param{Name: p.name, Type: t, KwOnly: p.kwOnly}
		if p.def != nil {
			v, err := u.literal(f, p.def)
			if err != nil {
				return nil, nil, err
			}
			q.Default = &v
		}
		s.Params = append(s.Params, q)
	}
	res := graph.Any
	if d.result != nil {
		var err error
		if res, err = u.typeOf(f, d.result); err != nil {
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
	d, ok := s.(*defStmt)
	if !ok {
		return nil, nil
	}
	return u.function(qualified, f, d, nil)
}
