package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/data"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/vision/datasets"
	visionio "github.com/gotorch-dev/torch/vision/io"
	"github.com/gotorch-dev/torch/vision/models"
	"github.com/gotorch-dev/torch/vision/ops"
	"github.com/gotorch-dev/torch/vision/transforms"
)

// visionRows are what stands between a file and a network (beside Pillow and torchvision), and the operators of
// detectors (beside torchvision).
func visionRows(c *config) []row {
	return []row{
		photoRow(c.size(500, 40), c.size(375, 30)),
		folderRow(c.size(64, 4), 0), folderRow(c.size(64, 4), 2),
		nmsRow(c.size(10_000, 20)),
		roiAlignRow(c.size(256, 2), c.size(512, 3)),
		deformRow(c.size(64, 2), c.size(40, 6)),
	}
}

// zoo are one or two networks of each family of vision/models.
var zoo = []string{"alexnet", "vgg11_bn", "resnet50", "resnext50_32x4d", "squeezenet1_1", "densenet121", "googlenet",
	"mobilenet_v2", "mobilenet_v3_large", "shufflenet_v2_x1_0", "mnasnet1_0", "efficientnet_b0", "efficientnet_v2_s",
	"regnet_y_400mf", "regnet_x_800mf", "convnext_tiny", "vit_b_16", "swin_t", "swin_v2_t", "maxvit_t"}

// zooRows are forward passes in evaluation, as a program has them that calls the networks of either library and does
// nothing else for speed.
func zooRows(c *config) []row {
	var rows []row
	for _, batch := range []int{1, 8} {
		for _, name := range zoo[:c.size(len(zoo), 1)] {
			rows = append(rows, row{name: fmt.Sprintf("%s batch %d", name, batch), peer: "zoo",
				args: arg{"name": name, "batch": c.size(batch, 1)}, prepare: func() work {
					m, err := models.GetModel(name, models.Options{})
					check(err)
					nn.Eval(m)
					x := torch.Randn([]int{c.size(batch, 1), 3, 224, 224})
					return work{step: func() {
						torch.NoGrad(func() { torch.Tidy(func() { m.(nn.Layer).Forward(x) }) })
					}}
				}})
		}
	}
	return rows
}

// photo is a picture with smooth and with fine parts, as bytes of a JPEG; the peer makes the same one.
func photo(w, h, seed int) []byte {
	x := torch.Empty([]int{3, h, w}, torch.EmptyOptions{DType: torch.Uint8})
	p := torch.Data[uint8](x)
	for i := range p {
		u, v := i%w, i/w%h
		p[i] = uint8((u*255/w + v*(i/(w*h))*97/h + (u*u+v*(v+seed))/64%32) % 256)
	}
	b, err := visionio.EncodeJPEG(x, 90)
	check(err)
	return torch.Data[uint8](b)
}

// evaluation is what published networks want done with a picture.
func evaluation() transforms.Transform {
	return transforms.NewCompose(transforms.NewResize([]int{256}), transforms.NewCenterCrop([]int{224, 224}),
		transforms.NewToTensor(), transforms.NewNormalize([]float64{0.485, 0.456, 0.406},
			[]float64{0.229, 0.224, 0.225}))
}

func photoRow(w, h int) row {
	return row{name: fmt.Sprintf("JPEG %dx%d to a normalised 224x224", w, h), peer: "photo", args: arg{"w": w, "h": h},
		prepare: func() work {
			file, prepare := photo(w, h, 0), evaluation()
			return work{step: func() {
				torch.Tidy(func() {
					im, err := visionio.Decode(file, visionio.DecodeOptions{Mode: visionio.RGB})
					check(err)
					prepare.Apply(im)
				})
			}}
		}}
}

// folderRow reads an ImageFolder once.
func folderRow(images, workers int) row {
	const w, h = 200, 150
	return row{name: fmt.Sprintf("batches of %d JPEG files %dx%d, %d workers", images, w, h, workers),
		peer: "image_folder",
		args: arg{"w": w, "h": h, "images": images, "workers": workers},
		prepare: func() work {
			root, err := os.MkdirTemp("", "bench")
			check(err)
			for i := range images {
				dir := filepath.Join(root, fmt.Sprint(i%2))
				check(os.MkdirAll(dir, 0o777))
				check(os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.jpg", i)), photo(w, h, i), 0o666))
			}
			set, err := datasets.NewImageFolder(root)
			check(err)
			loader := data.NewDataLoader(datasets.Tensors(set, evaluation()), data.LoaderOptions{BatchSize: 16,
				Workers: workers, PersistentWorkers: workers > 0})
			return work{close: func() { _ = os.RemoveAll(root) }, step: func() {
				e := loader.Begin(context.Background())
				defer e.Close()
				for more := true; more; {
					torch.Tidy(func() {
						_, err, ok := e.Next()
						check(err)
						more = ok
					})
				}
			}}
		}}
}

func nmsRow(n int) row {
	return row{name: fmt.Sprintf("nms of %d boxes", n), peer: "nms", args: arg{"n": n}, prepare: func() work {
		at := torch.Rand([]int{n, 2}).MulScalar(1000)
		boxes := torch.Cat([]*torch.Tensor{at, at.Add(torch.Rand([]int{n, 2}).MulScalar(100))},
			torch.CatOptions{Dim: 1})
		scores := torch.Rand([]int{n})
		return work{step: func() { ops.NMS(boxes, scores, 0.5) }}
	}}
}

func roiAlignRow(channels, regions int) row {
	return row{name: fmt.Sprintf("roi_align %dx50x50, %d regions of 7x7", channels, regions), peer: "roi_align",
		args: arg{"channels": channels, "regions": regions}, prepare: func() work {
			x, at := torch.Randn([]int{1, channels, 50, 50}), torch.Rand([]int{regions, 2}).MulScalar(500)
			rois := torch.Cat([]*torch.Tensor{torch.Zeros([]int{regions, 1}), at,
				at.Add(torch.Rand([]int{regions, 2}).MulScalar(300))}, torch.CatOptions{Dim: 1})
			o := ops.RoIOptions{SpatialScale: torch.Some(1.0 / 16), SamplingRatio: 2}
			return work{step: func() { torch.Tidy(func() { ops.RoIAlignFn(x, rois, nn.Size{7}, o) }) }}
		}}
}

func deformRow(channels, side int) row {
	return row{name: fmt.Sprintf("deform_conv2d %d@%d 3x3", channels, side), peer: "deform_conv2d",
		flops: 2 * 9 * float64(channels*channels*side*side), args: arg{"channels": channels, "side": side},
		prepare: func() work {
			x, w := torch.Randn([]int{1, channels, side, side}), torch.Randn([]int{channels, channels, 3, 3})
			offset := torch.Randn([]int{1, 18, side, side})
			o := ops.DeformConv2dOptions{Padding: nn.Size{1}}
			return work{step: func() { torch.Tidy(func() { ops.DeformConv2dFn(x, offset, w, o) }) }}
		}}
}
