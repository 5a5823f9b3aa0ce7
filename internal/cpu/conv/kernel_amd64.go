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
func sgroupedAVX512(a *args)

//go:noescape
func sgroupedGradAVX512(a *args)

//go:noescape
func sgroupedAVX2(a *args)

//go:noescape
func sgroupedGradAVX2(a *args)

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
func stransposeNonTemporalAVX512(dst unsafe.Pointer, off *int, src unsafe.Pointer, lds, rows, cols int)

//go:noescape
func stransposeAVX2(dst unsafe.Pointer, off *int, src unsafe.Pointer, lds, rows, cols int)

//go:noescape
func stransposeFarAVX2(dst unsafe.Pointer, off *int, src unsafe.Pointer, lds, rows, cols int)

//go:noescape
func stransposeNonTemporalAVX2(dst unsafe.Pointer, off *int, src unsafe.Pointer, lds, rows, cols int)

//go:noescape
func copyRowsAVX512(dst unsafe.Pointer, ldd int, src unsafe.Pointer, lds, rows, cols int)

//go:noescape
func bconvAVX512(a *args)

//go:noescape
func bgradAVX512(a *args)

//go:noescape
func interleavePairsAVX512(dst unsafe.Pointer, ldd int, a, b unsafe.Pointer, lds, rows, cols int)

//go:noescape
func copyRowsPaddedAVX512(dst unsafe.Pointer, ldd int, src unsafe.Pointer, lds, rows, cols int)

//go:noescape
func winogradInputAVX512(a *winogradArgs)

//go:noescape
func winogradOutputAVX512(a *winogradArgs)

//go:noescape
func winogradWeightAVX512(a *winogradArgs)

//go:noescape
func winogradInputAVX2(a *winogradArgs)

//go:noescape
func winogradOutputAVX2(a *winogradArgs)

//go:noescape
func winogradWeightAVX2(a *winogradArgs)

var assembly = [...][2]kernels{
	pathAVX2: {
		{
			conv: sconvAVX2, grad: sgradAVX2, depthwise: sdepthAVX2, depthwiseGrad: sdepthGradAVX2,
			grouped: sgroupedAVX2, groupedGrad: sgroupedGradAVX2,
			sliding: [3][2]func(*args){{sdepth3s1AVX2, sdepth3s2AVX2}, {sdepth5s1AVX2, sdepth5s2AVX2},
				{sdepth7s1AVX2, sdepth7s2AVX2}},
			winograd: [...]func(*winogradArgs){winogradInput: winogradInputAVX2, winogradOutput: winogradOutputAVX2,
				winogradWeights: winogradWeightAVX2},
			scatter: stransposeAVX2, scatterFar: stransposeFarAVX2, scatterNonTemporal: stransposeNonTemporalAVX2,
		},
		{
			conv: dconvAVX2, grad: dgradAVX2, depthwise: ddepthAVX2, depthwiseGrad: ddepthGradAVX2,
			sliding: [3][2]func(*args){{ddepth3s1AVX2, ddepth3s2AVX2}, {ddepth5s1AVX2, ddepth5s2AVX2},
				{ddepth7s1AVX2, ddepth7s2AVX2}},
		},
	},
	pathBF16: {{conv: bconvAVX512, grad: bgradAVX512, scatter: stransposeAVX512, scatterFar: stransposeFarAVX512,
		copy: copyRowsAVX512}},
	pathAVX512: {
		{
			conv: sconvAVX512, grad: sgradAVX512, depthwise: sdepthAVX512, depthwiseGrad: sdepthGradAVX512,
			grouped: sgroupedAVX512, groupedGrad: sgroupedGradAVX512,
			sliding: [3][2]func(*args){{sdepth3s1AVX512, sdepth3s2AVX512}, {sdepth5s1AVX512, sdepth5s2AVX512},
				{sdepth7s1AVX512, sdepth7s2AVX512}},
			scatter: stransposeAVX512, scatterFar: stransposeFarAVX512, scatterNonTemporal: stransposeNonTemporalAVX512,
			copy: copyRowsAVX512,
			winograd: [...]func(*winogradArgs){winogradInput: winogradInputAVX512, winogradOutput: winogradOutputAVX512,
				winogradWeights: winogradWeightAVX512},
		},
		{
			conv: dconvAVX512, grad: dgradAVX512, depthwise: ddepthAVX512, depthwiseGrad: ddepthGradAVX512,
			sliding: [3][2]func(*args){{ddepth3s1AVX512, ddepth3s2AVX512}, {ddepth5s1AVX512, ddepth5s2AVX512},
				{ddepth7s1AVX512, ddepth7s2AVX512}}, copy: copyRowsAVX512,
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

// interleavePairsOnce and copyRowsPaddedOnce make pairs of bfloat16: see interleavePairs and copyRowsPadded.
// Like the other kernels they must stay real calls.
//
//go:noinline
func interleavePairsOnce(dst unsafe.Pointer, ldd int, a, b unsafe.Pointer, lds, rows, cols int) {
	interleavePairsAVX512(dst, ldd, a, b, lds, rows, cols)
}

//go:noinline
func copyRowsPaddedOnce(dst unsafe.Pointer, ldd int, src unsafe.Pointer, lds, rows, words int) {
	copyRowsPaddedAVX512(dst, ldd, src, lds, rows, words)
}
