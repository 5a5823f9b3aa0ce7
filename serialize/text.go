package serialize

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/gotorch-dev/torch/internal/pickle"
	"github.com/gotorch-dev/torch/internal/pyfmt"
	"github.com/gotorch-dev/torch/serialize/npy"
	"github.com/gotorch-dev/torch/tensor"
)

// maxText bounds the text of a value in bytes.
const maxText = 1 << 20

// Repr prints a loaded value as Python does. The text is bounded as that of [Dict.String] is, which package fmt cannot
// promise for slices: it walks shared lists once for each place that they occur in.
func Repr(v any) string { return text(v) }

// text prints a value as Python does, and a container within itself as Python does too.
func text(v any) string {
	p := printer{open: map[identity]bool{}}
	p.value(v)
	return p.b.String()
}

// identity tells containers apart: by their memory, and by their type where two share it.
type identity struct {
	p   uintptr
	n   int
	typ reflect.Type
}

// identityOf is false for empty slices, which have none.
func identityOf(v any) (id identity, ok bool) {
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Slice:
		return identity{r.Pointer(), r.Len(), r.Type()}, r.Len() > 0
	case reflect.Pointer, reflect.Map:
		return identity{r.Pointer(), 0, r.Type()}, !r.IsNil()
	}
	return id, false
}

type printer struct {
	b    strings.Builder
	open map[identity]bool
}

func (p *printer) value(v any) {
	switch x := v.(type) {
	case []any:
		p.items(v, "[", "]", len(x), func(i int) { p.value(x[i]) })
	case Tuple:
		end := ")"
		if len(x) == 1 {
			end = ",)"
		}
		p.items(v, "(", end, len(x), func(i int) { p.value(x[i]) })
	case *Dict:
		if x == nil {
			p.b.WriteString("None")
			return
		}
		start, end := "{", "}"
		if x.Ordered {
			start, end = "OrderedDict({", "})"
			if len(x.entries) == 0 {
				start, end = "OrderedDict(", ")"
			}
		}
		p.items(v, start, end, len(x.entries), func(i int) {
			p.value(x.entries[i].key)
			p.b.WriteString(": ")
			p.value(x.entries[i].val)
		})
	case *tensor.Tensor:
		if x == nil || corners(x.Shape()) <= 1<<16 {
			p.write(pyfmt.Repr(v))
		} else {
			p.write(fmt.Sprintf("tensor(..., size=%v, dtype=%v)", x.Shape(), x.DType()))
		}
	case complex128:
		p.write(pyComplex(x))
	case *Opaque:
		p.write(x.String())
	case *npy.Array:
		p.write(describeArray(x))
	case Size:
		p.write("torch.Size(" + tensor.ShapeString(x) + ")")
	case Device:
		p.write("device(type='" + x.Type + "'")
		if x.Index >= 0 {
			p.write(fmt.Sprintf(", index=%d", x.Index))
		}
		p.write(")")
	case Global:
		p.write("<" + cut(x.String()) + ">")
	case *Object:
		p.object(x)
	case []byte, ByteArray, *Set:
		p.write(pickle.Repr(v))
	default:
		p.write(pyfmt.Repr(v))
	}
}

// pyComplex prints a complex number as Python does.
func pyComplex(x complex128) string {
	part := func(f float64) string { return strings.TrimSuffix(pyfmt.Repr(f), ".0") }
	im := part(imag(x)) + "j"
	if real(x) == 0 && !math.Signbit(real(x)) {
		return im
	}
	if !strings.HasPrefix(im, "-") {
		im = "+" + im
	}
	return "(" + part(real(x)) + im + ")"
}

// object prints an object as the calls that would make it.
func (p *printer) object(x *Object) {
	if names, fields := x.namedResults(); names != nil {
		p.items(x, "torch.return_types."+x.Class.Name+"(\n", ")", 1, func(int) {
			for i, name := range names {
				if i > 0 {
					p.write(",\n")
				}
				p.write(name + "=")
				p.value(fields[i])
			}
		})
		return
	}
	if x.Callee != nil {
		p.items(x, "<call of ", "", 1, func(int) { p.value(x.Callee) })
	} else {
		p.write("<" + cut(x.Class.String()))
	}
	id, _ := identityOf(x)
	if p.open[id] {
		p.write(" ...>")
		return
	}
	if len(x.Args) > 0 {
		p.items(x, "(", ")", len(x.Args), func(i int) { p.value(x.Args[i]) })
	}
	if len(x.Items) > 0 {
		p.items(x, " [", "]", len(x.Items), func(i int) { p.value(x.Items[i]) })
	}
	if len(x.Entries) > 0 {
		p.items(x, " {", "}", len(x.Entries), func(i int) {
			p.value(x.Entries[i][0])
			p.b.WriteString(": ")
			p.value(x.Entries[i][1])
		})
	}
	if x.State != nil {
		p.items(x, " ", "", 1, func(int) { p.value(x.State) })
	}
	p.write(">")
}

// corners is at most how many elements a tensor prints: of each dimension the first and last three. A view of one
// element with thirty dimensions has more corners than any text can hold.
func corners(shape []int) int {
	n := 1
	for _, d := range shape {
		if n *= min(d, 7); n > 1<<20 {
			break
		}
	}
	return n
}

// write cuts text at the limit.
func (p *printer) write(s string) {
	if left := maxText - p.b.Len(); len(s) > left {
		s = s[:max(left, 0)] + "..."
	}
	p.b.WriteString(s)
}

// items prints a container, up to the limit of the text.
func (p *printer) items(v any, start, end string, n int, item func(i int)) {
	p.b.WriteString(start)
	defer p.b.WriteString(end)
	id, known := identityOf(v)
	if p.open[id] || len(p.open) > maxDepth {
		p.b.WriteString("...")
		return
	}
	if known {
		p.open[id] = true
		defer delete(p.open, id)
	}
	for i := range n {
		if i > 0 {
			p.b.WriteString(", ")
		}
		if p.b.Len() >= maxText {
			p.b.WriteString("...")
			return
		}
		item(i)
	}
}
