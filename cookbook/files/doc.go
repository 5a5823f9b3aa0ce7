// Package files shows saving and loading: state dicts that Python reads too, partial loads, weights of wrapped
// networks.
//
// The code is in the tests, which run; docs/from-pytorch.md is the table that goes from a line of Python to its line of
// Go.
package files
