package modcheck

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// class tells how a Python class is constructed here: the names of its positional arguments, and the constructor.
type class struct {
	names string
	make  func(a *args) nn.Module
}

// classes are all layers under Python's names.
var classes = map[string]class{
	"Conv1d": {"in_channels out_channels kernel_size stride padding dilation groups bias padding_mode device dtype",
		func(a *args) nn.Module {
			return nn.NewConv1d(a.Int("in_channels"), a.Int("out_channels"), a.Size("kernel_size"),
				opts[nn.ConvOptions](a))
		}},
	"ConvTranspose1d": {"in_channels out_channels kernel_size stride padding output_padding groups bias dilation " +
		"padding_mode device dtype", func(a *args) nn.Module {
		return nn.NewConvTranspose1d(a.Int("in_channels"), a.Int("out_channels"), a.Size("kernel_size"),
			opts[nn.ConvTransposeOptions](a))
	}},
	"LazyConv1d": {"out_channels kernel_size stride padding dilation groups bias padding_mode device dtype",
		func(a *args) nn.Module {
			return nn.NewLazyConv1d(a.Int("out_channels"), a.Size("kernel_size"), opts[nn.ConvOptions](a))
		}},
	"LazyConvTranspose1d": {"out_channels kernel_size stride padding output_padding groups bias dilation " +
		"padding_mode device dtype", func(a *args) nn.Module {
		return nn.NewLazyConvTranspose1d(a.Int("out_channels"), a.Size("kernel_size"), opts[nn.ConvTransposeOptions](a))
	}},
	"MaxPool1d": {"kernel_size stride padding dilation return_indices ceil_mode",
		func(a *args) nn.Module { return nn.NewMaxPool1d(a.Size("kernel_size"), opts[nn.MaxPoolOptions](a)) }},
	"AvgPool1d": {"kernel_size stride padding ceil_mode count_include_pad divisor_override",
		func(a *args) nn.Module { return nn.NewAvgPool1d(a.Size("kernel_size"), opts[nn.AvgPoolOptions](a)) }},
	"AdaptiveAvgPool1d": {"output_size",
		func(a *args) nn.Module { return nn.NewAdaptiveAvgPool1d(a.Size("output_size")) }},
	"AdaptiveMaxPool1d": {"output_size return_indices", func(a *args) nn.Module {
		return nn.NewAdaptiveMaxPool1d(a.Size("output_size"), opts[nn.AdaptiveMaxPoolOptions](a))
	}},
	"LPPool1d": {"norm_type kernel_size stride ceil_mode", func(a *args) nn.Module {
		return nn.NewLPPool1d(a.Scalar("norm_type"), a.Size("kernel_size"), opts[nn.LPPoolOptions](a))
	}},
	"MaxUnpool1d": {"kernel_size stride padding",
		func(a *args) nn.Module { return nn.NewMaxUnpool1d(a.Size("kernel_size"), opts[nn.MaxUnpoolOptions](a)) }},
	"BatchNorm1d": {"num_features eps momentum affine track_running_stats device dtype",
		func(a *args) nn.Module { return nn.NewBatchNorm1d(a.Int("num_features"), opts[nn.BatchNormOptions](a)) }},
	"InstanceNorm1d": {"num_features eps momentum affine track_running_stats device dtype", func(a *args) nn.Module {
		return nn.NewInstanceNorm1d(a.Int("num_features"), opts[nn.InstanceNormOptions](a))
	}},
	"LazyBatchNorm1d": {"eps momentum affine track_running_stats device dtype",
		func(a *args) nn.Module { return nn.NewLazyBatchNorm1d(opts[nn.BatchNormOptions](a)) }},
	"LazyInstanceNorm1d": {"eps momentum affine track_running_stats device dtype",
		func(a *args) nn.Module { return nn.NewLazyInstanceNorm1d(opts[nn.BatchNormOptions](a)) }},
	"Dropout1d":        {"p inplace", func(a *args) nn.Module { return nn.NewDropout1d(opts[nn.DropoutOptions](a)) }},
	"ZeroPad1d":        {"padding", func(a *args) nn.Module { return nn.NewZeroPad1d(a.Size("padding")) }},
	"ReflectionPad1d":  {"padding", func(a *args) nn.Module { return nn.NewReflectionPad1d(a.Size("padding")) }},
	"ReplicationPad1d": {"padding", func(a *args) nn.Module { return nn.NewReplicationPad1d(a.Size("padding")) }},
	"CircularPad1d":    {"padding", func(a *args) nn.Module { return nn.NewCircularPad1d(a.Size("padding")) }},
	"ConstantPad1d": {"padding value",
		func(a *args) nn.Module { return nn.NewConstantPad1d(a.Size("padding"), a.Scalar("value")) }},
	"Conv2d": {"in_channels out_channels kernel_size stride padding dilation groups bias padding_mode device dtype",
		func(a *args) nn.Module {
			return nn.NewConv2d(a.Int("in_channels"), a.Int("out_channels"), a.Size("kernel_size"),
				opts[nn.ConvOptions](a))
		}},
	"ConvTranspose2d": {"in_channels out_channels kernel_size stride padding output_padding groups bias dilation " +
		"padding_mode device dtype", func(a *args) nn.Module {
		return nn.NewConvTranspose2d(a.Int("in_channels"), a.Int("out_channels"), a.Size("kernel_size"),
			opts[nn.ConvTransposeOptions](a))
	}},
	"LazyConv2d": {"out_channels kernel_size stride padding dilation groups bias padding_mode device dtype",
		func(a *args) nn.Module {
			return nn.NewLazyConv2d(a.Int("out_channels"), a.Size("kernel_size"), opts[nn.ConvOptions](a))
		}},
	"LazyConvTranspose2d": {"out_channels kernel_size stride padding output_padding groups bias dilation " +
		"padding_mode device dtype", func(a *args) nn.Module {
		return nn.NewLazyConvTranspose2d(a.Int("out_channels"), a.Size("kernel_size"), opts[nn.ConvTransposeOptions](a))
	}},
	"MaxPool2d": {"kernel_size stride padding dilation return_indices ceil_mode",
		func(a *args) nn.Module { return nn.NewMaxPool2d(a.Size("kernel_size"), opts[nn.MaxPoolOptions](a)) }},
	"AvgPool2d": {"kernel_size stride padding ceil_mode count_include_pad divisor_override",
		func(a *args) nn.Module { return nn.NewAvgPool2d(a.Size("kernel_size"), opts[nn.AvgPoolOptions](a)) }},
	"AdaptiveAvgPool2d": {"output_size",
		func(a *args) nn.Module { return nn.NewAdaptiveAvgPool2d(a.Size("output_size")) }},
	"AdaptiveMaxPool2d": {"output_size return_indices", func(a *args) nn.Module {
		return nn.NewAdaptiveMaxPool2d(a.Size("output_size"), opts[nn.AdaptiveMaxPoolOptions](a))
	}},
	"LPPool2d": {"norm_type kernel_size stride ceil_mode", func(a *args) nn.Module {
		return nn.NewLPPool2d(a.Scalar("norm_type"), a.Size("kernel_size"), opts[nn.LPPoolOptions](a))
	}},
	"MaxUnpool2d": {"kernel_size stride padding",
		func(a *args) nn.Module { return nn.NewMaxUnpool2d(a.Size("kernel_size"), opts[nn.MaxUnpoolOptions](a)) }},
	"FractionalMaxPool2d": {"kernel_size output_size output_ratio return_indices _random_samples",
		func(a *args) nn.Module {
			return nn.NewFractionalMaxPool2d(a.Size("kernel_size"), opts[nn.FractionalMaxPoolOptions](a))
		}},
	"BatchNorm2d": {"num_features eps momentum affine track_running_stats device dtype",
		func(a *args) nn.Module { return nn.NewBatchNorm2d(a.Int("num_features"), opts[nn.BatchNormOptions](a)) }},
	"InstanceNorm2d": {"num_features eps momentum affine track_running_stats device dtype", func(a *args) nn.Module {
		return nn.NewInstanceNorm2d(a.Int("num_features"), opts[nn.InstanceNormOptions](a))
	}},
	"LazyBatchNorm2d": {"eps momentum affine track_running_stats device dtype",
		func(a *args) nn.Module { return nn.NewLazyBatchNorm2d(opts[nn.BatchNormOptions](a)) }},
	"LazyInstanceNorm2d": {"eps momentum affine track_running_stats device dtype",
		func(a *args) nn.Module { return nn.NewLazyInstanceNorm2d(opts[nn.BatchNormOptions](a)) }},
	"Dropout2d":        {"p inplace", func(a *args) nn.Module { return nn.NewDropout2d(opts[nn.DropoutOptions](a)) }},
	"ZeroPad2d":        {"padding", func(a *args) nn.Module { return nn.NewZeroPad2d(a.Size("padding")) }},
	"ReflectionPad2d":  {"padding", func(a *args) nn.Module { return nn.NewReflectionPad2d(a.Size("padding")) }},
	"ReplicationPad2d": {"padding", func(a *args) nn.Module { return nn.NewReplicationPad2d(a.Size("padding")) }},
	"CircularPad2d":    {"padding", func(a *args) nn.Module { return nn.NewCircularPad2d(a.Size("padding")) }},
	"ConstantPad2d": {"padding value",
		func(a *args) nn.Module { return nn.NewConstantPad2d(a.Size("padding"), a.Scalar("value")) }},
	"Conv3d": {"in_channels out_channels kernel_size stride padding dilation groups bias padding_mode device dtype",
		func(a *args) nn.Module {
			return nn.NewConv3d(a.Int("in_channels"), a.Int("out_channels"), a.Size("kernel_size"),
				opts[nn.ConvOptions](a))
		}},
	"ConvTranspose3d": {"in_channels out_channels kernel_size stride padding output_padding groups bias dilation " +
		"padding_mode device dtype", func(a *args) nn.Module {
		return nn.NewConvTranspose3d(a.Int("in_channels"), a.Int("out_channels"), a.Size("kernel_size"),
			opts[nn.ConvTransposeOptions](a))
	}},
	"LazyConv3d": {"out_channels kernel_size stride padding dilation groups bias padding_mode device dtype",
		func(a *args) nn.Module {
			return nn.NewLazyConv3d(a.Int("out_channels"), a.Size("kernel_size"), opts[nn.ConvOptions](a))
		}},
	"LazyConvTranspose3d": {"out_channels kernel_size stride padding output_padding groups bias dilation " +
		"padding_mode device dtype", func(a *args) nn.Module {
		return nn.NewLazyConvTranspose3d(a.Int("out_channels"), a.Size("kernel_size"), opts[nn.ConvTransposeOptions](a))
	}},
	"MaxPool3d": {"kernel_size stride padding dilation return_indices ceil_mode",
		func(a *args) nn.Module { return nn.NewMaxPool3d(a.Size("kernel_size"), opts[nn.MaxPoolOptions](a)) }},
	"AvgPool3d": {"kernel_size stride padding ceil_mode count_include_pad divisor_override",
		func(a *args) nn.Module { return nn.NewAvgPool3d(a.Size("kernel_size"), opts[nn.AvgPoolOptions](a)) }},
	"AdaptiveAvgPool3d": {"output_size",
		func(a *args) nn.Module { return nn.NewAdaptiveAvgPool3d(a.Size("output_size")) }},
	"AdaptiveMaxPool3d": {"output_size return_indices", func(a *args) nn.Module {
		return nn.NewAdaptiveMaxPool3d(a.Size("output_size"), opts[nn.AdaptiveMaxPoolOptions](a))
	}},
	"LPPool3d": {"norm_type kernel_size stride ceil_mode", func(a *args) nn.Module {
		return nn.NewLPPool3d(a.Scalar("norm_type"), a.Size("kernel_size"), opts[nn.LPPoolOptions](a))
	}},
	"MaxUnpool3d": {"kernel_size stride padding",
		func(a *args) nn.Module { return nn.NewMaxUnpool3d(a.Size("kernel_size"), opts[nn.MaxUnpoolOptions](a)) }},
	"FractionalMaxPool3d": {"kernel_size output_size output_ratio return_indices _random_samples",
		func(a *args) nn.Module {
			return nn.NewFractionalMaxPool3d(a.Size("kernel_size"), opts[nn.FractionalMaxPoolOptions](a))
		}},
	"BatchNorm3d": {"num_features eps momentum affine track_running_stats device dtype",
		func(a *args) nn.Module { return nn.NewBatchNorm3d(a.Int("num_features"), opts[nn.BatchNormOptions](a)) }},
	"InstanceNorm3d": {"num_features eps momentum affine track_running_stats device dtype", func(a *args) nn.Module {
		return nn.NewInstanceNorm3d(a.Int("num_features"), opts[nn.InstanceNormOptions](a))
	}},
	"LazyBatchNorm3d": {"eps momentum affine track_running_stats device dtype",
		func(a *args) nn.Module { return nn.NewLazyBatchNorm3d(opts[nn.BatchNormOptions](a)) }},
	"LazyInstanceNorm3d": {"eps momentum affine track_running_stats device dtype",
		func(a *args) nn.Module { return nn.NewLazyInstanceNorm3d(opts[nn.BatchNormOptions](a)) }},
	"Dropout3d": {"p inplace",
		func(a *args) nn.Module { return nn.NewDropout3d(opts[nn.DropoutOptions](a)) }},
	"ZeroPad3d":        {"padding", func(a *args) nn.Module { return nn.NewZeroPad3d(a.Size("padding")) }},
	"ReflectionPad3d":  {"padding", func(a *args) nn.Module { return nn.NewReflectionPad3d(a.Size("padding")) }},
	"ReplicationPad3d": {"padding", func(a *args) nn.Module { return nn.NewReplicationPad3d(a.Size("padding")) }},
	"CircularPad3d":    {"padding", func(a *args) nn.Module { return nn.NewCircularPad3d(a.Size("padding")) }},
	"ConstantPad3d": {"padding value",
		func(a *args) nn.Module { return nn.NewConstantPad3d(a.Size("padding"), a.Scalar("value")) }},
	"Dropout": {"p inplace", func(a *args) nn.Module { return nn.NewDropout(opts[nn.DropoutOptions](a)) }},
	"AlphaDropout": {"p inplace",
		func(a *args) nn.Module { return nn.NewAlphaDropout(opts[nn.DropoutOptions](a)) }},
	"FeatureAlphaDropout": {"p inplace",
		func(a *args) nn.Module { return nn.NewFeatureAlphaDropout(opts[nn.DropoutOptions](a)) }},
	"SyncBatchNorm": {"num_features eps momentum affine track_running_stats process_group device dtype",
		func(a *args) nn.Module {
			return nn.NewSyncBatchNorm(a.Int("num_features"), opts[nn.BatchNormOptions](a))
		}},
	"LayerNorm": {"normalized_shape eps elementwise_affine bias device dtype", func(a *args) nn.Module {
		return nn.NewLayerNorm(a.Size("normalized_shape"), opts[nn.LayerNormOptions](a))
	}},
	"RMSNorm": {"normalized_shape eps elementwise_affine device dtype",
		func(a *args) nn.Module { return nn.NewRMSNorm(a.Size("normalized_shape"), opts[nn.RMSNormOptions](a)) }},
	"GroupNorm": {"num_groups num_channels eps affine device dtype", func(a *args) nn.Module {
		return nn.NewGroupNorm(a.Int("num_groups"), a.Int("num_channels"), opts[nn.GroupNormOptions](a))
	}},
	"LocalResponseNorm": {"size alpha beta k", func(a *args) nn.Module {
		return nn.NewLocalResponseNorm(a.Int("size"), opts[nn.LocalResponseNormOptions](a))
	}},
	"CrossMapLRN2d": {"size alpha beta k", func(a *args) nn.Module {
		return nn.NewCrossMapLRN2d(a.Int("size"), opts[nn.LocalResponseNormOptions](a))
	}},
	"Identity": {"*", func(a *args) nn.Module { return nn.NewIdentity() }},
	"Linear": {"in_features out_features bias device dtype", func(a *args) nn.Module {
		return nn.NewLinear(a.Int("in_features"), a.Int("out_features"), opts[nn.LinearOptions](a))
	}},
	"LazyLinear": {"out_features bias device dtype",
		func(a *args) nn.Module { return nn.NewLazyLinear(a.Int("out_features"), opts[nn.LinearOptions](a)) }},
	"Bilinear": {"in1_features in2_features out_features bias device dtype", func(a *args) nn.Module {
		return nn.NewBilinear(a.Int("in1_features"), a.Int("in2_features"), a.Int("out_features"),
			opts[nn.LinearOptions](a))
	}},
	"ReLU":        {"inplace", func(a *args) nn.Module { return nn.NewReLU(opts[nn.InplaceOptions](a)) }},
	"ReLU6":       {"inplace", func(a *args) nn.Module { return nn.NewReLU6(opts[nn.InplaceOptions](a)) }},
	"SELU":        {"inplace", func(a *args) nn.Module { return nn.NewSELU(opts[nn.InplaceOptions](a)) }},
	"SiLU":        {"inplace", func(a *args) nn.Module { return nn.NewSiLU(opts[nn.InplaceOptions](a)) }},
	"Mish":        {"inplace", func(a *args) nn.Module { return nn.NewMish(opts[nn.InplaceOptions](a)) }},
	"Hardswish":   {"inplace", func(a *args) nn.Module { return nn.NewHardswish(opts[nn.InplaceOptions](a)) }},
	"Hardsigmoid": {"inplace", func(a *args) nn.Module { return nn.NewHardsigmoid(opts[nn.InplaceOptions](a)) }},
	"Sigmoid":     {"", func(a *args) nn.Module { return nn.NewSigmoid() }},
	"Tanh":        {"", func(a *args) nn.Module { return nn.NewTanh() }},
	"LogSigmoid":  {"", func(a *args) nn.Module { return nn.NewLogSigmoid() }},
	"Softsign":    {"", func(a *args) nn.Module { return nn.NewSoftsign() }},
	"Tanhshrink":  {"", func(a *args) nn.Module { return nn.NewTanhshrink() }},
	"Softmax2d":   {"", func(a *args) nn.Module { return nn.NewSoftmax2d() }},
	"ELU":         {"alpha inplace", func(a *args) nn.Module { return nn.NewELU(opts[nn.ELUOptions](a)) }},
	"CELU":        {"alpha inplace", func(a *args) nn.Module { return nn.NewCELU(opts[nn.CELUOptions](a)) }},
	"LeakyReLU": {"negative_slope inplace",
		func(a *args) nn.Module { return nn.NewLeakyReLU(opts[nn.LeakyReLUOptions](a)) }},
	"Hardtanh": {"min_val max_val inplace",
		func(a *args) nn.Module { return nn.NewHardtanh(opts[nn.HardtanhOptions](a)) }},
	"Softplus":   {"beta threshold", func(a *args) nn.Module { return nn.NewSoftplus(opts[nn.SoftplusOptions](a)) }},
	"Hardshrink": {"lambd", func(a *args) nn.Module { return nn.NewHardshrink(opts[nn.HardshrinkOptions](a)) }},
	"Softshrink": {"lambd", func(a *args) nn.Module { return nn.NewSoftshrink(opts[nn.SoftshrinkOptions](a)) }},
	"RReLU":      {"lower upper inplace", func(a *args) nn.Module { return nn.NewRReLU(opts[nn.RReLUOptions](a)) }},
	"GELU":       {"approximate", func(a *args) nn.Module { return nn.NewGELU(opts[nn.GELUOptions](a)) }},
	"GLU":        {"dim", func(a *args) nn.Module { return nn.NewGLU(opts[nn.GLUOptions](a)) }},
	"PReLU": {"num_parameters init device dtype",
		func(a *args) nn.Module { return nn.NewPReLU(opts[nn.PReLUOptions](a)) }},
	"Threshold": {"threshold value inplace", func(a *args) nn.Module {
		return nn.NewThreshold(a.Scalar("threshold"), a.Scalar("value"), opts[nn.InplaceOptions](a))
	}},
	"Softmax":    {"dim", func(a *args) nn.Module { return nn.NewSoftmax(a.Int("dim")) }},
	"Softmin":    {"dim", func(a *args) nn.Module { return nn.NewSoftmin(a.Int("dim")) }},
	"LogSoftmax": {"dim", func(a *args) nn.Module { return nn.NewLogSoftmax(a.Int("dim")) }},
	"Flatten": {"start_dim end_dim",
		func(a *args) nn.Module { return nn.NewFlatten(opts[nn.FlattenOptions](a)) }},
	"Unflatten": {"dim unflattened_size",
		func(a *args) nn.Module {
			if size := a.Size("unflattened_size"); a.IsTorchSize("unflattened_size") {
				return nn.NewUnflatten(a.Int("dim"), tensor.Size(size))
			}
			return nn.NewUnflatten(a.Int("dim"), a.Size("unflattened_size"))
		}},
	"PixelShuffle": {"upscale_factor",
		func(a *args) nn.Module { return nn.NewPixelShuffle(a.Int("upscale_factor")) }},
	"PixelUnshuffle": {"downscale_factor",
		func(a *args) nn.Module { return nn.NewPixelUnshuffle(a.Int("downscale_factor")) }},
	"ChannelShuffle": {"groups", func(a *args) nn.Module { return nn.NewChannelShuffle(a.Int("groups")) }},
	"Unfold": {"kernel_size dilation padding stride",
		func(a *args) nn.Module { return nn.NewUnfold(a.Size("kernel_size"), opts[nn.WindowOptions](a)) }},
	"Fold": {"output_size kernel_size dilation padding stride", func(a *args) nn.Module {
		return nn.NewFold(a.Size("output_size"), a.Size("kernel_size"), opts[nn.WindowOptions](a))
	}},
	"Upsample": {"size scale_factor mode align_corners recompute_scale_factor",
		func(a *args) nn.Module { return nn.NewUpsample(opts[nn.UpsampleOptions](a)) }},
	"UpsamplingNearest2d": {"size scale_factor",
		func(a *args) nn.Module { return nn.NewUpsamplingNearest2d(opts[nn.UpsamplingOptions](a)) }},
	"UpsamplingBilinear2d": {"size scale_factor",
		func(a *args) nn.Module { return nn.NewUpsamplingBilinear2d(opts[nn.UpsamplingOptions](a)) }},
	"CosineSimilarity": {"dim eps", func(a *args) nn.Module { return nn.NewCosineSimilarity(opts[nn.CosineSimilarityOptions](a)) }},
	"PairwiseDistance": {"p eps keepdim",
		func(a *args) nn.Module { return nn.NewPairwiseDistance(opts[nn.PairwiseDistanceOptions](a)) }},
	"Embedding": {"num_embeddings embedding_dim padding_idx max_norm norm_type scale_grad_by_freq sparse _weight " +
		"_freeze device dtype", func(a *args) nn.Module {
		return nn.NewEmbedding(a.Int("num_embeddings"), a.Int("embedding_dim"), opts[nn.EmbeddingOptions](a))
	}},
	"EmbeddingBag": {"num_embeddings embedding_dim max_norm norm_type scale_grad_by_freq mode sparse _weight " +
		"include_last_offset padding_idx device dtype", func(a *args) nn.Module {
		return nn.NewEmbeddingBag(a.Int("num_embeddings"), a.Int("embedding_dim"), opts[nn.EmbeddingBagOptions](a))
	}},
	"RNN": {"input_size hidden_size num_layers nonlinearity bias batch_first dropout bidirectional device dtype",
		func(a *args) nn.Module {
			return nn.NewRNN(a.Int("input_size"), a.Int("hidden_size"), opts[nn.RNNOptions](a))
		}},
	"RNNCell": {"input_size hidden_size bias nonlinearity device dtype", func(a *args) nn.Module {
		return nn.NewRNNCell(a.Int("input_size"), a.Int("hidden_size"), opts[nn.RNNCellOptions](a))
	}},
	"LSTM": {"input_size hidden_size num_layers bias batch_first dropout bidirectional proj_size device dtype",
		func(a *args) nn.Module {
			return nn.NewLSTM(a.Int("input_size"), a.Int("hidden_size"), opts[nn.RNNOptions](a))
		}},
	"LSTMCell": {"input_size hidden_size bias device dtype", func(a *args) nn.Module {
		return nn.NewLSTMCell(a.Int("input_size"), a.Int("hidden_size"), opts[nn.RNNCellOptions](a))
	}},
	"GRU": {"input_size hidden_size num_layers bias batch_first dropout bidirectional proj_size device dtype",
		func(a *args) nn.Module {
			return nn.NewGRU(a.Int("input_size"), a.Int("hidden_size"), opts[nn.RNNOptions](a))
		}},
	"GRUCell": {"input_size hidden_size bias device dtype", func(a *args) nn.Module {
		return nn.NewGRUCell(a.Int("input_size"), a.Int("hidden_size"), opts[nn.RNNCellOptions](a))
	}},
	"MultiheadAttention": {"embed_dim num_heads dropout bias add_bias_kv add_zero_attn kdim vdim batch_first device " +
		"dtype", func(a *args) nn.Module {
		return nn.NewMultiheadAttention(a.Int("embed_dim"), a.Int("num_heads"), opts[nn.MultiheadAttentionOptions](a))
	}},
	"TransformerEncoderLayer": {"d_model nhead dim_feedforward dropout activation layer_norm_eps batch_first " +
		"norm_first bias device dtype", func(a *args) nn.Module {
		return nn.NewTransformerEncoderLayer(a.Int("d_model"), a.Int("nhead"), opts[nn.TransformerLayerOptions](a))
	}},
	"TransformerEncoder": {"encoder_layer num_layers norm enable_nested_tensor mask_check", func(a *args) nn.Module {
		return nn.NewTransformerEncoder(a.get("encoder_layer").(*nn.TransformerEncoderLayer), a.Int("num_layers"),
			a.Layer("norm"))
	}},
	"TransformerDecoderLayer": {"d_model nhead dim_feedforward dropout activation layer_norm_eps batch_first " +
		"norm_first bias device dtype", func(a *args) nn.Module {
		return nn.NewTransformerDecoderLayer(a.Int("d_model"), a.Int("nhead"), opts[nn.TransformerLayerOptions](a))
	}},
	"TransformerDecoder": {"decoder_layer num_layers norm enable_nested_tensor mask_check", func(a *args) nn.Module {
		return nn.NewTransformerDecoder(a.get("decoder_layer").(*nn.TransformerDecoderLayer), a.Int("num_layers"),
			a.Layer("norm"))
	}},
	"Transformer": {"d_model nhead num_encoder_layers num_decoder_layers dim_feedforward dropout activation " +
		"custom_encoder custom_decoder layer_norm_eps batch_first norm_first bias device dtype",
		func(a *args) nn.Module { return nn.NewTransformer(opts[nn.TransformerOptions](a)) }},
	"L1Loss": {"size_average reduce reduction",
		func(a *args) nn.Module { return nn.NewL1Loss(opts[nn.LossOptions](a)) }},
	"MSELoss": {"size_average reduce reduction",
		func(a *args) nn.Module { return nn.NewMSELoss(opts[nn.LossOptions](a)) }},
	"SoftMarginLoss": {"size_average reduce reduction",
		func(a *args) nn.Module { return nn.NewSoftMarginLoss(opts[nn.LossOptions](a)) }},
	"MultiLabelMarginLoss": {"size_average reduce reduction",
		func(a *args) nn.Module { return nn.NewMultiLabelMarginLoss(opts[nn.LossOptions](a)) }},
	"NLLLoss": {"weight size_average ignore_index reduce reduction",
		func(a *args) nn.Module { return nn.NewNLLLoss(opts[nn.NLLLossOptions](a)) }},
	"CrossEntropyLoss": {"weight size_average ignore_index reduce reduction label_smoothing",
		func(a *args) nn.Module { return nn.NewCrossEntropyLoss(opts[nn.CrossEntropyLossOptions](a)) }},
	"KLDivLoss": {"size_average reduce reduction log_target",
		func(a *args) nn.Module { return nn.NewKLDivLoss(opts[nn.KLDivLossOptions](a)) }},
	"BCELoss": {"weight size_average reduce reduction",
		func(a *args) nn.Module { return nn.NewBCELoss(opts[nn.BCELossOptions](a)) }},
	"BCEWithLogitsLoss": {"weight size_average reduce reduction pos_weight",
		func(a *args) nn.Module { return nn.NewBCEWithLogitsLoss(opts[nn.BCEWithLogitsLossOptions](a)) }},
	"PoissonNLLLoss": {"log_input full size_average eps reduce reduction",
		func(a *args) nn.Module { return nn.NewPoissonNLLLoss(opts[nn.PoissonNLLLossOptions](a)) }},
	"GaussianNLLLoss": {"", func(a *args) nn.Module { return nn.NewGaussianNLLLoss(opts[nn.GaussianNLLLossOptions](a)) }},
	"HingeEmbeddingLoss": {"margin size_average reduce reduction",
		func(a *args) nn.Module { return nn.NewHingeEmbeddingLoss(opts[nn.HingeEmbeddingLossOptions](a)) }},
	"HuberLoss": {"reduction delta",
		func(a *args) nn.Module { return nn.NewHuberLoss(opts[nn.HuberLossOptions](a)) }},
	"SmoothL1Loss": {"size_average reduce reduction beta",
		func(a *args) nn.Module { return nn.NewSmoothL1Loss(opts[nn.SmoothL1LossOptions](a)) }},
	"CosineEmbeddingLoss": {"margin size_average reduce reduction",
		func(a *args) nn.Module { return nn.NewCosineEmbeddingLoss(opts[nn.CosineEmbeddingLossOptions](a)) }},
	"MarginRankingLoss": {"margin size_average reduce reduction",
		func(a *args) nn.Module { return nn.NewMarginRankingLoss(opts[nn.MarginRankingLossOptions](a)) }},
	"MultiLabelSoftMarginLoss": {"weight size_average reduce reduction", func(a *args) nn.Module {
		return nn.NewMultiLabelSoftMarginLoss(opts[nn.MultiLabelSoftMarginLossOptions](a))
	}},
	"MultiMarginLoss": {"p margin weight size_average reduce reduction",
		func(a *args) nn.Module { return nn.NewMultiMarginLoss(opts[nn.MultiMarginLossOptions](a)) }},
	"TripletMarginLoss": {"margin p eps swap size_average reduce reduction",
		func(a *args) nn.Module { return nn.NewTripletMarginLoss(opts[nn.TripletMarginLossOptions](a)) }},
	"CTCLoss": {"blank reduction zero_infinity",
		func(a *args) nn.Module { return nn.NewCTCLoss(opts[nn.CTCLossOptions](a)) }},
	"TripletMarginWithDistanceLoss": {"", func(a *args) nn.Module {
		return nn.NewTripletMarginWithDistanceLoss(opts[nn.TripletMarginWithDistanceLossOptions](a))
	}},
	"LinearCrossEntropyLoss": {"in_features num_classes", func(a *args) nn.Module {
		return nn.NewLinearCrossEntropyLoss(a.Int("in_features"), a.Int("num_classes"),
			opts[nn.LinearCrossEntropyLossOptions](a))
	}},
	"AdaptiveLogSoftmaxWithLoss": {"in_features n_classes cutoffs div_value head_bias device dtype",
		func(a *args) nn.Module {
			return nn.NewAdaptiveLogSoftmaxWithLoss(a.Int("in_features"), a.Int("n_classes"), a.Ints("cutoffs"),
				opts[nn.AdaptiveLogSoftmaxOptions](a))
		}},
}

// Known reports that a class can be built.
func Known(cls string) bool {
	switch cls {
	case "Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict":
		return true
	}
	_, ok := classes[cls]
	return ok
}

// Build makes a module from its Python class and arguments. An argument or class that is not known is an error.
func Build(m golden.Module) (out nn.Module, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case argError:
			err = e
		case *tensor.Error:
			err = e
		default:
			panic(e)
		}
	}()
	if out := container(m); out != nil {
		return out, nil
	}
	c, ok := classes[m.Cls]
	if !ok {
		return nil, argError("no class " + m.Cls)
	}
	for i, v := range m.Args {
		m.Args[i] = built(v)
	}
	for k, v := range m.Kwargs {
		m.Kwargs[k] = built(v)
	}
	a := bind(m, strings.Fields(c.names))
	out = c.make(a)
	a.done()
	keepInts(a, reflect.ValueOf(out).Elem())
	return out, nil
}

// keepInts puts the ints that Python was given back into fields of the module that hold numbers of any kind: options
// hold floats, and Python prints an int as one.
func keepInts(a *args, m reflect.Value) {
	for i := range m.NumField() {
		f := m.Type().Field(i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			keepInts(a, m.Field(i))
			continue
		}
		if f.Type != reflect.TypeFor[tensor.Scalar]() || !f.IsExported() {
			continue
		}
		for name, x := range a.vals {
			if n, ok := x.(int); ok && plainName(name) == plainName(f.Name) {
				m.Field(i).Set(reflect.ValueOf(n))
			}
		}
	}
}

// built replaces the description of a module by the module.
func built(v any) any {
	m, ok := v.(golden.Module)
	if !ok {
		return v
	}
	mod, err := Build(m)
	if err != nil {
		panic(argError(err.Error()))
	}
	return mod
}

func container(m golden.Module) nn.Module {
	var items []golden.Item // what the constructor was given: numbered or named
	number := func(l []any) {
		for i, v := range l {
			items = append(items, golden.Item{Key: fmt.Sprint(i), Val: built(v)})
		}
	}
	collect := func(l []any) {
		if len(l) != 1 {
			number(l)
			return
		}
		if d, ok := l[0].(golden.Dict); ok {
			for _, e := range d {
				items = append(items, golden.Item{Key: e.Key, Val: built(e.Val)})
			}
		} else if s, ok := seq(l[0]); ok {
			number(s)
		} else {
			number(l)
		}
	}
	switch m.Cls {
	case "Sequential":
		collect(m.Args)
		s := nn.NewSequential()
		for _, e := range items {
			s.AddModule(e.Key, e.Val.(nn.Module))
		}
		return s
	case "ModuleList":
		collect(m.Args)
		l := nn.NewModuleList()
		for _, e := range items {
			l.Append(e.Val.(nn.Module))
		}
		return l
	case "ModuleDict":
		collect(m.Args)
		d := nn.NewModuleDict()
		for _, e := range items {
			d.Set(e.Key, e.Val.(nn.Module))
		}
		return d
	case "ParameterList":
		collect(m.Args)
		l := nn.NewParameterList()
		for _, e := range items {
			l.Append(e.Val.(*tensor.Tensor))
		}
		return l
	case "ParameterDict":
		collect(m.Args)
		d := nn.NewParameterDict()
		for _, e := range items {
			d.Set(e.Key, e.Val.(*tensor.Tensor))
		}
		return d
	}
	return nil
}
