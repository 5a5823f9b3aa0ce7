package linalg_test

import (
	"errors"
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/linalg"
)

// A system of equations, and a matrix that has no solution.
func ExampleSolve() {
	a := torch.FromSlice([]float32{2, 1, 1, 3}, 2, 2)
	b := torch.FromSlice([]float32{3, 5})
	fmt.Println(linalg.Solve(a, b))

	err := torch.Try(func() { linalg.Solve(torch.Ones([]int{2, 2}), b) })
	fmt.Println(errors.Is(err, linalg.LinAlgError))
	// Output:
	// tensor([0.8000, 1.4000])
	// true
}

func ExampleSVD() {
	a := torch.FromSlice([]float32{3, 0, 0, 4, 0, 0}, 3, 2)
	u, s, vh := linalg.SVD(a, linalg.SVDOptions{NoFullMatrices: true})
	fmt.Println(u.Shape(), s, vh.Shape())
	// Output: [3 2] tensor([4., 3.]) [2 2]
}

func ExampleEigh() {
	a := torch.FromSlice([]float32{2, 1, 1, 2}, 2, 2)
	values, _ := linalg.Eigh(a)
	fmt.Println(values)
	// Output: tensor([1., 3.])
}

// Least squares: the line through three points.
func ExampleLstsq() {
	a := torch.FromSlice([]float64{1, 0, 1, 1, 1, 2}, 3, 2)
	r := linalg.Lstsq(a, torch.FromSlice([]float64{1, 2, 4}))
	fmt.Println(r[0])
	// Output: tensor([0.8333, 1.5000], dtype=torch.float64)
}

func ExampleMatrixNorm() {
	a := torch.FromSlice([]float32{3, 0, 0, 4}, 2, 2)
	fmt.Println(linalg.MatrixNorm(a), linalg.MatrixNorm(a, linalg.MatrixNormOptions{Ord: "nuc"}))
	// Output: tensor(5.) tensor(7.)
}
