package logging_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensorboard"
)

// check stops on an error that nobody expects.
func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A loss curve, written and read.
func Example() {
	dir, err := os.MkdirTemp("", "runs")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	w, err := tensorboard.NewSummaryWriter(filepath.Join(dir, "fashion_mnist_experiment_1"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for step := range int64(3) {
		w.AddScalar("training loss", 1/float64(step+1), step)
	}
	if err := w.Close(); err != nil { // reports the errors of all calls above
		fmt.Println(err)
	}

	l, err := tensorboard.Open(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := l.Scalars("fashion_mnist_experiment_1", "training loss")
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range s.Len() {
		fmt.Printf("%d %.4f\n", s.At(i).Step, s.At(i).Value)
	}
	// Output:
	// 0 1.0000
	// 1 0.5000
	// 2 0.3333
}

// The file's name tells when, where and by which process it was written; its first record carries the version of the
// format.
func TestEventFile(t *testing.T) {
	dir := t.TempDir()
	w, err := tensorboard.NewSummaryWriter(dir)
	check(t, err)
	check(t, w.Close())
	files, err := filepath.Glob(filepath.Join(dir, "events.out.tfevents.*"))
	check(t, err)
	if len(files) != 1 || strings.Count(filepath.Base(files[0]), ".") < 5 {
		t.Fatalf("files %v", files)
	}
	b, err := os.ReadFile(files[0])
	check(t, err)
	n := binary.LittleEndian.Uint64(b)
	e, err := tensorboard.ParseEvent(b[12 : 12+n]) // behind the length and its checksum
	check(t, err)
	if e.FileVersion != "brain.Event:2" {
		t.Errorf("version %q", e.FileVersion)
	}
	f, err := os.Open(files[0])
	check(t, err)
	defer f.Close()
	if _, err := tensorboard.NewRecordReader(f, 0).Next(); err != nil {
		t.Errorf("checksums: %v", err)
	}
}

// Weights as a histogram and a picture straight from tensors.
func TestTensors(t *testing.T) {
	dir := t.TempDir()
	w, err := tensorboard.NewSummaryWriter(dir)
	check(t, err)
	torch.ManualSeed(0)
	w.AddHistogram("weights", tensorboard.FromTensor(torch.Randn([]int{1000})), 0)
	w.AddImage("picture", tensorboard.FromTensor(torch.Rand([]int{3, 4, 5})), 0)
	check(t, w.Close())

	l, err := tensorboard.Open(dir)
	check(t, err)
	if got := fmt.Sprint(l.Plugins(".")); got != "[histograms images]" {
		t.Errorf("plugins %s", got)
	}
	h, err := l.Histograms(".", "weights")
	check(t, err)
	total := 0.0
	for _, b := range h[0].Buckets {
		total += b.Count
	}
	if total != 1000 {
		t.Errorf("%g numbers in the histogram", total)
	}
}
