package train

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/cli"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/vision/models"
	"github.com/gotorch-dev/torch/vision/pil"
	F "github.com/gotorch-dev/torch/vision/transforms/functional"
)

// imageNetworks are the networks of package models that classify images.
func imageNetworks() (names []string) {
	for _, n := range models.ListModels() {
		if isArchitecture(n) {
			names = append(names, n)
		}
	}
	return names
}

func isArchitecture(name string) bool {
	e, err := models.GetModelWeights(name)
	return err == nil && e.Model == name && len(e.Default().Categories()) == imageNetClasses
}

// isDetector reports whether a network finds boxes.
func isDetector(name string) bool {
	e, err := models.GetModelWeights(name)
	return err == nil && slices.ContainsFunc(e.Default().Metrics, func(m models.Metric) bool { return m.Name == "box_map" })
}

const imageNetClasses = 1000

func checkArchitecture(name string) error {
	if isArchitecture(name) {
		return nil
	}
	all := imageNetworks()
	if near := cli.Nearest(name, all); near != "" {
		return fmt.Errorf("--arch %s: there is no such network for images; did you mean %s?", name, near)
	}
	return fmt.Errorf("--arch %q: want one of %s", name, strings.Join(all, ", "))
}

// newArchitecture makes a network with random weights.
func newArchitecture(name string, classes int) classifier {
	m, err := models.GetModel(name, models.Options{NumClasses: classes})
	if err != nil {
		panic(err) // the name was checked
	}
	return m.(classifier)
}

// headOf are the names of the parameters that depend on the number of classes, which two networks of the device meta
// tell.
func headOf(name string, classes int) (head []string) {
	torch.WithDevice(torch.Meta, func() {
		other := nn.StateDict(newArchitecture(name, classes+1))
		for key, t := range nn.StateDict(newArchitecture(name, classes)).All() {
			if !slices.Equal(t.Shape(), other.Get(key).Shape()) {
				head = append(head, key)
			}
		}
	})
	return head
}

// classesIn is the number of classes that the weights of an architecture have.
func classesIn(name string, sd *torch.StateDict) (int, error) {
	for _, key := range headOf(name, 2) {
		if t := sd.Get(key); t != nil && t.Dim() > 0 {
			return t.Size(0), nil
		}
	}
	return 0, fmt.Errorf("the weights have none of the parameters %s of %s", strings.Join(headOf(name, 2), ", "), name)
}

// loadBackbone takes over weights but for a head of another number of classes, and reports whether the head was taken
// over as well.
func loadBackbone(m nn.Module, name string, classes int, sd *torch.StateDict) (head bool, err error) {
	var r nn.LoadResult
	if err := nn.LoadStateDict(m, sd, nn.LoadOptions{NonStrict: true, IgnoreMismatched: true, Result: &r}); err != nil {
		return false, err
	}
	of := headOf(name, classes)
	var wrong []string
	for _, x := range r.Mismatched {
		if !slices.Contains(of, x.Key) {
			wrong = append(wrong, fmt.Sprintf("%s has shape %v, want %v", x.Key, x.Got, x.Model))
		}
	}
	head = len(r.Mismatched) == 0
	for _, key := range r.MissingKeys {
		if slices.Contains(of, key) {
			head = false
		} else if !strings.HasSuffix(key, "num_batches_tracked") {
			wrong = append(wrong, key+" is missing")
		}
	}
	for _, key := range r.UnexpectedKeys {
		wrong = append(wrong, key+" is unknown")
	}
	if len(wrong) > 0 {
		more := ""
		if n := len(wrong) - 5; n > 0 {
			wrong, more = wrong[:5], fmt.Sprintf(" and %d more", n)
		}
		return false, fmt.Errorf("the weights are not those of %s: %s%s", name, strings.Join(wrong, "; "), more)
	}
	return head, nil
}

// preparation is what images go through before a network sees them.
type preparation struct {
	resize, crop int
	how          F.InterpolationMode
	mean, std    []float64
}

// preparationOf is that of the published weights of an architecture, scaled to another size of images unless 0.
func preparationOf(arch string, size int) preparation {
	p := preparation{256, 224, F.Bilinear, []float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}}
	if e, err := models.GetModelWeights(arch); err == nil {
		w := e.Default()
		if len(w.ResizeSize) > 0 && len(w.CropSize) > 0 {
			p.resize, p.crop = w.ResizeSize[0], w.CropSize[0]
		}
		if w.Interpolation != "" {
			p.how = F.InterpolationMode(w.Interpolation)
		}
		if w.Mean != nil {
			p.mean, p.std = w.Mean, w.Std
		}
	}
	if size > 0 {
		p.resize, p.crop = max(size, p.resize*size/p.crop), size
	}
	return p
}

// tensor is an image as a network sees it when it is used: (3, crop, crop).
func (p *preparation) tensor(im *pil.Image) *torch.Tensor {
	im = F.Resize(im.Convert("RGB"), []int{p.resize}, F.ResizeOptions{Interpolation: p.how})
	return p.normalized(F.CenterCrop(im, []int{p.crop, p.crop}))
}

func (p *preparation) normalized(im *pil.Image) *torch.Tensor {
	return F.Normalize(F.ToTensor(im), p.mean, p.std)
}
