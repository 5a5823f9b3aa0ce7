// Package quantization makes models that compute with bytes: torch.ao.quantization.
package quantization
