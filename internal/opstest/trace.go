package opstest

import (
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/tensor"
)

// tracer notes the operators that a program calls, composed ones whole or by what they call.
type tracer struct {
	inside bool
	names  []string
}

func (*tracer) Rank() tensor.Rank { return tensor.RankTrace }

// Sees leaves in-place forms whole: as_strided_ and its like have kernels in PyTorch.
func (l *tracer) Sees(op *tensor.Op) tensor.Sight {
	if l.inside && op.Body != nil && !op.IsInPlace() {
		return tensor.Inside
	}
	return tensor.Whole
}

func (l *tracer) Call(c *tensor.Ctx, next func()) {
	l.names = append(l.names, strings.TrimPrefix(c.Op().FullName(), "aten::"))
	next()
}

// Trace lists the names, without "aten::", of the operators that a layer of RankTrace sees while f runs: composed ones
// whole or, with inside, those that they call.
func Trace(inside bool, f func()) []string {
	l := &tracer{inside: inside}
	tensor.WithLayer(l, f)
	return l.names
}

// Traced is a program of one input, and what PyTorch shows of it.
type Traced struct {
	name        string
	f           func(x *tensor.Tensor)
	shape       []int
	whole       string
	parts, last string
}

// Shows makes a Traced from names separated by blanks: whole are the operators that Python calls, as torch.export has
// them before any decomposition, parts those that reach a kernel, last the latter for channels-last memory where they
// are others.
func Shows(name string, f func(x *tensor.Tensor), shape []int, whole, parts string, last ...string) Traced {
	return Traced{name, f, shape, whole, parts, strings.Join(last, "")}
}

// CheckTraces compares what layers see of programs with what PyTorch shows: while gradients are recorded and not, in
// both memory formats.
func CheckTraces(t *testing.T, list []Traced) {
	t.Helper()
	for _, c := range list {
		for _, format := range []tensor.MemoryFormat{tensor.ContiguousFormat, tensor.ChannelsLast} {
			last := format == tensor.ChannelsLast
			if last && len(c.shape) != 4 {
				continue
			}
			for _, training := range []bool{true, false} {
				for _, inside := range []bool{false, true} {
					x := Fill(tensor.Float32, 1, c.shape...)
					if last {
						x = x.Contiguous(tensor.ContiguousOptions{MemoryFormat: format})
					}
					var got []string
					if run := func() { got = Trace(inside, func() { c.f(x) }) }; training {
						x = x.SetRequiresGrad(true)
						run()
					} else {
						tensor.NoGrad(run)
					}
					want := c.whole
					switch {
					case inside && last && c.last != "":
						want = c.last
					case inside:
						want = c.parts
					}
					if !slices.Equal(got, strings.Fields(want)) {
						t.Errorf("%s, %s, training %v, inside %v: got %v, want %s", c.name, format, training, inside,
							got, want)
					}
				}
			}
		}
	}
}
