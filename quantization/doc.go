// Package quantization makes models that compute with bytes: torch.ao.quantization.
//
// Static quantization goes in steps, each in place: FuseModules joins layers, Prepare puts observers behind them, the
// model runs on typical data, and Convert exchanges the layers for quantized ones. QuantStub and DeQuantStub in the
// model mark where it is quantized; FloatFunctional stands for additions and the like. PrepareQAT is Prepare for
// training with rounded weights. QuantizeDynamic needs no data: it quantizes the weights of linear and recurrent
// layers. QuantizeInPlace is torchao's quantize_: weights of 1 to 8 bits, with or without inputs of 8 bits. Package
// pt2e quantizes networks without marks, from a recording of their operators.
//
// The types to know: [Observer] chooses scale and zero point, [QConfig] says which observers a layer gets,
// [QConfigMapping] which layers get which; [WeightConfig] is one of torchao's configurations. StateDict and
// LoadStateDict exchange converted models with PyTorch. SetEngine chooses whose rounding holds.
//
// What differs from PyTorch: models are changed in place. There is no prepare_fx: its successor is package pt2e.
package quantization
