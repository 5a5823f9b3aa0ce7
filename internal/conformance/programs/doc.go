// Package programs runs the Python programs that reference data records with their results: a [Host] gives the names of
// torch to the interpreter of internal/pylite, by the operators, modules and optimizers of this project.
package programs
