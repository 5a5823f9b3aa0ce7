package main

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/optim"
)

// recommenderNet is a network for click-through rates in the form of DLRM (https://arxiv.org/abs/1906.00091): bags of
// categories become vectors, dense features go through layers to a vector of the same length, and the products of all
// pairs of vectors go through further layers. The gradients of its tables are sparse.
type recommenderNet struct {
	nn.Base
	Bags        []*nn.EmbeddingBag
	Bottom, Top *nn.Sequential
	pairs       *torch.Tensor // where the pairs stand in the matrix of products
}

func newRecommender(tables, rows, dim, dense int) *recommenderNet {
	m := &recommenderNet{
		Bottom: nn.NewSequential(nn.NewLinear(dense, 128), nn.NewReLU(), nn.NewLinear(128, dim), nn.NewReLU()),
		Top: nn.NewSequential(nn.NewLinear(dim+tables*(tables+1)/2, 128), nn.NewReLU(), nn.NewLinear(128, 64),
			nn.NewReLU(), nn.NewLinear(64, 1)),
	}
	for range tables {
		m.Bags = append(m.Bags, nn.NewEmbeddingBag(rows, dim, nn.EmbeddingBagOptions{Mode: nn.BagSum, Sparse: true}))
	}
	var pairs []int64
	for i := range tables + 1 {
		for j := range i {
			pairs = append(pairs, int64(i*(tables+1)+j))
		}
	}
	m.pairs = torch.FromSlice(pairs)
	return nn.New(m)
}

// score gives a logit for each line of the dense features, with a list of bags for each table.
func (m *recommenderNet) score(dense *torch.Tensor, categories []*torch.Tensor) *torch.Tensor {
	x := m.Bottom.Forward(dense)
	vectors := []*torch.Tensor{x}
	for i, bag := range m.Bags {
		vectors = append(vectors, bag.Forward(categories[i]))
	}
	all := torch.Stack(vectors, torch.StackOptions{Dim: 1})
	products := torch.BMM(all, all.Transpose(1, 2)).Flatten(torch.FlattenOptions{StartDim: 1}).IndexSelect(1, m.pairs)
	return m.Top.Forward(torch.Cat([]*torch.Tensor{x, products}, torch.CatOptions{Dim: 1})).SqueezeDim(1)
}

// recommender is a training step with SGD.
func recommender(c *config, tables, rows, dim, batch, perBag int) row {
	const dense = 13
	rows, batch = c.size(rows, 50), c.size(batch, 4)
	return row{
		name: fmt.Sprintf("DLRM %d tables of %dx%d, bags of %d, batch %d, SGD step (sparse)", tables, rows, dim, perBag,
			batch),
		peer: "recommender", args: arg{"tables": tables, "rows": rows, "dim": dim, "dense": dense, "batch": batch,
			"per_bag": perBag},
		prepare: func() work {
			m := newRecommender(tables, rows, dim, dense)
			opt := optim.NewSGD(m.Parameters(), 0.1)
			x, y := torch.Randn([]int{batch, dense}), torch.Randint(2, []int{batch}).Float()
			var categories []*torch.Tensor
			for range tables {
				categories = append(categories, torch.Randint(rows, []int{batch, perBag}))
			}
			return work{grad: true, step: func() {
				torch.Tidy(func() {
					opt.ZeroGrad()
					F.BinaryCrossEntropyWithLogits(m.score(x, categories), y).Backward()
					opt.Step()
				})
			}}
		},
	}
}
