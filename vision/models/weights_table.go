package models

// The published weights, with what torchvision says of each.
var (
	// AlexNetWeights are the published weights of alexnet.
	AlexNetWeights = WeightsEnum{"AlexNet_Weights", "alexnet", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/alexnet-owt-7be5be79.pth",
			61100840, [2]int{63, 63}, 0.714, 233.087, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 56.522}, {"ImageNet-1K", "acc@5", 79.066}}},
	}}
	// ConvNeXtBaseWeights are the published weights of convnext_base.
	ConvNeXtBaseWeights = WeightsEnum{"ConvNeXt_Base_Weights", "convnext_base", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/convnext_base-6075fbad.pth",
			88591464, [2]int{32, 32}, 15.355, 338.064, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 84.062}, {"ImageNet-1K", "acc@5", 96.87}}},
	}}
	// ConvNeXtLargeWeights are the published weights of convnext_large.
	ConvNeXtLargeWeights = WeightsEnum{"ConvNeXt_Large_Weights", "convnext_large", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/convnext_large-ea097f82.pth",
			197767336, [2]int{32, 32}, 34.361, 754.537, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 84.414}, {"ImageNet-1K", "acc@5", 96.976}}},
	}}
	// ConvNeXtSmallWeights are the published weights of convnext_small.
	ConvNeXtSmallWeights = WeightsEnum{"ConvNeXt_Small_Weights", "convnext_small", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/convnext_small-0c510722.pth",
			50223688, [2]int{32, 32}, 8.684, 191.703, "imagenet",
			Preprocess{[]int{230}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 83.616}, {"ImageNet-1K", "acc@5", 96.65}}},
	}}
	// ConvNeXtTinyWeights are the published weights of convnext_tiny.
	ConvNeXtTinyWeights = WeightsEnum{"ConvNeXt_Tiny_Weights", "convnext_tiny", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/convnext_tiny-983f1562.pth",
			28589128, [2]int{32, 32}, 4.456, 109.119, "imagenet",
			Preprocess{[]int{236}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 82.52}, {"ImageNet-1K", "acc@5", 96.146}}},
	}}
	// DeepLabV3MobileNetV3LargeWeights are the published weights of deeplabv3_mobilenet_v3_large.
	DeepLabV3MobileNetV3LargeWeights = WeightsEnum{"DeepLabV3_MobileNet_V3_Large_Weights",
		"deeplabv3_mobilenet_v3_large", "COCO_WITH_VOC_LABELS_V1", []Weights{
			{"COCO_WITH_VOC_LABELS_V1", "https://download.pytorch.org/models/deeplabv3_mobilenet_v3_large-fc3c493d.pth",
				11029328, [2]int{1, 1}, 10.452, 42.301, "voc",
				Preprocess{[]int{520}, nil, "bilinear", imageNetMean, imageNetStd},
				[]Metric{{"COCO-val2017-VOC-labels", "miou", 60.3}, {"COCO-val2017-VOC-labels", "pixel_acc", 91.2}}},
		}}
	// DeepLabV3ResNet101Weights are the published weights of deeplabv3_resnet101.
	DeepLabV3ResNet101Weights = WeightsEnum{"DeepLabV3_ResNet101_Weights", "deeplabv3_resnet101",
		"COCO_WITH_VOC_LABELS_V1", []Weights{
			{"COCO_WITH_VOC_LABELS_V1", "https://download.pytorch.org/models/deeplabv3_resnet101_coco-586e9e4e.pth",
				60996202, [2]int{1, 1}, 258.743, 233.217, "voc",
				Preprocess{[]int{520}, nil, "bilinear", imageNetMean, imageNetStd},
				[]Metric{{"COCO-val2017-VOC-labels", "miou", 67.4}, {"COCO-val2017-VOC-labels", "pixel_acc", 92.4}}},
		}}
	// DeepLabV3ResNet50Weights are the published weights of deeplabv3_resnet50.
	DeepLabV3ResNet50Weights = WeightsEnum{"DeepLabV3_ResNet50_Weights", "deeplabv3_resnet50",
		"COCO_WITH_VOC_LABELS_V1", []Weights{
			{"COCO_WITH_VOC_LABELS_V1", "https://download.pytorch.org/models/deeplabv3_resnet50_coco-cd0a2569.pth",
				42004074, [2]int{1, 1}, 178.722, 160.515, "voc",
				Preprocess{[]int{520}, nil, "bilinear", imageNetMean, imageNetStd},
				[]Metric{{"COCO-val2017-VOC-labels", "miou", 66.4}, {"COCO-val2017-VOC-labels", "pixel_acc", 92.4}}},
		}}
	// DenseNet121Weights are the published weights of densenet121.
	DenseNet121Weights = WeightsEnum{"DenseNet121_Weights", "densenet121", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/densenet121-a639ec97.pth",
			7978856, [2]int{29, 29}, 2.834, 30.845, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 74.434}, {"ImageNet-1K", "acc@5", 91.972}}},
	}}
	// DenseNet161Weights are the published weights of densenet161.
	DenseNet161Weights = WeightsEnum{"DenseNet161_Weights", "densenet161", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/densenet161-8d451a50.pth",
			28681000, [2]int{29, 29}, 7.728, 110.369, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 77.138}, {"ImageNet-1K", "acc@5", 93.56}}},
	}}
	// DenseNet169Weights are the published weights of densenet169.
	DenseNet169Weights = WeightsEnum{"DenseNet169_Weights", "densenet169", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/densenet169-b2777c0a.pth",
			14149480, [2]int{29, 29}, 3.36, 54.708, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 75.6}, {"ImageNet-1K", "acc@5", 92.806}}},
	}}
	// DenseNet201Weights are the published weights of densenet201.
	DenseNet201Weights = WeightsEnum{"DenseNet201_Weights", "densenet201", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/densenet201-c1103571.pth",
			20013928, [2]int{29, 29}, 4.291, 77.373, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 76.896}, {"ImageNet-1K", "acc@5", 93.37}}},
	}}
	// EfficientNetB0Weights are the published weights of efficientnet_b0.
	EfficientNetB0Weights = WeightsEnum{"EfficientNet_B0_Weights", "efficientnet_b0", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/efficientnet_b0_rwightman-7f5810bc.pth",
			5288548, [2]int{1, 1}, 0.386, 20.451, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 77.692}, {"ImageNet-1K", "acc@5", 93.532}}},
	}}
	// EfficientNetB1Weights are the published weights of efficientnet_b1.
	EfficientNetB1Weights = WeightsEnum{"EfficientNet_B1_Weights", "efficientnet_b1", "IMAGENET1K_V2", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/efficientnet_b1_rwightman-bac287d4.pth",
			7794184, [2]int{1, 1}, 0.687, 30.134, "imagenet",
			Preprocess{[]int{256}, []int{240}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 78.642}, {"ImageNet-1K", "acc@5", 94.186}}},
		{"IMAGENET1K_V2", "https://download.pytorch.org/models/efficientnet_b1-c27df63c.pth",
			7794184, [2]int{1, 1}, 0.687, 30.136, "imagenet",
			Preprocess{[]int{255}, []int{240}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 79.838}, {"ImageNet-1K", "acc@5", 94.934}}},
	}}
	// EfficientNetB2Weights are the published weights of efficientnet_b2.
	EfficientNetB2Weights = WeightsEnum{"EfficientNet_B2_Weights", "efficientnet_b2", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/efficientnet_b2_rwightman-c35c1473.pth",
			9109994, [2]int{1, 1}, 1.088, 35.174, "imagenet",
			Preprocess{[]int{288}, []int{288}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 80.608}, {"ImageNet-1K", "acc@5", 95.31}}},
	}}
	// EfficientNetB3Weights are the published weights of efficientnet_b3.
	EfficientNetB3Weights = WeightsEnum{"EfficientNet_B3_Weights", "efficientnet_b3", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/efficientnet_b3_rwightman-b3899882.pth",
			12233232, [2]int{1, 1}, 1.827, 47.184, "imagenet",
			Preprocess{[]int{320}, []int{300}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 82.008}, {"ImageNet-1K", "acc@5", 96.054}}},
	}}
	// EfficientNetB4Weights are the published weights of efficientnet_b4.
	EfficientNetB4Weights = WeightsEnum{"EfficientNet_B4_Weights", "efficientnet_b4", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/efficientnet_b4_rwightman-23ab8bcd.pth",
			19341616, [2]int{1, 1}, 4.394, 74.489, "imagenet",
			Preprocess{[]int{384}, []int{380}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 83.384}, {"ImageNet-1K", "acc@5", 96.594}}},
	}}
	// EfficientNetB5Weights are the published weights of efficientnet_b5.
	EfficientNetB5Weights = WeightsEnum{"EfficientNet_B5_Weights", "efficientnet_b5", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/efficientnet_b5_lukemelas-1a07897c.pth",
			30389784, [2]int{1, 1}, 10.266, 116.864, "imagenet",
			Preprocess{[]int{456}, []int{456}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 83.444}, {"ImageNet-1K", "acc@5", 96.628}}},
	}}
	// EfficientNetB6Weights are the published weights of efficientnet_b6.
	EfficientNetB6Weights = WeightsEnum{"EfficientNet_B6_Weights", "efficientnet_b6", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/efficientnet_b6_lukemelas-24a108a5.pth",
			43040704, [2]int{1, 1}, 19.068, 165.362, "imagenet",
			Preprocess{[]int{528}, []int{528}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 84.008}, {"ImageNet-1K", "acc@5", 96.916}}},
	}}
	// EfficientNetB7Weights are the published weights of efficientnet_b7.
	EfficientNetB7Weights = WeightsEnum{"EfficientNet_B7_Weights", "efficientnet_b7", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/efficientnet_b7_lukemelas-c5b4e57e.pth",
			66347960, [2]int{1, 1}, 37.746, 254.675, "imagenet",
			Preprocess{[]int{600}, []int{600}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 84.122}, {"ImageNet-1K", "acc@5", 96.908}}},
	}}
	// EfficientNetV2LWeights are the published weights of efficientnet_v2_l.
	EfficientNetV2LWeights = WeightsEnum{"EfficientNet_V2_L_Weights", "efficientnet_v2_l", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/efficientnet_v2_l-59c71312.pth",
			118515272, [2]int{33, 33}, 56.08, 454.573, "imagenet",
			Preprocess{[]int{480}, []int{480}, "bicubic", []float64{0.5, 0.5, 0.5}, []float64{0.5, 0.5, 0.5}},
			[]Metric{{"ImageNet-1K", "acc@1", 85.808}, {"ImageNet-1K", "acc@5", 97.788}}},
	}}
	// EfficientNetV2MWeights are the published weights of efficientnet_v2_m.
	EfficientNetV2MWeights = WeightsEnum{"EfficientNet_V2_M_Weights", "efficientnet_v2_m", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/efficientnet_v2_m-dc08266a.pth",
			54139356, [2]int{33, 33}, 24.582, 208.01, "imagenet",
			Preprocess{[]int{480}, []int{480}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 85.112}, {"ImageNet-1K", "acc@5", 97.156}}},
	}}
	// EfficientNetV2SWeights are the published weights of efficientnet_v2_s.
	EfficientNetV2SWeights = WeightsEnum{"EfficientNet_V2_S_Weights", "efficientnet_v2_s", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/efficientnet_v2_s-dd5fe13b.pth",
			21458488, [2]int{33, 33}, 8.366, 82.704, "imagenet",
			Preprocess{[]int{384}, []int{384}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 84.228}, {"ImageNet-1K", "acc@5", 96.878}}},
	}}
	// FasterRCNNMobileNetV3Large320FPNWeights are the published weights of fasterrcnn_mobilenet_v3_large_320_fpn.
	FasterRCNNMobileNetV3Large320FPNWeights = WeightsEnum{"FasterRCNN_MobileNet_V3_Large_320_FPN_Weights",
		"fasterrcnn_mobilenet_v3_large_320_fpn", "COCO_V1", []Weights{
			{"COCO_V1", "https://download.pytorch.org/models/fasterrcnn_mobilenet_v3_large_320_fpn-907ea3f9.pth",
				19386354, [2]int{1, 1}, 0.719, 74.239, "coco",
				Preprocess{nil, nil, "", nil, nil},
				[]Metric{{"COCO-val2017", "box_map", 22.8}}},
		}}
	// FasterRCNNMobileNetV3LargeFPNWeights are the published weights of fasterrcnn_mobilenet_v3_large_fpn.
	FasterRCNNMobileNetV3LargeFPNWeights = WeightsEnum{"FasterRCNN_MobileNet_V3_Large_FPN_Weights",
		"fasterrcnn_mobilenet_v3_large_fpn", "COCO_V1", []Weights{
			{"COCO_V1", "https://download.pytorch.org/models/fasterrcnn_mobilenet_v3_large_fpn-fb6a3cc7.pth",
				19386354, [2]int{1, 1}, 4.494, 74.239, "coco",
				Preprocess{nil, nil, "", nil, nil},
				[]Metric{{"COCO-val2017", "box_map", 32.8}}},
		}}
	// FasterRCNNResNet50FPNWeights are the published weights of fasterrcnn_resnet50_fpn.
	FasterRCNNResNet50FPNWeights = WeightsEnum{"FasterRCNN_ResNet50_FPN_Weights", "fasterrcnn_resnet50_fpn", "COCO_V1",
		[]Weights{
			{"COCO_V1", "https://download.pytorch.org/models/fasterrcnn_resnet50_fpn_coco-258fb6c6.pth",
				41755286, [2]int{1, 1}, 134.38, 159.743, "coco",
				Preprocess{nil, nil, "", nil, nil},
				[]Metric{{"COCO-val2017", "box_map", 37.0}}},
		}}
	// FasterRCNNResNet50FPNV2Weights are the published weights of fasterrcnn_resnet50_fpn_v2.
	FasterRCNNResNet50FPNV2Weights = WeightsEnum{"FasterRCNN_ResNet50_FPN_V2_Weights", "fasterrcnn_resnet50_fpn_v2",
		"COCO_V1", []Weights{
			{"COCO_V1", "https://download.pytorch.org/models/fasterrcnn_resnet50_fpn_v2_coco-dd69338a.pth",
				43712278, [2]int{1, 1}, 280.371, 167.104, "coco",
				Preprocess{nil, nil, "", nil, nil},
				[]Metric{{"COCO-val2017", "box_map", 46.7}}},
		}}
	// FCNResNet101Weights are the published weights of fcn_resnet101.
	FCNResNet101Weights = WeightsEnum{"FCN_ResNet101_Weights", "fcn_resnet101", "COCO_WITH_VOC_LABELS_V1", []Weights{
		{"COCO_WITH_VOC_LABELS_V1", "https://download.pytorch.org/models/fcn_resnet101_coco-7ecb50ca.pth",
			54314346, [2]int{1, 1}, 232.738, 207.711, "voc",
			Preprocess{[]int{520}, nil, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"COCO-val2017-VOC-labels", "miou", 63.7}, {"COCO-val2017-VOC-labels", "pixel_acc", 91.9}}},
	}}
	// FCNResNet50Weights are the published weights of fcn_resnet50.
	FCNResNet50Weights = WeightsEnum{"FCN_ResNet50_Weights", "fcn_resnet50", "COCO_WITH_VOC_LABELS_V1", []Weights{
		{"COCO_WITH_VOC_LABELS_V1", "https://download.pytorch.org/models/fcn_resnet50_coco-1167a1af.pth",
			35322218, [2]int{1, 1}, 152.717, 135.009, "voc",
			Preprocess{[]int{520}, nil, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"COCO-val2017-VOC-labels", "miou", 60.5}, {"COCO-val2017-VOC-labels", "pixel_acc", 91.4}}},
	}}
	// FCOSResNet50FPNWeights are the published weights of fcos_resnet50_fpn.
	FCOSResNet50FPNWeights = WeightsEnum{"FCOS_ResNet50_FPN_Weights", "fcos_resnet50_fpn", "COCO_V1", []Weights{
		{"COCO_V1", "https://download.pytorch.org/models/fcos_resnet50_fpn_coco-99b0c9b7.pth",
			32269600, [2]int{1, 1}, 128.207, 123.608, "coco",
			Preprocess{nil, nil, "", nil, nil},
			[]Metric{{"COCO-val2017", "box_map", 39.2}}},
	}}
	// GoogLeNetWeights are the published weights of googlenet.
	GoogLeNetWeights = WeightsEnum{"GoogLeNet_Weights", "googlenet", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/googlenet-1378be20.pth",
			6624904, [2]int{15, 15}, 1.498, 49.731, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 69.778}, {"ImageNet-1K", "acc@5", 89.53}}},
	}}
	// InceptionV3Weights are the published weights of inception_v3.
	InceptionV3Weights = WeightsEnum{"Inception_V3_Weights", "inception_v3", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/inception_v3_google-0cc3c7bd.pth",
			27161264, [2]int{75, 75}, 5.713, 103.903, "imagenet",
			Preprocess{[]int{342}, []int{299}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 77.294}, {"ImageNet-1K", "acc@5", 93.45}}},
	}}
	// KeypointRCNNResNet50FPNWeights are the published weights of keypointrcnn_resnet50_fpn.
	KeypointRCNNResNet50FPNWeights = WeightsEnum{"KeypointRCNN_ResNet50_FPN_Weights", "keypointrcnn_resnet50_fpn",
		"COCO_V1", []Weights{
			{"COCO_LEGACY", "https://download.pytorch.org/models/keypointrcnn_resnet50_fpn_coco-9f466800.pth",
				59137258, [2]int{1, 1}, 133.924, 226.054, "keypoint",
				Preprocess{nil, nil, "", nil, nil},
				[]Metric{{"COCO-val2017", "box_map", 50.6}, {"COCO-val2017", "kp_map", 61.1}}},
			{"COCO_V1", "https://download.pytorch.org/models/keypointrcnn_resnet50_fpn_coco-fc266e95.pth",
				59137258, [2]int{1, 1}, 137.42, 226.054, "keypoint",
				Preprocess{nil, nil, "", nil, nil},
				[]Metric{{"COCO-val2017", "box_map", 54.6}, {"COCO-val2017", "kp_map", 65.0}}},
		}}
	// LRASPPMobileNetV3LargeWeights are the published weights of lraspp_mobilenet_v3_large.
	LRASPPMobileNetV3LargeWeights = WeightsEnum{"LRASPP_MobileNet_V3_Large_Weights", "lraspp_mobilenet_v3_large",
		"COCO_WITH_VOC_LABELS_V1", []Weights{
			{"COCO_WITH_VOC_LABELS_V1", "https://download.pytorch.org/models/lraspp_mobilenet_v3_large-d234d4ea.pth",
				3221538, [2]int{1, 1}, 2.086, 12.49, "voc",
				Preprocess{[]int{520}, nil, "bilinear", imageNetMean, imageNetStd},
				[]Metric{{"COCO-val2017-VOC-labels", "miou", 57.9}, {"COCO-val2017-VOC-labels", "pixel_acc", 91.2}}},
		}}
	// MaskRCNNResNet50FPNWeights are the published weights of maskrcnn_resnet50_fpn.
	MaskRCNNResNet50FPNWeights = WeightsEnum{"MaskRCNN_ResNet50_FPN_Weights", "maskrcnn_resnet50_fpn", "COCO_V1",
		[]Weights{
			{"COCO_V1", "https://download.pytorch.org/models/maskrcnn_resnet50_fpn_coco-bf2d0c1e.pth",
				44401393, [2]int{1, 1}, 134.38, 169.84, "coco",
				Preprocess{nil, nil, "", nil, nil},
				[]Metric{{"COCO-val2017", "box_map", 37.9}, {"COCO-val2017", "mask_map", 34.6}}},
		}}
	// MaskRCNNResNet50FPNV2Weights are the published weights of maskrcnn_resnet50_fpn_v2.
	MaskRCNNResNet50FPNV2Weights = WeightsEnum{"MaskRCNN_ResNet50_FPN_V2_Weights", "maskrcnn_resnet50_fpn_v2",
		"COCO_V1", []Weights{
			{"COCO_V1", "https://download.pytorch.org/models/maskrcnn_resnet50_fpn_v2_coco-73cbd019.pth",
				46359409, [2]int{1, 1}, 333.577, 177.219, "coco",
				Preprocess{nil, nil, "", nil, nil},
				[]Metric{{"COCO-val2017", "box_map", 47.4}, {"COCO-val2017", "mask_map", 41.8}}},
		}}
	// MaxVitTWeights are the published weights of maxvit_t.
	MaxVitTWeights = WeightsEnum{"MaxVit_T_Weights", "maxvit_t", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/maxvit_t-bc5ab103.pth",
			30919624, [2]int{224, 224}, 5.558, 118.769, "imagenet",
			Preprocess{[]int{224}, []int{224}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 83.7}, {"ImageNet-1K", "acc@5", 96.722}}},
	}}
	// MC3_18Weights are the published weights of mc3_18.
	MC3_18Weights = WeightsEnum{"MC3_18_Weights", "mc3_18", "KINETICS400_V1", []Weights{
		{"KINETICS400_V1", "https://download.pytorch.org/models/mc3_18-a90a0ba3.pth",
			11695440, [2]int{1, 1}, 43.343, 44.672, "kinetics400",
			Preprocess{[]int{128, 171}, []int{112, 112}, "bilinear", []float64{0.43216, 0.394666, 0.37645},
				[]float64{0.22803, 0.22145, 0.216989}},
			[]Metric{{"Kinetics-400", "acc@1", 63.96}, {"Kinetics-400", "acc@5", 84.13}}},
	}}
	// MNASNet0_5Weights are the published weights of mnasnet0_5.
	MNASNet0_5Weights = WeightsEnum{"MNASNet0_5_Weights", "mnasnet0_5", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/mnasnet0.5_top1_67.823-3ffadce67e.pth",
			2218512, [2]int{1, 1}, 0.104, 8.591, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 67.734}, {"ImageNet-1K", "acc@5", 87.49}}},
	}}
	// MNASNet0_75Weights are the published weights of mnasnet0_75.
	MNASNet0_75Weights = WeightsEnum{"MNASNet0_75_Weights", "mnasnet0_75", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/mnasnet0_75-7090bc5f.pth",
			3170208, [2]int{1, 1}, 0.215, 12.303, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 71.18}, {"ImageNet-1K", "acc@5", 90.496}}},
	}}
	// MNASNet1_0Weights are the published weights of mnasnet1_0.
	MNASNet1_0Weights = WeightsEnum{"MNASNet1_0_Weights", "mnasnet1_0", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/mnasnet1.0_top1_73.512-f206786ef8.pth",
			4383312, [2]int{1, 1}, 0.314, 16.915, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 73.456}, {"ImageNet-1K", "acc@5", 91.51}}},
	}}
	// MNASNet1_3Weights are the published weights of mnasnet1_3.
	MNASNet1_3Weights = WeightsEnum{"MNASNet1_3_Weights", "mnasnet1_3", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/mnasnet1_3-a4c69d6f.pth",
			6282256, [2]int{1, 1}, 0.526, 24.246, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 76.506}, {"ImageNet-1K", "acc@5", 93.522}}},
	}}
	// MobileNetV2Weights are the published weights of mobilenet_v2.
	MobileNetV2Weights = WeightsEnum{"MobileNet_V2_Weights", "mobilenet_v2", "IMAGENET1K_V2", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/mobilenet_v2-b0353104.pth",
			3504872, [2]int{1, 1}, 0.301, 13.555, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 71.878}, {"ImageNet-1K", "acc@5", 90.286}}},
		{"IMAGENET1K_V2", "https://download.pytorch.org/models/mobilenet_v2-7ebf99e0.pth",
			3504872, [2]int{1, 1}, 0.301, 13.598, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 72.154}, {"ImageNet-1K", "acc@5", 90.822}}},
	}}
	// MobileNetV3LargeWeights are the published weights of mobilenet_v3_large.
	MobileNetV3LargeWeights = WeightsEnum{"MobileNet_V3_Large_Weights", "mobilenet_v3_large", "IMAGENET1K_V2",
		[]Weights{
			{"IMAGENET1K_V1", "https://download.pytorch.org/models/mobilenet_v3_large-8738ca79.pth",
				5483032, [2]int{1, 1}, 0.217, 21.114, "imagenet",
				Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
				[]Metric{{"ImageNet-1K", "acc@1", 74.042}, {"ImageNet-1K", "acc@5", 91.34}}},
			{"IMAGENET1K_V2", "https://download.pytorch.org/models/mobilenet_v3_large-5c1a4163.pth",
				5483032, [2]int{1, 1}, 0.217, 21.107, "imagenet",
				Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
				[]Metric{{"ImageNet-1K", "acc@1", 75.274}, {"ImageNet-1K", "acc@5", 92.566}}},
		}}
	// MobileNetV3SmallWeights are the published weights of mobilenet_v3_small.
	MobileNetV3SmallWeights = WeightsEnum{"MobileNet_V3_Small_Weights", "mobilenet_v3_small", "IMAGENET1K_V1",
		[]Weights{
			{"IMAGENET1K_V1", "https://download.pytorch.org/models/mobilenet_v3_small-047dcff4.pth",
				2542856, [2]int{1, 1}, 0.057, 9.829, "imagenet",
				Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
				[]Metric{{"ImageNet-1K", "acc@1", 67.668}, {"ImageNet-1K", "acc@5", 87.402}}},
		}}
	// R2Plus1D18Weights are the published weights of r2plus1d_18.
	R2Plus1D18Weights = WeightsEnum{"R2Plus1D_18_Weights", "r2plus1d_18", "KINETICS400_V1", []Weights{
		{"KINETICS400_V1", "https://download.pytorch.org/models/r2plus1d_18-91a641e6.pth",
			31505325, [2]int{1, 1}, 40.519, 120.318, "kinetics400",
			Preprocess{[]int{128, 171}, []int{112, 112}, "bilinear", []float64{0.43216, 0.394666, 0.37645},
				[]float64{0.22803, 0.22145, 0.216989}},
			[]Metric{{"Kinetics-400", "acc@1", 67.463}, {"Kinetics-400", "acc@5", 86.175}}},
	}}
	// R3D18Weights are the published weights of r3d_18.
	R3D18Weights = WeightsEnum{"R3D_18_Weights", "r3d_18", "KINETICS400_V1", []Weights{
		{"KINETICS400_V1", "https://download.pytorch.org/models/r3d_18-b3b3357e.pth",
			33371472, [2]int{1, 1}, 40.697, 127.359, "kinetics400",
			Preprocess{[]int{128, 171}, []int{112, 112}, "bilinear", []float64{0.43216, 0.394666, 0.37645},
				[]float64{0.22803, 0.22145, 0.216989}},
			[]Metric{{"Kinetics-400", "acc@1", 63.2}, {"Kinetics-400", "acc@5", 83.479}}},
	}}
	// RegNetX16GFWeights are the published weights of regnet_x_16gf.
	RegNetX16GFWeights = WeightsEnum{"RegNet_X_16GF_Weights", "regnet_x_16gf", "IMAGENET1K_V2", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/regnet_x_16gf-2007eb11.pth",
			54278536, [2]int{1, 1}, 15.941, 207.627, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 80.058}, {"ImageNet-1K", "acc@5", 94.944}}},
		{"IMAGENET1K_V2", "https://download.pytorch.org/models/regnet_x_16gf-ba3796d7.pth",
			54278536, [2]int{1, 1}, 15.941, 207.627, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 82.716}, {"ImageNet-1K", "acc@5", 96.196}}},
	}}
	// RegNetX1_6GFWeights are the published weights of regnet_x_1_6gf.
	RegNetX1_6GFWeights = WeightsEnum{"RegNet_X_1_6GF_Weights", "regnet_x_1_6gf", "IMAGENET1K_V2", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/regnet_x_1_6gf-e3633e7f.pth",
			9190136, [2]int{1, 1}, 1.603, 35.339, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 77.04}, {"ImageNet-1K", "acc@5", 93.44}}},
		{"IMAGENET1K_V2", "https://download.pytorch.org/models/regnet_x_1_6gf-a12f2b72.pth",
			9190136, [2]int{1, 1}, 1.603, 35.339, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 79.668}, {"ImageNet-1K", "acc@5", 94.922}}},
	}}
	// RegNetX32GFWeights are the published weights of regnet_x_32gf.
	RegNetX32GFWeights = WeightsEnum{"RegNet_X_32GF_Weights", "regnet_x_32gf", "IMAGENET1K_V2", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/regnet_x_32gf-9d47f8d0.pth",
			107811560, [2]int{1, 1}, 31.736, 412.039, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 80.622}, {"ImageNet-1K", "acc@5", 95.248}}},
		{"IMAGENET1K_V2", "https://download.pytorch.org/models/regnet_x_32gf-6eb8fdc6.pth",
			107811560, [2]int{1, 1}, 31.736, 412.039, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 83.014}, {"ImageNet-1K", "acc@5", 96.288}}},
	}}
	// RegNetX3_2GFWeights are the published weights of regnet_x_3_2gf.
	RegNetX3_2GFWeights = WeightsEnum{"RegNet_X_3_2GF_Weights", "regnet_x_3_2gf", "IMAGENET1K_V2", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/regnet_x_3_2gf-f342aeae.pth",
			15296552, [2]int{1, 1}, 3.177, 58.756, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 78.364}, {"ImageNet-1K", "acc@5", 93.992}}},
		{"IMAGENET1K_V2", "https://download.pytorch.org/models/regnet_x_3_2gf-7071aa85.pth",
			15296552, [2]int{1, 1}, 3.177, 58.756, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 81.196}, {"ImageNet-1K", "acc@5", 95.43}}},
	}}
	// RegNetX400MFWeights are the published weights of regnet_x_400mf.
	RegNetX400MFWeights = WeightsEnum{"RegNet_X_400MF_Weights", "regnet_x_400mf", "IMAGENET1K_V2", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/regnet_x_400mf-adf1edd5.pth",
			5495976, [2]int{1, 1}, 0.414, 21.258, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 72.834}, {"ImageNet-1K", "acc@5", 90.95}}},
		{"IMAGENET1K_V2", "https://download.pytorch.org/models/regnet_x_400mf-62229a5f.pth",
			5495976, [2]int{1, 1}, 0.414, 21.257, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 74.864}, {"ImageNet-1K", "acc@5", 92.322}}},
	}}
	// RegNetX800MFWeights are the published weights of regnet_x_800mf.
	RegNetX800MFWeights = WeightsEnum{"RegNet_X_800MF_Weights", "regnet_x_800mf", "IMAGENET1K_V2", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/regnet_x_800mf-ad17e45c.pth",
			7259656, [2]int{1, 1}, 0.8, 27.945, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 75.212}, {"ImageNet-1K", "acc@5", 92.348}}},
		{"IMAGENET1K_V2", "https://download.pytorch.org/models/regnet_x_800mf-94a99ebd.pth",
			7259656, [2]int{1, 1}, 0.8, 27.945, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 77.522}, {"ImageNet-1K", "acc@5", 93.826}}},
	}}
	// RegNetX8GFWeights are the published weights of regnet_x_8gf.
	RegNetX8GFWeights = WeightsEnum{"RegNet_X_8GF_Weights", "regnet_x_8gf", "IMAGENET1K_V2", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/regnet_x_8gf-03ceed89.pth",
			39572648, [2]int{1, 1}, 7.995, 151.456, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 79.344}, {"ImageNet-1K", "acc@5", 94.686}}},
		{"IMAGENET1K_V2", "https://download.pytorch.org/models/regnet_x_8gf-2b70d774.pth",
			39572648, [2]int{1, 1}, 7.995, 151.456, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 81.682}, {"ImageNet-1K", "acc@5", 95.678}}},
	}}
	// RegNetY128GFWeights are the published weights of regnet_y_128gf.
	RegNetY128GFWeights = WeightsEnum{"RegNet_Y_128GF_Weights", "regnet_y_128gf", "IMAGENET1K_SWAG_E2E_V1", []Weights{
		{"IMAGENET1K_SWAG_E2E_V1", "https://download.pytorch.org/models/regnet_y_128gf_swag-c8ce3e52.pth",
			644812894, [2]int{1, 1}, 374.57, 2461.564, "imagenet",
			Preprocess{[]int{384}, []int{384}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 88.228}, {"ImageNet-1K", "acc@5", 98.682}}},
		{"IMAGENET1K_SWAG_LINEAR_V1", "https://download.pytorch.org/models/regnet_y_128gf_lc_swag-cbe8ce12.pth",
			644812894, [2]int{1, 1}, 127.518, 2461.564, "imagenet",
			Preprocess{[]int{224}, []int{224}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 86.068}, {"ImageNet-1K", "acc@5", 97.844}}},
	}}
	// RegNetY16GFWeights are the published weights of regnet_y_16gf.
	RegNetY16GFWeights = WeightsEnum{"RegNet_Y_16GF_Weights", "regnet_y_16gf", "IMAGENET1K_V2", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/regnet_y_16gf-9e6ed7dd.pth",
			83590140, [2]int{1, 1}, 15.912, 319.49, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 80.424}, {"ImageNet-1K", "acc@5", 95.24}}},
		{"IMAGENET1K_V2", "https://download.pytorch.org/models/regnet_y_16gf-3e4a00f9.pth",
			83590140, [2]int{1, 1}, 15.912, 319.49, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 82.886}, {"ImageNet-1K", "acc@5", 96.328}}},
		{"IMAGENET1K_SWAG_E2E_V1", "https://download.pytorch.org/models/regnet_y_16gf_swag-43afe44d.pth",
			83590140, [2]int{1, 1}, 46.735, 319.49, "imagenet",
			Preprocess{[]int{384}, []int{384}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 86.012}, {"ImageNet-1K", "acc@5", 98.054}}},
		{"IMAGENET1K_SWAG_LINEAR_V1", "https://download.pytorch.org/models/regnet_y_16gf_lc_swag-f3ec0043.pth",
			83590140, [2]int{1, 1}, 15.912, 319.49, "imagenet",
			Preprocess{[]int{224}, []int{224}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 83.976}, {"ImageNet-1K", "acc@5", 97.244}}},
	}}
	// RegNetY1_6GFWeights are the published weights of regnet_y_1_6gf.
	RegNetY1_6GFWeights = WeightsEnum{"RegNet_Y_1_6GF_Weights", "regnet_y_1_6gf", "IMAGENET1K_V2", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/regnet_y_1_6gf-b11a554e.pth",
			11202430, [2]int{1, 1}, 1.612, 43.152, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 77.95}, {"ImageNet-1K", "acc@5", 93.966}}},
		{"IMAGENET1K_V2", "https://download.pytorch.org/models/regnet_y_1_6gf-0d7bc02a.pth",
			11202430, [2]int{1, 1}, 1.612, 43.152, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 80.876}, {"ImageNet-1K", "acc@5", 95.444}}},
	}}
	// RegNetY32GFWeights are the published weights of regnet_y_32gf.
	RegNetY32GFWeights = WeightsEnum{"RegNet_Y_32GF_Weights", "regnet_y_32gf", "IMAGENET1K_V2", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/regnet_y_32gf-4dee3f7a.pth",
			145046770, [2]int{1, 1}, 32.28, 554.076, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 80.878}, {"ImageNet-1K", "acc@5", 95.34}}},
		{"IMAGENET1K_V2", "https://download.pytorch.org/models/regnet_y_32gf-8db6d4b5.pth",
			145046770, [2]int{1, 1}, 32.28, 554.076, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 83.368}, {"ImageNet-1K", "acc@5", 96.498}}},
		{"IMAGENET1K_SWAG_E2E_V1", "https://download.pytorch.org/models/regnet_y_32gf_swag-04fdfa75.pth",
			145046770, [2]int{1, 1}, 94.826, 554.076, "imagenet",
			Preprocess{[]int{384}, []int{384}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 86.838}, {"ImageNet-1K", "acc@5", 98.362}}},
		{"IMAGENET1K_SWAG_LINEAR_V1", "https://download.pytorch.org/models/regnet_y_32gf_lc_swag-e1583746.pth",
			145046770, [2]int{1, 1}, 32.28, 554.076, "imagenet",
			Preprocess{[]int{224}, []int{224}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 84.622}, {"ImageNet-1K", "acc@5", 97.48}}},
	}}
	// RegNetY3_2GFWeights are the published weights of regnet_y_3_2gf.
	RegNetY3_2GFWeights = WeightsEnum{"RegNet_Y_3_2GF_Weights", "regnet_y_3_2gf", "IMAGENET1K_V2", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/regnet_y_3_2gf-b5a9779c.pth",
			19436338, [2]int{1, 1}, 3.176, 74.567, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 78.948}, {"ImageNet-1K", "acc@5", 94.576}}},
		{"IMAGENET1K_V2", "https://download.pytorch.org/models/regnet_y_3_2gf-9180c971.pth",
			19436338, [2]int{1, 1}, 3.176, 74.567, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 81.982}, {"ImageNet-1K", "acc@5", 95.972}}},
	}}
	// RegNetY400MFWeights are the published weights of regnet_y_400mf.
	RegNetY400MFWeights = WeightsEnum{"RegNet_Y_400MF_Weights", "regnet_y_400mf", "IMAGENET1K_V2", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/regnet_y_400mf-c65dace8.pth",
			4344144, [2]int{1, 1}, 0.402, 16.806, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 74.046}, {"ImageNet-1K", "acc@5", 91.716}}},
		{"IMAGENET1K_V2", "https://download.pytorch.org/models/regnet_y_400mf-e6988f5f.pth",
			4344144, [2]int{1, 1}, 0.402, 16.806, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 75.804}, {"ImageNet-1K", "acc@5", 92.742}}},
	}}
	// RegNetY800MFWeights are the published weights of regnet_y_800mf.
	RegNetY800MFWeights = WeightsEnum{"RegNet_Y_800MF_Weights", "regnet_y_800mf", "IMAGENET1K_V2", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/regnet_y_800mf-1b27b58c.pth",
			6432512, [2]int{1, 1}, 0.834, 24.774, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 76.42}, {"ImageNet-1K", "acc@5", 93.136}}},
		{"IMAGENET1K_V2", "https://download.pytorch.org/models/regnet_y_800mf-58fc7688.pth",
			6432512, [2]int{1, 1}, 0.834, 24.774, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 78.828}, {"ImageNet-1K", "acc@5", 94.502}}},
	}}
	// RegNetY8GFWeights are the published weights of regnet_y_8gf.
	RegNetY8GFWeights = WeightsEnum{"RegNet_Y_8GF_Weights", "regnet_y_8gf", "IMAGENET1K_V2", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/regnet_y_8gf-d0d0e4a8.pth",
			39381472, [2]int{1, 1}, 8.473, 150.701, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 80.032}, {"ImageNet-1K", "acc@5", 95.048}}},
		{"IMAGENET1K_V2", "https://download.pytorch.org/models/regnet_y_8gf-dc2b1b54.pth",
			39381472, [2]int{1, 1}, 8.473, 150.701, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 82.828}, {"ImageNet-1K", "acc@5", 96.33}}},
	}}
	// ResNet101Weights are the published weights of resnet101.
	ResNet101Weights = WeightsEnum{"ResNet101_Weights", "resnet101", "IMAGENET1K_V2", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/resnet101-63fe2227.pth",
			44549160, [2]int{1, 1}, 7.801, 170.511, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 77.374}, {"ImageNet-1K", "acc@5", 93.546}}},
		{"IMAGENET1K_V2", "https://download.pytorch.org/models/resnet101-cd907fc2.pth",
			44549160, [2]int{1, 1}, 7.801, 170.53, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 81.886}, {"ImageNet-1K", "acc@5", 95.78}}},
	}}
	// ResNet152Weights are the published weights of resnet152.
	ResNet152Weights = WeightsEnum{"ResNet152_Weights", "resnet152", "IMAGENET1K_V2", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/resnet152-394f9c45.pth",
			60192808, [2]int{1, 1}, 11.514, 230.434, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 78.312}, {"ImageNet-1K", "acc@5", 94.046}}},
		{"IMAGENET1K_V2", "https://download.pytorch.org/models/resnet152-f82ba261.pth",
			60192808, [2]int{1, 1}, 11.514, 230.474, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 82.284}, {"ImageNet-1K", "acc@5", 96.002}}},
	}}
	// ResNet18Weights are the published weights of resnet18.
	ResNet18Weights = WeightsEnum{"ResNet18_Weights", "resnet18", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/resnet18-f37072fd.pth",
			11689512, [2]int{1, 1}, 1.814, 44.661, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 69.758}, {"ImageNet-1K", "acc@5", 89.078}}},
	}}
	// ResNet34Weights are the published weights of resnet34.
	ResNet34Weights = WeightsEnum{"ResNet34_Weights", "resnet34", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/resnet34-b627a593.pth",
			21797672, [2]int{1, 1}, 3.664, 83.275, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 73.314}, {"ImageNet-1K", "acc@5", 91.42}}},
	}}
	// ResNet50Weights are the published weights of resnet50.
	ResNet50Weights = WeightsEnum{"ResNet50_Weights", "resnet50", "IMAGENET1K_V2", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/resnet50-0676ba61.pth",
			25557032, [2]int{1, 1}, 4.089, 97.781, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 76.13}, {"ImageNet-1K", "acc@5", 92.862}}},
		{"IMAGENET1K_V2", "https://download.pytorch.org/models/resnet50-11ad3fa6.pth",
			25557032, [2]int{1, 1}, 4.089, 97.79, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 80.858}, {"ImageNet-1K", "acc@5", 95.434}}},
	}}
	// ResNeXt101_32X8DWeights are the published weights of resnext101_32x8d.
	ResNeXt101_32X8DWeights = WeightsEnum{"ResNeXt101_32X8D_Weights", "resnext101_32x8d", "IMAGENET1K_V2", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/resnext101_32x8d-8ba56ff5.pth",
			88791336, [2]int{1, 1}, 16.414, 339.586, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 79.312}, {"ImageNet-1K", "acc@5", 94.526}}},
		{"IMAGENET1K_V2", "https://download.pytorch.org/models/resnext101_32x8d-110c445d.pth",
			88791336, [2]int{1, 1}, 16.414, 339.673, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 82.834}, {"ImageNet-1K", "acc@5", 96.228}}},
	}}
	// ResNeXt101_64X4DWeights are the published weights of resnext101_64x4d.
	ResNeXt101_64X4DWeights = WeightsEnum{"ResNeXt101_64X4D_Weights", "resnext101_64x4d", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/resnext101_64x4d-173b62eb.pth",
			83455272, [2]int{1, 1}, 15.46, 319.318, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 83.246}, {"ImageNet-1K", "acc@5", 96.454}}},
	}}
	// ResNeXt50_32X4DWeights are the published weights of resnext50_32x4d.
	ResNeXt50_32X4DWeights = WeightsEnum{"ResNeXt50_32X4D_Weights", "resnext50_32x4d", "IMAGENET1K_V2", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/resnext50_32x4d-7cdf4587.pth",
			25028904, [2]int{1, 1}, 4.23, 95.789, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 77.618}, {"ImageNet-1K", "acc@5", 93.698}}},
		{"IMAGENET1K_V2", "https://download.pytorch.org/models/resnext50_32x4d-1a0047aa.pth",
			25028904, [2]int{1, 1}, 4.23, 95.833, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 81.198}, {"ImageNet-1K", "acc@5", 95.34}}},
	}}
	// RetinaNetResNet50FPNWeights are the published weights of retinanet_resnet50_fpn.
	RetinaNetResNet50FPNWeights = WeightsEnum{"RetinaNet_ResNet50_FPN_Weights", "retinanet_resnet50_fpn", "COCO_V1",
		[]Weights{
			{"COCO_V1", "https://download.pytorch.org/models/retinanet_resnet50_fpn_coco-eeacb38b.pth",
				34014999, [2]int{1, 1}, 151.54, 130.267, "coco",
				Preprocess{nil, nil, "", nil, nil},
				[]Metric{{"COCO-val2017", "box_map", 36.4}}},
		}}
	// RetinaNetResNet50FPNV2Weights are the published weights of retinanet_resnet50_fpn_v2.
	RetinaNetResNet50FPNV2Weights = WeightsEnum{"RetinaNet_ResNet50_FPN_V2_Weights", "retinanet_resnet50_fpn_v2",
		"COCO_V1", []Weights{
			{"COCO_V1", "https://download.pytorch.org/models/retinanet_resnet50_fpn_v2_coco-5905b1c5.pth",
				38198935, [2]int{1, 1}, 152.238, 146.037, "coco",
				Preprocess{nil, nil, "", nil, nil},
				[]Metric{{"COCO-val2017", "box_map", 41.5}}},
		}}
	// ShuffleNetV2X0_5Weights are the published weights of shufflenet_v2_x0_5.
	ShuffleNetV2X0_5Weights = WeightsEnum{"ShuffleNet_V2_X0_5_Weights", "shufflenet_v2_x0_5", "IMAGENET1K_V1",
		[]Weights{
			{"IMAGENET1K_V1", "https://download.pytorch.org/models/shufflenetv2_x0.5-f707e7126e.pth",
				1366792, [2]int{1, 1}, 0.04, 5.282, "imagenet",
				Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
				[]Metric{{"ImageNet-1K", "acc@1", 60.552}, {"ImageNet-1K", "acc@5", 81.746}}},
		}}
	// ShuffleNetV2X1_0Weights are the published weights of shufflenet_v2_x1_0.
	ShuffleNetV2X1_0Weights = WeightsEnum{"ShuffleNet_V2_X1_0_Weights", "shufflenet_v2_x1_0", "IMAGENET1K_V1",
		[]Weights{
			{"IMAGENET1K_V1", "https://download.pytorch.org/models/shufflenetv2_x1-5666bf0f80.pth",
				2278604, [2]int{1, 1}, 0.145, 8.791, "imagenet",
				Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
				[]Metric{{"ImageNet-1K", "acc@1", 69.362}, {"ImageNet-1K", "acc@5", 88.316}}},
		}}
	// ShuffleNetV2X1_5Weights are the published weights of shufflenet_v2_x1_5.
	ShuffleNetV2X1_5Weights = WeightsEnum{"ShuffleNet_V2_X1_5_Weights", "shufflenet_v2_x1_5", "IMAGENET1K_V1",
		[]Weights{
			{"IMAGENET1K_V1", "https://download.pytorch.org/models/shufflenetv2_x1_5-3c479a10.pth",
				3503624, [2]int{1, 1}, 0.296, 13.557, "imagenet",
				Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
				[]Metric{{"ImageNet-1K", "acc@1", 72.996}, {"ImageNet-1K", "acc@5", 91.086}}},
		}}
	// ShuffleNetV2X2_0Weights are the published weights of shufflenet_v2_x2_0.
	ShuffleNetV2X2_0Weights = WeightsEnum{"ShuffleNet_V2_X2_0_Weights", "shufflenet_v2_x2_0", "IMAGENET1K_V1",
		[]Weights{
			{"IMAGENET1K_V1", "https://download.pytorch.org/models/shufflenetv2_x2_0-8be3c8ee.pth",
				7393996, [2]int{1, 1}, 0.583, 28.433, "imagenet",
				Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
				[]Metric{{"ImageNet-1K", "acc@1", 76.23}, {"ImageNet-1K", "acc@5", 93.006}}},
		}}
	// SqueezeNet1_0Weights are the published weights of squeezenet1_0.
	SqueezeNet1_0Weights = WeightsEnum{"SqueezeNet1_0_Weights", "squeezenet1_0", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/squeezenet1_0-b66bff10.pth",
			1248424, [2]int{21, 21}, 0.819, 4.778, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 58.092}, {"ImageNet-1K", "acc@5", 80.42}}},
	}}
	// SqueezeNet1_1Weights are the published weights of squeezenet1_1.
	SqueezeNet1_1Weights = WeightsEnum{"SqueezeNet1_1_Weights", "squeezenet1_1", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/squeezenet1_1-b8a52dc0.pth",
			1235496, [2]int{17, 17}, 0.349, 4.729, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 58.178}, {"ImageNet-1K", "acc@5", 80.624}}},
	}}
	// SSD300VGG16Weights are the published weights of ssd300_vgg16.
	SSD300VGG16Weights = WeightsEnum{"SSD300_VGG16_Weights", "ssd300_vgg16", "COCO_V1", []Weights{
		{"COCO_V1", "https://download.pytorch.org/models/ssd300_vgg16_coco-b556d3b4.pth",
			35641826, [2]int{1, 1}, 34.858, 135.988, "coco",
			Preprocess{nil, nil, "", nil, nil},
			[]Metric{{"COCO-val2017", "box_map", 25.1}}},
	}}
	// SSDLite320MobileNetV3LargeWeights are the published weights of ssdlite320_mobilenet_v3_large.
	SSDLite320MobileNetV3LargeWeights = WeightsEnum{"SSDLite320_MobileNet_V3_Large_Weights",
		"ssdlite320_mobilenet_v3_large", "COCO_V1", []Weights{
			{"COCO_V1", "https://download.pytorch.org/models/ssdlite320_mobilenet_v3_large_coco-a79551df.pth",
				3440060, [2]int{1, 1}, 0.583, 13.418, "coco",
				Preprocess{nil, nil, "", nil, nil},
				[]Metric{{"COCO-val2017", "box_map", 21.3}}},
		}}
	// SwinBWeights are the published weights of swin_b.
	SwinBWeights = WeightsEnum{"Swin_B_Weights", "swin_b", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/swin_b-68c6b09e.pth",
			87768224, [2]int{224, 224}, 15.431, 335.364, "imagenet",
			Preprocess{[]int{238}, []int{224}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 83.582}, {"ImageNet-1K", "acc@5", 96.64}}},
	}}
	// SwinSWeights are the published weights of swin_s.
	SwinSWeights = WeightsEnum{"Swin_S_Weights", "swin_s", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/swin_s-5e29d889.pth",
			49606258, [2]int{224, 224}, 8.741, 189.786, "imagenet",
			Preprocess{[]int{246}, []int{224}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 83.196}, {"ImageNet-1K", "acc@5", 96.36}}},
	}}
	// SwinTWeights are the published weights of swin_t.
	SwinTWeights = WeightsEnum{"Swin_T_Weights", "swin_t", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/swin_t-704ceda3.pth",
			28288354, [2]int{224, 224}, 4.491, 108.19, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 81.474}, {"ImageNet-1K", "acc@5", 95.776}}},
	}}
	// SwinV2BWeights are the published weights of swin_v2_b.
	SwinV2BWeights = WeightsEnum{"Swin_V2_B_Weights", "swin_v2_b", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/swin_v2_b-781e5279.pth",
			87930848, [2]int{256, 256}, 20.325, 336.372, "imagenet",
			Preprocess{[]int{272}, []int{256}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 84.112}, {"ImageNet-1K", "acc@5", 96.864}}},
	}}
	// SwinV2SWeights are the published weights of swin_v2_s.
	SwinV2SWeights = WeightsEnum{"Swin_V2_S_Weights", "swin_v2_s", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/swin_v2_s-637d8ceb.pth",
			49737442, [2]int{256, 256}, 11.546, 190.675, "imagenet",
			Preprocess{[]int{260}, []int{256}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 83.712}, {"ImageNet-1K", "acc@5", 96.816}}},
	}}
	// SwinV2TWeights are the published weights of swin_v2_t.
	SwinV2TWeights = WeightsEnum{"Swin_V2_T_Weights", "swin_v2_t", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/swin_v2_t-b137f0e2.pth",
			28351570, [2]int{256, 256}, 5.94, 108.626, "imagenet",
			Preprocess{[]int{260}, []int{256}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 82.072}, {"ImageNet-1K", "acc@5", 96.132}}},
	}}
	// VGG11Weights are the published weights of vgg11.
	VGG11Weights = WeightsEnum{"VGG11_Weights", "vgg11", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/vgg11-8a719046.pth",
			132863336, [2]int{32, 32}, 7.609, 506.84, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 69.02}, {"ImageNet-1K", "acc@5", 88.628}}},
	}}
	// VGG11BNWeights are the published weights of vgg11_bn.
	VGG11BNWeights = WeightsEnum{"VGG11_BN_Weights", "vgg11_bn", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/vgg11_bn-6002323d.pth",
			132868840, [2]int{32, 32}, 7.609, 506.881, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 70.37}, {"ImageNet-1K", "acc@5", 89.81}}},
	}}
	// VGG13Weights are the published weights of vgg13.
	VGG13Weights = WeightsEnum{"VGG13_Weights", "vgg13", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/vgg13-19584684.pth",
			133047848, [2]int{32, 32}, 11.308, 507.545, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 69.928}, {"ImageNet-1K", "acc@5", 89.246}}},
	}}
	// VGG13BNWeights are the published weights of vgg13_bn.
	VGG13BNWeights = WeightsEnum{"VGG13_BN_Weights", "vgg13_bn", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/vgg13_bn-abd245e5.pth",
			133053736, [2]int{32, 32}, 11.308, 507.59, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 71.586}, {"ImageNet-1K", "acc@5", 90.374}}},
	}}
	// VGG16Weights are the published weights of vgg16.
	VGG16Weights = WeightsEnum{"VGG16_Weights", "vgg16", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/vgg16-397923af.pth",
			138357544, [2]int{32, 32}, 15.47, 527.796, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 71.592}, {"ImageNet-1K", "acc@5", 90.382}}},
		{"IMAGENET1K_FEATURES", "https://download.pytorch.org/models/vgg16_features-amdegroot-88682ab5.pth",
			138357544, [2]int{32, 32}, 15.47, 527.802, "",
			Preprocess{[]int{256}, []int{224}, "bilinear", []float64{0.48235, 0.45882, 0.40784},
				[]float64{0.00392156862745098, 0.00392156862745098, 0.00392156862745098}},
			[]Metric{}},
	}}
	// VGG16BNWeights are the published weights of vgg16_bn.
	VGG16BNWeights = WeightsEnum{"VGG16_BN_Weights", "vgg16_bn", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/vgg16_bn-6c64b313.pth",
			138365992, [2]int{32, 32}, 15.47, 527.866, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 73.36}, {"ImageNet-1K", "acc@5", 91.516}}},
	}}
	// VGG19Weights are the published weights of vgg19.
	VGG19Weights = WeightsEnum{"VGG19_Weights", "vgg19", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/vgg19-dcbb9e9d.pth",
			143667240, [2]int{32, 32}, 19.632, 548.051, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 72.376}, {"ImageNet-1K", "acc@5", 90.876}}},
	}}
	// VGG19BNWeights are the published weights of vgg19_bn.
	VGG19BNWeights = WeightsEnum{"VGG19_BN_Weights", "vgg19_bn", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/vgg19_bn-c79401a0.pth",
			143678248, [2]int{32, 32}, 19.632, 548.143, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 74.218}, {"ImageNet-1K", "acc@5", 91.842}}},
	}}
	// ViTB16Weights are the published weights of vit_b_16.
	ViTB16Weights = WeightsEnum{"ViT_B_16_Weights", "vit_b_16", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/vit_b_16-c867db91.pth",
			86567656, [2]int{224, 224}, 17.564, 330.285, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 81.072}, {"ImageNet-1K", "acc@5", 95.318}}},
		{"IMAGENET1K_SWAG_E2E_V1", "https://download.pytorch.org/models/vit_b_16_swag-9ac1b537.pth",
			86859496, [2]int{384, 384}, 55.484, 331.398, "imagenet",
			Preprocess{[]int{384}, []int{384}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 85.304}, {"ImageNet-1K", "acc@5", 97.65}}},
		{"IMAGENET1K_SWAG_LINEAR_V1", "https://download.pytorch.org/models/vit_b_16_lc_swag-4e70ced5.pth",
			86567656, [2]int{224, 224}, 17.564, 330.285, "imagenet",
			Preprocess{[]int{224}, []int{224}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 81.886}, {"ImageNet-1K", "acc@5", 96.18}}},
	}}
	// ViTB32Weights are the published weights of vit_b_32.
	ViTB32Weights = WeightsEnum{"ViT_B_32_Weights", "vit_b_32", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/vit_b_32-d86f8d99.pth",
			88224232, [2]int{224, 224}, 4.409, 336.604, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 75.912}, {"ImageNet-1K", "acc@5", 92.466}}},
	}}
	// ViTH14Weights are the published weights of vit_h_14.
	ViTH14Weights = WeightsEnum{"ViT_H_14_Weights", "vit_h_14", "IMAGENET1K_SWAG_E2E_V1", []Weights{
		{"IMAGENET1K_SWAG_E2E_V1", "https://download.pytorch.org/models/vit_h_14_swag-80465313.pth",
			633470440, [2]int{518, 518}, 1016.717, 2416.643, "imagenet",
			Preprocess{[]int{518}, []int{518}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 88.552}, {"ImageNet-1K", "acc@5", 98.694}}},
		{"IMAGENET1K_SWAG_LINEAR_V1", "https://download.pytorch.org/models/vit_h_14_lc_swag-c1eb923e.pth",
			632045800, [2]int{224, 224}, 167.295, 2411.209, "imagenet",
			Preprocess{[]int{224}, []int{224}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 85.708}, {"ImageNet-1K", "acc@5", 97.73}}},
	}}
	// ViTL16Weights are the published weights of vit_l_16.
	ViTL16Weights = WeightsEnum{"ViT_L_16_Weights", "vit_l_16", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/vit_l_16-852ce7e3.pth",
			304326632, [2]int{224, 224}, 61.555, 1161.023, "imagenet",
			Preprocess{[]int{242}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 79.662}, {"ImageNet-1K", "acc@5", 94.638}}},
		{"IMAGENET1K_SWAG_E2E_V1", "https://download.pytorch.org/models/vit_l_16_swag-4f3808c9.pth",
			305174504, [2]int{512, 512}, 361.986, 1164.258, "imagenet",
			Preprocess{[]int{512}, []int{512}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 88.064}, {"ImageNet-1K", "acc@5", 98.512}}},
		{"IMAGENET1K_SWAG_LINEAR_V1", "https://download.pytorch.org/models/vit_l_16_lc_swag-4d563306.pth",
			304326632, [2]int{224, 224}, 61.555, 1161.023, "imagenet",
			Preprocess{[]int{224}, []int{224}, "bicubic", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 85.146}, {"ImageNet-1K", "acc@5", 97.422}}},
	}}
	// ViTL32Weights are the published weights of vit_l_32.
	ViTL32Weights = WeightsEnum{"ViT_L_32_Weights", "vit_l_32", "IMAGENET1K_V1", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/vit_l_32-c7638314.pth",
			306535400, [2]int{224, 224}, 15.378, 1169.449, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 76.972}, {"ImageNet-1K", "acc@5", 93.07}}},
	}}
	// WideResNet101_2Weights are the published weights of wide_resnet101_2.
	WideResNet101_2Weights = WeightsEnum{"Wide_ResNet101_2_Weights", "wide_resnet101_2", "IMAGENET1K_V2", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/wide_resnet101_2-32ee1156.pth",
			126886696, [2]int{1, 1}, 22.753, 242.896, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 78.848}, {"ImageNet-1K", "acc@5", 94.284}}},
		{"IMAGENET1K_V2", "https://download.pytorch.org/models/wide_resnet101_2-d733dc28.pth",
			126886696, [2]int{1, 1}, 22.753, 484.747, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 82.51}, {"ImageNet-1K", "acc@5", 96.02}}},
	}}
	// WideResNet50_2Weights are the published weights of wide_resnet50_2.
	WideResNet50_2Weights = WeightsEnum{"Wide_ResNet50_2_Weights", "wide_resnet50_2", "IMAGENET1K_V2", []Weights{
		{"IMAGENET1K_V1", "https://download.pytorch.org/models/wide_resnet50_2-95faca4d.pth",
			68883240, [2]int{1, 1}, 11.398, 131.82, "imagenet",
			Preprocess{[]int{256}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 78.468}, {"ImageNet-1K", "acc@5", 94.086}}},
		{"IMAGENET1K_V2", "https://download.pytorch.org/models/wide_resnet50_2-9ba9bcbe.pth",
			68883240, [2]int{1, 1}, 11.398, 263.124, "imagenet",
			Preprocess{[]int{232}, []int{224}, "bilinear", imageNetMean, imageNetStd},
			[]Metric{{"ImageNet-1K", "acc@1", 81.602}, {"ImageNet-1K", "acc@5", 95.758}}},
	}}
)

// allWeights are the published weights of each network by its name.
var allWeights = []*WeightsEnum{
	&AlexNetWeights,
	&ConvNeXtBaseWeights,
	&ConvNeXtLargeWeights,
	&ConvNeXtSmallWeights,
	&ConvNeXtTinyWeights,
	&DeepLabV3MobileNetV3LargeWeights,
	&DeepLabV3ResNet101Weights,
	&DeepLabV3ResNet50Weights,
	&DenseNet121Weights,
	&DenseNet161Weights,
	&DenseNet169Weights,
	&DenseNet201Weights,
	&EfficientNetB0Weights,
	&EfficientNetB1Weights,
	&EfficientNetB2Weights,
	&EfficientNetB3Weights,
	&EfficientNetB4Weights,
	&EfficientNetB5Weights,
	&EfficientNetB6Weights,
	&EfficientNetB7Weights,
	&EfficientNetV2LWeights,
	&EfficientNetV2MWeights,
	&EfficientNetV2SWeights,
	&FasterRCNNMobileNetV3Large320FPNWeights,
	&FasterRCNNMobileNetV3LargeFPNWeights,
	&FasterRCNNResNet50FPNWeights,
	&FasterRCNNResNet50FPNV2Weights,
	&FCNResNet101Weights,
	&FCNResNet50Weights,
	&FCOSResNet50FPNWeights,
	&GoogLeNetWeights,
	&InceptionV3Weights,
	&KeypointRCNNResNet50FPNWeights,
	&LRASPPMobileNetV3LargeWeights,
	&MaskRCNNResNet50FPNWeights,
	&MaskRCNNResNet50FPNV2Weights,
	&MaxVitTWeights,
	&MC3_18Weights,
	&MNASNet0_5Weights,
	&MNASNet0_75Weights,
	&MNASNet1_0Weights,
	&MNASNet1_3Weights,
	&MobileNetV2Weights,
	&MobileNetV3LargeWeights,
	&MobileNetV3SmallWeights,
	&R2Plus1D18Weights,
	&R3D18Weights,
	&RegNetX16GFWeights,
	&RegNetX1_6GFWeights,
	&RegNetX32GFWeights,
	&RegNetX3_2GFWeights,
	&RegNetX400MFWeights,
	&RegNetX800MFWeights,
	&RegNetX8GFWeights,
	&RegNetY128GFWeights,
	&RegNetY16GFWeights,
	&RegNetY1_6GFWeights,
	&RegNetY32GFWeights,
	&RegNetY3_2GFWeights,
	&RegNetY400MFWeights,
	&RegNetY800MFWeights,
	&RegNetY8GFWeights,
	&ResNet101Weights,
	&ResNet152Weights,
	&ResNet18Weights,
	&ResNet34Weights,
	&ResNet50Weights,
	&ResNeXt101_32X8DWeights,
	&ResNeXt101_64X4DWeights,
	&ResNeXt50_32X4DWeights,
	&RetinaNetResNet50FPNWeights,
	&RetinaNetResNet50FPNV2Weights,
	&ShuffleNetV2X0_5Weights,
	&ShuffleNetV2X1_0Weights,
	&ShuffleNetV2X1_5Weights,
	&ShuffleNetV2X2_0Weights,
	&SqueezeNet1_0Weights,
	&SqueezeNet1_1Weights,
	&SSD300VGG16Weights,
	&SSDLite320MobileNetV3LargeWeights,
	&SwinBWeights,
	&SwinSWeights,
	&SwinTWeights,
	&SwinV2BWeights,
	&SwinV2SWeights,
	&SwinV2TWeights,
	&VGG11Weights,
	&VGG11BNWeights,
	&VGG13Weights,
	&VGG13BNWeights,
	&VGG16Weights,
	&VGG16BNWeights,
	&VGG19Weights,
	&VGG19BNWeights,
	&ViTB16Weights,
	&ViTB32Weights,
	&ViTH14Weights,
	&ViTL16Weights,
	&ViTL32Weights,
	&WideResNet101_2Weights,
	&WideResNet50_2Weights,
}
