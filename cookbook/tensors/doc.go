// Package tensors is the chapter of the cookbook about tensors: making, joining, cutting, expanding and comparing them,
// how they print, and what their errors say. It holds no code of its own: every recipe is a test or a runnable example.
package tensors
