package graphcmd

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
)

// colours are the fill and the line of a kind's boxes.
var colours = map[kind][2]string{
	kindOther: {"#f4f4f5", "#a1a1aa"}, kindPort: {"#ffffff", "#3f3f46"}, kindConv: {"#dbeafe", "#3b82f6"},
	kindLinear: {"#ccfbf1", "#14b8a6"}, kindNorm: {"#ede9fe", "#8b5cf6"}, kindActivation: {"#ffedd5", "#f97316"},
	kindPool: {"#dcfce7", "#22c55e"}, kindShape: {"#f1f5f9", "#94a3b8"}, kindControl: {"#fee2e2", "#ef4444"},
	kindRecurrent: {"#fce7f3", "#ec4899"},
}

// svg writes the picture.
func (d *drawing) svg(to io.Writer) error {
	w := bufio.NewWriter(to)
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" `+
		`font-family="Helvetica, Arial, sans-serif" font-size="12">`+"\n", d.width, d.height, d.width, d.height)
	fmt.Fprintln(w, `<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" `+
		`orient="auto"><path d="M0,0.5 L7.5,4 L0,7.5 Z" fill="#71717a"/></marker></defs>`)
	fmt.Fprintln(w, `<rect width="100%" height="100%" fill="white"/>`)
	for _, f := range d.frames() {
		fmt.Fprintf(w, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="10" fill="#fafafa" fill-opacity="0.7" `+
			`stroke="#d4d4d8" stroke-dasharray="4 3"/>`+"\n", f.x, f.y, f.w, f.h)
		at, anchor := f.x+8, "start"
		if f.depth%2 == 0 { // those of a module and of the one around it do not meet
			at, anchor = f.x+f.w-8, "end"
		}
		fmt.Fprintf(w, `<text x="%.1f" y="%.1f" text-anchor="%s" font-size="10" fill="#71717a">%s</text>`+"\n", at,
			f.y+12,
			anchor, html.EscapeString(f.label))
	}
	labelled := map[*box]bool{} // one shape for all lines that leave a box
	for _, e := range d.edges {
		d.line(w, e, !labelled[e.path[0]])
		labelled[e.path[0]] = true
	}
	for _, b := range d.boxes {
		c := colours[b.kind]
		rx := 5.0
		if b.kind == kindPort {
			rx = b.h / 2
		}
		fmt.Fprintf(w, `<g><title>%s</title><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="%.1f" fill="%s" `+
			`stroke="%s"/>`, html.EscapeString(strings.TrimPrefix(b.scope+" "+b.label, " ")), b.x-b.w/2, b.y-b.h/2, b.w,
			b.h, rx, c[0], c[1])
		y := b.y + 4
		if b.sub != "" {
			y -= lineH / 2
			fmt.Fprintf(w, `<text x="%.1f" y="%.1f" text-anchor="middle" font-size="10" fill="#52525b">%s</text>`, b.x,
				y+lineH, html.EscapeString(b.sub))
		}
		fmt.Fprintf(w, `<text x="%.1f" y="%.1f" text-anchor="middle" fill="#18181b">%s</text></g>`+"\n", b.x, y,
			html.EscapeString(b.label))
	}
	fmt.Fprintln(w, "</svg>")
	return w.Flush()
}

// line draws an edge through its bends, with the shape beside its beginning if that is wanted.
func (d *drawing) line(w io.Writer, e *edge, label bool) {
	from := e.path[0]
	var b strings.Builder
	x, y := from.x, from.y+from.h/2
	fmt.Fprintf(&b, "M%.1f,%.1f", x, y)
	for _, p := range e.path[1:] {
		py := p.y
		if !p.bend {
			py = p.y - p.h/2 - 1
		}
		mid := (y + py) / 2
		fmt.Fprintf(&b, " C%.1f,%.1f %.1f,%.1f %.1f,%.1f", x, mid, p.x, mid, p.x, py)
		x, y = p.x, py
	}
	fmt.Fprintf(w, `<path d="%s" fill="none" stroke="#71717a" stroke-width="1.1" marker-end="url(#a)"/>`+"\n",
		b.String())
	if e.label != "" && label {
		next := e.path[1]
		fmt.Fprintf(w, `<text x="%.1f" y="%.1f" font-size="9" fill="#71717a">%s</text>`+"\n",
			from.x+(next.x-from.x)*0.15+5,
			from.y+from.h/2+13, html.EscapeString(e.label))
	}
}

type frame struct {
	label      string
	depth      int
	x, y, w, h float64
}

// frames are those of the modules: the outermost ones that have several boxes and whose frame holds no box of others.
func (d *drawing) frames() []frame {
	var out []frame
	for depth := 1; depth <= 3; depth++ {
		groups := map[string][]*box{}
		var names []string
		for _, b := range d.boxes {
			parts := strings.Split(b.scope, ".")
			if b.scope == "" || len(parts) < depth {
				continue
			}
			name := strings.Join(parts[:depth], ".")
			if groups[name] == nil {
				names = append(names, name)
			}
			groups[name] = append(groups[name], b)
		}
		for _, name := range names {
			l := groups[name]
			if len(l) < 2 {
				continue
			}
			pad := 17 - 4*float64(depth)
			f := frame{label: name, depth: depth, x: l[0].x - l[0].w/2, y: l[0].y - l[0].h/2}
			right, bottom := l[0].x+l[0].w/2, l[0].y+l[0].h/2
			for _, b := range l {
				f.x, f.y = min(f.x, b.x-b.w/2), min(f.y, b.y-b.h/2)
				right, bottom = max(right, b.x+b.w/2), max(bottom, b.y+b.h/2)
			}
			f.x, f.y, right, bottom = f.x-pad, f.y-pad, right+pad, bottom+pad
			right = max(right, f.x+float64(len(name))*5.5+16)
			f.w, f.h = right-f.x, bottom-f.y
			foreign := slices.ContainsFunc(d.boxes, func(b *box) bool {
				return !slices.Contains(l, b) && b.x+b.w/2 > f.x && b.x-b.w/2 < right && b.y+b.h/2 > f.y &&
					b.y-b.h/2 < bottom
			})
			if !foreign {
				out = append(out, f)
			}
		}
	}
	return out
}
