package nn

import (
	"reflect"
	"strings"
)

// classModules lists the classes of torch.nn by the Python modules below torch.nn.modules that define them.
var classModules = map[string]string{
	"activation": "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid " +
		"LogSoftmax Mish MultiheadAttention PReLU RReLU ReLU ReLU6 SELU SiLU Sigmoid Softmax " +
		"Softmax2d Softmin Softplus Softshrink Softsign Tanh Tanhshrink Threshold",
	"adaptive": "AdaptiveLogSoftmaxWithLoss",
	"batchnorm": "BatchNorm1d BatchNorm2d BatchNorm3d LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d " +
		"SyncBatchNorm",
	"channelshuffle": "ChannelShuffle",
	"container":      "ModuleDict ModuleList ParameterDict ParameterList Sequential",
	"conv": "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d LazyConv2d " +
		"LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d",
	"distance": "CosineSimilarity PairwiseDistance",
	"dropout":  "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout",
	"flatten":  "Flatten Unflatten",
	"fold":     "Fold Unfold",
	"instancenorm": "InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d LazyInstanceNorm2d " +
		"LazyInstanceNorm3d",
	"linear": "Bilinear Identity LazyLinear Linear",
	"loss": "BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss " +
		"HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss LinearCrossEntropyLoss MSELoss " +
		"MarginRankingLoss MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss " +
		"PoissonNLLLoss SmoothL1Loss SoftMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss",
	"normalization": "CrossMapLRN2d GroupNorm LayerNorm LocalResponseNorm RMSNorm",
	"padding": "CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d " +
		"ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d " +
		"ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d",
	"pixelshuffle": "PixelShuffle PixelUnshuffle",
	"pooling": "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d " +
		"AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d FractionalMaxPool2d " +
		"FractionalMaxPool3d LPPool1d LPPool2d LPPool3d MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d " +
		"MaxUnpool2d MaxUnpool3d",
	"rnn":    "GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase",
	"sparse": "Embedding EmbeddingBag",
	"transformer": "Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder " +
		"TransformerEncoderLayer",
	"upsampling": "Upsample UpsamplingBilinear2d UpsamplingNearest2d",
}

var moduleOfClass = func() map[string]string {
	m := map[string]string{}
	for module, names := range classModules {
		for _, n := range strings.Fields(names) {
			m[n] = "torch.nn.modules." + module
		}
	}
	return m
}()

// PythonClass is the name of the module's class with its Python module in front, as archives have it:
// "torch.nn.modules.conv.Conv2d" for the layers of this package, "torchvision.models.ResNet" for those of the packages
// below vision, and "__main__.Net" for other types.
func PythonClass(m Module) string {
	t := reflect.TypeOf(m)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := plainClassName(m)
	switch _, below, ok := strings.Cut(t.PkgPath(), "/vision/"); {
	case t.PkgPath() == reflect.TypeFor[Base]().PkgPath() && moduleOfClass[name] != "":
		return moduleOfClass[name] + "." + name
	case ok && strings.HasPrefix(t.PkgPath(), strings.TrimSuffix(reflect.TypeFor[Base]().PkgPath(), "/nn")):
		return "torchvision." + strings.ReplaceAll(below, "/", ".") + "." + name
	}
	return "__main__." + name
}
