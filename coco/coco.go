package coco

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/coco/mask"
)

// COCO is a dataset with an index of its ids. It is safe for concurrent use as
// long as the dataset is not changed.
type COCO struct {
	Dataset *Dataset

	anns      map[int64]*Annotation
	cats      map[int64]*Category
	imgs      map[int64]*Image
	imgToAnns map[int64][]*Annotation
	results   bool // made by LoadRes: errors speak of results[i]
}

// Open reads the annotation file path.
func Open(path string) (*COCO, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("coco: Open: %w", err)
	}
	c, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// Read reads an annotation file from r to its end.
func Read(r io.Reader) (*COCO, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("coco: Read: %w", err)
	}
	return parse(b)
}

func parse(b []byte) (*COCO, error) {
	ds, err := parseDataset(b)
	if err != nil {
		return nil, err
	}
	return New(ds)
}

// New indexes a dataset that was made in memory. It fails where an id is given
// twice, a Bbox does not hold 4 numbers, or Keypoints are not triples.
func New(ds *Dataset) (*COCO, error) {
	c := &COCO{Dataset: ds}
	return c, c.index()
}

func (c *COCO) index() error {
	ds := c.Dataset
	list := "annotations"
	if c.results {
		list = "results"
	}
	c.imgs = make(map[int64]*Image, len(ds.Images))
	for i, m := range ds.Images {
		if m == nil {
			return inField("images", inEntry(i, problem("nil")))
		}
		if c.imgs[m.ID] != nil {
			return inField("images", inEntry(i, inField("id", problem("%d is the id of an earlier image", m.ID))))
		}
		c.imgs[m.ID] = m
	}
	c.cats = make(map[int64]*Category, len(ds.Categories))
	for i, k := range ds.Categories {
		if k == nil {
			return inField("categories", inEntry(i, problem("nil")))
		}
		if c.cats[k.ID] != nil {
			return inField("categories",
				inEntry(i, inField("id", problem("%d is the id of an earlier category", k.ID))))
		}
		c.cats[k.ID] = k
	}
	c.anns = make(map[int64]*Annotation, len(ds.Annotations))
	c.imgToAnns = make(map[int64][]*Annotation, len(ds.Images))
	for i, a := range ds.Annotations {
		err := a.check()
		if err == nil && c.anns[a.ID] != nil {
			err = inField("id", problem("%d is the id of an earlier annotation", a.ID))
		}
		if err != nil {
			return inField(list, inEntry(i, err))
		}
		c.anns[a.ID] = a
		c.imgToAnns[a.ImageID] = append(c.imgToAnns[a.ImageID], a)
	}
	return nil
}

// check says what is wrong with an annotation, whoever made it.
func (a *Annotation) check() error {
	if a == nil {
		return problem("nil")
	}
	if a.Bbox != nil && len(a.Bbox) != 4 {
		return inField("bbox", problem("want 4 numbers, got %d", len(a.Bbox)))
	}
	if len(a.Keypoints)%3 != 0 {
		return inField("keypoints", problem("want x, y, visibility for each keypoint, got %d numbers",
			len(a.Keypoints)))
	}
	return nil
}

// Info returns what the file says about itself, one "name: value" per line in
// the order of the COCO format, like pycocotools' info. Fields that the file
// leaves out are left out.
func (c *COCO) Info() string {
	i := c.Dataset.Info
	var s strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&s, "%s: %s\n", name, value)
		}
	}
	line("description", i.Description)
	line("url", i.URL)
	line("version", i.Version)
	if i.Year != 0 {
		line("year", fmt.Sprint(i.Year))
	}
	line("contributor", i.Contributor)
	line("date_created", i.DateCreated)
	return s.String()
}

// A Filter selects annotations, categories and images. An empty field does not
// restrict anything; the zero Filter selects everything.
type Filter struct {
	ImgIDs []int64 // only these images, or annotations of them
	CatIDs []int64 // only these categories, or annotations of them

	CatNames []string // only categories with these names
	SupNames []string // only categories with these supercategories

	// AreaRng selects annotations with AreaRng[0] < area < AreaRng[1];
	// {0, 0} does not restrict.
	AreaRng [2]float64
	// IsCrowd selects annotations by their crowd flag; nil does not restrict.
	IsCrowd *bool
}

// filterCats returns the category ids that f selects, and whether it restricts them at all.
func (c *COCO) filterCats(f *Filter) (map[int64]bool, bool) {
	if len(f.CatIDs) == 0 && len(f.CatNames) == 0 && len(f.SupNames) == 0 {
		return nil, false
	}
	set := map[int64]bool{}
	if len(f.CatNames) == 0 && len(f.SupNames) == 0 {
		// Ids of categories that the file does not describe are fine here.
		for _, id := range f.CatIDs {
			set[id] = true
		}
		return set, true
	}
	for _, k := range c.Dataset.Categories {
		if c.selects(f, k) {
			set[k.ID] = true
		}
	}
	return set, true
}

func (c *COCO) selects(f *Filter, k *Category) bool {
	return (len(f.CatIDs) == 0 || slices.Contains(f.CatIDs, k.ID)) &&
		(len(f.CatNames) == 0 || slices.Contains(f.CatNames, k.Name)) &&
		(len(f.SupNames) == 0 || slices.Contains(f.SupNames, k.Supercategory))
}

// AnnIDs returns the ids of the annotations that f selects, in the order of
// the file; with ImgIDs, image by image in the order of that list. It is
// pycocotools' getAnnIds, with CatNames and SupNames in addition.
func (c *COCO) AnnIDs(f Filter) []int64 {
	cats, byCat := c.filterCats(&f)
	ids := []int64{}
	take := func(a *Annotation) {
		if byCat && !cats[a.CategoryID] {
			return
		}
		if f.AreaRng != [2]float64{} && !(a.Area > f.AreaRng[0] && a.Area < f.AreaRng[1]) {
			return
		}
		if f.IsCrowd != nil && a.IsCrowd != *f.IsCrowd {
			return
		}
		ids = append(ids, a.ID)
	}
	if len(f.ImgIDs) == 0 {
		for _, a := range c.Dataset.Annotations {
			take(a)
		}
		return ids
	}
	for _, id := range f.ImgIDs {
		for _, a := range c.imgToAnns[id] {
			take(a)
		}
	}
	return ids
}

// CatIDs returns the ids of the categories that f selects by CatIDs, CatNames
// and SupNames, in the order of the file (pycocotools' getCatIds).
func (c *COCO) CatIDs(f Filter) []int64 {
	ids := []int64{}
	for _, k := range c.Dataset.Categories {
		if c.selects(&f, k) {
			ids = append(ids, k.ID)
		}
	}
	return ids
}

// ImgIDs returns the ids of the images that f selects, ascending (pycocotools'
// getImgIds). Several categories, by CatIDs or names, select the images that
// show all of them.
func (c *COCO) ImgIDs(f Filter) []int64 {
	cats, byCat := c.filterCats(&f)
	ids := []int64{}
	keep := func(id int64) {
		if byCat {
			if len(cats) == 0 {
				return
			}
			shown := map[int64]bool{}
			for _, a := range c.imgToAnns[id] {
				if cats[a.CategoryID] {
					shown[a.CategoryID] = true
				}
			}
			if len(shown) < len(cats) {
				return
			}
		}
		ids = append(ids, id)
	}
	if len(f.ImgIDs) > 0 {
		for _, id := range f.ImgIDs {
			keep(id)
		}
	} else {
		for _, m := range c.Dataset.Images {
			keep(m.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func load[T any](what string, from map[int64]*T, ids []int64) ([]*T, error) {
	out := make([]*T, len(ids))
	for i, id := range ids {
		v := from[id]
		if v == nil {
			return nil, fmt.Errorf("coco: no %s has the id %d", what, id)
		}
		out[i] = v
	}
	return out, nil
}

// LoadAnns returns the annotations with the given ids. An id of no annotation
// is an error. The annotations are the dataset's own, not copies.
func (c *COCO) LoadAnns(ids ...int64) ([]*Annotation, error) {
	return load("annotation", c.anns, ids)
}

// LoadCats returns the categories with the given ids.
func (c *COCO) LoadCats(ids ...int64) ([]*Category, error) { return load("category", c.cats, ids) }

// LoadImgs returns the images with the given ids.
func (c *COCO) LoadImgs(ids ...int64) ([]*Image, error) { return load("image", c.imgs, ids) }

// place names an annotation in error texts.
func (c *COCO) place(a *Annotation, err error) error {
	list := "annotations"
	if c.results {
		list = "results"
	}
	if i := slices.Index(c.Dataset.Annotations, a); i >= 0 {
		return inField(list, inEntry(i, err))
	}
	return inField(fmt.Sprintf("annotation %d", a.ID), err)
}

// AnnToRLE returns the shape of an annotation as a mask of its image's size.
// Polygons are filled and united; a detection that has only a box is the
// filled box. It fails if the annotation has no shape, or its image is unknown
// or has no size.
func (c *COCO) AnnToRLE(a *Annotation) (mask.RLE, error) {
	r, err := c.annToRLE(a)
	if err != nil {
		return mask.RLE{}, c.place(a, err)
	}
	return r, nil
}

func (c *COCO) annToRLE(a *Annotation) (mask.RLE, error) {
	if s := a.Segmentation; s != nil && s.RLE != nil {
		if err := s.RLE.Validate(); err != nil {
			return mask.RLE{}, inField("segmentation", problem("%v", err))
		}
		return *s.RLE, nil
	}
	m := c.imgs[a.ImageID]
	if m == nil {
		return mask.RLE{}, inField("image_id", problem("no image has the id %d", a.ImageID))
	}
	if m.Width <= 0 || m.Height <= 0 {
		return mask.RLE{}, inField("image_id", problem("image %d has no width and height", a.ImageID))
	}
	var rles []mask.RLE
	var err error
	switch {
	case a.Segmentation != nil && len(a.Segmentation.Polygons) > 0:
		rles, err = mask.FromPolygons(a.Segmentation.Polygons, m.Height, m.Width)
	case a.isBox && a.Bbox != nil:
		rles, err = mask.FromBoxes([][4]float64{[4]float64(a.Bbox)}, m.Height, m.Width)
	case a.Segmentation != nil:
		return mask.RLE{}, inField("segmentation", problem("empty"))
	default:
		return mask.RLE{}, inField("segmentation", problem("missing"))
	}
	if err != nil {
		return mask.RLE{}, inField("segmentation", problem("%v", err))
	}
	if len(rles) == 1 {
		return rles[0], nil
	}
	r, err := mask.Merge(rles, false)
	if err != nil {
		return mask.RLE{}, inField("segmentation", problem("%v", err))
	}
	return r, nil
}

// AnnToMask returns the pixels of an annotation's shape; see [COCO.AnnToRLE].
func (c *COCO) AnnToMask(a *Annotation) (*mask.Mask, error) {
	r, err := c.AnnToRLE(a)
	if err != nil {
		return nil, err
	}
	return mask.Decode(r)
}

// EncodeMask run-length encodes a mask given as rows of pixels, all of one
// length; a pixel belongs to the object when it is not 0. For pixels in one
// slice use [mask.Encode].
func EncodeMask(rows [][]uint8) (mask.RLE, error) {
	m := &mask.Mask{H: len(rows)}
	if len(rows) > 0 {
		m.W = len(rows[0])
	}
	for y, row := range rows {
		if len(row) != m.W {
			return mask.RLE{}, fmt.Errorf("coco: EncodeMask: row %d has %d pixels, row 0 has %d", y, len(row), m.W)
		}
		m.Pix = append(m.Pix, row...)
	}
	return mask.Encode(m)
}

// DecodeMask returns the rows of pixels, 0 and 1, of a mask.
func DecodeMask(r mask.RLE) ([][]uint8, error) {
	m, err := mask.Decode(r)
	if err != nil {
		return nil, err
	}
	rows := make([][]uint8, m.H)
	for y := range rows {
		rows[y] = m.Pix[y*m.W : (y+1)*m.W : (y+1)*m.W]
	}
	return rows, nil
}
