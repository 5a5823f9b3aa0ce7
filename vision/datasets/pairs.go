package datasets

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/pil"
)

// This file reads data sets of pairs of images: two views of a scene with the disparity of the first one's pixels, or
// two moments with their optical flow. All are tables of folders and names.

// Pair is two images and what belongs to the first one's pixels: the disparity (1, H, W) of a view from another place,
// or the flow (2, H, W: x, y) to another moment; nil where the data set does not give it. Valid (H, W), bool, says of
// which pixels it is known; nil: of all.
type Pair struct {
	First, Second *pil.Image
	Map, Valid    *tensor.Tensor
}

// Pairs is a data set of Pair. The files are read when they are asked for.
type Pairs struct {
	Images [][2]string
	Maps   []string // "" for none
	read   func(path string) (m, valid *tensor.Tensor, err error)
}

// Len is the number of pairs.
func (d *Pairs) Len() int { return len(d.Images) }

// Get reads pair i.
func (d *Pairs) Get(i int) (p Pair, err error) {
	if i < 0 || i >= len(d.Images) {
		return p, outOfRange(i, len(d.Images))
	}
	if p.First, err = loadRGB(d.Images[i][0]); err != nil {
		return p, err
	}
	if p.Second, err = loadRGB(d.Images[i][1]); err != nil || d.Maps[i] == "" {
		return p, err
	}
	p.Map, p.Valid, err = d.read(d.Maps[i])
	return p, err
}

// views says where a data set has pairs of views below its folder: patterns of path/filepath.
type views struct {
	left, right string
	disparity   string // "" for none
}

// stereo finds the pairs of views of a data set, each pattern's files sorted.
func stereo(name, root string, list []views, read func(string) (m, valid *tensor.Tensor, err error)) (*Pairs, error) {
	d := &Pairs{read: read}
	for _, v := range list {
		left, err := matching(name, root, v.left)
		if err != nil {
			return nil, err
		}
		right, err := matching(name, root, v.right)
		if err != nil {
			return nil, err
		}
		maps := make([]string, len(left))
		if v.disparity != "" {
			if maps, err = matching(name, root, v.disparity); err != nil {
				return nil, err
			}
		}
		if len(right) != len(left) || len(maps) != len(left) {
			return nil, fmt.Errorf("datasets: %s: %d files %s, %d files %s and %d files %s in %s", name, len(left),
				v.left, len(right), v.right, len(maps), v.disparity, root)
		}
		for i := range left {
			d.Images, d.Maps = append(d.Images, [2]string{left[i], right[i]}), append(d.Maps, maps[i])
		}
	}
	return d, nil
}

// matching are the files that match a pattern below a folder, sorted; at least one.
func matching(name, root, pattern string) ([]string, error) {
	base := ""
	for _, c := range root { // what has a meaning in patterns has none in the root
		if strings.ContainsRune(`*?[\`, c) && c != filepath.Separator {
			base += `\`
		}
		base += string(c)
	}
	files, err := filepath.Glob(filepath.Join(base, filepath.FromSlash(pattern)))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("datasets: %s: %w: no files %s in %s", name, os.ErrNotExist, pattern, root)
	}
	slices.Sort(files)
	return files, nil
}

// either is the names for a choice of one of two things or of both.
func either(set, what, choice, first, second string, names [2]string) ([]string, error) {
	switch choice {
	case first:
		return names[:1], nil
	case second:
		return names[1:], nil
	case "both":
		return names[:], nil
	}
	return nil, fmt.Errorf("datasets: %s has no %s %q, but %s, %s and both", set, what, choice, first, second)
}

// divided reads a picture of bytes or of 16 bits as a disparity, divided by a number.
func divided(by float32) func(path string) (m, valid *tensor.Tensor, err error) {
	return func(path string) (m, valid *tensor.Tensor, err error) {
		p, err := readPNG16(path)
		if err != nil {
			return nil, nil, err
		}
		return p.plane(func(v [3]uint16) float32 { return float32(v[0]) / by }), nil, nil
	}
}

// pfmDisparity reads the magnitudes in a PFM file.
func pfmDisparity(path string) (m, valid *tensor.Tensor, err error) {
	if m, err = ReadPFM(path); err != nil {
		return nil, nil, err
	}
	return m.Narrow(0, 0, 1).Abs(), nil, nil
}

// NewCarlaStereo reads pairs of views below root/carla-highres.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.CarlaStereo.html
func NewCarlaStereo(root string) (*Pairs, error) {
	return stereo("CarlaStereo", filepath.Join(root, "carla-highres", "trainingF"),
		[]views{{"*/im0.png", "*/im1.png", "*/disp0GT.pfm"}}, pfmDisparity)
}

// kitti reads one of KITTI's sets of views: the split train or test, without disparities.
func kitti(name, folder, root, split string, v views) (*Pairs, error) {
	if err := choose(name, split, "train", "test"); err != nil {
		return nil, err
	}
	if split == "test" {
		v.disparity = ""
	}
	return stereo(name, filepath.Join(root, folder, split+"ing"), []views{v}, divided(256))
}

// NewKitti2012Stereo reads pairs of views of streets below root/Kitti2012: the split train or test.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.Kitti2012Stereo.html
func NewKitti2012Stereo(root, split string) (*Pairs, error) {
	return kitti("Kitti2012Stereo", "Kitti2012", root, split,
		views{"colored_0/*_10.png", "colored_1/*_10.png", "disp_noc/*.png"})
}

// NewKitti2015Stereo reads pairs of views of streets below root/Kitti2015: the split train or test.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.Kitti2015Stereo.html
func NewKitti2015Stereo(root, split string) (*Pairs, error) {
	return kitti("Kitti2015Stereo", "Kitti2015", root, split,
		views{"image_2/*.png", "image_3/*.png", "disp_occ_0/*.png"})
}

// NewMiddlebury2014Stereo reads pairs of views of rooms below root/Middlebury2014: the split train, additional or test,
// with the calibration perfect, imperfect or both, "" for test. The views are those in ordinary light.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.Middlebury2014Stereo.html
func NewMiddlebury2014Stereo(root, split, calibration string) (*Pairs, error) {
	const name = "Middlebury2014Stereo"
	if err := choose(name, split, "train", "additional", "test"); err != nil {
		return nil, err
	}
	var list []views
	if split == "test" {
		if calibration != "" {
			return nil, fmt.Errorf("datasets: %s: the split test has no calibration, got %q", name, calibration)
		}
		list = []views{{"*/im0.png", "*/im1.png", ""}}
	} else {
		endings, err := either(name, "calibration", calibration, "perfect", "imperfect",
			[2]string{"*-perfect", "*-imperfect"})
		if err != nil {
			return nil, err
		}
		for _, e := range endings {
			list = append(list, views{e + "/im0.png", e + "/im1.png", e + "/disp0.pfm"})
		}
	}
	return stereo(name, filepath.Join(root, "Middlebury2014", split), list,
		func(path string) (m, valid *tensor.Tensor, err error) { // where the disparity is unknown it is infinite
			if m, _, err = pfmDisparity(path); err != nil {
				return nil, nil, err
			}
			m = m.MaskedFillScalar(m.EqScalar(math.Inf(1)), 0)
			return m, m.GtScalar(0).SqueezeDim(0), nil
		})
}

// NewCREStereo reads computed pairs of views below root/CREStereo.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.CREStereo.html
func NewCREStereo(root string) (*Pairs, error) {
	var list []views
	for _, s := range []string{"shapenet", "reflective", "tree", "hole"} {
		list = append(list, views{s + "/*_left.jpg", s + "/*_right.jpg", s + "/*_left.disp.png"})
	}
	return stereo("CREStereo", filepath.Join(root, "CREStereo"), list, divided(32))
}

// NewFallingThingsStereo reads computed pairs of views of things that fall below root/FallingThings: the variant
// single, mixed or both.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.FallingThingsStereo.html
func NewFallingThingsStereo(root, variant string) (*Pairs, error) {
	const name = "FallingThingsStereo"
	folders, err := either(name, "variant", variant, "single", "mixed", [2]string{"single/*/*", "mixed/*"})
	if err != nil {
		return nil, err
	}
	var list []views
	for _, f := range folders {
		list = append(list, views{f + "/*.left.jpg", f + "/*.right.jpg", f + "/*.left.depth.png"})
	}
	return stereo(name, filepath.Join(root, "FallingThings"), list,
		func(path string) (m, valid *tensor.Tensor, err error) { // the file has depths
			var camera struct {
				Settings []struct {
					Intrinsic struct {
						FX float64 `json:"fx"`
					} `json:"intrinsic_settings"`
				} `json:"camera_settings"`
			}
			file := filepath.Join(filepath.Dir(path), "_camera_settings.json")
			if err := readJSON(file, &camera); err != nil {
				return nil, nil, err
			}
			if len(camera.Settings) == 0 {
				return nil, nil, fmt.Errorf("datasets: %s has no settings", file)
			}
			p, err := readPNG16(path)
			if err != nil {
				return nil, nil, err
			}
			const baseline, unit = 6, 100 // centimetres, and depths in 1/100 of them
			scale := float32(baseline * camera.Settings[0].Intrinsic.FX * unit)
			return p.plane(func(v [3]uint16) float32 { return scale / float32(v[0]) }), nil, nil
		})
}

// NewSceneFlowStereo reads computed pairs of views below root/SceneFlow: the variant FlyingThings3D, Driving or Monkaa,
// in the pass clean, final or both.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.SceneFlowStereo.html
func NewSceneFlowStereo(root, variant, pass string) (*Pairs, error) {
	const name = "SceneFlowStereo"
	if err := choose(name, variant, "FlyingThings3D", "Driving", "Monkaa"); err != nil {
		return nil, err
	}
	passes, err := either(name, "pass", pass, "clean", "final", [2]string{"frames_cleanpass", "frames_finalpass"})
	if err != nil {
		return nil, err
	}
	folders := "*/*/*"
	if variant == "Monkaa" {
		folders = "*"
	}
	var list []views
	for _, p := range passes {
		list = append(list, views{p + "/" + folders + "/left/*.png", p + "/" + folders + "/right/*.png",
			"disparity/" + folders + "/left/*.pfm"})
	}
	return stereo(name, filepath.Join(root, "SceneFlow", variant), list, pfmDisparity)
}

// NewSintelStereo reads pairs of views of a film below root/Sintel: the pass final, clean or both.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.SintelStereo.html
func NewSintelStereo(root, pass string) (*Pairs, error) {
	passes, err := either("SintelStereo", "pass", pass, "final", "clean", [2]string{"final", "clean"})
	if err != nil {
		return nil, err
	}
	var list []views
	for _, p := range passes {
		list = append(list, views{p + "_left/*/*.png", p + "_right/*/*.png", "disparities/*/*.png"})
	}
	return stereo("SintelStereo", filepath.Join(root, "Sintel", "training"), list,
		func(path string) (m, valid *tensor.Tensor, err error) {
			p, err := readPNG16(path)
			if err != nil {
				return nil, nil, err
			}
			m = p.plane(func(v [3]uint16) float32 {
				return float32(v[0])*4 + float32(v[1])/(1<<6) + float32(v[2])/(1<<14)
			})
			scene, file := filepath.Split(path)
			scene = filepath.Clean(scene)
			for _, mask := range []string{"occlusions", "outofframe"} { // in which what is known is black
				hidden, err := readPNG16(filepath.Join(filepath.Dir(filepath.Dir(scene)), mask, filepath.Base(scene),
					file))
				if err != nil {
					return nil, nil, err
				}
				known := hidden.plane(func(v [3]uint16) float32 { return float32(v[0]) }).EqScalar(0).SqueezeDim(0)
				if valid == nil {
					valid = known
				} else if valid = valid.LogicalAnd(known); valid.Dim() != 2 {
					return nil, nil, fmt.Errorf("datasets: SintelStereo: the masks of %s have two sizes", path)
				}
			}
			return m, valid, nil
		})
}

// NewInStereo2k reads pairs of views of rooms below root/InStereo2k: the split train or test.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.InStereo2k.html
func NewInStereo2k(root, split string) (*Pairs, error) {
	if err := choose("InStereo2k", split, "train", "test"); err != nil {
		return nil, err
	}
	return stereo("InStereo2k", filepath.Join(root, "InStereo2k", split),
		[]views{{"*/left.png", "*/right.png", "*/left_disp.png"}}, divided(1024))
}

// NewETH3DStereo reads pairs of views below root/ETH3D: the split train or test, without disparities.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.ETH3DStereo.html
func NewETH3DStereo(root, split string) (*Pairs, error) {
	const name = "ETH3DStereo"
	if err := choose(name, split, "train", "test"); err != nil {
		return nil, err
	}
	v := views{"two_view_training/*/im0.png", "two_view_training/*/im1.png", "two_view_training_gt/*/disp0GT.pfm"}
	if split == "test" {
		v = views{"two_view_test/*/im0.png", "two_view_test/*/im1.png", ""}
	}
	return stereo(name, filepath.Join(root, "ETH3D"), []views{v},
		func(path string) (m, valid *tensor.Tensor, err error) {
			if m, _, err = pfmDisparity(path); err != nil {
				return nil, nil, err
			}
			mask, err := readPNG16(filepath.Join(filepath.Dir(path), "mask0nocc.png"))
			if err != nil {
				return nil, nil, err
			}
			return m, mask.plane(func(v [3]uint16) float32 { return float32(v[0]) }).NeScalar(0).SqueezeDim(0), nil
		})
}
