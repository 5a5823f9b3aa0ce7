// Package samples reads the one-line notation in which operator families write the sample calls of their operators.
//
// A line is a call: arguments separated by blanks, positional ones first, then name=value; how one is read follows from
// the schema.
// After " | " come settings, the fields of [tensor.Sample]: nograd, nogradgrad, first, const=1,2, nolayout, tol=1e-3.
//
//	3x4            tensor of that shape, distinct values between -2 and 2; s is 0-d, 5 has one dimension
//	3x4@0.1..2     values between 0.1 and 2
//	3x4:i5         int64 below 5; 3x4:i-3..4 from -3 below 4
//	3x4:b          bool
//	3x4:c          complex64
//	{1,0,2}        int64 elements; {1.5,2} float32; {t,f} bool; rows end with ";"
//	[2x3,2x4]      a list of tensors; elements may be None
//	3 0.5 true sum None f64 [1,2]   numbers, bool, string, None, dtype, lists
package samples

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/tensor"
)

// Calls makes the sampler of an operator from lines in the notation above.
func Calls(lines ...string) func(s *tensor.Sampler) {
	return func(s *tensor.Sampler) {
		for _, l := range lines {
			c, err := Parse(s.Op.Sch, l)
			if err != nil {
				tensor.Fail(tensor.ErrValue, "samples of %s: %q: %v", s.Op.FullName(), l, err)
			}
			s.Calls = append(s.Calls, c)
		}
	}
}

// Table registers samples of many operators: each row is a list of names separated by blanks, ":: " and lines separated
// by " ; ". Names without a namespace are in aten.
func Table(rows ...string) {
	for _, r := range rows {
		names, lines, ok := strings.Cut(r, " :: ")
		if !ok {
			panic("samples.Table: no \" :: \" in " + r)
		}
		f := Calls(strings.Split(lines, " ; ")...)
		for _, n := range strings.Fields(names) {
			tensor.RegisterSamples(full(n), f)
		}
	}
}

// None says of operators (names separated by blanks) why they have no samples.
func None(why, names string) {
	for _, n := range strings.Fields(names) {
		tensor.RegisterNoSamples(full(n), why)
	}
}

func full(n string) string {
	if !strings.Contains(n, "::") {
		n = "aten::" + n
	}
	return n
}

// Parse reads one line.
func Parse(sch *tensor.Schema, line string) (c tensor.Sample, err error) {
	c.Note = line
	call, settings, _ := strings.Cut(line, " | ")
	for _, w := range strings.Fields(settings) {
		switch {
		case w == "nograd":
			c.NoGrad = true
		case w == "nogradgrad":
			c.NoGradGrad = true
		case w == "first":
			c.First = true
		case strings.HasPrefix(w, "const="):
			for _, e := range strings.Split(w[6:], ",") {
				n, err := strconv.Atoi(e)
				if err != nil {
					return c, err
				}
				c.Const = append(c.Const, n)
			}
		case w == "nolayout":
			c.NoLayout = true
		case strings.HasPrefix(w, "tol="):
			if c.Tol, err = strconv.ParseFloat(w[4:], 64); err != nil {
				return c, err
			}
		default:
			return c, fmt.Errorf("unknown setting %q", w)
		}
	}
	c.Args = make([]tensor.Value, len(sch.Params))
	given := make([]bool, len(sch.Params))
	for k, w := range strings.Fields(call) {
		i := k
		if name, v, ok := strings.Cut(w, "="); ok {
			if i = sch.Index(name); i < 0 {
				return c, fmt.Errorf("no argument %q", name)
			}
			w = v
		}
		if i >= len(given) {
			return c, fmt.Errorf("too many arguments")
		}
		if c.Args[i], err = parse(&sch.Params[i], w, i); err != nil {
			return c, fmt.Errorf("argument %q: %w", w, err)
		}
		given[i] = true
	}
	for i := range given {
		if given[i] {
			continue
		}
		if sch.Params[i].Default == nil {
			return c, fmt.Errorf("argument %s is missing", sch.Params[i].Name)
		}
		c.Args[i] = *sch.Params[i].Default
	}
	return c, nil
}

var dtypes = map[string]tensor.DType{"f64": tensor.Float64, "f32": tensor.Float32, "f16": tensor.Float16,
	"bf16": tensor.BFloat16,
	"i64":  tensor.Int64, "i32": tensor.Int32, "i16": tensor.Int16, "i8": tensor.Int8, "u8": tensor.Uint8,
	"bool": tensor.Bool, "c64": tensor.Complex64, "c128": tensor.Complex128}

func parse(p *tensor.Param, w string, seed int) (tensor.Value, error) {
	if w == "None" {
		return tensor.Value{}, nil
	}
	list := func() []string {
		w := strings.TrimSuffix(strings.TrimPrefix(w, "["), "]")
		if w == "" {
			return nil
		}
		return strings.Split(w, ",")
	}
	switch p.Kind {
	case tensor.KTensor:
		t, err := Tensor(w, seed)
		return tensor.TensorValue(t), err
	case tensor.KTensors:
		l := []*tensor.Tensor{}
		depth, from := 0, 1
		for i := 1; i < len(w); i++ { // commas inside braces belong to an element
			switch {
			case w[i] == '{':
				depth++
			case w[i] == '}':
				depth--
			case depth == 0 && (w[i] == ',' || w[i] == ']'):
				if i == from {
					break
				}
				var t *tensor.Tensor
				if e := w[from:i]; e != "None" {
					var err error
					if t, err = Tensor(e, seed+len(l)); err != nil {
						return tensor.Value{}, err
					}
				}
				l = append(l, t)
				from = i + 1
			}
		}
		return tensor.TensorsValue(l), nil
	case tensor.KInt:
		n, err := strconv.Atoi(w)
		return tensor.IntValue(n), err
	case tensor.KFloat:
		f, err := strconv.ParseFloat(w, 64)
		return tensor.FloatValue(f), err
	case tensor.KBool:
		b, err := strconv.ParseBool(w)
		return tensor.BoolValue(b), err
	case tensor.KStr:
		return tensor.StrValue(w), nil
	case tensor.KInts, tensor.KFloats, tensor.KBools:
		is, fs, bs := []int{}, []float64{}, []bool{}
		for _, e := range list() {
			var err error
			switch p.Kind {
			case tensor.KInts:
				var n int
				n, err = strconv.Atoi(e)
				is = append(is, n)
			case tensor.KFloats:
				var f float64
				f, err = strconv.ParseFloat(e, 64)
				fs = append(fs, f)
			default:
				var b bool
				b, err = strconv.ParseBool(e)
				bs = append(bs, b)
			}
			if err != nil {
				return tensor.Value{}, err
			}
		}
		if p.Kind == tensor.KInts {
			for len(is) == 1 && len(is) < p.Fixed { // a single int stands for all
				for len(is) < p.Fixed {
					is = append(is, is[0])
				}
			}
			return tensor.IntsValue(is), nil
		}
		if p.Kind == tensor.KFloats {
			return tensor.FloatsValue(fs), nil
		}
		return tensor.BoolsValue(bs), nil
	case tensor.KDType:
		dt, ok := dtypes[w]
		if !ok {
			return tensor.Value{}, fmt.Errorf("unknown dtype")
		}
		return tensor.DTypeValue(dt), nil
	case tensor.KFormat:
		f, ok := map[string]tensor.MemoryFormat{"channels_last": tensor.ChannelsLast,
			"contiguous": tensor.ContiguousFormat, "preserve": tensor.PreserveFormat}[w]
		if !ok {
			return tensor.Value{}, fmt.Errorf("unknown memory format")
		}
		return tensor.FormatValue(f), nil
	}
	if w[0] == '[' { // of any kind: a list of ints or floats
		var is []int
		var fs []float64
		for _, e := range list() {
			if n, err := strconv.Atoi(e); err == nil {
				is = append(is, n)
			} else if f, err := strconv.ParseFloat(e, 64); err == nil {
				fs = append(fs, f)
			} else if e == "None" {
				return tensor.AnyValue([]tensor.Value{{}}), nil
			}
		}
		if fs != nil {
			return tensor.FloatsValue(fs), nil
		}
		return tensor.IntsValue(is), nil
	}
	switch w {
	case "true", "false":
		return tensor.BoolValue(w == "true"), nil
	}
	if n, err := strconv.Atoi(w); err == nil {
		return tensor.IntValue(n), nil
	}
	f, err := strconv.ParseFloat(w, 64)
	return tensor.FloatValue(f), err
}

// Tensor makes a tensor from its notation; seed tells apart the values of a call's arguments.
func Tensor(w string, seed int) (*tensor.Tensor, error) {
	if strings.HasPrefix(w, "{") {
		return literal(strings.TrimSuffix(w[1:], "}"))
	}
	shapeText, kind := w, ""
	if i := strings.IndexAny(w, "@:"); i >= 0 {
		shapeText, kind = w[:i], w[i:]
	}
	shape := []int{}
	n := 1
	if shapeText != "s" {
		for _, e := range strings.Split(shapeText, "x") {
			d, err := strconv.Atoi(e)
			if err != nil {
				return nil, fmt.Errorf("bad shape")
			}
			shape = append(shape, d)
			n *= d
		}
	}
	lo, hi := -2.0, 2.0
	bounds := func(s string) (err error) {
		a, b, ok := strings.Cut(s, "..")
		if !ok {
			a, b = "0", s
		}
		if lo, err = strconv.ParseFloat(a, 64); err != nil {
			return err
		}
		hi, err = strconv.ParseFloat(b, 64)
		return err
	}
	switch {
	case kind == "":
	case kind[0] == '@':
		if err := bounds(kind[1:]); err != nil {
			return nil, err
		}
	case strings.HasPrefix(kind, ":i"):
		if err := bounds(kind[2:]); err != nil {
			return nil, err
		}
		v := make([]int64, n)
		for i := range v {
			v[i] = int64(math.Floor(value(i, seed, lo, hi)))
		}
		return tensor.FromSlice(v, shape...), nil
	case kind == ":b":
		v := make([]bool, n)
		for i := range v {
			v[i] = value(i, seed, -1, 1) > 0
		}
		return tensor.FromSlice(v, shape...), nil
	case kind == ":c":
		v := make([]complex64, n)
		for i := range v {
			v[i] = complex(float32(value(i, seed, lo, hi)), float32(value(i, seed+7, lo, hi)))
		}
		return tensor.FromSlice(v, shape...), nil
	default:
		return nil, fmt.Errorf("unknown kind of tensor")
	}
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(value(i, seed, lo, hi))
	}
	return tensor.FromSlice(v, shape...), nil
}

// value i of a low-discrepancy sequence: no two are alike, and any few of them are spread over the whole range.
func value(i, seed int, lo, hi float64) float64 {
	_, f := math.Modf(float64(i+1)*0.6180339887498949 + float64(seed)*0.3171)
	return lo + (hi-lo)*f
}

func literal(w string) (*tensor.Tensor, error) {
	rows := strings.Split(w, ";")
	var fs []float32
	var is []int64
	var bs []bool
	for _, r := range rows {
		for _, e := range strings.Split(r, ",") {
			if e == "t" || e == "f" {
				bs = append(bs, e == "t")
				continue
			}
			f, err := strconv.ParseFloat(e, 64)
			if err != nil {
				return nil, err
			}
			fs, is = append(fs, float32(f)), append(is, int64(f))
		}
	}
	shape := []int{max(len(fs), len(bs))}
	if len(rows) > 1 {
		shape = []int{len(rows), shape[0] / len(rows)}
	}
	switch {
	case bs != nil:
		return tensor.FromSlice(bs, shape...), nil
	case strings.ContainsAny(w, ".naf"): // 1.5, nan, inf
		return tensor.FromSlice(fs, shape...), nil
	}
	return tensor.FromSlice(is, shape...), nil
}
