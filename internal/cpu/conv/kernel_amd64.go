//go:build !purego

package conv

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

//go:generate go run ../_asm/conv -out .

//go:noescape
func sconvAVX512(a *args)

//go:noescape
func sgradAVX512(a *args)

//go:noescape
func dconvAVX512(a *args)

//go:noescape
func dgradAVX512(a *args)

//go:noescape
func sconvAVX2(a *args)

//go:noescape
func sgradAVX2(a *args)

//go:noescape
func dconvAVX2(a *args)

//go:noescape
func dgradAVX2(a *args)

//go:noescape
func sdepthAVX512(a *args)

//go:noescape
func sdepthGradAVX512(a *args)

//go:noescape
func sdepth3s1AVX512(a *args)

//go:noescape
func sdepth3s2AVX512(a *args)

//go:noescape
func sdepth5s1AVX512(a *args)

//go:noescape
func sdepth5s2AVX512(a *args)

//go:noescape
func sdepth7s1AVX512(a *args)

//go:noescape
func sdepth7s2AVX512(a *args)

//go:noescape
func ddepth3s1AVX512(a *args)

//go:noescape
func ddepth3s2AVX512(a *args)

//go:noescape
func ddepth5s1AVX512(a *args)

//go:noescape
func ddepth5s2AVX512(a *args)

//go:noescape
func ddepth7s1AVX512(a *args)

//go:noescape
func ddepth7s2AVX512(a *args)

//go:noescape
func sdepth3s1AVX2(a *args)

//go:noescape
func sdepth3s2AVX2(a *args)

//go:noescape
func sdepth5s1AVX2(a *args)

//go:noescape
func sdepth5s2AVX2(a *args)

//go:noescape
func sdepth7s1AVX2(a *args)

//go:noescape
func sdepth7s2AVX2(a *args)

//go:noescape
func ddepth3s1AVX2(a *args)

//go:noescape
func ddepth3s2AVX2(a *args)

//go:noescape
func ddepth5s1AVX2(a *args)

//go:noescape
func ddepth5s2AVX2(a *args)

//go:noescape
func ddepth7s1AVX2(a *args)

//go:noescape
func ddepth7s2AVX2(a *args)

//go:noescape
func sdepthAVX2(a *args)

//go:noescape
func sdepthGradAVX2(a *args)

//go:noescape
func smixAVX512(a *args)

//go:noescape
func smixGradAVX512(a *args)

//go:noescape
func smixAVX2(a *args)

//go:noescape
func smixGradAVX2(a *args)

//go:noescape
func ddepthAVX512(a *args)

//go:noescape
func ddepthGradAVX512(a *args)

//go:noescape
func ddepthAVX2(a *args)

//go:noescape
func ddepthGradAVX2(a *args)

//go:noescape
func stransposeAVX512(dst unsafe.Pointer, off *int, src unsafe.Pointer, lds, rows, cols int)

//go:noescape
func stransposeFarAVX512(dst unsafe.Pointer, off *int, src unsafe.Pointer, lds, rows, cols int)

//go:noescape
func stransposePastAVX512(dst unsafe.Pointer, off *int, src unsafe.Pointer, lds, rows, cols int)

//go:noescape
func stransposeAVX2(dst unsafe.Pointer, off *int, src unsafe.Pointer, lds, rows, cols int)

//go:noescape
func stransposeFarAVX2(dst unsafe.Pointer, off *int, src unsafe.Pointer, lds, rows, cols int)

//go:noescape
func stransposePastAVX2(dst unsafe.Pointer, off *int, src unsafe.Pointer, lds, rows, cols int)

//go:noescape
func copyRowsAVX512(dst unsafe.Pointer, ldd int, src unsafe.Pointer, lds, rows, cols int)

//go:noescape
func bconvAVX512(a *args)

//go:noescape
func bgradAVX512(a *args)

//go:noescape
func pairRowsAVX512(dst unsafe.Pointer, ldd int, a, b unsafe.Pointer, lds, rows, cols int)

//go:noescape
func padRowsAVX512(dst unsafe.Pointer, ldd int, src unsafe.Pointer, lds, rows, cols int)

//go:noescape
func winInputAVX512(a *winArgs)

//go:noescape
func winOutputAVX512(a *winArgs)

//go:noescape
func winWeightAVX512(a *winArgs)

//go:noescape
func winInputAVX2(a *winArgs)

//go:noescape
func winOutputAVX2(a *winArgs)

//go:noescape
func winWeightAVX2(a *winArgs)

var assembly = [...][2]kernels{
	pathAVX2: {
		{
			conv: sconvAVX2, grad: sgradAVX2, depth: sdepthAVX2, depthGrad: sdepthGradAVX2,
			mix: smixAVX2, mixGrad: smixGradAVX2,
			side:    [3][2]func(*args){{sdepth3s1AVX2, sdepth3s2AVX2}, {sdepth5s1AVX2, sdepth5s2AVX2}, {sdepth7s1AVX2, sdepth7s2AVX2}},
			win:     [...]func(*winArgs){winIn: winInputAVX2, winOut: winOutputAVX2, winWeights: winWeightAVX2},
			scatter: stransposeAVX2, scatterFar: stransposeFarAVX2, scatterPast: stransposePastAVX2,
		},
		{
			conv: dconvAVX2, grad: dgradAVX2, depth: ddepthAVX2, depthGrad: ddepthGradAVX2,
			side: [3][2]func(*args){{ddepth3s1AVX2, ddepth3s2AVX2}, {ddepth5s1AVX2, ddepth5s2AVX2}, {ddepth7s1AVX2, ddepth7s2AVX2}},
		},
	},
	pathBF16: {{conv: bconvAVX512, grad: bgradAVX512, scatter: stransposeAVX512, scatterFar: stransposeFarAVX512, copy: copyRowsAVX512}},
	pathAVX512: {
		{
			conv: sconvAVX512, grad: sgradAVX512, depth: sdepthAVX512, depthGrad: sdepthGradAVX512,
			mix: smixAVX512, mixGrad: smixGradAVX512, side: [3][2]func(*args){{sdepth3s1AVX512, sdepth3s2AVX512}, {sdepth5s1AVX512, sdepth5s2AVX512}, {sdepth7s1AVX512, sdepth7s2AVX512}},
			scatter: stransposeAVX512, scatterFar: stransposeFarAVX512, scatterPast: stransposePastAVX512, copy: copyRowsAVX512,
			win: [...]func(*winArgs){winIn: winInputAVX512, winOut: winOutputAVX512, winWeights: winWeightAVX512},
		},
		{
			conv: dconvAVX512, grad: dgradAVX512, depth: ddepthAVX512, depthGrad: ddepthGradAVX512,
			side: [3][2]func(*args){{ddepth3s1AVX512, ddepth3s2AVX512}, {ddepth5s1AVX512, ddepth5s2AVX512}, {ddepth7s1AVX512, ddepth7s2AVX512}}, copy: copyRowsAVX512,
		},
	},
}

func currentPath() path {
	switch {
	case cpu.HasAVX512:
		return pathAVX512
	case cpu.HasAVX2FMA:
		return pathAVX2
	}
	return pathGeneric
}

// pairRows and padRowsOnce make pairs of bfloat16: see joinRows and padRows. Like
// the other kernels they must stay real calls.
//
//go:noinline
func pairRows(dst unsafe.Pointer, ldd int, a, b unsafe.Pointer, lds, rows, cols int) {
	pairRowsAVX512(dst, ldd, a, b, lds, rows, cols)
}

//go:noinline
func padRowsOnce(dst unsafe.Pointer, ldd int, src unsafe.Pointer, lds, rows, words int) {
	padRowsAVX512(dst, ldd, src, lds, rows, words)
}
