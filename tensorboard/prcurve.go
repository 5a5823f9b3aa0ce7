package tensorboard

import (
	"fmt"
	"math"

	"github.com/gotorch-dev/torch/internal/dtype"
)

// PRCurve is a precision-recall curve: each list has one entry per threshold.
type PRCurve struct {
	TP, FP, TN, FN    []float64
	Precision, Recall []float64
}

func (c *PRCurve) rows() [][]float64 {
	return [][]float64{c.TP, c.FP, c.TN, c.FN, c.Precision, c.Recall}
}

// PRCurveOptions are the options of [SummaryWriter.AddPRCurve].
type PRCurveOptions struct {
	NumThresholds int     // at most 127; 0: 127
	Weights       Array   // one weight per prediction, or a single one; nil: 1
	WallTime      float64 // seconds since 1970; 0: now
}

func (o *PRCurveOptions) thresholds() (int, error) {
	n := o.NumThresholds
	if n == 0 {
		n = 127
	}
	if n < 1 {
		return 0, fmt.Errorf("tensorboard: AddPRCurve: %d thresholds, want at least 1", n)
	}
	return min(n, 127), nil // more than 127 break older readers
}

// AddPRCurve writes the precision-recall curve of a binary classifier: labels of
// 0 and 1, predictions in 0…1, of equal shape.
func (w *SummaryWriter) AddPRCurve(tag string, labels, predictions Array, step int64, options ...PRCurveOptions) error {
	o := opt(options)
	n, err := o.thresholds()
	if err != nil {
		return err
	}
	if err := check("AddPRCurve", labels, -1); err != nil {
		return err
	}
	if err := check("AddPRCurve", predictions, -1); err != nil {
		return err
	}
	l, p := labels.Float64s(), predictions.Float64s()
	weight := func(int) float64 { return 1 }
	if o.Weights != nil {
		ws := o.Weights.Float64s()
		switch len(ws) {
		case len(l):
			weight = func(i int) float64 { return ws[i] }
		case 1:
			weight = func(int) float64 { return ws[0] }
		default:
			return fmt.Errorf("tensorboard: AddPRCurve: %d weights for %d labels", len(ws), len(l))
		}
	}
	if len(l) != len(p) {
		return fmt.Errorf("tensorboard: AddPRCurve: %d labels and %d predictions", len(l), len(p))
	}
	tp, fp := make([]float64, n), make([]float64, n)
	for i, v := range p {
		b := math.Floor(v * float64(n-1))
		switch predictions.Kind() { // in the precision of the predictions
		case Float32:
			b = math.Floor(float64(float32(v) * float32(n-1)))
		case Float16, BFloat16:
			b = math.Floor(float64(dtype.ToFloat16(float32(v * float64(n-1))).F32()))
		}
		if b >= 0 && b < float64(n) {
			tp[int(b)] += l[i] * weight(i)
			fp[int(b)] += (1 - l[i]) * weight(i)
		}
	}
	// A threshold accepts everything at or above its bucket.
	for i := n - 2; i >= 0; i-- {
		tp[i] += tp[i+1]
		fp[i] += fp[i+1]
	}
	c := PRCurve{TP: tp, FP: fp}
	for i := range n {
		tn, fn := fp[0]-fp[i], tp[0]-tp[i]
		c.TN = append(c.TN, tn)
		c.FN = append(c.FN, fn)
		c.Precision = append(c.Precision, tp[i]/max(1e-7, tp[i]+fp[i]))
		c.Recall = append(c.Recall, tp[i]/max(1e-7, tp[i]+fn))
	}
	return w.prCurve(tag, c, n, step, o.WallTime)
}

// AddPRCurveRaw writes a curve that was computed elsewhere; its lists must have
// equal lengths.
func (w *SummaryWriter) AddPRCurveRaw(tag string, c PRCurve, step int64, options ...PRCurveOptions) error {
	o := opt(options)
	n, err := o.thresholds()
	if err != nil {
		return err
	}
	for _, r := range c.rows() {
		if len(r) != len(c.TP) {
			return fmt.Errorf("tensorboard: AddPRCurveRaw: lists of %d and %d numbers", len(c.TP), len(r))
		}
	}
	return w.prCurve(tag, c, n, step, o.WallTime)
}

func (w *SummaryWriter) prCurve(tag string, c PRCurve, thresholds int, step int64, wall float64) error {
	t := &Tensor{DType: DTFloat, Shape: shapeOf(6, len(c.TP))}
	for _, r := range c.rows() {
		t.FloatVal = append(t.FloatVal, convert[float32](r)...)
	}
	return w.add(step, wall, pluginValue(tag, PluginPRCurves, putInt(nil, 2, int64(thresholds)), t))
}
