// Package logging shows TensorBoard: writing curves, histograms and pictures, and reading them back.
//
// The code is in the tests, which run; docs/from-pytorch.md is the table that goes from a line of Python to its line of
// Go.
package logging
