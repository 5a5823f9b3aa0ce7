// Package tensor holds the core: Tensor and Storage, the operator registry and the one place where operators are
// called, and the tape that Backward walks.
//
// Five types are enough to read the rest: Tensor; Def, which describes an operator; Ctx, one call of it; Node, the
// record of a call that gradients flow through; Error, what a mistake in a tensor expression panics with. Operators
// live in ops/<family> and register a Def; the methods of Tensor in the zz_*.go files are generated from their schemas.
package tensor
