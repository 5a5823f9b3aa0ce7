package torch_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// oversized calls operators with a size that the program chose: n elements along a dimension, or values from which the
// operator finds out that it needs so many.
func oversized(n int) map[string]func() {
	one := torch.Ones([]int{1})
	long := torch.TensorOf(int64(n))
	image := torch.Ones([]int{1, 1, 2, 2})
	line := torch.Ones([]int{1, 1, 2})
	side := max(int(math.Sqrt(float64(n)/2)), 1)
	type v = tensor.Value
	i, is, t, f, b := tensor.IntValue, tensor.IntsValue, tensor.TensorValue, tensor.FloatValue, tensor.BoolValue
	call := func(op string, args ...v) func() {
		return func() {
			if _, err := tensor.CallOp(op, args...); err != nil {
				panic(err)
			}
		}
	}
	m := map[string]func(){
		"zeros":                     func() { torch.Zeros([]int{n}) },
		"zeros of two":              func() { torch.Zeros([]int{n / 4, 4}) },
		"new":                       func() { tensor.New([]int{n}, tensor.Float32) },
		"expand contiguous":         func() { one.Expand([]int{n}).Contiguous() },
		"expand add":                func() { one.Expand([]int{n}).Add(one) },
		"out=":                      call("aten::add.out", t(one.Expand([]int{n})), t(one), i(1), t(torch.Ones([]int{1}))),
		"arange float":              call("aten::arange", f(float64(n))),
		"arange start":              call("aten::arange.start_step", f(0), f(1), f(1/float64(n))),
		"randperm":                  call("aten::randperm", i(n)),
		"one_hot":                   call("aten::one_hot", t(long), i(-1)),
		"one_hot of classes":        call("aten::one_hot", t(torch.TensorOf[int64](1)), i(n)),
		"repeat_interleave":         call("aten::repeat_interleave.self_int", t(one), i(n)),
		"repeat_interleave.Tensor":  call("aten::repeat_interleave.Tensor", t(long)),
		"repeat_interleave by list": call("aten::repeat_interleave.self_Tensor", t(one), t(long)),
		"bincount minlength":        call("aten::bincount", t(torch.TensorOf[int64](1)), tensor.Value{}, i(n)),
		"bincount weights":          call("aten::bincount", t(long), t(one)),
		"cartesian_prod": call("aten::cartesian_prod", tensor.TensorsValue([]*tensor.Tensor{
			one.Expand([]int{side}), one.Expand([]int{2 * side})})),
		"combinations":        call("aten::combinations", t(one.Expand([]int{2 * side}))),
		"combinations repeat": call("aten::combinations", t(one.Expand([]int{2 * side})), i(2), b(true)),
		"multinomial":         call("aten::multinomial", t(torch.Ones([]int{3})), i(n), b(true)),
		"empty_strided":       call("aten::empty_strided", is([]int{2, 2}), is([]int{n, 1})),
		"resize_":             call("aten::resize_", t(torch.Ones([]int{1})), is([]int{n})),
		"constant_pad_nd":     call("aten::constant_pad_nd", t(one), is([]int{0, n})),
		"replicate_pad":       call("aten::replication_pad1d", t(line), is([]int{0, n})),
		"upsample_nearest1d":  call("aten::upsample_nearest1d", t(line), is([]int{n})),
		"upsample_nearest2d":  call("aten::upsample_nearest2d", t(image), is([]int{2, n})),
		"upsample_bilinear2d": call("aten::upsample_bilinear2d", t(image), is([]int{n, 2}), b(false)),
		"upsample_bicubic2d":  call("aten::upsample_bicubic2d", t(image), is([]int{2, n}), b(false)),
		"upsample aa":         call("aten::_upsample_bilinear2d_aa", t(image), is([]int{2, n}), b(false)),
		"adaptive_avg_pool1d": call("aten::adaptive_avg_pool1d", t(line), is([]int{n})),
		"adaptive_avg_pool2d": call("aten::adaptive_avg_pool2d", t(image), is([]int{2, n})),
		"adaptive_max_pool2d": call("aten::adaptive_max_pool2d", t(image), is([]int{n, 2})),
		"adaptive_avg_pool3d": call("aten::adaptive_avg_pool3d", t(torch.Ones([]int{1, 1, 2, 2, 2})),
			is([]int{1, 1, n})),
		"max_unpool2d": call("aten::max_unpool2d", t(image), t(torch.ZerosLike(image.To(tensor.Int64))),
			is([]int{2, n})),
		"nonzero_static": call("aten::nonzero_static", t(one), i(n)),
		"im2col": call("aten::im2col", t(image), is([]int{1, 1}), is([]int{1, 1}), is([]int{0, n / 4}),
			is([]int{1, 1})),
		"diag_embed": call("aten::diag_embed", t(one), i(4*side)),
		"conv_transpose1d": call("aten::conv_transpose1d", t(line), t(torch.Ones([]int{1, 1, 1})), v{}, is([]int{n}),
			is([]int{0}), is([]int{0})),
		"convolution padding": call("aten::convolution", t(line), t(torch.Ones([]int{1, 1, 1})), v{}, is([]int{1}),
			is([]int{n}), is([]int{1}), b(false), is([]int{0}), i(1)),
		"kron":      call("aten::kron", t(one.Expand([]int{side})), t(one.Expand([]int{2 * side}))),
		"outer":     call("aten::outer", t(one.Expand([]int{side})), t(one.Expand([]int{2 * side}))),
		"cdist":     call("aten::cdist", t(one.Expand([]int{side, 1})), t(one.Expand([]int{2 * side, 1})), f(1)),
		"pdist":     call("aten::pdist", t(one.Expand([]int{2 * side, 1}))),
		"mm":        call("aten::mm", t(one.Expand([]int{side, 1})), t(one.Expand([]int{1, 2 * side}))),
		"embedding": call("aten::embedding", t(torch.Ones([]int{1, 4})), t(torch.TensorOf[int64](0).Expand([]int{n}))),
		"sort":      call("aten::sort", t(one.Expand([]int{n}))),
		"unique":    call("aten::_unique2", t(one.Expand([]int{n}))),
		"cumsum":    call("aten::cumsum", t(one.Expand([]int{n})), i(0)),
		"softmax":   call("aten::softmax.int", t(one.Expand([]int{n})), i(0)),
		"flip":      call("aten::flip", t(one.Expand([]int{n})), is([]int{0})),
		"cat":       call("aten::cat", tensor.TensorsValue([]*tensor.Tensor{one.Expand([]int{n}), one})),
		"masked":    call("aten::masked_fill.Scalar", t(one.Expand([]int{n})), t(one.To(tensor.Bool)), f(1)),
	}
	m["bincount"], m["histc"] = call("aten::bincount", t(long)), call("aten::histc", t(one), i(n))
	m["eye"] = call("aten::eye", i(2*side))
	for _, op := range []string{"tril_indices", "triu_indices"} {
		m[op] = call("aten::"+op, i(2*side), i(2*side))
	}
	m["arange"] = call("aten::arange", i(n))
	for _, op := range []string{"linspace", "logspace"} {
		m[op] = call("aten::"+op, i(0), i(1), i(n))
	}
	for _, op := range []string{"rand", "randn", "ones"} {
		m[op] = call("aten::"+op, is([]int{n}))
	}
	for _, op := range []string{"repeat", "tile"} {
		m[op] = call("aten::"+op, t(one), is([]int{n}))
	}
	m["full"], m["randint"] = call("aten::full", is([]int{n}), i(1)), call("aten::randint", i(9), is([]int{n}))
	return m
}

// A tensor that memory does not suffice for is an error that names its size, and nothing of that size is allocated
// before: neither where the machine's memory is exceeded by far nor where a small limit is.
func TestOutOfMemory(t *testing.T) {
	for _, c := range []struct {
		name  string
		n     int
		limit int
	}{{"terabytes", 1 << 42, 0}, {"limit", 1 << 26, 32 << 20}} {
		t.Run(c.name, func(t *testing.T) {
			calls := oversized(c.n)
			if c.limit > 0 {
				torch.EmptyCache()
				old := torch.SetMemoryLimit(torch.MemoryStats().Allocated + c.limit)
				defer torch.SetMemoryLimit(old)
			}
			for name, f := range calls {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				err := torch.Try(f)
				runtime.ReadMemStats(&after)
				var e *tensor.Error
				switch {
				case !errors.Is(err, tensor.ErrMemory) || !errors.As(err, &e):
					t.Errorf("%s: %v, want an error of ErrMemory", name, err)
				case !strings.HasPrefix(e.Msg, "DefaultCPUAllocator: can't allocate memory: you tried to allocate "):
					t.Errorf("%s: %v", name, err)
				case after.TotalAlloc-before.TotalAlloc > 33<<20:
					t.Errorf("%s: %d MiB allocated before", name, (after.TotalAlloc-before.TotalAlloc)>>20)
				}
			}
		})
	}
}

// More elements than an int counts are PyTorch's errors, too; without elements there is nothing to allocate.
func TestSizeOverflow(t *testing.T) {
	big := 1 << 40
	for _, c := range []struct {
		f    func()
		want string
	}{
		{func() { torch.Zeros([]int{big, big}) },
			"Storage size calculation overflowed with sizes=[1099511627776, 1099511627776]"},
		{func() { torch.Zeros([]int{1 << 61}) }, "Storage size calculation overflowed with sizes=[2305843009213693952]"},
		{func() { torch.Ones([]int{1}).Expand([]int{big, big}) }, "numel: integer multiplication overflow"},
		{func() { torch.Ones([]int{4}).Repeat([]int{big, big}) }, "overflow"},
		{func() { torch.EmptyStrided([]int{2, 2}, []int{1 << 62, 1 << 62}) }, "Storage size calculation overflowed"},
		{func() { torch.Zeros([]int{1 << 60}) },
			"DefaultCPUAllocator: can't allocate memory: you tried to allocate 4611686018427387904 bytes"},
		{func() { torch.Zeros([]int{big}) }, "(tensor of shape [1099511627776] and dtype torch.float32)"},
		{func() { torch.Bincount(torch.FromSlice([]int64{1, math.MaxInt64})) }, "so many counts have no room"},
		{func() { torch.Zeros([]int{big, big, 0}) }, ""},
		{func() { torch.Zeros([]int{0, big, big}) }, ""},
	} {
		if err := torch.Try(c.f); c.want == "" && err != nil || c.want != "" &&
			(err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// A result that an out= tensor has no room for leaves that tensor as it was.
func TestOutOfMemoryKeepsOut(t *testing.T) {
	out := torch.FromSlice([]float32{1, 2, 3})
	one := tensor.TensorValue(torch.Ones([]int{1}).Expand([]int{1 << 42}))
	_, err := tensor.CallOp("aten::add.out", one, one, tensor.IntValue(1), tensor.TensorValue(out))
	if !errors.Is(err, tensor.ErrMemory) {
		t.Fatal(err)
	}
	want(t, out, 1, 2, 3)
}

func ExampleSetMemoryLimit() {
	old := torch.SetMemoryLimit(1 << 30)
	defer torch.SetMemoryLimit(old)
	err := torch.Try(func() { torch.Zeros([]int{1 << 20, 1 << 10}) })
	fmt.Println(errors.Is(err, tensor.ErrMemory))
	// Output: true
}
