package main

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	F "github.com/gotorch-dev/torch/nn/functional"
)

// pointwiseRows are elementwise operators, reductions, rows and tables: what memory bounds. Every result is a new
// tensor, freed by Tidy.
func pointwiseRows(c *config) []row {
	var rows []row
	add := func(r ...row) { rows = append(rows, r...) }
	million, ten := c.size(1_000_000, 1000), c.size(10_000_000, 2000)
	for _, op := range []string{"exp", "tanh", "gelu", "sigmoid", "log", "silu"} {
		add(unary(op, million, torch.Float32))
	}
	add(unary("exp", ten, torch.Float32), binary("add", ten, torch.Float32), unary("relu", ten, torch.Float32),
		unary("gelu", ten, torch.Float32))
	side := c.size(1000, 16)
	add(softmaxRows(side, side), layerNormRows(side, side), rmsNormRows(side, side))
	for _, name := range []string{"mse_loss", "smooth_l1_loss", "binary_cross_entropy",
		"binary_cross_entropy_with_logits", "kl_div"} {
		add(lossRow(name, million))
	}
	add(sumAll(ten, torch.Float32), sumDim0(c.size(10_000, 20), side), transposed(side, side))
	add(embedding(c.size(50_000, 50), 128, c.size(4096, 8)),
		embeddingBag(c.size(50_000, 50), 128, c.size(1024, 4), c.size(20, 3)))
	// Other types, of which PyTorch has fast kernels too.
	for _, dt := range []torch.DType{torch.BFloat16, torch.Float16, torch.Int64, torch.Int32, torch.Uint8,
		torch.Float64} {
		add(binary("add", million, dt), binary("mul", million, dt))
		if dt.IsFloat() {
			add(unary("exp", million, dt), unary("relu", million, dt), unary("gelu", million, dt))
		} else {
			add(binary("eq", million, dt))
		}
		add(sumAll(million, dt))
	}
	add(binary("logical_and", million, torch.Bool), sumAll(million, torch.Bool), binary("lt", million, torch.Float32))
	add(casting(million, torch.Float32, torch.BFloat16), casting(million, torch.BFloat16, torch.Float32),
		casting(million, torch.Float32, torch.Float16),
		casting(million, torch.Int64, torch.Float32), casting(million, torch.Float32, torch.Int64),
		casting(million, torch.Uint8, torch.Float32))
	add(choosing(million), addRow(side, side))
	return rows
}

// count names a number of elements as people do.
func count(n int) string {
	switch n {
	case 1_000_000:
		return "1e6"
	case 10_000_000:
		return "1e7"
	}
	return fmt.Sprint(n)
}

// typed adds the type to a name, unless it is the usual one.
func typed(name string, dt torch.DType) string {
	if dt == torch.Float32 {
		return name
	}
	return name + " " + pythonName(dt)
}

// pythonName is the name of a type without "torch.".
func pythonName(dt torch.DType) string { return dt.String()[len("torch."):] }

// filled makes test data of any type.
func filled(n int, dt torch.DType) *torch.Tensor {
	switch {
	case dt == torch.Bool:
		return torch.Rand([]int{n}).GtScalar(0.5)
	case dt.IsFloat():
		return torch.Randn([]int{n}).To(dt)
	}
	return torch.Randint(99, []int{n}).AddScalar(1).To(dt)
}

var unaryOps = map[string]func(x *torch.Tensor) *torch.Tensor{
	"exp":     func(x *torch.Tensor) *torch.Tensor { return x.Exp() },
	"tanh":    func(x *torch.Tensor) *torch.Tensor { return x.Tanh() },
	"gelu":    func(x *torch.Tensor) *torch.Tensor { return x.GELU() },
	"sigmoid": func(x *torch.Tensor) *torch.Tensor { return x.Sigmoid() },
	"relu":    func(x *torch.Tensor) *torch.Tensor { return x.ReLU() },
	"log":     func(x *torch.Tensor) *torch.Tensor { return x.Log() },
	"silu":    func(x *torch.Tensor) *torch.Tensor { return x.SiLU() },
}

var binaryOps = map[string]func(x, y *torch.Tensor) *torch.Tensor{
	"add":         func(x, y *torch.Tensor) *torch.Tensor { return x.Add(y) },
	"mul":         func(x, y *torch.Tensor) *torch.Tensor { return x.Mul(y) },
	"eq":          func(x, y *torch.Tensor) *torch.Tensor { return x.Eq(y) },
	"lt":          func(x, y *torch.Tensor) *torch.Tensor { return x.Lt(y) },
	"logical_and": func(x, y *torch.Tensor) *torch.Tensor { return x.LogicalAnd(y) },
}

func unary(op string, n int, dt torch.DType) row {
	f := unaryOps[op]
	return row{
		name: typed(op+" "+count(n), dt), bytes: float64(2 * n * dt.Size()),
		peer: "unary", args: arg{"op": op, "n": n, "dtype": pythonName(dt)},
		prepare: func() work {
			x := filled(n, dt)
			return work{step: func() { torch.Tidy(func() { f(x) }) }}
		},
	}
}

func binary(op string, n int, dt torch.DType) row {
	f := binaryOps[op]
	out := dt.Size()
	if op == "eq" || op == "lt" {
		out = 1
	}
	return row{
		name: typed(op+" "+count(n), dt), bytes: float64(n * (2*dt.Size() + out)),
		peer: "binary", args: arg{"op": op, "n": n, "dtype": pythonName(dt)},
		prepare: func() work {
			x, y := filled(n, dt), filled(n, dt)
			return work{step: func() { torch.Tidy(func() { f(x, y) }) }}
		},
	}
}

func casting(n int, from, to torch.DType) row {
	return row{
		name:  fmt.Sprintf("%s to %s %s", pythonName(from), pythonName(to), count(n)),
		bytes: float64(n * (from.Size() + to.Size())),
		peer:  "cast", args: arg{"n": n, "src": pythonName(from), "dst": pythonName(to)},
		prepare: func() work {
			x := filled(n, from)
			return work{step: func() { torch.Tidy(func() { x.To(to) }) }}
		},
	}
}

func choosing(n int) row {
	return row{
		name: "where " + count(n), bytes: float64(13 * n),
		peer: "where", args: arg{"n": n},
		prepare: func() work {
			m, x, y := filled(n, torch.Bool), filled(n, torch.Float32), filled(n, torch.Float32)
			return work{step: func() { torch.Tidy(func() { torch.Where(m, x, y) }) }}
		},
	}
}

func addRow(rows, cols int) row {
	return row{
		name: fmt.Sprintf("add row to %dx%d", rows, cols), bytes: float64(8 * rows * cols),
		peer: "add_row", args: arg{"rows": rows, "cols": cols},
		prepare: func() work {
			x, y := torch.Randn([]int{rows, cols}), torch.Randn([]int{cols})
			return work{step: func() { torch.Tidy(func() { x.Add(y) }) }}
		},
	}
}

func softmaxRows(rows, cols int) row {
	return row{
		name: fmt.Sprintf("softmax %dx%d", rows, cols), bytes: float64(8 * rows * cols),
		peer: "softmax", args: arg{"rows": rows, "cols": cols},
		prepare: func() work {
			x := torch.Randn([]int{rows, cols})
			return work{step: func() { torch.Tidy(func() { x.Softmax(-1) }) }}
		},
	}
}

func layerNormRows(rows, cols int) row {
	return row{
		name: fmt.Sprintf("layer_norm %dx%d", rows, cols), bytes: float64(8 * rows * cols),
		peer: "layer_norm", args: arg{"rows": rows, "cols": cols},
		prepare: func() work {
			x, w, b := torch.Randn([]int{rows, cols}), torch.Randn([]int{cols}), torch.Randn([]int{cols})
			return work{step: func() {
				torch.Tidy(func() { F.LayerNorm(x, []int{cols}, F.LayerNormOptions{Weight: w, Bias: b}) })
			}}
		},
	}
}

func rmsNormRows(rows, cols int) row {
	return row{
		name: fmt.Sprintf("rms_norm %dx%d", rows, cols), bytes: float64(8 * rows * cols),
		peer: "rms_norm", args: arg{"rows": rows, "cols": cols},
		prepare: func() work {
			x, w := torch.Randn([]int{rows, cols}), torch.Randn([]int{cols})
			return work{step: func() { torch.Tidy(func() { F.RMSNorm(x, []int{cols}, F.RMSNormOptions{Weight: w}) }) }}
		},
	}
}

var losses = map[string]func(x, y *torch.Tensor) *torch.Tensor{
	"mse_loss":             func(x, y *torch.Tensor) *torch.Tensor { return F.MSELoss(x, y) },
	"smooth_l1_loss":       func(x, y *torch.Tensor) *torch.Tensor { return F.SmoothL1Loss(x, y) },
	"binary_cross_entropy": func(x, y *torch.Tensor) *torch.Tensor { return F.BinaryCrossEntropy(x, y) },
	"binary_cross_entropy_with_logits": func(x,
		y *torch.Tensor) *torch.Tensor {
		return F.BinaryCrossEntropyWithLogits(x, y)
	},
	"kl_div": func(x,
		y *torch.Tensor) *torch.Tensor {
		return F.KLDiv(x, y, F.KLDivOptions{Reduction: F.Sum})
	},
}

func lossRow(name string, n int) row {
	f := losses[name]
	return row{
		name: fmt.Sprintf("%s %s, forward+backward", name, count(n)), bytes: float64(20 * n),
		peer: "loss", args: arg{"name": name, "n": n},
		prepare: func() work {
			x, y := torch.Rand([]int{n}).SetRequiresGrad(true), torch.Rand([]int{n})
			return work{grad: true, step: func() {
				torch.Tidy(func() { torch.Grad([]*torch.Tensor{f(x, y)}, []*torch.Tensor{x}) })
			}}
		},
	}
}

func sumAll(n int, dt torch.DType) row {
	return row{
		name: typed("sum "+count(n), dt), bytes: float64(n * dt.Size()),
		peer: "sum_all", args: arg{"n": n, "dtype": pythonName(dt)},
		prepare: func() work {
			x := filled(n, dt)
			return work{step: func() { torch.Tidy(func() { x.Sum() }) }}
		},
	}
}

func sumDim0(rows, cols int) row {
	return row{
		name: fmt.Sprintf("sum over dim 0 of %dx%d", rows, cols), bytes: float64(4 * rows * cols),
		peer: "sum_dim0", args: arg{"rows": rows, "cols": cols},
		prepare: func() work {
			x := torch.Randn([]int{rows, cols})
			return work{step: func() { torch.Tidy(func() { x.SumDim([]int{0}) }) }}
		},
	}
}

func transposed(rows, cols int) row {
	return row{
		name: fmt.Sprintf("copy of a transpose %dx%d", rows, cols), bytes: float64(8 * rows * cols),
		peer: "transpose", args: arg{"rows": rows, "cols": cols},
		prepare: func() work {
			x := torch.Randn([]int{rows, cols}).T()
			return work{step: func() { torch.Tidy(func() { x.Contiguous() }) }}
		},
	}
}

func embedding(num, dim, n int) row {
	return row{
		name: fmt.Sprintf("embedding %dx%d, %d rows, forward+backward", num, dim, n), bytes: float64(4*num*dim) +
			float64(16*n*dim),
		peer: "embedding", args: arg{"num": num, "dim": dim, "n": n},
		prepare: func() work {
			w := torch.Randn([]int{num, dim}).SetRequiresGrad(true)
			i, g := torch.Randint(num, []int{n}), torch.Randn([]int{n, dim})
			return work{grad: true, step: func() { torch.Tidy(func() { gradient(F.Embedding(i, w), w, g) }) }}
		},
	}
}

func embeddingBag(num, dim, bags, per int) row {
	return row{
		name:  fmt.Sprintf("EmbeddingBag %dx%d of %dx%d, forward+backward", bags, per, num, dim),
		bytes: float64(4*num*dim) + float64(12*bags*per*dim),
		peer:  "embedding_bag", args: arg{"num": num, "dim": dim, "bags": bags, "per": per},
		prepare: func() work {
			w := torch.Randn([]int{num, dim}).SetRequiresGrad(true)
			i, g := torch.Randint(num, []int{bags, per}), torch.Randn([]int{bags, dim})
			return work{grad: true, step: func() { torch.Tidy(func() { gradient(F.EmbeddingBag(i, w), w, g) }) }}
		},
	}
}

// gradient is the gradient of y, given its own gradient g, with respect to x.
func gradient(y, x, g *torch.Tensor) {
	torch.Grad([]*torch.Tensor{y}, []*torch.Tensor{x}, torch.GradOptions{GradOutputs: []*torch.Tensor{g}})
}
