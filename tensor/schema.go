package tensor

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind is the type of an operator's argument or result.
type Kind uint8

// The kinds of the schema language. SymInt counts as KInt.
const (
	KNone Kind = iota
	KTensor
	KTensors // Tensor[] and Tensor?[]
	KInt
	KFloat
	KBool
	KComplex
	KScalar
	KStr
	KInts
	KFloats
	KBools
	KScalars
	KDType
	KDevice
	KLayout
	KFormat
	KGenerator
	KAny
	KStrs
)

var kindNames = map[string]Kind{
	"Tensor": KTensor, "int": KInt, "SymInt": KInt, "float": KFloat, "bool": KBool, "complex": KComplex,
	"Scalar": KScalar, "str": KStr,
	"ScalarType": KDType, "Device": KDevice, "Layout": KLayout, "MemoryFormat": KFormat, "Generator": KGenerator,
	"Any": KAny, "number": KScalar,
	"DeviceIndex": KInt, "QScheme": KInt, "Dimname": KStr, "Storage": KAny,
}

// Param is one argument of a schema.
type Param struct {
	Name     string
	Kind     Kind
	Optional bool // T?
	ElemOpt  bool // Tensor?[]
	Fixed    int  // int[2]: a single int counts as two
	KwOnly   bool
	Writes   bool   // Tensor(a!)
	Alias    string // what the parentheses of Tensor(a!) hold, "" without
	Default  *Value
	DefText  string
}

// Required reports that a call must give the argument.
func (p *Param) Required() bool { return p.Default == nil }

// Result is one return value of a schema.
type Result struct {
	Name     string
	Kind     Kind
	Optional bool
	Alias    string // "a!" in Tensor(a!)
}

// Schema is an operator's signature.
type Schema struct {
	Namespace string // "aten"; "F" for the functions of torch.nn.functional
	Name      string
	Overload  string
	Params    []Param
	Results   []Result
}

// FullName is the boxed name, "aten::add.Tensor".
func (s *Schema) FullName() string {
	n := s.Namespace + "::" + s.Name
	if s.Overload != "" {
		n += "." + s.Overload
	}
	return n
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

// ParseSchema reads PyTorch's schema language: "[ns::]name[.overload](Tensor self, int[2] k=1, *, Tensor? w=None) ->
// (Tensor, Tensor)".
func ParseSchema(text string) (*Schema, error) {
	bad := func(why string) (*Schema, error) { return nil, fmt.Errorf("schema %q: %s", text, why) }
	open := strings.IndexByte(text, '(')
	arrow := strings.LastIndex(text, ") -> ")
	if open < 0 || arrow < open {
		return bad("want name(arguments) -> results")
	}
	s := &Schema{Namespace: "aten", Name: text[:open]}
	if i := strings.Index(s.Name, "::"); i >= 0 {
		s.Namespace, s.Name = s.Name[:i], s.Name[i+2:]
	}
	if i := strings.IndexByte(s.Name, '.'); i >= 0 {
		s.Name, s.Overload = s.Name[:i], s.Name[i+1:]
	}
	if !isName(s.Namespace) || !isName(s.Name) || s.Overload != "" && !isName(s.Overload) {
		return bad("want [namespace::]name[.overload] of letters, digits and _")
	}
	kw := false
	for _, a := range splitTop(text[open+1 : arrow]) {
		if a == "*" {
			kw = true
			continue
		}
		p := Param{KwOnly: kw}
		typ, rest := cutType(a)
		if !p.setType(typ) {
			return bad("unknown type " + typ)
		}
		p.Name = rest
		if i := strings.IndexByte(rest, '='); i >= 0 {
			p.Name, p.DefText = rest[:i], rest[i+1:]
			v, err := parseDefault(&p, p.DefText)
			if err != nil {
				return bad(err.Error())
			}
			p.Default = &v
		}
		if !isName(p.Name) {
			return bad("argument without a name: " + a)
		}
		s.Params = append(s.Params, p)
	}
	ret := strings.TrimSpace(text[arrow+5:])
	if strings.HasPrefix(ret, "(") && strings.HasSuffix(ret, ")") {
		ret = ret[1 : len(ret)-1]
	}
	for _, r := range splitTop(ret) {
		typ, name := cutType(r)
		var p Param
		if !p.setType(typ) {
			return bad("unknown result type " + typ)
		}
		if name != "" && !isName(name) {
			return bad("result " + r + " has no proper name")
		}
		s.Results = append(s.Results, Result{Name: name, Kind: p.Kind, Optional: p.Optional, Alias: p.Alias})
	}
	return s, nil
}

// cutType splits "Tensor(a -> *)[] x" at the blank between type and name.
func cutType(a string) (typ, name string) {
	depth := 0
	for i, c := range a {
		switch c {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ' ':
			if depth == 0 {
				return a[:i], strings.TrimSpace(a[i+1:])
			}
		}
	}
	return a, ""
}

func splitTop(s string) []string {
	var out []string
	depth, from := 0, 0
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth--
		case c == ',' && depth == 0:
			out = append(out, strings.TrimSpace(s[from:i]))
			from = i + 1
		}
	}
	if last := strings.TrimSpace(s[from:]); last != "" {
		out = append(out, last)
	}
	return out
}

// isName reports a name of letters, digits and underscores.
func isName(s string) bool {
	for _, c := range s {
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return s != ""
}

// classPrefix begins the names of the classes that PyTorch's C++ libraries register, such as packed parameters.
const classPrefix = "__torch__.torch.classes."

// maxFixed bounds the length in a type such as int[2], for whose default so many values are made.
const maxFixed = 64

func (p *Param) setType(t string) bool {
	if i := strings.IndexByte(t, '('); i >= 0 {
		j := strings.IndexByte(t, ')')
		if j < i {
			return false
		}
		p.Alias = t[i+1 : j]
		p.Writes = strings.Contains(p.Alias, "!")
		t = t[:i] + t[j+1:]
	}
	if strings.HasSuffix(t, "?") {
		p.Optional = true
		t = t[:len(t)-1]
	}
	list := false
	if i := strings.IndexByte(t, '['); i >= 0 {
		list = true
		if !strings.HasSuffix(t, "]") {
			return false
		}
		if n := t[i+1 : len(t)-1]; n != "" {
			fixed, err := strconv.Atoi(n)
			if err != nil || fixed < 1 || fixed > maxFixed {
				return false
			}
			p.Fixed = fixed
		}
		t = t[:i]
		if strings.HasSuffix(t, "?") {
			p.ElemOpt = true
			t = t[:len(t)-1]
		}
	}
	k, ok := kindNames[t]
	if !ok && strings.HasPrefix(t, classPrefix) {
		k, ok = KAny, true
	}
	if !ok {
		return false
	}
	if list {
		l, ok := map[Kind]Kind{KTensor: KTensors, KInt: KInts, KFloat: KFloats, KBool: KBools, KScalar: KScalars,
			KStr: KStrs}[k]
		if !ok {
			l = KAny
		}
		k = l
	}
	p.Kind = k
	return true
}

func parseDefault(p *Param, s string) (Value, error) {
	switch s {
	case "None":
		return Value{}, nil
	case "True", "False":
		if p.Kind == KScalar || p.Kind == KBool || p.Kind == KBools || p.Kind == KAny {
			return BoolValue(s == "True"), nil
		}
	case "Mean":
		return IntValue(1), nil
	case "contiguous_format":
		return FormatValue(ContiguousFormat), nil
	case "long":
		return DTypeValue(Int64), nil
	case "strided", "cpu":
		return Value{}, nil
	}
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		var l []int
		for _, e := range splitTop(s[1 : len(s)-1]) {
			switch e {
			case "True":
				l = append(l, 1)
			case "False":
				l = append(l, 0)
			default:
				n, err := strconv.Atoi(e)
				if err != nil {
					return Value{}, fmt.Errorf("default %s of %s", s, p.Name)
				}
				l = append(l, n)
			}
		}
		if p.Kind == KBools {
			return Value{K: KBools, X: l}, nil
		}
		return IntsValue(l), nil
	}
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return StrValue(s[1 : len(s)-1]), nil
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		if p.Kind == KFloat {
			return FloatValue(float64(n)), nil
		}
		if p.Kind == KInts {
			l := make([]int, max(1, p.Fixed))
			for i := range l {
				l[i] = int(n)
			}
			return IntsValue(l), nil
		}
		return IntValue(int(n)), nil
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return FloatValue(f), nil
	}
	return Value{}, fmt.Errorf("cannot read default %s of %s", s, p.Name)
}

// String prints the schema in PyTorch's notation, derived forms included.
func (s *Schema) String() string {
	var b strings.Builder
	b.WriteString(s.FullName() + "(")
	kw := false
	for i := range s.Params {
		p := &s.Params[i]
		if i > 0 {
			b.WriteString(", ")
		}
		if p.KwOnly && !kw {
			b.WriteString("*, ")
			kw = true
		}
		b.WriteString(p.typeText() + " " + p.Name)
		if p.Default != nil {
			text := p.DefText
			if text == "" {
				text = p.Default.String()
			}
			b.WriteString("=" + text)
		}
	}
	b.WriteString(") -> ")
	var results []string
	for _, r := range s.Results {
		p := Param{Kind: r.Kind, Alias: r.Alias, Optional: r.Optional}
		text := p.typeText()
		if r.Name != "" {
			text += " " + r.Name
		}
		results = append(results, text)
	}
	if len(results) == 1 {
		b.WriteString(results[0])
	} else {
		b.WriteString("(" + strings.Join(results, ", ") + ")")
	}
	return b.String()
}

// typeText prints the type of a parameter.
func (p *Param) typeText() string {
	name := kindText[p.Kind]
	list := false
	switch p.Kind {
	case KTensors, KInts, KFloats, KBools, KScalars, KStrs:
		list = true
	}
	if p.Alias != "" {
		name += "(" + p.Alias + ")"
	}
	if list {
		if p.ElemOpt {
			name += "?"
		}
		if p.Fixed > 0 {
			name += fmt.Sprintf("[%d]", p.Fixed)
		} else {
			name += "[]"
		}
	}
	if p.Optional {
		name += "?"
	}
	return name
}

// kindText are the names of the kinds; of lists, that of an element.
var kindText = [...]string{KNone: "NoneType", KTensor: "Tensor", KTensors: "Tensor", KInt: "int", KFloat: "float",
	KBool: "bool", KComplex: "complex",
	KScalar: "Scalar", KStr: "str", KInts: "int", KFloats: "float", KBools: "bool", KScalars: "Scalar",
	KDType: "ScalarType", KDevice: "Device",
	KLayout: "Layout", KFormat: "MemoryFormat", KGenerator: "Generator", KAny: "Any", KStrs: "str"}
