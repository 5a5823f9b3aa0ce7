package models

import (
	_ "embed"
	"fmt"
	"path"
	"strings"
)

// Weights are a file of published weights and how it was made.
type Weights struct {
	Name      string // "IMAGENET1K_V1"
	URL       string
	NumParams int
	MinSize   [2]int  // smallest images, height and width
	GFLOPS    float64 // of one image, in 10^9 multiply-adds
	FileSize  float64 // in MB
	classes   string  // name of the list of categories
	Preprocess
	Metrics []Metric
}

// Preprocess says what images have to go through: resize, crop the middle, scale to between 0 and 1, normalise.
type Preprocess struct {
	ResizeSize    []int // nil: not resized
	CropSize      []int // nil: not cropped
	Interpolation string
	Mean, Std     []float64 // nil: not normalised
}

// Metric is a quality of weights that was measured on a data set.
type Metric struct {
	DataSet, Name string
	Value         float64
}

var imageNetMean, imageNetStd = []float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}

// HashPrefix are the first digits of the SHA-256 of the file, which stand in its name.
func (w *Weights) HashPrefix() string {
	name := strings.TrimSuffix(path.Base(w.URL), path.Ext(w.URL))
	return name[strings.LastIndexByte(name, '-')+1:]
}

//go:embed categories/imagenet.txt
var imagenetText string

//go:embed categories/voc.txt
var vocText string

//go:embed categories/coco.txt
var cocoText string

//go:embed categories/keypoint.txt
var keypointText string

//go:embed categories/kinetics400.txt
var kineticsText string

// Categories are the names of the classes in the order of the network's outputs; nil for a network without classes.
func (w *Weights) Categories() []string {
	text := map[string]string{"imagenet": imagenetText, "voc": vocText, "coco": cocoText, "keypoint": keypointText,
		"kinetics400": kineticsText}[w.classes]
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// WeightsEnum are the published weights of a network.
type WeightsEnum struct {
	Name    string // "ResNet50_Weights"
	Model   string // "resnet50"
	best    string
	Entries []Weights
}

// Get finds weights by their name, in any case; "DEFAULT" is the best ones.
func (e *WeightsEnum) Get(name string) (*Weights, error) {
	if strings.EqualFold(name, "default") {
		name = e.best
	}
	var names []string
	for i := range e.Entries {
		if strings.EqualFold(e.Entries[i].Name, name) {
			return &e.Entries[i], nil
		}
		names = append(names, e.Entries[i].Name)
	}
	return nil, fmt.Errorf("models: %s has no weights %q, but %s", e.Name, name, strings.Join(names, ", "))
}

// Default is the best weights.
func (e *WeightsEnum) Default() *Weights {
	w, err := e.Get(e.best)
	if err != nil {
		panic(err) // the table names them
	}
	return w
}

// Options are the options that a network needs for weights of e: the number of classes, the size of images, and
// whether images are normalised anew.
func (e *WeightsEnum) Options(w *Weights) (o Options) {
	o.NumClasses = len(w.Categories())
	switch {
	case e.Model == "googlenet" || e.Model == "inception_v3":
		o.TransformInput = true
	case strings.HasPrefix(e.Model, "vit_"):
		o.ImageSize = w.MinSize[0]
	}
	if strings.HasPrefix(e.Model, "fcn_") || strings.HasPrefix(e.Model, "deeplabv3_") {
		o.AuxLoss = true
	}
	return o
}

// GetModelWeights finds the published weights of a network by its name.
func GetModelWeights(model string) (*WeightsEnum, error) {
	for _, e := range allWeights {
		if strings.EqualFold(e.Model, model) {
			return e, nil
		}
	}
	return nil, fmt.Errorf("models: no published weights of %q", model)
}

// GetWeight finds weights by their full name, such as "ResNet50_Weights.IMAGENET1K_V2".
func GetWeight(name string) (*Weights, error) {
	enum, entry, ok := strings.Cut(name, ".")
	if !ok {
		return nil, fmt.Errorf("models: %q is no name of weights such as ResNet50_Weights.DEFAULT", name)
	}
	for _, e := range allWeights {
		if e.Name == enum {
			return e.Get(entry)
		}
	}
	return nil, fmt.Errorf("models: no weights are called %q", enum)
}
