// Package profiling is the chapter of the cookbook about where time and memory go: the profiler of operators, one page
// about a whole program, and networks whose activations do not fit into memory. It holds no code of its own: every
// recipe is a test or a runnable example.
package profiling
