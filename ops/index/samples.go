package index

import (
	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/tensor"
)

// The sample calls of the family; internal/samples describes the notation.
func init() {
	samples.Table(
		"index.Tensor _unsafe_index.Tensor :: 3x4 [{0,2,1}] ; 3x4 [{0,2},{1,1}] ; 3x4 [None,{3,0}] ; 3x4 [{t,f,t}] ; "+
			"3x4 [{0;1},{2,3}]",
		"index_put _unsafe_index_put :: 3x4 [{0,2}] 2x4 ; 3x4 [{0,2,0}] 3x4 true ; 3x4 [None,{3,0}] s ; 3x4 [{t,f,t}] 4",
		"_unsafe_masked_index :: 4 {t,f,t} [{0,2,1}] 0",
		"_unsafe_masked_index_put_accumulate :: 4 {t,f,t} [{0,2,1}] 3",
		"index_add :: 3x4 0 {0,2,0} 3x4 ; 3x4 1 {1,3} 3x2 alpha=2",
		"index_copy :: 3x4 0 {0,2} 2x4 ; 3x4 1 {1,3} 3x2",
		"index_fill.int_Tensor :: 3x4 0 {0,2} s",
		"index_reduce :: 3x4 0 {0,2,0} 3x4 prod ; 3x4 0 {0,2,0} 3x4 mean ; 3x4 0 {0,2,1} 3x4 amax ; 3x4 0 {0,2,1} "+
			"3x4 amin include_self=false",
		"index_select :: 3x4 0 {0,2,0} ; 2x3x5 1 {1,1} ; 5 0 {3}",
		"gather :: 3x4 1 {0,3;1,1;2,0} ; 5 0 {3,1}",
		"scatter.src scatter_add :: 3x4 1 {0,3;1,2;2,0} 3x2 ; 5 0 {3,1} 4",
		"scatter.value :: 3x4 1 {0,3;1,2;2,0} 1.5",
		"scatter.reduce :: 3x4 1 {0,3;1,2;2,0} 3x2 reduce=add ; 3x4 1 {0,3;1,2;2,0} 3x2 reduce=multiply",
		"scatter.value_reduce :: 3x4 1 {0,3;1,2;2,0} 1.5 reduce=multiply",
		"scatter_reduce.two :: 3x4 1 {0,3;1,1;2,0} 3x2 sum ; 3x4 1 {0,3;1,2;2,0} 3x2 prod ; 3x4 1 {0,3;1,1;2,0} 3x2 "+
			"mean ; 3x4 1 {0,3;1,2;2,0} 3x2 amax include_self=false",
		"masked_fill.Tensor :: 3x4 3x4:b s ; 3x4 4:b s",
		"masked_scatter :: 3x4 3x4:b 12",
		"masked_select :: 3x4 3x4:b ; 3x4 4:b", "masked_scatter_backward :: 3x4 3x4:b [12] ; 3x4 3x4:b [4,4]",
		"put :: 3x4 {1,5} 2 ; 3x4 {1,5,1} 3 true",
		"take :: 3x4 {1,5;11,0}",
		"take_along_dim :: 3x4 {0,3;1,1;2,0} 1 ; 3x4 {5,1}",
		"nonzero nonzero_numpy where :: 3x4:i2 ; 3x4:b ; s",
		"torch::nonzero :: 3x4:b as_tuple=false", "nonzero_static :: 3x4:b size=4",
		"argwhere :: 3x4:b",
		"one_hot F::one_hot :: {0,2,1} ; {0,2,1} 5",
		"embedding :: 5x3 {0,4,1} ; 5x3 {0,4;1,0} 0 | nograd",
		"embedding_backward :: 3x4 {0,4,0} 5 -1 false false",
		"_embedding_bag_backward :: 2x3 {0,4,0} {0,1} {0,1,1} {1,2} {0} 5 false 0 false None | nograd",
		"embedding_dense_backward :: 3x4 {0,4,0} 5 -1 false ; 3x4 {0,4,0} 5 0 true",
		"embedding_renorm_ :: 5x3 {0,4} 1 2",
		"embedding_bag.padding_idx :: 5x3 {0,4,1,1} {0,2} false 0 false None false 1 ; 5x3 {0,4,1,1} {0,2} false 1 "+
			"false None false None | first",
		"embedding_bag _embedding_bag :: 5x3 {0,4,1,1} {0,2} ; 5x3 {0,4,1,1} {0,2} mode=1 ; 5x3 {0,4,1,1} {0,2} mode=2",
		"F::embedding :: {0,4,1} 5x3 ; {0,4;1,0} 5x3 0 | nograd",
		"F::embedding_bag :: {0,4;1,1} 5x3 ; {0,4,1,1} 5x3 {0,2} mode=sum",
	)
	samples.None("a fused step of embedding_bag, whose arguments are its results; the family's tests compare it with "+
		"the composed form", "_embedding_bag_dense_backward")
	for name, args := range map[string]func() []any{
		"Tensor::__getitem__": func() []any {
			return []any{tensor.AnyValue(tensor.TupleIndex{1,
				tensor.SliceIndex{}})}
		},
		"Tensor::__setitem__": func() []any {
			v, _ := samples.Tensor("4", 3)
			return []any{tensor.AnyValue(tensor.TupleIndex{1, tensor.SliceIndex{}}), v}
		},
	} {
		tensor.RegisterSamples(name, func(s *tensor.Sampler) {
			x, _ := samples.Tensor("3x4", 0)
			s.Add(append([]any{x}, args()...)...)
		})
	}
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPPromote, "aten::index_put", "aten::scatter_add")
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPPromote, "aten::index_copy")
	samples.None("gives a sparse tensor, which has no memory to compare: see ops/sparse",
		"embedding_sparse_backward _embedding_bag_sparse_backward")
}
