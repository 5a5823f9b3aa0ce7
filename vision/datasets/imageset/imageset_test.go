package imageset

import (
	"slices"
	"testing"
)

func small() *Set {
	return &Set{
		Images: []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
		Labels: []uint8{1, 0},
		Rows:   2, Cols: 3, Classes: 2,
	}
}

func TestViews(t *testing.T) {
	s := small()
	if s.Len() != 2 {
		t.Fatalf("Len() = %d, want 2", s.Len())
	}
	if got, want := s.Pixels(1), []byte{7, 8, 9, 10, 11, 12}; !slices.Equal(got, want) {
		t.Errorf("Pixels(1) = %v, want %v", got, want)
	}
	if got := s.Image(1).GrayAt(2, 1).Y; got != 12 {
		t.Errorf("Image(1) at (2,1) = %d, want 12", got)
	}
	_ = append(s.Pixels(0), 99)
	if s.Images[6] != 7 {
		t.Error("appending to Pixels(0) overwrote the next image")
	}
	if got, want := s.Counts(), []int{1, 1}; !slices.Equal(got, want) {
		t.Errorf("Counts() = %v, want %v", got, want)
	}
}

func TestSheet(t *testing.T) {
	sheet := small().Sheet(1, 2)
	if got := sheet.Bounds().Size(); got.X != 9 || got.Y != 4 {
		t.Fatalf("size %v, want 9x4", got)
	}
	want := []byte{
		64, 64, 64, 64, 64, 64, 64, 64, 64,
		64, 1, 2, 3, 64, 7, 8, 9, 64,
		64, 4, 5, 6, 64, 10, 11, 12, 64,
		64, 64, 64, 64, 64, 64, 64, 64, 64,
	}
	if !slices.Equal(sheet.Pix, want) {
		t.Errorf("sheet = %v\nwant    %v", sheet.Pix, want)
	}
}

func TestRange(t *testing.T) {
	for _, i := range []int{-1, 2} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Pixels(%d) did not panic", i)
				}
			}()
			small().Pixels(i)
		}()
	}
}
