// Package gguf reads the models of llama.cpp and its kin: metadata, tensors, and quantized tensors as float32.
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
//
// [Load] reads the tensors of a file as a state dict; [Open] gives a [File] with the metadata, whose tensors are read
// one by one. Shapes are PyTorch's: the last dimension is the one that varies fastest, which the format names first.
//
// Blocks of the types Q4_0 to Q8_0, Q2_K to Q8_K, IQ1 to IQ4, TQ1_0, TQ2_0, MXFP4 and NVFP4 are dequantized, to the
// same bits as by llama.cpp's package gguf; those of Q8_1 and Q1_0 are refused with [ErrType]. Files of version 1 and of
// big-endian machines are refused.
package gguf
