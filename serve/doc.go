// Package serve puts requests from many goroutines into batches for one model.
//
// A network takes less time for a batch than for its images one by one, since its weights are read once. A Batcher
// collects the requests that wait, runs the model once for all of them and hands each its part of the result:
//
//	model := utils.OptimizeForInference(net)
//	b := serve.New(model.Forward, serve.Options{MaxBatch: torch.Some(8)})
//	defer b.Close()
//	…
//	y, err := b.Do(ctx, x) // in the handler of a request
//
// A bounded queue holds what waits; when it is full, Do returns ErrBusy at once, which a server answers with "503
// Service Unavailable", rather than let latency and memory grow. docs/serving.md tells more.
package serve
