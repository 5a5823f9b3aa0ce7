package datasets

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/data"
	"github.com/gotorch-dev/torch/hub"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/transforms"
)

// put writes a file and the folders above it.
func put(t *testing.T, content []byte, elem ...string) string {
	t.Helper()
	path := filepath.Join(elem...)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// pngOf is an image of one colour.
func pngOf(t *testing.T, w, h int, c color.Color) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		m.Set(i%w, i/w, c)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestImageFolder(t *testing.T) {
	root := t.TempDir()
	put(t, pngOf(t, 4, 3, color.RGBA{255, 0, 0, 255}), root, "b", "2.png")
	put(t, pngOf(t, 4, 3, color.RGBA{0, 255, 0, 255}), root, "b", "1.PNG")
	put(t, pngOf(t, 4, 3, color.RGBA{0, 0, 255, 255}), root, "a", "z.png")
	put(t, pngOf(t, 4, 3, color.RGBA{0, 0, 0, 255}), root, "a", "deep", "a.png")
	put(t, []byte("no image"), root, "a", "readme.txt")
	d, err := NewImageFolder(root)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range d.Samples {
		rel, err := filepath.Rel(root, s.Path)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.ToSlash(rel))
	}
	if want := []string{"a/z.png", "a/deep/a.png", "b/1.PNG", "b/2.png"}; !slices.Equal(names, want) {
		t.Errorf("files %v, want %v", names, want)
	}
	if !slices.Equal(d.Classes, []string{"a", "b"}) || !slices.Equal(d.Targets(), []int{0, 0, 1, 1}) ||
		d.ClassToIdx()["b"] != 1 {
		t.Errorf("classes %v, labels %v", d.Classes, d.Targets())
	}
	s, err := d.Get(3)
	if err != nil || s.Label != 1 || s.Image.Mode != "RGB" || !slices.Equal(s.Image.Pix[:3], []uint8{255, 0, 0}) {
		t.Errorf("Get(3): %+v, %v", s, err)
	}
	if _, err := d.Get(4); err == nil {
		t.Error("Get(4): no error")
	}
	loader := data.NewDataLoader(Tensors(d, transforms.NewCompose(transforms.NewResize([]int{2, 2}),
		transforms.NewToTensor())), data.LoaderOptions{BatchSize: 4, Workers: 2})
	for b, err := range loader.Iter(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if got := tensor.ShapeString(b[0].Shape()) + tensor.ShapeString(b[1].Shape()); got != "[4, 3, 2, 2][4]" {
			t.Errorf("shapes %s", got)
		}
		if v := b[0].Select(0, 2).Select(0, 1).Mean().Item(); v != 1 {
			t.Errorf("green of a green image %v", v)
		}
	}
	put(t, nil, root, "c", "nothing.txt")
	if _, err := NewImageFolder(root); err == nil || !strings.Contains(err.Error(), "classes c") {
		t.Errorf("an empty class: %v", err)
	}
	if d, err := NewImageFolder(root, FolderOptions{AllowEmpty: true}); err != nil || len(d.Classes) != 3 {
		t.Errorf("an empty class that is allowed: %v", err)
	}
	if _, err := NewImageFolder(t.TempDir()); err == nil {
		t.Error("a folder without classes: no error")
	}
}

// The images are torchvision's, and no numbers are drawn from the default generator.
func TestFakeData(t *testing.T) {
	d := NewFakeData(FakeDataOptions{Size: 5, ImageSize: [3]int{3, 4, 5}, NumClasses: 7, RandomOffset: 2})
	s, err := d.Get(3)
	want := []uint8{213, 223, 219, 132, 103, 228, 76, 36, 139, 79, 218, 95, 2, 145, 124, 188, 198, 79, 223, 242}
	if err != nil || s.Label != 0 || !slices.Equal(s.Image.Pix[:20], want) {
		t.Errorf("label %d, pixels %v, %v; want 0, %v", s.Label, s.Image.Pix[:20], err, want)
	}
	if _, err := d.Get(5); err == nil {
		t.Error("Get(5): no error")
	}
}

func TestCIFAR(t *testing.T) {
	for _, tc := range []struct {
		make  func(string, bool) (*Arrays, error)
		train bool
		seed  int
		label int
		class string
	}{{NewCIFAR10, false, 1, 4, "deer"}, {NewCIFAR100, true, 2, 1, "bee"}} {
		d, err := tc.make("testdata", tc.train)
		if err != nil {
			t.Fatal(err)
		}
		s, err := d.Get(0)
		if err != nil || s.Label != tc.label || d.Classes[s.Label] != tc.class {
			t.Fatalf("label %d of %v, %v", s.Label, d.Classes, err)
		}
		for k, v := range s.Image.Pix { // pixel by pixel; the file has band by band
			if want := uint8((((k%3*1024)+k/3)*7 + tc.seed) % 251); v != want {
				t.Fatalf("byte %d is %d, want %d", k, v, want)
			}
		}
	}
	if _, err := NewCIFAR10("testdata", true); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(),
		`datasets.Download(ctx, "CIFAR10"`) {
		t.Errorf("files that are not there: %v", err)
	}
}

func idxFile(dims []uint32, content []byte) []byte {
	b := []byte{0, 0, 8, byte(len(dims))}
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, d)
	}
	return append(b, content...)
}

func TestMNISTKin(t *testing.T) {
	root := t.TempDir()
	for _, tc := range []struct {
		folder, prefix string
		make           func() (*Arrays, error)
		class          string
	}{
		{"MNIST", "train", func() (*Arrays, error) { return NewMNIST(root, true) }, "3 - three"},
		{"FashionMNIST", "t10k", func() (*Arrays, error) { return NewFashionMNIST(root, false) }, "Dress"},
		{"KMNIST", "train", func() (*Arrays, error) { return NewKMNIST(root, true) }, "tsu"},
		{"EMNIST", "emnist-letters-test", func() (*Arrays, error) { return NewEMNIST(root, "letters", false) }, "c"},
		{"EMNIST", "emnist-bymerge-train", func() (*Arrays, error) { return NewEMNIST(root, "bymerge", true) }, "3"},
	} {
		if _, err := tc.make(); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s without files: %v", tc.folder, err)
		}
		put(t, idxFile([]uint32{2, 1, 2}, []byte{1, 2, 3, 4}), root, tc.folder, "raw", tc.prefix+"-images-idx3-ubyte")
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		w.Write(idxFile([]uint32{2}, []byte{0, 3}))
		w.Close()
		put(t, z.Bytes(), root, tc.folder, "raw", tc.prefix+"-labels-idx1-ubyte.gz")
		d, err := tc.make()
		if err != nil {
			t.Fatal(err)
		}
		s, err := d.Get(1)
		if err != nil || d.Classes[s.Label] != tc.class || s.Image.Mode != "L" || !slices.Equal(s.Image.Pix, []uint8{3, 4}) {
			t.Errorf("%s: %+v of class %q, %v", tc.folder, s, d.Classes[s.Label], err)
		}
	}
	if n := len(emnistClasses()["bymerge"]); n != 47 {
		t.Errorf("bymerge has %d classes, want 47", n)
	}
}

// matElement is an element of a MATLAB file.
func matElement(kind uint32, data []byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, kind)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
	b = append(b, data...)
	for kind != 15 && len(b)%8 != 0 {
		b = append(b, 0)
	}
	return b
}

func matArray(name string, class, kind uint32, data []byte, dims ...uint32) []byte {
	var d []byte
	for _, n := range dims {
		d = binary.LittleEndian.AppendUint32(d, n)
	}
	flags := binary.LittleEndian.AppendUint32(nil, class)
	b := matElement(6, append(flags, 0, 0, 0, 0))
	b = append(b, matElement(5, d)...)
	b = append(b, matElement(1, []byte(name))...)
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	w.Write(matElement(14, append(b, matElement(kind, data)...)))
	w.Close()
	return matElement(15, z.Bytes())
}

func TestSVHN(t *testing.T) {
	header := append(make([]byte, 124), 0, 1, 'I', 'M')
	x := make([]byte, 2*4*3*2) // height 2, width 4
	for i := range x {
		x[i] = byte(i)
	}
	file := append(header, matArray("X", 9, 2, x, 2, 4, 3, 2)...)
	file = append(file, matArray("y", 9, 2, []byte{10, 7}, 2, 1)...)
	root := t.TempDir()
	put(t, file, root, "test_32x32.mat")
	d, err := NewSVHN(root, "test")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.Labels, []int{0, 7}) || d.Height != 2 || d.Width != 4 {
		t.Errorf("labels %v, size %d x %d", d.Labels, d.Height, d.Width)
	}
	s, err := d.Get(1)
	// MATLAB's first index varies fastest: pixel (x 1, y 0) of band 2 of image 1
	if want := byte(0 + 2*(1+4*(2+3*1))); err != nil || s.Image.Pix[1*3+2] != want {
		t.Errorf("a byte of the image is %d, want %d (%v)", s.Image.Pix[1*3+2], want, err)
	}
	for _, split := range []string{"train", "none"} {
		if _, err := NewSVHN(root, split); err == nil {
			t.Errorf("split %s: no error", split)
		}
	}
}

const vocXML = `<annotation><folder>VOC2012</folder><filename>a.jpg</filename><size><width>4</width><height>3</height>
<depth>3</depth></size><object><name>dog</name><difficult>1</difficult><bndbox><xmin>1</xmin><ymin>2</ymin>
<xmax>3.5</xmax><ymax>3</ymax></bndbox><part><name>head</name></part></object></annotation>`

func TestVOC(t *testing.T) {
	root := t.TempDir()
	base := filepath.Join(root, "VOCdevkit", "VOC2012")
	put(t, []byte("a\n"), base, "ImageSets", "Main", "val.txt")
	put(t, []byte("a\n"), base, "ImageSets", "Segmentation", "val.txt")
	put(t, pngOf(t, 4, 3, color.White), base, "JPEGImages", "a.jpg") // the decoder looks at the contents
	put(t, []byte(vocXML), base, "Annotations", "a.xml")
	m := image.NewPaletted(image.Rect(0, 0, 4, 3), color.Palette{color.Black, color.White, color.White})
	m.Pix[5] = 2
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	put(t, b.Bytes(), base, "SegmentationClass", "a.png")
	d, err := NewVOCDetection(root, "2012", "val")
	if err != nil {
		t.Fatal(err)
	}
	x, err := d.Get(0)
	if err != nil {
		t.Fatal(err)
	}
	if o := x.Annotation.Objects[0]; o.Name != "dog" || o.Box.XMax != 3.5 || o.Difficult != 1 || o.Parts[0].Name != "head" {
		t.Errorf("object %+v", o)
	}
	g, err := NewVOCSegmentation(root, "2012", "val")
	if err != nil {
		t.Fatal(err)
	}
	y, err := g.Get(0)
	if err != nil || y.Classes.Pix[5] != 2 || y.Classes.Pix[4] != 0 || y.Image.Width != 4 {
		t.Errorf("classes of pixels %v, %v", y.Classes, err)
	}
	for _, c := range [][2]string{{"2013", "val"}, {"2012", "test"}, {"2011", "val"}} {
		if _, err := NewVOCDetection(root, c[0], c[1]); err == nil {
			t.Errorf("%v: no error", c)
		}
	}
}

// Data sets that list their files.
func TestListed(t *testing.T) {
	root := t.TempDir()
	put(t, []byte(`{"pie": ["pie/2", "pie/1"], "apple": ["apple/9"]}`), root, "food-101", "meta", "test.json")
	put(t, []byte("Abyssinian_1 1 1 1\nyellow_dog_7 2 2 1\n"), root, "oxford-iiit-pet", "annotations", "test.txt")
	put(t, []byte("dotted/a.jpg\nbanded/b.jpg\n"), root, "dtd", "dtd", "labels", "val2.txt")
	put(t, []byte("707-320\nA300 B4\n"), root, "fgvc-aircraft-2013b", "data", "variants.txt")
	put(t, []byte("0001 A300 B4\n"), root, "fgvc-aircraft-2013b", "data", "images_variant_test.txt")
	put(t, nil, root, "SUN397", "a", "abbey", "sun_1.jpg")
	put(t, []byte("/a/abbey\n"), root, "SUN397", "ClassName.txt")
	put(t, nil, root, "caltech101", "101_ObjectCategories", "BACKGROUND_Google", "image_0001.jpg")
	put(t, nil, root, "caltech101", "101_ObjectCategories", "ant", "image_0001.jpg")
	put(t, nil, root, "rendered-sst2", "valid", "positive", "1.png")
	put(t, nil, root, "imagenette2-160", "val", "n01440764", "1.JPEG")
	for _, tc := range []struct {
		name    string
		make    func() (*DatasetFolder, error)
		classes string
		labels  []int
		first   string
	}{
		{"Food101", func() (*DatasetFolder, error) { return NewFood101(root, "test") }, "apple,pie", []int{1, 1, 0},
			"food-101/images/pie/2.jpg"},
		{"OxfordIIITPet", func() (*DatasetFolder, error) { return NewOxfordIIITPet(root, "test") },
			"Abyssinian,Yellow Dog", []int{0, 1}, "oxford-iiit-pet/images/Abyssinian_1.jpg"},
		{"DTD", func() (*DatasetFolder, error) { return NewDTD(root, "val", 2) }, "banded,dotted", []int{1, 0},
			"dtd/dtd/images/dotted/a.jpg"},
		{"FGVCAircraft", func() (*DatasetFolder, error) { return NewFGVCAircraft(root, "test", "variant") },
			"707-320,A300 B4", []int{1}, "fgvc-aircraft-2013b/data/images/0001.jpg"},
		{"SUN397", func() (*DatasetFolder, error) { return NewSUN397(root) }, "abbey", []int{0}, "SUN397/a/abbey/sun_1.jpg"},
		{"Caltech101", func() (*DatasetFolder, error) { return NewCaltech101(root) }, "ant", []int{0},
			"caltech101/101_ObjectCategories/ant/image_0001.jpg"},
		{"RenderedSST2", func() (*DatasetFolder, error) { return NewRenderedSST2(root, "val") }, "positive", []int{0},
			"rendered-sst2/valid/positive/1.png"},
		{"Imagenette", func() (*DatasetFolder, error) { return NewImagenette(root, "val", "160px") }, "tench", []int{0},
			"imagenette2-160/val/n01440764/1.JPEG"},
	} {
		d, err := tc.make()
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		rel, _ := filepath.Rel(root, d.Samples[0].Path)
		if strings.Join(d.Classes, ",") != tc.classes || !slices.Equal(d.Targets(), tc.labels) ||
			filepath.ToSlash(rel) != tc.first {
			t.Errorf("%s: classes %v, labels %v, first file %s", tc.name, d.Classes, d.Targets(), rel)
		}
	}
	put(t, []byte(`{"x": ["../../../etc/passwd"]}`), root, "food-101", "meta", "train.json")
	if _, err := NewFood101(root, "train"); err == nil {
		t.Error("a name that leads out of the data set: no error")
	}
}

// tarOf is a packed archive.
func tarOf(files map[string]string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, content := range files {
		w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(content)), Mode: 0o666})
		w.Write([]byte(content))
	}
	w.Close()
	z.Close()
	return b.Bytes()
}

func TestDownload(t *testing.T) {
	good, evil := tarOf(map[string]string{"set/a/1.txt": "one"}), tarOf(map[string]string{"../out.txt": "x"})
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		switch r.URL.Path {
		case "/good.tar.gz":
			w.Write(good)
		case "/evil.tgz":
			w.Write(evil)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	sum := md5.Sum(good)
	remotes["test"] = []remote{{address: "http://127.0.0.1:1/good.tar.gz", md5: hex.EncodeToString(sum[:]), dir: "sub"}}
	remotes["test wrong"] = []remote{{address: server.URL + "/good.tar.gz", md5: strings.Repeat("0", 32)}}
	remotes["test evil"] = []remote{{address: server.URL + "/evil.tgz"}}
	defer func() {
		for _, n := range []string{"test", "test wrong", "test evil"} {
			delete(remotes, n)
		}
	}()
	root, ctx := t.TempDir(), context.Background()
	seen := int64(0)
	o := DownloadOptions{Mirror: server.URL + "/", Progress: func(_ string, done, _ int64) { seen = done }}
	for range 2 { // the second time nothing is fetched
		if err := Download(ctx, "test", root, o); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := os.ReadFile(filepath.Join(root, "sub", "set", "a", "1.txt")); err != nil || string(b) != "one" {
		t.Errorf("the unpacked file: %q, %v", b, err)
	}
	if requests != 1 || seen != int64(len(good)) {
		t.Errorf("%d requests, progress to %d of %d bytes", requests, seen, len(good))
	}
	root = t.TempDir()
	if err := Download(ctx, "test wrong", root); !errors.Is(err, hub.ErrHash) {
		t.Errorf("another hash: %v", err)
	}
	if entries, _ := os.ReadDir(root); len(entries) > 0 {
		t.Errorf("a file with another hash is left: %v", entries)
	}
	if err := Download(ctx, "test evil", filepath.Join(root, "in")); err == nil {
		t.Error("a name that leads out of the folder: no error")
	}
	if _, err := os.Stat(filepath.Join(root, "out.txt")); err == nil {
		t.Error("a file was written outside of the folder")
	}
	if err := Download(ctx, "nothing", root); err == nil {
		t.Error("an unknown name: no error")
	}
}

func FuzzUntar(f *testing.F) {
	f.Add(tarOf(map[string]string{"a": "b"}))
	f.Add(tarOf(map[string]string{"../a": "b"}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		file := put(t, b, dir, "x.tar.gz")
		_ = untar(t.Context(), file, filepath.Join(dir, "in"), true)
		if entries, _ := os.ReadDir(dir); len(entries) > 2 {
			t.Errorf("files beside the folder: %v", entries)
		}
	})
}

func FuzzParseVOC(f *testing.F) {
	f.Add([]byte(vocXML))
	f.Add([]byte("<annotation>"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := ParseVOC(b); err == nil && a == nil {
			t.Error("neither an annotation nor an error")
		}
	})
}
