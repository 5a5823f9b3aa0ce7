package tensorboard_test

import (
	"fmt"
	"log"
	"os"

	"github.com/gotorch-dev/torch/tensorboard"
)

func ExampleSummaryWriter() {
	dir, err := os.MkdirTemp("", "runs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	w, err := tensorboard.NewSummaryWriter(dir)
	if err != nil {
		log.Fatal(err)
	}
	for step := range int64(3) {
		w.AddScalar("loss/train", 1/float64(step+1), step)
	}
	w.AddHistogram("weights", tensorboard.Of([]float32{-1, 0, 0.5, 2}), 0)
	w.AddText("notes", "first **try**", 0)
	if err := w.Close(); err != nil { // reports the errors of all calls above
		log.Fatal(err)
	}

	l, err := tensorboard.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range l.Plugins(".") {
		fmt.Println(p, l.Tags(".", p))
	}
	// Output:
	// histograms [weights]
	// scalars [loss/train]
	// text [notes/text_summary]
}

func ExampleLog_Scalars() {
	dir, err := os.MkdirTemp("", "runs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	w, err := tensorboard.NewSummaryWriter(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	l, err := tensorboard.Open(dir)
	if err != nil {
		log.Fatal(err)
	}

	// The file is still open for writing; Poll sees what was flushed.
	w.AddScalar("loss", 0.5, 3)
	w.AddScalar("loss", 0.25, 4)
	w.Flush()
	if _, err := l.Poll(); err != nil {
		log.Fatal(err)
	}
	s, err := l.Scalars(".", "loss")
	if err != nil {
		log.Fatal(err)
	}
	for i := range s.Len() {
		fmt.Println(s.At(i).Step, s.At(i).Value)
	}
	// Output:
	// 3 0.5
	// 4 0.25
}

func ExampleMakeHistogram() {
	h, err := tensorboard.MakeHistogram([]float64{1, 2, 2, 3, 5}, tensorboard.BinCount(4), 0)
	if err != nil {
		log.Fatal(err)
	}
	// One empty bin stands left of the first: only right limits are stored.
	fmt.Println(h.Limits)
	fmt.Println(h.Counts)
	// Output:
	// [1 2 3 4 5]
	// [0 1 2 1 1]
}

func ExampleScopedName() {
	fmt.Println(tensorboard.ScopedName("Net",
		[]tensorboard.ModuleRef{{Class: "Sequential", Field: "features"}, {Class: "Conv2d", Field: "0"}}, "weight"))
	// Output: Net/Sequential[features]/Conv2d[0]/weight
}
