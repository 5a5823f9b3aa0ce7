package kernel

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// GoName is the name of the version of k for a back end.
func GoName(k *Kernel, isa ISA) string {
	return strings.ToLower(k.Name[:1]) + k.Name[1:] + isa.String()
}

// isExported reports whether the kernel's name is exported.
func isExported(k *Kernel) bool { return k.Name[0] >= 'A' && k.Name[0] <= 'Z' }

// params is the parameter list of the slice form of k.
func params(k *Kernel) string {
	var p []string
	for i := 0; i < len(k.Args); i++ {
		a := k.Args[i]
		t := a.T.Go()
		if a.Kind != ArgScalar {
			t = "[]" + t
		}
		if i+1 < len(k.Args) && k.Args[i+1].T.Go() == a.T.Go() &&
			(k.Args[i+1].Kind == ArgScalar) == (a.Kind == ArgScalar) {
			p = append(p, a.Name)
		} else {
			p = append(p, a.Name+" "+t)
		}
	}
	return strings.Join(p, ", ")
}

// results is the result list of the slice form of k.
func results(k *Kernel) string {
	if len(k.Accs) == 0 {
		return ""
	}
	var p []string
	for _, a := range k.Accs {
		p = append(p, a.Name)
	}
	return " (" + strings.Join(p, ", ") + " " + k.Lane.Go() + ")"
}

// argNames lists the names of the arguments.
func argNames(k *Kernel) string {
	var p []string
	for _, a := range k.Args {
		p = append(p, a.Name)
	}
	return strings.Join(p, ", ")
}

// sliceArgs lists the names of the slice arguments.
func sliceArgs(k *Kernel) []string {
	var p []string
	for _, a := range k.Args {
		if a.Kind != ArgScalar {
			p = append(p, a.Name)
		}
	}
	return p
}

// reslice is code that cuts every other slice to the length of the first one; a shorter slice panics there,
// before anything has been written.
func reslice(k *Kernel) string {
	s := sliceArgs(k)
	var w strings.Builder
	for _, n := range s[1:] {
		fmt.Fprintf(&w, "\t%s = %s[:len(%s)]\n", n, n, s[0])
	}
	return w.String()
}

// literal writes a constant as Go source.
func literal(v *Value, asBits bool) string {
	switch v.t {
	case I32:
		if asBits {
			return fmt.Sprintf("0x%x", uint32(v.bits))
		}
		return strconv.Itoa(int(int32(v.bits)))
	case I64:
		if asBits {
			return fmt.Sprintf("0x%x", v.bits)
		}
		return strconv.FormatInt(int64(v.bits), 10)
	}
	x, size := math.Float64frombits(v.bits), 64
	if v.t == F32 {
		x, size = float64(math.Float32frombits(uint32(v.bits))), 32
	}
	switch {
	case math.IsNaN(x):
		return fmt.Sprintf("nan%d", size)
	case math.IsInf(x, 1):
		return fmt.Sprintf("inf%d", size)
	case math.IsInf(x, -1):
		return fmt.Sprintf("-inf%d", size)
	case x == math.Trunc(x) && math.Abs(x) < 1e6:
		return strconv.FormatFloat(x, 'f', -1, size)
	}
	return strconv.FormatFloat(x, 'x', -1, size)
}

// goRef is the Go expression for a value.
func (b *Builder) goRef(v *Value) string {
	switch v.op {
	case opConst:
		return literal(v, false)
	case opScalar:
		return b.kernel.Args[v.arg].Name
	}
	return fmt.Sprintf("v%d", v.id)
}

// goBits is the bit pattern of v as an unsigned integer expression.
func (b *Builder) goBits(v *Value) string {
	if v.op == opConst {
		return fmt.Sprintf("0x%x", v.bits)
	}
	switch v.t {
	case F32:
		return "math.Float32bits(" + b.goRef(v) + ")"
	case F64:
		return "math.Float64bits(" + b.goRef(v) + ")"
	case I32:
		return "uint32(" + b.goRef(v) + ")"
	}
	return "uint64(" + b.goRef(v) + ")"
}

// goFrom is the expression that makes a value of type t from a bit pattern.
func (b *Builder) goFrom(t Type, expr string) string {
	switch t {
	case F32:
		return "math.Float32frombits(" + expr + ")"
	case F64:
		return "math.Float64frombits(" + expr + ")"
	}
	return t.Go() + "(" + expr + ")"
}

// sel names the branchless choice between two values of a type.
func sel(t Type) string {
	if t == F64 {
		return "sel64"
	}
	return "sel32"
}

var goPred = map[int]string{EQ: "==", LT: "<", LE: "<=", NEQ: "!=", GE: ">=", GT: ">"}

// emitGoBody writes one element's worth of b; lane is the index expression of
// accumulator lanes.
func emitGoBody(w *strings.Builder, b *Builder, ind, lane string) {
	k := b.kernel
	p := func(format string, args ...any) { fmt.Fprintf(w, ind+format+"\n", args...) }
	wide := k.Lane == F64
	for _, v := range b.vals {
		r := func(i int) string { return b.goRef(v.a[i]) }
		id := fmt.Sprintf("v%d", v.id)
		infix := func(op string) {
			// The conversion forbids the compiler to fuse a product into a
			// later sum.
			if op == "*" {
				p("%s := %s(%s * %s)", id, v.t.Go(), r(0), r(1))
			} else {
				p("%s := %s %s %s", id, r(0), op, r(1))
			}
		}
		switch v.op {
		case opLoad:
			a := k.Args[v.arg]
			e := a.Name + "[i]"
			switch {
			case v.t == Mask:
				e += " != 0"
			case a.T == F16:
				e = "F16ToF32(" + e + ")"
			case a.T == BF16:
				e = "math.Float32frombits(uint32(" + e + ") << 16)"
			case a.T != v.t:
				e = v.t.Go() + "(" + e + ")"
			}
			p("%s := %s", id, e)
		case opStore:
			a := k.Args[v.arg]
			e := r(0)
			switch {
			case v.t == Mask:
				e = "b2u8(" + e + ")"
			case a.T == F16:
				e = "F32ToF16(" + e + ")"
			case a.T != v.t:
				e = a.T.Go() + "(" + e + ")"
			}
			p("%s[i] = %s", a.Name, e)
		case opAccIn:
			p("%s := %s[%s]", id, k.Accs[v.arg].Name+"s", lane)
		case opAccOut:
			p("%s[%s] = %s", k.Accs[v.arg].Name+"s", lane, r(0))
		case opAdd, opIAdd:
			infix("+")
		case opSub, opISub:
			infix("-")
		case opMul:
			infix("*")
		case opDiv:
			infix("/")
		case opMin:
			p("%s := %s(%s < %s, %s, %s)", id, sel(v.t), r(0), r(1), r(0), r(1))
		case opMax:
			p("%s := %s(%s > %s, %s, %s)", id, sel(v.t), r(0), r(1), r(0), r(1))
		case opFMA, opFNMA:
			x := r(0)
			if v.op == opFNMA {
				x = "-" + x
			}
			if wide {
				p("%s := fma64(%s, %s, %s)", id, x, r(1), r(2))
				break
			}
			// Spelt out, because the compiler does not inline a function of
			// this size and a polynomial is a chain of these.
			p("var %s float32", id)
			p("if nativeFMA {")
			p("\t%s = %s*%s + %s", id, x, r(1), r(2))
			test := "roundsOnce"
			if v.a[2].op == opConst && v.a[2].bits != 0 {
				// A sum with a constant far from 0 is not subnormal.
				test = "roundsOnceNormal"
			}
			p("} else if sum64 := float64(%s)*float64(%s) + float64(%s); %s(sum64) {", x, r(1), r(2), test)
			p("\t%s = float32(sum64)", id)
			p("} else {")
			p("\t%s = fma32Slow(%s, %s, %s)", id, x, r(1), r(2))
			p("}")
		case opSqrt:
			if wide {
				p("%s := math.Sqrt(%s)", id, r(0))
			} else {
				// The compiler turns this into a single-precision root.
				p("%s := float32(math.Sqrt(float64(%s)))", id, r(0))
			}
		case opRound:
			f := "math." + [...]string{"RoundToEven", "Floor", "Ceil", "Trunc"}[v.imm]
			if wide {
				p("%s := %s(%s)", id, f, r(0))
			} else {
				p("%s := float32(%s(float64(%s)))", id, f, r(0))
			}
		case opAnd, opOr, opXor:
			op := map[opcode]string{opAnd: "&", opOr: "|", opXor: "^"}[v.op]
			p("%s := %s", id, b.goFrom(v.t, b.goBits(v.a[0])+" "+op+" "+b.goBits(v.a[1])))
		case opIAnd:
			infix("&")
		case opCmp:
			if v.imm == UNORD {
				Check(v.a[0] == v.a[1], "%s: UNORD takes one operand twice", k.Name)
				p("%s := %s != %s", id, r(0), r(0))
			} else {
				infix(goPred[v.imm])
			}
		case opMAnd:
			infix("&&")
		case opMOr:
			infix("||")
		case opSel:
			p("%s := %s(%s, %s, %s)", id, sel(v.t), r(0), r(1), r(2))
		case opShl:
			p("%s := %s << %d", id, r(0), v.imm)
		case opSra:
			p("%s := %s >> %d", id, r(0), v.imm)
		case opSrl:
			p("%s := %s", id, b.goFrom(v.t, b.goBits(v.a[0])+fmt.Sprintf(" >> %d", v.imm)))
		case opCast:
			p("%s := %s", id, b.goFrom(v.t, b.goBits(v.a[0])))
		case opI2F:
			p("%s := %s(%s)", id, v.t.Go(), r(0))
		case opLookup:
			p("%s := %s[%s&15]", id, v.a[1].tab.Name, r(0))
		case opF2I:
			p("%s := truncI%d(%s)", id, 8*k.Lane.Size(), r(0))
		default:
			panic(fmt.Sprint(k.Name, ": no Go form of op ", v.op))
		}
	}
}

// NarrowName is the name of the plain Go version of the AVX2 and NEON forms of k, where these have a body of
// their own.
func NarrowName(k *Kernel) string { return GoName(k, Generic) + "Narrow" }

// EmitGo writes the plain Go version of k for isa Generic. For isa AVX2 it writes the plain Go version of the
// AVX2 and NEON body, which only tests use.
func EmitGo(w *strings.Builder, k *Kernel, isa ISA) {
	b, name, version := record(k, isa), GoName(k, Generic), "version"
	if isa == AVX2 {
		name, version = NarrowName(k), "version of the AVX2 and NEON forms"
	}
	fmt.Fprintf(w, "// %s is the plain Go %s of %s.\n", name, version, k.Name)
	fmt.Fprintf(w, "func %s(%s)%s {\n%s", name, params(k), results(k), reslice(k))
	if len(k.Accs) == 0 {
		fmt.Fprintf(w, "\tfor i := range %s {\n", sliceArgs(k)[0])
		emitGoBody(w, b, "\t\t", "")
		fmt.Fprintf(w, "\t}\n}\n\n")
		return
	}
	for _, a := range k.Accs {
		fmt.Fprintf(w, "\tvar %ss [%d]%s\n", a.Name, k.Lanes, k.Lane.Go())
		if a.Init != 0 {
			fmt.Fprintf(w, "\tfor l := range %ss {\n\t\t%ss[l] = %s\n\t}\n", a.Name, a.Name,
				literal(b.C(a.Init), false))
		}
	}
	fmt.Fprintf(w, "\tfor i := range %s {\n\t\tl := i & %d\n", sliceArgs(k)[0], k.Lanes-1)
	emitGoBody(w, b, "\t\t", "l")
	fmt.Fprintf(w, "\t}\n\tfor m := %d; m > 0; m >>= 1 {\n\t\tfor l := 0; l < m; l++ {\n", k.Lanes/2)
	for _, a := range k.Accs {
		x, y := a.Name+"s[l]", a.Name+"s[l+m]"
		switch a.Comb {
		case "add":
			fmt.Fprintf(w, "\t\t\t%s += %s\n", x, y)
		case "mul":
			fmt.Fprintf(w, "\t\t\t%s *= %s\n", x, y)
		case "max":
			fmt.Fprintf(w, "\t\t\tif !(%s > %s) && %s == %s {\n\t\t\t\t%s = %s\n\t\t\t}\n", x, y, x, x, x, y)
		case "min":
			fmt.Fprintf(w, "\t\t\tif !(%s < %s) && %s == %s {\n\t\t\t\t%s = %s\n\t\t\t}\n", x, y, x, x, x, y)
		}
	}
	var ret []string
	for _, a := range k.Accs {
		ret = append(ret, a.Name+"s[0]")
	}
	fmt.Fprintf(w, "\t\t}\n\t}\n\treturn %s\n}\n\n", strings.Join(ret, ", "))
}

// docComment is the doc comment of the public function.
func docComment(k *Kernel) string {
	return "// " + k.Name + " " + strings.ReplaceAll(k.Doc, "\n", "\n// ") + "\n"
}

// EmitNoAssembly writes the public function of k for platforms without assembly.
func EmitNoAssembly(w *strings.Builder, k *Kernel) {
	ret := ""
	if len(k.Accs) > 0 {
		ret = "return "
	}
	fmt.Fprintf(w, "%sfunc %s(%s)%s { %s%s(%s) }\n\n", docComment(k), k.Name, params(k), results(k), ret,
		GoName(k, Generic), argNames(k))
	emitPart(w, k, fmt.Sprintf("%s(%s)", k.Name, argNames(k)))
}

// partName is the name of the form of k for parts of arrays.
func partName(k *Kernel) string { return k.Name[:len(k.Name)-3] + "Part" + k.Name[len(k.Name)-3:] }

// emitPart writes the form of k for parts of arrays, if k has one; call is its body.
func emitPart(w *strings.Builder, k *Kernel, call string) {
	if k.Part {
		fmt.Fprintf(w, "// %s is %s of parts of arrays; far says that the caches do not hold these (see "+
			"BeyondCaches).\nfunc %s(%s, far bool) {\n\t%s\n}\n\n", partName(k), k.Name, partName(k), params(k), call)
	}
}

// EmitAMD64 writes the public function of k on amd64, which chooses among the versions and cuts long slices
// into chunks, and the declarations of its assembly.
func EmitAMD64(w *strings.Builder, k *Kernel) {
	s := sliceArgs(k)
	head := fmt.Sprintf("%sfunc %s(%s)%s {\n", docComment(k), k.Name, params(k), results(k))
	if k.Part { // the forms for whole arrays and for parts share their loops
		run := strings.ToLower(k.Name[:1]) + k.Name[1:]
		fmt.Fprintf(w, "%s\t%s(%s, nonTemporalFlag(%s))\n}\n\n", head, run, argNames(k), s[0])
		emitPart(w, k, fmt.Sprintf("%s(%s, nonTemporalFlagIf(%s, far))", run, argNames(k), s[0]))
		head = fmt.Sprintf("func %s(%s, flag int) {\n", run, params(k))
	}
	w.WriteString(head + reslice(k))
	call := func(isa ISA, index, n string) string {
		var p []string
		for _, a := range k.Args {
			switch {
			case a.Kind == ArgScalar:
				p = append(p, a.Name)
			default:
				p = append(p, "&"+a.Name+"["+index+"]")
			}
		}
		return GoName(k, isa) + "(" + strings.Join(p, ", ") + ", " + n + ")"
	}
	if len(k.Accs) > 0 {
		// The assembly does not touch memory when n is 0, but &x[0] would panic.
		fmt.Fprintf(w, "\tif n := len(%s); n > 0 {\n\t\tswitch {\n\t\tcase cpu.HasAVX512:\n\t\t\treturn %s\n", s[0],
			call(AVX512, "0", "n"))
		if !k.NoAVX2 {
			fmt.Fprintf(w, "\t\tcase cpu.HasAVX2FMA:\n\t\t\treturn %s\n", call(AVX2, "0", "n"))
		}
		fmt.Fprintf(w, "\t\t}\n\t}\n\treturn %s(%s)\n}\n\n", GoName(k, Generic), argNames(k))
	} else {
		emitChunks(w, k, s[0], call)
	}
	for _, isa := range []ISA{AVX512, AVX2} {
		if isa == AVX2 && k.NoAVX2 {
			continue
		}
		var p []string
		for _, a := range k.Args {
			t := a.T.Go()
			if a.Kind != ArgScalar {
				t = "*" + t
			}
			p = append(p, a.Name+" "+t)
		}
		fmt.Fprintf(w, "//go:noescape\nfunc %s(%s, n int)%s\n\n", GoName(k, isa), strings.Join(p, ", "), results(k))
	}
}

// emitChunks writes the end of the public function of a kernel without accumulators: one loop over chunks for both
// instruction sets, since a loop for each would make the many functions of this kind half as long again.
func emitChunks(w *strings.Builder, k *Kernel, dst string, call func(isa ISA, index, n string) string) {
	count := map[ISA]string{AVX512: "cnt", AVX2: "cnt"}
	flagged := 0
	for isa := range count {
		if storesNonTemporal(k, isa) && !(isa == AVX2 && k.NoAVX2) {
			count[isa] = "cnt|flag"
			flagged++
		}
	}
	fmt.Fprintf(w, "\tn := len(%s)\n", dst)
	step := fmt.Sprintf("\t\t\tif wide {\n\t\t\t\t%s\n\t\t\t} else {\n\t\t\t\t%s\n\t\t\t}\n",
		call(AVX512, "i", count[AVX512]), call(AVX2, "i", count[AVX2]))
	if k.NoAVX2 {
		w.WriteString("\tif cpu.HasAVX512 {\n")
		step = "\t\t\t" + call(AVX512, "i", count[AVX512]) + "\n"
	} else {
		w.WriteString("\tif wide := cpu.HasAVX512; wide || cpu.HasAVX2FMA {\n")
	}
	if flagged > 0 && !k.Part {
		only := ""
		if flagged == 1 && !k.NoAVX2 {
			only = map[bool]string{true: "wide", false: "!wide"}[count[AVX512] != "cnt"]
		}
		if only != "" {
			fmt.Fprintf(w, "\t\tflag := 0\n\t\tif %s {\n\t\t\tflag = nonTemporalFlag(%s)\n\t\t}\n", only, dst)
		} else {
			fmt.Fprintf(w, "\t\tflag := nonTemporalFlag(%s)\n", dst)
		}
	}
	fmt.Fprintf(w, "\t\tfor i := 0; i < n; {\n\t\t\tcnt := min(n-i, chunk)\n%s\t\t\ti += cnt\n\t\t\tyield(i, n)\n"+
		"\t\t}\n\t\treturn\n\t}\n\t%s(%s)\n}\n\n", step, GoName(k, Generic), argNames(k))
}
