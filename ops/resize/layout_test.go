package resize_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	"github.com/gotorch-dev/torch/internal/par"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// linear1 is output i of a row by the definition of linear interpolation.
func linear1(i, in, out int, align bool) (at int, w float64) {
	x := math.Max(0, float64(in)/float64(out)*(float64(i)+0.5)-0.5)
	if align {
		x = float64(i) * float64(in-1) / float64(max(out-1, 1))
	}
	at = min(int(x), in-1)
	return at, x - float64(at)
}

// TestLayouts compares images that are cut into pieces, of all types and in both memory formats, with the definition,
// and wants the same bits from any number of threads.
func TestLayouts(t *testing.T) {
	defer par.SetNumThreads(par.NumThreads())
	for _, size := range [][4]int{{1, 3, 200, 130}, {2, 16, 40, 50}, {1, 5, 9, 33}, {1, 1, 500, 90}} {
		for _, out := range [][]int{{size[2] * 2, size[3] * 2}, {size[2]/2 + 1, size[3] / 2},
			{size[2] / 5, size[3] * 3}} {
			for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Float16,
				tensor.Uint8} {
				for _, last := range []bool{false, true} {
					x := opstest.Fill(tensor.Float64, 1, size[0], size[1], size[2],
						size[3]).MulScalar(30).AddScalar(60).To(dt)
					if last {
						x = x.Contiguous(tensor.ContiguousOptions{MemoryFormat: tensor.ChannelsLast})
					}
					in := tensor.Data[float64](x.To(tensor.Float64).Contiguous())
					var first []float64
					for _, threads := range []int{1, 2, 3, 8} {
						par.SetNumThreads(threads)
						y := F.Interpolate(x, F.InterpolateOptions{Size: out, Mode: "bilinear"})
						got := tensor.Data[float64](y.To(tensor.Float64).Contiguous())
						if first == nil {
							first = append(first, got...)
						}
						for i := range got {
							if got[i] != first[i] {
								t.Fatalf("%v %v %s: element %d depends on the threads", size, out, dt, i)
							}
						}
					}
					tol := map[tensor.DType]float64{tensor.Float32: 1e-3, tensor.Float64: 1e-10, tensor.BFloat16: 1.5,
						tensor.Float16: 0.15, tensor.Uint8: 1.1}[dt]
					for i, got := range first {
						col, row, plane := i%out[1], i/out[1]%out[0], i/out[1]/out[0]
						h, wh := linear1(row, size[2], out[0], false)
						w, ww := linear1(col, size[3], out[1], false)
						at := func(h, w int) float64 {
							return in[(plane*size[2]+min(h, size[2]-1))*size[3]+min(w, size[3]-1)]
						}
						want := (1-wh)*((1-ww)*at(h, w)+ww*at(h, w+1)) + wh*((1-ww)*at(h+1, w)+ww*at(h+1, w+1))
						if !(math.Abs(got-want) <= tol) {
							t.Fatalf("%v %v %s, channels last %v: element %d is %v, want %v", size, out, dt, last, i,
								got, want)
						}
					}
				}
			}
		}
	}
}

// TestNearestPieces is the same for copies, on 1 to 3 dimensions.
func TestNearestPieces(t *testing.T) {
	defer par.SetNumThreads(par.NumThreads())
	for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Uint8} {
		for _, c := range []struct{ in, out []int }{{[]int{2, 3, 9000}, []int{20000}},
			{[]int{1, 3, 500, 300}, []int{700, 600}}, {[]int{1, 2, 20, 40, 50}, []int{40, 80, 25}}} {
			for _, last := range []bool{false, true} {
				x := opstest.Fill(tensor.Float64, 1, c.in...).MulScalar(30).AddScalar(60).To(dt)
				if n := len(c.in); last && n > 3 {
					x = x.Contiguous(tensor.ContiguousOptions{MemoryFormat: []tensor.MemoryFormat{tensor.ChannelsLast,
						tensor.ChannelsLast3d}[n-4]})
				}
				in := tensor.Data[float64](x.To(tensor.Float64).Contiguous())
				for _, threads := range []int{1, 3} {
					par.SetNumThreads(threads)
					got := tensor.Data[float64](F.Interpolate(x,
						F.InterpolateOptions{Size: c.out}).To(tensor.Float64).Contiguous())
					for i, v := range got {
						from, rest, step := 0, i, 1
						for d := len(c.out) - 1; d >= 0; d-- {
							at := int(float32(rest%c.out[d]) * (float32(c.in[d+2]) / float32(c.out[d])))
							from += min(at, c.in[d+2]-1) * step
							rest, step = rest/c.out[d], step*c.in[d+2]
						}
						if want := in[from+rest*step]; v != want {
							t.Fatalf("%s %s: element %d is %v, want %v", fmt.Sprint(c.in, c.out), dt, i, v, want)
						}
					}
				}
			}
		}
	}
}

// PyTorch's nearest mode heeds no scale along a dimension that keeps or doubles its size, in some of its kernels and in
// all gradients: i/1.09 and i/2.08 are not i and i/2 rounded down.
func TestNearestScale(t *testing.T) {
	for _, c := range []struct {
		shape []int
		last  bool
		heed  bool
	}{
		{[]int{2, 8, 11}, false, true},
		{[]int{2, 8, 3, 11}, false, false}, {[]int{2, 8, 3, 11}, true, false}, {[]int{2, 2, 3, 11}, true, false},
		{[]int{2, 8, 130, 11}, false, true}, {[]int{2, 8, 130, 11}, true, false}, {[]int{2, 2, 130, 11}, true, true},
		{[]int{2, 8, 2, 3, 11}, false, true}, {[]int{2, 8, 2, 3, 11}, true, false}, {[]int{2, 2, 2, 3, 11}, true, true},
	} {
		for _, scale := range []float64{1.09, 2.08} {
			n := 1
			for _, s := range c.shape {
				n *= s
			}
			data := make([]float32, n)
			for i := range data {
				data[i] = float32(i % 11)
			}
			x := tensor.FromSlice(data, c.shape...)
			if c.last && len(c.shape) == 4 {
				x = x.Contiguous(tensor.ContiguousOptions{MemoryFormat: tensor.ChannelsLast})
			} else if c.last {
				x = x.Contiguous(tensor.ContiguousOptions{MemoryFormat: tensor.ChannelsLast3d})
			}
			x.SetRequiresGrad(true)
			scales := slices.Repeat([]float64{1}, len(c.shape)-2)
			scales[len(scales)-1] = scale
			y := F.Interpolate(x, F.InterpolateOptions{ScaleFactor: scales})
			row := tensor.Data[float32](y.Detach().Contiguous())
			out := int(11 * scale)
			grad := make([]float32, 11)
			for i := range out {
				want := i * 11 / (out / 11 * 11)
				grad[want] += float32(n / 11)
				if c.heed {
					want = int(float64(i) / scale)
				}
				if row[i] != float32(want) {
					t.Errorf("%v, channels last %v, by %g: element %d is from %g, want %d", c.shape, c.last, scale, i,
						row[i], want)
				}
			}
			y.SumDim(nil).Backward()
			sums := make([]float32, 11)
			for i, g := range tensor.Data[float32](x.Grad().Contiguous()) {
				sums[i%11] += g
			}
			if !slices.Equal(sums, grad) {
				t.Errorf("%v, channels last %v, by %g: gradients %v, want %v", c.shape, c.last, scale, sums, grad)
			}
		}
	}
}
