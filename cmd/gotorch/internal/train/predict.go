package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/cli"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/weights"
	"github.com/gotorch-dev/torch/internal/term"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/vision/datasets"
	"github.com/gotorch-dev/torch/vision/datasets/digits"
	visionio "github.com/gotorch-dev/torch/vision/io"
	"github.com/gotorch-dev/torch/vision/models"
)

// samples is the number of embedded pictures that predict shows when it is given none.
const samples = 3

type predictFlags struct {
	checkpoint            string
	arch, weights, labels string
	imageSize, top        int
	json                  bool
}

func predictCommand() *cobra.Command {
	var f predictFlags
	cmd := &cobra.Command{
		Use:   "predict (--checkpoint CHECKPOINT|--arch NAME --weights FILE) [IMAGE|DIR]…",
		Short: "Classify pictures",
		Long: "predict classifies pictures, and all those of a folder. The model is that of a checkpoint of gotorch " +
			"train " +
			"or finetune, or a network by torchvision's name with weights: a file of a state dict, or published ones " +
			"(DEFAULT). Without pictures a model of digits gets a few of the embedded ones.",
		Example: "  gotorch predict --checkpoint runs/digits-lenet three.png\n" +
			"  gotorch predict --checkpoint runs/flowers-resnet18 pictures/\n" +
			"  gotorch predict --arch resnet18 --weights resnet18-f37072fd.pth --labels classes.txt dog.jpg",
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.checkpoint, "checkpoint", "", "checkpoint file, or the folder of a run")
	fl.StringVar(&f.arch, "arch", "", "network, by torchvision's name, instead of a checkpoint")
	fl.StringVar(&f.weights, "weights", "", "file of its state dict, or published weights: DEFAULT, IMAGENET1K_V1, …")
	fl.StringVar(&f.labels, "labels", "", "file with the names of the classes, a line each (default ImageNet's where "+
		"there are 1000)")
	fl.IntVar(&f.imageSize, "image-size", 0,
		"height and width of the images that the network sees (default that of the "+
			"published weights)")
	fl.IntVar(&f.top, "top", 3, "number of classes that are printed")
	fl.BoolVar(&f.json, "json", false, "print a JSON object per picture")
	return cmd
}

func (f *predictFlags) run(cmd *cobra.Command, args []string) error {
	if err := checkRange("top", f.top, 1, maxBatch); err != nil {
		return err
	}
	var p predictor
	switch {
	case f.arch != "" && f.checkpoint != "":
		return errors.New("--arch and --checkpoint both name a model: give one of them")
	case f.arch != "":
		var err error
		if p, err = f.network(cmd); err != nil {
			return err
		}
	case f.weights != "" || f.labels != "":
		return errors.New("--weights and --labels belong to a network: give --arch NAME")
	case f.checkpoint == "":
		_, err := open("")
		return fmt.Errorf("%w\n\nUsage:\n  %s\n\nExamples:\n%s", err,
			strings.Replace(cmd.UseLine(), "gotorch", cli.Invocation(), 1), cmd.Example)
	default:
		t, err := open(f.checkpoint)
		if err != nil {
			return err
		}
		net, err := t.classifier()
		if err != nil {
			return err
		}
		if t.cfg.Task == finetuning {
			p = networkPredictor(net, preparationOf(t.cfg.Model, t.cfg.ImageSize), t.names)
			break
		}
		p = grayPredictor(net, normalisation[t.cfg.Data])
		if len(args) == 0 {
			return f.embedded(cmd, net, normalisation[t.cfg.Data])
		}
	}
	if len(args) == 0 {
		return errors.New("which pictures? Give files or folders")
	}
	paths, err := pictures(args)
	if err != nil {
		return err
	}
	var bad []error
	for _, path := range paths {
		x, err := p(path)
		if err == nil {
			err = f.print(cmd, path, x)
		}
		if err != nil { // the others of a folder are worth seeing
			bad = append(bad, err)
		}
		if err := cmd.Context().Err(); err != nil {
			return err
		}
	}
	return errors.Join(bad...)
}

// embedded classifies some of the digits that the program carries.
func (f *predictFlags) embedded(cmd *cobra.Command, net classifier, norm [2]float32) error {
	set := digits.Load(digits.Test)
	for i := range samples {
		img := set.Image(i)
		x := prediction{p: classProbabilities(net, img, norm), picture: img}
		if err := f.print(cmd, fmt.Sprintf("embedded digit %d (a %d)", i, set.Labels[i]), x); err != nil {
			return err
		}
	}
	return nil
}

// network is the predictor of an architecture with weights.
func (f *predictFlags) network(cmd *cobra.Command) (predictor, error) {
	net, names, err := f.trainedNetwork(cmd)
	if err != nil {
		return nil, err
	}
	return networkPredictor(net, preparationOf(f.arch, f.imageSize), names), nil
}

// trainedNetwork is an architecture with weights, in evaluation mode, and the names of its classes.
func (f *predictFlags) trainedNetwork(cmd *cobra.Command) (classifier, []string, error) {
	if err := checkArchitecture(f.arch); err != nil {
		return nil, nil, err
	}
	if f.weights == "" {
		return nil, nil, errors.New("which weights? Give --weights FILE, or the name of published ones: --weights " +
			"DEFAULT")
	}
	file, published, err := weights.Find(f.arch, f.weights)
	if err != nil {
		return nil, nil, err
	}
	sd, err := weights.Load(cmd.Context(), file, published, cmd.ErrOrStderr())
	if err != nil {
		return nil, nil, err
	}
	classes, err := classesIn(f.arch, sd)
	if err != nil {
		return nil, nil, err
	}
	var names []string
	switch {
	case f.labels != "":
		if names, err = weights.Labels(f.labels); err != nil {
			return nil, nil, err
		}
		if len(names) != classes {
			return nil, nil, fmt.Errorf("--labels %s has %d names, the network %d classes", f.labels, len(names),
				classes)
		}
	case classes == imageNetClasses:
		e, err := models.GetModelWeights(f.arch)
		if err != nil {
			return nil, nil, err
		}
		names = e.Default().Categories()
	}
	net := newArchitecture(f.arch, classes)
	if _, err := loadBackbone(net, f.arch, classes, sd); err != nil {
		return nil, nil, fmt.Errorf("--weights %s: %w", f.weights, err)
	}
	nn.Eval(net)
	return net, names, nil
}

// prediction is what a model makes of a picture.
type prediction struct {
	p       []float64   // probabilities of the classes
	names   []string    // of the classes; nil: they are numbers
	picture *image.Gray // what a small model has seen, nil of others
}

// predictor classifies a file.
type predictor func(path string) (prediction, error)

// grayPredictor is that of the small models of grey pictures.
func grayPredictor(net classifier, norm [2]float32) predictor {
	return func(path string) (prediction, error) {
		img, err := readGray(path)
		if err != nil {
			return prediction{}, err
		}
		return prediction{p: classProbabilities(net, img, norm), picture: img}, nil
	}
}

// networkPredictor is that of a network for photographs.
func networkPredictor(net classifier, prepare preparation, names []string) predictor {
	return func(path string) (out prediction, err error) {
		im, err := visionio.Open(path)
		if err != nil {
			return out, err
		}
		out.names = names
		err = torch.Try(func() {
			torch.NoGrad(func() { out.p = probabilities(net, prepare.tensor(im).Unsqueeze(0)) })
		})
		if err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
		return out, err
	}
}

// pictures puts the files of a folder in its place.
func pictures(args []string) ([]string, error) {
	var out []string
	for _, arg := range args {
		st, err := os.Stat(arg)
		if err != nil {
			return nil, err
		}
		if !st.IsDir() {
			out = append(out, arg)
			continue
		}
		entries, err := os.ReadDir(arg) // in the order of names
		if err != nil {
			return nil, err
		}
		before := len(out)
		for _, e := range entries {
			if !e.IsDir() && datasets.IsImageFile(e.Name()) {
				out = append(out, filepath.Join(arg, e.Name()))
			}
		}
		if len(out) == before {
			return nil, fmt.Errorf("the folder %s holds no PNG or JPEG pictures, nor any in GIF, BMP, TIFF or WebP",
				arg)
		}
	}
	return out, nil
}

// print prints a picture with its likeliest classes.
func (f *predictFlags) print(cmd *cobra.Command, name string, x prediction) error {
	w, top := cmd.OutOrStdout(), topK(x.p, f.top)
	if f.json {
		type guess struct {
			Class       int     `json:"class"`
			Label       string  `json:"label,omitempty"`
			Probability float64 `json:"probability"`
		}
		var gs []guess
		for _, k := range top {
			g := guess{Class: k, Probability: x.p[k]}
			if x.names != nil {
				g.Label = x.names[k]
			}
			gs = append(gs, g)
		}
		return json.NewEncoder(w).Encode(map[string]any{"image": name, "top": gs})
	}
	shown := name + "\n"
	if x.picture != nil {
		shown += term.Picture(x.picture, term.IsColor(os.Stdout))
	}
	wide := 1
	label := func(k int) string {
		if x.names != nil {
			return x.names[k]
		}
		return strconv.Itoa(k)
	}
	for _, k := range top {
		wide = max(wide, utf8.RuneCountInString(label(k)))
	}
	for _, k := range top {
		shown += fmt.Sprintf("  %-*s  %6.2f %%  %s\n", wide, label(k), 100*x.p[k],
			strings.Repeat("█", int(30*x.p[k]+0.5)))
	}
	_, err := io.WriteString(w, shown)
	return err
}
