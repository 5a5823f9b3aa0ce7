package rnn

// SetBackward changes how much of the gates' gradients there is at a time, until restore.
func SetBackward(rows, bytes int) (restore func()) {
	r, b := backwardRows, backwardBytes
	backwardRows, backwardBytes = rows, bytes
	return func() { backwardRows, backwardBytes = r, b }
}
