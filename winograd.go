package torch

import "github.com/gotorch-dev/torch/internal/cpu/conv"

// SetWinograd allows 3x3 convolutions of stride 1 in float32 to run by Winograd's F(4×4, 3×3), and returns the previous
// setting. It is off by default: it takes a third to a half of the time on large images, and its rounding errors are two
// to five times those of the direct kernel (2e-6 on values up to 1). It needs AVX-512, AVX2 or NEON and has no effect
// elsewhere. Results stay the same from run to run and for any number of threads. Programs that are prepared for
// inference have an option of their own (onnx.LoadOptions and the like), which holds for them alone.
func SetWinograd(on bool) (old bool) { return conv.SetWinograd(on) }

// Winograd reports the setting of [SetWinograd].
func Winograd() bool { return conv.Winograd() }
