// Package pt2e quantizes recorded networks: torchao.quantization.pt2e, which earlier was
// torch.ao.quantization.quantize_pt2e.
//
//	m, err := pt2e.Capture(net, []any{x})                          // the operators that the network calls
//	q := pt2e.NewX86InductorQuantizer().SetGlobal(pt2e.X86InductorConfig())
//	err = pt2e.PreparePT2E(m, q)                                   // observers between the operators
//	m.Forward(batch)                                               // typical data
//	err = pt2e.ConvertPT2E(m)                                      // quantize and dequantize in the observers' places
//
// The network itself needs no marks and stays as it is. The types to know: a [Model] is a network of operators, which
// [Capture] records; a [Quantizer] says which tensors of it are quantized and how; [X86InductorQuantizer] and
// [XNNPACKQuantizer] have PyTorch's rules. The result computes in float32 between operators
// quantized_decomposed::quantize_per_tensor and dequantize_per_tensor, as PyTorch's does. It is an nn.Layer:
// export.Export, onnx.Export and jit.Trace write it, and runtimes fuse the operators to computations with bytes.
//
// What differs from PyTorch: models are changed in place; weights that have become integers are not kept beside them;
// control flow (graph/trace.If and the like) is not supported. Quantization-aware training is [PrepareQATPT2E] instead
// of [PreparePT2E], and training instead of the forward passes.
//
// https://docs.pytorch.org/ao/stable/pt2e_quantization/index.html
package pt2e
