// Package data feeds training loops: datasets, samplers, and a DataLoader that draws batches in PyTorch's order for the
// same seed, with worker goroutines that load ahead.
//
//	loader := data.NewDataLoader(ds, data.LoaderOptions{BatchSize: 64, Shuffle: true, Workers: 2})
//	for batch, err := range loader.Iter(ctx) {
//		…
//	}
package data
