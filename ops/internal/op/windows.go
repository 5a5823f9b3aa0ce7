package op

// Windows is the number of windows of a pooling along one dimension of in elements: windows of k elements, dil apart,
// begin every stride elements, pad elements in front of the first one. With ceil a window may end behind the padding.
// https://pytorch.org/docs/stable/generated/torch.nn.MaxPool2d.html
func Windows(in, k, pad, stride, dil int, ceil bool) int {
	eff := dil*(k-1) + 1
	n := in + 2*pad - eff
	if ceil {
		n += stride - 1
	}
	o := n/stride + 1
	if n < 0 && n%stride != 0 { // floor, not truncation
		o--
	}
	if ceil && (o-1)*stride >= in+pad {
		o-- // the last window must begin inside the input or its left padding
	}
	return o
}
