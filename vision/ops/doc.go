// Package ops holds the operators, losses and layers that computer vision adds to the core: PyTorch's torchvision.ops.
//
// Boxes are tensors (N, 4) of corners (x1, y1, x2, y2) unless a function says otherwise; regions of interest (RoIs)
// are boxes (K, 5) whose first column is the number of the image, or one tensor (L, 4) for each image.
//
// Start with [NMS] and [BoxIoU] for boxes, [RoIAlign] for features of regions, [NewConv2dNormActivation] and
// [NewFeaturePyramidNetwork] for building networks. The operators themselves (torchvision::nms, torchvision::roi_align,
// …) are in ops/vision.
package ops
