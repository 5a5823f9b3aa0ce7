//go:build !purego

package cpu

import "golang.org/x/sys/cpu"

func detect() Features {
	// x/sys/cpu also checks that the operating system saves the wide registers.
	avx2 := cpu.X86.HasAVX2 && cpu.X86.HasFMA
	avx512 := avx2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL
	return Features{
		AVX2FMA: avx2,
		AVX512:  avx512,
		VNNI:    avx512 && cpu.X86.HasAVX512VNNI,
		BF16:    avx512 && cpu.X86.HasAVX512BF16,
		AVXVNNI: avx2 && cpu.X86.HasAVXVNNI,
	}
}
