//go:build !purego

package vec

import "github.com/gotorch-dev/torch/internal/cpu"

// tapsNow is the assembly in use, nil if there is none.
func tapsNow() *tapAsm {
	switch {
	case cpu.HasAVX512:
		return &tapsAVX512
	case cpu.HasAVX2FMA:
		return &tapsAVX2
	}
	return nil
}
