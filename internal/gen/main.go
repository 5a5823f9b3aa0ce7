// Command gen writes the Tensor methods and functions of Go packages from the operator schemas. Which package a
// function is in follows from the operator's name; see packageOf.
//
// It reads the source of ops/<family> (no type checking): every string literal that is a schema declares an operator,
// and the fields Doc, Go, InPlace, Out, Scalar and Aliases of the same Def literal say what to derive. A call such as
// unary("tanh(Tensor self) -> Tensor", …) declares one too; then the value of a literal argument that follows is no
// field, and the defaults of the called helper are given in a comment //gen:unary InPlace Out on the helper.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gotorch-dev/torch/internal/goname"
	"github.com/gotorch-dev/torch/tensor"
)

type def struct {
	text                string // the schema
	sch                 *tensor.Schema
	doc, goName, scalar string
	known               constants // of the package
	formNames           string
	inPlace, out, plain bool
	aliases             []string
	pos                 token.Position
	same                *tensor.Schema // of the operator that a function of torch.nn.functional is under another name
}

// sameOperators finds the functions of torch.nn.functional that are operators under another name, as F.conv2d is
// aten::conv2d: there is one of the same name and overload, or with the overload "input", whose parameters have the
// same types and defaults. Their Go functions call the operator itself.
func sameOperators(defs []*def) map[*def]*tensor.Schema {
	aten := map[string]*tensor.Schema{}
	for _, d := range defs {
		if d.sch.Namespace == "aten" {
			aten[d.sch.Name+"."+d.sch.Overload] = d.sch
		}
	}
	same := map[*def]*tensor.Schema{}
	for _, d := range defs {
		if d.sch.Namespace != "F" {
			continue
		}
		for _, overload := range []string{d.sch.Overload, "input"} {
			if a := aten[d.sch.Name+"."+overload]; a != nil && sameCall(d.sch, a) {
				same[d] = a
				break
			}
		}
	}
	return same
}

func sameCall(f, a *tensor.Schema) bool {
	if len(f.Params) != len(a.Params) || len(f.Results) != len(a.Results) {
		return false
	}
	for i := range f.Params {
		p, q := &f.Params[i], &a.Params[i]
		if p.Kind != q.Kind || p.Optional != q.Optional || p.Writes != q.Writes || p.Required() != q.Required() ||
			defaultOf(p) != defaultOf(q) {
			return false
		}
	}
	return true
}

// defaultOf is the text of a default in which the elements of a list are written once where they are all the same: 1
// for [1, 1].
func defaultOf(p *tensor.Param) string {
	t := strings.Trim(p.DefText, "[]")
	if p.Kind == tensor.KInts {
		l := strings.Split(strings.ReplaceAll(t, " ", ""), ",")
		for _, x := range l {
			if x != l[0] {
				return t
			}
		}
		return l[0]
	}
	return strings.ReplaceAll(t, "'", "\"")
}

var schemaRE = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_:.]*\(.*\) -> .+$`)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	generate(root, root)
}

// generate reads the operators below root and writes the Go files below out.
func generate(root, out string) {
	families, err := filepath.Glob(filepath.Join(root, "ops", "*"))
	check(err)
	for _, f := range families {
		name := filepath.Base(f)
		if name == "all" {
			continue
		}
		defs := read(f)
		same := sameOperators(defs)
		src := sources{}
		for _, d := range defs {
			d.same = same[d]
			emit(d, src)
		}
		for _, folder := range folders {
			pkg, imports := path.Base(folder), "import \"github.com/gotorch-dev/torch/tensor\"\n"
			switch folder {
			case "":
				pkg = "torch"
			case "tensor":
				imports = ""
			}
			write(filepath.Join(out, filepath.FromSlash(folder), "zz_"+name+".go"), pkg, imports,
				src.of(folder).Bytes())
		}
	}
}

// folders are the packages with generated functions, "" for the root.
var folders = []string{"tensor", "", "nn/functional", "internal/fused", "fft", "linalg", "signal/windows", "special",
	"masked"}

// packageOf is the folder of the package that an operator's function is in, "" for package torch, and whether it is
// a method of Tensor instead, if it can be.
func packageOf(s *tensor.Schema) (folder string, method bool) {
	switch {
	case s.Namespace == "F":
		return "nn/functional", false
	case s.Namespace == "gotorch":
		return "internal/fused", false
	case s.Namespace == "masked":
		return "masked", false
	case s.Namespace == "signal":
		return "signal/windows", false
	case strings.HasPrefix(s.Name, "fft_"): // torch.fft
		return "fft", false
	case strings.HasPrefix(s.Name, "linalg_"): // torch.linalg
		return "linalg", false
	case strings.HasPrefix(s.Name, "special_"): // torch.special
		return "special", false
	case s.Namespace == "aten" && functionsOnly[s.Name]:
		return "", false
	}
	return "", true
}

// functionsOnly are the operators that Python's torch has as functions with the operators' own arguments, beside those
// of torch.nn.functional with other defaults (a reduction is a number); they are no methods of Tensor. Every schema of
// these names declares the function, whatever helper registers it.
var functionsOnly = map[string]bool{}

func init() {
	for _, name := range strings.Fields("adaptive_avg_pool1d adaptive_max_pool1d avg_pool1d batch_norm bilinear " +
		"binary_cross_entropy_with_logits conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d " +
		"conv_transpose3d ctc_loss embedding_bag group_norm hinge_embedding_loss instance_norm kl_div layer_norm " +
		"margin_ranking_loss max_pool1d max_pool1d_with_indices max_pool2d max_pool3d poisson_nll_loss rms_norm " +
		"triplet_margin_loss") {
		functionsOnly[name] = true
	}
}

// goName is the Go name of an operator that has none of its own; the packages of torch.special and torch.linalg leave
// the prefixes away.
func goName(s *tensor.Schema) string {
	name := strings.TrimPrefix(strings.TrimPrefix(s.Name, "special_"), "linalg_")
	return goname.Of(name) + goname.Suffix(s.Overload)
}

// sources is the text of the generated files of a family, by the folder of the package.
type sources map[string]*bytes.Buffer

func (s sources) of(folder string) *bytes.Buffer {
	if s[folder] == nil {
		s[folder] = new(bytes.Buffer)
	}
	return s[folder]
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func write(path, pkg, imports string, body []byte) {
	if len(body) == 0 {
		// A file left from before would still be compiled.
		if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
			check(err)
		}
		return
	}
	src := fmt.Sprintf("// Code generated by internal/gen from the operator schemas. DO NOT EDIT.\n\npackage "+
		"%s\n\n%s\n%s", pkg, imports, body)
	out, err := format.Source([]byte(src))
	if err != nil {
		fmt.Fprintf(os.Stderr, "gen: %s: %v\n", path, err)
		out = []byte(src)
	}
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, out) {
		return
	}
	check(os.MkdirAll(filepath.Dir(path), 0o755))
	check(os.WriteFile(path+".tmp", out, 0o644))
	check(os.Rename(path+".tmp", path))
}

// read finds the schemas of one family.
func read(dir string) []*def {
	fset := token.NewFileSet()
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	sort.Strings(files)
	helpers := map[string][]string{}
	var parsed []*ast.File
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		check(err)
		parsed = append(parsed, f)
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Doc == nil {
				continue
			}
			for _, c := range fn.Doc.List {
				if rest, ok := strings.CutPrefix(c.Text, "//gen:"); ok {
					fields := strings.Fields(rest)
					helpers[fields[0]] = fields[1:]
				}
			}
		}
	}
	known := constantsOf(parsed)
	var defs []*def
	seen := map[token.Pos]bool{}
	add := func(lit ast.Expr) *def {
		s := known.text(lit)
		if seen[lit.Pos()] || !schemaRE.MatchString(s) {
			return nil
		}
		seen[lit.Pos()] = true
		sch, err := tensor.ParseSchema(s)
		check(err)
		d := &def{text: s, sch: sch, known: known, pos: fset.Position(lit.Pos())}
		defs = append(defs, d)
		return d
	}
	for _, f := range parsed {
		ast.Inspect(f, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.CompositeLit:
				var d *def
				for _, e := range x.Elts {
					if kv, ok := e.(*ast.KeyValueExpr); ok && ident(kv.Key) == "Schema" {
						d = add(kv.Value)
					}
				}
				if d != nil {
					for _, e := range x.Elts {
						if kv, ok := e.(*ast.KeyValueExpr); ok {
							d.field(ident(kv.Key), kv.Value)
						}
					}
				}
			case *ast.CallExpr:
				fn := ident(x.Fun)
				flags, ok := helpers[fn]
				if !ok || len(x.Args) == 0 {
					return true
				}
				d := add(x.Args[0])
				if d == nil {
					return true
				}
				for _, fl := range flags {
					k, v, _ := strings.Cut(fl, "=")
					switch k {
					case "Go":
						d.goName = v
					case "InPlace":
						d.inPlace = true
					case "Out":
						d.out = true
					case "Plain":
						d.plain = true
					case "Scalar":
						d.scalar = v
					}
				}
				if len(x.Args) > 1 {
					d.doc = known.text(x.Args[1])
				}
				for _, a := range x.Args[1:] {
					if cl, ok := a.(*ast.CompositeLit); ok {
						for _, e := range cl.Elts {
							if kv, ok := e.(*ast.KeyValueExpr); ok {
								d.field(ident(kv.Key), kv.Value)
							}
						}
					}
				}
			}
			return true
		})
	}
	for _, f := range parsed {
		ast.Inspect(f, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				if d := functionOnly(known.text(e)); d != nil {
					d.known, d.pos = known, fset.Position(e.Pos())
					defs = append(defs, d)
					return false
				}
			}
			return true
		})
	}
	return defs
}

// functionOnly is the declaration of a function of functionsOnly by its schema, nil for other texts.
func functionOnly(text string) *def {
	if !schemaRE.MatchString(text) {
		return nil
	}
	s, err := tensor.ParseSchema(text)
	check(err)
	overloads := []string{"", "input", "Tensor"}
	if s.Namespace != "aten" || !functionsOnly[s.Name] || !slices.Contains(overloads, s.Overload) {
		return nil
	}
	return &def{text: text, sch: s, goName: goname.Of(s.Name), doc: "has the arguments of Python's torch." + s.Name +
		"; package nn/functional has the function with those of torch.nn.functional, and says what it computes."}
}

func ident(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	}
	return ""
}

func (d *def) field(name string, v ast.Expr) {
	str := func() string { return d.known.text(v) }
	switch name {
	case "Doc":
		d.doc = str()
	case "Go":
		d.goName = str()
	case "Scalar":
		d.scalar = str()
	case "FormNames":
		d.formNames = str()
	case "InPlace":
		d.inPlace = ident(v) == "true"
	case "Out":
		d.out = ident(v) == "true"
	case "Plain":
		d.plain = true
	case "Aliases":
		if cl, ok := v.(*ast.CompositeLit); ok {
			for _, e := range cl.Elts {
				d.aliases = append(d.aliases, d.known.text(e))
			}
		}
	}
}

// constants are a package's constants by name.
type constants map[string][]constant

// constant is a declaration and the piece of source in which it holds: the block around it, or everything.
type constant struct {
	value    ast.Expr
	from, to token.Pos
}

func constantsOf(files []*ast.File) constants {
	known := constants{}
	var blocks []*ast.BlockStmt
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.BlockStmt:
				blocks = append(blocks, x) // an outer block comes before those in it
			case *ast.GenDecl:
				if x.Tok != token.CONST {
					break
				}
				c := constant{to: math.MaxInt}
				for _, b := range slices.Backward(blocks) {
					if b.Pos() <= x.Pos() && x.Pos() < b.End() {
						c.from, c.to = b.Pos(), b.End()
						break
					}
				}
				for _, s := range x.Specs {
					v := s.(*ast.ValueSpec)
					for i, name := range v.Names {
						c.value = nil
						if i < len(v.Values) {
							c.value = v.Values[i]
						}
						known[name.Name] = append(known[name.Name], c)
					}
				}
			}
			return true
		})
	}
	return known
}

// of is the value of the constant that a name means where it stands, nil without.
func (known constants) of(name *ast.Ident) ast.Expr {
	best := constant{to: math.MaxInt}
	for _, c := range known[name.Name] {
		if c.from <= name.Pos() && name.Pos() < c.to && c.to-c.from <= best.to-best.from {
			best = c
		}
	}
	return best.value
}

// text is the text of a string literal, a constant, or a sum of them; "" for an expression with other parts, which only
// a running program knows.
func (known constants) text(e ast.Expr) string {
	s, _ := known.find(e)
	return s
}

func (known constants) find(e ast.Expr) (text string, ok bool) {
	switch x := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(x.Value)
		return s, err == nil && x.Kind == token.STRING
	case *ast.Ident:
		if v := known.of(x); v != nil {
			return known.find(v)
		}
	case *ast.BinaryExpr:
		a, ok := known.find(x.X)
		b, both := known.find(x.Y)
		if ok && both {
			return a + b, true
		}
	}
	return "", false
}

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
		emitFormer(b, name, asMethod, params, names, ret, ownOptions)
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

// documented are names of results that schemas leave out, from PyTorch's documentation and derivatives.yaml, by the
// operator's name, or by what it ends with if the name begins with "*".
var documented = []struct{ op, names string }{
	{"std_mean", "std mean"}, {"var_mean", "variance mean"},
	{"embedding_bag", "output offset2bag bag_size max_indices"},
	{"unique", "output inverse counts"}, {"unique_*", "output inverse counts"}, {"_unique*", "output inverse counts"},
	{"*_with_indices", "output indices"}, {"*max_pool?d", "output indices"},
	{"multi_head_attention_forward", "output weights"},
	{"lstm_cell", "hy cy"}, {"lstm", "output hn cn"}, {"gru", "output hn"}, {"rnn_*", "output hn"},
	{"convolution_backward", "grad_input grad_weight grad_bias"},
	{"native_*_backward", "grad_input grad_weight grad_bias"},
	{"*_backward", "grad_input grad_weight grad_bias"},
	{"native_batch_norm", "output save_mean save_invstd"}, {"native_*_norm", "output mean rstd"},
}

// resultNames are the names of an operator's results in Go.
func resultNames(s *tensor.Schema) []string {
	for _, d := range documented {
		if ok, err := path.Match(d.op, s.Name); err == nil && ok {
			if l := strings.Fields(d.names); len(l) >= len(s.Results) {
				return l
			}
		}
	}
	check(fmt.Errorf("%s has results without names: add them to documented", s))
	return nil
}

func comment(name, doc string) string {
	if r := doc[0]; r >= 'a' && r <= 'z' {
		doc = name + " " + doc
	} else {
		doc = name + ": " + strings.ToLower(doc[:1]) + doc[1:]
	}
	var b strings.Builder
	for _, l := range strings.Split(doc, "\n") {
		line := "//"
		for _, w := range strings.Fields(l) {
			if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(w) > 120 && line != "//" {
				b.WriteString(line + "\n")
				line = "//"
			}
			line += " " + w
		}
		b.WriteString(line + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
