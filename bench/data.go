package main

import (
	"context"
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/data"
)

// dataRows are an epoch of a shuffled DataLoader over tensors.
func dataRows(c *config) []row {
	samples, features, batch := c.size(60_000, 100), c.size(784, 3), c.size(128, 8)
	return []row{{
		name:  fmt.Sprintf("DataLoader %dx%d, batch %d, shuffled, one epoch", samples, features, batch),
		bytes: 8 * float64(samples*features),
		peer:  "loader", args: arg{"samples": samples, "features": features, "batch": batch},
		prepare: func() work {
			set := data.NewTensorDataset(torch.Randn([]int{samples, features}), torch.Randint(10, []int{samples}))
			loader := data.NewDataLoader(set, data.LoaderOptions{BatchSize: batch, Shuffle: true})
			return work{grad: true, step: func() {
				e := loader.Begin(context.Background())
				defer e.Close()
				for more := true; more; {
					torch.Tidy(func() { // frees the batch
						_, err, ok := e.Next()
						check(err)
						more = ok
					})
				}
			}}
		},
	}}
}
