package optcheck

import (
	"fmt"
	"math"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/tensor"
)

// problem is a function of parameters with its gradient, worked out in float64.
type problem struct {
	params []*tensor.Tensor
	sparse bool // gradients list the rows that are not zero
	loss   func(step int) (float64, [][]float64)
}

func newProblem(d *golden.Decoder, name string, dt tensor.DType) (*problem, error) {
	p := &problem{}
	load := func(key string) ([]float64, []int, error) {
		t, err := d.Array("init." + key)
		if err != nil {
			return nil, nil, err
		}
		return tensor.Data[float64](tensor.DenseAs(t, tensor.Float64)), t.Shape(), nil
	}
	var names []string
	switch name {
	case "mlp":
		names = []string{"w1", "b1", "w2", "b2"}
	case "emb":
		names = []string{"emb"}
	case "rosen":
		names = []string{"rosen"}
	default:
		return nil, golden.Skip("unknown problem " + name)
	}
	for _, n := range names {
		v, shape, err := load(n)
		if err != nil {
			return nil, err
		}
		t := tensor.FromSlice(v, shape...).To(dt).To(golden.Device)
		p.params = append(p.params, t.SetRequiresGrad(true))
	}
	value := func(i int) []float64 {
		return tensor.Data[float64](tensor.DenseAs(p.params[i].Detach().CPU(), tensor.Float64))
	}
	switch name {
	case "mlp":
		x, xs, err := load("x")
		if err != nil {
			return nil, err
		}
		y, _, err := load("y")
		if err != nil {
			return nil, err
		}
		p.loss = func(int) (float64, [][]float64) {
			return mlp(x, y, xs[0], xs[1], p.params[0].Size(0), p.params[2].Size(0), value(0), value(1), value(2),
				value(3))
		}
	case "emb":
		idx, is, err := load("emb_idx")
		if err != nil {
			return nil, err
		}
		target, ts, err := load("emb_target")
		if err != nil {
			return nil, err
		}
		n, dim := is[1], ts[2]
		p.sparse = true
		p.loss = func(step int) (float64, [][]float64) {
			e, g, sum := value(0), make([]float64, p.params[0].Numel()), 0.0
			for i := range n {
				row := int(idx[step*n+i])
				for j := range dim {
					diff := e[row*dim+j] - target[(step*n+i)*dim+j]
					sum += diff * diff
					g[row*dim+j] += 2 * diff / float64(n*dim)
				}
			}
			return sum / float64(n*dim), [][]float64{g}
		}
	case "rosen":
		p.loss = func(int) (float64, [][]float64) {
			v, sum := value(0), 0.0
			g := make([]float64, len(v))
			for i := range len(v) - 1 {
				a, b := v[i+1]-v[i]*v[i], 1-v[i]
				sum += 100*a*a + b*b
				g[i+1] += 200 * a
				g[i] += -400*a*v[i] - 2*b
			}
			return sum, [][]float64{g}
		}
	}
	if p.loss == nil {
		return nil, fmt.Errorf("problem %s has no loss", name)
	}
	return p, nil
}

// mlp is cross_entropy(tanh(x·w1ᵀ+b1)·w2ᵀ+b2, y) and its gradients.
func mlp(x, y []float64, rows, in, hidden, classes int, w1, b1, w2, b2 []float64) (float64, [][]float64) {
	g1, gb1, g2, gb2 := make([]float64, len(w1)), make([]float64, len(b1)), make([]float64, len(w2)),
		make([]float64, len(b2))
	loss := 0.0
	h, z, dz := make([]float64, hidden), make([]float64, classes), make([]float64, classes)
	for r := range rows {
		xr := x[r*in : (r+1)*in]
		for k := range h {
			s := b1[k]
			for i, v := range xr {
				s += v * w1[k*in+i]
			}
			h[k] = math.Tanh(s)
		}
		most := math.Inf(-1)
		for c := range z {
			s := b2[c]
			for k, v := range h {
				s += v * w2[c*hidden+k]
			}
			z[c] = s
			most = max(most, s)
		}
		sum := 0.0
		for _, v := range z {
			sum += math.Exp(v - most)
		}
		label := int(y[r])
		loss += most + math.Log(sum) - z[label]
		for c, v := range z {
			dz[c] = math.Exp(v-most) / sum
			if c == label {
				dz[c]--
			}
			dz[c] /= float64(rows)
			gb2[c] += dz[c]
		}
		for k, v := range h {
			d := 0.0
			for c := range dz {
				g2[c*hidden+k] += dz[c] * v
				d += dz[c] * w2[c*hidden+k]
			}
			d *= 1 - v*v
			gb1[k] += d
			for i, xv := range xr {
				g1[k*in+i] += d * xv
			}
		}
	}
	return loss / float64(rows), [][]float64{g1, gb1, g2, gb2}
}
