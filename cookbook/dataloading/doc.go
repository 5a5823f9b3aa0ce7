// Package dataloading shows how samples reach a network: datasets, samplers, loaders with workers, joining samples into
// batches.
//
// The code is in the tests, which run. Each names the rows of the acceptance index that it covers (S3-065, …);
// docs/from-pytorch.md is the table that goes from a line of Python to its line of Go.
package dataloading
