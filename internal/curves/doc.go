// Package curves reproduces whole training runs of PyTorch from their seed: its tests compare every loss.
package curves
