// Package precision is the chapter of the cookbook about numbers of fewer bits: which operators autocast runs in which
// type, how a GradScaler keeps small gradients alive, in which order its calls stand, and how models become ones that
// compute with bytes. It holds no code of its own:
// every recipe is a test or a runnable example.
package precision
