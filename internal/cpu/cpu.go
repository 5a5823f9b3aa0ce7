// Package cpu says which vector instructions kernels may use.
//
// Kernel packages branch on these booleans when they are called, not when the
// program starts, so that a test can run every path on one machine with [Set].
// The environment variable GOTORCH_CPU caps what is used: "avx512" (everything
// the processor has, the default), "avx2" or "generic". It never turns on what
// the processor lacks. With the build tag purego everything is off.
package cpu

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// What the processor has and kernels may use. Read-only outside of tests; see
// [Set].
var (
	HasAVX2FMA bool // x86: AVX2, FMA3, and with them F16C
	HasAVX512  bool // x86: AVX-512 F, DQ, BW and VL
	HasVNNI    bool // x86: AVX-512 VNNI, int8 dot products; implies HasAVX512
	HasBF16    bool // x86: AVX-512 BF16 dot products; implies HasAVX512
	HasAVXVNNI bool // x86: the same as VNNI for AVX2; implies HasAVX2FMA
	HasNEON    bool // arm64: Advanced SIMD
	HasDotProd bool // arm64: int8 dot products; implies HasNEON
)

// Features is a snapshot of the package's booleans.
type Features struct {
	AVX2FMA, AVX512, VNNI, BF16, AVXVNNI, NEON, DotProd bool
}

// detected is what the hardware and the build allow; GOTORCH_CPU plays no part.
var detected Features

func init() {
	detected = detect()
	f, err := detected.cap(os.Getenv("GOTORCH_CPU"))
	if err != nil {
		// A misspelt setting must not pass for a slow machine, and is no reason
		// to stop a program.
		fmt.Fprintln(os.Stderr, "gotorch:", err)
	}
	apply(f)
}

// cap returns f without what the level leaves out. An unknown level changes
// nothing and is reported.
func (f Features) cap(level string) (Features, error) {
	switch strings.ToLower(level) {
	case "", "avx512", "native":
		return f, nil
	case "avx2":
		return Features{AVX2FMA: f.AVX2FMA}, nil
	case "generic":
		return Features{}, nil
	}
	return f, fmt.Errorf("GOTORCH_CPU: got %q, expected avx512, avx2 or generic", level)
}

func apply(f Features) {
	HasAVX2FMA, HasAVX512, HasVNNI, HasBF16 = f.AVX2FMA, f.AVX512, f.VNNI, f.BF16
	HasAVXVNNI, HasNEON, HasDotProd = f.AVXVNNI, f.NEON, f.DotProd
}

// Current returns the features in use.
func Current() Features {
	return Features{AVX2FMA: HasAVX2FMA, AVX512: HasAVX512, VNNI: HasVNNI, BF16: HasBF16, AVXVNNI: HasAVXVNNI,
		NEON: HasNEON, DotProd: HasDotProd}
}

// Set restricts the features in use to those of f that the processor has, and
// returns a function that restores the previous ones. It is for tests: no
// kernel may be running meanwhile.
//
//	defer cpu.Set(cpu.Features{AVX2FMA: true})()
func Set(f Features) (restore func()) {
	old := Current()
	apply(Features{
		AVX2FMA: f.AVX2FMA && detected.AVX2FMA,
		AVX512:  f.AVX512 && detected.AVX512,
		VNNI:    f.VNNI && f.AVX512 && detected.VNNI,
		BF16:    f.BF16 && f.AVX512 && detected.BF16,
		AVXVNNI: f.AVXVNNI && f.AVX2FMA && detected.AVXVNNI,
		NEON:    f.NEON && detected.NEON,
		DotProd: f.DotProd && f.NEON && detected.DotProd,
	})
	return func() { apply(old) }
}

// Level is a named set of features, for table-driven tests.
type Level struct {
	Name     string
	Features Features
}

// Levels returns the distinct paths that this machine can run, fastest first
// and ending with "generic", whatever GOTORCH_CPU says. A kernel test runs once
// per level:
//
//	for _, l := range cpu.Levels() {
//		t.Run(l.Name, func(t *testing.T) {
//			defer cpu.Set(l.Features)()
//			…
//		})
//	}
func Levels() []Level {
	var ls []Level
	if d := detected; d.VNNI || d.BF16 {
		ls = append(ls, Level{"avx512-dot", d})
	}
	if detected.AVX512 {
		ls = append(ls, Level{"avx512", Features{AVX2FMA: detected.AVX2FMA, AVX512: true}})
	}
	if detected.AVXVNNI {
		ls = append(ls, Level{"avx2-dot", Features{AVX2FMA: true, AVXVNNI: true}})
	}
	if detected.AVX2FMA {
		ls = append(ls, Level{"avx2", Features{AVX2FMA: true}})
	}
	if detected.DotProd {
		ls = append(ls, Level{"neon-dot", Features{NEON: true, DotProd: true}})
	}
	if detected.NEON {
		ls = append(ls, Level{"neon", Features{NEON: true}})
	}
	return append(ls, Level{"generic", Features{}})
}

// Description names the architecture and the features in use, for example
// "amd64 avx512 vnni" or "arm64 neon"; "generic" stands for no features.
func Description() string {
	parts := []string{runtime.GOARCH}
	switch {
	case HasAVX512:
		parts = append(parts, "avx512")
	case HasAVX2FMA:
		parts = append(parts, "avx2")
	case HasNEON:
		parts = append(parts, "neon")
	default:
		parts = append(parts, "generic")
	}
	if HasVNNI || HasAVXVNNI {
		parts = append(parts, "vnni")
	}
	if HasDotProd {
		parts = append(parts, "dotprod")
	}
	if HasBF16 {
		parts = append(parts, "bf16")
	}
	return strings.Join(parts, " ")
}
