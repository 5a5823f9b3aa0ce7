package torch_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
)

// collect runs f and returns the warnings that it gave.
func collect(f func()) (got []torch.Warning) {
	before := torch.SetWarnings(func(w torch.Warning) { got = append(got, w) })
	defer func() { torch.SetWarnings(before) }()
	f()
	return got
}

// TestWarnings compares the warnings of calls with PyTorch's, "" for none.
func TestWarnings(t *testing.T) {
	ones := func(shape ...int) *torch.Tensor { return torch.Ones(shape) }
	column, row := ones(4, 1), ones(4)
	const sizes = "Using a target size (torch.Size([4])) that is different to the input size (torch.Size([4, 1])). This " +
		"will likely lead to incorrect results due to broadcasting. Please ensure they have the same size."
	const implicit = "Implicit dimension choice for %s has been deprecated. Change the call to include dim=X as an " +
		"argument."
	complexes := torch.Ones([]int{2}, torch.OnesOptions{DType: torch.Complex64})
	leaf := torch.Ones([]int{2}).SetRequiresGrad(true)
	mask := ones(2).To(torch.Uint8)
	for _, c := range []struct {
		name, want string
		f          func()
	}{
		{"mse_loss", sizes, func() { F.MSELoss(column, row) }},
		{"l1_loss", sizes, func() { F.L1Loss(column, row) }},
		{"smooth_l1_loss", sizes, func() { F.SmoothL1Loss(column, row) }},
		{"huber_loss", sizes, func() { F.HuberLoss(column, row) }},
		{"MSELoss", sizes, func() { nn.NewMSELoss().Forward(column, row) }},
		{"same sizes", "", func() { F.MSELoss(column, column) }},
		{"softmax", fmt.Sprintf(implicit, "softmax"), func() { F.Softmax(column) }},
		{"log_softmax", fmt.Sprintf(implicit, "log_softmax"), func() { F.LogSoftmax(column) }},
		{"softmin", fmt.Sprintf(implicit, "softmin"), func() { F.Softmin(column) }},
		{"softmax with dim", "", func() { F.Softmax(column, F.SoftmaxOptions{Dim: tensor.Some(0)}) }},
		{"kl_div", "reduction: 'mean' divides the total loss by both the batch size and the support size.",
			func() { F.KLDiv(column, column) }},
		{"kl_div batchmean", "", func() { F.KLDiv(column, column, F.KLDivOptions{Reduction: F.BatchMean}) }},
		{"size_average", "size_average and reduce args will be deprecated, please use reduction='sum' instead.",
			func() { F.MSELoss(row, row, F.MSELossOptions{SizeAverage: tensor.Some(false)}) }},
		{"dropout2d 2-D", "dropout2d: Received a 2-D input to dropout2d, which is deprecated",
			func() { F.Dropout2d(ones(2, 2)) }},
		{"dropout2d 3-D", "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D",
			func() { F.Dropout2d(ones(2, 2, 2)) }},
		{"dropout2d 4-D", "", func() { F.Dropout2d(ones(2, 2, 2, 2)) }},
		{"dropout3d 3-D", "dropout3d: Received a 3-D input to dropout3d, which is deprecated",
			func() { F.Dropout3d(ones(2, 2, 2)) }},
		{"grad of a non-leaf", "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed.",
			func() { leaf.Neg().Grad() }},
		{"grad of a leaf", "", func() { leaf.Grad() }},
		{"retained grad", "", func() {
			y := leaf.Neg()
			y.RetainGrad()
			y.Sum().Backward()
			y.Grad()
		}},
		{"create_graph", "Using backward() with create_graph=True will create a reference cycle",
			func() { leaf.Mul(leaf).Sum().Backward(torch.BackwardOptions{CreateGraph: true}) }},
		{"out", "An output with one or more elements was resized since it had shape [2], which does not match the " +
			"required output shape [4].", func() { row.SiLU(torch.OutOptions{Out: ones(2)}) }},
		{"empty out", "", func() { row.SiLU(torch.OutOptions{Out: ones(0)}) }},
		{"std", "std(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor",
			func() { ones(1).Std() }},
		{"var", "var(): degrees of freedom is <= 0.", func() { column.VarDim([]int{1}) }},
		{"var of enough", "", func() { column.VarDim([]int{0}) }},
		{"T of three dimensions", "The use of `x.T` on tensors of dimension other than 2", func() { ones(2, 3, 4).NumpyT() }},
		{"T of a number", "Tensor.T is deprecated on 0-D tensors.", func() { ones().NumpyT() }},
		{"T", "", func() { column.NumpyT() }},
		{"cross", "Using torch.cross without specifying the dim arg is deprecated.", func() { ones(3, 3).Cross(ones(3, 3)) }},
		{"meshgrid", "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.",
			func() { torch.Meshgrid([]*torch.Tensor{row, row}) }},
		{"cartesian_prod", "", func() { torch.CartesianProd([]*torch.Tensor{row, row}) }},
		{"complex to real", "Casting complex values to real discards the imaginary part",
			func() { complexes.To(torch.Float32) }},
		{"complex to bool", "", func() { complexes.To(torch.Bool) }},
		{"uint8 mask", "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.",
			func() { ones(2).Index(mask) }},
		{"uint8 condition", "where received a uint8 condition tensor.", func() { torch.Where(mask, ones(2), ones(2)) }},
		{"LSTM", "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers " +
			"greater than 1, but got dropout=0.5 and num_layers=1",
			func() { nn.NewLSTM(2, 2, nn.RNNOptions{Dropout: 0.5}) }},
		{"LSTM of two layers", "",
			func() { nn.NewLSTM(2, 2, nn.RNNOptions{Dropout: 0.5, NumLayers: tensor.Some(2)}) }},
		{"InstanceNorm2d", "input's size at dim=1 does not match num_features.",
			func() { nn.NewInstanceNorm2d(3).Forward(ones(2, 4, 3, 3)) }},
		{"kaiming_uniform_", "Initializing zero-element tensors is a no-op", func() { nninit.KaimingUniform(ones(0, 4)) }},
		{"kaiming_normal_", "Initializing zero-element tensors is a no-op", func() { nninit.KaimingNormal(ones(0, 4)) }},
		{"trunc_normal_", "mean is more than 2 std from [a, b] in nn.init.trunc_normal_.",
			func() { nninit.TruncNormal(ones(4), nninit.TruncNormalOptions{Mean: 5}) }},
	} {
		got := collect(c.f)
		if c.want == "" {
			if len(got) != 0 {
				t.Errorf("%s: %v", c.name, got)
			}
			continue
		}
		if len(got) != 1 || !strings.HasPrefix(got[0].Text, c.want) || got[0].Category != "UserWarning" {
			t.Errorf("%s: got %v, want %q", c.name, got, c.want)
			continue
		}
		if _, file, _, _ := runtime.Caller(0); !strings.HasPrefix(got[0].Caller, filepath.ToSlash(file)+":") {
			t.Errorf("%s: called from %s", c.name, got[0].Caller)
		}
	}
}

// TestWarnsOncePerPlace: a loop is told once, another line again, and a new handler begins anew.
func TestWarnsOncePerPlace(t *testing.T) {
	x, y := torch.Ones([]int{4, 1}), torch.Ones([]int{4})
	loop := func() {
		for range 3 {
			F.MSELoss(x, y)
		}
		F.MSELoss(x, y)
	}
	for range 2 {
		if got := collect(loop); len(got) != 2 || got[0].Caller == got[1].Caller {
			t.Errorf("%d warnings: %v", len(got), got)
		}
	}
	if got := collect(func() { collect(loop) }); len(got) != 0 {
		t.Errorf("the outer handler got %v", got)
	}
}

// TestWarnGoroutines: goroutines may warn at once, and a handler may call what warns.
func TestWarnGoroutines(t *testing.T) {
	var mu sync.Mutex
	var n int
	x, y := torch.Ones([]int{4, 1}), torch.Ones([]int{4})
	before := torch.SetWarnings(func(w torch.Warning) {
		F.MSELoss(y, x) // another text: handled, too
		mu.Lock()
		defer mu.Unlock()
		n++
	})
	defer func() { torch.SetWarnings(before) }()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { F.MSELoss(x, y) })
	}
	wg.Wait()
	if n != 2 {
		t.Errorf("%d warnings, want 2", n)
	}
}

func ExampleSetWarnings() {
	before := torch.SetWarnings(func(w torch.Warning) { fmt.Println(w.Text) })
	defer func() { torch.SetWarnings(before) }()
	F.Softmax(torch.Zeros([]int{2, 2}))
	// Output:
	// Implicit dimension choice for softmax has been deprecated. Change the call to include dim=X as an argument.
}
