package digits

import (
	"sync"

	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gobolditalic"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/gofont/gomonoitalic"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// point is a place in the plane; in outlines the unit is the height of a digit, the
// origin its centre, and y points down.
type point struct{ x, y float64 }

// A glyph is a list of closed polygons whose interior is given by the non-zero
// winding rule.
type glyph [][]point

// outlines returns the glyphs of the digits in every face, as [face][digit].
var outlines = sync.OnceValue(func() [][Classes]glyph {
	ttfs := [][]byte{
		goregular.TTF, gobold.TTF, goitalic.TTF, gobolditalic.TTF,
		gomedium.TTF, gomono.TTF, gomonobold.TTF, gomonoitalic.TTF,
	}
	faces := make([][Classes]glyph, len(ttfs))
	for i, ttf := range ttfs {
		f, err := sfnt.Parse(ttf)
		if err != nil {
			// The font is compiled in: an error here is a broken build.
			panic("digits: " + err.Error())
		}
		for d := range faces[i] {
			faces[i][d] = load(f, rune('0'+d))
		}
	}
	return faces
})

// load returns the outline of r with curves cut into straight lines, centred and
// scaled to height 1.
func load(f *sfnt.Font, r rune) glyph {
	var buf sfnt.Buffer
	x, err := f.GlyphIndex(&buf, r)
	if err != nil {
		panic("digits: " + err.Error())
	}
	// At one pixel per font unit the coordinates are the font's own integers, so that
	// nothing is rounded on the way.
	segs, err := f.LoadGlyph(&buf, x, fixed.I(int(f.UnitsPerEm())), &sfnt.LoadGlyphOptions{})
	if err != nil {
		panic("digits: " + err.Error())
	}
	at := func(p fixed.Point26_6) point { return point{float64(p.X), float64(p.Y)} }

	var g glyph
	for _, s := range segs {
		last := len(g) - 1
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			g = append(g, []point{at(s.Args[0])})
		case sfnt.SegmentOpLineTo:
			g[last] = append(g[last], at(s.Args[0]))
		case sfnt.SegmentOpQuadTo:
			// A digit is about 20 pixels high and made of a dozen curves: three pieces
			// each are as smooth as a pixel can show.
			const pieces = 3
			a, b, c := g[last][len(g[last])-1], at(s.Args[0]), at(s.Args[1])
			for k := 1; k <= pieces; k++ {
				t := float64(k) / pieces
				ab, bc := lerp(a, b, t), lerp(b, c, t)
				g[last] = append(g[last], lerp(ab, bc, t))
			}
		default:
			panic("digits: a TrueType font has no cubic curves")
		}
	}

	lo, hi := g[0][0], g[0][0]
	for i, poly := range g {
		// Drop points that repeat: they would have no direction when strokes are widened.
		keep := poly[:0]
		for _, p := range poly {
			if len(keep) == 0 || p != keep[len(keep)-1] {
				keep = append(keep, p)
			}
			lo.x, lo.y = min(lo.x, p.x), min(lo.y, p.y)
			hi.x, hi.y = max(hi.x, p.x), max(hi.y, p.y)
		}
		if len(keep) > 1 && keep[0] == keep[len(keep)-1] {
			keep = keep[:len(keep)-1]
		}
		g[i] = keep
	}
	h := hi.y - lo.y
	for _, poly := range g {
		for i, p := range poly {
			poly[i] = point{(p.x - (lo.x+hi.x)/2) / h, (p.y - (lo.y+hi.y)/2) / h}
		}
	}
	return g
}

// lerp returns the point at t on the way from a to b. The conversions round each
// product, which forbids fused multiply-add (see the package comment).
func lerp(a, b point, t float64) point {
	return point{a.x + float64(t*(b.x-a.x)), a.y + float64(t*(b.y-a.y))}
}
