package tensorboard

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
)

// Bins says how [SummaryWriter.AddHistogram] cuts the range of values. The zero
// value is the fixed exponential bins of TensorFlow.
type Bins struct {
	rule  string
	count int
	edges []float64
}

// The rules by which NumPy chooses a number of equal bins from the data.
var (
	BinsTensorFlow = Bins{}                // fixed: 0, ±1e-12·1.1ⁿ up to 1e20
	BinsAuto       = Bins{rule: "auto"}    // the finer of Freedman–Diaconis and Sturges
	BinsFD         = Bins{rule: "fd"}      // Freedman–Diaconis
	BinsDoane      = Bins{rule: "doane"}   // Sturges corrected for skewness
	BinsScott      = Bins{rule: "scott"}   // Scott's normal reference rule
	BinsStone      = Bins{rule: "stone"}   // leave-one-out cross-validation
	BinsRice       = Bins{rule: "rice"}    // 2·∛n
	BinsSturges    = Bins{rule: "sturges"} // log₂ n + 1
	BinsSqrt       = Bins{rule: "sqrt"}    // √n
)

// BinCount is n equal bins between the smallest and the largest value.
func BinCount(n int) Bins { return Bins{rule: "count", count: n} }

// BinEdges is bins with these edges, in rising order.
func BinEdges(edges ...float64) Bins { return Bins{rule: "edges", edges: edges} }

// BinRule is the rule that NumPy knows under a name ("auto", "fd", …), or
// "tensorflow".
func BinRule(name string) (Bins, error) {
	switch name {
	case "", "tensorflow":
		return Bins{}, nil
	case "auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt":
		return Bins{rule: name}, nil
	}
	return Bins{}, fmt.Errorf("tensorboard: unknown rule %q for histogram bins", name)
}

// defaultEdges grows by repeated multiplication, not by powers: the limits must
// have the same last bits as those of other writers.
var defaultEdges = func() []float64 {
	var up []float64
	for v := 1e-12; v < 1e20; v *= 1.1 {
		up = append(up, v)
	}
	edges := make([]float64, 0, 2*len(up)+1)
	for i := len(up) - 1; i >= 0; i-- {
		edges = append(edges, -up[i])
	}
	return append(append(edges, 0), up...)
}()

// MakeHistogram counts values into bins. maxBins > 0 joins neighbouring bins
// until there are about that many. Empty bins at both ends are left out but for
// one on the left, whose limit is the left edge of the first full bin.
//
// It fails if there are no values, if none falls into one of several bins, and,
// unless the edges are given, if one is not finite.
func MakeHistogram(values []float64, bins Bins, maxBins int) (*Histogram, error) {
	if len(values) == 0 {
		return nil, errors.New("tensorboard: histogram: no values")
	}
	var counts, limits []float64
	var err error
	switch bins.rule {
	case "":
		limits, counts = defaultEdges, countSorted(values, defaultEdges)
	case "edges":
		if len(bins.edges) < 2 {
			return nil, fmt.Errorf("tensorboard: histogram: %d bin edges, want at least 2", len(bins.edges))
		}
		if !slices.IsSorted(bins.edges) {
			return nil, errors.New("tensorboard: histogram: bin edges must rise")
		}
		limits, counts = slices.Clone(bins.edges), countSorted(values, bins.edges)
	default:
		n := bins.count
		first, last, e := outerEdges(values)
		if e != nil {
			return nil, e
		}
		if bins.rule != "count" {
			n = chooseBins(values, bins.rule, first, last)
		}
		if counts, limits, err = countEqual(values, first, last, n); err != nil {
			return nil, err
		}
	}
	if maxBins > 0 && len(counts) > maxBins {
		counts, limits = joinBins(counts, limits, maxBins)
	}
	// The bins that hold anything, first to last.
	start, end := -1, -1
	for i, c := range counts {
		if c > 0 {
			if start < 0 {
				start = i
			}
			end = i
		}
	}
	h := &Histogram{Num: float64(len(values)), Sum: pairwiseSum(values)}
	switch {
	case start < 0 && len(counts) > 1:
		return nil, errors.New("tensorboard: histogram: no value falls into a bin")
	case start < 0: // Python's writer lets a single bin stand empty
		start, end = 1, 0
		h.Limits = slices.Clone(limits[1:])
	default:
		h.Limits = slices.Clone(limits[start : end+2])
	}
	if start == 0 {
		h.Counts = append([]float64{0}, counts[:end+1]...)
	} else {
		h.Counts = slices.Clone(counts[start-1 : end+1])
	}
	h.Min, h.Max = minMax(values)
	for _, v := range values {
		h.SumSquares += v * v
	}
	return h, nil
}

// minMax propagates NaN, as the reductions of NumPy do.
func minMax(v []float64) (lo, hi float64) {
	lo, hi = v[0], v[0]
	for _, x := range v {
		if x != x {
			return x, x
		}
		if x < lo {
			lo = x
		}
		if x > hi {
			hi = x
		}
	}
	return
}

// pairwiseSum adds in NumPy's order: blocks of up to 128 numbers in eight
// interleaved partial sums, larger ones by halves. Equal order, equal last bits.
func pairwiseSum(v []float64) float64 {
	n := len(v)
	if n < 8 {
		s := math.Copysign(0, -1)
		for _, x := range v {
			s += x
		}
		return s
	}
	if n <= 128 {
		var r [8]float64
		copy(r[:], v)
		i := 8
		for ; i+8 <= n; i += 8 {
			for j := range r {
				r[j] += v[i+j]
			}
		}
		s := ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
		for ; i < n; i++ {
			s += v[i]
		}
		return s
	}
	h := n / 2
	h -= h % 8
	return pairwiseSum(v[:h]) + pairwiseSum(v[h:])
}

// countSorted counts values into bins with arbitrary edges: [e₀,e₁), …, [eₙ₋₁,eₙ].
// NaN falls into no bin.
func countSorted(values, edges []float64) []float64 {
	counts := make([]float64, len(edges)-1)
	for _, v := range values {
		if !(v >= edges[0] && v <= edges[len(edges)-1]) {
			continue
		}
		// The bin before the first edge above v; the last edge belongs to the last bin.
		i := sort.Search(len(edges), func(i int) bool { return edges[i] > v }) - 1
		counts[min(i, len(counts)-1)]++
	}
	return counts
}

func outerEdges(values []float64) (first, last float64, err error) {
	first, last = minMax(values)
	if math.IsNaN(first) || math.IsInf(first, 0) || math.IsInf(last, 0) {
		return 0, 0, fmt.Errorf("tensorboard: histogram: the range [%v, %v] of the values is not finite", first, last)
	}
	if first == last { // an empty range would divide by zero
		first, last = first-0.5, last+0.5
	}
	return first, last, nil
}

// maxEqualBins bounds the memory of one histogram: one wild outlier makes the
// Freedman–Diaconis rule ask for billions of bins.
const maxEqualBins = 1 << 24

// countEqual counts into n equal bins of [first, last].
func countEqual(values []float64, first, last float64, n int) (counts, edges []float64, err error) {
	if n < 1 || n > maxEqualBins {
		return nil, nil, fmt.Errorf("tensorboard: histogram: %d bins, want 1 to %d", n, maxEqualBins)
	}
	edges = make([]float64, n+1)
	delta := last - first
	step := delta / float64(n)
	for i := range edges {
		// The product is rounded before the addition (no fused operation).
		p := float64(i) * step
		if step == 0 {
			p = float64(i) / float64(n) * delta
		}
		edges[i] = float64(p) + first
	}
	edges[n] = last
	for i := range n {
		if edges[i] >= edges[i+1] {
			return nil, nil, fmt.Errorf("tensorboard: histogram: too many bins for the data: %d bins of finite size "+
				"do not fit into [%v, %v]", n, first, last)
		}
	}
	counts = make([]float64, n)
	for _, v := range values {
		if !(v >= first && v <= last) {
			continue
		}
		i := min(int((v-first)/delta*float64(n)), n-1)
		// The product may be off by one unit in the last place: the edges decide.
		if v < edges[i] {
			i--
		}
		if i < n-1 && v >= edges[i+1] {
			i++
		}
		counts[i]++
	}
	return counts, edges, nil
}

// joinBins sums groups of neighbouring bins.
func joinBins(counts, limits []float64, maxBins int) (c, l []float64) {
	group := len(counts) / maxBins
	for i := 0; i < len(counts); i += group {
		s := 0.0
		for _, x := range counts[i:min(i+group, len(counts))] {
			s += x
		}
		c = append(c, s)
		l = append(l, limits[i])
	}
	return c, append(l, limits[len(limits)-1])
}

// chooseBins is NumPy's choice of a number of equal bins
// (numpy.org/doc/stable/reference/generated/numpy.histogram_bin_edges.html).
func chooseBins(v []float64, rule string, first, last float64) int {
	lo, hi := minMax(v)
	span, n := hi-lo, float64(len(v))
	sqrt := span / math.Sqrt(n)
	sturges := span / (math.Log2(n) + 1)
	fd := func() float64 {
		s := slices.Clone(v)
		slices.Sort(s)
		return 2 * (percentile(s, 75) - percentile(s, 25)) * math.Pow(n, -1.0/3.0)
	}
	var width float64
	switch rule {
	case "sqrt":
		width = sqrt
	case "sturges":
		width = sturges
	case "rice":
		width = span / (2 * math.Pow(n, 1.0/3))
	case "scott":
		_, sd := meanStd(v)
		width = math.Pow(24*math.Sqrt(math.Pi)/n, 1.0/3.0) * sd
	case "fd":
		width = fd()
	case "auto":
		width = min(max(fd(), sqrt/2), sturges)
	case "doane":
		if n > 2 {
			mean, sd := meanStd(v)
			if sd > 0 {
				cubes := make([]float64, len(v))
				for i, x := range v {
					z := (x - mean) / sd
					cubes[i] = math.Pow(z, 3)
				}
				g := pairwiseSum(cubes) / n
				sg := math.Sqrt(6 * (n - 2) / ((n + 1) * (n + 3)))
				width = span / (1 + math.Log2(n) + math.Log2(1+math.Abs(g)/sg))
			}
		}
	case "stone":
		if n > 1 && span > 0 {
			upper := max(100, int(math.Sqrt(n)))
			best, bestLoss := 1, math.Inf(1)
			for b := 1; b <= upper; b++ {
				counts, _, err := countEqual(v, first, last, b)
				if err != nil {
					break
				}
				sum := 0.0
				for _, c := range counts {
					sum += c / n * (c / n)
				}
				if loss := (2 - (n+1)*sum) / (span / float64(b)); loss < bestLoss {
					best, bestLoss = b, loss
				}
			}
			width = span / float64(best)
		}
	}
	if width == 0 || math.IsNaN(width) { // such as fd's when the middle half of the values is equal
		return 1
	}
	bins := math.Ceil((last - first) / width)
	if bins > maxEqualBins {
		return maxEqualBins + 1 // refused by countEqual
	}
	return int(bins)
}

func meanStd(v []float64) (mean, sd float64) {
	n := float64(len(v))
	mean = pairwiseSum(v) / n
	sq := make([]float64, len(v))
	for i, x := range v {
		sq[i] = (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(pairwiseSum(sq) / n)
}

// percentile interpolates linearly in sorted values; the two formulas keep it
// monotonic, as NumPy does.
func percentile(s []float64, p float64) float64 {
	at := p / 100 * float64(len(s)-1)
	i := int(at)
	if i >= len(s)-1 {
		return s[len(s)-1]
	}
	t := at - float64(i)
	a, b := s[i], s[i+1]
	if t >= 0.5 {
		return b - (b-a)*(1-t)
	}
	return a + (b-a)*t
}
