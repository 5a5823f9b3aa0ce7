package coco

import (
	"fmt"
	"slices"
)

// EvalResult is what [Eval.Accumulate] computes. -1 stands for categories and
// area ranges without any object.
type EvalResult struct {
	// T, R, K, A, M are the numbers of IoU thresholds, recall thresholds,
	// categories, area ranges and detection limits.
	T, R, K, A, M int
	// CatIDs are the K categories; without UseCats the one category -1.
	CatIDs []int64
	// Precision and Scores are [T][R][K][A][M] arrays in row-major order: the
	// precision at a recall, and the lowest score that reaches that recall.
	Precision, Scores []float64
	// Recall is the [T][K][A][M] array of the highest recall reached.
	Recall []float64
}

// PrecisionAt returns one element of Precision.
func (r *EvalResult) PrecisionAt(t, rec, k, a, m int) float64 {
	return r.Precision[r.at(t, rec, k, a, m)]
}

// ScoreAt returns one element of Scores.
func (r *EvalResult) ScoreAt(t, rec, k, a, m int) float64 { return r.Scores[r.at(t, rec, k, a, m)] }

// RecallAt returns one element of Recall.
func (r *EvalResult) RecallAt(t, k, a, m int) float64 {
	return r.Recall[((t*r.K+k)*r.A+a)*r.M+m]
}

func (r *EvalResult) at(t, rec, k, a, m int) int {
	return (((t*r.R+rec)*r.K+k)*r.A+a)*r.M + m
}

// Accumulate computes precision and recall from what [Eval.Evaluate] found.
func (e *Eval) Accumulate() error {
	if e.done == nil {
		return fmt.Errorf("coco: Accumulate: call Evaluate first")
	}
	p := e.done
	r := &EvalResult{T: len(p.IoUThrs), R: len(p.RecThrs), K: len(e.groups), A: len(p.AreaRng), M: len(p.MaxDets)}
	r.CatIDs = []int64{-1}
	if p.UseCats {
		r.CatIDs = slices.Clone(p.CatIDs)
	}
	r.Precision, r.Scores = minusOnes(r.T*r.R*r.K*r.A*r.M), minusOnes(r.T*r.R*r.K*r.A*r.M)
	r.Recall = minusOnes(r.T * r.K * r.A * r.M)
	err := e.parallel(len(e.groups), func() func(int) error {
		var acc accumulator
		return func(k int) error { acc.group(p, r, e.groups[k], k); return nil }
	})
	e.Result = r
	return err
}

func minusOnes(n int) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = -1
	}
	return s
}

// accumulator has the memory for one group at a time.
type accumulator struct {
	perm  []int32
	rank  []int32
	state []uint8
	score []float64
	pr    []float64 // at each hit: precision
	hitAt []int32   // at each hit: index among the sorted detections
}

// group fills in the numbers of category k.
//
// Precision only has to be known at hits: recall changes nowhere else, and the
// precision at a recall is the highest at or after the hit that reaches it.
func (acc *accumulator) group(p *Params, r *EvalResult, g *group, k int) {
	n := g.n
	acc.perm, acc.rank = grow(acc.perm, n), grow(acc.rank, n)
	acc.state, acc.score = grow(acc.state, n), grow(acc.score, n)
	for i := range acc.perm {
		acc.perm[i] = int32(i)
	}
	// Equal scores keep the order of the images, as numpy's mergesort does.
	slices.SortFunc(acc.perm, func(a, b int32) int {
		if sa, sb := g.scores[a], g.scores[b]; sa != sb {
			if sa > sb {
				return -1
			}
			return 1
		}
		return int(a) - int(b)
	})
	for i, j := range acc.perm {
		acc.rank[i], acc.score[i] = g.rank[j], g.scores[j]
	}
	for a := range p.AreaRng {
		if g.npig[a] == 0 {
			continue
		}
		npig := float64(g.npig[a])
		for t := range p.IoUThrs {
			row := g.state[a][t*n : (t+1)*n]
			for i, j := range acc.perm {
				acc.state[i] = row[j]
			}
			for m, maxDet := range p.MaxDets {
				acc.pr, acc.hitAt = acc.pr[:0], acc.hitAt[:0]
				tp, fp, first := 0, 0, -1
				for i, s := range acc.state {
					if int(acc.rank[i]) >= maxDet {
						continue
					}
					if first < 0 {
						first = i
					}
					switch s {
					case stateHit:
						tp++
						acc.pr = append(acc.pr, float64(tp)/(float64(fp+tp)+eps))
						acc.hitAt = append(acc.hitAt, int32(i))
					case stateMiss:
						fp++
					}
				}
				r.Recall[((t*r.K+k)*r.A+a)*r.M+m] = float64(tp) / npig
				for i := len(acc.pr) - 1; i > 0; i-- {
					acc.pr[i-1] = max(acc.pr[i-1], acc.pr[i])
				}
				h := 0
				for ri, thr := range p.RecThrs {
					at := r.at(t, ri, k, a, m)
					if !(thr > 0) {
						// Reached by the first detection, hit or not.
						r.Precision[at], r.Scores[at] = 0, 0
						if first >= 0 {
							r.Scores[at] = acc.score[first]
						}
						if len(acc.pr) > 0 {
							r.Precision[at] = acc.pr[0]
						}
						continue
					}
					for h < len(acc.pr) && float64(h+1)/npig < thr {
						h++
					}
					r.Precision[at], r.Scores[at] = 0, 0
					if h < len(acc.pr) {
						r.Precision[at], r.Scores[at] = acc.pr[h], acc.score[acc.hitAt[h]]
					}
				}
			}
		}
	}
}
