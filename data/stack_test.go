package data_test

import (
	"fmt"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/data"
)

func ExampleNewStackDataset() {
	images := data.NewTensorDataset(torch.FromSlice([]float32{1, 2, 3}))
	texts := data.NewTensorDataset(torch.FromSlice([]int64{7, 8, 9}))
	d := data.NewStackDataset[[]*torch.Tensor](images, texts)
	x, _ := d.Get(1)
	fmt.Println(d.Len(), x[0][0], x[1][0])
	// Output: 3 tensor(2.) tensor(8)
}

func ExampleDefaultConvert() {
	fmt.Println(data.DefaultConvert(map[string]any{"x": []float32{1, 2}, "name": "a"}))
	// Output: map[name:a x:tensor([1., 2.])]
}

// TestStackDataset refuses datasets of different lengths, none, and numbers beyond the end.
func TestStackDataset(t *testing.T) {
	two := data.NewTensorDataset(torch.FromSlice([]float32{1, 2}))
	three := data.NewTensorDataset(torch.FromSlice([]float32{1, 2, 3}))
	for name, f := range map[string]func(){
		"lengths": func() { data.NewStackDataset[[]*torch.Tensor](two, three) },
		"none":    func() { data.NewStackDataset[[]*torch.Tensor]() },
		"nil":     func() { data.NewStackDataset[[]*torch.Tensor](two, nil) },
	} {
		if torch.Try(f) == nil {
			t.Errorf("%s: no error", name)
		}
	}
	d := data.NewStackDataset[[]*torch.Tensor](two, two)
	if _, err := d.Get(2); err == nil {
		t.Error("sample 2 of 2")
	}
	if x, err := d.Get(-1); err != nil || x[1][0].Num().F != 2 {
		t.Errorf("sample -1: %v, %v", x, err)
	}
}
