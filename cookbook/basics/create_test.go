package basics_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch"
)

// The first check after an installation. The same seed gives PyTorch's numbers, and a tensor prints as in Python.
func Example() {
	torch.ManualSeed(0)
	fmt.Println(torch.Rand([]int{5, 3}))
	// Output:
	// tensor([[0.4963, 0.7682, 0.0885],
	//         [0.1320, 0.3074, 0.6341],
	//         [0.4901, 0.8964, 0.4556],
	//         [0.6323, 0.3489, 0.4017],
	//         [0.0223, 0.1689, 0.2939]])
}

// A tensor of nested lists: the elements in a row, then the shape. The Go type decides the dtype.
func Example_fromSlice() {
	x := torch.FromSlice([]int64{1, 2, 3, 4}, 2, 2)
	fmt.Println(x, x.DType(), torch.Size(x.Shape()))
	// Output:
	// tensor([[1, 2],
	//         [3, 4]]) torch.int64 torch.Size([2, 2])
}

// What numpy() and from_numpy() do with shared memory, Data does: writing to the slice shows in the tensor. A tensor
// that requires grad need not be detached first.
func Example_sharedMemory() {
	x := torch.Zeros([]int{2, 2})
	s := torch.Data[float32](x)
	s[3] = 99
	fmt.Println(x)
	// Output:
	// tensor([[ 0.,  0.],
	//         [ 0., 99.]])
}

func TestLikeAnother(t *testing.T) {
	x := torch.FromSlice([]int64{1, 2, 3, 4}, 2, 2)
	if dt := torch.OnesLike(x).DType(); dt != torch.Int64 {
		t.Errorf("ones_like: %s", dt)
	}
	if dt := torch.ZerosLike(x).DType(); dt != torch.Int64 {
		t.Errorf("zeros_like: %s", dt)
	}
	if dt := torch.Zeros([]int{2, 2}).DType(); dt != torch.Float32 {
		t.Errorf("zeros: %s", dt)
	}
	n := x.NewOnes([]int{2, 3}) // x.new_ones(2, 3): x's dtype, a size of its own
	shaped(t, n, 2, 3)
	near(t, n, 1, 1, 1, 1, 1, 1)
	if n.DType() != torch.Int64 {
		t.Errorf("new_ones: %s", n.DType())
	}
}

func TestConstructors(t *testing.T) {
	shaped(t, torch.Empty([]int{2, 3}), 2, 3)
	torch.ManualSeed(0)
	near(t, torch.Randn([]int{2, 3}), 1.5410, -0.2934, -2.1788, 0.5684, -1.0845, -1.3986)
}

// The generator on the CPU is PyTorch's: each of these follows a fresh seed.
func TestSeed(t *testing.T) {
	torch.ManualSeed(0)
	near(t, torch.Rand([]int{5}), 0.4963, 0.7682, 0.0885, 0.1320, 0.3074)
	torch.ManualSeed(0)
	near(t, torch.Randn([]int{3}), 1.5410, -0.2934, -2.1788)
	torch.ManualSeed(0)
	near(t, torch.Randperm(10), 4, 1, 7, 5, 3, 9, 0, 8, 6, 2)
	near(t, torch.Randint(100, []int{5}), 83, 1, 66, 56, 99)

	torch.ManualSeed(0)
	if v := torch.Rand([]int{1}).Item(); v != 0.49625658988952637 {
		t.Errorf("item %v", v)
	}
}

// The same seed gives the same bytes, whatever the number of threads.
func TestSameBitsAtAnyThreadCount(t *testing.T) {
	old := torch.NumThreads()
	defer torch.SetNumThreads(old)
	run := func(threads int) []float32 {
		torch.SetNumThreads(threads)
		if n := torch.NumThreads(); n != threads {
			t.Fatalf("%d threads, want %d", n, threads)
		}
		torch.ManualSeed(0)
		x := torch.Randn([]int{300, 200})
		return torch.Data[float32](x.MM(x.T()).Sum().Reshape([]int{1}))
	}
	if a, b := run(1), run(3); !slices.Equal(a, b) {
		t.Errorf("1 thread: %v, 3 threads: %v", a, b)
	}
}

func TestDefaultDType(t *testing.T) {
	if dt := torch.DefaultDType(); dt != torch.Float32 {
		t.Fatalf("default %s", dt)
	}
	torch.SetDefaultDType(torch.Float64) // set_default_tensor_type(torch.DoubleTensor) is the old way to say it
	defer torch.SetDefaultDType(torch.Float32)
	if dt := torch.Full([]int{}, 1.0).DType(); dt != torch.Float64 {
		t.Errorf("a float is now %s", dt)
	}
}

// NumPy's old stream (np.random.seed, np.random.rand) comes from the same generator: a number takes 27 bits of one
// draw, 26 of the next.
func TestNumPysNumbers(t *testing.T) {
	g := torch.NewGenerator().ManualSeed(0) // np.random.seed(0)
	rand := func() float64 {
		u := g.Uint64()
		return float64(u>>37<<26|u<<32>>38) / (1 << 53)
	}
	near(t, torch.TensorOf(rand(), rand(), rand()), 0.5488135, 0.71518937, 0.60276338)
}
