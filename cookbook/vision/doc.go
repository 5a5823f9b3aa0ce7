// Package vision shows images and networks for them: files and grids, published networks and their weights, features of
// inner layers, repositories of models.
//
// The code is in the tests, which run; docs/from-pytorch.md is the table that goes from a line of Python to its line of
// Go.
package vision
