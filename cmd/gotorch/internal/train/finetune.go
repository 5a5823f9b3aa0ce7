package train

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/weights"
	"github.com/gotorch-dev/torch/data"
	"github.com/gotorch-dev/torch/internal/atomicfile"
	"github.com/gotorch-dev/torch/internal/plotpng"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/vision/datasets"
	"github.com/gotorch-dev/torch/vision/pil"
	F "github.com/gotorch-dev/torch/vision/transforms/functional"
)

// finetuning is the task of finetune.
const finetuning = "finetune"

func finetuneCommand() *cobra.Command {
	f := &trainFlags{cfg: Config{Task: finetuning, Data: "folder", AMP: "none", Context: 1, Layers: 1, Heads: 1, Width: 1}}
	cmd := &cobra.Command{
		Use:   "finetune --arch NAME --weights FILE --data FOLDER",
		Short: "Train a published network further, on a folder of images",
		Long: "Trains a network for images on the classes of a folder, which has a folder of images for each class, or " +
			"the folders train and val with those in them. Without val every fifth image of a class is kept for the " +
			"test.\n\nThe weights are a file of a state dict or the name of published ones (DEFAULT). A last layer for " +
			"another number of classes begins anew. The folder of the run gets checkpoint.pt, model.pt, classes.txt, " +
			"loss.png, confusion.png and TensorBoard logs; a run that was stopped goes on with --resume and ends with " +
			"the identical model.",
		Example: "  gotorch finetune --arch resnet18 --weights resnet18-f37072fd.pth --data flowers\n" +
			"  gotorch finetune --arch mobilenet_v3_small --weights DEFAULT --data flowers --freeze-backbone\n" +
			"  gotorch finetune --resume runs/flowers-resnet18 --data flowers",
		Args: f.args(finetuning),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	fl, c := cmd.Flags(), &f.cfg
	fl.StringVar(&c.Model, "arch", "", "network, by torchvision's name: resnet18, mobilenet_v3_small, vit_b_16, …")
	fl.StringVar(&c.Weights, "weights", "", "file of a state dict, or published weights: DEFAULT, IMAGENET1K_V1, … "+
		"(default none: random weights)")
	fl.StringVar(&c.Root, "data", "", "folder of the images")
	fl.BoolVar(&c.Freeze, "freeze-backbone", false, "train the last layer only")
	fl.Float64Var(&c.HeadLR, "head-lr", 0, "learning rate of the last layer (default that of --lr)")
	fl.IntVar(&c.ImageSize, "image-size", 0, "height and width of the images that the network sees (default that of the "+
		"published weights)")
	fl.IntVar(&c.Epochs, "epochs", 0, "passes over the data (default 5)")
	fl.IntVar(&c.Steps, "steps", 0, "batches, instead of epochs")
	fl.IntVar(&c.BatchSize, "batch-size", 0, "images of a batch (default 32)")
	fl.Float64Var(&c.LR, "lr", 0, "learning rate (default 0.0003; sgd 0.003; 0.003 with --freeze-backbone)")
	fl.StringVar(&c.Optimizer, "optimizer", "", "sgd, adam, adamw (default adamw)")
	fl.StringVar(&c.Scheduler, "scheduler", "", "none, step, cosine, linear, onecycle (default cosine)")
	fl.Float64Var(&c.WeightDecay, "weight-decay", 0, "weight decay (default 0.01)")
	fl.Float64Var(&c.ClipNorm, "clip-norm", 0, "largest norm of the gradient; 0 means no bound")
	f.common(cmd)
	_ = cmd.RegisterFlagCompletionFunc("arch", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return imageNetworks(), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

// completeFinetune fills in what was not given and refuses contradictions.
func (c *Config) completeFinetune(set given) error {
	switch {
	case c.Model == "":
		return errors.New("which network? Give --arch NAME, such as --arch resnet18")
	case c.Root == "":
		return errors.New("which images? Give --data FOLDER, with a folder of images for each class")
	case set("epochs") && set("steps"):
		return errors.New("--epochs and --steps both say when to stop: give one of them")
	case set("lr") && c.LR == 0:
		return errors.New("--lr 0: want a number above 0")
	}
	if err := checkArchitecture(c.Model); err != nil {
		return err
	}
	def := func(flag string, apply func()) {
		if !set(flag) {
			apply()
		}
	}
	def("epochs", func() { c.Epochs = 5 })
	def("batch-size", func() { c.BatchSize = 32 })
	def("optimizer", func() { c.Optimizer = "adamw" })
	def("scheduler", func() { c.Scheduler = "cosine" })
	def("weight-decay", func() { c.WeightDecay = 0.01 })
	def("lr", func() {
		c.LR = 3e-4
		if c.Freeze || c.Optimizer == "sgd" {
			c.LR = 3e-3
		}
	})
	return c.check(func(name string, value any) string { return fmt.Sprintf("--%s %v", name, value) })
}

// checkFinetune refuses what cannot be trained further, beyond what check refuses of all tasks.
func (c *Config) checkFinetune(field func(name string, value any) string) error {
	if !isArchitecture(c.Model) {
		return fmt.Errorf("%s: there is no such network for images", field("arch", fmt.Sprintf("%q", c.Model)))
	}
	if !(c.HeadLR >= 0 && c.HeadLR <= 1e6) {
		return fmt.Errorf("%s: want at least 0 and at most 1e6", field("head-lr", c.HeadLR))
	}
	const least, most = 32, 4096
	if c.ImageSize != 0 && (c.ImageSize < least || c.ImageSize > most) {
		return fmt.Errorf("%s: want at least %d and at most %d", field("image-size", c.ImageSize), least, most)
	}
	if c.HeadLR > 0 && c.Scheduler == "onecycle" {
		return fmt.Errorf("%s: onecycle gives all parameters one learning rate", field("head-lr", c.HeadLR))
	}
	return nil
}

// folder is a set of images in files, as tensors. While training it cuts out and mirrors at random.
type folder struct {
	*datasets.ImageFolder
	p       preparation
	augment bool
	// seed is that of the epoch. What is drawn for an image hangs on it and on the image's number alone, so that
	// neither the number of goroutines nor a stop in between changes it.
	seed uint64
}

// Get is image i.
func (d *folder) Get(i int) (batch, error) { return d.GetBatch([]int{i}) }

// GetBatch reads the images of a batch.
func (d *folder) GetBatch(indices []int) (batch, error) {
	var list []*torch.Tensor
	labels := make([]int64, len(indices))
	for k, i := range indices {
		s, err := d.ImageFolder.Get(i)
		if err != nil {
			return batch{}, err
		}
		var x *torch.Tensor
		if err := torch.Try(func() {
			if d.augment {
				x = d.p.normalized(d.augmented(s.Image, i))
			} else {
				x = d.p.tensor(s.Image)
			}
		}); err != nil {
			return batch{}, fmt.Errorf("%s: %w", d.Samples[i].Path, err)
		}
		list, labels[k] = append(list, x), int64(s.Label)
	}
	return batch{torch.Stack(list), torch.FromSlice(labels)}, nil
}

// augmented is a random part of an image, scaled to the size of the network's images and mirrored or not, as
// torchvision's reference training does it.
func (d *folder) augmented(im *pil.Image, i int) *pil.Image {
	r := rand.New(rand.NewPCG(d.seed, uint64(i)))
	h, w := im.Height, im.Width
	for range 10 { // a share of 0.08 to 1 of the area, with a ratio of 3/4 to 4/3; the whole image where none fits
		area := float64(im.Height*im.Width) * (0.08 + 0.92*r.Float64())
		aspect := math.Exp(math.Log(4.0/3) * (2*r.Float64() - 1))
		dw, dh := int(math.Round(math.Sqrt(area*aspect))), int(math.Round(math.Sqrt(area/aspect)))
		if dw > 0 && dw <= im.Width && dh > 0 && dh <= im.Height {
			h, w = dh, dw
			break
		}
	}
	im = F.ResizedCrop(im, r.IntN(im.Height-h+1), r.IntN(im.Width-w+1), h, w, []int{d.p.crop, d.p.crop},
		F.ResizeOptions{Interpolation: d.p.how})
	if r.IntN(2) == 0 {
		im = F.HorizontalFlip(im)
	}
	return im
}

// openFolder finds the images to train on and those to test on. A folder without train and val keeps every fifth image
// of each class for the test.
func openFolder(root string) (train, test *datasets.ImageFolder, err error) {
	isDir := func(name string) bool {
		st, err := os.Stat(filepath.Join(root, name))
		return err == nil && st.IsDir()
	}
	if !isDir("train") {
		all, err := datasets.NewImageFolder(root)
		if err != nil {
			return nil, nil, err
		}
		train, test = split(all, 5)
		return train, test, nil
	}
	if train, err = datasets.NewImageFolder(filepath.Join(root, "train")); err != nil {
		return nil, nil, err
	}
	for _, name := range []string{"val", "valid", "test"} {
		if !isDir(name) {
			continue
		}
		test, err = datasets.NewImageFolder(filepath.Join(root, name), datasets.FolderOptions{AllowEmpty: true})
		if err != nil {
			return nil, nil, err
		}
		if !slices.Equal(test.Classes, train.Classes) {
			return nil, nil, fmt.Errorf("%s: the folders train and %s have different classes: %s and %s", root, name,
				strings.Join(train.Classes, ", "), strings.Join(test.Classes, ", "))
		}
		return train, test, nil
	}
	train, test = split(train, 5)
	return train, test, nil
}

// split keeps every nth image of each class apart.
func split(all *datasets.ImageFolder, n int) (train, test *datasets.ImageFolder) {
	a, b := *all, *all
	a.Samples, b.Samples = nil, nil
	seen := map[int]int{}
	for _, s := range all.Samples {
		if seen[s.Label]++; seen[s.Label]%n == 0 {
			b.Samples = append(b.Samples, s)
		} else {
			a.Samples = append(a.Samples, s)
		}
	}
	return &a, &b
}

// newFinetune makes the task of a folder of images. When a run is resumed, the weights come from its checkpoint.
func (r *run) newFinetune(workers int) (*classify, error) {
	c := &r.cfg
	train, test, err := openFolder(c.Root)
	if err != nil {
		return nil, err
	}
	if len(train.Classes) < 2 {
		return nil, fmt.Errorf("%s has one class only, %s: there is nothing to tell apart", c.Root, train.Classes[0])
	}
	p := preparationOf(c.Model, c.ImageSize)
	t := &classify{batchSize: c.BatchSize, device: r.device, classes: train.Classes,
		net: newArchitecture(c.Model, len(train.Classes))}
	if c.Weights != "" && r.resume == nil {
		file, published, err := weights.Find(c.Model, c.Weights)
		if err != nil {
			return nil, err
		}
		sd, err := weights.Load(r.ctx, file, published, r.errOut)
		if err != nil {
			return nil, err
		}
		if _, err := loadBackbone(t.net, c.Model, len(train.Classes), sd); err != nil {
			return nil, fmt.Errorf("--weights %s: %w", c.Weights, err)
		}
	}
	t.head = headOf(c.Model, len(train.Classes))
	if c.Freeze {
		for name, q := range nn.NamedParameters(t.net) {
			q.SetRequiresGrad(slices.Contains(t.head, name))
		}
	}
	nn.ToDevice(t.net, r.device)
	t.trainMode()
	t.source = &folder{ImageFolder: train, p: p, augment: true}
	t.loader = data.NewDataLoader[batch](t.source,
		data.LoaderOptions{BatchSize: c.BatchSize, Shuffle: true, Workers: workers})
	t.testLoader = testLoader(&folder{ImageFolder: test, p: p}, workers, c.BatchSize)
	return t, nil
}

// trainMode puts the network into training mode, but for the frozen parts, whose statistics shall stay as they are.
func (t *classify) trainMode() {
	nn.Train(t.net, true)
	for m := range nn.Modules(t.net) {
		params := nn.Parameters(m)
		if len(params) > 0 && !slices.ContainsFunc(params, func(p *torch.Tensor) bool { return p.RequiresGrad() }) {
			nn.Eval(m)
		}
	}
}

// groups are the parameters that are trained, the head apart where it has a learning rate of its own.
func (t *classify) groups(c *Config) []optim.Group {
	var body, head optim.Group
	for name, p := range nn.NamedParameters(t.net) {
		switch {
		case !p.RequiresGrad():
		case c.HeadLR > 0 && slices.Contains(t.head, name):
			head.Params = append(head.Params, p)
		default:
			body.Params = append(body.Params, p)
		}
	}
	var groups []optim.Group
	if len(body.Params) > 0 {
		groups = append(groups, body)
	}
	if len(head.Params) > 0 {
		head.LR = torch.Some(c.HeadLR)
		groups = append(groups, head)
	}
	return groups
}

// classesOf are the names of the classes in the checkpoint of finetune.
func classesOf(d *serialize.Dict) (names []string, err error) {
	ts, _ := d.Get("task_state").(*serialize.Dict)
	if ts == nil {
		return nil, fmt.Errorf("field \"task_state\" is of type %T, want a dict", d.Get("task_state"))
	}
	list, _ := ts.Get("classes").([]any)
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("a class is of type %T, want a name", v)
		}
		names = append(names, s)
	}
	if len(names) < 2 {
		return nil, errors.New("it holds no names of classes")
	}
	return names, nil
}

// showConfusion draws which classes were taken for which, and writes down their names.
func (r *run) showConfusion(e evaluation) error {
	t, ok := r.task.(*classify)
	if !ok || t.source == nil {
		return nil
	}
	if err := atomicfile.Write(r.path(classesFile), func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(t.classes, "\n")+"\n")
		return err
	}); err != nil {
		return err
	}
	return plotpng.Confusion(r.path(confusionFile), fmt.Sprintf("%s, accuracy %.1f %%", r.cfg.name(),
		100*e.accuracy()), t.classes, e.confusion)
}
