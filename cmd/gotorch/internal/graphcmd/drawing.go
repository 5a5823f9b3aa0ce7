package graphcmd

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// drawing is a graph that is drawn in layers, inputs at the top: the method of Sugiyama, Tagawa and Toda, "Methods for
// Visual Understanding of Hierarchical System Structures" (1981). A box lies below all boxes that it reads; a line that
// passes layers has a bend in each of them; within a layer, boxes are ordered by the mean place of their neighbours.
type drawing struct {
	boxes     []*box
	edges     []*edge
	operators int

	layers        [][]*box
	width, height float64
}

type box struct {
	label, sub string
	scope      string
	kind       kind
	bend       bool // a place that a line passes

	layer      int
	x, y, w, h float64 // the middle
	up, down   []*box  // neighbours in the layers above and below
}

type edge struct {
	from, to int
	label    string
	path     []*box
}

type kind int

const (
	kindOther kind = iota
	kindPort
	kindConv
	kindLinear
	kindNorm
	kindActivation
	kindPool
	kindShape
	kindControl
	kindRecurrent
)

// words tell the kind of an operator by a part of its name, the first that fits.
var words = []struct {
	word string
	kind kind
}{
	{"conv", kindConv}, {"norm", kindNorm}, {"gemm", kindLinear}, {"matmul", kindLinear}, {"linear", kindLinear},
	{"addmm", kindLinear}, {"einsum", kindLinear}, {"attention", kindLinear}, {"lstm", kindRecurrent},
	{"gru", kindRecurrent}, {"rnn", kindRecurrent}, {"relu", kindActivation}, {"sigmoid", kindActivation},
	{"tanh", kindActivation}, {"gelu", kindActivation}, {"silu", kindActivation}, {"softmax", kindActivation},
	{"clip", kindActivation}, {"hardswish", kindActivation}, {"elu", kindActivation}, {"pool", kindPool},
	{"mean", kindPool}, {"reshape", kindShape}, {"flatten", kindShape}, {"transpose", kindShape},
	{"permute", kindShape}, {"concat", kindShape}, {"cat", kindShape}, {"split", kindShape}, {"slice", kindShape},
	{"squeeze", kindShape}, {"gather", kindShape}, {"view", kindShape}, {"expand", kindShape}, {"shape", kindShape},
	{"select", kindShape}, {"if", kindControl}, {"loop", kindControl}, {"scan", kindControl},
}

const (
	mostBoxes = 20_000
	lineH     = 15.0
	gapX      = 26.0
	gapY      = 34.0
	charW     = 6.6
)

func (d *drawing) box(label, sub, scope string, k kind) int {
	b := &box{label: cut(label), sub: cut(sub), scope: scope, kind: k}
	b.w, b.h = max(56, charW*float64(max(len([]rune(b.label)), len([]rune(b.sub))))+20), 26
	if b.sub != "" {
		b.h += lineH
	}
	d.boxes = append(d.boxes, b)
	return len(d.boxes) - 1
}

func cut(s string) string {
	if r := []rune(s); len(r) > 48 {
		return string(r[:46]) + "…"
	}
	return s
}

func (d *drawing) operator(name, sub, scope string) int {
	d.operators++
	k := kindOther
	low := strings.ToLower(name)
	for _, w := range words {
		if strings.Contains(low, w.word) && (len(w.word) > 2 || low == w.word) {
			k = w.kind
			break
		}
	}
	return d.box(name, sub, scope, k)
}

func (d *drawing) edge(from, to int, label string) {
	if from == to || slices.ContainsFunc(d.edges, func(e *edge) bool { return e.from == from && e.to == to }) &&
		len(d.edges) < 5000 {
		return
	}
	d.edges = append(d.edges, &edge{from: from, to: to, label: label})
}

// layout gives each box its place.
func (d *drawing) layout() error {
	if len(d.boxes) > mostBoxes {
		return fmt.Errorf("the model has %d operators: a picture of more than %d shows nothing", len(d.boxes),
			mostBoxes)
	}
	d.rank()
	d.bends()
	d.order()
	d.place()
	return nil
}

// rank puts each box one layer below the lowest box that it reads. Boxes are made after those that they read.
func (d *drawing) rank() {
	sort.SliceStable(d.edges, func(i, j int) bool { return d.edges[i].to < d.edges[j].to })
	for _, e := range d.edges {
		if e.from < e.to {
			d.boxes[e.to].layer = max(d.boxes[e.to].layer, d.boxes[e.from].layer+1)
		}
	}
	d.edges = slices.DeleteFunc(d.edges, func(e *edge) bool { return e.from >= e.to })
	first := map[int]int{} // inputs lie right above what reads them
	for _, e := range d.edges {
		if l, ok := first[e.from]; !ok || d.boxes[e.to].layer < l {
			first[e.from] = d.boxes[e.to].layer
		}
	}
	for i, b := range d.boxes {
		if l, ok := first[i]; ok && b.layer == 0 {
			b.layer = l - 1
		}
	}
}

// bends adds a place to each layer that a line passes.
func (d *drawing) bends() {
	n := 0
	for _, b := range d.boxes {
		n = max(n, b.layer+1)
	}
	d.layers = make([][]*box, n)
	for _, b := range d.boxes {
		d.layers[b.layer] = append(d.layers[b.layer], b)
	}
	for _, e := range d.edges {
		from, to := d.boxes[e.from], d.boxes[e.to]
		e.path = []*box{from}
		for l := from.layer + 1; l < to.layer; l++ {
			b := &box{bend: true, layer: l, w: 12, scope: to.scope}
			d.layers[l] = append(d.layers[l], b)
			e.path = append(e.path, b)
		}
		e.path = append(e.path, to)
		for i := 1; i < len(e.path); i++ {
			a, b := e.path[i-1], e.path[i]
			a.down, b.up = append(a.down, b), append(b.up, a)
		}
	}
}

// order sorts the boxes of each layer by the mean place of their neighbours above, then below, several times.
func (d *drawing) order() {
	at := map[*box]float64{}
	number := func(l []*box) {
		for i, b := range l {
			at[b] = float64(i) - float64(len(l))/2
		}
	}
	for _, l := range d.layers {
		number(l)
	}
	for pass := range 8 {
		for k := range d.layers {
			l := d.layers[k]
			if pass%2 == 1 {
				l = d.layers[len(d.layers)-1-k]
			}
			want := map[*box]float64{}
			for _, b := range l {
				near := b.up
				if pass%2 == 1 {
					near = b.down
				}
				want[b] = at[b]
				if len(near) > 0 {
					sum := 0.0
					for _, n := range near {
						sum += at[n]
					}
					want[b] = sum / float64(len(near))
				}
			}
			sort.SliceStable(l, func(i, j int) bool { return want[l[i]] < want[l[j]] })
			number(l)
		}
	}
}

// place moves each box towards the mean of its neighbours, as far as the others of its layer leave room.
func (d *drawing) place() {
	y := 30.0
	for _, l := range d.layers {
		h := 0.0
		for _, b := range l {
			h = max(h, b.h)
		}
		x := 0.0
		for _, b := range l {
			b.x, b.y = x+b.w/2, y+h/2
			x += b.w + gapX
		}
		for _, b := range l { // around the middle
			b.x -= x / 2
		}
		y += h + gapY
	}
	d.height = y
	for pass := range 40 {
		for k := range d.layers {
			l := d.layers[k]
			if pass%2 == 1 {
				l = d.layers[len(d.layers)-1-k]
			}
			for i, b := range l {
				near := slices.Concat(b.up, b.down)
				if len(near) == 0 {
					continue
				}
				sum, weight := 0.0, 0.0
				for _, n := range near {
					w := 1.0
					if b.bend && n.bend { // a long line is straight
						w = 6
					}
					sum += w * n.x
					weight += w
				}
				x := sum / weight
				if i > 0 {
					x = max(x, l[i-1].x+(l[i-1].w+b.w)/2+gapX)
				}
				if i+1 < len(l) {
					x = min(x, l[i+1].x-(l[i+1].w+b.w)/2-gapX)
				}
				b.x = x
			}
		}
	}
	low, high := 0.0, 0.0
	for i, l := range d.layers {
		for _, b := range l {
			if i == 0 && b == l[0] {
				low, high = b.x-b.w/2, b.x+b.w/2
			}
			low, high = min(low, b.x-b.w/2), max(high, b.x+b.w/2)
		}
	}
	const margin = 60
	for _, l := range d.layers {
		for _, b := range l {
			b.x += margin - low
		}
	}
	d.width = high - low + 2*margin
}
