package modcheck_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/conformance/modcheck"
	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/internal/shared"
	"github.com/gotorch-dev/torch/nn"
	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
)

type rngCase struct {
	Group, Case string
	Seed        int64
	Call        *struct {
		Kind, Fn, DType string
	}
	Module string
	Fn     string
	Args   json.RawMessage
	Kwargs json.RawMessage
	Shape  []int
	DType  string
	Out    []struct{ T, DType, Name string }
	State  struct {
		Left, Next int
		SHA256     string
	}
}

// plain reads JSON as Python's own values.
func plain(raw json.RawMessage) any {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil
	}
	return numbers(v)
}

func numbers(v any) any {
	switch x := v.(type) {
	case json.Number:
		if !strings.ContainsAny(x.String(), ".eE") {
			n, _ := x.Int64()
			return int(n)
		}
		f, _ := x.Float64()
		return f
	case []any:
		l := golden.Tuple{}
		for _, e := range x {
			l = append(l, numbers(e))
		}
		return l
	}
	return v
}

func loadRNG(t *testing.T, group string) ([]rngCase, *golden.Decoder) {
	dir := shared.Path(t, "golden/rng")
	raw, err := os.ReadFile(filepath.Join(dir, "rng.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index struct{ Cases []rngCase }
	if err := json.Unmarshal(raw, &index); err != nil {
		t.Fatal(err)
	}
	var out []rngCase
	for _, c := range index.Cases {
		if c.Group == group {
			out = append(out, c)
		}
	}
	d, err := golden.NewDecoder(filepath.Join(dir, "rng.npz"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return out, d
}

// TestInitialWeights compares the parameters of new layers bit for bit, and the generator's state afterwards.
func TestInitialWeights(t *testing.T) {
	cases, d := loadRNG(t, "init")
	ran := 0
	for _, c := range cases {
		if c.Module == "" {
			continue
		}
		ran++
		t.Run(fmt.Sprintf("%s/%d", c.Case, c.Seed), func(t *testing.T) {
			ctor := golden.Module{Cls: c.Module, Kwargs: map[string]any{}}
			if l, ok := plain(c.Args).(golden.Tuple); ok {
				ctor.Args = l
			}
			var kw map[string]json.RawMessage
			json.Unmarshal(c.Kwargs, &kw)
			for k, v := range kw {
				ctor.Kwargs[k] = plain(v)
			}
			rng.Default.ManualSeed(c.Seed)
			m, err := modcheck.Build(ctor)
			if err != nil {
				t.Fatal(err)
			}
			if lazy, ok := m.(nn.Lazy); ok { // the reference saw one input
				w, err := d.Array(c.Out[0].T)
				if err != nil {
					t.Fatal(err)
				}
				lazy.Materialize(tensor.New([]int{1, w.Size(1)}, tensor.Float32))
			}
			checkState(t, &c)
			sd := nn.StateDict(m)
			for _, o := range c.Out {
				want, err := d.Array(o.T)
				if err != nil {
					t.Fatal(err)
				}
				got := sd.Get(o.Name)
				if got == nil {
					t.Errorf("no %s", o.Name)
					continue
				}
				exact(t, o.Name, got, want, 0)
			}
		})
	}
	if ran < 60 {
		t.Errorf("only %d cases ran", ran)
	}
}

func checkState(t *testing.T, c *rngCase) {
	t.Helper()
	s := rng.Default.State()
	left := int(uint32(s[8]) | uint32(s[9])<<8)
	if left != c.State.Left {
		t.Errorf("generator has left=%d, want %d", left, c.State.Left)
	}
}

func exact(t *testing.T, name string, got, want *tensor.Tensor, tol float64) {
	t.Helper()
	g, w := tensor.Data[float64](tensor.DenseAs(got, tensor.Float64)),
		tensor.Data[float64](tensor.DenseAs(want, tensor.Float64))
	if len(g) != len(w) {
		t.Fatalf("%s has %d elements, want %d", name, len(g), len(w))
	}
	for i := range w {
		if d := g[i] - w[i]; d > tol || d < -tol {
			t.Fatalf("%s[%d] = %v, want %v", name, i, g[i], w[i])
		}
	}
}

// TestInitFunctions compares the functions of package nninit.
func TestInitFunctions(t *testing.T) {
	cases, d := loadRNG(t, "nn.init")
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s/%d", c.Case, c.Seed), func(t *testing.T) {
			dt := tensor.Float32
			if c.DType == "float64" || strings.HasSuffix(c.Case, "f64") {
				dt = tensor.Float64
			}
			x := tensor.New(c.Shape, dt)
			l, _ := plain(c.Args).(golden.Tuple)
			arg := func(i int, def float64) float64 {
				if i >= len(l) {
					return def
				}
				switch n := l[i].(type) {
				case int:
					return float64(n)
				case float64:
					return n
				}
				return def
			}
			kaiming := func() (o nninit.KaimingOptions) {
				o.A = arg(0, 0)
				if len(l) > 1 && l[1] == "fan_out" {
					o.Mode = nninit.FanOut
				}
				if len(l) > 2 {
					o.Nonlinearity, _ = l[2].(string)
				}
				return o
			}
			rng.Default.ManualSeed(c.Seed)
			tol := 0.0
			if dt == tensor.Float64 {
				tol = 1e-14 // the C library's last bit
			}
			switch c.Fn {
			case "uniform_":
				nninit.Uniform(x, arg(0, 0), arg(1, 1))
			case "normal_":
				nninit.Normal(x, arg(0, 0), arg(1, 1))
			case "constant_":
				nninit.Constant(x, arg(0, 0))
			case "ones_":
				nninit.Ones(x)
			case "zeros_":
				nninit.Zeros(x)
			case "eye_":
				nninit.Eye(x)
			case "dirac_":
				nninit.Dirac(x, nninit.DiracOptions{Groups: int(arg(0, 1))})
			case "xavier_uniform_":
				nninit.XavierUniform(x, nninit.XavierOptions{Gain: tensor.Some(arg(0, 1))})
			case "xavier_normal_":
				nninit.XavierNormal(x, nninit.XavierOptions{Gain: tensor.Some(arg(0, 1))})
			case "kaiming_uniform_":
				nninit.KaimingUniform(x, kaiming())
			case "kaiming_normal_":
				nninit.KaimingNormal(x, kaiming())
			case "orthogonal_":
				nninit.Orthogonal(x, nninit.OrthogonalOptions{Gain: tensor.Some(arg(0, 1))})
				tol = 1e-5
			case "sparse_":
				nninit.Sparse(x, arg(0, 0), nninit.SparseOptions{Std: tensor.Some(arg(1, 0.01))})
			case "trunc_normal_":
				nninit.TruncNormal(x, nninit.TruncNormalOptions{Mean: arg(0, 0), Std: tensor.Some(arg(1, 1)),
					A: tensor.Some(arg(2, -2)), B: tensor.Some(arg(3, 2))})
			default:
				t.Fatalf("no function %q", c.Fn)
			}
			checkState(t, &c)
			want, err := d.Array(c.Out[0].T)
			if err != nil {
				t.Fatal(err)
			}
			exact(t, c.Fn, x, want, tol)
		})
	}
}
