package dataloading_test

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/data"
)

// Folder is a dataset of pictures in folders, one folder per class.
type Folder struct {
	Classes []string
	files   []string
	labels  []int64
}

// openFolder lists the pictures of root/class/*.png; classes are numbered in the order of their names.
func openFolder(root string) (*Folder, error) {
	f := &Folder{}
	dirs, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	for label, d := range dirs {
		f.Classes = append(f.Classes, d.Name())
		files, err := filepath.Glob(filepath.Join(root, d.Name(), "*.png"))
		if err != nil {
			return nil, err
		}
		for _, name := range files {
			f.files, f.labels = append(f.files, name), append(f.labels, int64(label))
		}
	}
	return f, nil
}

// Picture is a sample: a tensor of C×H×W in [0, 1] and its class.
type Picture struct{ Image, Label *torch.Tensor }

func (f *Folder) Len() int { return len(f.files) }

func (f *Folder) Get(i int) (Picture, error) {
	r, err := os.Open(f.files[i])
	if err != nil {
		return Picture{}, err
	}
	defer r.Close()
	img, err := png.Decode(r)
	if err != nil {
		return Picture{}, fmt.Errorf("%s: %w", f.files[i], err)
	}
	return Picture{toTensor(img), torch.Full([]int{}, f.labels[i])}, nil
}

// toBytes is np.asarray(img): H×W×3 bytes.
func toBytes(img image.Image) *torch.Tensor {
	b := img.Bounds()
	pix := make([]uint8, 0, b.Dx()*b.Dy()*3)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
			pix = append(pix, c.R, c.G, c.B)
		}
	}
	return torch.FromSlice(pix, b.Dy(), b.Dx(), 3)
}

// toTensor puts the channels first and the values between 0 and 1.
func toTensor(img image.Image) *torch.Tensor {
	return toBytes(img).Permute([]int{2, 0, 1}).Float().DivScalar(255)
}

func TestFolderOfImages(t *testing.T) {
	root := t.TempDir()
	for k, class := range []string{"ants", "bees"} {
		if err := os.Mkdir(filepath.Join(root, class), 0o755); err != nil {
			t.Fatal(err)
		}
		img := image.NewNRGBA(image.Rect(0, 0, 5, 4))
		img.Set(2, 1, color.NRGBA{R: 255, G: uint8(51 * k), A: 255})
		f, err := os.Create(filepath.Join(root, class, "1.png"))
		if err != nil {
			t.Fatal(err)
		}
		if err := png.Encode(f, img); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	d, err := openFolder(root)
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range data.NewDataLoader(d, data.LoaderOptions{BatchSize: 2}).Iter(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		px := b.Image.Index(torch.Slice(), torch.Slice(), 1, 2) // row 1, column 2 of both pictures
		if got := fmt.Sprint(d.Classes, b.Image.Shape(), torch.Data[int64](b.Label),
			torch.Data[float32](px.Contiguous())); got !=
			"[ants bees] [2 3 4 5] [0 1] [1 0 0 1 0.2 0]" {
			t.Errorf("got %s", got)
		}
	}
}
