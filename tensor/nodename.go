package tensor

import (
	"strconv"
	"strings"
	"unicode"
)

// nodeName is PyTorch's name of the node that a form of an operator puts on the tape, where its Def does not name it:
// the operator's name in words that begin with a capital letter, "Backward" and the number of the gradient rule among
// those of the name's overloads.
func nodeName(s *Schema, def string) string {
	full := s.Name
	if s.Overload != "" {
		full += "." + s.Overload
	}
	n, ok := ruleNumbers[full]
	if !ok {
		base, overload, _ := strings.Cut(full, ".")
		n, ok = ruleNumbers[strings.TrimSuffix(strings.TrimSuffix(base, "_")+"."+overload, ".")]
	}
	if def != "" && (!ok || s.Namespace != "aten") {
		return def
	}
	return titled(s.Name) + "Backward" + strconv.Itoa(n)
}

// ReturnNamed is Return at the end of a body whose operator PyTorch does not compose: the node of the last step gets
// the name that the Def says.
func (c *Ctx) ReturnNamed(t *Tensor) {
	if n := t.node; n != nil {
		own := true // not a node of the arguments, which a body may return as they are
		for i := range c.args {
			own = own && (c.args[i].K != KTensor || c.args[i].T == nil || c.args[i].T.node != n)
		}
		if own {
			n.extra().name = c.op.grad
		}
	}
	c.Return(t)
}

// titled joins the words of a name, each with a capital letter in front and after every digit, as Python's str.title
// writes them: "Log1P" for log1p.
func titled(name string) string {
	var b strings.Builder
	first := true
	for _, r := range name {
		switch {
		case r == '_':
			first = true
			continue
		case first && unicode.IsLetter(r):
			b.WriteRune(unicode.ToUpper(r))
		default:
			b.WriteRune(r)
		}
		first = !unicode.IsLetter(r)
	}
	return b.String()
}

// ruleNumbers are the numbers, other than 0, of the gradient rules of overloads in the order in which PyTorch's
// derivatives.yaml lists them. The forms of add, sub, mul and div with a number are left out: Python makes a tensor of
// the number, and the node is that of two tensors.
var ruleNumbers = map[string]int{
	"_convolution":                      1,
	"_ctc_loss.Tensor":                  1,
	"_cudnn_ctc_loss.Tensor":            1,
	"_foreach_maximum.ScalarList":       1,
	"_foreach_minimum.ScalarList":       1,
	"_foreach_pow.ScalarAndTensor":      2,
	"_foreach_pow.ScalarList":           1,
	"_native_batch_norm_legit.no_stats": 1,
	"_to_sparse":                        1,
	"acosh_":                            1,
	"as_strided_":                       1,
	"asinh_":                            1,
	"atanh_":                            1,
	"bernoulli_.Tensor":                 1,
	"bernoulli_.float":                  2,
	"celu_":                             1,
	"clamp":                             1,
	"clamp_max.Tensor":                  1,
	"clamp_min.Tensor":                  1,
	"conj_physical_":                    1,
	"copysign.Scalar":                   1,
	"div.Tensor_mode":                   2,
	"elu_":                              1,
	"eq_.Tensor":                        1,
	"fill.Tensor":                       1,
	"fill_.Scalar":                      2,
	"fill_.Tensor":                      3,
	"fmod.Tensor":                       1,
	"ge_.Tensor":                        1,
	"gt_.Tensor":                        1,
	"index_fill.int_Tensor":             1,
	"le_.Tensor":                        1,
	"leaky_relu_":                       1,
	"lerp.Tensor":                       1,
	"lt_.Tensor":                        1,
	"masked_fill.Tensor":                1,
	"max":                               1,
	"mean.dim":                          1,
	"median.dim":                        1,
	"min":                               1,
	"miopen_ctc_loss.Tensor":            1,
	"nanmedian.dim":                     1,
	"ne_.Tensor":                        1,
	"norm.ScalarOpt_dim":                1,
	"norm.ScalarOpt_dim_dtype":          3,
	"norm.ScalarOpt_dtype":              2,
	"normal.Tensor_Tensor":              3,
	"normal.Tensor_float":               1,
	"normal.float_Tensor":               2,
	"polygamma_":                        1,
	"pow.Scalar":                        2,
	"pow.Tensor_Tensor":                 1,
	"prod.dim_int":                      1,
	"random_":                           2,
	"random_.to":                        1,
	"remainder.Tensor":                  1,
	"round.decimals":                    1,
	"rrelu_with_noise_":                 1,
	"rsub.Scalar":                       1,
	"scatter.value":                     1,
	"sort.stable":                       1,
	"special_xlog1py.other_scalar":      2,
	"special_xlog1py.self_scalar":       1,
	"special_zeta.other_scalar":         2,
	"special_zeta.self_scalar":          1,
	"squeeze.dim":                       1,
	"squeeze.dims":                      2,
	"squeeze_":                          3,
	"squeeze_.dim":                      4,
	"squeeze_.dims":                     5,
	"sum.dim_IntList":                   1,
	"t_":                                1,
	"threshold_":                        1,
	"transpose_":                        1,
	"unsqueeze_":                        1,
	"xlogy.Scalar_Other":                2,
	"xlogy.Scalar_Self":                 1,
}
