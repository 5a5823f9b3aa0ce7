// Package goname turns the names of PyTorch's schemas into Go names, and those of Go's fields into Python's.
package goname

import (
	"strings"
	"unicode"
)

// initialisms are the words that Go writes in capitals.
var initialisms = map[string]string{}

func init() {
	for _, w := range strings.Fields("ReLU ReLU6 GELU SELU CELU ELU SiLU GLU PReLU RReLU LeakyReLU NLL BCE MSE CTC " +
		"KL LSTM GRU RNN RMS MM BMM MV FFT IFFT RFFT IRFFT LU QR SVD " +
		"LogSigmoid LogSoftmax LP Addmm=AddMM Baddbmm=BAddBMM Addbmm=AddBMM Addmv=AddMV Matmul=MatMul Argmax=ArgMax " +
		"Argmin=ArgMin Argsort=ArgSort Argwhere=ArgWhere " +
		"Allclose=AllClose Isclose=IsClose Isnan=IsNaN Isinf=IsInf Isfinite=IsFinite Isin=IsIn Isreal=IsReal " +
		"Isposinf=IsPosInf Isneginf=IsNegInf " +
		"Cumsum=CumSum Cumprod=CumProd Cummax=CumMax Cummin=CumMin Topk=TopK Arctan2=ArcTan2 Atan2=Atan2 " +
		"Einsum=Einsum Linspace=Linspace Logspace=Logspace Numel=Numel " +
		"Dtype=DType Keepdim=KeepDim Hardtanh=HardTanh Hardswish=HardSwish Hardsigmoid=HardSigmoid " +
		"Logsumexp=LogSumExp Logcumsumexp=LogCumSumExp Unfold=Unfold Id=ID Nan=NaN Nansum=NaNSum Nanmean=NaNMean " +
		"Nanmedian=NaNMedian Nanquantile=NaNQuantile Swapaxes=SwapAxes Swapdims=SwapDims Tensordot=TensorDot " +
		"Layernorm=LayerNorm") {
		if k, v, ok := strings.Cut(w, "="); ok {
			initialisms[strings.ToLower(k)] = v
		} else {
			initialisms[strings.ToLower(w)] = w
		}
	}
}

// Of turns "log_softmax" into "LogSoftmax", "relu_" into "ReLUInPlace".
func Of(s string) string {
	inPlace := strings.HasSuffix(s, "_") && !strings.HasSuffix(s, "__")
	var b strings.Builder
	for _, w := range strings.Split(strings.Trim(s, "_"), "_") {
		if w == "" {
			continue
		}
		if v, ok := initialisms[strings.ToLower(w)]; ok {
			b.WriteString(v)
		} else {
			b.WriteString(strings.ToUpper(w[:1]) + w[1:])
		}
	}
	if inPlace {
		b.WriteString("InPlace")
	}
	return b.String()
}

// Suffix is what an overload adds to the Go name: "dim_IntList" gives "Dim". The name alone takes tensors; with
// "Scalar" the last operand is a number, with "ScalarSelf" the first one (docs/adr/0008-names.md).
func Suffix(o string) string {
	switch o {
	case "", "Tensor", "Tensor_Tensor", "self", "default":
		return ""
	case "Tensor_Scalar", "other_scalar", "Scalar_Other", "n_scalar":
		return "Scalar"
	case "Scalar_Tensor", "self_scalar", "Scalar_Self", "x_scalar":
		return "ScalarSelf"
	case "dim_IntList", "IntList", "dim_max", "dim_min":
		return "Dim"
	case "int", "float":
		return ""
	}
	o = strings.ReplaceAll(o, "Tensor_", "")
	return Of(strings.TrimSuffix(o, "_Tensor"))
}

// Full is the full name of PyTorch's operator: "aten::add.Tensor".
func Full(name, overload string) string {
	if overload == "" {
		return "aten::" + name
	}
	return "aten::" + name + "." + overload
}

// GeneratorOverload is the overload with a generator beside one that has none: "rand.generator" beside "rand".
func GeneratorOverload(overload string) string {
	switch overload {
	case "":
		return "generator"
	case "low_dtype":
		return "low_generator_dtype"
	}
	return overload + "_generator"
}

// Snake turns a Go name into the Python one, as state dicts have it: "InProjWeight" is "in_proj_weight", "FC1" is
// "fc1", "Conv1" is "conv1".
func Snake(s string) string {
	r := []rune(s)
	var b strings.Builder
	for i, c := range r {
		if unicode.IsUpper(c) && i > 0 &&
			(unicode.IsLower(r[i-1]) || unicode.IsDigit(r[i-1]) && i+1 < len(r) && unicode.IsLower(r[i+1]) ||
				i+1 < len(r) && unicode.IsLower(r[i+1]) && unicode.IsUpper(r[i-1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}
