// Package dataloading shows how samples reach a network: datasets, samplers, loaders with workers, joining samples into
// batches.
//
// The code is in the tests, which run; docs/from-pytorch.md is the table that goes from a line of Python to its line of
// Go.
package dataloading
