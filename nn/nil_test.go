package nn_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/opstest"
	"github.com/gotorch-dev/torch/nn"
)

// zoo makes a small module of every kind.
var zoo = map[string]func() nn.Module{
	"NewReLU":                          func() nn.Module { return nn.NewReLU() },
	"NewReLU6":                         func() nn.Module { return nn.NewReLU6() },
	"NewSELU":                          func() nn.Module { return nn.NewSELU() },
	"NewSiLU":                          func() nn.Module { return nn.NewSiLU() },
	"NewMish":                          func() nn.Module { return nn.NewMish() },
	"NewHardswish":                     func() nn.Module { return nn.NewHardswish() },
	"NewHardsigmoid":                   func() nn.Module { return nn.NewHardsigmoid() },
	"NewSigmoid":                       func() nn.Module { return nn.NewSigmoid() },
	"NewTanh":                          func() nn.Module { return nn.NewTanh() },
	"NewLogSigmoid":                    func() nn.Module { return nn.NewLogSigmoid() },
	"NewSoftsign":                      func() nn.Module { return nn.NewSoftsign() },
	"NewTanhshrink":                    func() nn.Module { return nn.NewTanhshrink() },
	"NewELU":                           func() nn.Module { return nn.NewELU() },
	"NewCELU":                          func() nn.Module { return nn.NewCELU() },
	"NewLeakyReLU":                     func() nn.Module { return nn.NewLeakyReLU() },
	"NewHardtanh":                      func() nn.Module { return nn.NewHardtanh() },
	"NewSoftplus":                      func() nn.Module { return nn.NewSoftplus() },
	"NewHardshrink":                    func() nn.Module { return nn.NewHardshrink() },
	"NewSoftshrink":                    func() nn.Module { return nn.NewSoftshrink() },
	"NewThreshold":                     func() nn.Module { return nn.NewThreshold(1.0, 1.0) },
	"NewRReLU":                         func() nn.Module { return nn.NewRReLU() },
	"NewGELU":                          func() nn.Module { return nn.NewGELU() },
	"NewGLU":                           func() nn.Module { return nn.NewGLU() },
	"NewPReLU":                         func() nn.Module { return nn.NewPReLU() },
	"NewSoftmax":                       func() nn.Module { return nn.NewSoftmax(2) },
	"NewSoftmin":                       func() nn.Module { return nn.NewSoftmin(2) },
	"NewLogSoftmax":                    func() nn.Module { return nn.NewLogSoftmax(2) },
	"NewSoftmax2d":                     func() nn.Module { return nn.NewSoftmax2d() },
	"NewAdaptiveLogSoftmaxWithLoss":    func() nn.Module { return nn.NewAdaptiveLogSoftmaxWithLoss(4, 4, []int{2}) },
	"NewLinearCrossEntropyLoss":        func() nn.Module { return nn.NewLinearCrossEntropyLoss(2, 2) },
	"NewMultiheadAttention":            func() nn.Module { return nn.NewMultiheadAttention(2, 1) },
	"NewConv1d":                        func() nn.Module { return nn.NewConv1d(2, 2, 1) },
	"NewConvTranspose1d":               func() nn.Module { return nn.NewConvTranspose1d(2, 2, 1) },
	"NewConv2d":                        func() nn.Module { return nn.NewConv2d(2, 2, 1) },
	"NewConvTranspose2d":               func() nn.Module { return nn.NewConvTranspose2d(2, 2, 1) },
	"NewConv3d":                        func() nn.Module { return nn.NewConv3d(2, 2, 1) },
	"NewConvTranspose3d":               func() nn.Module { return nn.NewConvTranspose3d(2, 2, 1) },
	"NewDropout":                       func() nn.Module { return nn.NewDropout() },
	"NewDropout1d":                     func() nn.Module { return nn.NewDropout1d() },
	"NewDropout2d":                     func() nn.Module { return nn.NewDropout2d() },
	"NewDropout3d":                     func() nn.Module { return nn.NewDropout3d() },
	"NewAlphaDropout":                  func() nn.Module { return nn.NewAlphaDropout() },
	"NewFeatureAlphaDropout":           func() nn.Module { return nn.NewFeatureAlphaDropout() },
	"NewEmbedding":                     func() nn.Module { return nn.NewEmbedding(2, 2) },
	"NewEmbeddingBag":                  func() nn.Module { return nn.NewEmbeddingBag(2, 2) },
	"NewLazyLinear":                    func() nn.Module { return nn.NewLazyLinear(2) },
	"NewLazyConv1d":                    func() nn.Module { return nn.NewLazyConv1d(2, 1) },
	"NewLazyConvTranspose1d":           func() nn.Module { return nn.NewLazyConvTranspose1d(2, 1) },
	"NewLazyConv2d":                    func() nn.Module { return nn.NewLazyConv2d(2, 1) },
	"NewLazyConvTranspose2d":           func() nn.Module { return nn.NewLazyConvTranspose2d(2, 1) },
	"NewLazyConv3d":                    func() nn.Module { return nn.NewLazyConv3d(2, 1) },
	"NewLazyConvTranspose3d":           func() nn.Module { return nn.NewLazyConvTranspose3d(2, 1) },
	"NewLazyBatchNorm1d":               func() nn.Module { return nn.NewLazyBatchNorm1d() },
	"NewLazyInstanceNorm1d":            func() nn.Module { return nn.NewLazyInstanceNorm1d() },
	"NewLazyBatchNorm2d":               func() nn.Module { return nn.NewLazyBatchNorm2d() },
	"NewLazyInstanceNorm2d":            func() nn.Module { return nn.NewLazyInstanceNorm2d() },
	"NewLazyBatchNorm3d":               func() nn.Module { return nn.NewLazyBatchNorm3d() },
	"NewLazyInstanceNorm3d":            func() nn.Module { return nn.NewLazyInstanceNorm3d() },
	"NewIdentity":                      func() nn.Module { return nn.NewIdentity() },
	"NewLinear":                        func() nn.Module { return nn.NewLinear(2, 2) },
	"NewBilinear":                      func() nn.Module { return nn.NewBilinear(2, 2, 2) },
	"NewL1Loss":                        func() nn.Module { return nn.NewL1Loss() },
	"NewMSELoss":                       func() nn.Module { return nn.NewMSELoss() },
	"NewNLLLoss":                       func() nn.Module { return nn.NewNLLLoss() },
	"NewCrossEntropyLoss":              func() nn.Module { return nn.NewCrossEntropyLoss() },
	"NewKLDivLoss":                     func() nn.Module { return nn.NewKLDivLoss() },
	"NewBCELoss":                       func() nn.Module { return nn.NewBCELoss() },
	"NewBCEWithLogitsLoss":             func() nn.Module { return nn.NewBCEWithLogitsLoss() },
	"NewPoissonNLLLoss":                func() nn.Module { return nn.NewPoissonNLLLoss() },
	"NewGaussianNLLLoss":               func() nn.Module { return nn.NewGaussianNLLLoss() },
	"NewHingeEmbeddingLoss":            func() nn.Module { return nn.NewHingeEmbeddingLoss() },
	"NewHuberLoss":                     func() nn.Module { return nn.NewHuberLoss() },
	"NewSmoothL1Loss":                  func() nn.Module { return nn.NewSmoothL1Loss() },
	"NewSoftMarginLoss":                func() nn.Module { return nn.NewSoftMarginLoss() },
	"NewCosineEmbeddingLoss":           func() nn.Module { return nn.NewCosineEmbeddingLoss() },
	"NewMarginRankingLoss":             func() nn.Module { return nn.NewMarginRankingLoss() },
	"NewMultiLabelMarginLoss":          func() nn.Module { return nn.NewMultiLabelMarginLoss() },
	"NewMultiLabelSoftMarginLoss":      func() nn.Module { return nn.NewMultiLabelSoftMarginLoss() },
	"NewMultiMarginLoss":               func() nn.Module { return nn.NewMultiMarginLoss() },
	"NewTripletMarginLoss":             func() nn.Module { return nn.NewTripletMarginLoss() },
	"NewCTCLoss":                       func() nn.Module { return nn.NewCTCLoss() },
	"NewTripletMarginWithDistanceLoss": func() nn.Module { return nn.NewTripletMarginWithDistanceLoss() },
	"NewBatchNorm1d":                   func() nn.Module { return nn.NewBatchNorm1d(2) },
	"NewInstanceNorm1d":                func() nn.Module { return nn.NewInstanceNorm1d(2) },
	"NewBatchNorm2d":                   func() nn.Module { return nn.NewBatchNorm2d(2) },
	"NewInstanceNorm2d":                func() nn.Module { return nn.NewInstanceNorm2d(2) },
	"NewBatchNorm3d":                   func() nn.Module { return nn.NewBatchNorm3d(2) },
	"NewInstanceNorm3d":                func() nn.Module { return nn.NewInstanceNorm3d(2) },
	"NewSyncBatchNorm":                 func() nn.Module { return nn.NewSyncBatchNorm(2) },
	"NewLayerNorm":                     func() nn.Module { return nn.NewLayerNorm(1) },
	"NewRMSNorm":                       func() nn.Module { return nn.NewRMSNorm(1) },
	"NewGroupNorm":                     func() nn.Module { return nn.NewGroupNorm(2, 2) },
	"NewLocalResponseNorm":             func() nn.Module { return nn.NewLocalResponseNorm(2) },
	"NewCrossMapLRN2d":                 func() nn.Module { return nn.NewCrossMapLRN2d(2) },
	"NewZeroPad1d":                     func() nn.Module { return nn.NewZeroPad1d(1) },
	"NewZeroPad2d":                     func() nn.Module { return nn.NewZeroPad2d(1) },
	"NewZeroPad3d":                     func() nn.Module { return nn.NewZeroPad3d(1) },
	"NewReflectionPad1d":               func() nn.Module { return nn.NewReflectionPad1d(1) },
	"NewReflectionPad2d":               func() nn.Module { return nn.NewReflectionPad2d(1) },
	"NewReflectionPad3d":               func() nn.Module { return nn.NewReflectionPad3d(1) },
	"NewReplicationPad1d":              func() nn.Module { return nn.NewReplicationPad1d(1) },
	"NewReplicationPad2d":              func() nn.Module { return nn.NewReplicationPad2d(1) },
	"NewReplicationPad3d":              func() nn.Module { return nn.NewReplicationPad3d(1) },
	"NewCircularPad1d":                 func() nn.Module { return nn.NewCircularPad1d(1) },
	"NewCircularPad2d":                 func() nn.Module { return nn.NewCircularPad2d(1) },
	"NewCircularPad3d":                 func() nn.Module { return nn.NewCircularPad3d(1) },
	"NewConstantPad1d":                 func() nn.Module { return nn.NewConstantPad1d(1, 1.0) },
	"NewConstantPad2d":                 func() nn.Module { return nn.NewConstantPad2d(1, 1.0) },
	"NewConstantPad3d":                 func() nn.Module { return nn.NewConstantPad3d(1, 1.0) },
	"NewMaxPool1d":                     func() nn.Module { return nn.NewMaxPool1d(1) },
	"NewAvgPool1d":                     func() nn.Module { return nn.NewAvgPool1d(1) },
	"NewAdaptiveAvgPool1d":             func() nn.Module { return nn.NewAdaptiveAvgPool1d(1) },
	"NewAdaptiveMaxPool1d":             func() nn.Module { return nn.NewAdaptiveMaxPool1d(1) },
	"NewLPPool1d":                      func() nn.Module { return nn.NewLPPool1d(1.0, 1) },
	"NewMaxUnpool1d":                   func() nn.Module { return nn.NewMaxUnpool1d(1) },
	"NewMaxPool2d":                     func() nn.Module { return nn.NewMaxPool2d(1) },
	"NewAvgPool2d":                     func() nn.Module { return nn.NewAvgPool2d(1) },
	"NewAdaptiveAvgPool2d":             func() nn.Module { return nn.NewAdaptiveAvgPool2d(1) },
	"NewAdaptiveMaxPool2d":             func() nn.Module { return nn.NewAdaptiveMaxPool2d(1) },
	"NewLPPool2d":                      func() nn.Module { return nn.NewLPPool2d(1.0, 1) },
	"NewMaxUnpool2d":                   func() nn.Module { return nn.NewMaxUnpool2d(1) },
	"NewFractionalMaxPool2d": func() nn.Module {
		return nn.NewFractionalMaxPool2d(1, nn.FractionalMaxPoolOptions{OutputSize: nn.Size{1, 1}})
	},
	"NewMaxPool3d":         func() nn.Module { return nn.NewMaxPool3d(1) },
	"NewAvgPool3d":         func() nn.Module { return nn.NewAvgPool3d(1) },
	"NewAdaptiveAvgPool3d": func() nn.Module { return nn.NewAdaptiveAvgPool3d(1) },
	"NewAdaptiveMaxPool3d": func() nn.Module { return nn.NewAdaptiveMaxPool3d(1) },
	"NewLPPool3d":          func() nn.Module { return nn.NewLPPool3d(1.0, 1) },
	"NewMaxUnpool3d":       func() nn.Module { return nn.NewMaxUnpool3d(1) },
	"NewFractionalMaxPool3d": func() nn.Module {
		return nn.NewFractionalMaxPool3d(1, nn.FractionalMaxPoolOptions{OutputSize: nn.Size{1, 1, 1}})
	},
	"NewRNN":                     func() nn.Module { return nn.NewRNN(2, 2) },
	"NewGRU":                     func() nn.Module { return nn.NewGRU(2, 2) },
	"NewLSTM":                    func() nn.Module { return nn.NewLSTM(2, 2) },
	"NewRNNCell":                 func() nn.Module { return nn.NewRNNCell(2, 2) },
	"NewGRUCell":                 func() nn.Module { return nn.NewGRUCell(2, 2) },
	"NewLSTMCell":                func() nn.Module { return nn.NewLSTMCell(2, 2) },
	"NewFlatten":                 func() nn.Module { return nn.NewFlatten() },
	"NewUnflatten":               func() nn.Module { return nn.NewUnflatten(2, nn.Size{1, 2}) },
	"NewPixelShuffle":            func() nn.Module { return nn.NewPixelShuffle(2) },
	"NewPixelUnshuffle":          func() nn.Module { return nn.NewPixelUnshuffle(2) },
	"NewChannelShuffle":          func() nn.Module { return nn.NewChannelShuffle(2) },
	"NewUnfold":                  func() nn.Module { return nn.NewUnfold(1) },
	"NewFold":                    func() nn.Module { return nn.NewFold(2, 1) },
	"NewUpsample":                func() nn.Module { return nn.NewUpsample() },
	"NewUpsamplingNearest2d":     func() nn.Module { return nn.NewUpsamplingNearest2d() },
	"NewUpsamplingBilinear2d":    func() nn.Module { return nn.NewUpsamplingBilinear2d() },
	"NewCosineSimilarity":        func() nn.Module { return nn.NewCosineSimilarity() },
	"NewPairwiseDistance":        func() nn.Module { return nn.NewPairwiseDistance() },
	"NewTransformerEncoderLayer": func() nn.Module { return nn.NewTransformerEncoderLayer(2, 1) },
	"NewTransformerDecoderLayer": func() nn.Module { return nn.NewTransformerDecoderLayer(2, 1) },
	"NewTransformerEncoder": func() nn.Module {
		return nn.NewTransformerEncoder(nn.NewTransformerEncoderLayer(2,
			1), 1, nil)
	},
	"NewTransformerDecoder": func() nn.Module {
		return nn.NewTransformerDecoder(nn.NewTransformerDecoderLayer(2,
			1), 1, nil)
	},
	"NewSequential":   func() nn.Module { return nn.NewSequential(nn.NewLinear(2, 2), nn.NewReLU()) },
	"NewDataParallel": func() nn.Module { return nn.NewDataParallel(nn.NewLinear(2, 2)) },
	"NewTransformer": func() nn.Module {
		return nn.NewTransformer(nn.TransformerOptions{DModel: torch.Some(2), NHead: torch.Some(1),
			NumEncoderLayers: torch.Some(1), NumDecoderLayers: torch.Some(1)})
	},
}

// The zoo must have every constructor of the package, apart from containers without a Forward.
func TestZooIsComplete(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "New") {
				continue
			}
			switch fn.Name.Name {
			case "New", "NewParameter", "NewModuleList", "NewModuleDict", "NewParameterList", "NewParameterDict":
				continue
			}
			if zoo[fn.Name.Name] == nil {
				t.Errorf("%s is not in the zoo", fn.Name.Name)
			}
		}
	}
}

// Every module must answer nil and zero tensors in the place of each of its inputs with an *Error, or do without.
func TestModulesRefuseNilTensors(t *testing.T) {
	tensors := map[string]func() *torch.Tensor{
		"nil": func() *torch.Tensor { return nil }, "zero": func() *torch.Tensor { return &torch.Tensor{} },
		"good": func() *torch.Tensor { return torch.Ones([]int{2, 2}) },
	}
	for name, build := range zoo {
		m := build()
		v := reflect.ValueOf(m)
		for i := range v.NumMethod() {
			method := v.Type().Method(i)
			if !strings.HasPrefix(method.Name, "Forward") && method.Name != "LogProb" && method.Name != "Predict" {
				continue
			}
			ft := v.Method(i).Type()
			n := ft.NumIn()
			if ft.IsVariadic() {
				n--
			}
			for bad := range n {
				for _, kind := range []string{"nil", "zero"} {
					in := make([]reflect.Value, n)
					for j := range in {
						which := "good"
						if j == bad {
							which = kind
						}
						in[j] = filled(ft.In(j), tensors[which])
					}
					text, err := opstest.Try(func() { v.Method(i).Call(in) })
					if text != "" {
						t.Errorf("%s.%s with a %s input %d panics: %s", name, method.Name, kind, bad, text)
					}
					if bad == 0 && ft.In(0) == reflect.TypeFor[*torch.Tensor]() && err == nil && !idle[name] {
						t.Errorf("%s.%s takes a %s tensor", name, method.Name, kind)
					}
				}
			}
		}
	}
}

// idle are modules that hand on a tensor without looking at it.
var idle = map[string]bool{"NewIdentity": true}

// filled makes an argument of a type, with the given tensor wherever it holds tensors.
func filled(t reflect.Type, tensor func() *torch.Tensor) reflect.Value {
	v := reflect.New(t).Elem()
	switch {
	case t == reflect.TypeFor[*torch.Tensor]():
		v.Set(reflect.ValueOf(tensor()))
	case t.Kind() == reflect.Slice:
		v.Set(reflect.Append(v, filled(t.Elem(), tensor)))
	}
	return v
}
