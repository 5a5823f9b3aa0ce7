// Package precision is the chapter of the cookbook about training in 16 bits: which operators autocast runs in which
// type, how a GradScaler keeps small gradients alive, and in which order its calls stand. It holds no code of its own:
// every recipe is a test or a runnable example.
package precision
