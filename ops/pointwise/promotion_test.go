package pointwise_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	_ "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/shared"
	"github.com/gotorch-dev/torch/tensor"
)

// table maps a row's dtype to the results for every column; null: PyTorch refuses.
type table map[string][]*string

type promotions struct {
	DTypes       []string
	PromoteTypes table `json:"promote_types"`
	Float32      struct {
		DimDim       table `json:"dim_dim"`
		DimZero      table `json:"dim_zero"`
		ZeroDim      table `json:"zero_dim"`
		ZeroZero     table `json:"zero_zero"`
		DimScalar    table `json:"dim_scalar"`
		ZeroScalar   table `json:"zero_scalar"`
		ScalarScalar table `json:"scalar_scalar"`
	} `json:"result_type_default_float32"`
	Float64 struct {
		DimScalar  table `json:"dim_scalar"`
		ZeroScalar table `json:"zero_scalar"`
	} `json:"result_type_default_float64"`
	BFloat16 struct {
		DimScalar  table `json:"dim_scalar"`
		ZeroScalar table `json:"zero_scalar"`
	} `json:"result_type_default_bfloat16"`
	CanCast map[string][]bool    `json:"can_cast"`
	Ops     map[string]table     `json:"op_results"`
	Unary   map[string][]*string `json:"unary_results"`
}

func ones(dt tensor.DType, shape ...int) *tensor.Tensor {
	t := tensor.New(shape, dt)
	tensor.CopyRaw(t, tensor.IntValue(1).Num().Tensor())
	return t
}

// each calls f for every pair of dtypes that exist here.
func (p *promotions) each(tab table, f func(a, b tensor.DType, want *string)) {
	for name, row := range tab {
		for i, w := range row {
			f(dtype.Parse(name), dtype.Parse(p.DTypes[i]), w)
		}
	}
}

// differs says what is wrong with a promoted type or its refusal; want is nil where PyTorch refuses.
func differs(want *string, promoted func() tensor.DType) string {
	var got tensor.DType
	err := tensor.Try(func() { got = promoted() })
	switch {
	case want != nil && dtype.Parse(*want) == dtype.Invalid: // bcomplex32, which has no operators in PyTorch either
	case want == nil && err == nil:
		return fmt.Sprintf("%s, want an error", got)
	case want != nil && err != nil:
		return fmt.Sprintf("%v, want %s", err, *want)
	case want != nil && got.Name() != *want:
		return fmt.Sprintf("%s, want %s", got, *want)
	}
	return ""
}

func load(t *testing.T) *promotions {
	raw, err := os.ReadFile(shared.Path(t, "golden/promotion.json"))
	if err != nil {
		t.Fatal(err)
	}
	p := &promotions{}
	if err := json.Unmarshal(raw, p); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPromoteTypes(t *testing.T) {
	p := load(t)
	n := 0
	p.each(p.PromoteTypes, func(a, b tensor.DType, want *string) {
		n++
		if d := differs(want, func() tensor.DType { return tensor.PromoteTypes(a, b) }); d != "" {
			t.Errorf("promote_types(%s, %s) = %s", a, b, d)
		}
	})
	if n != len(dtype.All)*len(dtype.All) {
		t.Errorf("%d pairs were checked", n)
	}
	for name, row := range p.CanCast {
		a := dtype.Parse(name)
		for i, want := range row {
			if b := dtype.Parse(p.DTypes[i]); a != dtype.Invalid && b != dtype.Invalid && tensor.CanCast(a, b) != want {
				t.Errorf("can_cast(%s, %s) = %v", a, b, !want)
			}
		}
	}
}

func TestResultType(t *testing.T) {
	p := load(t)
	for _, c := range []struct {
		name string
		tab  table
		a, b []int
	}{
		{"dim, dim", p.Float32.DimDim, []int{1}, []int{1}}, {"dim, zero", p.Float32.DimZero, []int{1}, nil},
		{"zero, dim", p.Float32.ZeroDim, nil, []int{1}}, {"zero, zero", p.Float32.ZeroZero, nil, nil},
	} {
		p.each(c.tab, func(a, b tensor.DType, want *string) {
			if d := differs(want, func() tensor.DType {
				return tensor.ResultType(ones(a, c.a...), ones(b, c.b...))
			}); d != "" {
				t.Errorf("%s: result_type(%s, %s) = %s", c.name, a, b, d)
			}
		})
	}
	numbers := []tensor.Num{tensor.BoolValue(true).Num(), tensor.IntValue(1).Num(), tensor.FloatValue(1).Num(),
		tensor.ComplexValue(1).Num()}
	scalars := func(def tensor.DType, tab table, shape ...int) {
		tensor.SetDefaultDType(def)
		defer tensor.SetDefaultDType(tensor.Float32)
		for name, row := range tab {
			a := dtype.Parse(name)
			for i, w := range row {
				if d := differs(w, func() tensor.DType {
					var pr tensor.Promoter
					pr.Add(ones(a, shape...))
					pr.AddNum(numbers[i])
					return pr.Result()
				}); d != "" {
					t.Errorf("default %s: result_type(%s %v, number %d) = %s", def, a, shape, i, d)
				}
			}
		}
	}
	scalars(tensor.Float32, p.Float32.DimScalar, 1)
	scalars(tensor.Float32, p.Float32.ZeroScalar)
	scalars(tensor.Float64, p.Float64.DimScalar, 1)
	scalars(tensor.Float64, p.Float64.ZeroScalar)
	scalars(tensor.BFloat16, p.BFloat16.DimScalar, 1)
	scalars(tensor.BFloat16, p.BFloat16.ZeroScalar)
}

// TestOperatorDTypes calls operators with every pair of dtypes; what PyTorch refuses must be refused.
func TestOperatorDTypes(t *testing.T) {
	p := load(t)
	mine := map[string]bool{"add": true, "sub": true, "mul": true, "div": true, "floor_divide": true, "remainder": true,
		"pow": true, "atan2": true, "eq": true,
		"bitwise_and": true, "maximum": true}
	for op, tab := range p.Ops {
		if !mine[op] {
			continue
		}
		for name, row := range tab {
			a := dtype.Parse(name)
			for i, w := range row {
				b := dtype.Parse(p.DTypes[i])
				if a != dtype.Invalid && b != dtype.Invalid {
					check(t, op, w, ones(a, 1), ones(b, 1))
				}
			}
		}
	}
	unary := map[string]bool{"sqrt": true, "sin": true, "exp": true, "abs": true, "neg": true, "sign": true,
		"floor": true, "round": true, "square": true, "reciprocal": true,
		"isnan": true, "logical_not": true, "bitwise_not": true, "angle": true, "real": true}
	for op, row := range p.Unary {
		if !unary[op] {
			continue
		}
		for i, w := range row {
			if a := dtype.Parse(p.DTypes[i]); a != dtype.Invalid {
				check(t, op, w, ones(a, 1))
			}
		}
	}
}

func check(t *testing.T, op string, want *string, in ...*tensor.Tensor) {
	t.Helper()
	var args []tensor.Value
	var kinds []string
	for _, x := range in {
		args = append(args, tensor.TensorValue(x))
		kinds = append(kinds, x.DType().Name())
	}
	res, err := tensor.ResolveCall([]string{"aten::" + op}, args, nil)
	switch {
	case want == nil && err == nil:
		t.Errorf("%s%v = %s, want an error", op, kinds, res[0].T.DType().Name())
	case want != nil && err != nil:
		t.Errorf("%s%v: %v, want %s", op, kinds, err, *want)
	case want != nil && res[0].T.DType().Name() != *want:
		t.Errorf("%s%v = %s, want %s", op, kinds, res[0].T.DType().Name(), *want)
	}
}
