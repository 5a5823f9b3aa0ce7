//go:build arm64 || loong64 || ppc64 || ppc64le || riscv64 || s390x

package vec

// nativeFMA says that the compiler turns x*y + z of float32 values into the
// processor's fused instruction, as it does on these architectures.
const nativeFMA = true
