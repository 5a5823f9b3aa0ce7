//go:build !(arm64 || loong64 || ppc64 || ppc64le || riscv64 || s390x)

package vec

// nativeFMA says that the compiler fuses x*y + z. It never does here, so the
// generic kernels round through float64.
const nativeFMA = false
