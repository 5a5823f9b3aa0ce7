// Package detection shows COCO: finding annotations, masks and their run lengths, and the evaluation of detections.
//
// The code is in the tests, which run; docs/from-pytorch.md is the table that goes from a line of Python to its line of
// Go.
package detection
