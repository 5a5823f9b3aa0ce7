package coco

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Eval compares detections with the truth, as pycocotools' COCOeval does, to
// the same numbers. Make one with [NewEval], change Params if needed, then call
// [Eval.Run], or [Eval.Evaluate], [Eval.Accumulate] and [Eval.Summarize] in turn.
type Eval struct {
	Params Params
	// Workers is the number of goroutines; 0 is one per processor. The
	// numbers do not depend on it.
	Workers int
	// Result holds precision and recall after Accumulate.
	Result *EvalResult
	// Stats holds the twelve numbers (ten for keypoints) after Summarize; see
	// [Eval.Metrics] for their names.
	Stats []float64

	gt, dt *COCO
	done   *Params // the parameters of Evaluate, normalised
	groups []*group
}

// NewEval prepares the comparison of the detections dt, from [COCO.LoadRes],
// with the truth gt.
func NewEval(gt, dt *COCO, t IoUType) *Eval {
	e := &Eval{Params: DefaultParams(t), gt: gt, dt: dt}
	for _, m := range gt.Dataset.Images {
		e.Params.ImgIDs = append(e.Params.ImgIDs, m.ID)
	}
	slices.Sort(e.Params.ImgIDs)
	for _, k := range gt.Dataset.Categories {
		e.Params.CatIDs = append(e.Params.CatIDs, k.ID)
	}
	slices.Sort(e.Params.CatIDs)
	return e
}

// Run is Evaluate, Accumulate and Summarize.
func (e *Eval) Run() error {
	if err := e.Evaluate(); err != nil {
		return err
	}
	if err := e.Accumulate(); err != nil {
		return err
	}
	return e.Summarize()
}

// Evaluate matches detections with ground truths, image by image, on several
// goroutines. It fails if parameters contradict each other, and names the
// annotation that lacks what the evaluation needs: area, a box, a shape,
// keypoints, a score.
//
// A ground truth whose id is 0 cannot be matched, as in pycocotools (which
// takes the number 0 in its tables for "none"): number from 1.
func (e *Eval) Evaluate() error {
	p, err := e.normalise()
	if err != nil {
		return err
	}
	groups, err := e.collect(p)
	if err != nil {
		return err
	}
	type job struct{ g, c int }
	var jobs []job
	for gi, g := range groups {
		for ci := range g.cells {
			jobs = append(jobs, job{gi, ci})
		}
	}
	// Small pieces: crowded images take far longer than others.
	const piece = 16
	err = e.parallel((len(jobs)+piece-1)/piece, func() func(int) error {
		var m matcher
		return func(i int) error {
			for _, j := range jobs[i*piece : min(len(jobs), (i+1)*piece)] {
				g := groups[j.g]
				m.load(p, g.gts, g.dts, &g.cells[j.c])
				m.store(p, g, &g.cells[j.c])
			}
			return nil
		}
	})
	if err != nil {
		return err
	}
	e.done, e.groups, e.Result, e.Stats = p, groups, nil, nil
	return nil
}

// parallel calls the functions that start returns, one per goroutine, with the
// numbers 0 … n-1. It returns the error of the lowest number that failed.
func (e *Eval) parallel(n int, start func() func(i int) error) error {
	w := e.Workers
	if w <= 0 {
		w = runtime.GOMAXPROCS(0)
	}
	w = min(w, n)
	if w <= 1 {
		f := start()
		for i := range n {
			if err := f(i); err != nil {
				return err
			}
		}
		return nil
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	var mu sync.Mutex
	var first error
	at := int64(n)
	for range w {
		wg.Add(1)
		go func() {
			defer wg.Done()
			f := start()
			for {
				i := next.Add(1) - 1
				if i >= int64(n) {
					return
				}
				if err := f(int(i)); err != nil {
					mu.Lock()
					if i < at {
						first, at = err, i
					}
					mu.Unlock()
					// Numbers are handed out in order: all lower ones are
					// already taken, so the lowest failure is still found.
					next.Store(int64(n))
					return
				}
			}
		}()
	}
	wg.Wait()
	return first
}
