// Package records shows RecordIO: many samples in one file, read in order or by number, with image headers.
//
// The code is in the tests, which run. Each names the rows of the acceptance index that it covers (S0-077, …);
// docs/from-pytorch.md is the table that goes from a line of Python to its line of Go.
package records
