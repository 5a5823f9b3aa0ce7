package optim

import "math"

// lineSearch looks along a direction for a point that satisfies the strong Wolfe conditions: Nocedal and Wright,
// Numerical Optimization, algorithms 3.5 (bracketing) and 3.6 (zoom), with cubic interpolation.
type lineSearch struct {
	f         func(t float64) point // the function at a distance along the direction
	d         *Tensor
	tolerance float64 // of the bracket's length
	tries     int     // the largest number of points after the first
	evals     int
}

const (
	armijo    = 1e-4 // least decrease, as a part of what the slope promises
	curvature = 0.9  // largest slope that remains, as a part of the one at the start
)

// trial is a point on the line.
type trial struct {
	t float64
	point
	slope float64
}

func (s *lineSearch) at(t float64) trial {
	p := s.f(t)
	s.evals++
	return trial{t, p, p.g.Dot(s.d).Item()}
}

// strongWolfe returns the point that was found, its distance, and the number of evaluations. t is the first distance to
// try; start and slope are those at distance 0.
func (s *lineSearch) strongWolfe(t float64, start point, slope float64) (point, float64, int) {
	start.g = start.g.Clone()
	zero := trial{0, start, slope}
	enough := func(x trial) bool { return x.f <= zero.f+armijo*x.t*slope }
	flat := func(x trial) bool { return math.Abs(x.slope) <= -curvature*slope }
	prev, now := zero, s.at(t)
	var bracket []trial // one point that satisfies the conditions, or two around one
	tries, done := 0, false
	for ; tries < s.tries; tries++ {
		if !enough(now) || tries > 1 && now.f >= prev.f {
			bracket = []trial{prev, now}
			break
		}
		if flat(now) {
			bracket, done = []trial{now}, true
			break
		}
		if now.slope >= 0 {
			bracket = []trial{prev, now}
			break
		}
		next := cubic(prev, now, now.t+0.01*(now.t-prev.t), now.t*10)
		prev = now
		now = s.at(next)
	}
	if tries == s.tries {
		bracket = []trial{zero, now}
	}
	low, high := 0, len(bracket)-1
	if bracket[low].f > bracket[high].f {
		low, high = high, low
	}
	size, stuck := s.d.Abs().Max().Item(), false
	for !done && tries < s.tries {
		a, b := bracket[0], bracket[1]
		if math.Abs(b.t-a.t)*size < s.tolerance {
			break
		}
		left, right := math.Min(a.t, b.t), math.Max(a.t, b.t)
		t := cubic(a, b, left, right)
		// A point next to an end of the bracket tells little: the second one in a row goes a tenth of the length
		// inside.
		edge := 0.1 * (right - left)
		if math.Min(right-t, t-left) < edge {
			if stuck || t >= right || t <= left {
				if math.Abs(t-right) < math.Abs(t-left) {
					t = right - edge
				} else {
					t = left + edge
				}
				stuck = false
			} else {
				stuck = true
			}
		} else {
			stuck = false
		}
		now = s.at(t)
		tries++
		if !enough(now) || now.f >= bracket[low].f {
			bracket[high] = now
			low, high = 0, 1
			if bracket[0].f > bracket[1].f {
				low, high = 1, 0
			}
			continue
		}
		if flat(now) {
			done = true
		} else if now.slope*(bracket[high].t-bracket[low].t) >= 0 {
			bracket[high] = bracket[low]
		}
		bracket[low] = now
	}
	best := bracket[low]
	return best.point, best.t, s.evals
}

// cubic is the minimum between lo and hi of the cubic polynomial with the values and slopes of two points; the middle
// where there is none.
func cubic(a, b trial, lo, hi float64) float64 {
	d1 := a.slope + b.slope - 3*(a.f-b.f)/(a.t-b.t)
	square := d1*d1 - a.slope*b.slope
	if !(square >= 0) {
		return (lo + hi) / 2
	}
	if a.t > b.t {
		a, b = b, a
	}
	d2 := math.Sqrt(square)
	at := b.t - (b.t-a.t)*((b.slope+d2-d1)/(b.slope-a.slope+2*d2))
	return math.Min(math.Max(at, lo), hi)
}
