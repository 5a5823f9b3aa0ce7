package quantization

import (
	"fmt"

	"github.com/gotorch-dev/torch/internal/cpu/quant"
	"github.com/gotorch-dev/torch/ops/quantized"
)

// EngineKind is an engine: the library whose rounding quantized layers follow, and whose range their defaults use.
type EngineKind = quant.Engine

// The engines. X86 is OneDNN or FBGEMM, by the layer, as PyTorch chooses on a processor with VNNI.
const (
	FBGEMM  = quant.FBGEMM
	QNNPACK = quant.QNNPACK
	OneDNN  = quant.OneDNN
	X86     = quant.X86
)

// Engine is what holds for layers that are packed now, torch.backends.quantized.engine: X86 at first.
func Engine() EngineKind { return quantized.Engine() }

// SetEngine sets the engine for layers that are packed from now on, in the whole program, and returns what held before.
func SetEngine(e EngineKind) EngineKind { return quantized.SetEngine(e) }

// ParseEngine finds an engine by PyTorch's name: "fbgemm", "qnnpack", "onednn", "x86". It is an error in PyTorch's
// words where there is none.
func ParseEngine(name string) (EngineKind, error) {
	if e, ok := quant.ParseEngine(name); ok && e != quant.NoEngine {
		return e, nil
	}
	return 0, fmt.Errorf("%s is not a valid value for quantized engine", name)
}
