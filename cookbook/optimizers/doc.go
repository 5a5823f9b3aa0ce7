// Package optimizers is the chapter of the cookbook about optimizers and learning-rate schedules: their rules in
// figures, parameter groups, what they print and what they save. It holds no code of its own: every recipe is a test or
// a runnable example.
package optimizers
