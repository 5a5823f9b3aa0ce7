package rng

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/internal/shared"
)

// array is an .npy array widened to float64 or, for integers, int64.
type array struct {
	f   []float64
	i   []int64
	raw []byte
}

var npyHeader = regexp.MustCompile(`'descr': *'(..)(\d+)'.*'fortran_order': *False`)

func parseNpy(b []byte) (array, error) {
	if len(b) < 10 || string(b[:6]) != "\x93NUMPY" {
		return array{}, fmt.Errorf("not an npy array")
	}
	n := int(binary.LittleEndian.Uint16(b[8:]))
	m := npyHeader.FindSubmatch(b[10 : 10+n])
	if m == nil {
		return array{}, fmt.Errorf("header %q", b[10:10+n])
	}
	width, _ := strconv.Atoi(string(m[2]))
	data := b[10+n:]
	le := binary.LittleEndian
	a := array{raw: data}
	kind := m[1][1]
	if kind == 'c' { // complex: its real slice
		kind, width = 'f', width/2
	}
	for ; len(data) >= width && width > 0; data = data[width:] {
		switch string(kind) + strconv.Itoa(width) {
		case "f8":
			a.f = append(a.f, math.Float64frombits(le.Uint64(data)))
		case "f4":
			a.f = append(a.f, float64(math.Float32frombits(le.Uint32(data))))
		case "f2":
			a.f = append(a.f, halfBits(le.Uint16(data)))
		case "i8", "u8":
			a.i = append(a.i, int64(le.Uint64(data)))
		case "i4":
			a.i = append(a.i, int64(int32(le.Uint32(data))))
		case "i2":
			a.i = append(a.i, int64(int16(le.Uint16(data))))
		case "i1":
			a.i = append(a.i, int64(int8(data[0])))
		case "u1", "b1":
			a.i = append(a.i, int64(data[0]))
		default:
			return a, fmt.Errorf("element type %s", m[0])
		}
	}
	return a, nil
}

func halfBits(h uint16) float64 {
	s, e, m := 1-2*float64(h>>15), int(h>>10&31), float64(h&1023)
	switch e {
	case 31:
		return s * math.Inf(1) // the data hold no NaN
	case 0:
		return s * math.Ldexp(m, -24)
	}
	return s * math.Ldexp(1024+m, e-25)
}

type goldenCase struct {
	Group string
	Case  string
	Seed  int64
	Out   []value
	State struct {
		Sha256      string
		Left, Next  int
		NormalValid int `json:"normal_valid"`
		Normal      float64
	}
	Call *struct {
		Kind, Fn, DType, View string
		Args                  []value
		Size                  []int
	}
}

// value is one encoded argument or result.
type value struct {
	T     string
	DType string
	Shape []int
	V     any
	F     any
	L     []value
}

func (v value) int() int64 {
	switch x := v.V.(type) {
	case json.Number:
		i, _ := x.Int64()
		return i
	case bool:
		if x {
			return 1
		}
	}
	return 0
}

func (v value) float() float64 {
	n, ok := v.F.(json.Number)
	if !ok {
		n, _ = v.V.(json.Number)
	}
	f, _ := n.Float64()
	return f
}

func (v value) numel() int { return prod(v.Shape) }

func prod(s []int) int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}

type golden struct {
	cases  []goldenCase
	arrays map[string]array
}

func loadGolden(t testing.TB) *golden {
	dir := shared.Path(t, "golden", "rng")
	b, err := os.ReadFile(filepath.Join(dir, "rng.json"))
	if err != nil {
		t.Skip(err)
	}
	var doc struct{ Cases []json.RawMessage }
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	gd := &golden{arrays: map[string]array{}}
	for _, raw := range doc.Cases {
		var head struct{ Group string }
		_ = json.Unmarshal(raw, &head)
		if head.Group != "basic" && head.Group != "state" && head.Group != "mix" {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		var c goldenCase
		if err := d.Decode(&c); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		gd.cases = append(gd.cases, c)
	}
	z, err := zip.OpenReader(filepath.Join(dir, "rng.npz"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			t.Fatal(err)
		}
		a, err := parseNpy(b)
		if err != nil {
			if strings.Contains(err.Error(), "header") {
				continue // an array of other groups
			}
			t.Fatalf("%s: %v", f.Name, err)
		}
		gd.arrays[strings.TrimSuffix(f.Name, ".npy")] = a
	}
	return gd
}

// memoryOrder returns, for each element in the order that it is filled in, its
// place in row-major order.
func memoryOrder(view string, size []int) []int {
	n := prod(size)
	order := make([]int, n)
	switch view {
	case "t": // the storage order of (r,c), seen as (c,r)
		for i := range order {
			order[i] = i%size[1]*size[0] + i/size[1]
		}
	case "channels_last":
		c, hw := size[1], size[2]*size[3]
		for i := range order {
			b, rest := i/(c*hw), i%(c*hw)
			order[i] = b*c*hw + rest%c*hw + rest/c
		}
	default:
		for i := range order {
			order[i] = i
		}
	}
	return order
}

var kinds = map[string]Kind{
	"bool": Bool, "uint8": Uint8, "int8": Int8, "int16": Int16, "int32": Int32, "int64": Int64,
	"float16": Float16, "bfloat16": BFloat16, "float32": Float32, "float64": Float64,
}

// runBasic evaluates a case and returns its results in logical order. libm says
// that they are float64 and passed through functions of the C library, whose
// last bits are allowed to differ.
func runBasic(gd *golden, g *Generator, c *goldenCase) (out []float64, ints []int64, libm bool, err error) {
	call, want := c.Call, c.Out[0]
	dtype := strings.TrimSuffix(want.DType, "(as f32)")
	if call.DType != "" {
		dtype = call.DType
	}
	n := want.numel()
	arg := func(i int) value {
		if i < len(call.Args) {
			return call.Args[i]
		}
		return value{}
	}
	fdef := func(i int, d float64) float64 {
		if i < len(call.Args) {
			return call.Args[i].float()
		}
		return d
	}
	contiguous := call.View == ""
	switch dtype {
	case "complex64":
		n, dtype = 2*n, "float32"
	case "complex128":
		n, dtype = 2*n, "float64"
	}
	var round Rounder
	switch dtype {
	case "float16":
		round = RoundFloat16
	case "bfloat16":
		round = RoundBFloat16
	}
	f32, f64 := make([]float32, n), make([]float64, n)
	is64 := dtype == "float64"
	isInt := !strings.Contains(dtype, "float")
	i64 := make([]int64, n)
	// fill runs the sampler for the case's element type.
	fill := func(a func([]float32) error, b func([]float64) error) error {
		if is64 {
			return b(f64)
		}
		if err := a(f32); err != nil {
			return err
		}
		for i, v := range f32 {
			if round != nil {
				v = round(v)
			}
			f64[i] = float64(v)
		}
		return nil
	}
	both := func(a func([]float32) error, b func([]float64) error, c func([]int64) error) error {
		if isInt {
			return c(i64)
		}
		return fill(a, b)
	}
	num := func(from int64, rng uint64) error {
		return both(func(d []float32) error { RandInt(g, d, from, rng); return nil },
			func(d []float64) error { RandInt(g, d, from, rng); return nil },
			func(d []int64) error { RandInt(g, d, from, rng); return nil })
	}
	in := func(i int) []float64 { return gd.arrays[arg(i).T].f }
	narrow := func(x []float64) []float32 {
		y := make([]float32, len(x))
		for i, v := range x {
			y[i] = float32(v)
		}
		return y
	}
	uniform := func(a, b float64) error {
		if round != nil {
			return fill(func(d []float32) error { return UniformLow(g, d, a, b, round) }, nil)
		}
		return fill(func(d []float32) error { return Uniform(g, d, a, b) },
			func(d []float64) error { return Uniform(g, d, a, b) })
	}
	normal := func(mean, std float64) error {
		libm = true
		if strings.HasPrefix(want.DType, "complex") {
			std /= math.Sqrt2
		}
		if round != nil {
			return fill(func(d []float32) error { return NormalLow(g, d, mean, std, contiguous, round) }, nil)
		}
		return fill(func(d []float32) error { return Normal(g, d, mean, std, contiguous) },
			func(d []float64) error { return Normal(g, d, mean, std, contiguous) })
	}
	switch strings.TrimSuffix(call.Fn, "_like") {
	case "rand":
		err = uniform(0, 1)
	case "uniform_":
		err = uniform(fdef(0, 0), fdef(1, 1))
	case "randn":
		err = normal(0, 1)
	case "normal_":
		err = normal(fdef(0, 0), fdef(1, 1))
	case "normal":
		// A tensor argument: standard numbers of the broadcast shape, scaled.
		switch {
		case arg(0).T == "" && arg(1).T == "":
			err = normal(arg(0).float(), arg(1).float())
		case arg(1).T == "":
			err = normal(0, arg(1).float())
		default:
			err = normal(0, 1)
		}
		at := func(i, k int) float64 {
			a := in(i)
			switch {
			case len(a) == n:
				return a[k]
			case i == 0:
				return a[k/3] // (5,1) against (3)
			}
			return a[k%3]
		}
		if arg(0).T != "" || arg(1).T != "" {
			for k := range f64 {
				if arg(1).T != "" {
					f64[k] *= at(1, k)
					if !is64 {
						f64[k] = float64(float32(f64[k]))
					}
				}
				if arg(0).T != "" {
					f64[k] += at(0, k)
				} else {
					f64[k] += arg(0).float()
				}
				if !is64 {
					f64[k] = float64(float32(f64[k]))
				}
			}
		}
	case "log_normal_":
		libm = true
		err = fill(func(d []float32) error { return LogNormal(g, d, fdef(0, 1), fdef(1, 2)) },
			func(d []float64) error { return LogNormal(g, d, fdef(0, 1), fdef(1, 2)) })
	case "exponential_":
		libm = true
		err = fill(func(d []float32) error { return Exponential(g, d, fdef(0, 1)) },
			func(d []float64) error { return Exponential(g, d, fdef(0, 1)) })
	case "cauchy_":
		libm = true
		err = fill(func(d []float32) error { return Cauchy(g, d, fdef(0, 0), fdef(1, 1)) },
			func(d []float64) error { return Cauchy(g, d, fdef(0, 0), fdef(1, 1)) })
	case "geometric_":
		p := arg(0).float()
		err = both(func(d []float32) error { return Geometric(g, d, p) },
			func(d []float64) error { return Geometric(g, d, p) }, func(d []int64) error { return Geometric(g, d, p) })
	case "bernoulli_":
		p := arg(0).float()
		err = both(func(d []float32) error { return Bernoulli(g, d, p) },
			func(d []float64) error { return Bernoulli(g, d, p) }, func(d []int64) error { return Bernoulli(g, d, p) })
	case "bernoulli":
		err = fill(func(d []float32) error { return BernoulliProbs(g, d, narrow(in(0))) },
			func(d []float64) error { return BernoulliProbs(g, d, in(0)) })
	case "random_":
		switch {
		case len(call.Args) == 0:
			k, ok := kinds[dtype]
			if !ok {
				return nil, nil, false, fmt.Errorf("dtype %q", dtype)
			}
			err = both(func(d []float32) error { Random(g, d, k); return nil },
				func(d []float64) error { Random(g, d, k); return nil },
				func(d []int64) error { Random(g, d, k); return nil })
		case len(call.Args) == 1:
			err = num(0, uint64(arg(0).int()))
		case arg(1).V == nil:
			err = num(arg(0).int(), uint64(kinds[dtype].Max())-uint64(arg(0).int())+1)
		default:
			err = num(arg(0).int(), uint64(arg(1).int()-arg(0).int()))
		}
	case "randint":
		err = num(arg(0).int(), uint64(arg(1).int())-uint64(arg(0).int()))
	case "randperm":
		err = both(func(d []float32) error { RandPerm(g, d); return nil },
			func(d []float64) error { RandPerm(g, d); return nil },
			func(d []int64) error { RandPerm(g, d); return nil })
	case "multinomial":
		shape := arg(0).Shape
		cats := shape[len(shape)-1]
		rows, samples := prod(shape)/cats, int(arg(1).int())
		repl := arg(2).int() == 1
		if arg(0).DType == "float64" {
			err = Multinomial(g, i64, in(0), rows, cats, samples, repl, false, nil)
		} else {
			err = Multinomial(g, i64, narrow(in(0)), rows, cats, samples, repl, false, nil)
		}
	case "poisson":
		err = fill(func(d []float32) error { return Poisson(g, d, narrow(in(0))) },
			func(d []float64) error { return Poisson(g, d, in(0)) })
	case "_standard_gamma":
		libm = true
		err = fill(func(d []float32) error { return StandardGamma(g, d, narrow(in(0))) },
			func(d []float64) error { return StandardGamma(g, d, in(0)) })
	case "_sample_dirichlet":
		libm = true
		k := arg(0).Shape[1]
		err = fill(func(d []float32) error { return Dirichlet(g, d, narrow(in(0)), k) },
			func(d []float64) error { return Dirichlet(g, d, in(0), k) })
	case "binomial":
		err = fill(func(d []float32) error { return Binomial(g, d, narrow(in(0)), narrow(in(1))) },
			func(d []float64) error { return Binomial(g, d, in(0), in(1)) })
	default:
		return nil, nil, false, fmt.Errorf("no sampler for %q", call.Fn)
	}
	// From the order of drawing to the logical order.
	if call.View == "t" || call.View == "channels_last" {
		sorted := make([]float64, n)
		for k, at := range memoryOrder(call.View, call.Size) {
			sorted[at] = f64[k]
		}
		f64 = sorted
	}
	return f64, i64, libm && is64, err
}

// checkState compares the whole state after a case; the cached normal may
// differ in its last bit, which depends on the C library.
func checkState(t *testing.T, g *Generator, c *goldenCase) (exact bool) {
	t.Helper()
	st := c.State
	if g.left != st.Left || g.next != st.Next || g.normalValid != (st.NormalValid != 0) {
		t.Errorf("state: left %d next %d normal %v, want %d %d %d", g.left, g.next, g.normalValid, st.Left, st.Next,
			st.NormalValid)
		return false
	}
	if d := ulps(g.normal, st.Normal); d > 4 {
		t.Errorf("cached normal %v, want %v (%d ulp)", g.normal, st.Normal, d)
		return false
	}
	cp := g.Clone()
	exact = math.Float64bits(g.normal) == math.Float64bits(st.Normal)
	cp.normal = st.Normal
	sum := sha256.Sum256(cp.State())
	if got := hex.EncodeToString(sum[:]); !strings.HasPrefix(got, st.Sha256) || st.Sha256 == "" {
		t.Errorf("state sha256 %s, want %s", got, st.Sha256)
	}
	return exact
}

// ulps is the distance in units of the last place.
func ulps(a, b float64) uint64 {
	key := func(x float64) int64 {
		i := int64(math.Float64bits(x))
		if i < 0 {
			i = math.MinInt64 - i
		}
		return i
	}
	if a == b || (a != a && b != b) {
		return 0
	}
	d := key(a) - key(b)
	if d < 0 {
		d = -d
	}
	return uint64(d)
}

func TestGoldenBasic(t *testing.T) {
	gd := loadGolden(t)
	ran, offState, offValues := 0, 0, 0
	for i := range gd.cases {
		c := &gd.cases[i]
		if c.Group != "basic" {
			continue
		}
		t.Run(fmt.Sprintf("%s/seed%d", strings.ReplaceAll(c.Case, " ", "_"), c.Seed), func(t *testing.T) {
			g := New().ManualSeed(c.Seed)
			f, is, libm, err := runBasic(gd, g, c)
			if err != nil {
				t.Fatal(err)
			}
			ran++
			want, ok := gd.arrays[c.Out[0].T]
			if !ok {
				t.Fatalf("no array %s", c.Out[0].T)
			}
			bad := 0
			for k, w := range want.f {
				tol := uint64(0)
				if libm {
					tol = 4
				}
				d := ulps(f[k], w)
				if d > 0 {
					offValues++
				}
				if d > tol {
					if bad++; bad < 4 {
						t.Errorf("element %d of %d: got %v, want %v", k, len(want.f), f[k], w)
					}
				}
			}
			for k, w := range want.i {
				if is[k] != w {
					if bad++; bad < 4 {
						t.Errorf("element %d of %d: got %v, want %v", k, len(want.i), is[k], w)
					}
				}
			}
			if !checkState(t, g, c) {
				offState++
			}
		})
	}
	t.Logf("%d cases; last bits of float64 functions: %d values and %d cached normals differ", ran, offValues, offState)
}

var times = regexp.MustCompile(`^(\d+) x rand\(1\)$`)

func TestGoldenState(t *testing.T) {
	gd := loadGolden(t)
	for i := range gd.cases {
		c := &gd.cases[i]
		if c.Group != "state" {
			continue
		}
		t.Run(fmt.Sprintf("%s/seed%d", strings.ReplaceAll(c.Case, " ", "_"), c.Seed), func(t *testing.T) {
			g := New().ManualSeed(c.Seed)
			var got [][]float64
			r32 := func(n int) {
				d := make([]float32, n)
				if err := Uniform(g, d, 0, 1); err != nil {
					t.Fatal(err)
				}
				got = append(got, widen(d))
			}
			n32 := func(n int) {
				d := make([]float32, n)
				if err := Normal(g, d, 0, 1, true); err != nil {
					t.Fatal(err)
				}
				got = append(got, widen(d))
			}
			switch m := times.FindStringSubmatch(c.Case); {
			case m != nil:
				k, _ := strconv.Atoi(m[1])
				for range k {
					got = nil
					r32(1)
				}
				if k == 0 {
					r32(0)
				}
			case strings.HasPrefix(c.Case, "randn("):
				for _, p := range strings.Split(c.Case, ",") {
					k, err := strconv.Atoi(p[len("randn(") : len(p)-1])
					if err != nil {
						t.Fatal(err)
					}
					n32(k)
				}
			case c.Case == "rand(7,f64)":
				d := make([]float64, 7)
				if err := Uniform(g, d, 0, 1); err != nil {
					t.Fatal(err)
				}
				got = append(got, d)
			case strings.HasPrefix(c.Case, "full get_rng_state"):
				r32(5)
				n32(1)
				want := gd.arrays[c.Out[0].T].raw
				if b := g.State(); !bytes.Equal(b, want) {
					t.Errorf("state bytes differ")
				}
				h := New()
				if err := h.SetState(want); err != nil {
					t.Fatal(err)
				}
				if *h.Clone() != *g.Clone() { //nolint:govet // both are unshared copies
					t.Errorf("SetState gives another generator")
				}
				return
			case c.Case == "seeds": // of which the low halves count
				for _, s := range []int64{c.Seed, -1, math.MinInt64, 1 << 32, math.MinInt64 + 5} {
					g.ManualSeed(s)
					r32(2)
				}
			default:
				t.Skip("given by its expression only")
			}
			for k, o := range c.Out {
				want := gd.arrays[o.T].f
				if len(want) != len(got[k]) {
					t.Fatalf("got %d values, want %d", len(got[k]), len(want))
				}
				for j := range want {
					if got[k][j] != want[j] {
						t.Errorf("result %d element %d: got %v, want %v", k, j, got[k][j], want[j])
					}
				}
			}
			checkState(t, g, c)
		})
	}
}

func widen(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}
