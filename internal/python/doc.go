// Package python reads the part of Python that TorchScript archives and small programs are written in: statements,
// functions, classes, exceptions, comprehensions, formatted strings; no generators with yield and no async.
//
// Parse reads a file and ParseExpr an expression; both give a tree of Stmt and Expr nodes, or a *SyntaxError. Package
// jit makes programs of it, internal/pylite runs it.
package python
