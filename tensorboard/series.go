package tensorboard

import (
	"encoding/binary"
	"math"
	"sort"
)

// ScalarPoint is one point of a curve.
type ScalarPoint struct {
	Step  int64
	Wall  float64 // seconds since 1970
	Value float64
}

// ScalarSeries is a curve in columns of equal length.
type ScalarSeries struct {
	Steps  []int64
	Walls  []float64
	Values []float64
}

// Len is the number of points.
func (s *ScalarSeries) Len() int { return len(s.Steps) }

// At is the point number i.
func (s *ScalarSeries) At(i int) ScalarPoint {
	return ScalarPoint{s.Steps[i], s.Walls[i], s.Values[i]}
}

// Sample returns at most n points (n ≥ 2) spread evenly over the series, always
// with the first and the last one; n ≤ 0 or a short series returns s itself.
// Equal series give equal samples.
func (s *ScalarSeries) Sample(n int) *ScalarSeries {
	if n <= 0 || s.Len() <= n {
		return s
	}
	out := &ScalarSeries{}
	for k := range n {
		i := s.Len() - 1
		if n > 1 {
			i = int(int64(k) * int64(s.Len()-1) / int64(n-1))
		}
		out.Steps = append(out.Steps, s.Steps[i])
		out.Walls = append(out.Walls, s.Walls[i])
		out.Values = append(out.Values, s.Values[i])
	}
	return out
}

// scalarColumn stores points in blocks. Within a block steps and times are
// differences of differences as variable-length integers (a steady loop costs a
// byte per step and two or three per time, whose bits are taken as an integer:
// nothing is lost), values are single precision unless one needs more. About
// eight bytes a point, a third of the plain columns.
type scalarColumn struct {
	blocks []scalarBlock
	n      int
	tail   ScalarSeries // the newest points, not yet packed
}

type scalarBlock struct {
	n       int
	maxStep int64
	packed  []byte
	values  []float32
	wide    []float64 // in place of values when single precision is not enough
}

const blockPoints = 128

func (c *scalarColumn) last() (step int64, ok bool) {
	if k := len(c.tail.Steps); k > 0 {
		return c.tail.Steps[k-1], true
	}
	return 0, false
}

func (c *scalarColumn) add(p ScalarPoint) {
	t := &c.tail
	// The newest point always stays in the tail (last needs it).
	if len(t.Steps) > blockPoints {
		c.seal(blockPoints)
	}
	t.Steps = append(t.Steps, p.Step)
	t.Walls = append(t.Walls, p.Wall)
	t.Values = append(t.Values, p.Value)
	c.n++
}

// seal packs the first k points of the tail.
func (c *scalarColumn) seal(k int) {
	t := &c.tail
	b := scalarBlock{n: k, maxStep: math.MinInt64}
	var prev, delta, prevW, deltaW int64
	buf := make([]byte, 0, 6*k)
	single := true
	for i := range k {
		s, w := t.Steps[i], int64(math.Float64bits(t.Walls[i]))
		b.maxStep = max(b.maxStep, s)
		buf = binary.AppendVarint(buf, s-prev-delta) // overflow wraps, and back
		buf = binary.AppendVarint(buf, w-prevW-deltaW)
		delta, prev = s-prev, s
		deltaW, prevW = w-prevW, w
		v := t.Values[i]
		if float64(float32(v)) != v && v == v {
			single = false
		}
	}
	b.packed = append(make([]byte, 0, len(buf)), buf...)
	if single {
		b.values = convert[float32](t.Values[:k])
	} else {
		b.wide = append([]float64(nil), t.Values[:k]...)
	}
	c.blocks = append(c.blocks, b)
	rest := len(t.Steps) - k
	copy(t.Steps, t.Steps[k:])
	copy(t.Walls, t.Walls[k:])
	copy(t.Values, t.Values[k:])
	t.Steps, t.Walls, t.Values = t.Steps[:rest], t.Walls[:rest], t.Values[:rest]
}

func (b *scalarBlock) unpack(s *ScalarSeries) {
	var prev, delta, prevW, deltaW int64
	p := b.packed
	for i := range b.n {
		d, k := binary.Varint(p)
		dw, kw := binary.Varint(p[k:])
		p = p[k+kw:]
		delta += d
		prev += delta
		deltaW += dw
		prevW += deltaW
		s.Steps = append(s.Steps, prev)
		s.Walls = append(s.Walls, math.Float64frombits(uint64(prevW)))
		if b.wide != nil {
			s.Values = append(s.Values, b.wide[i])
		} else {
			s.Values = append(s.Values, float64(b.values[i]))
		}
	}
}

// all copies the points from number from on.
func (c *scalarColumn) all(from int) *ScalarSeries {
	n := max(c.n-from, 0)
	s := &ScalarSeries{Steps: make([]int64, 0, n), Walls: make([]float64, 0, n), Values: make([]float64, 0, n)}
	at := 0
	for i := range c.blocks {
		b := &c.blocks[i]
		if at+b.n > from {
			if at >= from && cap(s.Steps)-len(s.Steps) >= b.n {
				b.unpack(s)
			} else {
				var part ScalarSeries
				b.unpack(&part)
				k := max(from-at, 0)
				s.Steps = append(s.Steps, part.Steps[k:]...)
				s.Walls = append(s.Walls, part.Walls[k:]...)
				s.Values = append(s.Values, part.Values[k:]...)
			}
		}
		at += b.n
	}
	k := min(max(from-at, 0), c.tail.Len())
	s.Steps = append(s.Steps, c.tail.Steps[k:]...)
	s.Walls = append(s.Walls, c.tail.Walls[k:]...)
	s.Values = append(s.Values, c.tail.Values[k:]...)
	return s
}

// purge drops the points of step and later; it returns how many.
func (c *scalarColumn) purge(step int64) int {
	before := c.n
	// The blocks before the first that holds such a step stay as they are.
	first := len(c.blocks)
	for i, b := range c.blocks {
		if b.maxStep >= step {
			first = i
			break
		}
	}
	if first == len(c.blocks) {
		hit := false
		for _, s := range c.tail.Steps {
			hit = hit || s >= step
		}
		if !hit {
			return 0
		}
	}
	kept := 0
	for _, b := range c.blocks[:first] {
		kept += b.n
	}
	rest := c.all(kept)
	c.blocks = append([]scalarBlock(nil), c.blocks[:first]...)
	c.tail, c.n = ScalarSeries{}, kept
	for i := range rest.Steps {
		if rest.Steps[i] < step {
			c.add(rest.At(i))
		}
	}
	return before - c.n
}

// item is where a value other than a scalar lies: it is read when asked for.
type item struct {
	step  int64
	wall  float64
	off   int64 // of its record
	size  uint32
	file  uint16
	value uint16 // number within the event's summary
}

func purgeItems(items []item, step int64) []item {
	i := sort.Search(len(items), func(i int) bool { return items[i].step >= step })
	sorted := true
	for k := 1; k < len(items); k++ {
		if items[k].step < items[k-1].step {
			sorted = false
			break
		}
	}
	if sorted {
		return items[:i]
	}
	out := items[:0]
	for _, it := range items {
		if it.step < step {
			out = append(out, it)
		}
	}
	return out
}
