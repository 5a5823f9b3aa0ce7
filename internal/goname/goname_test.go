package goname

import "testing"

func TestOf(t *testing.T) {
	for in, want := range map[string]string{
		"log_softmax": "LogSoftmax", "relu_": "ReLUInPlace", "nll_loss": "NLLLoss", "matmul": "MatMul", "mul": "Mul",
		"rms_norm":                     "RMSNorm",
		"_to_copy":                     "ToCopy",
		"scaled_dot_product_attention": "ScaledDotProductAttention", "isnan": "IsNaN",
	} {
		if got := Of(in); got != want {
			t.Errorf("Of(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSuffix(t *testing.T) {
	for in, want := range map[string]string{"": "", "Tensor": "", "Tensor_Tensor": "", "Scalar": "Scalar",
		"Tensor_Scalar": "Scalar", "other_scalar": "Scalar", "Scalar_Tensor": "ScalarSelf", "self_scalar": "ScalarSelf",
		"dim_IntList": "Dim", "Tensor_mode": "Mode"} {
		if got := Suffix(in); got != want {
			t.Errorf("Suffix(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestGeneratorOverload(t *testing.T) {
	for in, want := range map[string]string{"": "generator", "low": "low_generator", "low_dtype": "low_generator_dtype",
		"Tensor": "Tensor_generator"} {
		if got := GeneratorOverload(in); got != want {
			t.Errorf("GeneratorOverload(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSnake(t *testing.T) {
	for in, want := range map[string]string{"FC1": "fc1", "Fc1": "fc1", "InProjWeight": "in_proj_weight",
		"Conv1": "conv1", "BatchNorm2d": "batch_norm2d", "A": "a", "WeightIH": "weight_ih", "MaxPool": "max_pool"} {
		if got := Snake(in); got != want {
			t.Errorf("Snake(%q) = %q, want %q", in, got, want)
		}
	}
}
