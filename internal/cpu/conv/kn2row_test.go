package conv

import (
	"fmt"
	"math/rand"
	"testing"
)

// fewShape is a random convolution with few channels on one side: on that of the
// result, or of the input, whose gradient has few then.
func fewShape(r *rand.Rand, nd int) *Shape {
	one := func(list ...int) (v [3]int) {
		for i := range v {
			if v[i] = 1; i >= 3-nd {
				v[i] = list[r.Intn(len(list))]
			}
		}
		return v
	}
	for {
		few, many := 1+r.Intn(5), []int{3, 8, 17, 40}[r.Intn(4)]
		groups := 1 + r.Intn(4)/3
		k, s, d := one(1, 2, 3, 4, 5), one(1, 1, 2, 3), one(1, 1, 2, 3)
		in := one(1, 2, 5, 8, 11, 14)
		if nd == 1 {
			in = one(5, 33, 150)
		}
		var p [3]int
		for i := 3 - nd; i < 3; i++ {
			p[i] = r.Intn(k[i]*d[i] + 1)
		}
		ci, co := few*groups, many*groups
		if r.Intn(2) == 0 {
			ci, co, s = co, ci, [3]int{1, 1, 1}
		}
		sh := shapeOf(1+r.Intn(3), ci, co, groups, in, k, s, p, d)
		if min(sh.Out[0], sh.Out[1], sh.Out[2]) > 0 {
			return sh
		}
	}
}

func TestFew(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	count := 60
	if testing.Short() {
		count = 15
	}
	for i := range count {
		s := fewShape(r, 1+i%3)
		t.Run(fmt.Sprintf("%+v", *s), func(t *testing.T) {
			check[float32](t, s, int64(i))
			check[float64](t, s, int64(i))
		})
	}
}

// TestFewSteps has pieces of images that are computed in several steps, with
// lines of P between them that are kept.
func TestFewSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("many products")
	}
	all := [3]int{1, 1, 1}
	for i, s := range []*Shape{
		shape2d(1, 16, 2, 150, 60, 7, 1, 3, 1, 1),
		shape2d(2, 3, 24, 131, 70, 5, 2, 0, 1, 1), // the gradient is wider than its source
		shapeOf(1, 20, 1, 1, [3]int{1, 1, 40000}, [3]int{1, 1, 9}, all, [3]int{0, 0, 4}, all),
		shapeOf(1, 16, 1, 1, [3]int{20, 30, 30}, [3]int{3, 3, 3}, all, [3]int{1, 2, 0}, all),
	} {
		j := forwardJob(s, Image[float32]{}, Image[float32]{}, nil)
		if s.Cin < s.Cout {
			j = backwardJob(s, Image[float32]{}, Image[float32]{}, nil)
		}
		if f := j.kn2row(); f == nil || f.pieces < 2 || f.size <= f.steps {
			t.Errorf("%+v: not cut: %+v", *s, f)
		}
		if g := j.im2colGrad(); s.Cin > s.Cout && (g == nil || g.pieces < 2) {
			t.Errorf("%+v: the gradient of the weights is not cut: %+v", *s, g)
		}
		check[float32](t, s, int64(i))
	}
}
