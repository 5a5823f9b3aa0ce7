// Package basics shows the first things that one does with tensors: making, printing, indexing, reshaping, converting
// and comparing them.
//
// The code is in the tests, which run; docs/from-pytorch.md is the table that goes from a line of Python to its line of
// Go.
package basics
