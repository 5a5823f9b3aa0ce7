package datasets

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/tensor"
)

// ppm is an image of one colour.
func ppm(w, h int, r, g, b byte) []byte {
	return append([]byte(fmt.Sprintf("P6\n# a comment\n%d %d\n255\n", w, h)), bytes.Repeat([]byte{r, g, b}, w*h)...)
}

// Data sets whose files have a class each.
func TestClassified(t *testing.T) {
	root := t.TempDir()
	put(t, ppm(2, 3, 9, 8, 7), root, "gtsrb", "GTSRB", "Training", "00002", "1.ppm")
	put(t, nil, root, "gtsrb", "GTSRB", "Training", "00000", "1.ppm")
	put(t, []byte("Filename;Width; ClassId\n00001.ppm;5; 42\n00000.ppm;5;0\n"), root, "gtsrb", "GT-final_test.csv")
	for _, c := range []string{"Latin/b", "Latin/a", "Greek/x"} {
		put(t, nil, root, "omniglot-py", "images_background", c, "0001_01.png")
	}
	put(t, []byte("/a/airfield 0\n/b/bar 1\n"), root, "categories_places365.txt")
	put(t, []byte("/b/bar/1.jpg 1\n/a/airfield/2.jpg 0\n"), root, "places365_train_standard.txt")
	put(t, []byte("Places365_test_1.jpg\n"), root, "places365_test.txt")
	put(t, []byte(`{"scenes": [{"image_filename": "1.png", "objects": [{}, {}]},
		{"image_filename": "0.png", "objects": []}]}`), root, "clevr", "CLEVR_v1.0", "scenes", "CLEVR_val_scenes.json")
	put(t, nil, root, "clevr", "CLEVR_v1.0", "images", "val", "0.png")
	put(t, nil, root, "clevr", "CLEVR_v1.0", "images", "val", "1.png")
	put(t, nil, root, "2021_valid", "00000_Animalia_P_C_O_F_G_s", "1.jpg")
	put(t, nil, root, "2021_valid", "00001_Plantae_P_C_O_F_G_s", "1.jpg")
	put(t, nil, root, "2021_valid", "00002_Animalia_P_C_O_F_G_t", "1.jpg")
	put(t, nil, root, "2018", "Birds", "1", "x.jpg")
	put(t, nil, root, "2018", "Aves", "0", "y.jpg")
	put(t, nil, root, "2018", "Birds", "2", "z.jpg")
	put(t, []byte("Ann_Lee 2\nBob 1\n"), root, "lfw-py", "lfw-names.txt")
	put(t, []byte("2\nAnn_Lee\t2\nBob\t1\n"), root, "lfw-py", "peopleDevTest.txt")
	put(t, []byte("2\n1\nBob\t1\n1\nAnn_Lee\t1\n"), root, "lfw-py", "people.txt")
	for _, tc := range []struct {
		name    string
		make    func() (*DatasetFolder, error)
		classes string
		labels  []int
		first   string
	}{
		{"GTSRB train", func() (*DatasetFolder, error) { return NewGTSRB(root, "train") }, "00000,00002", []int{0, 1},
			"gtsrb/GTSRB/Training/00000/1.ppm"},
		{"Omniglot", func() (*DatasetFolder, error) { return NewOmniglot(root, true) }, "Greek/x,Latin/a,Latin/b",
			[]int{0, 1, 2}, "omniglot-py/images_background/Greek/x/0001_01.png"},
		{"Places365", func() (*DatasetFolder, error) { return NewPlaces365(root, "train-standard", true) },
			"/a/airfield,/b/bar", []int{1, 0}, "data_256_standard/b/bar/1.jpg"},
		{"Places365 test", func() (*DatasetFolder, error) { return NewPlaces365(root, "test", false) },
			"/a/airfield,/b/bar", []int{-1}, "test_large/Places365_test_1.jpg"},
		{"CLEVR", func() (*DatasetFolder, error) { return NewCLEVRClassification(root, "val") }, "0,1,2", []int{0, 2},
			"clevr/CLEVR_v1.0/images/val/0.png"},
		{"INaturalist 2021", func() (*DatasetFolder, error) { return NewINaturalist(root, "2021_valid", "kingdom") },
			"Animalia,Plantae", []int{0, 1, 0}, "2021_valid/00000_Animalia_P_C_O_F_G_s/1.jpg"},
		{"INaturalist 2018", func() (*DatasetFolder, error) { return NewINaturalist(root, "2018", "super") },
			"Aves,Birds", []int{0, 1, 1}, "2018/Aves/0/y.jpg"},
		{"LFWPeople", func() (*DatasetFolder, error) { return NewLFWPeople(root, "test", "original") }, "Ann_Lee,Bob",
			[]int{0, 0, 1}, "lfw-py/lfw/Ann_Lee/Ann_Lee_0001.jpg"},
		{"LFWPeople 10fold", func() (*DatasetFolder, error) { return NewLFWPeople(root, "10fold", "funneled") },
			"Ann_Lee,Bob", []int{1, 0}, "lfw-py/lfw_funneled/Bob/Bob_0001.jpg"},
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
	d, err := NewGTSRB(root, "test")
	if err != nil || len(d.Classes) != 43 || !slices.Equal(d.Targets(), []int{42, 0}) {
		t.Errorf("GTSRB test: %+v, %v", d, err)
	}
	if d, err = NewGTSRB(root, "train"); err == nil {
		x, err := d.Get(1)
		if err != nil || x.Image.Width != 2 || x.Image.Height != 3 || !bytes.Equal(x.Image.Pix[:3], []byte{9, 8, 7}) {
			t.Errorf("a pixmap: %+v, %v", x.Image, err)
		}
	}
}

// Small grey images.
func TestDigits(t *testing.T) {
	root := t.TempDir()
	pixels := make([]byte, 3*4)
	pixels[5] = 77
	put(t, idxFile([]uint32{3, 2, 2}, pixels), root, "QMNIST", "raw", "qmnist-test-images-idx3-ubyte")
	labels := []byte{0, 0, 0x0c, 2}
	for _, v := range []uint32{3, 2, 5, 100, 6, 100, 7, 100} {
		labels = binary.BigEndian.AppendUint32(labels, v)
	}
	put(t, labels, root, "QMNIST", "raw", "qmnist-test-labels-idx2-int")
	q, err := NewQMNIST(root, "test10k")
	if err != nil || !slices.Equal(q.Labels, []int{5, 6, 7}) {
		t.Fatalf("QMNIST: %+v, %v", q, err)
	}
	if x, err := q.Get(1); err != nil || !bytes.Equal(x.Image.Pix, []byte{0, 77, 0, 0}) {
		t.Errorf("QMNIST: image %v, %v", x.Image, err)
	}
	if q, err := NewQMNIST(root, "test50k"); err != nil || q.Len() != 0 {
		t.Errorf("QMNIST test50k: %v, %v", q, err)
	}

	semeion := strings.Repeat("1.0000 0.0000 ", 128) + "0 0 0 1 0 0 0 0 0 0\n"
	put(t, []byte(semeion), root, "semeion.data")
	s, err := NewSEMEION(root)
	if err != nil || !slices.Equal(s.Labels, []int{3}) {
		t.Fatalf("SEMEION: %+v, %v", s, err)
	}
	if x, _ := s.Get(0); x.Image.Width != 16 || x.Image.Pix[0] != 255 || x.Image.Pix[1] != 0 {
		t.Errorf("SEMEION: %+v", x.Image)
	}

	line := "10"
	for i := range 256 {
		line += fmt.Sprintf(" %d:%g", i+1, float64(i%3)-1)
	}
	u, err := parseUSPS([]byte(line + "\n"))
	if err != nil || !slices.Equal(u.Labels, []int{9}) {
		t.Fatalf("USPS: %+v, %v", u, err)
	}
	if x, _ := u.Get(0); !bytes.Equal(x.Image.Pix[:4], []byte{0, 127, 255, 0}) {
		t.Errorf("USPS: %v", x.Image.Pix[:4])
	}
	for _, bad := range []string{"1 1:0", strings.Replace(line, "10 ", "11 ", 1),
		strings.Replace(line, ":1", ":2", 1)} {
		if _, err := parseUSPS([]byte(bad)); err == nil {
			t.Errorf("USPS: no error for %.20q", bad)
		}
	}

	face := strings.TrimSpace(strings.Repeat("7 ", 48*48))
	put(t, []byte("emotion, Usage, pixels\n3,Training,"+face+"\n6,PublicTest,"+face+"\n"), root, "fer2013",
		"icml_face_data.csv")
	for split, want := range map[string]int{"train": 3, "test": 6} {
		if f, err := NewFER2013(root, split); err != nil || !slices.Equal(f.Labels, []int{want}) {
			t.Errorf("FER2013 %s: %+v, %v", split, f, err)
		}
	}
	put(t, []byte("pixels\n"+face+"\n"), root, "other", "fer2013", "test.csv")
	if f, err := NewFER2013(filepath.Join(root, "other"), "test"); err != nil || !slices.Equal(f.Labels, []int{-1}) {
		t.Errorf("FER2013 without labels: %+v, %v", f, err)
	}
}

// Data sets that say more of an image than its class.
func TestAnnotated(t *testing.T) {
	root := t.TempDir()
	green := pngOf(t, 3, 2, color.RGBA{G: 200, A: 255})
	for file, text := range map[string]string{
		"list_eval_partition.txt": "1.jpg 0\n2.jpg 2\n",
		"list_attr_celeba.txt":    "2\nBald Hat \n1.jpg -1  1\n2.jpg  1 -1\n",
		"identity_CelebA.txt":     "1.jpg 7\n2.jpg 9\n",
		"list_bbox_celeba.txt":    "2\nimage_id x_1 y_1 width height\n1.jpg 1 2 3 4\n2.jpg 5 6 7 8\n",
		"list_landmarks_align_celeba.txt": "2\na b c d e f g h i j\n1.jpg 0 1 2 3 4 5 6 7 8 9\n2.jpg 9 8 7 6 5 4 3 2 " +
			"1 0\n",
	} {
		put(t, []byte(text), root, "celeba", file)
	}
	put(t, green, root, "celeba", "img_align_celeba", "2.jpg")
	faces, err := NewCelebA(root, "test")
	if err != nil || faces.Len() != 1 || !slices.Equal(faces.AttrNames, []string{"Bald", "Hat"}) {
		t.Fatalf("CelebA: %+v, %v", faces, err)
	}
	x, err := faces.Get(0)
	if err != nil || x.Image.Width != 3 || !slices.Equal(x.Target.Attributes, []bool{true, false}) ||
		x.Target.Identity != 9 || x.Target.Box != [4]int{5, 6, 7, 8} || x.Target.Landmarks[4] != [2]int{1, 0} {
		t.Errorf("CelebA: %+v, %v", x, err)
	}

	put(t, []byte("http://a/b/1.jpg\nhttp://a/2.jpg\n"), root, "dataset", "SBU_captioned_photo_dataset_urls.txt")
	put(t, []byte("one\ntwo\n"), root, "dataset", "SBU_captioned_photo_dataset_captions.txt")
	put(t, green, root, "dataset", "2.jpg")
	if d, err := NewSBU(root); err != nil || !slices.Equal(d.Targets, []string{"two"}) {
		t.Errorf("SBU: %+v, %v", d, err)
	}

	list := put(t, []byte("b.jpg#0\tA dog\na.jpg#0\tA cat\nb.jpg#1\tRuns\n"), root, "flickr.token")
	d, err := NewFlickr30k(root, list)
	if err != nil || filepath.Base(d.Paths[1]) != "b.jpg" || !slices.Equal(d.Targets[1], []string{"A dog", "Runs"}) {
		t.Errorf("Flickr30k: %+v, %v", d, err)
	}
	page := put(t, []byte(`<html><a>x/0/</a><table><tr><td><a href="x">http://f/me/77/</a></td><td><ul><li>A dog .
		</li><li>Runs</li></ul><tr><td>Image Not Found<li>nothing</li></table></html>`), root, "page.html")
	put(t, green, root, "flickr8k", "77_abc.jpg")
	d, err = NewFlickr8k(filepath.Join(root, "flickr8k"), page)
	if err != nil || d.Len() != 1 || !slices.Equal(d.Targets[0], []string{"A dog .", "Runs"}) {
		t.Errorf("Flickr8k: %+v, %v", d, err)
	}

	put(t, green, root, "Kitti", "raw", "training", "image_2", "000001.png")
	put(t, []byte("Car 0.5 2 -1.5 1 2 3 4 5 6 7 8 9 10 1.25\n"), root, "Kitti", "raw", "training", "label_2",
		"000001.txt")
	k, err := NewKitti(root, true)
	if err != nil || len(k.Targets[0]) != 1 || k.Targets[0][0] != (KittiObject{"Car", 0.5, 2, -1.5,
		[4]float64{1, 2, 3, 4}, [3]float64{5, 6, 7}, [3]float64{8, 9, 10}, 1.25}) {
		t.Errorf("Kitti: %+v, %v", k, err)
	}

	put(t, []byte("0--P/a.jpg\n2\n1 2 3 4 0 0 0 2 0 1\n5 6 7 8 0 1 0 0 1 0\n0--P/b.jpg\n0\n0 0 0 0 0 0 0 0 0 0\n"),
		root,
		"widerface", "wider_face_split", "wider_face_val_bbx_gt.txt")
	w, err := NewWIDERFace(root, "val")
	if err != nil || w.Len() != 2 || len(w.Targets[0]) != 2 || w.Targets[0][0].Occlusion != 2 ||
		w.Targets[0][0].Invalid != 1 || w.Targets[0][1].Box != [4]int{5, 6, 7, 8} {
		t.Errorf("WIDERFace: %+v, %v", w, err)
	}

	put(t, green, root, "leftImg8bit", "val", "ulm", "ulm_0_leftImg8bit.png")
	put(t, green, root, "gtFine", "val", "ulm", "ulm_0_gtFine_color.png")
	put(t, []byte(`{"imgHeight": 2, "imgWidth": 3, "objects": [{"label": "car", "polygon": [[0, 1], [2, 1]]}]}`), root,
		"gtFine", "val", "ulm", "ulm_0_gtFine_polygons.json")
	c, err := NewCityscapes(root, "val", "fine")
	if err != nil || c.Len() != 1 {
		t.Fatalf("Cityscapes: %+v, %v", c, err)
	}
	if im, err := c.Targets[0].Image("color"); err != nil || im.Pix[1] != 200 {
		t.Errorf("Cityscapes: %v, %v", im, err)
	}
	if p, err := c.Targets[0].Polygons(); err != nil || p.Objects[0].Label != "car" || p.Objects[0].Polygon[1][0] != 2 {
		t.Errorf("Cityscapes: %+v, %v", p, err)
	}

	put(t, []byte("1\nAnn\t1\t2\nAnn\t1\tBob\t3\n"), root, "lfw-py", "pairsDevTrain.txt")
	put(t, green, root, "lfw-py", "lfw", "Ann", "Ann_0001.jpg")
	put(t, green, root, "lfw-py", "lfw", "Ann", "Ann_0002.jpg")
	p, err := NewLFWPairs(root, "train", "original")
	if err != nil || p.Len() != 2 || p.Names[1] != [2]string{"Ann", "Bob"} {
		t.Fatalf("LFWPairs: %+v, %v", p, err)
	}
	if x, err := p.Get(0); err != nil || !x.Same || x.Second.Width != 3 {
		t.Errorf("LFWPairs: %+v, %v", x, err)
	}

	for name, err := range map[string]error{
		"split":  second(NewCelebA(root, "dev")),
		"mode":   second(NewCityscapes(root, "val", "rough")),
		"splits": second(NewCityscapes(root, "test", "coarse")),
		"places": second(NewPlaces365(root, "train", true)),
		"qmnist": second(NewQMNIST(root, "all")),
		"absent": second(NewUSPS(root, true)),
		"nature": second(NewINaturalist(root, "2018", "genus")),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// png16Of is a picture of 16 bits of one colour.
func png16Of(t *testing.T, w, h int, r, g, b uint16, gray bool) []byte {
	t.Helper()
	var m interface {
		image.Image
		Set(x, y int, c color.Color)
	} = image.NewNRGBA64(image.Rect(0, 0, w, h))
	if gray {
		m = image.NewGray16(image.Rect(0, 0, w, h))
	}
	for i := range w * h {
		m.Set(i%w, i/w, color.NRGBA64{r, g, b, 65535})
	}
	var out bytes.Buffer
	if err := png.Encode(&out, m); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func pfmOf(kind string, w, h int, v ...float32) []byte {
	b := []byte(fmt.Sprintf("%s\n%d %d\n-1.0\n", kind, w, h))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func floOf(w, h uint32, v ...float32) []byte {
	b := binary.LittleEndian.AppendUint32([]byte("PIEH"), w)
	b = binary.LittleEndian.AppendUint32(b, h)
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// Pairs of views and of moments: the first number of the map of the first pair, its shape, and how many pairs there
// are.
func TestPairs(t *testing.T) {
	root := t.TempDir()
	black := pngOf(t, 2, 1, color.RGBA{A: 255})
	pfm, flo := pfmOf("Pf", 2, 1, -1.5, 2), floOf(2, 1, 3, 4, 5, 6)
	gray := png16Of(t, 2, 1, 512, 512, 512, true)
	flow := png16Of(t, 2, 1, 32768+64, 32768-32, 1, false)
	for path, content := range map[string][]byte{
		"carla-highres/trainingF/a/im0.png":                           black,
		"carla-highres/trainingF/a/im1.png":                           black,
		"carla-highres/trainingF/a/disp0GT.pfm":                       pfm,
		"Kitti2012/training/colored_0/1_10.png":                       black,
		"Kitti2012/training/colored_1/1_10.png":                       black,
		"Kitti2012/training/disp_noc/1_10.png":                        gray,
		"Kitti2015/testing/image_2/1.png":                             black,
		"Kitti2015/testing/image_3/1.png":                             black,
		"Middlebury2014/train/Piano-perfect/im0.png":                  black,
		"Middlebury2014/train/Piano-perfect/im1.png":                  black,
		"Middlebury2014/train/Piano-perfect/disp0.pfm":                pfmOf("Pf", 2, 1, float32(math.Inf(1)), 2),
		"CREStereo/shapenet/1_left.jpg":                               black,
		"CREStereo/shapenet/1_right.jpg":                              black,
		"CREStereo/shapenet/1_left.disp.png":                          gray,
		"FallingThings/mixed/k/1.left.jpg":                            black,
		"FallingThings/mixed/k/1.right.jpg":                           black,
		"FallingThings/mixed/k/1.left.depth.png":                      gray,
		"SceneFlow/Monkaa/frames_finalpass/s/left/1.png":              black,
		"SceneFlow/Monkaa/frames_finalpass/s/right/1.png":             black,
		"SceneFlow/Monkaa/disparity/s/left/1.pfm":                     pfm,
		"Sintel/training/final_left/s/1.png":                          black,
		"Sintel/training/final_right/s/1.png":                         black,
		"Sintel/training/disparities/s/1.png":                         pngOf(t, 2, 1, color.RGBA{3, 64, 128, 255}),
		"Sintel/training/occlusions/s/1.png":                          black,
		"Sintel/training/outofframe/s/1.png":                          pngOf(t, 2, 1, color.RGBA{9, 9, 9, 255}),
		"InStereo2k/test/1/left.png":                                  black,
		"InStereo2k/test/1/right.png":                                 black,
		"InStereo2k/test/1/left_disp.png":                             gray,
		"ETH3D/two_view_training/a/im0.png":                           black,
		"ETH3D/two_view_training/a/im1.png":                           black,
		"ETH3D/two_view_training_gt/a/disp0GT.pfm":                    pfm,
		"ETH3D/two_view_training_gt/a/mask0nocc.png":                  black,
		"Sintel/training/clean/s/1.png":                               black,
		"Sintel/training/clean/s/2.png":                               black,
		"Sintel/training/clean/s/3.png":                               black,
		"Sintel/training/flow/s/1.flo":                                flo,
		"Sintel/training/flow/s/2.flo":                                flo,
		"KittiFlow/training/image_2/1_10.png":                         black,
		"KittiFlow/training/image_2/1_11.png":                         black,
		"KittiFlow/training/flow_occ/1_10.png":                        flow,
		"FlyingChairs/data/1_img1.ppm":                                ppm(2, 1, 1, 2, 3),
		"FlyingChairs/data/1_img2.ppm":                                ppm(2, 1, 1, 2, 3),
		"FlyingChairs/data/1_flow.flo":                                flo,
		"FlyingChairs/FlyingChairs_train_val.txt":                     []byte("2\n"),
		"FlyingThings3D/frames_cleanpass/TEST/A/1/left/1.png":         black,
		"FlyingThings3D/frames_cleanpass/TEST/A/1/left/2.png":         black,
		"FlyingThings3D/optical_flow/TEST/A/1/into_future/left/1.pfm": pfmOf("PF", 2, 1, 1, 2, 3, 4, 5, 6),
		"FlyingThings3D/optical_flow/TEST/A/1/into_future/left/2.pfm": pfmOf("PF", 2, 1, 1, 2, 3, 4, 5, 6),
		"FlyingThings3D/optical_flow/TEST/A/1/into_past/left/1.pfm":   pfmOf("PF", 2, 1, 1, 2, 3, 4, 5, 6),
		"FlyingThings3D/optical_flow/TEST/A/1/into_past/left/2.pfm":   pfmOf("PF", 2, 1, 7, 2, 3, 4, 5, 6),
		"hd1k/hd1k_flow_gt/flow_occ/000003_1.png":                     flow,
		"hd1k/hd1k_flow_gt/flow_occ/000003_2.png":                     flow,
		"hd1k/hd1k_input/image_2/000003_1.png":                        black,
		"hd1k/hd1k_input/image_2/000003_2.png":                        black,
	} {
		put(t, content, root, filepath.FromSlash(path))
	}
	put(t, []byte(`{"camera_settings": [{"intrinsic_settings": {"fx": 768.5}}]}`), root, "FallingThings", "mixed", "k",
		"_camera_settings.json")
	for name, tc := range map[string]struct {
		make  func() (*Pairs, error)
		n     int
		first float64
		shape []int // nil: no map
		valid []bool
	}{
		"CarlaStereo": {func() (*Pairs, error) { return NewCarlaStereo(root) }, 1, 1.5, []int{1, 1, 2}, nil},
		"Kitti2012Stereo": {func() (*Pairs, error) { return NewKitti2012Stereo(root, "train") }, 1, 2, []int{1, 1, 2},
			nil},
		"Kitti2015Stereo": {func() (*Pairs, error) { return NewKitti2015Stereo(root, "test") }, 1, 0, nil, nil},
		"Middlebury2014Stereo": {func() (*Pairs, error) { return NewMiddlebury2014Stereo(root, "train", "perfect") }, 1,
			0,
			[]int{1, 1, 2}, []bool{false, true}},
		"FallingThingsStereo": {func() (*Pairs, error) { return NewFallingThingsStereo(root, "mixed") }, 1,
			768.5 * 600 / 512, []int{1, 1, 2}, nil},
		"SceneFlowStereo": {func() (*Pairs, error) { return NewSceneFlowStereo(root, "Monkaa", "final") }, 1, 1.5,
			[]int{1, 1, 2}, nil},
		"SintelStereo": {func() (*Pairs, error) { return NewSintelStereo(root, "final") }, 1, 13.0078125,
			[]int{1, 1, 2},
			[]bool{false, false}},
		"InStereo2k": {func() (*Pairs, error) { return NewInStereo2k(root, "test") }, 1, 0.5, []int{1, 1, 2}, nil},
		"ETH3DStereo": {func() (*Pairs, error) { return NewETH3DStereo(root, "train") }, 1, 1.5, []int{1, 1, 2},
			[]bool{false, false}},
		"Sintel": {func() (*Pairs, error) { return NewSintel(root, "train", "clean") }, 2, 3, []int{2, 1, 2},
			nil},
		"KittiFlow": {func() (*Pairs, error) { return NewKittiFlow(root, "train") }, 1, 1, []int{2, 1, 2},
			[]bool{true, true}},
		"FlyingChairs": {func() (*Pairs, error) { return NewFlyingChairs(root, "val") }, 1, 3, []int{2, 1, 2}, nil},
		"FlyingThings3D": {func() (*Pairs, error) { return NewFlyingThings3D(root, "test", "clean", "left") }, 2, 1,
			[]int{2, 1, 2}, nil},
		"HD1K": {func() (*Pairs, error) { return NewHD1K(root, "train") }, 1, 1, []int{2, 1, 2}, []bool{true, true}},
	} {
		d, err := tc.make()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		p, err := d.Get(0)
		if err != nil || d.Len() != tc.n || p.First.Width != 2 || p.Second == nil ||
			(p.Map == nil) != (tc.shape == nil) {
			t.Errorf("%s: %d pairs, %+v, %v", name, d.Len(), p, err)
			continue
		}
		if p.Map != nil && (!tensor.SameShape(p.Map.Shape(), tc.shape) ||
			math.Abs(float64(tensor.Data[float32](tensor.Dense(p.Map))[0])-tc.first) > 1e-6*tc.first) {
			t.Errorf("%s: %v, want shape %v and %v first", name, p.Map, tc.shape, tc.first)
		}
		if (p.Valid == nil) != (tc.valid == nil) || p.Valid != nil &&
			(!slices.Equal(tensor.Data[bool](tensor.Dense(p.Valid)), tc.valid) || p.Valid.Dim() != 2) {
			t.Errorf("%s: valid are %v, want %v", name, p.Valid, tc.valid)
		}
	}
	if _, err := NewCREStereo(root); err == nil || !strings.Contains(err.Error(), "reflective") {
		t.Errorf("CREStereo without a folder: %v", err)
	}
	if d, err := NewFlyingThings3D(root, "test", "clean", "left"); err == nil {
		if p, err := d.Get(1); err != nil || tensor.Data[float32](tensor.Dense(p.Map))[0] != 7 {
			t.Errorf("into the past: %+v, %v", p, err)
		}
	}
}

func TestPhotoTour(t *testing.T) {
	root := t.TempDir()
	// a BMP of 128 x 64 grey pixels, the right half white
	b := []byte{'B', 'M'}
	b = binary.LittleEndian.AppendUint32(b, 54+1024+128*64)
	b = append(b, 0, 0, 0, 0)
	for _, v := range []uint32{54 + 1024, 40, 128, 64, 1 | 8<<16, 0, 0, 0, 0, 256, 0} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	for i := range 256 {
		b = append(b, byte(i), byte(i), byte(i), 0)
	}
	for range 64 {
		b = append(append(b, make([]byte, 64)...), bytes.Repeat([]byte{255}, 64)...)
	}
	put(t, b, root, "liberty", "patches0000.bmp")
	put(t, []byte("0 0\n5 0\n"), root, "liberty", "info.txt")
	put(t, []byte("0 5 0 1 5 0 0\n1 5 0 0 6 0 0\n"), root, "liberty", "m50_100000_100000_0.txt")
	d, err := NewPhotoTour(root, "liberty")
	if err != nil || d.Len() != 2 || !slices.Equal(d.Labels, []int{0, 5}) ||
		!slices.Equal(d.Matches, [][3]int{{0, 1, 1}, {1, 0, 0}}) {
		t.Fatalf("%+v, %v", d, err)
	}
	if x, err := d.Get(1); err != nil || x.Min().Item() != 255 {
		t.Errorf("patch 1: %v, %v", x, err)
	}
	npy := []byte("\x93NUMPY\x01\x00\x46\x00{'descr': '|u1', 'fortran_order': False, 'shape': (20, 3, 1, 2), }")
	npy = append(npy, bytes.Repeat([]byte{' '}, 0x46-(len(npy)-10))...)
	npy[len(npy)-1] = '\n'
	for i := range 20 * 3 * 2 {
		npy = append(npy, byte(i))
	}
	put(t, npy, root, "MovingMNIST", "mnist_test_seq.npy")
	m, err := NewMovingMNIST(root, "test", 15)
	if err != nil || m.Len() != 3 {
		t.Fatalf("MovingMNIST: %+v, %v", m, err)
	}
	if x, err := m.Get(2); err != nil || !tensor.SameShape(x.Shape(), []int{5, 1, 1, 2}) ||
		tensor.Data[uint8](tensor.Dense(x))[0] != 15*6+4 {
		t.Errorf("MovingMNIST: %v, %v", x, err)
	}
}

func FuzzMaps(f *testing.F) {
	f.Add(pfmOf("PF", 1, 1, 1, 2, 3))
	f.Add(pfmOf("Pf", 2, 1, 1, 2))
	f.Add(floOf(2, 1, 1, 2, 3, 4))
	f.Fuzz(func(t *testing.T, b []byte) {
		if x, err := parsePFM(b); err == nil && x.Numel()*4 > len(b) {
			t.Errorf("%d numbers of %d bytes", x.Numel(), len(b))
		}
		if x, err := parseFlo(b); err == nil && x.Numel()*4 > len(b) {
			t.Errorf("%d numbers of %d bytes", x.Numel(), len(b))
		}
	})
}

func TestReadIDXOfIntegers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	for _, bad := range []string{"", "\x00\x00\x08\x02\x00\x00\x00\x00\x00\x00\x00\x01",
		"\x00\x00\x0c\x02\xff\xff\xff\xff\xff\xff\xff\xff",
		"\x00\x00\x0c\x02\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x01"} {
		if err := os.WriteFile(path, []byte(bad), 0o666); err != nil {
			t.Fatal(err)
		}
		if l, err := idxLabels(path); err == nil {
			t.Errorf("%q: labels %v", bad, l)
		}
	}
}
