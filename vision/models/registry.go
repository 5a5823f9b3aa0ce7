package models

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// Builder makes a network with random weights.
type Builder func(opts ...Options) nn.Module

// builder turns the constructor of a network into a Builder.
func builder[M nn.Module](f func(opts ...Options) M) Builder {
	return func(opts ...Options) nn.Module { return f(opts...) }
}

// named are the networks by torchvision's names.
var named = map[string]Builder{
	"alexnet":            builder(NewAlexNet),
	"convnext_base":      builder(NewConvNeXtBase),
	"convnext_large":     builder(NewConvNeXtLarge),
	"convnext_small":     builder(NewConvNeXtSmall),
	"convnext_tiny":      builder(NewConvNeXtTiny),
	"densenet121":        builder(NewDenseNet121),
	"densenet161":        builder(NewDenseNet161),
	"densenet169":        builder(NewDenseNet169),
	"densenet201":        builder(NewDenseNet201),
	"efficientnet_b0":    builder(NewEfficientNetB0),
	"efficientnet_b1":    builder(NewEfficientNetB1),
	"efficientnet_b2":    builder(NewEfficientNetB2),
	"efficientnet_b3":    builder(NewEfficientNetB3),
	"efficientnet_b4":    builder(NewEfficientNetB4),
	"efficientnet_b5":    builder(NewEfficientNetB5),
	"efficientnet_b6":    builder(NewEfficientNetB6),
	"efficientnet_b7":    builder(NewEfficientNetB7),
	"efficientnet_v2_l":  builder(NewEfficientNetV2L),
	"efficientnet_v2_m":  builder(NewEfficientNetV2M),
	"efficientnet_v2_s":  builder(NewEfficientNetV2S),
	"googlenet":          builder(NewGoogLeNet),
	"inception_v3":       builder(NewInceptionV3),
	"maxvit_t":           builder(NewMaxVitT),
	"mnasnet0_5":         builder(NewMNASNet0_5),
	"mnasnet0_75":        builder(NewMNASNet0_75),
	"mnasnet1_0":         builder(NewMNASNet1_0),
	"mnasnet1_3":         builder(NewMNASNet1_3),
	"mobilenet_v2":       builder(NewMobileNetV2),
	"mobilenet_v3_large": builder(NewMobileNetV3Large),
	"mobilenet_v3_small": builder(NewMobileNetV3Small),
	"regnet_x_16gf":      builder(NewRegNetX16GF),
	"regnet_x_1_6gf":     builder(NewRegNetX1_6GF),
	"regnet_x_32gf":      builder(NewRegNetX32GF),
	"regnet_x_3_2gf":     builder(NewRegNetX3_2GF),
	"regnet_x_400mf":     builder(NewRegNetX400MF),
	"regnet_x_800mf":     builder(NewRegNetX800MF),
	"regnet_x_8gf":       builder(NewRegNetX8GF),
	"regnet_y_128gf":     builder(NewRegNetY128GF),
	"regnet_y_16gf":      builder(NewRegNetY16GF),
	"regnet_y_1_6gf":     builder(NewRegNetY1_6GF),
	"regnet_y_32gf":      builder(NewRegNetY32GF),
	"regnet_y_3_2gf":     builder(NewRegNetY3_2GF),
	"regnet_y_400mf":     builder(NewRegNetY400MF),
	"regnet_y_800mf":     builder(NewRegNetY800MF),
	"regnet_y_8gf":       builder(NewRegNetY8GF),
	"resnet101":          builder(NewResNet101),
	"resnet152":          builder(NewResNet152),
	"resnet18":           builder(NewResNet18),
	"resnet34":           builder(NewResNet34),
	"resnet50":           builder(NewResNet50),
	"resnext101_32x8d":   builder(NewResNeXt101_32x8d),
	"resnext101_64x4d":   builder(NewResNeXt101_64x4d),
	"resnext50_32x4d":    builder(NewResNeXt50_32x4d),
	"shufflenet_v2_x0_5": builder(NewShuffleNetV2X0_5),
	"shufflenet_v2_x1_0": builder(NewShuffleNetV2X1_0),
	"shufflenet_v2_x1_5": builder(NewShuffleNetV2X1_5),
	"shufflenet_v2_x2_0": builder(NewShuffleNetV2X2_0),
	"squeezenet1_0":      builder(NewSqueezeNet1_0),
	"squeezenet1_1":      builder(NewSqueezeNet1_1),
	"swin_b":             builder(NewSwinB),
	"swin_s":             builder(NewSwinS),
	"swin_t":             builder(NewSwinT),
	"swin_v2_b":          builder(NewSwinV2B),
	"swin_v2_s":          builder(NewSwinV2S),
	"swin_v2_t":          builder(NewSwinV2T),
	"vgg11":              builder(NewVGG11),
	"vgg11_bn":           builder(NewVGG11BN),
	"vgg13":              builder(NewVGG13),
	"vgg13_bn":           builder(NewVGG13BN),
	"vgg16":              builder(NewVGG16),
	"vgg16_bn":           builder(NewVGG16BN),
	"vgg19":              builder(NewVGG19),
	"vgg19_bn":           builder(NewVGG19BN),
	"vit_b_16":           builder(NewViTB16),
	"vit_b_32":           builder(NewViTB32),
	"vit_h_14":           builder(NewViTH14),
	"vit_l_16":           builder(NewViTL16),
	"vit_l_32":           builder(NewViTL32),
	"wide_resnet101_2":   builder(NewWideResNet101_2),
	"wide_resnet50_2":    builder(NewWideResNet50_2),

	"deeplabv3_mobilenet_v3_large": builder(NewDeepLabV3MobileNetV3Large),
	"deeplabv3_resnet101":          builder(NewDeepLabV3ResNet101),
	"deeplabv3_resnet50":           builder(NewDeepLabV3ResNet50),
	"fcn_resnet101":                builder(NewFCNResNet101),
	"fcn_resnet50":                 builder(NewFCNResNet50),
	"lraspp_mobilenet_v3_large":    builder(NewLRASPPMobileNetV3Large),

	"mc3_18":      builder(NewMC3_18),
	"r2plus1d_18": builder(NewR2Plus1D_18),
	"r3d_18":      builder(NewR3D_18),
}

// RegisterModel adds a network under a name, which GetModel and the others find in any case; a name that is there
// already panics. Package detection registers the detectors, so a program that looks for them by name imports it.
func RegisterModel(name string, b Builder) {
	name = strings.ToLower(name)
	if _, ok := named[name]; ok {
		tensor.Fail(tensor.ErrValue, "models: a model named %s is registered already", name)
	}
	named[name] = b
}

// ListModels lists the names that GetModel knows, sorted.
func ListModels() []string {
	var names []string
	for n := range named {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// GetModelBuilder finds the constructor of a network by torchvision's name, in any case.
func GetModelBuilder(name string) (Builder, error) {
	b, ok := named[strings.ToLower(name)]
	if !ok {
		return nil, fmt.Errorf("models: unknown model %q; ListModels lists %d names", name, len(named))
	}
	return b, nil
}

// GetModel makes a network by torchvision's name, with random weights. A classifier is an nn.Layer.
func GetModel(name string, opts ...Options) (nn.Module, error) {
	b, err := GetModelBuilder(name)
	if err != nil {
		return nil, err
	}
	return b(opts...), nil
}
