// Package files shows saving and loading: state dicts that Python reads too, partial loads, weights of wrapped
// networks.
//
// The code is in the tests, which run. Each names the rows of the acceptance index that it covers (S0-012, …);
// docs/from-pytorch.md is the table that goes from a line of Python to its line of Go.
package files
