package matfile

import (
	"errors"
	"os"
	"slices"
	"testing"
)

// TestStructures reads what scipy has written.
func TestStructures(t *testing.T) {
	file, err := os.ReadFile("testdata/structs.mat")
	if err != nil {
		t.Fatal(err)
	}
	m, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	cars := m["annotations"]
	if cars == nil || cars.Len() != 2 || len(cars.Fields) != 3 {
		t.Fatalf("annotations: %+v", cars)
	}
	for i, want := range []string{"00001.jpg", "00002é.jpg"} {
		if got := cars.Fields["fname"][i].Text; got != want {
			t.Errorf("fname %d is %q, want %q", i, got, want)
		}
		if got, want := cars.Fields["class"][i].At(0), float64(2-i); got != want {
			t.Errorf("class %d is %v, want %v", i, got, want)
		}
	}
	if c := m["class_names"].Cells; len(c) != 2 || c[1].Text != "Acura RL" {
		t.Errorf("class_names: %+v", c)
	}
	if m["text"].Text != "héllo" || m["empty"].Len() != 0 || m["complex"] != nil || m["flags"].At(0) != 1 {
		t.Errorf("text %q, empty %+v, complex %+v, flags %+v", m["text"].Text, m["empty"], m["complex"], m["flags"])
	}
	g := m["GTcls"].Fields
	if s := g["Segmentation"][0]; !slices.Equal(s.Dims, []int{3, 4}) || s.At(1) != 4 {
		t.Errorf("Segmentation: %+v", s)
	}
	edges := g["Boundaries"][0]
	if edges.Len() != 20 {
		t.Fatalf("%d boundaries", edges.Len())
	}
	for i, e := range edges.Cells {
		s := e.Sparse
		if !slices.Equal(e.Dims, []int{3, 4}) || s.Start[i%4] != 0 || s.Start[i%4+1] != 1 || int(s.Rows[0]) != i%3 ||
			s.Numbers[0] != 1 {
			t.Errorf("boundary %d: %+v %+v", i, e, s)
		}
	}
	for n := range file {
		if _, err := Read(file[:n]); err != nil && !errors.Is(err, ErrFormat) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}
