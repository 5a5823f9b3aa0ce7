// Package windows holds PyTorch's torch.signal.windows: window functions for filters and spectra.
//
//	w := windows.Kaiser(400, windows.KaiserOptions{Beta: torch.Some(8.6), NoSym: true})
//
// The functions are generated from schemas as those of package nn/functional are.
//
// https://pytorch.org/docs/stable/signal.html
package windows

import _ "github.com/gotorch-dev/torch" // links the operators that the functions call
