package datasets_test

import (
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/datasets"
)

// matlabRoot has a file of MATLAB, with structures as both data sets have them, at the given places, and a picture of 4
// x 3 pixels at others.
func matlabRoot(t *testing.T, mats, pictures []string) string {
	t.Helper()
	root := t.TempDir()
	mat, err := os.ReadFile("../../internal/matfile/testdata/structs.mat")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(mats, pictures...) {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(path) == ".mat" {
			if err := os.WriteFile(path, mat, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := jpeg.Encode(f, image.NewRGBA(image.Rect(0, 0, 4, 3)), nil); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestStanfordCars(t *testing.T) {
	root := matlabRoot(t, []string{"stanford_cars/devkit/cars_train_annos.mat", "stanford_cars/devkit/cars_meta.mat",
		"stanford_cars/cars_test_annos_withlabels.mat"}, []string{"stanford_cars/cars_train/00001.jpg"})
	d, err := datasets.NewStanfordCars(root, "train")
	if err != nil {
		t.Fatal(err)
	}
	if d.Len() != 2 || len(d.Classes) != 2 || d.Classes[1] != "Acura RL" || d.Samples[1].Label != 0 {
		t.Errorf("%+v", d)
	}
	x, err := d.Get(0)
	if err != nil || x.Label != 1 || x.Image.Width != 4 || x.Image.Mode != "RGB" {
		t.Errorf("sample 0: %+v, %v", x, err)
	}
	if _, err := d.Get(1); err == nil {
		t.Error("a picture that is not there is read")
	}
	if d, err := datasets.NewStanfordCars(root, "test"); err != nil || !strings.Contains(d.Samples[0].Path, "cars_test") {
		t.Errorf("test: %+v, %v", d, err)
	}
	for _, c := range [][2]string{{root, "val"}, {t.TempDir(), "train"}} {
		if _, err := datasets.NewStanfordCars(c[0], c[1]); err == nil {
			t.Errorf("no error for %v", c)
		}
	}
}

func TestSBDataset(t *testing.T) {
	for _, below := range []string{"", "benchmark_RELEASE/dataset/"} {
		root := matlabRoot(t, []string{below + "cls/2008_1.mat"}, []string{below + "img/2008_1.jpg"})
		if err := os.WriteFile(filepath.Join(root, below, "val.txt"), []byte("2008_1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		d, err := datasets.NewSBDataset(root, "val")
		if err != nil {
			t.Fatal(err)
		}
		x, err := d.Get(0)
		if err != nil {
			t.Fatal(err)
		}
		if m := x.Target; d.Len() != 1 || m.Width != 4 || m.Height != 3 || m.Pix[1] != 1 || m.Pix[4] != 4 {
			t.Errorf("%d images, classes %+v", d.Len(), m)
		}
		b, err := d.Boundaries(0)
		if err != nil {
			t.Fatal(err)
		}
		at := tensor.Data[uint8](b)
		sum := 0
		for c := range 20 {
			if at[(c*3+c%3)*4+c%4] != 1 {
				t.Errorf("no boundary of class %d", c)
			}
		}
		for _, v := range at {
			sum += int(v)
		}
		if sum != 20 || b.Dim() != 3 || b.Size(1) != 3 || b.Size(2) != 4 {
			t.Errorf("boundaries of shape %v have %d pixels", b.Shape(), sum)
		}
		if _, err := d.Get(1); err == nil {
			t.Error("image 1 of 1 is read")
		}
	}
	if _, err := datasets.NewSBDataset(t.TempDir(), "val"); err == nil || !strings.Contains(err.Error(), "Download") {
		t.Errorf("an empty folder: %v", err)
	}
}
