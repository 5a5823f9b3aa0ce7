package rngcheck

import (
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/tensor"
)

// call is a call in the expression of a case: "randint(0,9,(3,))", "dropout(x,.3,inplace)".
type call struct {
	name string
	args []string
	kw   map[string]string
}

// pieces cuts a text at a separator, but not between brackets.
func pieces(s, sep string) (out []string) {
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch {
		case strings.IndexByte("([{", s[i]) >= 0:
			depth++
		case strings.IndexByte(")]}", s[i]) >= 0:
			depth--
		case depth == 0 && strings.HasPrefix(s[i:], sep):
			out = append(out, strings.TrimSpace(s[from:i]))
			i += len(sep) - 1
			from = i + 1
		}
	}
	return append(out, strings.TrimSpace(s[from:]))
}

// closing is the place of the bracket that closes the one at s[open], -1 without.
func closing(s string, open int) int {
	depth := 0
	for i := open; i < len(s); i++ {
		switch {
		case strings.IndexByte("([{", s[i]) >= 0:
			depth++
		case strings.IndexByte(")]}", s[i]) >= 0:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// readCall reads a call from the front of s, and gives the rest.
func readCall(s string) (c call, rest string, ok bool) {
	open := strings.IndexByte(s, '(')
	if open <= 0 || strings.ContainsAny(s[:open], " ,;:[]=") {
		return c, s, false
	}
	end := closing(s, open)
	if end < 0 {
		return c, s, false
	}
	c.name, c.kw = s[:open], map[string]string{}
	if inner := strings.TrimSpace(s[open+1 : end]); inner != "" {
		for _, a := range pieces(inner, ",") {
			key, value, named := strings.Cut(a, "=")
			if named && !strings.ContainsAny(key, "([") {
				c.kw[strings.TrimSpace(key)] = strings.TrimSpace(value)
			} else if a != "" {
				c.args = append(c.args, a)
			}
		}
	}
	return c, strings.TrimSpace(s[end+1:]), true
}

// arg is argument i, "" without.
func (c call) arg(i int) string {
	if i < len(c.args) {
		return c.args[i]
	}
	return ""
}

// whole is a whole number; everything else skips the case.
func whole(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		panic(golden.Skip("no number: " + s))
	}
	return n
}

func number(s string) float64 {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil {
		panic(golden.Skip("no number: " + s))
	}
	return f
}

// inside is what stands in the brackets of "range(20)", "Generator(5)" or "[3,7]".
func inside(s string) string {
	open := strings.IndexAny(s, "([")
	if open < 0 || closing(s, open) < 0 {
		panic(golden.Skip("no brackets: " + s))
	}
	return s[open+1 : closing(s, open)]
}

// wholes are the numbers of a list, in which ".." stands for those between: "[1,3,..,15]".
func wholes(s string) (out []int) {
	parts := pieces(inside(s), ",")
	for i, p := range parts {
		switch {
		case p == "":
		case p == ".." && len(out) > 1 && i+1 < len(parts):
			step := out[len(out)-1] - out[len(out)-2]
			for n := out[len(out)-1] + step; step > 0 && n < whole(parts[i+1]); n += step {
				out = append(out, n)
			}
		default:
			out = append(out, whole(p))
		}
	}
	return out
}

// drawing evaluates what draws numbers one call after the other.
type drawing struct {
	seed       int64
	generators map[string]*tensor.Generator
	values     map[string]*tensor.Tensor
	states     map[string][]byte
}

// draws evaluates expressions such as "rand(3),randn(17)", "10 x randn(3)" or
// "randn(1); s=get_rng_state; a=randn(3); set_rng_state(s); [a, randn(3)]". ok is false where it cannot read one.
func draws(c *caseRecord) (out tensors, ok bool) {
	d := &drawing{c.Seed, map[string]*tensor.Generator{}, map[string]*tensor.Tensor{}, map[string][]byte{}}
	for _, s := range pieces(c.Case, ";") {
		forked := false
		if head, body, found := strings.Cut(s, ": "); found {
			name, what, _ := strings.Cut(head, "=")
			switch {
			case head == "fork_rng":
				forked = true
			case strings.HasPrefix(what, "Generator(seed"):
				d.generators[name] = seeded(c.Seed + int64(number("0"+strings.TrimPrefix(inside(what), "seed+"))))
			case strings.HasPrefix(what, "copy of ") && d.generators[what[len("copy of "):]] != nil:
				d.generators[name] = d.generators[what[len("copy of "):]].Clone()
			default:
				return nil, false
			}
			s = body
		}
		if strings.HasPrefix(s, "[") { // nothing else is a result then
			out, s = nil, inside(s)
		}
		before := state()
		var part tensors
		for _, item := range pieces(s, ",") {
			ts, ok := d.item(item)
			if !ok {
				return nil, false
			}
			part = append(part, ts...)
		}
		if forked {
			setState(before)
			part = part[max(0, len(part)-1):]
		}
		if c.Group == "state" && len(part) > 0 && strings.Contains(s, " x ") { // only the last one is recorded
			part = part[len(part)-1:]
		}
		out = append(out, part...)
	}
	return out, true
}

// item evaluates one call, a number of calls ("10 x randn(3)"), an assignment or the name of a value, of which a tail
// may be taken ("b[-3:]").
func (d *drawing) item(s string) (out tensors, ok bool) {
	if name, what, found := strings.Cut(s, "="); found && !strings.ContainsAny(name, "([") {
		if what == "get_rng_state" {
			d.states[name] = state()
			return nil, true
		}
		ts, ok := d.item(what)
		if !ok || len(ts) != 1 {
			return nil, false
		}
		d.values[name] = ts[0]
		return nil, true
	}
	if at := strings.Index(s, "[-"); at > 0 && strings.HasSuffix(s, ":]") {
		ts, ok := d.item(s[:at])
		if !ok || len(ts) != 1 {
			return nil, false
		}
		return tensors{tail(ts[0], whole(s[at+2:len(s)-2]))}, true
	}
	if t := d.values[s]; t != nil {
		return tensors{t}, true
	}
	if s == "initial_seed" {
		return tensors{tensor.FromSlice([]int64{int64(initialSeed())}, []int{}...)}, true
	}
	times := 1
	if n, what, found := strings.Cut(s, " x "); found {
		times, s = whole(n), what
	}
	c, rest, ok := readCall(s)
	if !ok {
		return nil, false
	}
	if times == 0 {
		return tensors{rand(0)}, true
	}
	for range times {
		t, ok := d.call(c, rest)
		if !ok {
			return nil, false
		}
		if t != nil {
			out = append(out, t)
		}
	}
	return out, true
}

// call makes one call; rest is "" or how many numbers a function of elements is given, "x5".
func (d *drawing) call(c call, rest string) (*tensor.Tensor, bool) {
	if c.name == "set_rng_state" {
		s := d.states[c.arg(0)]
		setState(s)
		return nil, s != nil
	}
	kwargs := map[string]any{}
	args := golden.List{}
	for _, a := range c.args {
		switch {
		case d.generators[a] != nil:
			kwargs["generator"] = d.generators[a]
		case a == "f64":
			kwargs["dtype"] = tensor.Float64
		case strings.HasPrefix(a, "("):
			args = append(args, sizes(wholes(a)))
		case strings.ContainsAny(a, ".e"):
			args = append(args, number(a))
		default:
			if _, err := strconv.Atoi(a); err != nil {
				return nil, false
			}
			args = append(args, whole(a))
		}
	}
	switch c.name {
	case "manual_seed":
		setSeed(int64(whole(c.arg(0))))
		return nil, true
	case "rand", "randn":
		return op(c.name, kwargs, args), true
	case "randint", "randperm":
		return op(c.name, kwargs, args...), true
	case "_standard_gamma":
		n, found := strings.CutPrefix(rest, "x")
		if !found {
			return nil, false
		}
		return op(c.name, nil, op("full", nil, golden.List{whole(n)}, number(c.arg(0)))), true
	}
	if !strings.HasSuffix(c.name, "_") {
		return nil, false
	}
	n, dt := args, tensor.Float32
	if x, ok := kwargs["dtype"].(tensor.DType); ok {
		dt = x
		delete(kwargs, "dtype")
	}
	shape := make([]int, len(n))
	for i, v := range n {
		k, ok := v.(int)
		if !ok {
			return nil, false
		}
		shape[i] = k
	}
	return op("Tensor."+c.name, kwargs, tensor.NewOn(golden.Device, shape, nil, dt)), true
}

// then evaluates the draws behind "…, then rand(1)".
func then(what string) tensors {
	ts, ok := (&drawing{}).item(what)
	if !ok {
		panic(golden.Skip("no program for " + what))
	}
	return ts
}
