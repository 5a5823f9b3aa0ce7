package main

import (
	"bytes"
	"fmt"
	"strings"
)

// former holds the names of packages torch and tensor of the release before, by what a function is called now. The
// generator writes each as a deprecated alias, with a directive by which `go fix` puts in the new name; with the next
// release the entries go. A name that has another meaning now, as Pow with a number, can have no alias. "torch." stands
// before what was a function and no method.
var former = map[string]string{
	"Pow": "PowTensor", "PowInPlace": "PowTensorInPlace", "PowScalarSelf": "PowNumber",
	"FloatPower": "FloatPowerTensor", "FloatPowerInPlace": "FloatPowerTensorInPlace",
	"FloatPowerScalarSelf": "FloatPowerNumber",
	"Clamp":                "ClampTensor", "ClampInPlace": "ClampTensorInPlace",
	"Clip": "ClipTensor", "ClipInPlace": "ClipTensorInPlace",
	"ClampMin": "ClampMinTensor", "ClampMinInPlace": "ClampMinTensorInPlace",
	"ClampMax": "ClampMaxTensor", "ClampMaxInPlace": "ClampMaxTensorInPlace",
	"ScatterScalar": "ScatterValue", "ScatterScalarInPlace": "ScatterValueInPlace",
	"ScatterWithScalar": "ScatterValueWith", "ScatterWithScalarInPlace": "ScatterValueWithInPlace",
	"WhereScalar": "torch.WhereScalarOther", "IsIn": "IsInTensor", "RMSNorm": "RmsNorm",
}

// emitFormer writes the deprecated alias of a function or method. The parameters are those of the function, without
// the receiver of a method; options is the name of the type of its options where the function has one of its own.
func emitFormer(b *bytes.Buffer, name string, method bool, params, args []string, ret, options string) {
	old, ok := former[name]
	old, functionOnly := strings.CutPrefix(old, "torch.")
	if !ok || method && functionOnly {
		return
	}
	link, receiver, on := name, "", ""
	if method {
		link, receiver, on = "Tensor."+name, "(t *Tensor) ", "t."
	}
	if options != "" { // without the directive: go fix loses the fixes of a file where a type and its function change
		fmt.Fprintf(b, "// %sOptions are the optional arguments of %s.\n//\n// Deprecated: use [%sOptions].\ntype "+
			"%sOptions = %sOptions\n\n", old, old, name, old, name)
	}
	fmt.Fprintf(b, "// %s is the former name of [%s].\n//\n// Deprecated: use [%s].\n//\n//go:fix inline\n", old, link,
		link)
	fmt.Fprintf(b, "func %s%s(%s) %s {\n\treturn %s%s(%s)\n}\n\n", receiver, old, strings.Join(params, ", "), ret, on,
		name,
		strings.Join(args, ", "))
}
