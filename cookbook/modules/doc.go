// Package modules shows networks: layers, modules of one's own, what is found in them, training and evaluation mode,
// initialisation, parameter groups, the training loop.
//
// The code is in the tests, which run; docs/from-pytorch.md is the table that goes from a line of Python to its line of
// Go.
package modules
