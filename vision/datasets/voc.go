package datasets

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"

	"github.com/gotorch-dev/torch/coco"
	"github.com/gotorch-dev/torch/vision/pil"
)

// The data sets in COCO's format; see package coco.
type (
	CocoDetection = coco.CocoDetection
	CocoCaptions  = coco.CocoCaptions
)

// NewCocoDetection opens a file of annotations for the images in root.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.CocoDetection.html
func NewCocoDetection(root, annFile string) (*CocoDetection, error) {
	return coco.NewCocoDetection(root, annFile)
}

// NewCocoCaptions opens a file of captions for the images in root.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.CocoCaptions.html
func NewCocoCaptions(root, annFile string) (*CocoCaptions, error) {
	return coco.NewCocoCaptions(root, annFile)
}

// VOCAnnotation is what a file of Pascal VOC says of an image.
type VOCAnnotation struct {
	Folder   string `xml:"folder"`
	Filename string `xml:"filename"`
	Source   struct {
		Database   string `xml:"database"`
		Annotation string `xml:"annotation"`
		Image      string `xml:"image"`
	} `xml:"source"`
	Size struct {
		Width  int `xml:"width"`
		Height int `xml:"height"`
		Depth  int `xml:"depth"`
	} `xml:"size"`
	Segmented int         `xml:"segmented"`
	Objects   []VOCObject `xml:"object"`
}

// VOCObject is an object in an image.
type VOCObject struct {
	Name      string    `xml:"name"`
	Pose      string    `xml:"pose"`
	Truncated int       `xml:"truncated"`
	Difficult int       `xml:"difficult"`
	Occluded  int       `xml:"occluded"`
	Box       VOCBox    `xml:"bndbox"`
	Parts     []VOCPart `xml:"part"`
}

// VOCPart is a part of an object, such as a head.
type VOCPart struct {
	Name string `xml:"name"`
	Box  VOCBox `xml:"bndbox"`
}

// VOCBox is a box in pixels, which are counted from 1.
type VOCBox struct {
	XMin float64 `xml:"xmin"`
	YMin float64 `xml:"ymin"`
	XMax float64 `xml:"xmax"`
	YMax float64 `xml:"ymax"`
}

// vocYears are the folders of the years and their splits besides train, trainval and val.
var vocYears = map[string]string{"2007": "VOCdevkit/VOC2007", "2008": "VOCdevkit/VOC2008", "2009": "VOCdevkit/VOC2009",
	"2010": "VOCdevkit/VOC2010", "2011": "TrainVal/VOCdevkit/VOC2011", "2012": "VOCdevkit/VOC2012"}

// voc are the names of the images of a split.
type voc struct {
	base string
	ids  []string
}

func newVOC(root, year, split, sets string) (v voc, err error) {
	base, ok := vocYears[year]
	if !ok {
		return v, fmt.Errorf("datasets: there is no Pascal VOC of the year %q, but of 2007 to 2012", year)
	}
	splits := []string{"train", "trainval", "val"}
	if year == "2007" {
		splits = append(splits, "test")
	}
	if err := choose("Pascal VOC "+year, split, splits...); err != nil {
		return v, err
	}
	name := "VOC" + year
	if split == "test" {
		name += "-test"
	}
	v.base = filepath.Join(root, filepath.FromSlash(base))
	list, err := textLines(name, root, filepath.FromSlash(base), "ImageSets", sets, split+".txt")
	for _, id := range list {
		if _, err := local(id); err != nil {
			return v, err
		}
		v.ids = append(v.ids, id)
	}
	return v, err
}

// Len is the number of images.
func (v *voc) Len() int { return len(v.ids) }

// image reads image i, and gives the path of the file of its annotation.
func (v *voc) image(i int, folder, ending string) (*pil.Image, string, error) {
	if i < 0 || i >= len(v.ids) {
		return nil, "", outOfRange(i, len(v.ids))
	}
	im, err := loadRGB(filepath.Join(v.base, "JPEGImages", v.ids[i]+".jpg"))
	return im, filepath.Join(v.base, folder, v.ids[i]+ending), err
}

// VOCDetection is Pascal VOC with the boxes of objects.
type VOCDetection struct{ voc }

// VOCDetected is an image and what is in it.
type VOCDetected struct {
	Image      *pil.Image
	Annotation *VOCAnnotation
}

// NewVOCDetection reads Pascal VOC below root: a year from 2007 to 2012 and the split train, trainval or val, of 2007
// also test.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.VOCDetection.html
func NewVOCDetection(root, year, split string) (*VOCDetection, error) {
	v, err := newVOC(root, year, split, "Main")
	if err != nil {
		return nil, err
	}
	return &VOCDetection{v}, nil
}

// Get reads image i.
func (d *VOCDetection) Get(i int) (VOCDetected, error) {
	im, path, err := d.image(i, "Annotations", ".xml")
	if err != nil {
		return VOCDetected{}, err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return VOCDetected{}, err
	}
	a, err := ParseVOC(b)
	if err != nil {
		return VOCDetected{}, fmt.Errorf("%s: %w", path, err)
	}
	return VOCDetected{im, a}, nil
}

// ParseVOC reads an annotation of Pascal VOC.
func ParseVOC(b []byte) (*VOCAnnotation, error) {
	a := &VOCAnnotation{}
	if err := xml.Unmarshal(b, a); err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	return a, nil
}

// VOCSegmentation is Pascal VOC with the class of each pixel.
type VOCSegmentation struct{ voc }

// VOCSegmented is an image and the classes of its pixels, "L": 0 for the background, 255 for what does not count.
type VOCSegmented struct{ Image, Classes *pil.Image }

// NewVOCSegmentation reads Pascal VOC below root, as NewVOCDetection does.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.VOCSegmentation.html
func NewVOCSegmentation(root, year, split string) (*VOCSegmentation, error) {
	v, err := newVOC(root, year, split, "Segmentation")
	if err != nil {
		return nil, err
	}
	return &VOCSegmentation{v}, nil
}

// Get reads image i.
func (d *VOCSegmentation) Get(i int) (VOCSegmented, error) {
	im, path, err := d.image(i, "SegmentationClass", ".png")
	if err != nil {
		return VOCSegmented{}, err
	}
	classes, err := indexed(path, im.Width, im.Height)
	if err != nil {
		return VOCSegmented{}, err
	}
	return VOCSegmented{im, classes}, nil
}

// indexed reads a PNG with a palette as the numbers of the colours.
func indexed(path string, width, height int) (*pil.Image, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c, err := png.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if c.Width != width || c.Height != height {
		return nil, fmt.Errorf("%s has %d x %d pixels, its image %d x %d", path, c.Width, c.Height, width, height)
	}
	x, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	out := pil.New("L", width, height)
	var pix []uint8
	stride := 0
	switch x := x.(type) {
	case *image.Paletted:
		pix, stride = x.Pix, x.Stride
	case *image.Gray:
		pix, stride = x.Pix, x.Stride
	default:
		return nil, fmt.Errorf("%s: a %T, want a PNG with a palette", path, x)
	}
	for y := range height {
		copy(out.Pix[y*width:][:width], pix[y*stride:])
	}
	return out, nil
}
