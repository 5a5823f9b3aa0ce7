// Package jit reads TorchScript.
package jit
