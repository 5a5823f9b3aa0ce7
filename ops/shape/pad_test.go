package shape_test

import (
	"testing"

	_ "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// TestPadEntries compares paddings by a tensor's own entries with picking the entries one dimension after the other,
// and the gradients of both, in planes and channels-last memory, with negative sizes among them.
func TestPadEntries(t *testing.T) {
	pick := func(n, lo, hi int, mode string) *tensor.Tensor {
		var l []int64
		for i := -lo; i < n+hi; i++ {
			k := i
			switch mode {
			case "replicate":
				k = min(max(i, 0), n-1)
			case "reflect":
				if k = max(k, -k); k >= n {
					k = 2*(n-1) - k
				}
			default:
				k = (i + n) % n
			}
			l = append(l, int64(k))
		}
		return tensor.FromSlice(l)
	}
	for _, mode := range []string{"replicate", "reflect", "circular"} {
		pads := [][]int{{2, 1}, {0, 3, 1, 0}, {3, 3, 2, 2}, {1, 2, 2, 1, 1, 3}, {-1, 2, 1, -2}}
		if mode == "replicate" { // which can take away more than there is on one side
			pads = append(pads, []int{-6, 7}, []int{7, -6}, []int{-4, 1}, []int{9, -8, -7, 5})
		}
		for _, pad := range pads {
			if mode == "circular" && pad[0] < 0 {
				continue // what is cut does not come in at the other end
			}
			k := len(pad) / 2
			sh := []int{2, 3, 4, 5, 6}[:2+k]
			for _, last := range []bool{false, true} {
				for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Complex64,
					tensor.Int64, tensor.Uint8} {
					x := opstest.Fill(tensor.Float64, 3, sh...).MulScalar(50).ToDType(dt)
					if last && k > 1 {
						f := map[int]tensor.MemoryFormat{2: tensor.ChannelsLast, 3: tensor.ChannelsLast3d}[k]
						x = x.Contiguous(tensor.ContiguousOptions{MemoryFormat: f})
					}
					grad := !dt.IsInt()
					a, b := x.Clone(), x.Clone()
					if grad {
						a.SetRequiresGrad(true)
						b.SetRequiresGrad(true)
					}
					y, want := F.Pad(a, pad, F.PadOptions{Mode: mode}), b
					for i := range k {
						d := len(sh) - 1 - i
						want = want.IndexSelect(d, pick(sh[d], pad[2*i], pad[2*i+1], mode))
					}
					if !y.Equal(want) {
						t.Fatalf("%s %v %s last %v: other entries", mode, pad, dt, last)
					}
					if !grad {
						continue
					}
					ones := want.Detach().OnesLike()
					tensor.BackwardAll([]*tensor.Tensor{y, want}, []*tensor.Tensor{ones, ones},
						tensor.BackwardOptions{})
					if !a.Grad().Equal(b.Grad()) {
						t.Fatalf("%s %v %s last %v: other gradients", mode, pad, dt, last)
					}
				}
			}
		}
	}
	// A number around: against the same by hand.
	for _, pad := range [][]int{{1, 2}, {2, 0, 0, 3}, {-1, 2, 1, -2}, {1, 1, -1, 0, 2, 1}} {
		x := opstest.Fill(tensor.Float32, 5, 2, 3, 4, 5)
		for _, x := range []*tensor.Tensor{x, x.Contiguous(tensor.ContiguousOptions{MemoryFormat: tensor.ChannelsLast}),
			x.ToDType(tensor.BFloat16)} {
			y := F.Pad(x, pad, F.PadOptions{Value: tensor.Some(1.5)}).ToDType(tensor.Float64)
			lo := [4]int{}
			for i := range len(pad) / 2 {
				lo[3-i] = pad[2*i]
			}
			got, in := tensor.Data[float64](y.Contiguous()),
				tensor.Data[float64](x.ToDType(tensor.Float64).Contiguous())
			sh, at := y.Shape(), 0
			for a := range sh[0] {
				for b := range sh[1] {
					for c := range sh[2] {
						for d := range sh[3] {
							want, i := 1.5, [4]int{a - lo[0], b - lo[1], c - lo[2], d - lo[3]}
							if s := x.Shape(); min(i[0], i[1], i[2], i[3]) >= 0 && i[0] < s[0] && i[1] < s[1] &&
								i[2] < s[2] && i[3] < s[3] {
								want = in[((i[0]*s[1]+i[1])*s[2]+i[2])*s[3]+i[3]]
							}
							if got[at] != want {
								t.Fatalf("constant %v: element %d is %v, want %v", pad, at, got[at], want)
							}
							at++
						}
					}
				}
			}
		}
	}
	opstest.GradCheck(t, "pad", func(x []*tensor.Tensor) *tensor.Tensor {
		y := F.Pad(x[0], []int{2, 1, 1, 2}, F.PadOptions{Mode: "reflect"})
		return y.Mul(y)
	}, opstest.Fill(tensor.Float64, 1, 2, 3, 4, 5))
}
