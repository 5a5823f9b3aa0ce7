package trace

import (
	"fmt"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/tensor"
)

// Captured is what Capture has recorded: a program for the very sizes, dtypes and layouts of the arguments, and what
// it stands on.
type Captured struct {
	// Func takes the arguments and gives the results. Tensors that were there before are constants of it.
	Func *graph.Function
	// Constants are those tensors, with their versions when they were first read.
	Constants map[*tensor.Tensor]int
	// Read is memory, not of tensors that depend on the arguments, whose elements Go code has read, and Written that
	// which operators have changed.
	Read, Written map[*tensor.Storage]bool
	// Refused says why the program does not do what the function does, "" if it does.
	Refused string
	// Passing says why this one recording is worth nothing, which another one may be; "" if it is.
	Passing string
}

func (c *Captured) refuse(format string, args ...any) {
	if c.Refused == "" {
		c.Refused = fmt.Sprintf(format, args...)
	}
}

// Capture runs f on the arguments themselves, once, and records the operators that it calls. own are tensors that f is
// known to use beside its arguments, such as a module's. It is for programs that run again with other elements in the
// place of f: where Go code decides something by elements, or in whatever else the operators do not tell, Refused says
// so. ok is false, and f has not run, while something else is recorded.
func Capture(f func(args []*tensor.Tensor) []*tensor.Tensor, args, own []*tensor.Tensor) (results []*tensor.Tensor,
	c *Captured, ok bool) {
	if !recording.TryLock() {
		return nil, nil, false
	}
	defer recording.Unlock()
	c = &Captured{Func: graph.NewFunction("forward"), Constants: map[*tensor.Tensor]int{},
		Read: map[*tensor.Storage]bool{}, Written: map[*tensor.Storage]bool{}}
	r := &recorder{fn: c.Func, block: c.Func.Body, quiet: true, loaded: []map[*tensor.Tensor]*graph.Value{{}},
		values: map[*tensor.Tensor]*graph.Value{}, traced: map[*tensor.Storage]bool{}, captured: c,
		own: map[*tensor.Tensor]bool{}}
	for _, t := range own {
		r.own[t] = true
	}
	strays := tensor.Strays()
	r.mark = tensor.StorageMark()
	defer func() {
		for st := range r.traced {
			st.Untrace()
		}
	}()
	for i, x := range args {
		r.define(x, c.Func.Body.Param(defaultName(i), graph.Tensor))
	}
	tensor.WithLayer(capturer{r}, func() { results = f(args) })
	if tensor.Strays() != strays {
		c.Passing = "Forward hands tensors to other goroutines, or these use its input"
	}
	for _, y := range results {
		v := r.values[y]
		if v == nil {
			c.refuse("the result does not come from recorded operators")
			return results, c, true
		}
		c.Func.Body.Results = append(c.Func.Body.Results, v)
	}
	return results, c, true
}

// capturer is the layer that Capture records with. It knows nothing of modules.
type capturer struct{ r *recorder }

// Rank is that of a tracer.
func (c capturer) Rank() tensor.Rank { return tensor.RankTrace }

// KeepsNoMemory says that what was recorded may be freed: only its shape is asked for.
func (c capturer) KeepsNoMemory() {}

// Read is called when Go code reads elements.
func (c capturer) Read(s *tensor.Storage) {
	if c.r.traced[s] {
		c.r.captured.refuse("Forward reads elements of a tensor that depends on the input, and what Go code does " +
			"with them cannot be recorded")
		return
	}
	c.r.captured.Read[s] = true
}

// Depends is called when the size of a result depends on elements, or a result is one of Go's numbers.
func (c capturer) Depends(op *tensor.Op) {
	if c.r.depends {
		c.r.refuseDependent(op)
	}
}

// refuseDependent refuses a program whose operator gives results that depend on elements in another way than theirs.
func (r *recorder) refuseDependent(op *tensor.Op) {
	if r.captured != nil {
		r.captured.refuse("the results of %s depend on elements in their size or are Go's numbers", op.FullName())
	}
}

// Call records one call, and what it writes.
func (c capturer) Call(x *tensor.Ctx, next func()) {
	for i := range x.Op().Sch.Params {
		if i >= x.NumArgs() || !x.Op().Sch.Params[i].Writes {
			continue
		}
		v := x.Value(i)
		if v.K == tensor.KTensor && v.T != nil && !v.T.IsSparse() {
			c.r.captured.Written[v.T.Storage()] = true
		} else if l, ok := v.X.([]*tensor.Tensor); ok {
			for _, t := range l {
				if t != nil && !t.IsSparse() {
					c.r.captured.Written[t.Storage()] = true
				}
			}
		}
	}
	c.r.Call(x, next)
}

// outside is what a capture notes of a tensor that no recorded operator has made.
func (r *recorder) outside(t *tensor.Tensor) {
	c := r.captured
	switch {
	case t.IsSparse():
		c.refuse("an operator reads a sparse tensor of the module, whose changes nobody notices")
		return
	case t.IsWrappedNumber():
	case t.Storage().MadeSince(r.mark):
		c.refuse("Forward makes a tensor of Go's numbers, or on another goroutine, which an operator reads")
	case r.traced[t.Storage()]:
		c.Passing = "the input is one of the module's tensors"
	}
	if _, known := c.Constants[t]; !known {
		c.Constants[t] = t.Version()
	}
}
