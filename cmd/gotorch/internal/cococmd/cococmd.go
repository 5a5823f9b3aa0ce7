// Package cococmd is the coco command of gotorch: evaluation of detections and
// pictures of annotations.
package cococmd

import (
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch/coco"
	"github.com/gotorch-dev/torch/internal/atomicfile"
)

// Command returns "gotorch coco".
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "coco",
		Short: "Evaluate detections and draw annotations in COCO's format",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(evalCommand(), showCommand())
	return cmd
}

type evalFlags struct {
	gt, dt, kind string
	json         bool
	maxDets      []int
	noCats       bool
	imgIDs       []int64
	catIDs       []int64
	hideTable    bool
	workers      int
}

func evalCommand() *cobra.Command {
	var f evalFlags
	cmd := &cobra.Command{
		Use:   "eval --gt FILE --dt FILE",
		Short: "Compare a results file with an annotation file",
		Long: `Compares detections with the truth and prints the numbers of the COCO
benchmark: twelve for boxes and masks, ten for keypoints, and a table with one
line for each category. -1 stands for what cannot be said, because there is no
such object.`,
		Example: `  gotorch coco eval --gt instances_val2017.json --dt results.json
  gotorch coco eval --gt gt.json --dt masks.json --type segm --max-dets 1,10,300 --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.OutOrStdout(), cmd.Flags().Changed("max-dets"))
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.gt, "gt", "", "annotation file with the truth")
	fl.StringVar(&f.dt, "dt", "", "results file with the detections")
	fl.StringVar(&f.kind, "type", "bbox", "what is compared: bbox, segm or keypoints")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	fl.IntSliceVar(&f.maxDets, "max-dets", nil,
		"detections considered per image: three numbers, one for keypoints; AP is that of the largest (default "+
			"1,10,100 or 20)")
	fl.BoolVar(&f.noCats, "no-cats", false, "compare regardless of categories")
	fl.Int64SliceVar(&f.imgIDs, "img-ids", nil, "only these images")
	fl.Int64SliceVar(&f.catIDs, "cat-ids", nil, "only these categories")
	fl.BoolVar(&f.hideTable, "no-table", false, "leave out the table of categories")
	fl.IntVar(&f.workers, "workers", 0, "goroutines; 0 is one per processor")
	_ = cmd.MarkFlagRequired("gt")
	_ = cmd.MarkFlagRequired("dt")
	return cmd
}

func (f *evalFlags) run(w io.Writer, limits bool) error {
	kind := coco.IoUType(f.kind)
	wantDets := 3
	switch kind {
	case coco.BboxIoU, coco.SegmIoU:
	case coco.KeypointsOKS:
		wantDets = 1
	default:
		return fmt.Errorf("--type %q: want bbox, segm or keypoints", f.kind)
	}
	if limits && len(f.maxDets) != wantDets {
		return fmt.Errorf("--max-dets: want %d numbers for %s, got %v", wantDets, f.kind, f.maxDets)
	}
	for _, n := range f.maxDets {
		if n < 1 {
			return fmt.Errorf("--max-dets: want numbers from 1, got %v", f.maxDets)
		}
	}
	gt, err := coco.Open(f.gt)
	if err != nil {
		return err
	}
	dt, err := gt.LoadRes(f.dt)
	if err != nil {
		return err
	}
	e := coco.NewEval(gt, dt, kind)
	e.Workers = f.workers
	e.Params.UseCats = !f.noCats
	if limits {
		e.Params.MaxDets = f.maxDets
		// Otherwise the first number would ask for 100, and be -1 without it.
		e.Params.APMaxDets = slices.Max(f.maxDets)
	}
	if f.imgIDs != nil {
		if _, err := gt.LoadImgs(f.imgIDs...); err != nil {
			return err
		}
		e.Params.ImgIDs = f.imgIDs
	}
	if f.catIDs != nil {
		if _, err := gt.LoadCats(f.catIDs...); err != nil {
			return err
		}
		e.Params.CatIDs = f.catIDs
	}
	if err := e.Run(); err != nil {
		return err
	}
	if f.json {
		return writeJSON(w, e)
	}
	if _, err := io.WriteString(w, e.String()); err != nil {
		return err
	}
	if f.hideTable {
		return nil
	}
	table, err := e.Table()
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, "\n"+table)
	return err
}

// writeJSON writes one object: the type, the numbers in order and by name, and
// the categories.
func writeJSON(w io.Writer, e *coco.Eval) error {
	type category struct {
		ID         int64              `json:"id"`
		Name       string             `json:"name"`
		Objects    int                `json:"objects"`
		Detections int                `json:"detections"`
		Metrics    map[string]float64 `json:"metrics"`
	}
	byName := func(ms []coco.Metric) map[string]float64 {
		out := map[string]float64{}
		for _, m := range ms {
			out[m.Name] = m.Value
		}
		return out
	}
	ms, err := e.Metrics()
	if err != nil {
		return err
	}
	cats, err := e.PerCategory()
	if err != nil {
		return err
	}
	out := struct {
		Type       coco.IoUType       `json:"type"`
		Stats      []float64          `json:"stats"`
		Metrics    map[string]float64 `json:"metrics"`
		MaxDets    []int              `json:"max_dets"`
		Categories []category         `json:"categories"`
	}{e.Params.Type, e.Stats, byName(ms), e.Params.MaxDets, []category{}}
	for _, c := range cats {
		out.Categories = append(out.Categories, category{c.ID, c.Name, c.Objects, c.Detections, byName(c.Metrics)})
	}
	return json.NewEncoder(w).Encode(out)
}

type showFlags struct {
	gt, dt, images, out string
	id                  int64
	minScore            float64
	opts                coco.DrawOptions
}

func showCommand() *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use:   "show --gt FILE --image-id ID",
		Short: "Draw the annotations of an image",
		Long: `Draws boxes, masks, skeletons and names of an image's annotations into a PNG
file. Without --images the ground is grey; with --dt the detections of a results
file are drawn instead of the truth.`,
		Example: `  gotorch coco show --gt instances_val2017.json --image-id 139 --images val2017 --out 139.png`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			n, err := f.run()
			if err == nil {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %d annotations\n", f.out, n)
			}
			return err
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.gt, "gt", "", "annotation file")
	fl.Int64Var(&f.id, "image-id", 0, "id of the image")
	fl.StringVar(&f.images, "images", "", "folder of the images")
	fl.StringVar(&f.out, "out", "out.png", "PNG file to write")
	fl.StringVar(&f.dt, "dt", "", "draw the detections of this results file")
	fl.Float64Var(&f.minScore, "min-score", 0, "with --dt, leave out detections below this score")
	fl.BoolVar(&f.opts.NoBoxes, "no-boxes", false, "leave out boxes")
	fl.BoolVar(&f.opts.NoMasks, "no-masks", false, "leave out polygons and masks")
	fl.BoolVar(&f.opts.NoNames, "no-names", false, "leave out names and scores")
	_ = cmd.MarkFlagRequired("gt")
	_ = cmd.MarkFlagRequired("image-id")
	return cmd
}

// maxCanvas bounds the grey ground, whose size the annotation file claims.
const maxCanvas = 1 << 26

func (f *showFlags) run() (int, error) {
	gt, err := coco.Open(f.gt)
	if err != nil {
		return 0, err
	}
	imgs, err := gt.LoadImgs(f.id)
	if err != nil {
		return 0, err
	}
	m := imgs[0]
	from := gt
	if f.dt != "" {
		if from, err = gt.LoadRes(f.dt); err != nil {
			return 0, err
		}
	}
	anns, err := from.LoadAnns(from.AnnIDs(coco.Filter{ImgIDs: []int64{f.id}})...)
	if err != nil {
		return 0, err
	}
	if f.dt != "" {
		anns = slices.DeleteFunc(anns, func(a *coco.Annotation) bool { return a.Score < f.minScore })
	}
	var img image.Image
	if f.images != "" {
		if img, err = coco.ReadImage(f.images, m); err != nil {
			return 0, err
		}
	} else {
		if m.Width <= 0 || m.Height <= 0 || m.Width > maxCanvas/m.Height {
			return 0, fmt.Errorf("image %d is %d x %d pixels: want --images with the image itself", f.id, m.Height,
				m.Width)
		}
		grey := image.NewRGBA(image.Rect(0, 0, m.Width, m.Height))
		draw.Draw(grey, grey.Bounds(), image.NewUniform(color.Gray{225}), image.Point{}, draw.Src)
		img = grey
	}
	pic, err := gt.ShowAnns(img, anns, f.opts)
	if err != nil {
		return 0, err
	}
	return len(anns), atomicfile.Write(f.out, func(w io.Writer) error { return png.Encode(w, pic) })
}
