package functional

import "fmt"

// Reduction says what a loss returns; the zero value is PyTorch's default.
type Reduction uint8

// The reductions.
const (
	Mean      Reduction = iota // the mean over all elements
	Sum                        // their sum
	None                       // one value per element
	BatchMean                  // KLDiv: the sum divided by the batch size
)

// String is Python's name.
func (r Reduction) String() string {
	if r > BatchMean {
		return fmt.Sprintf("Reduction(%d)", uint8(r))
	}
	return [...]string{"mean", "sum", "none", "batchmean"}[r]
}
