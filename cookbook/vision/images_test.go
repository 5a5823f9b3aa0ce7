package vision_test

import (
	"fmt"
	"image"
	"path/filepath"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensorboard"
	visionio "github.com/gotorch-dev/torch/vision/io"
	"github.com/gotorch-dev/torch/vision/pil"
	"github.com/gotorch-dev/torch/vision/transforms"
	"github.com/gotorch-dev/torch/vision/utils"
)

// check stops on an error that nobody expects.
func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// An image file becomes a tensor (C, H, W) between 0 and 1: transforms.ToTensor()(PIL.Image.open(path)).
func TestImageToTensor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.png")
	saved := torch.Arange(3 * 4 * 5).View([]int{3, 4, 5}).Byte()
	check(t, visionio.WritePNG(saved, path))

	im, err := visionio.Open(path)
	check(t, err)
	x := transforms.NewToTensor().Apply(im)[0].(*torch.Tensor)
	if got := fmt.Sprint(x.Shape(), x.DType()); got != "[3 4 5] torch.float32" {
		t.Errorf("ToTensor gives %s", got)
	}
	if !x.MulScalar(255).Round().Byte().Equal(saved) { // PNG keeps each byte
		t.Errorf("ToTensor gives %v", x)
	}
}

// Images side by side: torchvision.utils.make_grid.
func Example_makeGrid() {
	fmt.Println(utils.MakeGrid(torch.Zeros([]int{4, 1, 28, 28})).Shape()) // grey images become ones of three channels
	fmt.Println(utils.MakeGrid(torch.Zeros([]int{4, 1, 28, 28}), utils.GridOptions{NRow: 2, Padding: torch.Some(1)}).Shape())
	fmt.Println(utils.MakeGrid(torch.Zeros([]int{10, 3, 8, 8})).Shape())
	// Output:
	// [3 32 122]
	// [3 59 59]
	// [3 22 82]
}

// A grid of normalised grey images as a picture: the mean over the channels, and x/2 + 0.5 undoes the normalisation.
func TestShowGrid(t *testing.T) {
	grid := utils.MakeGrid(torch.Full([]int{4, 1, 28, 28}, 1.0))
	shown := grid.MeanDim([]int{0}).DivScalar(2).AddScalar(0.5)
	path := filepath.Join(t.TempDir(), "grid.png")
	check(t, visionio.WritePNG(shown.MulScalar(255).Byte().Unsqueeze(0), path))
	im, err := visionio.Open(path)
	check(t, err)
	if im.Width != 122 || im.Height != 32 || im.Mode != "L" || im.Pix[3*122+3] != 255 || im.Pix[0] != 127 {
		t.Errorf("a picture %s of %d x %d, in an image %d, between them %d", im.Mode, im.Width, im.Height,
			im.Pix[3*122+3], im.Pix[0])
	}
}

// net is a small network whose graph is logged.
type net struct {
	nn.Base
	Conv1 *nn.Conv2d
	Pool  *nn.MaxPool2d
	FC1   *nn.Linear
}

func newNet() *net {
	return nn.New(&net{Conv1: nn.NewConv2d(1, 6, 5), Pool: nn.NewMaxPool2d(2), FC1: nn.NewLinear(6*12*12, 10)})
}

func (m *net) Forward(x *torch.Tensor) *torch.Tensor {
	return m.Run(m, x, func(x *torch.Tensor) *torch.Tensor {
		x = m.Pool.Forward(F.ReLU(m.Conv1.Forward(x)))
		return m.FC1.Forward(x.Flatten(torch.FlattenOptions{StartDim: 1}))
	})
}

// A grid, the graph of a network and, after the log was closed, a number more.
func TestBoard(t *testing.T) {
	dir := t.TempDir()
	w, err := tensorboard.NewSummaryWriter(dir)
	check(t, err)
	images := torch.Zeros([]int{4, 1, 28, 28})
	check(t, w.AddImage("four_fashion_mnist_images", tensorboard.FromTensor(utils.MakeGrid(images)), 0))
	g, err := tensorboard.TraceGraph(newNet(), images)
	check(t, err)
	check(t, w.AddGraph(g))
	check(t, w.Close())

	w, err = tensorboard.NewSummaryWriter(dir) // a closed log is opened again: a second file
	check(t, err)
	check(t, w.AddScalar("training loss", 0.5, 3))
	check(t, w.AddScalar("training loss", 0.25, 4))
	check(t, w.Close())

	l, err := tensorboard.Open(dir)
	check(t, err)
	s, err := l.Scalars(".", "training loss")
	check(t, err)
	if s.Len() != 2 || s.At(0).Step != 3 || s.At(1).Value != 0.25 {
		t.Errorf("%d numbers are read", s.Len())
	}
	if got := fmt.Sprint(l.Plugins(".")); got != "[graph_tagged_run_metadata graphs images scalars]" {
		t.Errorf("the log has %s", got)
	}
}

// guesses is a figure of images with what a network takes them for.
type guesses struct {
	images *torch.Tensor // (N, 1, H, W)
	titles []string
	right  []bool
}

// Render draws the images in a row, each with a frame that is green where the guess is right.
func (g *guesses) Render(width, height float64, dpi int) image.Image {
	n := g.images.Size(0)
	side := int(width*float64(dpi)) / n
	var cells []*torch.Tensor
	for i := range n {
		x := transforms.NewResize([]int{side, side}).Apply(g.images.Select(0, i).Expand([]int{3, -1, -1}).
			MulScalar(255).Byte())[0].(*torch.Tensor)
		color := "red"
		if g.right[i] {
			color = "green"
		}
		box := torch.FromSlice([]float32{2, 2, float32(side - 3), float32(side - 3)}, 1, 4)
		cells = append(cells, utils.DrawBoundingBoxes(x, box, utils.DrawOptions{Colors: []string{color}, Width: 3,
			Labels: []string{g.titles[i]}}))
	}
	row := utils.MakeGrid(torch.Stack(cells), utils.GridOptions{NRow: n, Padding: torch.Some(0)})
	return transforms.NewToPILImage().Apply(row)[0].(*pil.Image).Image()
}

// Predictions beside what is true, as a figure of a log: writer.add_figure.
func TestPredictionsAsFigure(t *testing.T) {
	classes := []string{"Coat", "Bag"}
	probability, predicted, label := 0.4567, 1, 0
	title := fmt.Sprintf("%s, %.1f%% (label: %s)", classes[predicted], 100*probability, classes[label])
	if title != "Bag, 45.7% (label: Coat)" {
		t.Errorf("the title is %q", title)
	}
	dir := t.TempDir()
	w, err := tensorboard.NewSummaryWriter(dir)
	check(t, err)
	check(t, w.AddFigure("predictions vs. actuals", &guesses{torch.Rand([]int{4, 1, 28, 28}),
		[]string{title, title, title, title}, []bool{true, false, true, true}}, 7,
		tensorboard.FigureOptions{Width: 8, Height: 2, DPI: 50}))
	check(t, w.Close())
	l, err := tensorboard.Open(dir)
	check(t, err)
	if got := fmt.Sprint(l.Plugins(".")); got != "[images]" {
		t.Errorf("the log has %s", got)
	}
}
