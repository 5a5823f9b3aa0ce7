package coco

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
)

// LoadRes reads a results file and returns it as a COCO of its own, on the
// images and categories of c. A results file is a list of objects with
// image_id and, by kind:
//
//   - boxes: category_id, bbox, score
//   - segments: category_id, segmentation (RLE, or polygons), score
//   - keypoints: category_id, keypoints, score
//   - captions: caption
//
// The first entry decides the kind. Ids are given anew, from 1. The area is
// the box's for boxes, the mask's for segments (a missing bbox is the mask's),
// and that of the box around all keypoints for keypoints. Entries for images
// that c does not have are an error.
func (c *COCO) LoadRes(path string) (*COCO, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("coco: LoadRes: %w", err)
	}
	r, err := c.loadRes(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// LoadResReader is [COCO.LoadRes] for a file read from r to its end.
func (c *COCO) LoadResReader(r io.Reader) (*COCO, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("coco: LoadResReader: %w", err)
	}
	return c.loadRes(b)
}

func (c *COCO) loadRes(b []byte) (*COCO, error) {
	anns, err := parseResults(b)
	if err != nil {
		if e, ok := err.(*FieldError); ok && e.Field != "" {
			err = inField("results", err)
		}
		return nil, err
	}
	return c.finishRes(anns)
}

// LoadResAnns is [COCO.LoadRes] for results in memory. The list is copied, so
// the caller's annotations keep their ids and areas.
func (c *COCO) LoadResAnns(anns []*Annotation) (*COCO, error) {
	own := make([]Annotation, len(anns))
	list := make([]*Annotation, len(anns))
	for i, a := range anns {
		if a == nil {
			return nil, inField("results", inEntry(i, problem("nil")))
		}
		own[i] = *a
		list[i] = &own[i]
	}
	return c.finishRes(list)
}

// finishRes fills in what results leave out.
func (c *COCO) finishRes(anns []*Annotation) (*COCO, error) {
	res := &COCO{results: true, Dataset: &Dataset{
		Info: c.Dataset.Info, Images: c.Dataset.Images, Categories: c.Dataset.Categories, Annotations: anns,
	}}
	if len(anns) > 0 {
		kind := kindOf(anns[0])
		if kind == 0 {
			return nil, inField("results", inEntry(0, problem("neither bbox, segmentation, keypoints nor caption")))
		}
		shown := map[int64]bool{}
		for i, a := range anns {
			err := a.check()
			if err == nil && c.imgs[a.ImageID] == nil {
				err = inField("image_id", problem("the annotation file has no image %d", a.ImageID))
			}
			if err == nil {
				err = c.finish(a, kind)
			}
			if err != nil {
				return nil, inField("results", inEntry(i, err))
			}
			a.ID = int64(i) + 1
			a.absent &^= hasID
			shown[a.ImageID] = true
		}
		if kind == kindCaption {
			// Captions are given for part of the images; only those remain.
			res.Dataset.Images, res.Dataset.Categories = nil, nil
			for _, m := range c.Dataset.Images {
				if shown[m.ID] {
					res.Dataset.Images = append(res.Dataset.Images, m)
				}
			}
		}
	}
	return res, res.index()
}

const (
	kindCaption = 1 + iota
	kindBox
	kindSegm
	kindKeypoints
)

func kindOf(a *Annotation) int {
	switch {
	case a.Caption != "":
		return kindCaption
	case a.Bbox != nil:
		return kindBox
	case a.Segmentation != nil:
		return kindSegm
	case a.Keypoints != nil:
		return kindKeypoints
	}
	return 0
}

func (c *COCO) finish(a *Annotation, kind int) error {
	switch kind {
	case kindCaption:
		if a.Caption == "" {
			return inField("caption", problem("missing"))
		}
		return nil
	case kindBox:
		if a.Bbox == nil {
			return inField("bbox", problem("missing"))
		}
		a.Area = a.Bbox[2] * a.Bbox[3]
		a.isBox = a.Segmentation == nil
	case kindSegm:
		if a.Segmentation == nil {
			return inField("segmentation", problem("missing"))
		}
		r, err := c.annToRLE(a)
		if err != nil {
			return err
		}
		// Polygons stay polygons: their masks can be far larger than the file.
		a.Area = float64(r.Area())
		if a.Bbox == nil {
			b := r.ToBbox()
			a.Bbox = b[:]
		}
	case kindKeypoints:
		if len(a.Keypoints) == 0 {
			return inField("keypoints", problem("missing"))
		}
		x0, y0, x1, y1 := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
		for i := 0; i < len(a.Keypoints); i += 3 {
			x0, x1 = min(x0, a.Keypoints[i]), max(x1, a.Keypoints[i])
			y0, y1 = min(y0, a.Keypoints[i+1]), max(y1, a.Keypoints[i+1])
		}
		a.Area = (x1 - x0) * (y1 - y0)
		a.Bbox = []float64{x0, y0, x1 - x0, y1 - y0}
	}
	a.absent &^= hasArea
	a.IsCrowd = false
	return a.need(hasCategoryID)
}

// AnnsFromRows makes detections of rows image id, x, y, width, height, score,
// category id: the array form that pycocotools' loadRes accepts. Pass them to
// [COCO.LoadResAnns].
func AnnsFromRows(rows [][7]float64) []*Annotation {
	out := make([]*Annotation, len(rows))
	for i, r := range rows {
		out[i] = &Annotation{
			ImageID: int64(r[0]), Bbox: []float64{r[1], r[2], r[3], r[4]},
			Score: r[5], CategoryID: int64(r[6]),
		}
	}
	return out
}

// WriteResults writes detections as a results file, the form that
// [COCO.LoadRes] and pycocotools read: of each annotation its image and
// category, its box, segmentation, keypoints or caption, and its score.
func WriteResults(w io.Writer, anns []*Annotation) error {
	type result struct {
		ImageID      int64     `json:"image_id"`
		CategoryID   *int64    `json:"category_id,omitempty"`
		Bbox         []float64 `json:"bbox,omitempty"`
		Segmentation any       `json:"segmentation,omitempty"`
		Keypoints    []float64 `json:"keypoints,omitempty"`
		Caption      string    `json:"caption,omitempty"`
		Score        *float64  `json:"score,omitempty"`
	}
	out := make([]result, len(anns))
	for i, a := range anns {
		if a == nil {
			return inField("results", inEntry(i, problem("nil")))
		}
		out[i] = result{ImageID: a.ImageID, Bbox: a.Bbox, Keypoints: a.Keypoints, Caption: a.Caption}
		if a.Segmentation != nil {
			out[i].Segmentation = a.Segmentation
		}
		if a.Caption == "" {
			out[i].CategoryID, out[i].Score = &a.CategoryID, &a.Score
		}
	}
	if err := json.NewEncoder(w).Encode(out); err != nil {
		return fmt.Errorf("coco: WriteResults: %w", err)
	}
	return nil
}
