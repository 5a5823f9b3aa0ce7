package mask

import (
	"encoding/json"
	"fmt"
)

// MaxPixels is the largest height × width that this package accepts. A few
// bytes of runs can claim any size, so a file must not decide alone how much
// memory [Decode] asks for.
const MaxPixels = 1 << 29

// RLE is a run-length encoded binary mask of H rows and W columns.
//
// Counts holds the lengths of alternating runs of background and object
// pixels, in column-major order (down the first column, then the second …),
// beginning with background: a mask whose first pixel belongs to the object
// begins with a run of length 0. The lengths add up to H×W.
//
// In JSON it is COCO's object {"size": [H, W], "counts": "…"}; both the
// compressed text and the list of numbers can be read.
type RLE struct {
	H, W   int
	Counts []uint32
}

// Mask is a binary image in row-major order: pixel (x, y) is Pix[y*W+x], and
// belongs to the object when it is not 0.
type Mask struct {
	H, W int
	Pix  []uint8
}

// At says whether pixel (x, y) belongs to the object; outside the mask nothing does.
func (m *Mask) At(x, y int) bool {
	if x < 0 || y < 0 || x >= m.W || y >= m.H {
		return false
	}
	return m.Pix[y*m.W+x] != 0
}

// checkSize refuses sizes that are negative or above MaxPixels.
func checkSize(op string, h, w int) error {
	if h < 0 || w < 0 {
		return fmt.Errorf("mask: %s: size %d x %d is negative", op, h, w)
	}
	// Compared by division: the product of two hostile numbers overflows.
	if h > 0 && w > MaxPixels/h {
		return fmt.Errorf("mask: %s: size %d x %d is over the limit of %d pixels", op, h, w, MaxPixels)
	}
	return nil
}

// Validate says what is wrong with r: a size that is negative or too large, or
// runs that do not add up to H×W.
func (r RLE) Validate() error {
	if err := checkSize("RLE", r.H, r.W); err != nil {
		return err
	}
	total, want := uint64(0), uint64(r.H)*uint64(r.W)
	for _, c := range r.Counts {
		total += uint64(c)
		if total > want {
			return fmt.Errorf("mask: the runs cover more than the %d pixels of a %d x %d mask", want, r.H, r.W)
		}
	}
	if total != want {
		return fmt.Errorf("mask: the runs cover %d pixels, a %d x %d mask has %d", total, r.H, r.W, want)
	}
	return nil
}

// Encode returns the run-length encoding of m. It fails if Pix does not hold
// H×W pixels.
func Encode(m *Mask) (RLE, error) {
	if err := checkSize("Encode", m.H, m.W); err != nil {
		return RLE{}, err
	}
	if len(m.Pix) != m.H*m.W {
		return RLE{}, fmt.Errorf("mask: Encode: a %d x %d mask wants %d pixels, got %d", m.H, m.W, m.H*m.W, len(m.Pix))
	}
	r := RLE{H: m.H, W: m.W}
	inside, run := false, uint32(0)
	for x := 0; x < m.W; x++ {
		for i := x; i < len(m.Pix); i += m.W {
			if (m.Pix[i] != 0) != inside {
				r.Counts = append(r.Counts, run)
				inside, run = !inside, 0
			}
			run++
		}
	}
	r.Counts = append(r.Counts, run)
	return r, nil
}

// Decode returns the pixels of r (0 and 1). It fails where [RLE.Validate] does.
func Decode(r RLE) (*Mask, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	m := &Mask{H: r.H, W: r.W, Pix: make([]uint8, r.H*r.W)}
	x, y, inside := 0, 0, false
	for _, c := range r.Counts {
		n := int(c)
		for n > 0 {
			// One column's share of the run at a time.
			k := min(n, r.H-y)
			if inside {
				for i := y*r.W + x; k > 0; k-- {
					m.Pix[i] = 1
					i += r.W
					y++
					n--
				}
			} else {
				y += k
				n -= k
			}
			if y == r.H {
				y, x = 0, x+1
			}
		}
		inside = !inside
	}
	return m, nil
}

// Area returns the number of object pixels.
func (r RLE) Area() int {
	a := 0
	for i := 1; i < len(r.Counts); i += 2 {
		a += int(r.Counts[i])
	}
	return a
}

// ToBbox returns the smallest box x, y, width, height around the object, in
// whole pixels; an empty mask has the box 0, 0, 0, 0.
func (r RLE) ToBbox() [4]float64 {
	if r.H <= 0 || r.W <= 0 {
		return [4]float64{}
	}
	h := uint64(r.H)
	xs, ys, xe, ye := uint64(r.W), h, uint64(0), uint64(0)
	pos, any := uint64(0), false
	for i := 0; i+1 < len(r.Counts); i += 2 {
		start := pos + uint64(r.Counts[i])
		pos = start + uint64(r.Counts[i+1])
		if pos == start {
			continue // an empty run has no pixel to enclose
		}
		any = true
		x0, x1 := start/h, (pos-1)/h
		xs, xe = min(xs, x0), max(xe, x1)
		if x0 < x1 {
			// A run that reaches the next column touches top and bottom.
			ys, ye = 0, h-1
		} else {
			ys, ye = min(ys, start%h), max(ye, (pos-1)%h)
		}
	}
	if !any {
		return [4]float64{}
	}
	return [4]float64{float64(xs), float64(ys), float64(xe - xs + 1), float64(ye - ys + 1)}
}

// Merge combines masks of one size into their union, or their intersection
// where intersect is set. No mask at all gives the 0 x 0 mask, as in
// pycocotools; masks of different sizes are an error (pycocotools returns an
// empty mask).
func Merge(rles []RLE, intersect bool) (RLE, error) {
	if len(rles) == 0 {
		return RLE{}, nil
	}
	for i, r := range rles {
		if err := r.Validate(); err != nil {
			return RLE{}, fmt.Errorf("mask: Merge: mask %d: %w", i, err)
		}
		if r.H != rles[0].H || r.W != rles[0].W {
			return RLE{}, fmt.Errorf("mask: Merge: mask %d is %d x %d, mask 0 is %d x %d", i, r.H, r.W, rles[0].H,
				rles[0].W)
		}
	}
	return mergeValid(rles, intersect), nil
}

// mergeValid is Merge for masks known to be valid and of one size.
func mergeValid(rles []RLE, intersect bool) RLE {
	out := RLE{H: rles[0].H, W: rles[0].W}
	cur := append([]uint32(nil), rles[0].Counts...)
	var spare []uint32
	for _, r := range rles[1:] {
		spare = merge2(spare[:0], cur, r.Counts, intersect)
		cur, spare = spare, cur
	}
	out.Counts = cur
	return out
}

// merge2 appends to dst the runs of a ∪ b or a ∩ b. Both walk in step: c is
// the length for which neither mask changes its value.
func merge2(dst, a, b []uint32, intersect bool) []uint32 {
	var ca, cb uint32
	ia, ib := 0, 0
	va, vb, v := true, true, false // true: the first run switches them to background
	run := uint32(0)
	for {
		// Take the next runs; several in a row where some are empty.
		if ca == 0 && ia < len(a) {
			ca = a[ia]
			ia++
			va = !va
		}
		if cb == 0 && ib < len(b) {
			cb = b[ib]
			ib++
			vb = !vb
		}
		now := va || vb
		if intersect {
			now = va && vb
		}
		if now != v {
			dst = append(dst, run)
			run, v = 0, now
		}
		c := min(ca, cb)
		if c == 0 && ia >= len(a) && ib >= len(b) {
			if run > 0 || len(dst) == 0 {
				dst = append(dst, run)
			}
			return dst
		}
		run += c
		ca -= c
		cb -= c
	}
}

// jsonRLE is the form of COCO's JSON.
type jsonRLE struct {
	Size   [2]int          `json:"size"`
	Counts json.RawMessage `json:"counts"`
}

// MarshalJSON writes {"size": [H, W], "counts": "compressed text"}.
func (r RLE) MarshalJSON() ([]byte, error) {
	counts, err := json.Marshal(r.CountsString())
	if err != nil {
		return nil, err
	}
	return json.Marshal(jsonRLE{Size: [2]int{r.H, r.W}, Counts: counts})
}

// UnmarshalJSON reads COCO's object with compressed text or a list of counts.
func (r *RLE) UnmarshalJSON(b []byte) error {
	var j struct {
		Size   []int           `json:"size"`
		Counts json.RawMessage `json:"counts"`
	}
	if err := json.Unmarshal(b, &j); err != nil {
		return fmt.Errorf("mask: RLE: %w", err)
	}
	if len(j.Size) != 2 {
		return fmt.Errorf("mask: RLE: size: want 2 numbers, got %d", len(j.Size))
	}
	var out RLE
	var text string
	var err error
	if len(j.Counts) == 0 {
		return fmt.Errorf("mask: RLE: counts is missing")
	}
	if json.Unmarshal(j.Counts, &text) == nil && j.Counts[0] == '"' {
		out, err = Parse(j.Size[0], j.Size[1], text)
	} else {
		var list []int
		if err := json.Unmarshal(j.Counts, &list); err != nil {
			return fmt.Errorf("mask: RLE: counts: want text or a list of whole numbers: %w", err)
		}
		out, err = FromCounts(j.Size[0], j.Size[1], list)
	}
	if err != nil {
		return err
	}
	*r = out
	return nil
}
