package train

import (
	"context"
	"fmt"
	"math"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/data"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/serialize"
	textmodels "github.com/gotorch-dev/torch/text/models"
	"github.com/gotorch-dev/torch/vision/datasets/chartext"
	"github.com/gotorch-dev/torch/vision/datasets/digits"
	"github.com/gotorch-dev/torch/vision/datasets/imageset"
	"github.com/gotorch-dev/torch/vision/datasets/mnist"
	"github.com/gotorch-dev/torch/vision/models"
)

// batch is what one step trains on.
type batch struct{ x, y *torch.Tensor }

// task is what is trained on what: its model, its batches and its measure.
type task interface {
	model() nn.Module
	// trainMode puts the model into training mode.
	trainMode()
	// input is an input of the model of one sample, of zeros.
	input() *torch.Tensor
	// stepsPerEpoch is the number of batches of an epoch.
	stepsPerEpoch() int
	// begin starts an epoch, at the given batch; it draws the order from the default generator.
	begin(ctx context.Context, from int) batches
	// loss runs the model on a batch and counts right answers (-1: does not count).
	loss(b batch) (loss *torch.Tensor, correct int)
	// evaluate measures the model on the test part.
	evaluate(ctx context.Context) (evaluation, error)
	// state is what the model needs besides its weights.
	state() *serialize.Dict
	// samplesPerBatch is the number of samples of a full batch.
	samplesPerBatch() int
}

type batches interface {
	next() (batch, error, bool)
	close()
}

// evaluation is the outcome on the test part.
type evaluation struct {
	loss      float64
	correct   int
	total     int
	confusion [][]int // [true][predicted]; nil for text
}

func (e evaluation) accuracy() float64 {
	if e.total == 0 {
		return math.NaN()
	}
	return float64(e.correct) / float64(e.total)
}

// newTask makes a task whose model is on a device. The model begins with the numbers that the CPU's generator draws,
// whatever the device.
func (r *run) newTask(workers int) (task, error) {
	switch r.cfg.Task {
	case "charlm":
		return newCharLM(&r.cfg, r.device)
	case finetuning:
		return r.newFinetune(workers)
	}
	return newClassify(&r.cfg, r.device, workers)
}

// images is a set of grey pictures that become float32 only when they are taken.
type images struct {
	set       *imageset.Set
	mean, std float32
}

func (d images) Len() int { return d.set.Len() }

func (d images) Get(i int) (batch, error) { return d.GetBatch([]int{i}) }

// GetBatch normalises the pictures of a batch.
func (d images) GetBatch(indices []int) (batch, error) {
	const side = 28
	x := make([]float32, len(indices)*side*side)
	y := make([]int64, len(indices))
	var scale [256]float32
	for v := range scale {
		scale[v] = (float32(v)/255 - d.mean) / d.std
	}
	for k, i := range indices {
		dst := x[k*side*side:]
		for p, v := range d.set.Pixels(i) {
			dst[p] = scale[v]
		}
		y[k] = int64(d.set.Labels[i])
	}
	return batch{torch.FromSlice(x, len(indices), 1, side, side), torch.FromSlice(y)}, nil
}

// normalisation is the mean and deviation of each data set's pixels.
var normalisation = map[string][2]float32{"mnist": {0.1307, 0.3081}, "digits": {0.2, 0.3}}

func loadImages(data, root string, train bool) (images, error) {
	n := normalisation[data]
	out := images{mean: n[0], std: n[1]}
	if data == "mnist" {
		set, err := mnist.Load(root, train)
		if err != nil {
			return out, err
		}
		if set.Len() == 0 || len(set.Pixels(0)) != 28*28 {
			return out, fmt.Errorf("%s: the pictures are not 28x28", root)
		}
		out.set = set
		return out, nil
	}
	split := digits.Test
	if train {
		split = digits.Train
	}
	out.set = digits.Load(split)
	return out, nil
}

// classifier is a model that maps pictures to logits.
type classifier interface {
	nn.Module
	Forward(x *torch.Tensor) *torch.Tensor
}

func newClassifier(name string) classifier {
	switch name {
	case "mlp":
		return models.NewMLP(28*28, 10)
	case "resnet9":
		return models.NewResNet9(1, 10, 16)
	}
	return models.NewLeNet(10)
}

type classify struct {
	net        classifier
	device     torch.Device
	loader     *data.DataLoader[batch, batch]
	testLoader *data.DataLoader[batch, batch]
	batchSize  int
	classes    []string // names of the classes, or as many empty ones
	source     *folder  // of finetune, which draws what is done with each picture
	head       []string // of finetune: the parameters of the last layer
}

func newClassify(c *Config, d torch.Device, workers int) (*classify, error) {
	t := &classify{batchSize: c.BatchSize, device: d, classes: make([]string, mnist.Classes)}
	train, err := loadImages(c.Data, c.Root, true)
	if err != nil {
		return nil, err
	}
	test, err := loadImages(c.Data, c.Root, false)
	if err != nil {
		return nil, err
	}
	t.net = newClassifier(c.Model)
	nn.ToDevice(t.net, d)
	t.loader = data.NewDataLoader[batch](train,
		data.LoaderOptions{BatchSize: c.BatchSize, Shuffle: true, Workers: workers})
	t.testLoader = testLoader(test, workers, 256)
	return t, nil
}

// testLoader has a generator of its own: looking at the test part must not change what training draws.
func testLoader(d data.Dataset[batch], workers, batchSize int) *data.DataLoader[batch, batch] {
	return data.NewDataLoader[batch](d, data.LoaderOptions{BatchSize: batchSize, Workers: workers,
		Generator: torch.NewGenerator()})
}

func (t *classify) model() nn.Module     { return t.net }
func (t *classify) stepsPerEpoch() int   { return t.loader.Len() }
func (t *classify) samplesPerBatch() int { return t.batchSize }

func (t *classify) input() *torch.Tensor {
	if t.source != nil {
		return torch.Zeros([]int{1, 3, t.source.p.crop, t.source.p.crop})
	}
	return torch.Zeros([]int{1, 1, 28, 28})
}

func (t *classify) state() *serialize.Dict {
	if t.source == nil {
		return serialize.NewDict()
	}
	names := make([]any, len(t.classes))
	for i, c := range t.classes {
		names[i] = c
	}
	return serialize.NewDict("classes", names)
}

type epoch struct{ *data.Epoch[batch, batch] }

func (e epoch) next() (batch, error, bool) { return e.Next() }
func (e epoch) close()                     { e.Close() }

func (t *classify) begin(ctx context.Context, from int) batches {
	if t.source != nil {
		t.source.seed = uint64(torch.Randint(math.MaxInt32, []int{1}).Item())
	}
	e := t.loader.Begin(ctx)
	e.Skip(from)
	return epoch{e}
}

func (t *classify) loss(b batch) (*torch.Tensor, int) {
	b = b.to(t.device)
	logits := t.net.Forward(b.x)
	return F.CrossEntropy(logits, b.y), countCorrect(logits, b.y, nil)
}

// countCorrect compares the largest logits with the labels, and counts every pair in confusion unless nil.
func countCorrect(logits, y *torch.Tensor, confusion [][]int) int {
	l, labels := torch.Data[float32](logits.Detach().CPU().Float().Contiguous()), torch.Data[int64](y.CPU())
	k := len(l) / len(labels)
	n := 0
	for i, label := range labels {
		best := 0
		for j, v := range l[i*k : (i+1)*k] {
			if v > l[i*k+best] {
				best = j
			}
		}
		if best == int(label) {
			n++
		}
		if confusion != nil {
			confusion[label][best]++
		}
	}
	return n
}

func (t *classify) evaluate(ctx context.Context) (evaluation, error) {
	defer t.trainMode()
	return evaluateImages(ctx, t.net, len(t.classes), t.device, t.testLoader)
}

// evaluateImages leaves the network in evaluation mode.
func evaluateImages(ctx context.Context, net classifier, classes int, d torch.Device,
	loader *data.DataLoader[batch, batch]) (e evaluation, err error) {
	nn.Eval(net)
	e.confusion = make([][]int, classes)
	for i := range e.confusion {
		e.confusion[i] = make([]int, classes)
	}
	torch.NoGrad(func() {
		for b, berr := range loader.Iter(ctx) {
			if berr != nil {
				err = berr
				return
			}
			b = b.to(d)
			logits := net.Forward(b.x)
			n := b.y.Numel()
			e.loss += float64(n) * itemOf(F.CrossEntropy(logits, b.y))
			e.correct += countCorrect(logits, b.y, e.confusion)
			e.total += n
		}
	})
	if e.total > 0 {
		e.loss /= float64(e.total)
	}
	return e, err
}

func itemOf(t *torch.Tensor) float64 { return t.Item() }

// charLM is a small GPT over the characters of a text.
type charLM struct {
	net    *textmodels.GPT
	device torch.Device
	text   *chartext.Text
	batch  int
	ctx    int
}

func newCharLM(c *Config, d torch.Device) (*charLM, error) {
	text, err := chartext.Load(c.Text)
	if err != nil {
		return nil, err
	}
	if text.Train.Windows(c.Context) == 0 || text.Val.Windows(c.Context) == 0 {
		return nil, fmt.Errorf("%s is too short: both its training part and its last tenth must be longer than "+
			"--context %d", c.Text, c.Context)
	}
	net, ok := newModel(c, text.Vocab.Len()).(*textmodels.GPT)
	if !ok {
		return nil, fmt.Errorf("%s is no language model", c.Model)
	}
	nn.ToDevice(net, d)
	return &charLM{net: net, device: d, text: text, batch: c.BatchSize, ctx: c.Context}, nil
}

func (t *charLM) model() nn.Module { return t.net }
func (t *charLM) trainMode()       { nn.Train(t.net, true) }
func (t *charLM) input() *torch.Tensor {
	return torch.Zeros([]int{1, t.ctx}, torch.ZerosOptions{DType: torch.Int64})
}
func (t *charLM) samplesPerBatch() int { return t.batch }
func (t *charLM) stepsPerEpoch() int {
	return max(1, t.text.Train.Windows(t.ctx)/(t.batch*t.ctx))
}
func (t *charLM) state() *serialize.Dict { return serialize.NewDict("vocab", t.text.Vocab.String()) }

// windows draws random places of the text; its position is the generator's.
type windows struct {
	t    *charLM
	ctx  context.Context
	left int
}

func (t *charLM) begin(ctx context.Context, from int) batches {
	return &windows{t, ctx, t.stepsPerEpoch() - from}
}

func (w *windows) close() {}

func (w *windows) next() (batch, error, bool) {
	if w.left == 0 {
		return batch{}, nil, false
	}
	if err := w.ctx.Err(); err != nil {
		return batch{}, err, true
	}
	w.left--
	t := w.t
	starts := torch.Data[int64](torch.Randint(t.text.Train.Windows(t.ctx), []int{t.batch}))
	return t.windowsAt(t.text.Train, starts), nil, true
}

func (t *charLM) windowsAt(tokens chartext.Tokens, starts []int64) batch {
	x, y := make([]int64, 0, len(starts)*t.ctx), make([]int64, 0, len(starts)*t.ctx)
	for _, s := range starts {
		a, b := tokens.Window(int(s), t.ctx)
		x, y = append(x, a...), append(y, b...)
	}
	return batch{torch.FromSlice(x, len(starts), t.ctx), torch.FromSlice(y, len(starts), t.ctx)}
}

func (t *charLM) loss(b batch) (*torch.Tensor, int) {
	b = b.to(t.device)
	logits := t.net.Forward(b.x)
	return F.CrossEntropy(logits.View([]int{-1, logits.Size(-1)}), b.y.View([]int{-1})), -1
}

// evaluate takes the mean loss over windows spread evenly over the last tenth of the text.
func (t *charLM) evaluate(ctx context.Context) (e evaluation, err error) {
	nn.Eval(t.net)
	defer t.trainMode()
	const rounds = 10
	n := t.text.Val.Windows(t.ctx)
	torch.NoGrad(func() {
		for i := range rounds {
			if err = ctx.Err(); err != nil {
				return
			}
			starts := make([]int64, t.batch)
			for j := range starts {
				starts[j] = int64((i*t.batch + j) * n / (rounds * t.batch))
			}
			l, _ := t.loss(t.windowsAt(t.text.Val, starts))
			e.loss += itemOf(l) / rounds
		}
	})
	return e, err
}
