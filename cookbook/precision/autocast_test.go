package precision

import (
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/amp"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// Autocast works on the CPU: products run in bfloat16, or float16, and losses in float32. Parameters and their
// gradients stay float32, while gradients of what is computed inside have its type. Backward stands outside.
func TestAutocastOnCPU(t *testing.T) {
	layer := nn.NewLinear(4, 2)
	x, target := torch.Ones([]int{3, 4}), torch.Zeros([]int{3, 2})
	for _, dt := range []torch.DType{torch.BFloat16, torch.Float16} {
		var y, loss *torch.Tensor
		amp.Autocast(tensor.CPUDevice, dt, func() {
			y = layer.Forward(x)
			y.RetainGrad()
			loss = F.MSELoss(y, target)
			if layer.Weight.DType() != torch.Float32 {
				t.Error("the parameter itself was converted")
			}
		})
		loss.Backward()
		if y.DType() != dt || loss.DType() != torch.Float32 || layer.Weight.Grad().DType() != torch.Float32 ||
			y.Grad().DType() != dt {
			t.Errorf("%v: layer %v, loss %v, gradients %v and %v", dt, y.DType(), loss.DType(),
				layer.Weight.Grad().DType(), y.Grad().DType())
		}
	}
}

// A region can be switched off, inside another one too.
func TestDisabledRegion(t *testing.T) {
	a := torch.Ones([]int{2, 2})
	lower(func() {
		amp.Autocast(tensor.CPUDevice, 0, func() {
			if dt := a.MatMul(a).DType(); dt != torch.Float32 {
				t.Errorf("%v in a region that is off", dt)
			}
		}, amp.AutocastOptions{Disabled: true})
		if dt := a.MatMul(a).DType(); dt != torch.BFloat16 {
			t.Errorf("%v behind it", dt)
		}
	})
}

// In-place forms and calls with out= run in the types that they are given.
func TestInPlaceIsLeftAlone(t *testing.T) {
	a, b, c, d := torch.Ones([]int{2, 2}), torch.Ones([]int{2, 2}), torch.Ones([]int{2, 2}), torch.Zeros([]int{2, 2})
	lower(func() {
		if dt := a.AddMM(b, c).DType(); dt != torch.BFloat16 {
			t.Errorf("addmm gives %v", dt)
		}
		if dt := a.AddMMInPlace(b, c).DType(); dt != torch.Float32 {
			t.Errorf("addmm_ gives %v", dt)
		}
		_, err := tensor.CallOp("aten::mm.out", tensor.TensorValue(b), tensor.TensorValue(c), tensor.TensorValue(d))
		if err != nil || d.DType() != torch.Float32 {
			t.Errorf("mm with out= gives %v, %v", d.DType(), err)
		}
	})
}

// What leaves a region may have the lower type: outside, types must be made to agree by hand.
func TestLeavingTheRegion(t *testing.T) {
	d := torch.Ones([]int{2, 2})
	var f *torch.Tensor
	lower(func() { f = d.MatMul(d) })
	fails(t, "expected m1 and m2 to have the same dtype, but got: float != c10::BFloat16", func() { d.MM(f) })
	if dt := d.MM(f.Float()).DType(); dt != torch.Float32 {
		t.Errorf("%v", dt)
	}
}

// Each operator has a class on each device; those of CUDA are known without one.
func TestClasses(t *testing.T) {
	for class, names := range map[string][]string{
		"lower": {"aten::mm", "aten::linear", "aten::conv2d", "aten::addbmm", "aten::matmul", "aten::prelu"},
		"fp32":  {"aten::exp", "aten::log", "aten::layer_norm", "aten::nll_loss", "aten::pow.Tensor_Scalar", "aten::acos"},
		"promote": {"aten::addcmul", "aten::atan2", "aten::dot", "aten::index_put", "aten::bilinear",
			"aten::tensordot"},
	} {
		for _, name := range names {
			if got := tensor.LookupOp(name).AMPOn(tensor.CUDADevice).String(); got != class {
				t.Errorf("%s is of class %s, want %s", name, got, class)
			}
		}
	}
	if got := tensor.LookupOp("aten::linear").AMPOn(tensor.CPUDevice).String(); got != "lower" {
		t.Errorf("linear on the CPU is of class %s", got)
	}
}
