package foreach

import (
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/internal/samples"
)

// The sample calls of the family; internal/samples describes the notation.
func init() {
	both := func(overload string, names ...string) string {
		var out []string
		for _, n := range names {
			for _, form := range []string{"", "_"} {
				out = append(out, "_foreach_"+n+form+overload)
			}
		}
		return strings.Join(out, " ")
	}
	samples.Table(
		both("", strings.Fields("abs atan cos cosh erf erfc exp expm1 lgamma log log10 log1p log2 neg reciprocal "+
			"rsqrt sigmoid sin sinh sqrt tan tanh")...)+" :: [3x4@0.1..1.2,5@0.2..0.9] ; [2@0.3..0.6]",
		both("", "acos", "asin")+" :: [3x4@-0.9..0.9,5@-0.8..0.7]",
		both("", "ceil", "floor", "frac", "round", "sign", "trunc")+" :: [3x4,5] | nograd",
		both(".Scalar", "add", "sub", "mul", "div")+" :: [3x4,5] 1.5 ; [s,s] 2",
		both(".Scalar", "maximum", "minimum", "clamp_min", "clamp_max")+" :: [3x4,5] 0.37",
		both(".List", "add", "sub", "mul", "maximum", "minimum", "clamp_min",
			"clamp_max")+" :: [3x4,5] [3x4@-2..1.9,5@-1..2]",
		both(".List", "div")+" :: [3x4,5] [3x4@0.5..1.9,5@0.6..2]",
		both(".ScalarList", "add", "sub", "mul", "div", "maximum", "minimum", "clamp_min",
			"clamp_max")+" :: [3x4,5] [0.37,1.41]",
		both(".Tensor", "add", "mul", "div")+" :: [3x4,5] s@1.5..1.6",
		both(".Scalar", "addcdiv", "addcmul")+" :: [3x4,5] [3x4@-1..1.5,5@-2..1] [3x4@0.5..1,5@0.4..1.2] 0.5",
		both(".ScalarList", "addcdiv", "addcmul")+" :: [3x4,5] [3x4@-1..1.5,5@-2..1] [3x4@0.5..1,5@0.4..1.2] [0.5,2.5]",
		both(".Scalar", "lerp")+" :: [3x4,5] [3x4@-1..1.5,5@-2..1] 0.3",
		both(".List", "lerp")+" :: [3x4,5] [3x4@-1..1.5,5@-2..1] [3x4@0.1..0.8,5@0.2..0.7]",
		both(".ScalarList", "lerp")+" :: [3x4,5] [3x4@-1..1.5,5@-2..1] [0.3,0.7]",
		"_foreach_pow.Scalar :: [3x4@0.5..2,5@0.4..1] 1.5", "_foreach_pow.List :: [3x4@0.5..2,5@0.4..1] [3x4,5]",
		"_foreach_pow.ScalarList :: [3x4@0.5..2,5@0.4..1] [1.5,0.5]",
		"_foreach_norm.Scalar :: [3x4,5] ; [3x4,5] 1 | nogradgrad", "_foreach_max :: [3x4,5] | nogradgrad",
		"_foreach_clone :: [3x4,5]",
		"_foreach_copy_ :: [3x4,5] [3x4@-1..1.5,5@-2..1]", "_foreach_zero_ :: [3x4,5]",
	)
	const three = "[3x4,5] [3x4,5] "
	squares := "[3x4@0.1..1,5@0.1..1]"
	own := func(name, lists, numbers string, settings ...string) {
		lines := []string{}
		for _, m := range settings {
			lines = append(lines, three+lists+" lr=0.1 "+numbers+" "+m)
		}
		samples.Table("gotorch::_fused_" + name + "_ :: " + strings.Join(lines, " ; "))
	}
	const decayed, ascending = "weight_decay=0.1 maximize=false ", "weight_decay=0 maximize=true "
	steps := "[s@1..2,s@7..8] "
	own("rmsprop", squares+" "+"[3x4@-0.1..0.1,5@-0.1..0.1] [3x4,5]", "alpha=0.9 eps=1e-3",
		decayed+"momentum=0 centered=false", ascending+"momentum=0.9 centered=true", decayed+"momentum=0 centered=true",
		ascending+"momentum=0.5 centered=false")
	own("adadelta", squares+" "+squares, "rho=0.9 eps=1e-4", decayed, ascending)
	own("adamax", steps+"[3x4,5] "+squares, "beta1=0.9 beta2=0.99 eps=1e-8", decayed, ascending)
	own("nadam", steps+"[s@0.8..0.9,s@0.5..0.6] [3x4,5] "+squares, "beta1=0.9 beta2=0.99 eps=1e-8 momentum_decay=0.01",
		decayed+"decoupled_weight_decay=true", decayed+"decoupled_weight_decay=false",
		ascending+"decoupled_weight_decay=false")
	own("radam", steps+"[3x4,5] "+squares, "beta1=0.9 beta2=0.99 eps=1e-8",
		decayed+"decoupled_weight_decay=true", decayed+"decoupled_weight_decay=false",
		ascending+"decoupled_weight_decay=false")
	own("rprop", "[3x4@-1..1.5,5@-2..1] "+squares,
		"etaminus=0.5 etaplus=1.2 step_size_min=0.2 step_size_max=0.9", "maximize=false", "maximize=true")
	own("asgd", steps+"[s@0.1..0.2,s@0.1..0.2] [s@0.1..0.2,s@0.3..0.4] [3x4,5]", "lambd=0.01 t0=3 alpha=0.75", decayed,
		ascending)
	for _, x := range []struct{ overload, lr string }{{"", "lr=0.1"}, {".tensor_lr", "lr=s@0.1..0.2"}} {
		adam := "[3x4,5] [3x4,5] [3x4,5] [3x4@0..1,5@0..1] %s [s@1..2,s@2..3] " + x.lr +
			" beta1=0.9 beta2=0.99 eps=1e-8 "
		sgd := "[3x4,5] [3x4,5] %s " + x.lr + " "
		samples.Table(
			"_fused_adam_"+x.overload+" _fused_adamw_"+x.overload+" :: "+
				fmt.Sprintf(adam, "[]")+"weight_decay=0.1 amsgrad=false maximize=false ; "+
				fmt.Sprintf(adam, "[3x4@0..1,5@0..1]")+"weight_decay=0 amsgrad=true maximize=true grad_scale=s@2..3",
			"_fused_sgd_"+x.overload+" :: "+
				fmt.Sprintf(sgd, "[]")+"weight_decay=0.1 momentum=0 dampening=0 nesterov=false maximize=false "+
				"is_first_step=true ; "+
				fmt.Sprintf(sgd, "[3x4,5]")+"weight_decay=0 momentum=0.9 dampening=0 nesterov=true maximize=true "+
				"is_first_step=false ; "+
				fmt.Sprintf(sgd, "[3x4,5]")+"weight_decay=0.1 momentum=0.9 dampening=0.5 nesterov=false "+
				"maximize=false is_first_step=true grad_scale=s@2..3",
			"_fused_adagrad_"+x.overload+" :: [3x4,5] [3x4,5] [3x4@0..1,5@0..1] [s@1..2,s@2..3] "+x.lr+
				" lr_decay=0.1 weight_decay=0.1 eps=1e-8 maximize=false ; [3x4,5] [3x4,5] [3x4@0..1,5@0..1] "+
				"[s@1..2,s@2..3] "+x.lr+
				" lr_decay=0 weight_decay=0 eps=1e-8 maximize=true grad_scale=s@2..3",
		)
	}
}
