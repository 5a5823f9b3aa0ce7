package conv

// BackwardWeight computes the gradient of the convolution's weights from that
// of its output.
func BackwardWeight[T Float](s *Shape, gw Weights[T], gout, in Image[T]) {
}
