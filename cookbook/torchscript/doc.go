// Package torchscript shows programs that leave Go: modules that are traced or scripted, printed as code, saved for
// Python and loaded without the Go types that made them.
package torchscript
