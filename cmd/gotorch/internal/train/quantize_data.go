package train

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/modelfile"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/weights"
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/vision/datasets"
	visionio "github.com/gotorch-dev/torch/vision/io"
	"github.com/gotorch-dev/torch/vision/models"
)

// picture is one to calibrate with or to measure on: a file, or a tensor without a batch.
type picture struct {
	path  string
	x     *torch.Tensor
	label int // -1 where it is not known
}

// subject finds the model that a command line names.
func (f *quantizeFlags) subject(cmd *cobra.Command, args []string) (*subject, error) {
	if len(args) == 1 {
		switch {
		case f.arch != "" || f.checkpoint != "":
			return nil, errors.New("MODEL, --arch and --checkpoint all name a model: give one of them")
		case isArchitecture(args[0]) && !exists(args[0]):
			f.arch = args[0]
		default:
			if format, err := modelfile.FormatOf(args[0]); err == nil && !isCheckpoint(args[0]) {
				return f.program(cmd, args[0], format)
			}
			f.checkpoint = args[0]
		}
	}
	if f.arch != "" && f.checkpoint != "" {
		return nil, errors.New("--arch and --checkpoint both name a model: give one of them")
	}
	if f.arch != "" {
		return f.network(cmd)
	}
	if f.weights != "" {
		return nil, errors.New("--weights belongs to a network: give --arch NAME")
	}
	t, err := open(f.checkpoint)
	if err != nil {
		return nil, err
	}
	net, err := t.classifier()
	if err != nil {
		return nil, err
	}
	nn.Eval(net)
	s := &subject{name: nameOf(f.checkpoint), net: net, forward: net.Forward, bytes: weightBytes(net), names: t.names}
	if t.cfg.Task == finetuning {
		s.photographs(preparationOf(t.cfg.Model, t.cfg.ImageSize))
		return s, nil
	}
	s.data, s.shape = t.cfg.Data, []int{1, 28, 28}
	norm := normalisation[t.cfg.Data]
	s.read = func(path string) (*torch.Tensor, error) {
		img, err := readGray(path)
		if err != nil {
			return nil, err
		}
		x := make([]float32, 28*28)
		for i := range x {
			x[i] = (float32(img.Pix[i])/255 - norm[0]) / norm[1]
		}
		return torch.FromSlice(x, 1, 28, 28), nil
	}
	for i := range 10 {
		s.names = append(s.names, strconv.Itoa(i))
	}
	return s, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// isCheckpoint reports the folder of a run, or a checkpoint file.
func isCheckpoint(path string) bool {
	_, err := loadCheckpoint(path)
	return err == nil
}

// weightBytes is the size of a network's parameters and buffers.
func weightBytes(m nn.Module) (n int64) {
	for _, t := range nn.StateDict(m).All() {
		n += int64(t.NBytes())
	}
	return n
}

// photographs lets the subject see images as the published weights do.
func (s *subject) photographs(p preparation) {
	s.shape = []int{3, p.crop, p.crop}
	s.read = func(path string) (x *torch.Tensor, err error) {
		im, err := visionio.Open(path)
		if err != nil {
			return nil, err
		}
		if err := torch.Try(func() { x = p.tensor(im) }); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return x, nil
	}
}

// network is an architecture with weights.
func (f *quantizeFlags) network(cmd *cobra.Command) (*subject, error) {
	p := predictFlags{arch: f.arch, weights: f.weights, labels: f.labels}
	net, names, err := p.trainedNetwork(cmd)
	if err != nil {
		return nil, err
	}
	s := &subject{name: f.arch, net: net, forward: net.Forward, bytes: weightBytes(net), names: names}
	s.photographs(preparationOf(f.arch, f.imageSize))
	return s, nil
}

// program is a model from a file: of one input, a batch of pictures.
func (f *quantizeFlags) program(cmd *cobra.Command, path string, format *modelfile.Format) (*subject, error) {
	m, err := format.Open(path)
	if err != nil {
		if _, bad := serialize.LoadStateDict(path); bad == nil {
			err = fmt.Errorf("%s holds only weights: give the network as well, --arch NAME --weights %s", path, path)
		}
		return nil, err
	}
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	in := m.Inputs()
	if len(in) != 1 || len(m.Outputs()) == 0 || in[0].Type != nil && in[0].Type.Kind != graph.TensorType {
		return nil, fmt.Errorf("%s takes %d inputs: only models of one tensor are quantized", path, len(in))
	}
	s := &subject{name: nameOf(path), forward: runner(cmd.Context(), m), bytes: st.Size()}
	size := f.imageSize
	if shape := in[0].Shape; !in[0].AnyShape {
		if len(shape) != 4 {
			return nil, fmt.Errorf("%s takes %s: only models of pictures are quantized", path, in[0])
		}
		if shape[0].Name == "" && shape[0].Size > 0 {
			s.fixed = shape[0].Size
		}
		if c := shape[1]; c.Name == "" && c.Size > 0 && c.Size != 3 {
			return nil, fmt.Errorf("%s takes %s: only models of pictures with 3 channels are quantized", path, in[0])
		}
		if h := shape[2]; size == 0 && h.Name == "" && h.Size > 0 {
			size = h.Size
		}
	} else if s.fixed == 0 && format.Name == "TorchScript" && size == 0 {
		size = 224
	}
	s.photographs(preparationOf("", size))
	if f.labels != "" {
		if s.names, err = weights.Labels(f.labels); err != nil {
			return nil, err
		}
	} else if e, err := models.GetModelWeights("resnet18"); err == nil {
		s.names = e.Default().Categories()
	}
	return s, nil
}

// pictures lists the pictures of a folder, or of the data set that the model was trained on, at most f.samples, evenly
// taken from all.
func (f *quantizeFlags) pictures(s *subject, folder string, calibration bool) ([]picture, error) {
	var all []picture
	switch {
	case folder != "":
		var err error
		if all, err = s.files(folder); err != nil {
			return nil, err
		}
	case s.data == "digits":
		set, err := loadImages(s.data, "", calibration)
		if err != nil {
			return nil, err
		}
		n := set.Len()
		for i := range min(n, f.samples) {
			b, err := set.Get(i * n / min(n, f.samples))
			if err != nil {
				return nil, err
			}
			all = append(all, picture{x: b.x.Select(0, 0), label: int(b.y.Item())})
		}
	}
	if len(all) > f.samples {
		kept := make([]picture, f.samples)
		for i := range kept {
			kept[i] = all[i*len(all)/f.samples]
		}
		all = kept
	}
	return all, nil
}

// files are the image files of a folder and of the folders in it, whose names may be those of classes.
func (s *subject) files(folder string) (all []picture, err error) {
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !datasets.IsImageFile(d.Name()) {
			return err
		}
		all = append(all, picture{path: path, label: s.class(filepath.Base(filepath.Dir(path)))})
		return nil
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("the folder %s holds no PNG or JPEG pictures, nor any in GIF, BMP, TIFF or WebP", folder)
	}
	return all, err
}

// class is the class that a folder is called by: its name, or its number.
func (s *subject) class(folder string) int {
	same := func(name string) bool {
		return strings.EqualFold(strings.ReplaceAll(name, "_", " "), strings.ReplaceAll(folder, "_", " "))
	}
	if i := slices.IndexFunc(s.names, same); i >= 0 {
		return i
	}
	if n, err := strconv.Atoi(folder); err == nil && n >= 0 && n < len(s.names) {
		return n
	}
	return -1
}

// measured is how a model does.
type measured struct {
	Top1         *float64 `json:"top1,omitempty"`
	Top5         *float64 `json:"top5,omitempty"`
	Bytes        int64    `json:"bytes"`
	Milliseconds float64  `json:"milliseconds"`
	hits1, hits5 int
}

// quantizeReport is what the command prints.
type quantizeReport struct {
	Model       string   `json:"model"`
	Mode        string   `json:"mode"`
	Engine      string   `json:"engine"`
	File        string   `json:"file"`
	Calibration int      `json:"calibration"`
	Pictures    int      `json:"pictures"`
	Before      measured `json:"before"`
	After       measured `json:"after"`
	Agreement   *float64 `json:"agreement,omitempty"`       // share of pictures with one class first in both
	Difference  *float64 `json:"mean_difference,omitempty"` // of the outputs
	Relative    *float64 `json:"relative_difference,omitempty"`
}

// compare compares the outputs of the two models.
func (r *quantizeReport) compare(before, after [][]float32) {
	agree, n := 0, 0
	var diff, size float64
	for i := range before {
		if best(before[i], 1)[0] == best(after[i], 1)[0] {
			agree++
		}
		for j, v := range before[i] {
			diff += math.Abs(float64(v) - float64(after[i][j]))
			size += math.Abs(float64(v))
			n++
		}
	}
	if n == 0 {
		return
	}
	share, mean := float64(agree)/float64(len(before)), diff/float64(n)
	r.Agreement, r.Difference = &share, &mean
	if size > 0 {
		rel := diff / size
		r.Relative = &rel
	}
}

func (r *quantizeReport) print(w io.Writer) {
	fmt.Fprintf(w, "%s, quantized (%s, %s), is in %s\n", r.Model, r.Mode, r.Engine, r.File)
	if r.Mode == "static" {
		fmt.Fprintf(w, "calibrated with %s, measured on %s\n", count(r.Calibration, "picture"),
			count(r.Pictures, "picture"))
	}
	fmt.Fprintf(w, "\n%-20s %12s %12s\n", "", "before", "after")
	share := func(name string, a, b *float64) {
		if a != nil && b != nil {
			fmt.Fprintf(w, "%-20s %10.2f %% %10.2f %%\n", name, 100**a, 100**b)
		}
	}
	share("top-1", r.Before.Top1, r.After.Top1)
	share("top-5", r.Before.Top5, r.After.Top5)
	fmt.Fprintf(w, "%-20s %9.2f MB %9.2f MB\n", "size", float64(r.Before.Bytes)/1e6, float64(r.After.Bytes)/1e6)
	if r.Pictures > 0 {
		fmt.Fprintf(w, "%-20s %9.2f ms %9.2f ms\n", "time per picture", r.Before.Milliseconds, r.After.Milliseconds)
	}
	if r.Agreement != nil {
		fmt.Fprintf(w, "\nboth models agree on %.2f %% of the pictures; their outputs differ by %.4g on average",
			100**r.Agreement,
			*r.Difference)
		if r.Relative != nil {
			fmt.Fprintf(w, " (%.2f %%)", 100**r.Relative)
		}
		fmt.Fprintln(w)
	}
}
