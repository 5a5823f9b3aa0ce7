package main

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/internal/goname"
	"github.com/gotorch-dev/torch/tensor"
)

// emit writes the Go forms of one operator: the method or function, its in-place form and its scalar form.
func emit(d *def, src sources) {
	if d.goName == "-" {
		return
	}
	forms, err := tensor.FormsOf(&tensor.Def{Schema: d.text, Scalar: d.scalar, InPlace: d.inPlace, Out: d.out,
		Aliases: d.aliases, FormNames: d.formNames})
	check(err)
	hasOut := map[int]bool{} // by alias
	for _, f := range forms {
		if f.Out {
			hasOut[f.Alias] = true
		}
	}
	var base, doc string
	for i, f := range forms {
		s := f.Schema
		if i == 0 || f.Alias != forms[i-1].Alias {
			base, doc = d.goName, d.doc
			if f.Alias > 0 {
				base = goName(s)
				if rest, ok := strings.CutPrefix(d.goName, goname.Of(d.sch.Name)); ok {
					base = goname.Of(s.Name) + rest // ClampScalar: ClipScalar
				}
				doc = anotherName(d, s)
			} else if base == "" {
				base = goName(s)
			}
		}
		switch {
		// an option; Python's operators, which are for boxed calls
		case f.Out, s.Namespace != d.sch.Namespace && strings.HasPrefix(s.Name, "_"):
		case i == 0 || f.Alias != forms[i-1].Alias:
			emitForm(d, s, base, doc, hasOut[f.Alias], src)
		case f.InPlace && f.Number >= 0:
			emitForm(d, s, base+"ScalarInPlace", "is "+base+"Scalar written to the tensor itself, which is returned.",
				false, src)
		case f.InPlace:
			emitForm(d, s, base+"InPlace", "is "+base+" written to the tensor itself, which is returned.", false,
				src)
		default:
			emitForm(d, s, base+"Scalar", "is "+base+" with a number.", false, src)
		}
	}
}

// anotherName is the comment of the form s of an operator under another name.
func anotherName(d *def, s *tensor.Schema) string {
	name := first(d.goName, goName(d.sch))
	folder, method := packageOf(d.sch)
	at, _ := packageOf(s)
	switch {
	case folder == at && method:
		return fmt.Sprintf("is another name of [Tensor.%s].", name)
	case method:
		return fmt.Sprintf("is another name of [tensor.Tensor.%s].", name)
	case folder == at:
		return fmt.Sprintf("is another name of [%s].", name)
	}
	return fmt.Sprintf("is another name of %s.%s.", first(path.Base(folder), "torch"), name)
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// goType is the Go type of a parameter and the expression that boxes a value of it.
func goType(p *tensor.Param, q string) (typ, box string) {
	switch p.Kind {
	case tensor.KTensor:
		return "*" + q + "Tensor", "TensorValue(%s)"
	case tensor.KTensors:
		return "[]*" + q + "Tensor", "TensorsValue(%s)"
	case tensor.KInt:
		return "int", "IntValue(%s)"
	case tensor.KFloat:
		return "float64", "FloatValue(%s)"
	case tensor.KBool:
		return "bool", "BoolValue(%s)"
	case tensor.KScalar:
		return q + "Scalar", "ScalarValue(%s)"
	case tensor.KStr:
		if isReduction(p) {
			return "Reduction", "StrValue(%s.String())"
		}
		return "string", "OptStrValue(%s)"
	case tensor.KInts:
		return "[]int", "OptIntsValue(%s)"
	case tensor.KFloats:
		return "[]float64", "OptFloatsValue(%s)"
	case tensor.KBools:
		return "[]bool", "BoolsValue(%s)"
	case tensor.KDType:
		return q + "DType", "DTypeValue(%s)"
	case tensor.KDevice:
		return q + "Device", "DeviceValue(%s)"
	case tensor.KFormat:
		return q + "MemoryFormat", "FormatValue(%s)"
	case tensor.KGenerator:
		return "*" + q + "Generator", "OptGeneratorValue(%s)"
	case tensor.KComplex:
		return "complex128", "ComplexValue(%s)"
	}
	return "any", "AnyValue(%s)"
}

// isReduction reports the argument of a loss that nn/functional has a type for, whose zero value is the mean.
func isReduction(p *tensor.Param) bool {
	return p.Kind == tensor.KStr && p.Name == "reduction" && strings.Trim(p.DefText, `'"`) == "mean"
}

var keywords = map[string]bool{"type": true, "func": true, "range": true, "len": true, "cap": true, "new": true,
	"max": true, "min": true, "copy": true, "string": true,
	"return": true, "default": true, "select": true, "import": true, "var": true, "tensor": true, "int": true,
	"c": true, "o": true, "t": true}

func lower(s string) string {
	s = strings.TrimRight(s, "_") // hx_ is hx, no tensor that is written to
	g := goname.Of(s)
	if g == "" {
		g = "x"
	}
	l := strings.ToLower(g[:1]) + g[1:]
	// The first word is in lower case as a whole: relu_inplace is reluInplace.
	if first, rest, _ := strings.Cut(strings.TrimLeft(s, "_"), "_"); rest != "" && len(first) > 1 {
		l = strings.ToLower(first) + goname.Of(rest)
	} else if strings.ToUpper(g) == g || rest == "" && goname.Of(first) != strings.ToUpper(first[:1])+first[1:] {
		l = strings.ToLower(g)
	}
	if keywords[l] {
		l += "Arg"
	}
	return l
}

func emitForm(d *def, s *tensor.Schema, name, doc string, out bool, src sources) {
	folder, method := packageOf(s)
	self := selfOf(s)
	method = method && self >= 0
	gen := func(b *bytes.Buffer, q string, asMethod bool, optType string) {
		slotVar := "slot" + name
		full := s.FullName()
		generator := generatorParam(s)
		if generator >= 0 {
			full = goname.Full(s.Name, s.Overload)
		}
		if d.same != nil && s.Name == d.sch.Name {
			full = d.same.FullName()
		}
		fmt.Fprintf(b, "var %s = %s(%q)\n\n", slotVar, map[bool]string{true: "slot", false: "tensor.Slot"}[q == ""],
			full)
		if generator >= 0 {
			fmt.Fprintf(b, "var %sGenerator = %s(%q)\n\n", slotVar,
				map[bool]string{true: "slot", false: "tensor.Slot"}[q == ""],
				goname.Full(s.Name, goname.GeneratorOverload(s.Overload)))
		}
		arg := func(i int) string { // the place of parameter i in the call
			if generator < 0 || i < generator {
				return strconv.Itoa(i)
			}
			return strconv.Itoa(i-1) + "+shift"
		}
		var pos, opt []int
		for i := range s.Params {
			p := &s.Params[i]
			if asMethod && i == self {
				continue
			}
			if p.Kind == tensor.KLayout || p.Name == "pin_memory" {
				continue
			}
			if p.Required() && (!p.KwOnly || true) {
				pos = append(pos, i)
			} else {
				opt = append(opt, i)
			}
		}
		hasOpt := len(opt) > 0 || out
		if out && len(opt) == 0 {
			optType = q + "OutOptions"
		}
		ownOptions := ""
		if hasOpt && optType == "" {
			optType, ownOptions = name+"Options", name
			fmt.Fprintf(b, "// %s are the optional arguments of %s; the zero value is PyTorch's default.\ntype %s "+
				"struct {\n", optType, name, optType)
			for _, i := range opt {
				p := &s.Params[i]
				typ, _ := goType(p, q)
				field := goname.Of(p.Name)
				note := "default " + p.DefText
				switch {
				case p.Kind == tensor.KBool && p.DefText == "True":
					field, typ, note = "No"+field, "bool", "switches "+p.Name+" off"
				case p.Kind == tensor.KBool && p.Optional, needsOpt(p):
					typ = q + "Opt[" + typ + "]"
				}
				fmt.Fprintf(b, "\t%s %s // %s\n", field, typ, note)
			}
			if out {
				fmt.Fprintf(b, "\tOut *%sTensor // write the result to this tensor\n", q)
			}
			fmt.Fprintf(b, "}\n\n")
		}
		if doc == "" {
			doc = "is PyTorch's " + s.Name + "."
		}
		fmt.Fprintf(b, "%s\n", comment(name, doc))
		var params, names []string
		for _, i := range pos {
			typ, _ := goType(&s.Params[i], q)
			params, names = append(params, lower(s.Params[i].Name)+" "+typ), append(names, lower(s.Params[i].Name))
		}
		if hasOpt {
			params, names = append(params, "opts ..."+optType), append(names, "opts...")
		}
		ret, do := results(s, q)
		if asMethod {
			fmt.Fprintf(b, "func (t *Tensor) %s(%s) %s {\n", name, strings.Join(params, ", "), ret)
		} else {
			fmt.Fprintf(b, "func %s(%s) %s {\n", name, strings.Join(params, ", "), ret)
		}
		if call := plainCall(d, s, slotVar, pos); call != "" && asMethod {
			if hasOpt {
				fmt.Fprintf(b, "\tif len(opts) == 0 {\n\t\tif r := %s; r != nil {\n\t\t\treturn r\n\t\t}\n\t}\n", call)
			} else {
				fmt.Fprintf(b, "\tif r := %s; r != nil {\n\t\treturn r\n\t}\n", call)
			}
		}
		if generator < 0 {
			fmt.Fprintf(b, "\tc := %sNewCall(%s, %d)\n", q, slotVar, len(s.Params))
		} else {
			fmt.Fprintf(b, "\tslot, shift := %s, 0\n\tif len(opts) > 0 && opts[0].Generator != nil {\n\t\tslot, "+
				"shift = %sGenerator, 1\n\t}\n", slotVar, slotVar)
			fmt.Fprintf(b, "\tc := %sNewCall(slot, %d+shift)\n", q, len(s.Params)-1)
		}
		if asMethod {
			fmt.Fprintf(b, "\t*c.Arg(%d) = TensorValue(t)\n", self)
		}
		for _, i := range pos {
			_, box := goType(&s.Params[i], q)
			fmt.Fprintf(b, "\t*c.Arg(%s) = %s"+box+"\n", arg(i), q, lower(s.Params[i].Name))
		}
		var defaults []string
		for i := range s.Params {
			p := &s.Params[i]
			if p.Required() || p.Default.K == tensor.KNone {
				continue
			}
			of := slotVar
			if generator >= 0 {
				of = "slot"
			}
			defaults = append(defaults, fmt.Sprintf("\t*c.Arg(%s) = *%s.Sch.Params[%s].Default\n", arg(i), of, arg(i)))
		}
		fmt.Fprint(b, strings.Join(defaults, ""))
		if hasOpt {
			fmt.Fprintf(b, "\tif len(opts) > 0 {\n\t\to := &opts[0]\n")
			for _, i := range opt {
				p := &s.Params[i]
				_, box := goType(p, q)
				f := goname.Of(p.Name)
				switch {
				case p.Kind == tensor.KBool && p.DefText == "True":
					fmt.Fprintf(b, "\t\t*c.Arg(%s) = %sBoolValue(!o.No%s)\n", arg(i), q, f)
				case p.Kind == tensor.KBool && p.Optional, needsOpt(p):
					fmt.Fprintf(b, "\t\tif v, ok := o.%s.Get(); ok {\n\t\t\t*c.Arg(%s) = %s"+box+"\n\t\t}\n", f, arg(i),
						q, "v")
				case p.Kind == tensor.KBool:
					fmt.Fprintf(b, "\t\t*c.Arg(%s) = %sBoolValue(o.%s)\n", arg(i), q, f)
				default:
					zero := map[tensor.Kind]string{tensor.KInt: "0", tensor.KFloat: "0", tensor.KStr: `""`,
						tensor.KDType: "0", tensor.KFormat: "0", tensor.KDevice: "(" + q +
							"Device{})", tensor.KComplex: "0"}[p.Kind]
					if isReduction(p) {
						zero = "Mean"
					} else if zero == "" {
						zero = "nil"
					}
					place := arg(i)
					if i == generator {
						place = strconv.Itoa(i)
					}
					fmt.Fprintf(b, "\t\tif o.%s != %s {\n\t\t\t*c.Arg(%s) = %s"+box+"\n\t\t}\n", f, zero, place, q,
						"o."+f)
				}
			}
			if out {
				fmt.Fprintf(b, "\t\tif o.Out != nil {\n\t\t\tc.SetOutArg(o.Out)\n\t\t}\n")
			}
			fmt.Fprintf(b, "\t}\n")
		}
		fmt.Fprintf(b, "\t%s\n}\n\n", do)
		if folder == "" { // the names of torch and Tensor: those of other packages have not changed
			emitFormer(b, name, asMethod, params, names, ret, ownOptions)
		}
	}
	if !method {
		gen(src.of(folder), "tensor.", false, "")
		return
	}
	gen(src.of("tensor"), "", true, "")
	if !strings.HasSuffix(s.Name, "_") {
		forward(s, name, out, self, src.of(folder))
	}
}

// selfOf is the parameter that is the receiver of the operator's method, -1 where the operator has none. It is the
// first one, but for the two operators that PyTorch makes methods with self elsewhere: x.where(condition, other) is
// where(condition, x, other), x.polygamma(n) is polygamma(n, x).
func selfOf(s *tensor.Schema) int {
	i := s.Index("self")
	if i > 0 && s.Name != "where" && s.Name != "polygamma" || i >= 0 && s.Params[i].Kind != tensor.KTensor {
		return -1
	}
	return i
}

// generatorParam is the place of an optional generator in a function of Python's torch, -1 where there is none. PyTorch
// has two operators behind such a function, aten::rand and aten::rand.generator; the Go function calls the one that is
// meant.
func generatorParam(s *tensor.Schema) int {
	if s.Namespace != "torch" {
		return -1
	}
	return slices.IndexFunc(s.Params, func(p tensor.Param) bool { return p.Kind == tensor.KGenerator && !p.Required() })
}

// plainCall is the shortcut that a method of an operator with plain kernels tries first; pos are the required arguments
// after self.
func plainCall(d *def, s *tensor.Schema, slot string, pos []int) string {
	if !d.plain || strings.HasSuffix(s.Name, "_") {
		return ""
	}
	switch {
	case len(pos) == 0:
		return slot + ".plain1(t)"
	case len(pos) == 1 && s.Params[pos[0]].Kind == tensor.KTensor:
		return fmt.Sprintf("%s.plain2(t, %s)", slot, lower(s.Params[pos[0]].Name))
	case len(pos) == 1 && s.Params[pos[0]].Kind == tensor.KScalar:
		return fmt.Sprintf("%s.plainNum(t, %s)", slot, lower(s.Params[pos[0]].Name))
	}
	return ""
}

// forward writes the function of package torch that calls a method. Its parameters have the order of the schema.
func forward(s *tensor.Schema, name string, out bool, self int, b *bytes.Buffer) {
	var params, args, names []string
	hasOpt, ownOptions := out, ""
	for i := range s.Params {
		p := &s.Params[i]
		if p.Kind == tensor.KLayout || p.Name == "pin_memory" {
			continue
		}
		if !p.Required() {
			hasOpt, ownOptions = true, name
			continue
		}
		typ, _ := goType(p, "tensor.")
		v := lower(p.Name)
		if i == self {
			v = "t"
		} else {
			args = append(args, v)
		}
		params, names = append(params, v+" "+typ), append(names, v)
	}
	if hasOpt {
		optType := "tensor.OutOptions"
		if ownOptions != "" {
			optType = "tensor." + name + "Options"
		}
		params, args, names = append(params, "opts ..."+optType), append(args, "opts..."), append(names, "opts...")
	}
	ret, _ := results(s, "tensor.")
	fmt.Fprintf(b, "// %s is the function form of [tensor.Tensor.%s].\nfunc %s(%s) %s {\n", name, name, name,
		strings.Join(params, ", "), ret)
	if ret != "" {
		fmt.Fprintf(b, "\treturn ")
	}
	fmt.Fprintf(b, "t.%s(%s)\n}\n\n", name, strings.Join(args, ", "))
	if ownOptions != "" {
		fmt.Fprintf(b, "// %sOptions are the optional arguments of %s.\ntype %sOptions = tensor.%sOptions\n\n", name,
			name, name, name)
	}
	emitFormer(b, name, false, params, names, ret, ownOptions)
}

// needsOpt reports a parameter whose Go zero value is a legal value other than the default.
func needsOpt(p *tensor.Param) bool {
	switch p.Kind {
	case tensor.KInt:
		return p.DefText != "0"
	case tensor.KFloat:
		return p.DefText != "0" && p.DefText != "0."
	}
	return false
}

func results(s *tensor.Schema, q string) (ret, do string) {
	n := len(s.Results)
	if n == 0 {
		return "", "c.Do0()"
	}
	if n == 1 {
		switch s.Results[0].Kind {
		case tensor.KTensors:
			return "[]*" + q + "Tensor", "return c.DoN()"
		case tensor.KTensor:
			return "*" + q + "Tensor", "return c.Do1()"
		case tensor.KBool:
			return "bool", "return c.DoValue().N != 0"
		case tensor.KInt:
			return "int", "return int(c.DoValue().N)"
		case tensor.KFloat:
			return "float64", "return c.DoValue().Float()"
		case tensor.KScalar:
			return q + "Num", "return c.DoValue().Num()"
		case tensor.KInts:
			return "[]int", "return c.DoValue().Ints()"
		}
		return q + "Value", "return c.DoValue()"
	}
	if n == 2 && s.Results[0].Kind == tensor.KTensor && s.Results[1].Kind == tensor.KTensors {
		first, rest := lower(s.Results[0].Name), lower(s.Results[1].Name)
		return fmt.Sprintf("(%s *%sTensor, %s []*%sTensor)", first, q, rest, q),
			fmt.Sprintf("v := c.DoAll()\n\treturn v[0].T, v[1].X.([]*%sTensor)", q)
	}
	allT := true
	var names []string
	for i, r := range s.Results {
		allT = allT && r.Kind == tensor.KTensor
		nm := r.Name
		if nm == "" {
			nm = resultNames(s)[i]
		}
		names = append(names, lower(nm))
	}
	if allT && n <= 3 {
		return "(" + strings.Join(names, ", ") + " *" + q + "Tensor)", fmt.Sprintf("return c.Do%d()", n)
	}
	if allT {
		return "[]*" + q + "Tensor", "return c.DoN()"
	}
	return "[]" + q + "Value", "return c.DoAll()"
}
