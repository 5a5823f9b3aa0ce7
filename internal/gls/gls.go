// Package gls identifies the calling goroutine, so that modes such as "no gradients" can hold for one goroutine only.
//
// ID is the address of the runtime's descriptor of the goroutine where assembly can read it, and the number printed in
// a stack trace elsewhere. It is stable while the goroutine runs and may be reused after it ends: remove what was
// stored under it before returning.
package gls
