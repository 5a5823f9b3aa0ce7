// Package detectcmd holds the command detect, which finds objects in pictures.
package detectcmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/cli"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/weights"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
	visionio "github.com/gotorch-dev/torch/vision/io"
	"github.com/gotorch-dev/torch/vision/models"
	"github.com/gotorch-dev/torch/vision/models/detection"
	F "github.com/gotorch-dev/torch/vision/transforms/functional"
	"github.com/gotorch-dev/torch/vision/utils"
)

type flags struct {
	arch, weights, labels, out string
	score                      float64
	json                       bool
}

// Command is the command detect.
func Command() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "detect IMAGE…",
		Short: "Find objects in pictures and draw boxes around them",
		Long: "detect writes a copy of each picture with the boxes, classes and scores of the objects in it, and " +
			"masks or " +
			"joints where the network finds them, and prints what it has found. The weights are a file of a state " +
			"dict, or " +
			"published ones, which are downloaded once.\n\nNetworks: " + strings.Join(detection.ListModels(), ", "),
		Example: "  gotorch detect street.jpg\n" +
			"  gotorch detect --arch maskrcnn_resnet50_fpn --score 0.7 --out found/ *.jpg\n" +
			"  gotorch detect --arch ssdlite320_mobilenet_v3_large --weights mine.pt --labels classes.txt street.jpg",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.arch, "arch", "fasterrcnn_mobilenet_v3_large_fpn", "network, by torchvision's name")
	fl.StringVar(&f.weights, "weights", "DEFAULT", "file of a state dict, or published weights: DEFAULT, COCO_V1")
	fl.StringVar(&f.labels, "labels", "", "file with the names of the classes, a line each, the background first "+
		"(default COCO's)")
	fl.Float64Var(&f.score, "score", 0.5, "least score of an object")
	fl.StringVar(&f.out, "out", "", "picture, or folder, to write to (default NAME.detected.png beside each)")
	fl.BoolVar(&f.json, "json", false, "print a JSON object per picture")
	_ = cmd.RegisterFlagCompletionFunc("arch", cobra.FixedCompletions(detection.ListModels(),
		cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (f *flags) run(cmd *cobra.Command, args []string) error {
	if !(f.score >= 0 && f.score <= 1) {
		return fmt.Errorf("--score %v: want at least 0 and at most 1", f.score)
	}
	if err := cli.Choose("--arch", f.arch, detection.ListModels()); err != nil {
		return err
	}
	asFile := strings.EqualFold(filepath.Ext(f.out), ".png")
	if asFile && len(args) > 1 {
		return errors.New("--out names one picture, but there are several: give a folder")
	}
	if err := readable(args); err != nil { // before anything is downloaded
		return err
	}
	net, names, err := f.network(cmd)
	if err != nil {
		return err
	}
	var bad []error
	for _, path := range args {
		out := f.out
		switch {
		case out == "":
			out = strings.TrimSuffix(path, filepath.Ext(path)) + ".detected.png"
		case !asFile:
			out = filepath.Join(out, filepath.Base(strings.TrimSuffix(path, filepath.Ext(path)))+".png")
		}
		if err := f.picture(cmd, net, names, path, out); err != nil {
			bad = append(bad, fmt.Errorf("%s: %w", path, err))
		}
		if err := cmd.Context().Err(); err != nil {
			return err
		}
	}
	return errors.Join(bad...)
}

// readable refuses names of which none is that of a file.
func readable(paths []string) error {
	var bad []error
	for _, path := range paths {
		switch info, err := os.Stat(path); {
		case err != nil:
			bad = append(bad, err)
		case info.IsDir():
			bad = append(bad, fmt.Errorf("%s is a folder: give its pictures", path))
		default:
			return nil
		}
	}
	return errors.Join(bad...)
}

// network makes the network and loads its weights.
func (f *flags) network(cmd *cobra.Command) (detection.Detector, []string, error) {
	file, published, err := weights.Find(f.arch, f.weights)
	if err != nil {
		return nil, nil, err
	}
	e, err := models.GetModelWeights(f.arch)
	if err != nil {
		return nil, nil, err
	}
	w := published
	if w == nil { // a file may hold published weights, or those of somebody's own classes
		w = e.Default()
	}
	o, names := detection.ForWeights(e, w, detection.Options{}), w.Categories()
	if f.labels != "" {
		if names, err = weights.Labels(f.labels); err != nil {
			return nil, nil, err
		}
		o.NumClasses = len(names)
	}
	sd, err := weights.Load(cmd.Context(), file, published, cmd.ErrOrStderr())
	if err != nil {
		return nil, nil, err
	}
	// trained with batch norm, whose statistics moved
	if published == nil && sd.Has("backbone.body.bn1.num_batches_tracked") {
		o.Norm = nil
	}
	net, err := detection.GetModel(f.arch, o)
	if err != nil {
		return nil, nil, err
	}
	if err := nn.LoadStateDict(net, sd); err != nil {
		return nil, nil, fmt.Errorf("--weights %s: %w", f.weights, err)
	}
	nn.Eval(net)
	return net, names, nil
}

// object is what --json prints of an object.
type object struct {
	Label string     `json:"label"`
	Class int        `json:"class"`
	Score float64    `json:"score"`
	Box   [4]float64 `json:"box"` // corners in pixels
}

// picture finds the objects of a picture and writes a copy of it with them.
func (f *flags) picture(cmd *cobra.Command, net detection.Detector, names []string, path, out string) (err error) {
	x, err := visionio.ReadImage(path, visionio.DecodeOptions{Mode: visionio.RGB})
	if err != nil {
		return err
	}
	var objects []object
	if e := torch.Try(func() {
		torch.NoGrad(func() {
			d := net.Detect(F.ConvertImageDtype(x, torch.Float32))[0]
			keep := d.Scores.GeScalar(f.score).Nonzero().SqueezeDim(1)
			pick := func(t *torch.Tensor) *torch.Tensor {
				if t == nil {
					return nil
				}
				return t.IndexSelect(0, keep)
			}
			d = detection.Detections{Boxes: pick(d.Boxes), Scores: pick(d.Scores), Labels: pick(d.Labels),
				Masks: pick(d.Masks), Keypoints: pick(d.Keypoints)}
			objects = objectsOf(d, names)
			x = drawn(x, d, objects)
		})
	}); e != nil {
		return e
	}
	if err := visionio.WritePNG(x, out); err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if f.json {
		if objects == nil {
			objects = []object{}
		}
		return json.NewEncoder(w).Encode(map[string]any{"image": path, "out": out, "objects": objects})
	}
	if _, err := fmt.Fprintf(w, "%s -> %s: %d found\n", path, out, len(objects)); err != nil {
		return err
	}
	for _, o := range objects {
		if _, err := fmt.Fprintf(w, "  %-16s %6.2f %%  (%.0f, %.0f) to (%.0f, %.0f)\n", o.Label, 100*o.Score, o.Box[0],
			o.Box[1], o.Box[2], o.Box[3]); err != nil {
			return err
		}
	}
	return nil
}

func objectsOf(d detection.Detections, names []string) (out []object) {
	boxes, labels := torch.Data[float32](d.Boxes.Contiguous()), torch.Data[int64](d.Labels)
	for i, s := range torch.Data[float32](d.Scores) {
		o := object{Class: int(labels[i]), Label: fmt.Sprint(labels[i]), Score: float64(s)}
		if o.Class < len(names) {
			o.Label = names[o.Class]
		}
		for k := range o.Box {
			o.Box[k] = float64(boxes[4*i+k])
		}
		out = append(out, o)
	}
	return out
}

// drawn is a copy of an image with what was found in it. Objects of a class have one colour.
func drawn(x *torch.Tensor, d detection.Detections, objects []object) *torch.Tensor {
	if len(objects) == 0 {
		return x
	}
	var labels, colors []string
	palette := []string{"red", "lime", "yellow", "cyan", "magenta", "orange", "deepskyblue", "springgreen"}
	for _, o := range objects {
		labels = append(labels, fmt.Sprintf("%s %.0f%%", o.Label, 100*o.Score))
		colors = append(colors, palette[o.Class%len(palette)])
	}
	if d.Masks != nil {
		for i, c := range colors { // one by one: overlapping masks would turn black
			x = utils.DrawSegmentationMasks(x, d.Masks.Select(0, i).Select(0, 0).GtScalar(0.5),
				utils.DrawOptions{Colors: []string{c}, Alpha: torch.Some(0.5)})
		}
	}
	if d.Keypoints != nil {
		x = utils.DrawKeypoints(x, d.Keypoints.Narrow(2, 0, 2),
			utils.DrawOptions{Colors: []string{"yellow"}, Radius: tensor.Some(3)})
	}
	width := max(1, x.Size(1)/300)
	return utils.DrawBoundingBoxes(x, d.Boxes, utils.DrawOptions{Colors: colors, Width: width, Labels: labels,
		LabelColors: []string{"black"}, LabelBackgrounds: colors, FontSize: max(10, float64(x.Size(1))/40)})
}
