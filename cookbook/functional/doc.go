// Package functional is the chapter of the cookbook about losses, convolutions, pooling and resizing: the formulas in
// figures, the options, and the errors. It holds no code of its own: every recipe is a test or a runnable example.
package functional
