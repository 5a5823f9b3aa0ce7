package kernel

import (
	"fmt"
	"strings"
)

// This file writes the Go functions of the Rows form of a kernel: cols elements in each of rows rows, which
// lie ld elements apart in each of the slices. A distance of 0 takes the same row every time. Scalars are the
// same for all rows or, with PerRow, slices with a number for each row. The result of a reduction is a slice
// with a number for each row.

// rowsName is the name of the assembly of the Rows form of k.
func rowsName(k *Kernel, isa ISA) string {
	base, sfx := k.Name, ""
	for _, s := range []string{"F32As64", "F32ToF64", "BF16ToF32", "F16ToF32", "BF16", "F16", "F32", "F64"} {
		if b, ok := strings.CutSuffix(k.Name, s); ok {
			base, sfx = b, s
			break
		}
	}
	return strings.ToLower(base[:1]) + base[1:] + "Rows" + sfx + isa.String()
}

// rowsGoName is the name of the Go function of the Rows form, exported where the name of k is.
func rowsGoName(k *Kernel) string {
	n := strings.TrimSuffix(rowsName(k, Generic), "Generic")
	return k.Name[:1] + n[1:]
}

// rowsParams is the parameter list of the Rows form.
func rowsParams(k *Kernel) string {
	p := []string{"rows, cols int"}
	for _, a := range k.Accs {
		p = append(p, a.Name+"s []"+k.Lane.Go())
	}
	for _, a := range k.Args {
		if a.Kind == ArgScalar && !k.PerRow {
			p = append(p, a.Name+" "+a.T.Go())
		} else {
			p = append(p, fmt.Sprintf("%s []%s, ld_%s int", a.Name, a.T.Go(), a.Name))
		}
	}
	return strings.ReplaceAll(strings.Join(p, ", "), "ld_", "ld")
}

// rowsHead opens the function and checks the lengths of its slices.
func rowsHead(k *Kernel) string {
	var w strings.Builder
	fmt.Fprintf(&w, "// %s does what %s does on each of rows rows of cols elements, ldx elements apart in slice x.\n",
		rowsGoName(k), k.Name)
	fmt.Fprintf(&w, "func %s(%s) {\n\tif rows <= 0 || cols <= 0 {\n\t\treturn\n\t}\n", rowsGoName(k), rowsParams(k))
	for _, s := range sliceArgs(k) {
		fmt.Fprintf(&w, "\t_ = %s[(rows-1)*ld%s+cols-1]\n", s, s)
	}
	for _, a := range k.Args {
		if k.perRow(a) {
			fmt.Fprintf(&w, "\t_ = %s[(rows-1)*ld%s]\n", a.Name, a.Name)
		}
	}
	for _, a := range k.Accs {
		fmt.Fprintf(&w, "\t_ = %ss[rows-1]\n", a.Name)
	}
	return w.String()
}

// rowsLoop calls the flat form for every row.
func rowsLoop(k *Kernel) string {
	var p []string
	for _, a := range k.Args {
		switch {
		case k.perRow(a):
			p = append(p, fmt.Sprintf("%s[r*ld%s]", a.Name, a.Name))
		case a.Kind == ArgScalar:
			p = append(p, a.Name)
		default:
			p = append(p, fmt.Sprintf("%s[r*ld%s:][:cols]", a.Name, a.Name))
		}
	}
	var to []string
	for _, a := range k.Accs {
		to = append(to, a.Name+"s[r]")
	}
	set := strings.Join(to, ", ")
	if set != "" {
		set += " = "
	}
	return fmt.Sprintf("\tfor r := range rows {\n\t\t%s%s(%s)\n\t}\n}\n\n", set, k.Name, strings.Join(p, ", "))
}

// EmitRowsNoAssembly writes the Rows form of k for platforms without assembly.
func EmitRowsNoAssembly(w *strings.Builder, k *Kernel) { w.WriteString(rowsHead(k) + rowsLoop(k)) }

// EmitRowsAMD64 writes the Rows form of k on amd64 and the declarations of its assembly.
func EmitRowsAMD64(w *strings.Builder, k *Kernel) {
	isas := []ISA{AVX512}
	if !k.NoAVX2 {
		isas = append(isas, AVX2)
	}
	emitRows(w, k, isas)
}

// emitRows writes the Rows form, which chooses among the given instruction sets, and the declarations of its
// assembly.
func emitRows(w *strings.Builder, k *Kernel, isas []ISA) {
	w.WriteString(rowsHead(k))
	// As many rows at a time as make a chunk; a single row longer than that is left to the flat form.
	per := "chunk / cols"
	if len(k.Accs) > 0 {
		per = "max(chunk/(cols+32), 1)" // folding the accumulators takes as long as 32 elements
	}
	fmt.Fprintf(w, "\tif cols <= chunk {\n\t\tper := %s\n\t\tswitch {\n", per)
	for _, isa := range isas {
		var p, ld []string
		for _, a := range k.Args {
			if a.Kind == ArgScalar && !k.PerRow {
				p = append(p, a.Name)
			} else {
				p = append(p, fmt.Sprintf("&%s[r*ld%s]", a.Name, a.Name))
				ld = append(ld, fmt.Sprintf("%d*ld%s", a.T.Size(), a.Name))
			}
		}
		for _, a := range k.Accs {
			ld = append(ld, fmt.Sprintf("&%ss[r]", a.Name))
		}
		fmt.Fprintf(w, "\t\tcase cpu.Has%s:\n\t\t\tfor r := 0; r < rows; r += per {\n\t\t\t\t%s(%s, cols, min(per, "+
			"rows-r), %s)\n\t\t\t\tyield(r+per, rows)\n\t\t\t}\n\t\t\treturn\n",
			map[ISA]string{AVX512: "AVX512", AVX2: "AVX2FMA", NEON: "NEON"}[isa], rowsName(k, isa),
			strings.Join(p, ", "), strings.Join(ld, ", "))
	}
	w.WriteString("\t\t}\n\t}\n" + rowsLoop(k))
	for _, isa := range isas {
		var p, ld []string
		for _, a := range k.Args {
			t := a.T.Go()
			if a.Kind != ArgScalar || k.PerRow {
				t = "*" + t
				ld = append(ld, "ld_"+a.Name)
			}
			p = append(p, a.Name+" "+t)
		}
		out := ""
		for _, a := range k.Accs {
			out += ", " + a.Name + " *" + k.Lane.Go()
		}
		fmt.Fprintf(w, "//go:noescape\nfunc %s(%s, n, rows, %s int%s)\n\n", rowsName(k, isa), strings.Join(p, ", "),
			strings.Join(ld, ", "), out)
	}
}
