// Package quantized holds the operators of quantized tensors: those of PyTorch's namespace quantized, and what
// operators of aten do with such tensors.
//
//	tensors.go     quantize_per_tensor and its like, dequantize, int_repr, scales and zero points
//	moves.go       operators that move or compare elements: clone, copy_, cat, index_select, sort, …
//	pointwise.go   activations; add, mul and their forms with numbers
//	reduce.go      norms, means and poolings
//	packed.go      packed parameters, engines
//	linear.go      linear layers: static, dynamic, in half precision
//	conv.go        convolutions and transposed ones
//	embedding.go   tables of 8, 4 and 2 bits
//	rnn.go         recurrent layers and cells with quantized weights
//	weightonly.go  products with quantized weights of bfloat16 models
//	fake.go        fake quantization, with gradients
//	legacy.go      layers and cells from before the namespace quantized
//
// The arithmetic is in internal/cpu/quant; docs/adr/0014-quantized-tensors.md says what a quantized tensor is.
package quantized
