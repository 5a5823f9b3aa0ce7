package index_test

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/opstest"
	"github.com/gotorch-dev/torch/internal/par"
	_ "github.com/gotorch-dev/torch/ops/all"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func memory(t *tensor.Tensor) []byte {
	t = tensor.Dense(t)
	return bytes.Clone(unsafe.Slice((*byte)(tensor.Ptr(t)), t.Numel()*t.ElementSize()))
}

// TestLargeWalks compares walks that are cut into tasks with loops over all places, at several numbers of threads:
// indices of all layouts, along each dimension.
func TestLargeWalks(t *testing.T) {
	defer par.SetNumThreads(par.NumThreads())
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	for _, shape := range [][]int{{70_001}, {300, 250}, {3, 30_000}, {40_000, 2}, {2, 30_000, 3}, {50, 1, 40, 41}} {
		nd := len(shape)
		n := 1
		for _, s := range shape {
			n *= s
		}
		for dim := range shape {
			src := opstest.Fill(tensor.Float32, 1, shape...)
			self := opstest.Fill(tensor.Float32, 2, shape...)
			flat := indices(n, shape[dim]).View(shape)
			row := make([]int, nd)
			for d := range row {
				row[d] = 1
			}
			row[dim] = shape[dim]
			perm := make([]int, nd)
			for d := range perm {
				perm[d] = nd - 1 - d
			}
			for name, ix := range map[string]*tensor.Tensor{
				"contiguous": flat,
				"expanded":   indices(shape[dim], shape[dim]).View(row).Expand(shape),
				"transposed": flat.Permute(perm).Contiguous().Permute(perm),
			} {
				// the loops
				st := tensor.FormatStrides(shape, tensor.ContiguousFormat)
				x, a, b := tensor.Data[int64](ix.Contiguous()), tensor.Data[float32](self), tensor.Data[float32](src)
				add, get := append([]float32{}, a...), make([]float32, n)
				top := append([]float32{}, a...)
				for i := range n {
					at := i + (int(x[i])-i/st[dim]%shape[dim])*st[dim]
					get[i] = a[at]
					add[at] += b[i]
					top[at] = max(top[at], b[i])
				}
				for _, threads := range []int{1, 2, 3, 8} {
					par.SetNumThreads(threads)
					at := fmt.Sprintf("%v along %d, %s index, %d threads", shape, dim, name, threads)
					check := func(op string, got *tensor.Tensor, want []float32) {
						t.Helper()
						if !bytes.Equal(memory(got), memory(tensor.FromSlice(want))) {
							t.Errorf("%s of %s", op, at)
						}
					}
					check("gather", self.Gather(dim, ix), get)
					check("scatter_add", self.ScatterAdd(dim, ix, src), add)
					check("scatter_reduce", self.ScatterReduce(dim, ix, src, "amax"), top)
					if name == "expanded" {
						one := indices(shape[dim], shape[dim])
						check("index_add", self.IndexAdd(dim, one, src), add)
						check("index_select", self.IndexSelect(dim, one), get)
						list := make([]*tensor.Tensor, dim+1)
						list[dim] = one
						check("index", self.IndexTensors(list), get)
						put := tensor.CloneRaw(self)
						put.IndexPutInPlace(list, src, tensor.IndexPutInPlaceOptions{Accumulate: true})
						check("index_put", put, add)
					}
				}
			}
		}
	}
}

// TestWalkErrors looks for an index out of range in the last task.
func TestWalkErrors(t *testing.T) {
	x := opstest.Fill(tensor.Float32, 1, 300, 250)
	for _, bad := range []int64{-1, 250} {
		ix := indices(300*250, 250).View([]int{300, 250})
		tensor.Data[int64](ix)[74_990] = bad
		for name, f := range map[string]func(){
			"gather":      func() { x.Gather(1, ix) },
			"scatter":     func() { x.Scatter(1, ix, x) },
			"scatter_add": func() { x.ScatterAdd(1, ix, x) },
		} {
			want := fmt.Sprintf("index %d is out of bounds for dimension 1 with size 250", bad)
			if err := tensor.Try(f); err == nil || !bytes.Contains([]byte(err.Error()), []byte(want)) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
}

// TestReduceInt32 compares reductions of int32, which compute in their own type, with those of int64, whose lower half
// they must be.
func TestReduceInt32(t *testing.T) {
	for _, shape := range [][]int{{1}, {5000}, {60, 7}, {7, 60}, {9, 8, 10}} {
		n := 1
		for _, s := range shape {
			n *= s
		}
		for dim := range shape {
			flat := indices(n, shape[dim]).View(shape)
			list := indices(shape[dim], shape[dim])
			for _, how := range []string{"sum", "prod", "amax", "amin", "mean"} {
				scale := 1 << 40
				if how == "mean" {
					scale = 1000 // their sums wrap
				}
				big := opstest.Fill(tensor.Float64, 1, n).MulScalar(scale).ToDType(tensor.Int64)
				self := big.View(shape).ToDType(tensor.Int32)
				src := big.Flip([]int{0}).View(shape).ToDType(tensor.Int32)
				for _, include := range []bool{false, true} {
					for layout, x := range map[string]*tensor.Tensor{"contiguous": flat,
						"permuted": flat.Transpose(0, -1).Contiguous().Transpose(0, -1)} {
						a := self.ScatterReduce(dim, x, src, how, tensor.ScatterReduceOptions{NoIncludeSelf: !include})
						b := self.ToDType(tensor.Int64).ScatterReduce(dim, x, src.ToDType(tensor.Int64), how,
							tensor.ScatterReduceOptions{NoIncludeSelf: !include})
						if !a.Equal(b.ToDType(tensor.Int32)) {
							t.Errorf("scatter_reduce %s of %v along %d, %s index, with self %v", how, shape, dim,
								layout, include)
						}
					}
					if how == "sum" {
						continue
					}
					a := self.IndexReduce(dim, list, src, how, tensor.IndexReduceOptions{NoIncludeSelf: !include})
					b := self.ToDType(tensor.Int64).IndexReduce(dim, list, src.ToDType(tensor.Int64), how,
						tensor.IndexReduceOptions{NoIncludeSelf: !include})
					if !a.Equal(b.ToDType(tensor.Int32)) {
						t.Errorf("index_reduce %s of %v along %d, with self %v", how, shape, dim, include)
					}
				}
			}
		}
	}
}

// TestAccumulateInt32 compares index_put with accumulate and the gradient of an embedding of int32 with those of int64.
func TestAccumulateInt32(t *testing.T) {
	for _, n := range []int{1, 3, 40, 5000} {
		for _, cols := range []int{1, 2, 7} {
			ix := indices(n, 5)
			v := opstest.Fill(tensor.Float64, 2, n, cols).MulScalar(1 << 33).ToDType(tensor.Int64)
			self := opstest.Fill(tensor.Float64, 3, 5, cols).MulScalar(100).ToDType(tensor.Int64)
			put := func(dt tensor.DType) *tensor.Tensor {
				return self.ToDType(dt).IndexPut([]*tensor.Tensor{ix}, v.ToDType(dt),
					tensor.IndexPutOptions{Accumulate: true})
			}
			if a, b := put(tensor.Int32), put(tensor.Int64).ToDType(tensor.Int32); !a.Equal(b) {
				t.Errorf("index_put of %d rows of %d: %v, expected %v", n, cols, a, b)
			}
			grad := func(dt tensor.DType) *tensor.Tensor {
				return op.Call1("aten::embedding_dense_backward", v.ToDType(dt), ix, 5, -1, false)
			}
			if a, b := grad(tensor.Int32), grad(tensor.Int64).ToDType(tensor.Int32); !a.Equal(b) {
				t.Errorf("embedding_dense_backward of %d rows of %d: %v, expected %v", n, cols, a, b)
			}
		}
	}
}
