package graph

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/tensor"
)

// lineWidth is how wide a matrix may be before its columns are written in parts.
const lineWidth = 80

// typeNames are the names of dtypes in the text of a tensor: CPUFloatType.
var typeNames = map[tensor.DType]string{tensor.Uint8: "Byte", tensor.Int8: "Char", tensor.Int16: "Short",
	tensor.Int32: "Int", tensor.Int64: "Long", tensor.Float16: "Half", tensor.Float32: "Float",
	tensor.Float64: "Double",
	tensor.Bool:    "Bool", tensor.BFloat16: "BFloat16", tensor.Complex64: "ComplexFloat",
	tensor.Complex128: "ComplexDouble"}

// tensorText is a tensor as a stream of C++ writes it, which is what TorchScript prints: columns of numbers of one
// width, in parts of at most 80 characters, and the type with the sizes below.
// https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/core/Formatting.cpp
func tensorText(t *tensor.Tensor) string {
	if t == nil {
		return "[ Tensor (undefined) ]"
	}
	dt := t.DType()
	name, ok := typeNames[dt]
	if !ok || dt.IsComplex() || t.Device().Type == tensor.MetaDevice || t.Numel() > mostText/16 {
		return t.String()
	}
	var sizes []string
	for _, n := range t.Shape() {
		sizes = append(sizes, strconv.Itoa(n))
	}
	p := tensorPrinter{nums: tensor.Data[float64](t.Detach().To(tensor.Device{}).To(tensor.Float64).Contiguous())}
	switch {
	case t.Dim() == 0:
		p.b.WriteString(shortest(p.nums[0]) + "\n")
	case t.Numel() == 0:
	case t.Dim() == 1:
		p.choose(p.nums)
		p.factor("")
		for _, x := range p.nums {
			p.number(x)
			p.b.WriteByte('\n')
		}
	case t.Dim() == 2:
		p.matrix(p.nums, t.Size(0), t.Size(1), "")
	default:
		p.matrices(t.Shape())
	}
	fmt.Fprintf(&p.b, "[ %s%sType{%s} ]", strings.ToUpper(t.Device().Type.String()), name, strings.Join(sizes, ","))
	return p.b.String()
}

// tensorPrinter writes the numbers of a tensor.
type tensorPrinter struct {
	b     strings.Builder
	nums  []float64
	scale float64
	width int
	form  func(x float64) string
}

// choose finds the width, the factor and the form of a group of numbers.
func (p *tensorPrinter) choose(nums []float64) {
	whole, least, most, some := true, 0.0, 0.0, false
	for _, x := range nums {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		whole = whole && x == math.Ceil(x)
		z := math.Abs(x)
		if !some {
			least, most, some = z, z, true
		}
		least, most = min(least, z), max(most, z)
	}
	digits := func(z float64) float64 {
		if !some || z == 0 {
			return 1
		}
		return math.Floor(math.Log10(z)) + 1
	}
	low, high := digits(least), digits(most)
	p.scale = 1
	p.form = func(x float64) string { return fixed(x, 'f') }
	switch {
	case whole && high > 9, !whole && high-low > 4:
		p.width, p.form = 11, func(x float64) string { return fixed(x, 'e') }
		if !whole && (math.Abs(high) > 99 || math.Abs(low) > 99) {
			p.width++
		}
	case whole:
		p.width, p.form = int(high)+1, func(x float64) string { return CGeneral(x, 6) }
	case high > 5 || high < 0:
		p.width, p.scale = 7, math.Pow(10, high-1)
	case high == 0:
		p.width = 7
	default:
		p.width = int(high) + 6
	}
}

// fixed is a number with 4 digits behind the point.
func fixed(x float64, form byte) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return CGeneral(x, 6)
	}
	return strconv.FormatFloat(x, form, 4, 64)
}

// shortest is a number with as few digits as tell it from others, with an exponent below 1e-4 and from 1e16 on.
func shortest(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return CGeneral(x, 6)
	}
	if a := math.Abs(x); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(x, 'e', -1, 64)
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

func (p *tensorPrinter) number(x float64) { fmt.Fprintf(&p.b, "%*s", p.width, p.form(x/p.scale)) }

// factor writes the common factor, where there is one.
func (p *tensorPrinter) factor(indent string) {
	if p.scale != 1 {
		fmt.Fprintf(&p.b, "%s *\n%s", shortest(p.scale), indent)
	}
}

// matrix writes rows of numbers. As in PyTorch, the indent stands before all rows but the first.
func (p *tensorPrinter) matrix(nums []float64, rows, cols int, indent string) {
	p.choose(nums)
	per := max(1, (lineWidth-len(indent))/(p.width+1))
	for first := 0; first < cols; first += per {
		last := min(first+per, cols)
		if per < cols {
			if first != 0 {
				p.b.WriteByte('\n')
			}
			fmt.Fprintf(&p.b, "Columns %d to %d%s", first+1, last, indent)
		}
		p.factor(indent)
		for r := range rows {
			for c := first; c < last; c++ {
				p.number(nums[r*cols+c])
				if c < last-1 {
					p.b.WriteByte(' ')
				}
			}
			p.b.WriteByte('\n')
			if r < rows-1 {
				p.b.WriteString(indent)
				if p.scale != 1 {
					p.b.WriteByte(' ')
				}
			}
		}
	}
}

// matrices writes a tensor with more than two dimensions: a matrix for each index of the others, of which the first
// runs fastest.
func (p *tensorPrinter) matrices(shape []int) {
	outer := shape[:len(shape)-2]
	rows, cols := shape[len(shape)-2], shape[len(shape)-1]
	at := make([]int, len(outer))
	for start := true; ; start = false {
		if !start {
			p.b.WriteByte('\n')
		}
		p.b.WriteByte('(')
		n := 0
		for i, k := range at {
			fmt.Fprintf(&p.b, "%d,", k+1)
			n = n*outer[i] + k
		}
		p.b.WriteString(".,.) = \n")
		p.matrix(p.nums[n*rows*cols:][:rows*cols], rows, cols, " ")
		i := 0
		for ; i < len(at); i++ {
			if at[i]++; at[i] < outer[i] {
				break
			}
			at[i] = 0
		}
		if i == len(at) {
			return
		}
	}
}
