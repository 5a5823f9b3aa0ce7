// Package onnx is the chapter of the cookbook about files for other programs: how modules are written as ONNX, in which
// mode, and what the file says. It holds no code of its own: every recipe is a test or a runnable example.
package onnx
