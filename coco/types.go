package coco

import (
	"encoding/json"

	"github.com/gotorch-dev/torch/coco/mask"
)

// Dataset is the content of a COCO annotation file.
type Dataset struct {
	Info        Info          `json:"info"`
	Licenses    []*License    `json:"licenses,omitempty"`
	Images      []*Image      `json:"images"`
	Annotations []*Annotation `json:"annotations"`
	Categories  []*Category   `json:"categories,omitempty"`
}

// Info describes a dataset.
type Info struct {
	Description string `json:"description,omitempty"`
	URL         string `json:"url,omitempty"`
	Version     string `json:"version,omitempty"`
	Year        int    `json:"year,omitempty"`
	Contributor string `json:"contributor,omitempty"`
	DateCreated string `json:"date_created,omitempty"`
}

// License is a licence that images refer to.
type License struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	URL  string `json:"url,omitempty"`
}

// Image describes one image; its pixels are in the file FileName.
type Image struct {
	ID           int64  `json:"id"`
	Width        int    `json:"width"`
	Height       int    `json:"height"`
	FileName     string `json:"file_name,omitempty"`
	License      int64  `json:"license,omitempty"`
	FlickrURL    string `json:"flickr_url,omitempty"`
	CocoURL      string `json:"coco_url,omitempty"`
	DateCaptured string `json:"date_captured,omitempty"`
}

// Category is a kind of object.
type Category struct {
	ID            int64  `json:"id"`
	Name          string `json:"name"`
	Supercategory string `json:"supercategory,omitempty"`
	// Keypoints names the keypoints of this category, in the order of
	// Annotation.Keypoints.
	Keypoints []string `json:"keypoints,omitempty"`
	// Skeleton lists pairs of keypoints that are joined by a line, counted from 1.
	Skeleton [][2]int `json:"skeleton,omitempty"`
}

// Annotation is one object, crowd region or caption of an image, or one
// detection (then Score says how sure it is).
type Annotation struct {
	ID         int64 `json:"id,omitempty"`
	ImageID    int64 `json:"image_id"`
	CategoryID int64 `json:"category_id,omitempty"`
	// Bbox is x, y, width, height in pixels; nil where there is none.
	Bbox []float64 `json:"bbox,omitempty"`
	// Segmentation is the shape of the object.
	Segmentation *Segmentation `json:"segmentation,omitempty"`
	Area         float64       `json:"area,omitempty"`
	IsCrowd      bool          `json:"-"`
	// Keypoints holds x, y, visibility for each keypoint; visibility is 0 for
	// absent, 1 for hidden, 2 for visible.
	Keypoints    []float64 `json:"keypoints,omitempty"`
	NumKeypoints int       `json:"num_keypoints,omitempty"`
	Caption      string    `json:"caption,omitempty"`
	Score        float64   `json:"score,omitempty"`

	absent field // fields that the file did not have
	isBox  bool  // a detection whose shape is its box
}

// field is a set of fields.
type field uint16

const (
	hasID field = 1 << iota
	hasImageID
	hasCategoryID
	hasArea
	hasNumKeypoints
	hasScore
	hasCaption
)

// MarshalJSON writes the annotation as COCO files have it. Numbers that the
// file which it was read from did not have are left out; the score of an
// annotation made in memory is left out when it is 0 ([WriteResults] always
// writes it).
func (a Annotation) MarshalJSON() ([]byte, error) {
	type plain Annotation
	out := struct {
		*plain
		ID           *int64   `json:"id,omitempty"`
		CategoryID   *int64   `json:"category_id,omitempty"`
		Area         *float64 `json:"area,omitempty"`
		IsCrowd      *int     `json:"iscrowd,omitempty"`
		NumKeypoints *int     `json:"num_keypoints,omitempty"`
		Score        *float64 `json:"score,omitempty"`
	}{plain: (*plain)(&a)}
	// 0 is a number like any other, and an id too: pointers, so that it is
	// written where it was given.
	has := func(f field) bool { return a.absent&f == 0 }
	if has(hasID) {
		out.ID = &a.ID
	}
	if has(hasScore) && (a.absent != 0 || a.Score != 0) {
		out.Score = &a.Score
	}
	if a.Caption == "" {
		crowd := 0
		if a.IsCrowd {
			crowd = 1
		}
		out.IsCrowd = &crowd
		if has(hasCategoryID) {
			out.CategoryID = &a.CategoryID
		}
		if has(hasArea) {
			out.Area = &a.Area
		}
		if has(hasNumKeypoints) && a.Keypoints != nil {
			out.NumKeypoints = &a.NumKeypoints
		}
	}
	return json.Marshal(out)
}

// Segmentation is the shape of an object: either Polygons, or RLE.
type Segmentation struct {
	// Polygons outlines the parts of the object, each as x0, y0, x1, y1 …
	Polygons [][]float64
	// RLE is the mask of the whole image, used for crowds and detections.
	RLE *mask.RLE
}

// MarshalJSON writes the polygons or the RLE.
func (s Segmentation) MarshalJSON() ([]byte, error) {
	if s.RLE != nil {
		return json.Marshal(s.RLE)
	}
	if s.Polygons == nil {
		return []byte("[]"), nil
	}
	return json.Marshal(s.Polygons)
}
