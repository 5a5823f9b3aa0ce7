package rng

import (
	"bytes"
	"math"
	"math/big"
	"slices"
	"sync"
	"testing"
)

func TestSeeds(t *testing.T) {
	if got := New().InitialSeed(); got != DefaultSeed {
		t.Errorf("New: seed %d", got)
	}
	g := New().ManualSeed(-1)
	if got := g.InitialSeed(); got != math.MaxUint64 {
		t.Errorf("ManualSeed(-1): seed %d", got)
	}
	// Only the low half of the seed chooses the sequence.
	if a, b := g.Uint32(), New().ManualSeedUint64(1<<32-1).Uint32(); a != b {
		t.Errorf("seeds with equal low halves: %d and %d", a, b)
	}
	if got := New().ManualSeed(5489).Uint32(); got != 3499211612 { // the MT19937 reference seed
		t.Errorf("seed 5489: first word %d", got)
	}
	if s := g.Seed(); s != g.InitialSeed() {
		t.Errorf("Seed returned %d, InitialSeed %d", s, g.InitialSeed())
	}
	if Default.InitialSeed() == DefaultSeed {
		t.Error("Default has the fixed seed")
	}
}

// TestMix follows programs that mix samplers and states; the reference gives
// them as text.
func TestGoldenMix(t *testing.T) {
	gd := loadGolden(t)
	randn := func(g *Generator, n int) []float64 {
		d := make([]float32, n)
		if err := Normal(g, d, 0, 1, true); err != nil {
			t.Fatal(err)
		}
		return widen(d)
	}
	rand := func(g *Generator, n int) []float64 {
		d := make([]float32, n)
		if err := Uniform(g, d, 0, 1); err != nil {
			t.Fatal(err)
		}
		return widen(d)
	}
	programs := map[string]func(g *Generator, seed int64) [][]float64{
		"randn(1),randn(16),rand(3),randn(1)": func(g *Generator, _ int64) [][]float64 {
			return [][]float64{randn(g, 1), randn(g, 16), rand(g, 3), randn(g, 1)}
		},
		"rand(3),randn(17),randn(3),rand(2)": func(g *Generator, _ int64) [][]float64 {
			return [][]float64{rand(g, 3), randn(g, 17), randn(g, 3), rand(g, 2)}
		},
		"randn(3),log_normal_(2),randn(2,f64),rand(1)": func(g *Generator, _ int64) [][]float64 {
			a, l, d := randn(g, 3), make([]float32, 2), make([]float64, 2)
			if err := LogNormal(g, l, 1, 2); err != nil {
				t.Fatal(err)
			}
			if err := Normal(g, d, 0, 1, true); err != nil {
				t.Fatal(err)
			}
			return [][]float64{a, widen(l), d, rand(g, 1)}
		},
		"randn(1),manual_seed(5),randn(1),initial_seed": func(g *Generator, _ int64) [][]float64 {
			a := randn(g, 1)
			g.ManualSeed(5)
			return [][]float64{a, randn(g, 1), {float64(g.InitialSeed())}}
		},
		"randn(5),_standard_gamma(2.)x5,randn(3)": func(g *Generator, _ int64) [][]float64 {
			a, d := randn(g, 5), make([]float32, 5)
			if err := StandardGamma(g, d, []float32{2, 2, 2, 2, 2}); err != nil {
				t.Fatal(err)
			}
			return [][]float64{a, widen(d), randn(g, 3)}
		},
		"10 x randn(3)": func(g *Generator, _ int64) (out [][]float64) {
			for range 10 {
				out = append(out, randn(g, 3))
			}
			return out
		},
		"randn(2,3),randn(4,4),randn(15),randn(2,2,2)": func(g *Generator, _ int64) [][]float64 {
			return [][]float64{randn(g, 6), randn(g, 16), randn(g, 15), randn(g, 8)}
		},
		"randn(1); s=get_rng_state; a=randn(3); b=rand(700); set_rng_state(s); [a, randn(3), b[-3:], rand(700)[-3:]]": func(g *Generator, _ int64) [][]float64 {
			randn(g, 1)
			s := g.State()
			a, b := randn(g, 3), rand(g, 700)
			if err := g.SetState(s); err != nil {
				t.Fatal(err)
			}
			return [][]float64{a, randn(g, 3), b[697:], rand(g, 700)[697:]}
		},
		"q=Generator(seed+1): rand(3,q),rand(3),randn(3,q),randn(3); r=copy of q: randn(2,q),randn(2,r),randperm(5,r)": func(g *Generator, seed int64) [][]float64 {
			q := New().ManualSeed(seed + 1)
			out := [][]float64{rand(q, 3), rand(g, 3), randn(q, 3), randn(g, 3)}
			r := q.Clone()
			p := make([]float64, 5)
			out = append(out, randn(q, 2), randn(r, 2))
			RandPerm(r, p)
			return append(out, p)
		},
		"rand(2); fork_rng: rand(5),randn(1); rand(2)": func(g *Generator, _ int64) [][]float64 {
			a, s := rand(g, 2), g.State()
			rand(g, 5)
			b := randn(g, 1)
			if err := g.SetState(s); err != nil {
				t.Fatal(err)
			}
			return [][]float64{a, b, rand(g, 2)}
		},
	}
	for i := range gd.cases {
		c := &gd.cases[i]
		f := programs[c.Case]
		if c.Group != "mix" || f == nil {
			continue
		}
		t.Run(c.Case, func(t *testing.T) {
			g := New().ManualSeed(c.Seed)
			got := f(g, c.Seed)
			for k, o := range c.Out {
				if k >= len(got) {
					t.Fatalf("%d results, want %d", len(got), len(c.Out))
				}
				a := gd.arrays[o.T]
				want := a.f
				for _, v := range a.i {
					want = append(want, float64(v))
				}
				tol := uint64(0)
				if o.DType == "float64" {
					tol = 4
				}
				for j := range want {
					if ulps(got[k][j], want[j]) > tol {
						t.Errorf("result %d element %d: got %v, want %v", k, j, got[k][j], want[j])
					}
				}
			}
			// fork_rng and the copy leave cached normals behind as well.
			checkState(t, g, c)
		})
	}
}

// bigFMA is a*b+c rounded once.
func bigFMA(a, b, c float32) float32 {
	x := new(big.Float).SetPrec(400).SetFloat64(float64(a) * float64(b)) // exact
	x.Add(x, new(big.Float).SetFloat64(float64(c)))
	f, _ := x.Float32()
	return f
}

func TestFMA32(t *testing.T) {
	check := func(a, b, c float32) {
		t.Helper()
		want := bigFMA(a, b, c)
		if got := fma32full(a, b, c); got != want {
			t.Fatalf("fma32full(%x, %x, %x) = %x, want %x", a, b, c, got, want)
		}
		if math.Abs(float64(want)) >= 0x1p-126 {
			if got := fma32(a, b, c); got != want {
				t.Fatalf("fma32(%x, %x, %x) = %x, want %x", a, b, c, got, want)
			}
		}
	}
	// The float64 sum of 1+2^-24 and a little is a tie that only the exact sum
	// decides; the middle two lie at the edge of the subnormal numbers.
	check(1+0x1p-12, 1+0x1p-12, 0x1p-60)
	check(0x1p-12, 0x1p-12, 1)
	check(0x1.000002p-30, 0x1.000002p-30, 1+0x1p-23)
	check(-0x1.fffffep-40, 0x1.fffffep-30, 0x1.000002p0)
	check(0x1.8p-75, 0x1.000002p-75, 0x1p-126)
	check(0x1.000002p-70, 0x1.000002p-79, 0x1p-140)
	g := New().ManualSeed(1)
	any32 := func() float32 {
		r := g.Uint32()
		e := 127 - 40 + g.Uint32()%80
		if g.Uint32()%4 == 0 { // long runs of zeros or ones make ties likely
			r = r&0x80000001 | uint32(int32(r<<5)>>31)&0x7ffffe
		}
		return math.Float32frombits(r&0x807fffff | e<<23)
	}
	for range 200000 {
		check(any32(), any32(), any32())
	}
}

func TestRounders(t *testing.T) {
	// Every half-precision number is a fixed point; so are the midpoints' evens.
	for h := uint32(0); h < 0x7c00; h++ {
		lo, hi := float32(halfBits(uint16(h))), float32(halfBits(uint16(h+1)))
		if h == 0x7bff {
			hi = 65536
		}
		if got := RoundFloat16(-lo); got != -lo || math.Signbit(float64(got)) != true {
			t.Fatalf("RoundFloat16(%v) = %v", -lo, got)
		}
		mid := lo + (hi-lo)/2
		want := lo
		if h&1 == 1 {
			want = hi
		}
		if h == 0x7bff {
			want = float32(math.Inf(1))
		}
		if got := RoundFloat16(mid); got != want {
			t.Fatalf("RoundFloat16(%v) = %v, want %v", mid, got, want)
		}
		if got := RoundFloat16(math.Nextafter32(mid, 0)); got != lo {
			t.Fatalf("RoundFloat16 just below %v = %v, want %v", mid, got, lo)
		}
	}
	for _, c := range []struct{ x, want float32 }{
		{1, 1}, {1 + 0x1p-8, 1}, {1 + 0x1.8p-7, 1 + 0x1p-6}, {-1 - 0x1.01p-8, -1 - 0x1p-7},
		{math.MaxFloat32, float32(math.Inf(1))}, {0, 0},
	} {
		if got := RoundBFloat16(c.x); got != c.want {
			t.Errorf("RoundBFloat16(%v) = %v, want %v", c.x, got, c.want)
		}
	}
	nan := float32(math.NaN())
	if a, b := RoundFloat16(nan), RoundBFloat16(nan); a == a || b == b {
		t.Errorf("NaN rounds to %v and %v", a, b)
	}
}

// TestFunctions compares the elementary functions with package math, which is
// within one unit of the exact value.
func TestFunctions(t *testing.T) {
	g := New().ManualSeed(3)
	check := func(name string, x, got, want float64, tol uint64) {
		t.Helper()
		if ulps(got, want) > tol {
			t.Fatalf("%s(%v) = %v, want %v", name, x, got, want)
		}
	}
	for range 20000 {
		u := g.Float64()
		x := (u - 0.5) * 12.5
		s, c := math.Sincos(x)
		gs, gc := sincos(x)
		if math.Abs(gs-s) > 2e-16 || math.Abs(gc-c) > 2e-16 {
			t.Fatalf("sincos(%v) = %v %v, want %v %v", x, gs, gc, s, c)
		}
		check("log", u, ln(u), math.Log(u), 2)
		check("log", u*1e300, ln(u*1e300), math.Log(u*1e300), 2)
		check("log1p", -u, log1p(-u), math.Log1p(-u), 2)
		check("log1p", u*1e-9, log1p(u*1e-9), math.Log1p(u*1e-9), 2)
		check("log1p", u*1e6, log1p(u*1e6), math.Log1p(u*1e6), 2)
		check("exp", x*100, exp(x*100), math.Exp(x*100), 2)
		check("pow", u, pow(u, 3.7), math.Pow(u, 3.7), 4)
	}
	for _, c := range []struct{ got, want float64 }{
		{ln(1), 0}, {ln(0), math.Inf(-1)}, {ln(math.Inf(1)), math.Inf(1)}, {ln(0x1p-1070), -1070 * math.Ln2},
		{log1p(0), 0}, {log1p(-1), math.Inf(-1)}, {exp(0), 1}, {exp(-1000), 0}, {exp(1000), math.Inf(1)}, {tan(0), 0},
		{pow(1, 5), 1}, {pow(0.5, 1e9), 0},
	} {
		if ulps(c.got, c.want) > 1 {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

// Reference values of integer draws at seed 3 that the golden data do not hold.
func TestRandomBounds(t *testing.T) {
	for _, c := range []struct {
		k        Kind
		from, to int64
		want     []float64 // nil: refused
	}{
		{Float16, -3000, 5000, []float64{-594, -1996, -1767, 3344}},
		{Float16, -5, 3001, []float64{107, 1737, 932, 1960}},
		{Float16, 1, 1<<24 + 3, nil},
		{Float16, 1<<24 + 1, 1<<25 + 7, nil},
		{BFloat16, -3000, 5000, []float64{-14, -1952, 4736, -1336}},
		{BFloat16, -5, 3001, []float64{1008, 108, 2240, 1824}},
		{BFloat16, 1, 1<<24 + 3, []float64{71168, 1769472, 4784128, 452608}},
		{BFloat16, 1<<24 + 1, 1<<25 + 7, []float64{18874368, 21102592, 28835840, 28835840}},
		{BFloat16, -(1 << 24) - 3, 9, []float64{-16711680, -15007744, -11993088, -16318464}},
		{Float32, -3000, 5000, []float64{-14, -1952, 4737, -1333}},
		{Float32, 1, 1<<24 + 3, []float64{71249, 1771125, 4795280, 451798}},
		{Float32, 1<<24 + 1, 1<<25 + 7, []float64{16848324, 18548324, 21572316, 17228800}},
		{Float32, -(1 << 24) - 3, 9, []float64{-16707381, -15006275, -11983750, -16327572}},
		{Uint8, -1, 4, nil},
		{Uint8, 0, 257, nil},
		{Int64, 4, 4, nil},
	} {
		from, to, err := c.k.Range(c.from, c.to)
		if (err != nil) != (c.want == nil) {
			t.Errorf("%v %d %d: error %v", c.k, c.from, c.to, err)
		}
		if c.want == nil || err != nil {
			continue
		}
		d := make([]float32, 4)
		if err := RandIntRange(New().ManualSeed(3), d, from, to); err != nil {
			t.Fatal(err)
		}
		for i := range d {
			switch c.k {
			case Float16:
				d[i] = RoundFloat16(d[i])
			case BFloat16:
				d[i] = RoundBFloat16(d[i])
			}
		}
		if got := widen(d); !slices.Equal(got, c.want) {
			t.Errorf("%v [%d,%d): got %v, want %v", c.k, c.from, c.to, got, c.want)
		}
	}
	u16, u32 := make([]uint16, 4), make([]uint32, 4)
	RandInt(New().ManualSeed(3), u16, 5, uint64(Uint16.Max()-5+1))
	RandInt(New().ManualSeed(3), u32, 5, uint64(Uint32.Max()-5+1))
	if want := []uint16{55422, 24868, 46970, 6591}; !slices.Equal(u16, want) {
		t.Errorf("uint16: got %v, want %v", u16, want)
	}
	if want := []uint32{3542121401, 1635043193, 2473266794, 530210857}; !slices.Equal(u32, want) {
		t.Errorf("uint32: got %v, want %v", u32, want)
	}
}

// TestMultinomial16 uses bfloat16 weights, whose race is rounded.
func TestMultinomial16(t *testing.T) {
	for _, c := range []struct {
		round   Rounder
		a, b, d []int64
	}{
		{RoundFloat16, []int64{4, 6, 15, 13, 4, 4, 22, 13, 18, 36, 11, 9},
			[]int64{19, 6, 31, 36, 35, 18, 30, 11, 25, 15, 17, 22}, []int64{27}},
		{RoundBFloat16, []int64{4, 6, 15, 13, 4, 4, 22, 13, 18, 36, 11, 9},
			[]int64{19, 6, 31, 36, 35, 18, 30, 11, 25, 15, 17, 22}, []int64{27}},
	} {
		g := New().ManualSeed(3)
		w := make([]float32, 37)
		if err := UniformLow(g, w, 0, 1, c.round); err != nil {
			t.Fatal(err)
		}
		for _, s := range []struct {
			want []int64
			repl bool
		}{{c.a, true}, {c.b, false}, {c.d, false}} {
			got := make([]int64, len(s.want))
			if err := Multinomial(g, got, w, 1, 37, len(got), s.repl, false, c.round); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, s.want) {
				t.Errorf("replacement %v: got %v, want %v", s.repl, got, s.want)
			}
		}
		if g.left != 416 {
			t.Errorf("left %d, want 416", g.left)
		}
	}
}

// TestRandPermWide checks the form for very long permutations on a short one.
func TestRandPermWide(t *testing.T) {
	g := New().ManualSeed(9)
	p := make([]int64, 1000)
	randPerm(g, p, 10)
	seen := make([]bool, len(p))
	for _, v := range p {
		if seen[v] {
			t.Fatalf("%d appears twice", v)
		}
		seen[v] = true
	}
	h := New().ManualSeed(9)
	for range p {
		h.Uint64()
	}
	if !bytes.Equal(g.State(), h.State()) {
		t.Error("expected one 64-bit draw per element")
	}
}

// TestChunks makes fills longer than the internal buffers, from odd positions,
// and compares them with single draws.
func TestChunks(t *testing.T) {
	for _, skip := range []int{0, 1, 5, 623, 624} {
		g := New().ManualSeed(7)
		for range skip {
			g.Uint32()
		}
		h := g.Clone()
		u, d := make([]float32, 3*chunk+5), make([]float64, 2*chunk+3)
		m, r := make([]uint8, 2*chunk+1), make([]int32, chunk+9)
		if err := Uniform(g, u, -1, 2); err != nil {
			t.Fatal(err)
		}
		if err := Uniform(g, d, 3, 7); err != nil {
			t.Fatal(err)
		}
		if err := Bernoulli(g, m, 0.37); err != nil {
			t.Fatal(err)
		}
		RandInt(g, r, -4, 9)
		for i, v := range u {
			if w := fma32full(h.Float32(), 3, -1); v != w {
				t.Fatalf("skip %d float32 %d: %v, want %v", skip, i, v, w)
			}
		}
		for i, v := range d {
			if w := math.FMA(h.Float64(), 4, 3); v != w {
				t.Fatalf("skip %d float64 %d: %v, want %v", skip, i, v, w)
			}
		}
		for i, v := range m {
			if (h.Float64() < 0.37) != (v == 1) {
				t.Fatalf("skip %d mask %d: %v", skip, i, v)
			}
		}
		for i, v := range r {
			if w := int32(h.Uint32()%9) - 4; v != w {
				t.Fatalf("skip %d integer %d: %v, want %v", skip, i, v, w)
			}
		}
		if !bytes.Equal(g.State(), h.State()) {
			t.Fatalf("skip %d: states differ", skip)
		}
	}
}

// TestUniformUpperBound forces values that round to the upper bound.
func TestUniformUpperBound(t *testing.T) {
	d := make([]float32, 4096)
	a, b := float32(1), math.Nextafter32(1, 2)
	if err := Uniform(New().ManualSeed(1), d, float64(a), float64(b)); err != nil {
		t.Fatal(err)
	}
	for i, v := range d {
		if v != a {
			t.Fatalf("element %d is %v outside [%v,%v)", i, v, a, b)
		}
	}
}

func TestConcurrent(t *testing.T) {
	g := New()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			d := make([]float32, 100)
			for range 50 {
				if err := Normal(g, d, 0, 1, false); err != nil {
					t.Error(err)
				}
				g.State()
				g.Clone().Uint64()
			}
		})
	}
	wg.Wait()
	h := New()
	if err := Normal(h, make([]float64, 8*50*100), 0, 1, false); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(g.State(), h.State()) {
		t.Error("the fills of several goroutines did not add up")
	}
}

// TestErrors: every refusal leaves the generator as it was.
func TestErrors(t *testing.T) {
	g := New()
	before := g.State()
	f, d, i := make([]float32, 4), make([]float64, 4), make([]int64, 4)
	nan, inf := math.NaN(), math.Inf(1)
	for name, err := range map[string]error{
		"uniform order":     Uniform(g, f, 2, 1),
		"uniform nan":       Uniform(g, d, nan, 1),
		"uniform width":     Uniform(g, f, -3e38, 3e38),
		"uniform low":       UniformLow(g, f, 2, 1, RoundFloat16),
		"normal":            Normal(g, f, 0, -1, true),
		"normal low":        NormalLow(g, f, 0, nan, true, RoundFloat16),
		"log normal":        LogNormal(g, f, 0, 0),
		"exponential":       Exponential(g, f, 0),
		"cauchy":            Cauchy(g, f, 0, 0),
		"geometric 0":       Geometric(g, i, 0),
		"geometric 1":       Geometric(g, i, 1),
		"bernoulli":         Bernoulli(g, i, 1.5),
		"probs":             BernoulliProbs(g, i, []float32{0, 1, 2, 0}),
		"probs length":      BernoulliProbs(g, i, f[:2]),
		"dropout":           DropoutMask(g, f, nan),
		"range":             RandIntRange(g, i, 3, 3),
		"multinomial shape": Multinomial(g, i, f, 1, 4, 3, true, false, nil),
		"multinomial zero":  Multinomial(g, i, f, 1, 4, 4, true, false, nil),
		"multinomial neg":   Multinomial(g, i, []float32{1, -1, 1, 1}, 1, 4, 4, true, false, nil),
		"multinomial inf":   Multinomial(g, i, []float64{1, inf, 1, 1}, 1, 4, 4, true, false, nil),
		"multinomial few":   Multinomial(g, i, []float32{1, 1}, 1, 2, 4, false, false, nil),
		"poisson":           Poisson(g, f, []float32{1, -1, 1, 1}),
		"poisson length":    Poisson(g, f, f[:1]),
		"gamma":             StandardGamma(g, d, []float64{1, 1, nan, 1}),
		"dirichlet":         Dirichlet(g, d, d, 3),
		"binomial":          Binomial(g, d, []float64{1, 1, 1, 1}, []float64{0, 1, 2, 0}),
		"binomial count":    Binomial(g, d, []float64{1, -1, 1, 1}, []float64{0, 1, 1, 0}),
		"state length":      g.SetState(before[1:]),
		"state unseeded":    g.SetState(make([]byte, StateSize)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if !bytes.Equal(before, g.State()) {
		t.Error("a refused call changed the generator")
	}
}

func FuzzSetState(f *testing.F) {
	g := New()
	f.Add(g.State())
	g.NormFloat64()
	f.Add(g.State())
	f.Add([]byte{})
	bad := g.State()
	bad[offLeft], bad[offNext+1] = 200, 2
	f.Add(bad)
	f.Fuzz(func(t *testing.T, b []byte) {
		g := New()
		if err := g.SetState(b); err != nil {
			if !bytes.Equal(g.State(), New().State()) {
				t.Fatal("a refused state changed the generator")
			}
			return
		}
		// What was accepted must be usable in every way and survive a round trip.
		s := g.State()
		h := New()
		if err := h.SetState(s); err != nil {
			t.Fatal(err)
		}
		a, c := make([]float32, 700), make([]float32, 700)
		if err := Uniform(g, a, 0, 1); err != nil {
			t.Fatal(err)
		}
		for i := range c {
			c[i] = h.Float32()
		}
		g.NormFloat64()
		h.NormFloat64()
		if !slices.Equal(a, c) || !bytes.Equal(g.State(), h.State()) {
			t.Fatal("a fill and single draws differ")
		}
	})
}
