package curves

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/data"
	"github.com/gotorch-dev/torch/internal/shared"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/nn/utils"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/optim/lr"
	"github.com/gotorch-dev/torch/text/models"
	"github.com/gotorch-dev/torch/vision/datasets/mnist"
)

// curve is one recorded run.
type curve struct {
	Seed        int64
	Init, Final string
	Steps       int
	Losses      []float64
	GradNorms   []float64 `json:"grad_norms"`
	Spread      map[string]json.RawMessage
	TestCorrect int     `json:"test_correct"`
	TestLoss    float64 `json:"test_loss"`
	ValLoss     float64 `json:"val_loss_last12800"`
	Greedy      []int64 `json:"greedy100_from_first64"`
}

func load(t *testing.T, name string) (curve, string) {
	t.Helper()
	if testing.Short() {
		t.Skip("whole training runs")
	}
	dir := shared.Path(t, "golden/train")
	raw, err := os.ReadFile(filepath.Join(dir, "training.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Runs map[string]curve }
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	c, ok := all.Runs[name]
	if !ok {
		t.Fatalf("no run %s", name)
	}
	return c, dir
}

// sameInit checks that the constructed weights are PyTorch's, bit for bit.
func sameInit(t *testing.T, m nn.Module, dir, file string) {
	t.Helper()
	want, err := torch.LoadStateDict(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	got := nn.StateDict(m)
	if g, w := strings.Join(got.Keys(), " "), strings.Join(want.Keys(), " "); g != w {
		t.Fatalf("state dict keys\n%s\nwant\n%s", g, w)
	}
	for k, w := range want.All() {
		if !torch.Equal(got.Get(k), w) {
			t.Fatalf("%s is not initialised as in PyTorch", k)
		}
	}
}

// spread is how far PyTorch's own runs (other threads, perturbed start, float64) are from each other over the first k
// steps.
func (c *curve) spread(k int) float64 {
	worst := 0.0
	for key, raw := range c.Spread {
		var n int
		if err := json.Unmarshal([]byte(key), &n); err != nil || n > ceil(k, c.Spread) {
			continue
		}
		var v []*float64
		if json.Unmarshal(raw, &v) == nil {
			for _, x := range v {
				if x != nil {
					worst = math.Max(worst, *x)
				}
			}
		}
	}
	return worst
}

// ceil is the smallest recorded step count that is at least k.
func ceil(k int, m map[string]json.RawMessage) int {
	best := math.MaxInt
	for key := range m {
		var n int
		if json.Unmarshal([]byte(key), &n) == nil && n >= k && n < best {
			best = n
		}
	}
	return best
}

type images struct{ x, y, testX, testY *torch.Tensor }

func loadMNIST(t *testing.T) images {
	t.Helper()
	root := shared.Path(t, "data/mnist")
	part := func(train bool) (x, y *torch.Tensor) {
		set, err := mnist.Load(root, train)
		if err != nil {
			t.Fatal(err)
		}
		n := set.Len()
		px := make([]float32, n*28*28)
		labels := make([]int64, n)
		for i := range n {
			for j, v := range set.Pixels(i) {
				px[i*784+j] = (float32(v)/255 - .1307) / .3081
			}
			labels[i] = int64(set.Labels[i])
		}
		return torch.FromSlice(px, n, 1, 28, 28), torch.FromSlice(labels)
	}
	var d images
	d.x, d.y = part(true)
	d.testX, d.testY = part(false)
	return d
}

type lenet struct {
	nn.Base
	C1, C2     *nn.Conv2d
	F1, F2, F3 *nn.Linear
	drop       float64
	tanh       bool
}

func newLeNet(drop float64) *lenet {
	return nn.New(&lenet{C1: nn.NewConv2d(1, 6, 5, nn.Conv2dOptions{Padding: nn.Size{2}}), C2: nn.NewConv2d(6, 16, 5),
		F1: nn.NewLinear(400, 120), F2: nn.NewLinear(120, 84), F3: nn.NewLinear(84, 10), drop: drop})
}

func newLeNetTanh() *lenet {
	return nn.New(&lenet{C1: nn.NewConv2d(1, 6, 5, nn.Conv2dOptions{Padding: nn.Size{2}}), C2: nn.NewConv2d(6, 16, 5),
		F1: nn.NewLinear(400, 84), F2: nn.NewLinear(84, 10), tanh: true})
}

func (m *lenet) Forward(x *torch.Tensor) *torch.Tensor {
	if m.tanh {
		x = F.AvgPool2d(m.C1.Forward(x).Tanh(), []int{2})
		x = F.AvgPool2d(m.C2.Forward(x).Tanh(), []int{2}).Flatten(torch.FlattenOptions{StartDim: 1})
		return m.F2.Forward(m.F1.Forward(x).Tanh())
	}
	x = F.MaxPool2d(m.C1.Forward(x).ReLU(), []int{2})
	x = F.MaxPool2d(m.C2.Forward(x).ReLU(), []int{2}).Flatten(torch.FlattenOptions{StartDim: 1})
	x = m.F1.Forward(x).ReLU()
	if m.drop > 0 {
		x = F.Dropout(x, F.DropoutOptions{P: torch.Some(m.drop), NoTraining: !m.Training()})
	}
	return m.F3.Forward(m.F2.Forward(x).ReLU())
}

// check compares one step with the record. Networks without maxima follow PyTorch for the whole run; the others until a
// near-tie between two maxima falls the other way.
func (c *curve) check(t *testing.T, step int, loss, norm float64, smooth bool) {
	t.Helper()
	tol := 1e-5
	if !smooth && step >= 10 {
		tol = math.Max(1e-4, 4*c.spread(step+1))
		if step >= 100 {
			tol = math.Max(tol, 0.25) // by then PyTorch's own runs have drifted apart: only the end result counts
		}
	}
	if d := math.Abs(loss - c.Losses[step]); !(d <= tol) {
		t.Fatalf("step %d: loss %.7f, want %.7f (difference %.2g, allowed %.2g)", step, loss, c.Losses[step], d, tol)
	}
	if (smooth || step < 10) && norm >= 0 {
		if d := math.Abs(norm - c.GradNorms[step]); !(d <= 1e-5*math.Max(1, c.GradNorms[step])*10) {
			t.Fatalf("step %d: gradient norm %.7f, want %.7f", step, norm, c.GradNorms[step])
		}
	}
}

func testLeNet(t *testing.T, name string, shuffle, adam bool, build func() *lenet, rate ...float64) {
	c, dir := load(t, name)
	d := loadMNIST(t)
	torch.ManualSeed(c.Seed)
	m := build()
	sameInit(t, m, dir, c.Init)
	var opt optim.Optimizer
	if adam {
		opt = optim.NewAdam(nn.Parameters(m), 1e-3)
	} else {
		opt = optim.NewSGD(nn.Parameters(m), append(rate, .01)[0], optim.SGDOptions{Momentum: .9})
	}
	o := data.LoaderOptions{BatchSize: 64, Shuffle: shuffle}
	if !shuffle { // the record was made without a loader, whose seed would be one more draw
		o.Generator = torch.NewGenerator()
	}
	loader := data.NewDataLoader(data.NewTensorDataset(d.x, d.y), o)
	step := 0
	for b, err := range loader.Iter(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		opt.ZeroGrad()
		loss := F.CrossEntropy(m.Forward(b[0]), b[1])
		loss.Backward()
		norm := utils.ClipGradNorm(nn.Parameters(m), math.Inf(1))
		c.check(t, step, loss.Num().F, norm.Num().F, m.tanh)
		opt.Step()
		if step++; step == c.Steps {
			break
		}
	}
	m.Eval()
	correct, total := 0, 0.0
	torch.NoGrad(func() {
		for i := 0; i < 10000; i += 1000 {
			logits := m.Forward(d.testX.Narrow(0, i, 1000))
			y := d.testY.Narrow(0, i, 1000)
			total += F.CrossEntropy(logits, y).Num().F / 10
			correct += int(torch.ArgMax(logits, torch.ArgMaxOptions{Dim: torch.Some(1)}).Eq(y).Sum().Num().I)
		}
	})
	allowed := 100
	if m.tanh {
		allowed = 1
		if math.Abs(total-c.TestLoss) > 1e-4 {
			t.Errorf("test loss %.6f, want %.6f", total, c.TestLoss)
		}
	}
	if d := correct - c.TestCorrect; d < -allowed || d > allowed {
		t.Errorf("%d right answers, want %d", correct, c.TestCorrect)
	}
}

func TestCurveLeNetFileSGD(t *testing.T) {
	testLeNet(t, "lenet_file_sgd", false, false, func() *lenet { return newLeNet(0) })
}
func TestCurveLeNetShuffleSGD(t *testing.T) {
	testLeNet(t, "lenet_shuffle_sgd", true, false, func() *lenet { return newLeNet(0) })
}
func TestCurveLeNetFileAdam(t *testing.T) {
	testLeNet(t, "lenet_file_adam", false, true, func() *lenet { return newLeNet(0) })
}
func TestCurveLeNetShuffleAdam(t *testing.T) {
	testLeNet(t, "lenet_shuffle_adam", true, true, func() *lenet { return newLeNet(0) })
}
func TestCurveLeNetDropoutSGD(t *testing.T) {
	testLeNet(t, "lenet_dropout_sgd", false, false, func() *lenet { return newLeNet(.4) })
}
func TestCurveLeNetTanhFileSGD(t *testing.T) {
	testLeNet(t, "lenettanh_file_sgd", false, false, newLeNetTanh, .02)
}
func TestCurveLeNetTanhShuffleAdam(t *testing.T) {
	testLeNet(t, "lenettanh_shuffle_adam", true, true, newLeNetTanh)
}

func loadText(t *testing.T) []int64 {
	t.Helper()
	raw, err := os.ReadFile(shared.Path(t, "data/text/tinyshakespeare.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var seen [256]bool
	for _, b := range raw {
		seen[b] = true
	}
	var id [256]int64
	n := int64(0)
	for b := range 256 {
		if seen[b] {
			id[b] = n
			n++
		}
	}
	out := make([]int64, len(raw))
	for i, b := range raw {
		out[i] = id[b]
	}
	return out
}

const batchSize, context64 = 16, 64

func windows(text []int64, starts []int64) (x, y *torch.Tensor) {
	var a, b []int64
	for _, s := range starts {
		a = append(a, text[s:s+context64]...)
		b = append(b, text[s+1:s+1+context64]...)
	}
	return torch.FromSlice(a, len(starts), context64), torch.FromSlice(b, len(starts), context64)
}

func inOrder(i int) []int64 {
	s := make([]int64, batchSize)
	for j := range s {
		s[j] = int64((i*batchSize + j) * context64)
	}
	return s
}

type languageModel interface {
	nn.Module
	Forward(x *torch.Tensor) *torch.Tensor
}

func lmLoss(m languageModel, x, y *torch.Tensor) *torch.Tensor {
	l := m.Forward(x)
	return F.CrossEntropy(l.View([]int{-1, l.Size(-1)}), y.View([]int{-1}))
}

func testText(t *testing.T, name string, build func() languageModel,
	optimizer func(m nn.Module, steps int) (optim.Optimizer, lr.Scheduler), random bool) {
	c, dir := load(t, name)
	text := loadText(t)
	torch.ManualSeed(c.Seed)
	m := build()
	sameInit(t, m, dir, c.Init)
	opt, sched := optimizer(m, c.Steps)
	for step := range c.Steps {
		starts := inOrder(step)
		if random {
			starts = torch.Data[int64](torch.Randint(len(text)-context64, []int{batchSize}))
		}
		x, y := windows(text, starts)
		opt.ZeroGrad()
		loss := lmLoss(m, x, y)
		loss.Backward()
		norm := utils.ClipGradNorm(nn.Parameters(m), 1)
		c.check(t, step, loss.Num().F, norm.Num().F, true)
		opt.Step()
		if sched != nil {
			sched.Step()
		}
	}
	nn.Eval(m)
	torch.NoGrad(func() {
		val := 0.0
		first := len(text) - 64*200 - 1
		for i := range 10 {
			starts := make([]int64, 20)
			for j := range starts {
				starts[j] = int64(first + (i*20+j)*64)
			}
			x, y := windows(text, starts)
			val += lmLoss(m, x, y).Num().F / 10
		}
		if math.Abs(val-c.ValLoss) > 1e-4 {
			t.Errorf("validation loss %.6f, want %.6f", val, c.ValLoss)
		}
		tokens := append([]int64(nil), text[:64]...)
		for i, want := range c.Greedy {
			ctx := tokens[len(tokens)-64:]
			l := m.Forward(torch.FromSlice(ctx, 1, 64)).Select(1, -1)
			got := torch.Data[int64](torch.ArgMax(l, torch.ArgMaxOptions{Dim: torch.Some(-1)}))[0]
			if got != want {
				t.Fatalf("greedy continuation: token %d is %d, want %d", i, got, want)
			}
			tokens = append(tokens, got)
		}
	})
}

type charLSTM struct {
	nn.Base
	E *nn.Embedding
	R *nn.LSTM
	H *nn.Linear
}

func (m *charLSTM) Forward(x *torch.Tensor) *torch.Tensor {
	out, _, _ := m.R.Forward(m.E.Forward(x))
	return m.H.Forward(out)
}

func TestCurveCharLSTM(t *testing.T) {
	testText(t, "charlstm", func() languageModel {
		return nn.New(&charLSTM{E: nn.NewEmbedding(65, 32), R: nn.NewLSTM(32, 64, nn.RNNOptions{BatchFirst: true}),
			H: nn.NewLinear(64, 65)})
	}, func(m nn.Module, _ int) (optim.Optimizer, lr.Scheduler) {
		return optim.NewAdam(nn.Parameters(m), 3e-3), nil
	}, false)
}

func gpt(drop float64) func() languageModel {
	return func() languageModel {
		return models.NewGPT(models.GPTConfig{Vocab: 65, Context: 64, Layers: 2, Heads: 4, Width: 48, Dropout: drop})
	}
}

func adamW(m nn.Module, steps int) (optim.Optimizer, lr.Scheduler) {
	opt := optim.NewAdamW(nn.Parameters(m), 3e-3, optim.AdamWOptions{WeightDecay: torch.Some(.01)})
	return opt, lr.NewCosineAnnealingLR(opt, steps)
}

func TestCurveCharGPT(t *testing.T) { testText(t, "chargpt", gpt(0), adamW, false) }
func TestCurveCharGPTRandomDropout(t *testing.T) {
	testText(t, "chargpt_random_dropout", gpt(.1), adamW, true)
}
