// Package visioncheck compares vision/ops and vision/transforms with recorded results of torchvision.
package visioncheck

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/pil"
	"github.com/gotorch-dev/torch/vision/transforms/functional"
	"github.com/gotorch-dev/torch/vision/tvtensors"
)

// record is one case.
type record struct {
	Seed   *int64
	Input  json.RawMessage
	Args   []json.RawMessage
	Kwargs json.RawMessage
	Out    json.RawMessage
	Grad   []json.RawMessage
}

// call is a case with its arguments: x is the input, args and kw as in Python.
type call struct {
	x    any
	args []any
	kw   map[string]any
}

// Run compares the cases of a directory; only matches names of operators.
func Run(dir string, only *regexp.Regexp, verbose func(string, ...any)) ([]golden.Result, error) {
	var f struct {
		Ops []struct {
			Op, File string
			Cases    []record
		}
	}
	if err := golden.ReadJSON(filepath.Join(dir, "index.json"), &f); err != nil {
		return nil, err
	}
	t := &golden.Tally{Verbose: verbose}
	for _, o := range f.Ops {
		path, err := golden.Path(dir, o.File)
		if err != nil {
			return nil, err
		}
		if only != nil && !only.MatchString(o.Op) {
			continue
		}
		dec, err := golden.NewDecoder(path)
		if err != nil {
			return nil, err
		}
		for i := range o.Cases {
			dec.Reset()
			t.Add(o.Op, strconv.Itoa(i), check(o.Op, dec, &o.Cases[i]))
		}
		dec.Close()
	}
	return t.Results(), nil
}

// check runs a case; a panic is its failure.
func check(op string, dec *golden.Decoder, r *record) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = golden.Recovered(p)
		}
	}()
	c := &call{}
	if c.x, err = decode(dec, r.Input); err != nil {
		return err
	}
	for _, a := range r.Args {
		v, err := decode(dec, a)
		if err != nil {
			return err
		}
		c.args = append(c.args, v)
	}
	if c.kw, err = dec.Kwargs(r.Kwargs); err != nil {
		return err
	}
	var leaves []*tensor.Tensor
	for _, v := range append(append([]any{c.x}, c.args...), c.kwargs()...) {
		if t, ok := v.(*tensor.Tensor); ok && dec.Info[t].RequiresGrad {
			t.SetRequiresGrad(true)
			leaves = append(leaves, t)
		}
	}
	if r.Seed != nil {
		torch.ManualSeed(*r.Seed)
	}
	got, err := c.run(op)
	if err != nil {
		return err
	}
	want, err := decode(dec, r.Out)
	if err != nil {
		return err
	}
	if err := same(op, got, want); err != nil {
		return err
	}
	if r.Grad == nil {
		return nil
	}
	y, ok := got.(*tensor.Tensor)
	if !ok {
		return fmt.Errorf("gradients of %T", got)
	}
	w := make([]float64, y.Numel())
	for i := range w {
		w[i] = (float64(i%7) - 3) / 3
	}
	y.Mul(tensor.FromSlice(w, y.Shape()...).To(y.DType())).Sum().Backward()
	for i, raw := range r.Grad {
		want, err := dec.Decode(raw)
		if err != nil {
			return err
		}
		if want == nil || i >= len(leaves) {
			continue
		}
		if msg := golden.Close(leaves[i].Grad(), want.(*tensor.Tensor),
			golden.Tolerance{RTol: 1e-4, ATol: 1e-5}); msg != "" {
			return fmt.Errorf("gradient %d: %s", i, msg)
		}
	}
	return nil
}

// kwargs are the keyword arguments in the order of their names.
func (c *call) kwargs() (out []any) {
	var names []string
	for n := range c.kw {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		out = append(out, c.kw[n])
	}
	return out
}

// decode reads a value; an array that says that it is a PIL image becomes one.
func decode(dec *golden.Decoder, raw json.RawMessage) (any, error) {
	var items struct {
		L, U []json.RawMessage
		PIL  string `json:"pil"`
	}
	if len(raw) > 0 && raw[0] == '{' {
		if err := json.Unmarshal(raw, &items); err != nil {
			items.L, items.U = nil, nil // a plain value
		}
	}
	if items.U != nil {
		var out golden.Tuple
		for _, e := range items.U {
			v, err := decode(dec, e)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	}
	v, err := dec.Decode(raw)
	if err != nil || items.PIL == "" {
		return v, err
	}
	t, ok := v.(*tensor.Tensor)
	if !ok {
		return nil, fmt.Errorf("a PIL image of type %T", v)
	}
	im := pil.New(items.PIL, t.Size(1), t.Size(0))
	copy(im.Pix, tensor.Data[uint8](tensor.Dense(t)))
	return im, nil
}

// loose are the operations whose bytes may differ by one, since PyTorch's own do between its vector code and plain
// code: the share of the pixels.
var loose = regexp.MustCompile(`^v2\.(resize|resized_crop|rotate|affine|perspective|elastic|adjust_sharpness|` +
	`adjust_hue|gaussian_blur|random\..*)$`)

// same compares a result.
func same(op string, got, want any) error {
	switch w := want.(type) {
	case golden.Tuple:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Errorf("%T, want %d results", got, len(w))
		}
		for i := range w {
			if err := same(op, g[i], w[i]); err != nil {
				return fmt.Errorf("result %d: %w", i, err)
			}
		}
		return nil
	case *pil.Image:
		g, ok := got.(*pil.Image)
		if !ok {
			return fmt.Errorf("%T, want a PIL image", got)
		}
		if g.Mode != w.Mode || g.Width != w.Width || g.Height != w.Height {
			return fmt.Errorf("image %s %dx%d, want %s %dx%d", g.Mode, g.Width, g.Height, w.Mode, w.Width, w.Height)
		}
		return bytesNear(g.Pix, w.Pix, 0, 0) // Pillow's arithmetic is the same everywhere
	case *tensor.Tensor:
		g, ok := got.(*tensor.Tensor)
		if !ok {
			return fmt.Errorf("%T, want a tensor", got)
		}
		if w.DType() == tensor.Uint8 && loose.MatchString(op) && g.DType() == w.DType() &&
			tensor.SameShape(g.Shape(), w.Shape()) {
			return bytesNear(tensor.Data[uint8](tensor.Dense(g)), tensor.Data[uint8](tensor.Dense(w)), 1, 0.02)
		}
		tol := golden.Tolerance{RTol: max(1e-5, golden.ToleranceOf(w.DType()).RTol), ATol: 1e-5}
		if msg := golden.Close(g, w, tol); msg != "" {
			return fmt.Errorf("%s", msg)
		}
		return nil
	}
	return fmt.Errorf("a recorded result of type %T", want)
}

// bytesNear compares bytes, of which a share may differ by so many levels.
func bytesNear(got, want []uint8, level int, share float64) error {
	n, at := 0, -1
	for i := range want {
		if d := int(got[i]) - int(want[i]); d != 0 {
			if n++; at < 0 || d > level || -d > level {
				at = i
			}
			if d > level || -d > level {
				break
			}
		}
	}
	if at >= 0 && (math.Abs(float64(got[at])-float64(want[at])) > float64(level) ||
		float64(n) > share*float64(len(want))) {
		return fmt.Errorf("byte %d is %d, want %d (%d of %d differ)", at, got[at], want[at], n, len(want))
	}
	return nil
}

// num is a number among the arguments: position i, or keyword name.
func (c *call) num(i int, name string, def float64) float64 {
	switch v := c.get(i, name).(type) {
	case int:
		return float64(v)
	case float64:
		return v
	}
	return def
}

func (c *call) get(i int, name string) any {
	if i >= 0 && i < len(c.args) {
		return c.args[i]
	}
	return c.kw[name]
}

func (c *call) int(i int, name string, def int) int { return int(c.num(i, name, float64(def))) }

func (c *call) str(i int, name, def string) string {
	switch v := c.get(i, name).(type) {
	case string:
		return v
	case golden.Unsupported: // an enumeration's value
		return string(v)
	}
	return def
}

func (c *call) bool(i int, name string, def bool) bool {
	if v, ok := c.get(i, name).(bool); ok {
		return v
	}
	return def
}

func (c *call) tensor(i int, name string) *tensor.Tensor {
	t, _ := c.get(i, name).(*tensor.Tensor)
	return t
}

// numbers reads a list of numbers, or one.
func numbers(v any) (out []float64) {
	switch v := v.(type) {
	case golden.List:
		for _, e := range v {
			out = append(out, numbers(e)...)
		}
	case golden.Tuple:
		return numbers(golden.List(v))
	case int:
		return []float64{float64(v)}
	case float64:
		return []float64{v}
	}
	return out
}

func ints(v any) (out []int) {
	for _, f := range numbers(v) {
		out = append(out, int(f))
	}
	return out
}

func (c *call) floats(i int, name string) []float64 { return numbers(c.get(i, name)) }

func (c *call) ints(i int, name string) []int { return ints(c.get(i, name)) }

func pairOf(v []float64) (out [2]float64) { copy(out[:], v); return out }

// run runs the operation.
func (c *call) run(op string) (any, error) {
	kind, name, _ := strings.Cut(op, ".")
	switch {
	case kind == "ops":
		if f := opCalls[name]; f != nil {
			return f(c), nil
		}
	case strings.HasPrefix(name, "boxes."):
		size := ints(c.kw["canvas_size"])
		b := tvtensors.NewBoundingBoxes(c.x.(*tensor.Tensor),
			tvtensors.BoundingBoxFormat(strings.ToLower(c.str(-1, "format", ""))),
			[2]int{size[0], size[1]})
		if f := boxCalls[strings.TrimPrefix(name, "boxes.")]; f != nil {
			return f(b, c).Tensor, nil
		}
	case strings.HasPrefix(name, "random."):
		return c.random(strings.TrimPrefix(name, "random."))
	default:
		var out any
		switch x := c.x.(type) {
		case *tensor.Tensor:
			out = pictureCall(name, x, c)
		case *pil.Image:
			out = pictureCall(name, x, c)
		}
		if out != nil {
			return out, nil
		}
	}
	return nil, golden.Skip("operation not there yet: " + op)
}

// boxCalls are the operations on boxes.
var boxCalls = map[string]func(b *tvtensors.BoundingBoxes, c *call) *tvtensors.BoundingBoxes{
	"horizontal_flip": func(b *tvtensors.BoundingBoxes, _ *call) *tvtensors.BoundingBoxes {
		return functional.HorizontalFlip(b)
	},
	"vertical_flip": func(b *tvtensors.BoundingBoxes, _ *call) *tvtensors.BoundingBoxes {
		return functional.VerticalFlip(b)
	},
	"resize": func(b *tvtensors.BoundingBoxes, c *call) *tvtensors.BoundingBoxes {
		return functional.Resize(b, c.ints(0, "size"))
	},
	"crop": func(b *tvtensors.BoundingBoxes, c *call) *tvtensors.BoundingBoxes {
		return functional.Crop(b, c.int(0, "top", 0), c.int(1, "left", 0), c.int(2, "height", 0), c.int(3, "width", 0))
	},
	"center_crop": func(b *tvtensors.BoundingBoxes, c *call) *tvtensors.BoundingBoxes {
		return functional.CenterCrop(b, c.ints(0, "output_size"))
	},
	"pad": func(b *tvtensors.BoundingBoxes, c *call) *tvtensors.BoundingBoxes {
		return functional.Pad(b, c.ints(0, "padding"))
	},
	"rotate": func(b *tvtensors.BoundingBoxes, c *call) *tvtensors.BoundingBoxes {
		return functional.Rotate(b, c.num(0, "angle", 0), c.warp())
	},
	"affine": func(b *tvtensors.BoundingBoxes, c *call) *tvtensors.BoundingBoxes {
		return functional.Affine(b, c.num(0, "angle", 0), pairOf(c.floats(1, "translate")), c.num(2, "scale", 1),
			pairOf(c.floats(3, "shear")), c.warp())
	},
}
