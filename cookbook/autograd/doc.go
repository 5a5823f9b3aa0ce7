// Package autograd is the chapter of the cookbook about gradients: asking for them, cutting them off, and finding out
// what went wrong. It holds no code of its own: every recipe is a test or a runnable example.
package autograd
