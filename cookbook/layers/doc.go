// Package layers is the chapter of the cookbook about modules: containers and their names, how they print,
// normalisation, embeddings, initialisation, and working with state dicts. It holds no code of its own: every recipe is
// a test or a runnable example.
package layers
