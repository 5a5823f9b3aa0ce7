package attention

import (
	"slices"
	"sync"

	"github.com/gotorch-dev/torch/tensor"
)

// Tensor is a tensor.
type Tensor = tensor.Tensor

// SDPBackend is a way to compute scaled_dot_product_attention.
type SDPBackend int

// The backends. On the CPU there are Math and FlashAttention; the others are names of PyTorch's for CUDA.
const (
	Error              SDPBackend = iota - 1
	Math                          // public operators, one after the other, with all scores in memory
	FlashAttention                // the fused operator
	EfficientAttention            // CUDA only
	CuDNNAttention                // CUDA only
	Overrideable                  // of backends that bring a kernel of their own
)

// String is PyTorch's name.
func (b SDPBackend) String() string {
	if b < Error || b > Overrideable {
		return "SDPBackend.?"
	}
	return "SDPBackend." + [...]string{"ERROR", "MATH", "FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION",
		"OVERRIDEABLE"}[b+1]
}

// SDPAKernel runs f, in which scaled_dot_product_attention uses one of the backends only, on this goroutine. Where none
// of them serves, the call is an error. The order says nothing: on the CPU, FlashAttention comes before Math.
//
// https://docs.pytorch.org/docs/stable/generated/torch.nn.attention.sdpa_kernel.html
func SDPAKernel(backends []SDPBackend, f func()) {
	var ways tensor.AttentionWays
	for _, b := range backends {
		switch b {
		case Math:
			ways |= tensor.AttentionMath
		case FlashAttention:
			ways |= tensor.AttentionFlash
		case EfficientAttention, CuDNNAttention, Overrideable: // not on the CPU
		default:
			tensor.Fail(tensor.ErrValue, "SDPAKernel: there is no backend %d", int(b))
		}
	}
	tensor.WithAttention(ways, f)
}

// impls are the other implementations of FlashAttention that a program has registered.
var impls struct {
	sync.Mutex
	register map[string]func()
	current  string
}

// RegisterFlashAttentionImpl registers a function that puts another implementation of FlashAttention, under a name, in
// the place of the built-in one, for example with [tensor.RegisterKernel].
func RegisterFlashAttentionImpl(name string, register func()) {
	impls.Lock()
	defer impls.Unlock()
	if impls.register == nil {
		impls.register = map[string]func(){}
	}
	impls.register[name] = register
}

// ListFlashAttentionImpls are the names of the registered implementations, sorted.
func ListFlashAttentionImpls() []string {
	impls.Lock()
	defer impls.Unlock()
	out := []string{}
	for n := range impls.register {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// ActivateFlashAttentionImpl calls the function of a registered implementation. An unknown name is an error.
func ActivateFlashAttentionImpl(name string) {
	impls.Lock()
	f := impls.register[name]
	impls.Unlock()
	if f == nil {
		tensor.Fail(tensor.ErrValue, "Unknown flash attention impl '%s'. Available implementations: %v", name,
			ListFlashAttentionImpls())
	}
	f()
	impls.Lock()
	impls.current = name
	impls.Unlock()
}

// CurrentFlashAttentionImpl is the name of the implementation that was activated last, "" for the built-in one.
func CurrentFlashAttentionImpl() string {
	impls.Lock()
	defer impls.Unlock()
	return impls.current
}

// RestoreFlashAttentionImpl notes that the built-in implementation is in use again; what an implementation has changed
// it takes back itself, in the function given here, which may be nil.
func RestoreFlashAttentionImpl(restore func()) {
	if restore != nil {
		restore()
	}
	impls.Lock()
	impls.current = ""
	impls.Unlock()
}
