package main

import (
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/kernel"
)

// This file derives the kernels of float16 and bfloat16 from those of float32: the same body, whose loads widen and
// whose stores round, so that a result is what float32 gives, rounded once, with no pass through memory between.

// half is what is to be derived from one kernel; exact is as in Kernel.
type half struct {
	name  string
	exact bool
}

// halves lists them, by the shape of their arguments in the tables of zz_half.go.
var halves = []struct {
	kind  string
	names []half
}{
	{"Unary16", []half{{"ReLU", true}, {"Sqrt", false}, {"Rsqrt", false}, {"Reciprocal", false}, {"Square", false},
		{"Exp", false}, {"Log", false}, {"Tanh", false}, {"Sigmoid", false}, {"Erf", false}, {"GELU", false},
		{"GELUTanh", false},
		{"SiLU", false}, {"Mish", false}, {"Hardsigmoid", false}, {"Hardswish", false},
		{"Ceil", true}, {"Floor", true}, {"Round", true}, {"Trunc", true}, {"Sign", true}, {"Frac", false},
		{"Angle", false}}},
	{"Binary16", []half{{"Add", false}, {"Sub", false}, {"Mul", false}, {"Div", false}, {"Maximum", true},
		{"Minimum", true},
		{"TanhBackward", false}, {"SigmoidBackward", false}, {"GELUBackward", false}, {"GELUTanhBackward", false},
		{"SiLUBackward", false},
		{"HardsigmoidBackward", false}, {"HardswishBackward", false}, {"Copysign", true}, {"PReLU", false},
		{"FMax", true}, {"FMin", true}}},
	{"Scalar16", []half{{"AddScalar", false}, {"SubScalar", false}, {"RSubScalar", false}, {"MulScalar", false},
		{"DivScalar", false}, {"RDivScalar", false},
		{"LeakyReLU", false}, {"HardShrink", true}, {"SoftShrink", false}}},
	{"", []half{{"AddScaled", false}, {"ThresholdBackward", true}, {"Clamp", false}, {"Addcmul", false},
		{"Addcdiv", false}, {"Lerp", false}, {"LerpTo", false},
		{"LeakyReLUBackward", false}, {"HuberError", false}, {"HuberErrorBackward", false}, {"ShrinkBackward", true},
		{"HardTanhBackward", true}, {"sumBlock", false}, {"sumNumbersBlock", false}, {"maxBlock", false},
		{"minBlock", false}}},
}

// sixteenBits adds the derived kernels; those that they come from stand in the list already.
func sixteenBits() {
	byName := map[string]*kernel.Kernel{}
	for _, k := range kernels {
		byName[k.Name] = k
	}
	for _, list := range halves {
		for _, h := range list.names {
			for _, t := range []kernel.Type{kernel.F16, kernel.BF16} {
				k := byName[h.name+"F32"]
				kernel.Check(k != nil, "%s: no kernel of float32", h.name)
				d := *k
				d.Name, d.Exact, d.Rows = h.name+t.Suffix(), h.exact, k.Rows && len(k.Accs) > 0
				d.Doc = strings.TrimSuffix(k.Doc, ".") + ", on " + longName(t) + "."
				d.Down = map[string]string{"sumBlock": "AccumulateRows", "sumNumbersBlock": "AddNumbersRows"}[h.name]
				if d.Down != "" {
					d.Down += t.Suffix() + "ToF32(rows, len(dst), dst, 0, a, lda)"
				}
				d.Args = append([]kernel.Arg(nil), k.Args...)
				for i := range d.Args {
					if d.Args[i].T == kernel.F32 && d.Args[i].Kind != kernel.ArgScalar {
						d.Args[i].T = t
					}
				}
				add(d)
			}
		}
	}
}

// longName is the name of a 16-bit floating type in prose.
func longName(t kernel.Type) string {
	if t == kernel.F16 {
		return "float16"
	}
	return "bfloat16"
}

// emitHalf writes the tables of the derived kernels.
func emitHalf() string {
	var w strings.Builder
	w.WriteString(banner + "package vec\n\n")
	for _, list := range halves {
		if list.kind == "" {
			continue
		}
		w.WriteString("var (\n")
		for _, h := range list.names {
			fmt.Fprintf(&w, "\t// %s16 holds %sF16 and %sBF16.\n\t%s16 = %s{%sF16, %sBF16}\n", h.name, h.name, h.name,
				h.name, list.kind, h.name, h.name)
		}
		w.WriteString(")\n\n")
	}
	return w.String()
}
