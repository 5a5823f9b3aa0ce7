// Package records shows RecordIO: many samples in one file, read in order or by number, with image headers.
//
// The code is in the tests, which run; docs/from-pytorch.md is the table that goes from a line of Python to its line of
// Go.
package records
