// Package archtest holds a test, and nothing else: it reads the imports of every
// package of the module and fails where they point the wrong way.
//
//		tensor ← ops/* ← torch (the root) ← nn, optim, data, … ← cmd, examples
//
//	  - A package imports its own layer or lower ones, directly or through internal ones.
//	  - Operator families (ops/pointwise, ops/conv, …) do not import each other: a gradient
//	    rule that needs another family's operator calls the Tensor method.
//	  - The core has no third-party imports but golang.org/x/sys.
//
// depguard checks direct imports of the same rule in .golangci.yml; this test also
// follows them through internal packages, covers files of every platform and build
// tag, and runs wherever go test does.
package archtest
