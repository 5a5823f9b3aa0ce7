package data_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/data"
	"github.com/gotorch-dev/torch/tensor"
)

// normalised is a dataset with a transform per sample: x*2 - 1, as image datasets have one.
type normalised struct{ *data.TensorDataset }

func (d normalised) Get(i int) ([]*tensor.Tensor, error) {
	s, err := d.TensorDataset.Get(i)
	if err != nil {
		return nil, err
	}
	return []*tensor.Tensor{s[0].MulScalar(2).AddScalar(-1), s[1]}, nil
}

// GetBatch hides that of the tensors, which knows of no transform.
func (d normalised) GetBatch() {}

// BenchmarkLoader loads an epoch as training does, each batch in a Tidy of its own: workers may not cost more than
// a tenth of what loading without them does.
func BenchmarkLoader(b *testing.B) {
	n := 10_000
	set := data.NewTensorDataset(torch.Randn([]int{n, 784}), torch.Randint(10, []int{n}))
	for _, c := range []struct {
		name string
		set  data.Dataset[[]*tensor.Tensor]
	}{{"tensors", set}, {"transform", normalised{set}}} {
		for _, workers := range []int{0, 1, 2, 4} {
			b.Run(fmt.Sprintf("%s/workers=%d", c.name, workers), func(b *testing.B) {
				l := data.NewDataLoader(c.set, data.LoaderOptions{BatchSize: 128, Shuffle: true, Workers: workers})
				for b.Loop() {
					e := l.Begin(context.Background())
					for more := true; more; {
						torch.Tidy(func() {
							_, err, ok := e.Next()
							if err != nil {
								b.Fatal(err)
							}
							more = ok
						})
					}
					e.Close()
				}
			})
		}
	}
}
