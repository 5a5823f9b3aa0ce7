//go:build !purego

package vec

func init() {
	f, d, h, b := &WindowsF32, &WindowsF64, &WindowsF16, &WindowsBF16
	f.add, f.max, f.maxAt, f.grad = addWindowsF32AVX512, maxWindowsF32AVX512, maxAtWindowsF32AVX512, gradWindowsF32AVX512
	d.add, d.max, d.maxAt, d.grad = addWindowsF64AVX512, maxWindowsF64AVX512, maxAtWindowsF64AVX512, gradWindowsF64AVX512
	h.add, h.max, h.maxAt, h.grad = addWindowsF16AVX512, maxWindowsF16AVX512, maxAtWindowsF16AVX512, gradWindowsF16AVX512
	b.add, b.max, b.maxAt, b.grad = addWindowsBF16AVX512, maxWindowsBF16AVX512, maxAtWindowsBF16AVX512, gradWindowsBF16AVX512
}
