package coco

import (
	"github.com/gotorch-dev/torch/coco/mask"
)

// parseDataset reads an annotation file.
func parseDataset(b []byte) (*Dataset, error) {
	d := &decoder{b: b}
	ds := &Dataset{}
	seen := false
	var slab annSlab
	err := d.object(func(key string) (err error) {
		switch key {
		case "info":
			if d.null() {
				return nil
			}
			return d.info(&ds.Info)
		case "licenses":
			if d.null() {
				return nil
			}
			ds.Licenses = nil
			return d.list("a list of licences", func(int) error {
				l := &License{}
				ds.Licenses = append(ds.Licenses, l)
				return d.license(l)
			})
		case "images":
			seen = true
			ds.Images = nil
			return d.list("a list of images", func(int) error {
				m := &Image{}
				ds.Images = append(ds.Images, m)
				return d.image(m)
			})
		case "annotations":
			seen = true
			ds.Annotations = nil
			return d.list("a list of annotations", func(int) error {
				a := slab.next()
				ds.Annotations = append(ds.Annotations, a)
				if err := d.annotation(a, &slab); err != nil {
					return err
				}
				return a.need(hasID | hasImageID)
			})
		case "categories":
			seen = true
			ds.Categories = nil
			return d.list("a list of categories", func(int) error {
				c := &Category{}
				ds.Categories = append(ds.Categories, c)
				return d.category(c)
			})
		}
		return d.skip()
	})
	if err == nil {
		err = d.end()
	}
	if err == nil && !seen {
		err = problem("no images, annotations or categories: not a COCO annotation file")
	}
	if err != nil {
		return nil, err
	}
	// Captions have no category; everything else in a file with categories
	// has one.
	if len(ds.Categories) > 0 {
		for i, a := range ds.Annotations {
			if a.absent&hasCaption != 0 {
				if err := a.need(hasCategoryID); err != nil {
					return nil, inField("annotations", inEntry(i, err))
				}
			}
		}
	}
	return ds, nil
}

// parseResults reads a results file: a list of annotations.
func parseResults(b []byte) ([]*Annotation, error) {
	d := &decoder{b: b}
	var anns []*Annotation
	var slab annSlab
	if d.peek() == '{' {
		return nil, problem("want a list of results, got an object (an annotation file is opened with Open)")
	}
	err := d.list("a list of results", func(int) error {
		a := slab.next()
		anns = append(anns, a)
		if err := d.annotation(a, &slab); err != nil {
			return err
		}
		return a.need(hasImageID)
	})
	if err == nil {
		err = d.end()
	}
	return anns, err
}

func (d *decoder) end() error {
	if d.peek() != 0 || d.i < len(d.b) {
		return d.syntax("the end of the file")
	}
	return nil
}

// annSlab hands out annotations and short lists of numbers from larger pieces
// of memory: a results file has hundreds of thousands of them.
type annSlab struct {
	anns []Annotation
	nums []float64
}

func (s *annSlab) next() *Annotation {
	if len(s.anns) == 0 {
		s.anns = make([]Annotation, 64)
	}
	a := &s.anns[0]
	s.anns = s.anns[1:]
	a.absent = ^field(0)
	return a
}

// keep stores a copy of v.
func (s *annSlab) keep(v []float64) []float64 {
	if len(v) > 256 {
		return append([]float64(nil), v...)
	}
	if cap(s.nums)-len(s.nums) < len(v) {
		s.nums = make([]float64, 0, 512)
	}
	n := len(s.nums)
	s.nums = append(s.nums, v...)
	return s.nums[n:len(s.nums):len(s.nums)]
}

var fieldNames = []struct {
	f    field
	name string
}{
	{hasID, "id"}, {hasImageID, "image_id"}, {hasCategoryID, "category_id"}, {hasArea, "area"},
	{hasNumKeypoints, "num_keypoints"}, {hasScore, "score"}, {hasCaption, "caption"},
}

// need reports the first field of set that the file did not have.
func (a *Annotation) need(set field) error {
	for _, n := range fieldNames {
		if a.absent&set&n.f != 0 {
			return inField(n.name, problem("missing"))
		}
	}
	return nil
}

func (d *decoder) annotation(a *Annotation, slab *annSlab) error {
	var buf [64]float64
	return d.object(func(key string) (err error) {
		var have field
		if d.null() {
			return nil
		}
		switch key {
		case "id":
			a.ID, err = d.integer()
			have = hasID
		case "image_id":
			a.ImageID, err = d.integer()
			have = hasImageID
		case "category_id":
			a.CategoryID, err = d.integer()
			have = hasCategoryID
		case "bbox":
			v, err := d.floats(buf[:0])
			if err != nil {
				return err
			}
			if len(v) != 4 && len(v) != 0 {
				return problem("want 4 numbers, got %d", len(v))
			}
			// Some result files have an empty list for "no box".
			a.Bbox = nil
			if len(v) == 4 {
				a.Bbox = slab.keep(v)
			}
		case "segmentation":
			a.Segmentation, err = d.segmentation(slab)
		case "area":
			a.Area, err = d.float()
			have = hasArea
		case "iscrowd":
			a.IsCrowd, err = d.flag()
		case "keypoints":
			v, err := d.floats(buf[:0])
			if err != nil {
				return err
			}
			if len(v)%3 != 0 {
				return problem("want x, y, visibility for each keypoint, got %d numbers", len(v))
			}
			a.Keypoints = slab.keep(v)
		case "num_keypoints":
			var n int64
			n, err = d.integer()
			a.NumKeypoints = int(n)
			have = hasNumKeypoints
		case "caption":
			a.Caption, err = d.str()
			have = hasCaption
		case "score":
			a.Score, err = d.float()
			have = hasScore
		default:
			return d.skip()
		}
		a.absent &^= have
		return err
	})
}

func (d *decoder) segmentation(slab *annSlab) (*Segmentation, error) {
	if d.peek() == '{' {
		r, err := d.rle()
		if err != nil {
			return nil, err
		}
		return &Segmentation{RLE: r}, nil
	}
	s := &Segmentation{}
	var buf []float64
	err := d.list("polygons or an RLE object", func(int) error {
		if d.peek() != '[' {
			return d.want("a polygon (a list of numbers)")
		}
		v, err := d.floats(buf[:0])
		if err != nil {
			return err
		}
		buf = v
		if len(v)%2 != 0 || len(v) < 4 {
			return problem("want an even number of coordinates, at least 4, got %d", len(v))
		}
		s.Polygons = append(s.Polygons, slab.keep(v))
		return nil
	})
	return s, err
}

// rle reads {"size": [h, w], "counts": text or list}.
func (d *decoder) rle() (*mask.RLE, error) {
	var size []int64
	var text string
	var list []int
	form := 0 // 1: text, 2: list
	err := d.object(func(key string) (err error) {
		switch key {
		case "size":
			size = size[:0]
			err := d.list("2 numbers (height, width)", func(i int) error {
				v, err := d.integer()
				if len(size) < 3 {
					size = append(size, v)
				}
				return err
			})
			if err == nil && len(size) != 2 {
				err = problem("want 2 numbers (height, width), got %d", len(size))
			}
			return err
		case "counts":
			switch d.peek() {
			case '"':
				form = 1
				text, err = d.str()
				return err
			case '[':
				form = 2
				list = list[:0]
				return d.list("a list", func(int) error {
					v, err := d.integer()
					if err == nil && (v < 0 || v > mask.MaxPixels) {
						err = problem("a run cannot have the length %d", v)
					}
					list = append(list, int(v))
					return err
				})
			}
			return d.want("a string or a list of numbers")
		}
		return d.skip()
	})
	if err != nil {
		return nil, err
	}
	if size == nil {
		return nil, inField("size", problem("missing"))
	}
	for _, v := range size {
		// Checked before the conversion to int, which may be 32 bits wide.
		if v < 0 || v > mask.MaxPixels {
			return nil, inField("size", problem("%d x %d is over the limit of %d pixels", size[0], size[1],
				mask.MaxPixels))
		}
	}
	var r mask.RLE
	switch form {
	case 0:
		return nil, inField("counts", problem("missing"))
	case 1:
		r, err = mask.Parse(int(size[0]), int(size[1]), text)
	default:
		r, err = mask.FromCounts(int(size[0]), int(size[1]), list)
	}
	if err != nil {
		return nil, problem("%v", err)
	}
	return &r, nil
}

func (d *decoder) image(m *Image) error {
	var got [3]bool
	err := d.object(func(key string) (err error) {
		if d.null() {
			return nil
		}
		switch key {
		case "id":
			m.ID, err = d.integer()
			got[0] = true
		case "width":
			m.Width, err = d.extent()
		case "height":
			m.Height, err = d.extent()
		case "file_name":
			m.FileName, err = d.str()
		case "license":
			// Some converters write a name here; only numbers refer to a licence.
			if c := d.peek(); c == '-' || c >= '0' && c <= '9' {
				m.License, err = d.integer()
			} else {
				err = d.skip()
			}
		case "flickr_url":
			m.FlickrURL, err = d.str()
		case "coco_url":
			m.CocoURL, err = d.str()
		case "date_captured":
			m.DateCaptured, err = d.text()
		default:
			return d.skip()
		}
		return err
	})
	if err == nil && !got[0] {
		err = inField("id", problem("missing"))
	}
	return err
}

// extent reads the width or height of an image.
func (d *decoder) extent() (int, error) {
	v, err := d.integer()
	if err == nil && (v < 0 || v > mask.MaxPixels) {
		err = problem("want a size in pixels, got %d", v)
	}
	return int(v), err
}

// text reads a string, or a number as its digits.
func (d *decoder) text() (string, error) {
	if c := d.peek(); c == '-' || c >= '0' && c <= '9' {
		t, err := d.numberText()
		return string(t), err
	}
	return d.str()
}

func (d *decoder) category(c *Category) error {
	id := false
	err := d.object(func(key string) (err error) {
		if d.null() {
			return nil
		}
		switch key {
		case "id":
			c.ID, err = d.integer()
			id = true
		case "name":
			c.Name, err = d.str()
		case "supercategory":
			c.Supercategory, err = d.str()
		case "keypoints":
			c.Keypoints = nil
			return d.list("a list of names", func(int) error {
				s, err := d.str()
				c.Keypoints = append(c.Keypoints, s)
				return err
			})
		case "skeleton":
			c.Skeleton = nil
			return d.list("a list of pairs", func(int) error {
				var p [2]int
				n := 0
				err := d.list("2 keypoint numbers", func(int) error {
					v, err := d.integer()
					if err == nil && (v < 1 || v > 1<<20) {
						err = problem("keypoints are counted from 1, got %d", v)
					}
					if n < 2 {
						p[n] = int(v)
					}
					n++
					return err
				})
				if err == nil && n != 2 {
					err = problem("want 2 keypoint numbers, got %d", n)
				}
				c.Skeleton = append(c.Skeleton, p)
				return err
			})
		default:
			return d.skip()
		}
		return err
	})
	if err == nil && !id {
		err = inField("id", problem("missing"))
	}
	return err
}

func (d *decoder) info(o *Info) error {
	return d.object(func(key string) (err error) {
		if d.null() {
			return nil
		}
		switch key {
		case "description":
			o.Description, err = d.text()
		case "url":
			o.URL, err = d.text()
		case "version":
			o.Version, err = d.text()
		case "year":
			// The year is often written as a string, or left empty.
			if c := d.peek(); c == '-' || c >= '0' && c <= '9' {
				var y int64
				y, err = d.integer()
				o.Year = int(y)
			} else {
				var s string
				s, err = d.str()
				o.Year = atoi(s)
			}
		case "contributor":
			o.Contributor, err = d.text()
		case "date_created":
			o.DateCreated, err = d.text()
		default:
			return d.skip()
		}
		return err
	})
}

// atoi returns the number that s consists of, 0 if it is none.
func atoi(s string) int {
	n := 0
	for _, c := range s {
		if c < '0' || c > '9' || n > 1e8 {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}

func (d *decoder) license(l *License) error {
	return d.object(func(key string) (err error) {
		if d.null() {
			return nil
		}
		switch key {
		case "id":
			l.ID, err = d.integer()
		case "name":
			l.Name, err = d.str()
		case "url":
			l.URL, err = d.str()
		default:
			return d.skip()
		}
		return err
	})
}
