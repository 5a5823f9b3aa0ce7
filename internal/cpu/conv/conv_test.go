package conv

import (
	"fmt"
	"math"
	"math/rand"
	"runtime/debug"
	"testing"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/par"
)

func shape2d(n, ci, co, h, w, k, s, p, d, g int) *Shape {
	return shapeOf(n, ci, co, g, [3]int{1, h, w}, [3]int{1, k, k}, [3]int{1, s, s}, [3]int{0, p, p}, [3]int{1, d, d})
}

func shapeOf(n, ci, co, g int, in, k, s, p, d [3]int) *Shape {
	sh := &Shape{N: n, Groups: g, Cin: ci, Cout: co, In: in, Kernel: k, Stride: s, Pad: p, Dilation: d}
	for i := range 3 {
		sh.Out[i] = (in[i]+2*p[i]-d[i]*(k[i]-1)-1)/s[i] + 1
	}
	return sh
}

// guarded returns n values between NaNs, one element off a cache line.
func guarded[T Float](n int) (whole, data []T) {
	whole = make([]T, n+64)
	for i := range whole {
		whole[i] = T(math.NaN())
	}
	off := 17
	for uintptr(unsafe.Pointer(&whole[off]))%64 == 0 {
		off++
	}
	return whole, whole[off : off+n : off+n]
}

func checkGuards[T Float](t *testing.T, whole, data []T) {
	t.Helper()
	off := int(uintptr(unsafe.Pointer(unsafe.SliceData(data)))-uintptr(unsafe.Pointer(&whole[0]))) / int(unsafe.Sizeof(whole[0]))
	for i, v := range whole {
		if (i < off || i >= off+len(data)) && v == v {
			t.Fatalf("wrote outside at %d", i-off)
		}
	}
}

// values are random numbers that T can hold, in [n, c, pos] order.
func values[T Float](r *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(T(r.Float64()*2 - 1))
	}
	return v
}

// image lays out values between NaNs.
func image[T Float](v []float64, n, c, size int, last bool) Image[T] {
	_, d := guarded[T](len(v))
	for i, x := range v {
		d[place(i, n, c, size, last)] = T(x)
	}
	return Image[T]{d, last}
}

// place turns an index of [n, c, pos] into one of the layout.
func place(i, n, c, size int, last bool) int {
	if !last {
		return i
	}
	pos, ch, im := i%size, i/size%c, i/size/c
	return (im*size+pos)*c + ch
}

// visit calls f for every product: input, weight and output indices.
func visit(s *Shape, f func(x, w, y int)) {
	cg, og := s.Cin/s.Groups, s.Cout/s.Groups
	is, os := volume(s.In), volume(s.Out)
	for n := range s.N {
		for o := range s.Cout {
			for p := range os {
				oz, oy, ox := p/s.Out[2]/s.Out[1], p/s.Out[2]%s.Out[1], p%s.Out[2]
				s.eachTap(func(k [3]int, wi int) {
					z := oz*s.Stride[0] + k[0]*s.Dilation[0] - s.Pad[0]
					y := oy*s.Stride[1] + k[1]*s.Dilation[1] - s.Pad[1]
					x := ox*s.Stride[2] + k[2]*s.Dilation[2] - s.Pad[2]
					if z < 0 || z >= s.In[0] || y < 0 || y >= s.In[1] || x < 0 || x >= s.In[2] {
						return
					}
					for c := range cg {
						f((n*s.Cin+o/og*cg+c)*is+(z*s.In[1]+y)*s.In[2]+x, (o*cg+c)*s.Taps()+wi, (n*s.Cout+o)*os+p)
					}
				})
			}
		}
	}
}

// TestPointersStayInside computes while the garbage collector runs all the time, which ends the program when it meets a
// pointer that lies outside of every block: the base of taps that see padding alone must not become one.
func TestPointersStayInside(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(2))
	rounds := 4 // the collector meets such a pointer in one round of three
	if testing.Short() {
		rounds = 1
	}
	for range rounds {
		for i, s := range shapes() {
			if s.N*s.Cout*volume(s.Out)*s.Cin/s.Groups*s.Taps() < 2e5 {
				check[float32](t, s, int64(i))
			}
		}
	}
}

func compare[T Float](t *testing.T, what string, got []T, want, scale []float64, n, c, size int, last bool) {
	t.Helper()
	eps := 3e-7
	var z T
	if unsafe.Sizeof(z) == 8 {
		eps = 1e-15
	}
	for i, w := range want {
		g := float64(got[place(i, n, c, size, last)])
		if !(math.Abs(g-w) <= eps*(4+4*scale[i])) {
			t.Fatalf("%s: element %d is %v, want %v (difference %g, scale %g)", what, i, g, w, g-w, scale[i])
		}
	}
}

// check compares all results with a float64 reference on every path, in both
// layouts.
func check[T Float](t *testing.T, s *Shape, seed int64) {
	t.Helper()
	r := rand.New(rand.NewSource(seed))
	is, os, cg := volume(s.In), volume(s.Out), s.Cin/s.Groups
	xr, gr, wr := values[T](r, s.N*s.Cin*is), values[T](r, s.N*s.Cout*os), values[T](r, s.Cout*cg*s.Taps())
	resr := values[T](r, len(gr))
	bias := make([]T, s.Cout)
	for i := range bias {
		bias[i] = T(r.Float64())
	}
	y, dx, dw := make([]float64, len(gr)), make([]float64, len(xr)), make([]float64, len(wr))
	ys, dxs, dws := make([]float64, len(gr)), make([]float64, len(xr)), make([]float64, len(wr))
	visit(s, func(i, k, o int) {
		y[o] += xr[i] * wr[k]
		dx[i] += gr[o] * wr[k]
		dw[k] += gr[o] * xr[i]
		ys[o] += math.Abs(xr[i] * wr[k])
		dxs[i] += math.Abs(gr[o] * wr[k])
		dws[k] += math.Abs(gr[o] * xr[i])
	})
	fused := make([]float64, len(y))
	db, dbs := make([]float64, s.Cout), make([]float64, s.Cout)
	for i, v := range gr {
		db[i/max(os, 1)%s.Cout] += v
		dbs[i/max(os, 1)%s.Cout] += math.Abs(v)
	}
	for i := range y {
		fused[i] = max(0, y[i]+float64(bias[i/os%s.Cout])+resr[i])
	}
	for _, l := range cpu.Levels() {
		for _, last := range []bool{true, false} {
			where := fmt.Sprintf("%s, last %v, %T: ", l.Name, last, bias[0])
			restore := cpu.Set(l.Features)
			x, g := image[T](xr, s.N, s.Cin, is, last), image[T](gr, s.N, s.Cout, os, last)
			w, res := Weights[T](image[T](wr, s.Cout, cg, s.Taps(), last)), image[T](resr, s.N, s.Cout, os, last)

			whole, out := guarded[T](len(gr))
			Forward(s, Image[T]{out, last}, x, w, nil)
			compare(t, where+"forward", out, y, ys, s.N, s.Cout, os, last)
			checkGuards(t, whole, out)

			ep := Epilogue[T]{Bias: bias, Residual: res.Data}.ReLU()
			Forward(s, Image[T]{out, last}, x, w, &ep)
			compare(t, where+"forward with epilogue", out, fused, ys, s.N, s.Cout, os, last)
			checkGuards(t, whole, out)

			// The second call finds the plan of the first, for other images and an epilogue.
			kept := Epilogue[T]{Packed: &PackedWeights{}}
			Forward(s, Image[T]{make([]T, len(gr)), last}, Image[T]{make([]T, len(xr)), last}, w, &kept)
			ep.Packed = kept.Packed
			whole, out = guarded[T](len(gr))
			Forward(s, Image[T]{out, last}, x, w, &ep)
			compare(t, where+"forward with the plan kept", out, fused, ys, s.N, s.Cout, os, last)
			checkGuards(t, whole, out)
			Forward(s, Image[T]{out, last}, x, w, &kept)
			compare(t, where+"forward with the plan kept, without epilogue", out, y, ys, s.N, s.Cout, os, last)

			whole, out = guarded[T](len(xr))
			BackwardData(s, Image[T]{out, last}, g, w, nil)
			compare(t, where+"gradient of the input", out, dx, dxs, s.N, s.Cin, is, last)
			checkGuards(t, whole, out)

			whole, out = guarded[T](len(wr))
			gotBias := make([]T, s.Cout)
			BackwardWeightBehind(s, Weights[T]{out, last}, gotBias, g, x, nil)
			compare(t, where+"gradient of the weights", out, dw, dws, s.Cout, cg, s.Taps(), last)
			compare(t, where+"gradient of the bias", gotBias, db, dbs, 1, s.Cout, 1, last)
			checkGuards(t, whole, out)
			restore()
		}
	}
}

// shapes covers edges of tiles, vectors, kernels, strides and padding.
func shapes() []*Shape {
	list := []*Shape{
		shape2d(2, 64, 64, 14, 14, 3, 1, 1, 1, 1),
		shape2d(1, 3, 64, 23, 24, 7, 2, 3, 1, 1),
		shape2d(3, 1, 6, 28, 28, 5, 1, 0, 1, 1),
		shape2d(2, 16, 33, 7, 7, 3, 1, 1, 1, 1),
		shape2d(2, 70, 48, 9, 5, 3, 2, 1, 1, 1),
		shape2d(2, 32, 48, 8, 8, 3, 1, 2, 2, 2),
		shape2d(2, 24, 40, 6, 7, 1, 1, 0, 1, 1),
		shape2d(2, 24, 40, 6, 7, 1, 2, 0, 1, 1),
		shape2d(1, 17, 15, 6, 20, 1, 3, 1, 1, 1),
		shape2d(2, 300, 20, 4, 4, 3, 1, 1, 1, 1),
		shape2d(2, 24, 40, 12, 17, 1, 1, 0, 1, 1),
		shape2d(2, 24, 40, 12, 17, 1, 1, 0, 1, 4),
		shape2d(1, 1024, 34, 3, 3, 1, 1, 0, 1, 1),
		shape2d(1, 256, 64, 5, 6, 3, 1, 1, 1, 1),
		// So many tasks that each worker takes several in a row.
		shape2d(33, 4, 34, 32, 32, 1, 1, 0, 1, 1),
		shape2d(34, 1, 33, 33, 33, 3, 1, 1, 1, 1),
		shape2d(2, 12, 12, 9, 9, 3, 1, 1, 1, 12),
		shape2d(2, 5, 10, 9, 11, 3, 2, 1, 1, 5),
		shape2d(2, 70, 70, 15, 31, 3, 1, 1, 1, 70),
		shape2d(2, 32, 32, 15, 17, 3, 1, 1, 1, 8), shape2d(2, 48, 48, 9, 11, 3, 2, 1, 1, 6),
		shape2d(1, 64, 64, 8, 9, 1, 1, 0, 1, 32),
		shape2d(1, 4, 4, 4, 0, 2, 1, 1, 1, 2), shape2d(1, 4, 4, 4, 0, 2, 1, 1, 1, 4),
		shape2d(1, 4, 4, 4, 0, 2, 1, 1, 1, 1),
		shape2d(2, 21, 21, 9, 9, 3, 1, 1, 1, 7), shape2d(1, 50, 50, 7, 9, 5, 3, 2, 2, 10),
		shape2d(2, 12, 12, 7, 6, 2, 1, 0, 1, 2), shape2d(1, 33, 33, 7, 7, 7, 1, 3, 1, 11),
		shape2d(2, 33, 33, 14, 9, 5, 2, 2, 1, 33),
		shape2d(1, 16, 16, 5, 61, 3, 1, 1, 1, 16), shape2d(2, 24, 24, 7, 47, 3, 2, 1, 1, 24),
		shape2d(1, 32, 32, 8, 41, 5, 1, 2, 1, 32), shape2d(1, 24, 24, 9, 45, 7, 2, 3, 1, 24),
		shape2d(1, 48, 48, 20, 11, 3, 2, 1, 1, 48),
		shape2d(1, 20, 20, 9, 12, 3, 1, 2, 2, 20),
		shape2d(1, 17, 17, 9, 9, 7, 3, 3, 1, 17),
		// 1x1 with few channels on one side.
		shape2d(2, 1, 20, 12, 17, 1, 1, 0, 1, 1), shape2d(3, 20, 1, 12, 17, 1, 1, 0, 1, 1),
		shape2d(2, 3, 17, 70, 64, 1, 1, 0, 1, 1), shape2d(2, 18, 4, 9, 12, 1, 1, 0, 1, 1),
		shape2d(1, 1, 1, 80, 70, 1, 1, 0, 1, 1), shape2d(2, 12, 6, 13, 11, 1, 1, 0, 1, 3),
		shape2d(2, 6, 12, 13, 11, 1, 1, 0, 1, 3), shape2d(1, 64, 1, 90, 95, 1, 1, 0, 1, 1),
		shape2d(2, 5, 10, 13, 11, 1, 1, 0, 1, 5), shape2d(2, 2, 40, 60, 90, 1, 1, 0, 1, 1),
		// Taps of a line at distances of several columns.
		shape2d(2, 24, 24, 9, 23, 3, 1, 2, 2, 24), shape2d(1, 32, 32, 10, 61, 3, 1, 4, 4, 32),
		shape2d(1, 40, 40, 7, 6, 3, 1, 3, 3, 40), shape2d(1, 16, 16, 13, 61, 3, 2, 2, 2, 16),
		shape2d(1, 24, 24, 12, 40, 5, 1, 4, 2, 24), shape2d(1, 32, 32, 12, 40, 5, 2, 2, 3, 32),
		shape2d(2, 17, 17, 9, 50, 3, 2, 3, 3, 17), shape2d(1, 16, 16, 9, 9, 7, 1, 9, 3, 16),
		// Taps that no position sees inside the image; images side by side; one vector of columns, read in place.
		shape2d(3, 32, 20, 2, 3, 7, 1, 3, 1, 1), shape2d(2, 48, 33, 3, 2, 3, 1, 4, 4, 1),
		shape2d(9, 40, 48, 7, 7, 3, 1, 1, 1, 1), shape2d(5, 28, 16, 15, 9, 3, 2, 1, 1, 1),
		// Many outputs: planar images are transposed in advance, except images whose channels are a page apart.
		shape2d(3, 20, 200, 6, 7, 3, 1, 1, 1, 1), shape2d(2, 24, 250, 11, 11, 1, 1, 0, 1, 1),
		shape2d(2, 200, 34, 13, 12, 3, 2, 1, 1, 1),
		shape2d(2, 40, 400, 7, 6, 3, 1, 1, 1, 2), shape2d(1, 70, 130, 33, 34, 1, 2, 0, 1, 1),
		shape2d(2, 1024, 130, 3, 2, 1, 1, 0, 1, 1),
		// Both images of a gradient of weights read in place: groups, strides, volumes and parts of long lines.
		shape2d(3, 64, 96, 7, 9, 3, 1, 1, 1, 2), shape2d(2, 32, 80, 9, 12, 3, 2, 1, 1, 1),
		shape2d(1, 24, 48, 2, 850, 3, 1, 1, 1, 1), shape2d(2, 40, 64, 21, 24, 1, 2, 0, 1, 1),
		shapeOf(3, 24, 48, 1, [3]int{3, 4, 5}, [3]int{2, 3, 3}, [3]int{1, 1, 1}, [3]int{1, 1, 1}, [3]int{1, 1, 1}),
		// Few channels, several positions of which count as one.
		shape2d(2, 3, 3, 30, 41, 5, 1, 2, 1, 3), shape2d(1, 2, 2, 300, 70, 9, 1, 0, 1, 2),
		shape2d(2, 6, 6, 9, 37, 3, 1, 4, 2, 6), shape2d(2, 20, 20, 9, 37, 5, 1, 2, 1, 20),
		shape2d(1, 4, 4, 9, 33, 7, 1, 6, 1, 4), shape2d(3, 3, 3, 5, 16, 3, 1, 0, 1, 3),
		shape2d(1, 3, 3, 6, 40, 3, 1, 9, 3, 3),
		shapeOf(2, 3, 3, 3, [3]int{4, 5, 40}, [3]int{3, 2, 3}, [3]int{1, 1, 1}, [3]int{1, 0, 2}, [3]int{1, 1, 1}),
		shapeOf(2, 9, 9, 9, [3]int{4, 5, 6}, [3]int{2, 3, 3}, [3]int{2, 1, 1}, [3]int{1, 1, 0}, [3]int{1, 1, 1}),
		shapeOf(1, 24, 24, 24, [3]int{1, 1, 5000}, [3]int{1, 1, 4}, [3]int{1, 1, 1}, [3]int{0, 0, 3}, [3]int{1, 1, 1}),
		shapeOf(2, 5, 7, 1, [3]int{1, 1, 100}, [3]int{1, 1, 9}, [3]int{1, 1, 3}, [3]int{0, 0, 4}, [3]int{1, 1, 2}),
		shapeOf(1, 8, 9, 1, [3]int{1, 1, 3000}, [3]int{1, 1, 5}, [3]int{1, 1, 1}, [3]int{0, 0, 2}, [3]int{1, 1, 1}),
		shapeOf(2, 6, 8, 2, [3]int{5, 6, 7}, [3]int{3, 2, 3}, [3]int{2, 1, 2}, [3]int{1, 0, 1}, [3]int{1, 2, 1}),
		shapeOf(1, 18, 4, 1, [3]int{4, 9, 3}, [3]int{2, 3, 1}, [3]int{1, 2, 1}, [3]int{1, 1, 0}, [3]int{2, 1, 1}),
	}
	// The padding of a transposed convolution's output: there is more input than the windows reach.
	for _, s := range []*Shape{
		shape2d(2, 24, 40, 12, 17, 1, 1, 0, 2, 1), shape2d(2, 24, 40, 12, 17, 1, 1, 0, 2, 4),
		shape2d(2, 7, 18, 6, 9, 3, 1, 1, 2, 1),
		shape2d(2, 20, 20, 8, 9, 3, 1, 1, 2, 20), shape2d(1, 16, 32, 7, 6, 3, 3, 1, 1, 1),
	} {
		s.In[1]++
		s.In[2]++
		list = append(list, s)
	}
	r := rand.New(rand.NewSource(1))
	for range 60 {
		g := 1 + r.Intn(2)*r.Intn(3)
		ci, co := (1+r.Intn(70/g))*g, (1+r.Intn(70/g))*g
		k, s, d := 1+r.Intn(7), 1+r.Intn(3), 1+r.Intn(2)
		p := r.Intn(k + 1)
		h, w := 1+r.Intn(9), 1+r.Intn(20)
		for (k-1)*d+1 > h+2*p || (k-1)*d+1 > w+2*p {
			h, w = h+1, w+1
		}
		list = append(list, shape2d(1+r.Intn(2), ci, co, h, w, k, s, p, d, g))
	}
	// Groups of one to nine channels, and an empty batch.
	for i := range 36 {
		c, g := 1+i%9, 1+r.Intn(9)
		k, s, d := 1+r.Intn(6), 1+r.Intn(3), 1+r.Intn(2)
		p := r.Intn(k + 1)
		h, w := (k-1)*d+1+r.Intn(9), (k-1)*d+1+r.Intn(20)
		list = append(list, shape2d(min(i, 1+r.Intn(3)), c*g, c*g, h, w, k, s, p, d, g))
	}
	return list
}

func TestCopyRows(t *testing.T) {
	for _, l := range cpu.Levels() {
		defer cpu.Set(l.Features)()
		for n := 1; n <= 70; n++ {
			for rows := range 6 {
				for _, ld := range []int{n, n + 3} {
					src := make([]float32, rows*(ld+1)+1)
					for i := range src {
						src[i] = float32(i)
					}
					whole, dst := guarded[float32](rows * ld)
					copyRows(dst, ld, src[1:], ld+1, n, rows)
					checkGuards(t, whole, dst)
					for i, v := range dst {
						r, c := i/ld, i%ld
						if c < n && v != src[1+r*(ld+1)+c] || c >= n && v == v {
							t.Fatalf("%s: %d rows of %d, %d apart: element %d of row %d is %v", l.Name, rows, n, ld, c,
								r, v)
						}
					}
				}
			}
		}
	}
}

func TestAgainstReference(t *testing.T) {
	for i, s := range shapes() {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			if products := s.N * s.Cout * volume(s.Out) * s.Cin / s.Groups * s.Taps(); testing.Short() &&
				products > 1e6 {
				t.Skip("many products")
			}
			check[float32](t, s, int64(i))
			if i%3 == 0 {
				check[float64](t, s, int64(i))
			}
			if t.Failed() {
				t.Logf("%+v", *s)
			}
		})
	}
}

// TestRandomShapes tries combinations that nobody thought of: sizes of kernels, strides, padding and dilation that
// differ by direction, with few products each.
func TestRandomShapes(t *testing.T) {
	r := rand.New(rand.NewSource(20))
	pick := func(l ...int) int { return l[r.Intn(len(l))] }
	count := 150
	if testing.Short() {
		count = 20
	}
	for i := 0; i < count; {
		g, ci, co := pick(1, 1, 1, 2, 3, 4), pick(1, 2, 3, 5, 8, 16, 24), pick(1, 2, 7, 8, 16, 33, 48)
		if r.Intn(2) == 0 { // depthwise
			g, ci, co = pick(1, 7, 8, 16, 24, 40), 1, pick(1, 1, 1, 2)
		}
		var in, k, s, p, d [3]int
		fits := true
		for j := range in {
			k[j], s[j], d[j] = pick(1, 2, 3, 3, 4, 5, 6, 7, 9, 15), pick(1, 1, 1, 2, 3), pick(1, 1, 1, 2)
			if in[j] = 1 + r.Intn(30); j == 0 {
				k[j], s[j], d[j], in[j] = pick(1, 1, 1, 2, 3), pick(1, 1, 2), 1, 1
				if k[j] > 1 {
					in[j] = 1 + r.Intn(4)
				}
			}
			p[j] = r.Intn(k[j])
			fits = fits && in[j]+2*p[j] > d[j]*(k[j]-1)
		}
		sh := shapeOf(pick(1, 2, 3), g*ci, g*co, g, in, k, s, p, d)
		if products := sh.N * sh.Cout * volume(sh.Out) * ci * sh.Taps(); !fits || products > 1<<18 {
			continue
		}
		i++
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			check[float32](t, sh, int64(i))
			checkBF16(t, sh, int64(i))
			if i%5 == 0 {
				check[float64](t, sh, int64(i))
			}
			if t.Failed() {
				t.Logf("%+v", *sh)
			}
		})
	}
}

// Results do not depend on the number of threads.
func TestSameBits(t *testing.T) {
	defer par.SetNumThreads(par.NumThreads())
	for _, s := range []*Shape{
		shape2d(3, 32, 48, 20, 23, 3, 1, 1, 1, 1), shape2d(5, 24, 70, 13, 13, 3, 2, 1, 1, 1),
		shape2d(4, 40, 80, 17, 17, 1, 1, 0, 1, 1), shape2d(4, 40, 40, 17, 17, 3, 1, 1, 1, 40),
		shape2d(3, 40, 40, 11, 9, 5, 1, 2, 1, 40), shape2d(4, 48, 48, 17, 17, 3, 1, 1, 1, 12),
		shape2d(3, 64, 64, 9, 9, 3, 2, 1, 1, 4),
		shape2d(2, 24, 3, 60, 50, 5, 1, 2, 1, 1), shape2d(2, 3, 3, 200, 50, 5, 1, 2, 1, 3),
	} {
		for _, last := range []bool{true, false} {
			r := rand.New(rand.NewSource(5))
			x := image[float32](values[float32](r, s.N*s.Cin*volume(s.In)), s.N, s.Cin, volume(s.In), last)
			g := image[float32](values[float32](r, s.N*s.Cout*volume(s.Out)), s.N, s.Cout, volume(s.Out), last)
			w := image[float32](values[float32](r, s.Cout*s.Cin/s.Groups*s.Taps()), s.Cout, s.Cin/s.Groups, s.Taps(),
				last)
			var want [3][]float32
			for _, threads := range []int{1, 2, 3, 8} {
				par.SetNumThreads(threads)
				got := [3][]float32{make([]float32, len(g.Data)), make([]float32, len(x.Data)),
					make([]float32, len(w.Data))}
				Forward(s, Image[float32]{got[0], last}, x, Weights[float32](w), nil)
				BackwardData(s, Image[float32]{got[1], last}, g, Weights[float32](w), nil)
				BackwardWeight(s, Weights[float32]{got[2], last}, g, x)
				if threads == 1 {
					want = got
					continue
				}
				for i := range got {
					for k := range got[i] {
						if math.Float32bits(got[i][k]) != math.Float32bits(want[i][k]) {
							t.Fatalf("result %d differs at %d threads", i, threads)
						}
					}
				}
			}
		}
	}
}
