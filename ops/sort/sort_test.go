package sort_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/opstest"
	_ "github.com/gotorch-dev/torch/ops/all"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

type T = tensor.Tensor

func TestGradients(t *testing.T) {
	x := opstest.Fill(tensor.Float64, 1, 3, 4, 5)
	values := func(v, _ *T) *T { return v }
	for dim := range 3 {
		d := tensor.Some(dim)
		for name, f := range map[string]func(x []*T) *T{
			"sort": func(x []*T) *T { return values(x[0].Sort(tensor.SortOptions{Dim: d})) },
			"sort descending": func(x []*T) *T {
				return values(x[0].Sort(tensor.SortOptions{Dim: d,
					Descending: true}))
			},
			"topk":     func(x []*T) *T { return values(x[0].TopK(2, tensor.TopKOptions{Dim: d})) },
			"kthvalue": func(x []*T) *T { return values(x[0].Kthvalue(2, tensor.KthvalueOptions{Dim: d})) },
			"median":   func(x []*T) *T { return values(x[0].MedianDim(dim)) },
		} {
			opstest.GradCheck(t, fmt.Sprintf("%s over %d", name, dim), f, x)
		}
	}
}

// TestOrder checks equal elements, which keep their order, and NaN, which counts as the largest.
func TestOrder(t *testing.T) {
	x := tensor.FromSlice([]float64{2, math.NaN(), 1, 2, math.Inf(1), 1}, 6)
	for _, c := range []struct {
		descending bool
		want       []int64
	}{{false, []int64{2, 5, 0, 3, 4, 1}}, {true, []int64{1, 4, 0, 3, 2, 5}}} {
		_, at := x.SortStable(true, tensor.SortStableOptions{Descending: c.descending})
		if got := tensor.Data[int64](at); !slices.Equal(got, c.want) {
			t.Errorf("descending %v: order %v, want %v", c.descending, got, c.want)
		}
	}
}

// TestLong sorts and selects in lines that threads share, with equal elements, and compares with the library's stable
// sort.
func TestLong(t *testing.T) {
	const n = 200_003
	noise := tensor.Data[float64](opstest.Fill(tensor.Float64, 1, n))
	for name, f := range map[string]func(v float64) float64{
		"many": func(v float64) float64 { return v * 1e5 }, "few": func(v float64) float64 { return math.Round(v * 3) },
		"one":    func(float64) float64 { return 7 },
		"skewed": func(v float64) float64 { return math.Trunc(v*1e3) * math.Trunc(v*1e3) * 1e3 },
	} {
		vals := make([]float64, n)
		for i, v := range noise {
			vals[i] = f(v)
		}
		for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int64, tensor.Int32} {
			x := tensor.FromSlice(vals, n).ToDType(dt)
			list := tensor.Data[float64](x.ToDType(tensor.Float64))
			want := make([]int64, n)
			for i := range want {
				want[i] = int64(i)
			}
			slices.SortStableFunc(want, func(a, b int64) int { return cmp.Compare(list[a], list[b]) })
			opstest.SameBits(t, name, func() []*T {
				v, at := x.Sort()
				kth, kthAt := x.Kthvalue(n / 3)
				top, topAt := x.TopK(n / 4)
				if got := tensor.Data[int64](at); !slices.Equal(got, want) {
					t.Errorf("%s %v: wrong order", name, dt)
				}
				if k := tensor.Data[float64](kth.Reshape([]int{1}).ToDType(tensor.Float64))[0]; k != list[want[n/3-1]] {
					t.Errorf("%s %v: kthvalue %v, want %v", name, dt, k, list[want[n/3-1]])
				}
				return []*T{v, at, kth, kthAt, top, topAt, x.Median()}
			})
			if m, w := tensor.Data[float64](x.Median().Reshape([]int{1}).ToDType(tensor.Float64))[0], list[want[(n-1)/2]]; m != w {
				t.Errorf("%s %v: median %v, want %v", name, dt, m, w)
			}
			top, _ := x.TopK(n / 4)
			for i, v := range tensor.Data[float64](top.ToDType(tensor.Float64)) {
				if w := list[want[n-1-i]]; v != w {
					t.Fatalf("%s %v: element %d from the top %v, want %v", name, dt, i, v, w)
				}
			}
		}
	}
}

// Sort gives the sorted elements and where they were.
func Example() {
	values, indices := tensor.FromSlice([]float32{3, 1, 2}, 3).Sort()
	fmt.Println(tensor.Data[float32](values), tensor.Data[int64](indices))
	// Output: [1 2 3] [1 2 0]
}

// Boundaries that are NaN, values that are, and boundaries that are not sorted: all is looked at in
// PyTorch's order. The figures are PyTorch's.
func TestSearchOddities(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		seq, vals   []float64
		left, right []int64
	}{
		{[]float64{-1, 0, 2, nan, nan}, []float64{-2, 0, math.Copysign(0, -1), 2, nan}, []int64{0, 1, 1, 2, 5},
			[]int64{0, 2, 2, 5, 5}},
		{[]float64{3, 1, 2, 5, 4}, []float64{0, 2, 4.5}, []int64{0, 2, 5}, []int64{0, 3, 5}},
	} {
		for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64} {
			seq, vals := torch.FromSlice(c.seq, len(c.seq)).To(dt), torch.FromSlice(c.vals, len(c.vals)).To(dt)
			for right, want := range map[bool][]int64{false: c.left, true: c.right} {
				if got := tensor.Data[int64](torch.Searchsorted(seq, vals,
					torch.SearchsortedOptions{Right: right})); !slices.Equal(got, want) {
					t.Errorf("%v in %v, right %v: %v, want %v", c.vals, c.seq, right, got, want)
				}
			}
		}
	}
}

// TestSearchInts compares places of integers of all types with a count, in one row and in one for each row of values,
// many of few values and few of many, sorted through a permutation, too, and in no order.
func TestSearchInts(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	for _, dt := range []tensor.DType{tensor.Uint8, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64} {
		for _, span := range []int{1, 7, 100, 1 << 40} {
			for _, n := range []int{0, 1, 2, 9, 300} {
				for _, per := range []int{0, 1, 7, 8, 9, 600, 1500} {
					number := func() int64 {
						v := int64(r.Intn(span))
						if dt == tensor.Int64 && span > 1000 && r.Intn(8) == 0 {
							v = []int64{math.MinInt64, math.MaxInt64}[r.Intn(2)]
						}
						return v
					}
					seq, vals := make([]int64, 2*n), make([]int64, 2*per)
					for i := range seq {
						seq[i] = number()
					}
					for i := range vals {
						vals[i] = number()
					}
					list := func(v []int64, shape ...int) *T { return tensor.FromSlice(v, shape...).ToDType(dt) }
					unsorted := list(seq, 2, n)
					sorted, order := unsorted.SortStable(true)
					x := list(vals, 2, per)
					for _, right := range []bool{false, true} {
						got := torch.Searchsorted(sorted, x, torch.SearchsortedOptions{Right: right})
						permuted := torch.Searchsorted(unsorted, x,
							torch.SearchsortedOptions{Right: right, Sorter: order})
						one := torch.Searchsorted(sorted.Select(0, 1), x, torch.SearchsortedOptions{Right: right})
						var want, wantOne []int64
						s, v := tensor.Data[int64](sorted.ToDType(tensor.Int64)),
							tensor.Data[int64](x.ToDType(tensor.Int64))
						for i, v := range v {
							for _, w := range []struct {
								to  *[]int64
								row []int64
							}{{&want, s[i/per*n:][:n]}, {&wantOne, s[n:]}} {
								k := int64(0)
								for _, b := range w.row {
									if b < v || right && b == v {
										k++
									}
								}
								*w.to = append(*w.to, k)
							}
						}
						if !slices.Equal(tensor.Data[int64](got), want) ||
							!slices.Equal(tensor.Data[int64](permuted), want) ||
							!slices.Equal(tensor.Data[int64](one), wantOne) {
							t.Fatalf("%v, %d boundaries, %d values below %d, right %v: wrong places", dt, n, per, span,
								right)
						}
					}
				}
			}
		}
	}
	// no order: what PyTorch's bisection comes to does not depend on how many values there are
	seq := tensor.FromSlice([]int64{5, 1, 4, 2, 8, 3}, 6)
	few, many := torch.Arange(10), torch.Arange(10).Repeat([]int{20})
	for _, right := range []bool{false, true} {
		a := torch.Searchsorted(seq, few, torch.SearchsortedOptions{Right: right}).Repeat([]int{20})
		if b := torch.Searchsorted(seq, many, torch.SearchsortedOptions{Right: right}); !a.Equal(b) {
			t.Errorf("right %v: %v, want %v", right, b, a)
		}
	}
}

// TestUniqueInts compares the distinct integers of all types with a sorted list, close together and far apart.
func TestUniqueInts(t *testing.T) {
	r := rand.New(rand.NewSource(8))
	for _, dt := range []tensor.DType{tensor.Bool, tensor.Uint8, tensor.Int8, tensor.Int16, tensor.Int32,
		tensor.Int64} {
		for _, span := range []uint64{1, 2, 100, 1 << 14, 1 << 31, 1 << 50, 0} {
			for _, n := range []int{0, 1, 2, 17, 300, 5000, 100_000} {
				l := make([]int64, n)
				for i := range l {
					l[i] = int64(r.Uint64())
					if span > 0 {
						l[i] = int64(r.Uint64()%span) - int64(span/2)
					}
				}
				x := tensor.FromSlice(l, n).ToDType(dt)
				want := slices.Clone(tensor.Data[int64](x.ToDType(tensor.Int64)))
				slices.Sort(want)
				want = slices.Compact(want)
				got, _, _ := x.Unique()
				if got.DType() != dt || !slices.Equal(tensor.Data[int64](got.ToDType(tensor.Int64)), want) {
					t.Fatalf("%v, %d of span %d: wrong numbers", dt, n, span)
				}
			}
		}
	}
}

// TestHistc16 checks that the bins of 16-bit floats are those that arithmetic in their type finds.
func TestHistc16(t *testing.T) {
	for _, dt := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
		x := opstest.Fill(tensor.Float32, 1, 3000).MulScalar(3).ToDType(dt)
		const bins, lo, hi = 37, -2, 2.3
		want := make([]float64, bins)
		r := func(v float64) float64 { return half.Round(v, dt) }
		for _, v := range tensor.Data[float64](x.ToDType(tensor.Float64)) {
			if v >= lo && v <= r(hi) {
				want[min(bins-1, int(r(r(r(v-lo)*bins)/r(r(hi)-lo))))]++
			}
		}
		got := op.Call1("aten::histc", x, bins, lo, hi)
		if !got.Equal(tensor.FromSlice(want).ToDType(dt)) {
			t.Errorf("%v: %v, want %v", dt, got, want)
		}
	}
}

// TestWholeRange sorts lines whose largest and smallest elements lie further apart than a float of their type can say,
// which keeps them from being spread over buckets by their distance.
func TestWholeRange(t *testing.T) {
	const n = 50_000
	noise := tensor.Data[float64](opstest.Fill(tensor.Float64, 3, n)) // between -1.2 and 1.2
	wide, wide32 := make([]float64, n), make([]float32, n)
	for i, v := range noise {
		wide[i], wide32[i] = v/1.2*math.MaxFloat64, float32(v/1.2*math.MaxFloat32)
	}
	check := func(name string, got, want *T) {
		if !got.Equal(want) {
			t.Errorf("%s: not in order", name)
		}
	}
	for _, descending := range []bool{false, true} {
		got, _ := tensor.FromSlice(wide).Sort(tensor.SortOptions{Descending: descending})
		got32, _ := tensor.FromSlice(wide32).Sort(tensor.SortOptions{Descending: descending})
		want, want32 := slices.Sorted(slices.Values(wide)), slices.Sorted(slices.Values(wide32))
		if descending {
			slices.Reverse(want)
			slices.Reverse(want32)
		}
		check("float64", got, tensor.FromSlice(want))
		check("float32", got32, tensor.FromSlice(want32))
	}
}
