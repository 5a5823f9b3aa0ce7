package graph

import (
	"fmt"
	"slices"
	"strings"
)

// TypeKind is what a static type is made of.
type TypeKind uint8

// The kinds of types. The numbers of dtypes, layouts and memory formats have the type int, as in TorchScript.
const (
	AnyType TypeKind = iota
	TensorType
	IntType
	FloatType
	BoolType
	ComplexType
	StrType
	NoneType
	NumberType // Scalar: int, float, bool or complex
	DeviceType
	GeneratorType
	ListType     // Elems[0] is that of the elements
	DictType     // Elems are key and value
	TupleType    // Elems are the fields; Name and Fields are those of a named tuple
	OptionalType // Elems[0] or None
	UnionType    // one of Elems
	FutureType   // Elems[0]
	ClassType    // Class tells
	InterfaceType
	EnumType
	FunctionType // a function as a value
	VarType      // a type variable in a schema; Name is the variable's
	AnyEnumType
	AnyListType
	AnyTupleType
	AnyClassType
	OpaqueType // a value that only operators look into; Name is its type's
)

// Type is the static type of a value.
type Type struct {
	Kind   TypeKind
	Elems  []*Type
	Name   string
	Fields []string
	Class  *Class
}

// The types without parts.
var (
	Any       = &Type{Kind: AnyType}
	Tensor    = &Type{Kind: TensorType}
	Int       = &Type{Kind: IntType}
	Float     = &Type{Kind: FloatType}
	Bool      = &Type{Kind: BoolType}
	Complex   = &Type{Kind: ComplexType}
	Str       = &Type{Kind: StrType}
	None      = &Type{Kind: NoneType}
	Number    = &Type{Kind: NumberType}
	Device    = &Type{Kind: DeviceType}
	Generator = &Type{Kind: GeneratorType}
)

// ListOf is the type of lists with elements of type t.
func ListOf(t *Type) *Type { return &Type{Kind: ListType, Elems: []*Type{t}} }

// DictOf is the type of dictionaries.
func DictOf(key, value *Type) *Type { return &Type{Kind: DictType, Elems: []*Type{key, value}} }

// TupleOf is the type of tuples with these fields.
func TupleOf(elems ...*Type) *Type { return &Type{Kind: TupleType, Elems: elems} }

// OptionalOf is the type of values of type t or None.
func OptionalOf(t *Type) *Type {
	switch t.Kind {
	case OptionalType, NoneType, AnyType:
		return t
	}
	return &Type{Kind: OptionalType, Elems: []*Type{t}}
}

// FutureOf is the type of results that are still computed.
func FutureOf(t *Type) *Type { return &Type{Kind: FutureType, Elems: []*Type{t}} }

var plainNames = map[TypeKind][2]string{ // in graphs and schemas, and in Python
	AnyType: {"Any", "Any"}, TensorType: {"Tensor", "Tensor"}, IntType: {"int", "int"}, FloatType: {"float", "float"},
	BoolType: {"bool", "bool"}, ComplexType: {"complex", "complex"}, StrType: {"str", "str"},
	NoneType: {"NoneType", "NoneType"}, NumberType: {"Scalar", "number"}, DeviceType: {"Device", "Device"},
	GeneratorType: {"Generator", "Generator"}, AnyEnumType: {"AnyEnumType", "AnyEnumType"},
	AnyListType: {"list", "list"}, AnyTupleType: {"tuple", "tuple"}, AnyClassType: {"AnyClassType", "AnyClassType"},
	FunctionType: {"Function", "Function"},
}

// String is the type as PyTorch prints it in graphs and schemas: "int[]", "Tensor?", "Dict(str, int)".
func (t *Type) String() string {
	switch t.Kind {
	case ListType:
		return t.Elems[0].String() + "[]"
	case OptionalType:
		return t.Elems[0].String() + "?"
	case TupleType:
		if t.Name != "" {
			parts := make([]string, len(t.Elems))
			for i, e := range t.Elems {
				parts[i] = t.Fields[i] + " : " + e.String()
			}
			return "NamedTuple(" + strings.Join(parts, ", ") + ")"
		}
		return "(" + joinTypes(t.Elems, (*Type).String) + ")"
	case DictType:
		return "Dict(" + joinTypes(t.Elems, (*Type).String) + ")"
	case FutureType:
		return "Future(" + t.Elems[0].String() + ")"
	case UnionType:
		return "Union(" + joinTypes(t.Elems, (*Type).String) + ")"
	case EnumType:
		return "Enum<" + t.Class.Name + ">"
	case ClassType, InterfaceType:
		return t.Class.Name
	case VarType, OpaqueType:
		return t.Name
	}
	return plainNames[t.Kind][0]
}

// Annotation is the type as Python code names it: "List[int]", "Optional[Tensor]".
func (t *Type) Annotation() string {
	switch t.Kind {
	case ListType:
		return "List[" + t.Elems[0].Annotation() + "]"
	case OptionalType:
		return "Optional[" + t.Elems[0].Annotation() + "]"
	case TupleType:
		if t.Name != "" {
			return t.Name
		}
		if len(t.Elems) == 0 {
			return "Tuple[()]"
		}
		return "Tuple[" + joinTypes(t.Elems, (*Type).Annotation) + "]"
	case DictType:
		return "Dict[" + joinTypes(t.Elems, (*Type).Annotation) + "]"
	case FutureType:
		return "Future[" + t.Elems[0].Annotation() + "]"
	case UnionType:
		return "Union[" + joinTypes(t.Elems, (*Type).Annotation) + "]"
	case ClassType, InterfaceType, EnumType:
		return t.Class.Name
	case VarType, OpaqueType:
		return t.Name
	}
	return plainNames[t.Kind][1]
}

func joinTypes(l []*Type, f func(*Type) string) string {
	parts := make([]string, len(l))
	for i, e := range l {
		parts[i] = f(e)
	}
	return strings.Join(parts, ", ")
}

// Equal reports that two types are the same.
func (t *Type) Equal(u *Type) bool {
	if t == u {
		return true
	}
	if t.Kind != u.Kind || t.Name != u.Name || t.Class != u.Class || len(t.Elems) != len(u.Elems) {
		return false
	}
	for i := range t.Elems {
		if !t.Elems[i].Equal(u.Elems[i]) {
			return false
		}
	}
	return true
}

// Fits reports that a value of type t may stand where one of type u is wanted, without a conversion.
func (t *Type) Fits(u *Type) bool {
	if u.Kind == AnyType || t.Equal(u) {
		return true
	}
	if t.Kind == UnionType {
		return !slices.ContainsFunc(t.Elems, func(e *Type) bool { return !e.Fits(u) })
	}
	if t.Kind == OptionalType && (u.Kind == UnionType || u.Kind == OptionalType) {
		return None.Fits(u) && t.Elems[0].Fits(u)
	}
	switch u.Kind {
	case OptionalType:
		return t.Kind == NoneType || t.Fits(u.Elems[0])
	case UnionType:
		return slices.ContainsFunc(u.Elems, t.Fits)
	case NumberType:
		return t.Kind == IntType || t.Kind == FloatType || t.Kind == ComplexType || t.Kind == BoolType
	case AnyEnumType:
		return t.Kind == EnumType
	case AnyListType:
		return t.Kind == ListType
	case AnyTupleType:
		return t.Kind == TupleType
	case AnyClassType:
		return t.Kind == ClassType
	case ListType:
		return t.Kind == ListType && t.Elems[0].Fits(u.Elems[0])
	case DictType, FutureType, TupleType:
		if t.Kind != u.Kind || len(t.Elems) != len(u.Elems) || u.Name != "" && t.Name != u.Name {
			return false
		}
		for i := range t.Elems {
			if !t.Elems[i].Fits(u.Elems[i]) {
				return false
			}
		}
		return true
	case InterfaceType:
		return t.Kind == ClassType && t.Class.Implements(u.Class) || t.Kind == InterfaceType &&
			t.Class.Implements(u.Class)
	}
	return false
}

// typeParser reads types of PyTorch's schema language.
type typeParser struct {
	s     string
	depth int
}

const maxTypeDepth = 64

// ParseType reads a type of the schema language: "Tensor", "int[2]?", "Dict(str, t)", "(int, Tensor)[]". A name that is
// no type of the language is a type variable.
func ParseType(s string) (*Type, error) {
	p := &typeParser{s: s}
	t, _, _, err := p.parse()
	if err == nil && strings.TrimSpace(p.s) != "" {
		err = fmt.Errorf("type %q: what is %q?", s, p.s)
	}
	return t, err
}

// schemaNames are the plain types by all names that they have in schemas.
var schemaNames = func() map[string]*Type {
	m := map[string]*Type{
		"SymInt": Int, "ScalarType": Int, "Layout": Int, "MemoryFormat": Int, "DeviceIndex": Int, "number": Number,
		"SymBool": Bool, "SymFloat": Float, "Dimname": Str, "QScheme": Int,
	}
	for k, n := range plainNames {
		m[n[0]] = &Type{Kind: k}
	}
	for _, t := range []*Type{Any, Tensor, Int, Float, Bool, Complex, Str, None, Number, Device, Generator} {
		m[t.String()] = t
	}
	return m
}()

func (p *typeParser) word() string {
	p.s = strings.TrimLeft(p.s, " ")
	i := 0
	for i < len(p.s) && (p.s[i] == '_' || p.s[i] == '.' || isAlnum(p.s[i])) {
		i++
	}
	w := p.s[:i]
	p.s = p.s[i:]
	return w
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (p *typeParser) eat(s string) bool {
	if strings.HasPrefix(p.s, s) {
		p.s = p.s[len(s):]
		return true
	}
	return false
}

// parse reads one type, with what it aliases and the length that a list has.
func (p *typeParser) parse() (t *Type, alias string, fixed int, err error) {
	if p.depth++; p.depth > maxTypeDepth {
		return nil, "", 0, fmt.Errorf("type is nested more than %d deep", maxTypeDepth)
	}
	defer func() { p.depth-- }()
	p.s = strings.TrimLeft(p.s, " ")
	if p.eat("(") {
		elems, err := p.list()
		if err != nil {
			return nil, "", 0, err
		}
		t = TupleOf(elems...)
	} else {
		w := p.word()
		switch {
		case w == "":
			return nil, "", 0, fmt.Errorf("want a type at %q", p.s)
		case (w == "Dict" || w == "Future" || w == "RRef" || w == "Await" || w == "Union") && p.eat("("):
			elems, err := p.list()
			if err != nil {
				return nil, "", 0, err
			}
			kind := map[string]TypeKind{"Dict": DictType, "Future": FutureType, "RRef": FutureType,
				"Await": FutureType, "Union": UnionType}[w]
			if kind == DictType && len(elems) != 2 || kind == FutureType && len(elems) != 1 {
				return nil, "", 0, fmt.Errorf("%s with %d parts", w, len(elems))
			}
			t = &Type{Kind: kind, Elems: elems}
		case schemaNames[w] != nil:
			t = schemaNames[w]
		case strings.HasPrefix(w, "__torch__") || len(w) > 2 && w[0] >= 'A' && w[0] <= 'Z':
			t = &Type{Kind: OpaqueType, Name: w}
		default:
			t = &Type{Kind: VarType, Name: w}
		}
	}
	for {
		switch {
		case p.eat("?"):
			t = OptionalOf(t)
		case p.eat("["):
			n := 0
			for len(p.s) > 0 && p.s[0] >= '0' && p.s[0] <= '9' && n < 1000 {
				n = n*10 + int(p.s[0]-'0')
				p.s = p.s[1:]
			}
			if !p.eat("]") {
				return nil, "", 0, fmt.Errorf("want ] at %q", p.s)
			}
			t, fixed = ListOf(t), n
		case len(p.s) > 0 && p.s[0] == '(':
			end := strings.IndexByte(p.s, ')')
			if end < 0 {
				return nil, "", 0, fmt.Errorf("want ) at %q", p.s)
			}
			alias = p.s[1:end]
			p.s = p.s[end+1:]
		default:
			return t, alias, fixed, nil
		}
	}
}

// list reads types up to the closing parenthesis.
func (p *typeParser) list() ([]*Type, error) {
	var out []*Type
	for {
		p.s = strings.TrimLeft(p.s, " ")
		if p.eat(")") {
			return out, nil
		}
		t, _, _, err := p.parse()
		if err != nil {
			return nil, err
		}
		out = append(out, t)
		p.s = strings.TrimLeft(p.s, " ")
		if !p.eat(",") && !strings.HasPrefix(p.s, ")") {
			return nil, fmt.Errorf("want , or ) at %q", p.s)
		}
	}
}
