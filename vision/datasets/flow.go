package datasets

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/tensor"
)

// add adds a pair of images with their flow, "" for none.
func (d *Pairs) add(first, second, flow string) {
	d.Images, d.Maps = append(d.Images, [2]string{first, second}), append(d.Maps, flow)
}

// floFlow reads the flow of a .flo file.
func floFlow(path string) (m, valid *tensor.Tensor, err error) {
	m, err = ReadFlo(path)
	return m, nil, err
}

// pngFlow reads the flow of a picture of 16 bits: red and green are 64 times x and y, from 32768 on; where blue is 0 it
// is unknown.
func pngFlow(path string) (m, valid *tensor.Tensor, err error) {
	p, err := readPNG16(path)
	if err != nil {
		return nil, nil, err
	}
	x := p.plane(func(v [3]uint16) float32 { return (float32(v[0]) - 1<<15) / 64 })
	y := p.plane(func(v [3]uint16) float32 { return (float32(v[1]) - 1<<15) / 64 })
	known := p.plane(func(v [3]uint16) float32 { return float32(v[2]) })
	return both(x, y), known.NeScalar(0).SqueezeDim(0), nil
}

// NewSintel reads the frames of a film below root/Sintel: the split train or test, without flow, in the pass clean,
// final or both. Scenes are sorted by name, which torchvision leaves to the file system.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.Sintel.html
func NewSintel(root, split, pass string) (*Pairs, error) {
	const name = "Sintel"
	if err := choose(name, split, "train", "test"); err != nil {
		return nil, err
	}
	passes, err := either(name, "pass", pass, "clean", "final", [2]string{"clean", "final"})
	if err != nil {
		return nil, err
	}
	base := filepath.Join(root, name)
	folder := map[string]string{"train": "training", "test": "test"}[split]
	d := &Pairs{read: floFlow}
	for _, p := range passes {
		scenes, err := FindClasses(filepath.Join(base, folder, p))
		if err != nil {
			return nil, err
		}
		for _, scene := range scenes {
			images, err := matching(name, filepath.Join(base, folder, p, scene), "*.png")
			if err != nil {
				return nil, err
			}
			flows := make([]string, len(images))
			if split == "train" {
				if flows, err = matching(name, filepath.Join(base, "training", "flow", scene), "*.flo"); err != nil {
					return nil, err
				}
			}
			if len(flows) < len(images)-1 {
				return nil, fmt.Errorf("datasets: %s: %d flows of %d frames of %s", name, len(flows), len(images),
					scene)
			}
			for i := range len(images) - 1 {
				d.add(images[i], images[i+1], flows[i])
			}
		}
	}
	return d, nil
}

// NewKittiFlow reads pairs of moments in streets below root/KittiFlow: the split train or test, without flow.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.KittiFlow.html
func NewKittiFlow(root, split string) (*Pairs, error) {
	if err := choose("KittiFlow", split, "train", "test"); err != nil {
		return nil, err
	}
	v := views{"image_2/*_10.png", "image_2/*_11.png", "flow_occ/*_10.png"}
	if split == "test" {
		v.disparity = ""
	}
	return stereo("KittiFlow", filepath.Join(root, "KittiFlow", split+"ing"), []views{v}, pngFlow)
}

// NewFlyingChairs reads computed pairs of moments below root/FlyingChairs: the split train or val.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.FlyingChairs.html
func NewFlyingChairs(root, split string) (*Pairs, error) {
	const name = "FlyingChairs"
	if err := choose(name, split, "train", "val"); err != nil {
		return nil, err
	}
	base := filepath.Join(root, name)
	images, err := matching(name, filepath.Join(base, "data"), "*.ppm")
	if err != nil {
		return nil, err
	}
	flows, err := matching(name, filepath.Join(base, "data"), "*.flo")
	if err != nil {
		return nil, err
	}
	parts, err := textLines(name, root, name, "FlyingChairs_train_val.txt")
	if err != nil {
		return nil, err
	}
	if len(images) != 2*len(flows) || len(parts) < len(flows) {
		return nil, fmt.Errorf("datasets: %s: %d images and %d parts for %d flows", name, len(images), len(parts),
			len(flows))
	}
	want := map[string]string{"train": "1", "val": "2"}[split]
	d := &Pairs{read: floFlow}
	for i, f := range flows {
		if parts[i] == want {
			d.add(images[2*i], images[2*i+1], f)
		}
	}
	return d, nil
}

// NewFlyingThings3D reads computed pairs of moments below root/FlyingThings3D: the split train or test, in the pass
// clean, final or both, of the camera left, right or both.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.FlyingThings3D.html
func NewFlyingThings3D(root, split, pass, camera string) (*Pairs, error) {
	const name = "FlyingThings3D"
	if err := choose(name, split, "train", "test"); err != nil {
		return nil, err
	}
	passes, err := either(name, "pass", pass, "clean", "final", [2]string{"frames_cleanpass", "frames_finalpass"})
	if err != nil {
		return nil, err
	}
	cameras, err := either(name, "camera", camera, "left", "right", [2]string{"left", "right"})
	if err != nil {
		return nil, err
	}
	base, part := filepath.Join(root, name), strings.ToUpper(split)
	d := &Pairs{read: func(path string) (m, valid *tensor.Tensor, err error) {
		if m, err = ReadPFM(path); err == nil && m.Size(0) < 2 {
			return nil, nil, fmt.Errorf("datasets: %s has one channel, want two", path)
		}
		if err != nil {
			return nil, nil, err
		}
		return m.Narrow(0, 0, 2), nil, nil
	}}
	for _, p := range passes {
		for _, c := range cameras {
			for _, direction := range []string{"into_future", "into_past"} {
				frames, err := matching(name, filepath.Join(base, p, part), "*/*")
				if err != nil {
					return nil, err
				}
				scenes, err := matching(name, filepath.Join(base, "optical_flow", part), "*/*")
				if err != nil {
					return nil, err
				}
				for k := range min(len(frames), len(scenes)) {
					images, err := matching(name, filepath.Join(frames[k], c), "*.png")
					if err != nil {
						return nil, err
					}
					flows, err := matching(name, filepath.Join(scenes[k], direction, c), "*.pfm")
					if err != nil {
						return nil, err
					}
					for i := range min(len(flows), len(images)) - 1 {
						if direction == "into_future" {
							d.add(images[i], images[i+1], flows[i])
						} else {
							d.add(images[i+1], images[i], flows[i+1])
						}
					}
				}
			}
		}
	}
	return d, nil
}

// NewHD1K reads pairs of moments in streets below root/hd1k: the split train or test, without flow.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.HD1K.html
func NewHD1K(root, split string) (*Pairs, error) {
	const name, sequences = "HD1K", 36
	if err := choose(name, split, "train", "test"); err != nil {
		return nil, err
	}
	base := filepath.Join(root, "hd1k")
	if split == "test" {
		return stereo(name, filepath.Join(base, "hd1k_challenge", "image_2"), []views{{"*10.png", "*11.png", ""}},
			pngFlow)
	}
	flows, err := matching(name, filepath.Join(base, "hd1k_flow_gt", "flow_occ"), "*_*.png")
	if err != nil {
		return nil, err
	}
	images, err := matching(name, filepath.Join(base, "hd1k_input", "image_2"), "*_*.png")
	if err != nil {
		return nil, err
	}
	of := func(files []string) (out [sequences][]string) {
		for _, f := range files {
			number, _, _ := strings.Cut(filepath.Base(f), "_")
			if n, err := strconv.Atoi(number); err == nil && n >= 0 && n < sequences {
				out[n] = append(out[n], f)
			}
		}
		return out
	}
	frames, known := of(images), of(flows)
	d := &Pairs{read: pngFlow}
	for s, list := range known {
		if len(list) > len(frames[s]) {
			return nil, fmt.Errorf("datasets: %s: %d flows of %d frames of sequence %d", name, len(list),
				len(frames[s]), s)
		}
		for i := range max(len(list)-1, 0) {
			d.add(frames[s][i], frames[s][i+1], list[i])
		}
	}
	return d, nil
}
