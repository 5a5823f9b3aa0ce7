package op

import "testing"

func TestExtent(t *testing.T) {
	long := make([]int64, 200_000)
	for i := range long {
		long[i] = int64(i%977) + 5
	}
	long[70_000], long[199_999] = 3, 1<<40
	for _, c := range []struct {
		s           []int64
		least, most int64
	}{{nil, 0, 0}, {[]int64{-7}, -7, -7}, {[]int64{4, 9, -2, 5}, -2, 9}, {long, 3, 1 << 40}} {
		if lo, hi := Extent(c.s); lo != c.least || hi != c.most {
			t.Errorf("%d numbers: %d to %d, want %d to %d", len(c.s), lo, hi, c.least, c.most)
		}
	}
	if lo, hi := Extent([]uint8{200, 3, 255}); lo != 3 || hi != 255 {
		t.Errorf("bytes: %d to %d", lo, hi)
	}
}
