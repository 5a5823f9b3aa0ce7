package export

import (
	"fmt"
	"math"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/tensor"
)

// errAssert is the cause of the error of a run in which an assertion of the program does not hold.
var errAssert = fmt.Errorf("an assertion of the program does not hold")

// Limits of sizes, and what Python's operators do with numbers.
func init() {
	for _, name := range []string{"sym_constrain_range", "sym_constrain_range_for_size"} {
		graph.Register("aten::"+name+"(Scalar size, *, int? min=None, int? max=None) -> ()",
			func(a []tensor.Value) tensor.Value { return constrain(name, a) })
	}
	registerNumbers()
}

// constrain checks the limits of a size that depends on data.
func constrain(name string, a []tensor.Value) tensor.Value {
	n := a[0].Num().I
	lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
	if a[1].K == tensor.KInt {
		lo = a[1].N
	} else if name == "sym_constrain_range_for_size" {
		lo = 0
	}
	if a[2].K == tensor.KInt {
		hi = a[2].N
	}
	if n < lo || n > hi {
		tensor.Fail(errAssert, "Invalid value range for %d between [%d, %d].", n, lo, hi)
	}
	return tensor.Value{}
}

// numberOps are Python's functions on numbers by the target of a node, and the operators that compute them.
var numberOps = map[string]string{
	"_operator.add": "aten::add", "_operator.sub": "aten::sub", "_operator.mul": "aten::mul",
	"_operator.floordiv": "aten::floordiv", "_operator.mod": "aten::remainder", "_operator.truediv": "aten::div",
	"_operator.neg": "aten::neg.Scalar", "_operator.pos": "gotorch::sym_pos", "_operator.pow": "gotorch::sym_pow",
	"_operator.eq": "aten::eq", "_operator.ne": "aten::ne", "_operator.lt": "aten::lt", "_operator.le": "aten::le",
	"_operator.gt": "aten::gt", "_operator.ge": "aten::ge", "_operator.and_": "gotorch::sym_and",
	"_operator.or_": "gotorch::sym_or", "_operator.xor": "gotorch::sym_xor", "_operator.not_": "gotorch::sym_not",
	"_operator.invert": "gotorch::sym_invert", "_operator.lshift": "aten::__lshift__.int",
	"_operator.rshift": "aten::__rshift__.int",
	"torch.sym_max":    "gotorch::sym_max", "torch.sym_min": "gotorch::sym_min", "torch.sym_int": "gotorch::sym_int",
	"torch.sym_float": "gotorch::sym_float", "torch.sym_not": "gotorch::sym_not", "torch.sym_ite": "gotorch::sym_ite",
	"torch.sym_sum": "gotorch::sym_sum", "math.trunc": "gotorch::sym_int", "math.ceil": "gotorch::sym_ceil",
	"math.floor": "gotorch::sym_floor", "round": "gotorch::sym_round", "_operator.abs": "gotorch::sym_abs",
	"math.pow": "gotorch::sym_math_pow",
}

// mathFunctions are functions of one number, which torch.sym_… and math.… name.
var mathFunctions = map[string]func(float64) float64{
	"sqrt": math.Sqrt, "sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos,
	"atan": math.Atan, "sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh, "exp": math.Exp, "log": math.Log,
	"log2": math.Log2,
}

func isInt(v *tensor.Value) bool { return v.K == tensor.KInt || v.K == tensor.KBool }

func intValue(n int64) tensor.Value { return tensor.Value{K: tensor.KInt, N: n} }

// whole is a float as an int.
func whole(f float64) tensor.Value {
	if !(math.Abs(f) < 1<<63) {
		tensor.Fail(tensor.ErrValue, "%v is no integer", f)
	}
	return intValue(int64(f))
}

func registerNumbers() {
	one := func(name, result string, f func(v tensor.Value) tensor.Value) {
		graph.Register("gotorch::sym_"+name+"(Scalar a) -> "+result,
			func(a []tensor.Value) tensor.Value { return f(a[0]) })
	}
	two := func(name, result string, f func(a, b tensor.Value) tensor.Value) {
		graph.Register("gotorch::sym_"+name+"(Scalar a, Scalar b) -> "+result,
			func(a []tensor.Value) tensor.Value { return f(a[0], a[1]) })
	}
	truth := func(v tensor.Value) bool { n := v.Num(); return n.I != 0 || n.F != 0 }
	one("pos", "Scalar", func(v tensor.Value) tensor.Value { return v })
	one("not", "bool", func(v tensor.Value) tensor.Value { return tensor.BoolValue(!truth(v)) })
	one("invert", "int", func(v tensor.Value) tensor.Value { return intValue(^v.Num().I) })
	one("float", "float", func(v tensor.Value) tensor.Value { return tensor.FloatValue(v.Num().F) })
	rounded := func(name string, f func(float64) float64) {
		one(name, "int", func(v tensor.Value) tensor.Value {
			if isInt(&v) {
				return intValue(v.N)
			}
			return whole(f(v.Num().F))
		})
	}
	rounded("int", math.Trunc)
	rounded("ceil", math.Ceil)
	rounded("floor", math.Floor)
	rounded("round", math.RoundToEven)
	one("abs", "Scalar", func(v tensor.Value) tensor.Value {
		if isInt(&v) {
			return intValue(max(v.N, -v.N))
		}
		return tensor.FloatValue(math.Abs(v.Num().F))
	})
	for name, f := range mathFunctions {
		one(name, "float", func(v tensor.Value) tensor.Value { return tensor.FloatValue(f(v.Num().F)) })
		numberOps["torch.sym_"+name], numberOps["torch._sym_"+name] = "gotorch::sym_"+name, "gotorch::sym_"+name
		numberOps["math."+name] = "gotorch::sym_" + name
	}
	two("pow", "Scalar", func(a, b tensor.Value) tensor.Value {
		if isInt(&a) && isInt(&b) && b.N >= 0 {
			r, x := int64(1), a.N
			for n := b.N; n > 0; n >>= 1 {
				if n&1 != 0 {
					r *= x
				}
				x *= x
			}
			return intValue(r)
		}
		return tensor.FloatValue(math.Pow(a.Num().F, b.Num().F))
	})
	two("math_pow", "float", func(a, b tensor.Value) tensor.Value {
		return tensor.FloatValue(math.Pow(a.Num().F, b.Num().F))
	})
	choose := func(name string, second func(a, b float64) bool) {
		two(name, "Scalar", func(a, b tensor.Value) tensor.Value {
			if isInt(&a) && isInt(&b) && a.N != b.N { // exactly
				if (a.N < b.N) == second(0, 1) {
					return b
				}
				return a
			}
			if second(a.Num().F, b.Num().F) {
				return b
			}
			return a
		})
	}
	choose("max", func(a, b float64) bool { return b > a })
	choose("min", func(a, b float64) bool { return b < a })
	bits := func(name string, f func(a, b int64) int64) {
		two(name, "Scalar", func(a, b tensor.Value) tensor.Value {
			r := f(a.Num().I, b.Num().I)
			if a.K == tensor.KBool && b.K == tensor.KBool {
				return tensor.BoolValue(r != 0)
			}
			return intValue(r)
		})
	}
	bits("and", func(a, b int64) int64 { return a & b })
	bits("or", func(a, b int64) int64 { return a | b })
	bits("xor", func(a, b int64) int64 { return a ^ b })
	graph.Register("gotorch::sym_ite(Scalar cond, Scalar a, Scalar b) -> Scalar",
		func(a []tensor.Value) tensor.Value {
			if truth(a[0]) {
				return a[1]
			}
			return a[2]
		})
	graph.Register("gotorch::sym_sum(Scalar[] a) -> int", func(a []tensor.Value) tensor.Value {
		items, _ := graph.ItemsOf(a[0])
		n := int64(0)
		for i := range items {
			n += items[i].Num().I
		}
		return intValue(n)
	})
}
