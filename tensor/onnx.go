package tensor

import (
	"fmt"
	"strconv"
	"strings"
)

// ONNXForm says which call of an operator computes what an operator of ONNX's own domain does.
type ONNXForm struct {
	Name  string // of the ONNX operator
	Since int    // first version of the domain with this meaning
	Until int    // last version, 0: still
	Op    string // full name of the operator here
	Args  []ONNXArg
}

// ONNXArg is one argument of the call: an input, an attribute with a default, or a fixed value.
type ONNXArg struct {
	Input int    // number of the input, -1 for another argument
	Attr  string // name of the attribute, "" for a fixed value
	Value Value  // the attribute's default, or the fixed value
}

var onnxForms = map[string][]ONNXForm{}

// RegisterONNX declares which calls compute ONNX operators, one to a line, in the folder of the operators that are
// called. A line that needs more than one call stands in package onnx instead.
//
//	Relu: relu($0)
//	LeakyRelu: leaky_relu($0, alpha=0.01)
//	Softmax 13: softmax.int($0, axis=-1)
//	Gelu: gelu($0, approximate='none')
//
// The number after the name is the first version of ONNX's own domain in which the operator means this; "1-12" names
// the last one as well. Arguments are by position, those after the star of the schema included: $0 is the first input,
// name=default an attribute, anything else a fixed number, text, True, False or None. RegisterONNX panics on a faulty
// line, at program start.
func RegisterONNX(lines string) {
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		f, err := parseONNX(line)
		if err != nil {
			panic("tensor.RegisterONNX: " + line + ": " + err.Error())
		}
		onnxForms[f.Name] = append(onnxForms[f.Name], f)
	}
}

// FindONNX finds the form of an ONNX operator in a version of ONNX's own domain, nil when there is none.
func FindONNX(name string, opset int) *ONNXForm {
	l := onnxForms[name]
	for i := range l {
		if opset >= l[i].Since && (l[i].Until == 0 || opset <= l[i].Until) {
			return &l[i]
		}
	}
	return nil
}

// ONNXForms calls f with every declared form.
func ONNXForms(f func(ONNXForm)) {
	for _, l := range onnxForms {
		for _, x := range l {
			f(x)
		}
	}
}

func parseONNX(line string) (f ONNXForm, err error) {
	head, call, ok := strings.Cut(line, ":")
	if !ok {
		return f, fmt.Errorf("want name: call")
	}
	words := strings.Fields(head)
	if len(words) == 0 || len(words) > 2 {
		return f, fmt.Errorf("want a name and at most one version")
	}
	f.Name, f.Since = words[0], 1
	if len(words) == 2 {
		since, until, closed := strings.Cut(words[1], "-")
		if f.Since, err = strconv.Atoi(since); err != nil {
			return f, err
		}
		if closed {
			if f.Until, err = strconv.Atoi(until); err != nil {
				return f, err
			}
		}
	}
	op, args, ok := strings.Cut(strings.TrimSpace(call), "(")
	if !ok || !strings.HasSuffix(args, ")") {
		return f, fmt.Errorf("want operator(arguments)")
	}
	if f.Op = op; !strings.Contains(op, "::") {
		f.Op = "aten::" + op
	}
	for _, a := range strings.Split(strings.TrimSuffix(args, ")"), ",") {
		arg, err := parseONNXArg(strings.TrimSpace(a))
		if err != nil {
			return f, err
		}
		f.Args = append(f.Args, arg)
	}
	return f, nil
}

func parseONNXArg(s string) (a ONNXArg, err error) {
	a.Input = -1
	if n, ok := strings.CutPrefix(s, "$"); ok {
		a.Input, err = strconv.Atoi(n)
		return a, err
	}
	name, value, ok := strings.Cut(s, "=")
	if ok {
		a.Attr = name
	} else {
		value = s
	}
	switch {
	case value == "None":
	case value == "True" || value == "False":
		a.Value = BoolValue(value == "True")
	case strings.HasPrefix(value, "'") && strings.HasSuffix(value, "'") && len(value) > 1:
		a.Value = StrValue(value[1 : len(value)-1])
	default:
		if n, err := strconv.Atoi(value); err == nil {
			a.Value = IntValue(n)
			return a, nil
		}
		x, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return a, fmt.Errorf("what is %q?", value)
		}
		a.Value = FloatValue(x)
	}
	return a, nil
}
