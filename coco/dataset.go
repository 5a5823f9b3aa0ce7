package coco

import (
	"fmt"
	"image"
	_ "image/gif"  // decoders for the images of a dataset
	_ "image/jpeg" // COCO's own are JPEG
	_ "image/png"
	"io"
	"os"
	"path/filepath"

	"github.com/gotorch-dev/torch/coco/mask"
)

// Detection is one image with its annotations.
type Detection struct {
	Image image.Image
	Info  *Image // its entry in the annotation file
	Anns  []*Annotation
}

// CocoDetection is a dataset of images with their annotations, as torchvision's
// CocoDetection: item i is the image with the i-th smallest id. Images are read
// when they are asked for.
type CocoDetection struct {
	COCO *COCO
	Root string // folder of the images
	IDs  []int64
}

// NewCocoDetection opens the annotation file annFile for the images in root.
func NewCocoDetection(root, annFile string) (*CocoDetection, error) {
	c, err := Open(annFile)
	if err != nil {
		return nil, err
	}
	return &CocoDetection{COCO: c, Root: root, IDs: c.ImgIDs(Filter{})}, nil
}

// Len returns the number of images.
func (d *CocoDetection) Len() int { return len(d.IDs) }

// Get reads image i. It fails if i is not from 0 to Len()-1, or the image
// cannot be read.
func (d *CocoDetection) Get(i int) (Detection, error) {
	if i < 0 || i >= len(d.IDs) {
		return Detection{}, fmt.Errorf("coco: Get: item %d of %d", i, len(d.IDs))
	}
	m := d.COCO.imgs[d.IDs[i]]
	if m == nil {
		return Detection{}, fmt.Errorf("coco: Get: no image has the id %d", d.IDs[i])
	}
	img, err := ReadImage(d.Root, m)
	if err != nil {
		return Detection{}, err
	}
	anns, err := d.COCO.LoadAnns(d.COCO.AnnIDs(Filter{ImgIDs: []int64{m.ID}})...)
	return Detection{Image: img, Info: m, Anns: anns}, err
}

// Captioned is one image with its captions.
type Captioned struct {
	Image    image.Image
	Info     *Image // its entry in the annotation file
	Captions []string
}

// CocoCaptions is a dataset of images with captions, as torchvision's
// CocoCaptions.
type CocoCaptions struct{ d *CocoDetection }

// NewCocoCaptions opens the annotation file annFile, of captions, for the
// images in root.
func NewCocoCaptions(root, annFile string) (*CocoCaptions, error) {
	d, err := NewCocoDetection(root, annFile)
	if err != nil {
		return nil, err
	}
	return &CocoCaptions{d}, nil
}

// Len returns the number of images.
func (c *CocoCaptions) Len() int { return c.d.Len() }

// Get reads image i with its captions.
func (c *CocoCaptions) Get(i int) (Captioned, error) {
	d, err := c.d.Get(i)
	if err != nil {
		return Captioned{}, err
	}
	out := Captioned{Image: d.Image, Info: d.Info}
	for _, a := range d.Anns {
		out.Captions = append(out.Captions, a.Caption)
	}
	return out, nil
}

// ReadImage reads the file of an image (JPEG, PNG or GIF) in the folder root.
// A file name that leads out of root is an error, and so is an image of more
// than [mask.MaxPixels] pixels.
func ReadImage(root string, m *Image) (image.Image, error) {
	name := filepath.FromSlash(m.FileName)
	if m.FileName == "" {
		return nil, fmt.Errorf("coco: image %d has no file_name", m.ID)
	}
	if !filepath.IsLocal(name) {
		return nil, fmt.Errorf("coco: image %d: file_name %q leads out of the folder of images", m.ID, m.FileName)
	}
	f, err := os.Open(filepath.Join(root, name))
	if err != nil {
		return nil, fmt.Errorf("coco: image %d: %w", m.ID, err)
	}
	defer f.Close()
	// The size is known before the pixels are: a small file may claim any.
	cfg, _, err := image.DecodeConfig(f)
	if err == nil && (cfg.Width <= 0 || cfg.Height <= 0 || cfg.Width > mask.MaxPixels/cfg.Height) {
		err = fmt.Errorf("%d x %d pixels are over the limit of %d", cfg.Height, cfg.Width, mask.MaxPixels)
	}
	if err != nil {
		return nil, fmt.Errorf("coco: image %d: %s: %w", m.ID, m.FileName, err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("coco: image %d: %w", m.ID, err)
	}
	img, _, err := image.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("coco: image %d: %s: %w", m.ID, m.FileName, err)
	}
	return img, nil
}
