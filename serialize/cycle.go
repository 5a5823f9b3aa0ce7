package serialize

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/pickle"
	"github.com/gotorch-dev/torch/internal/torchzip"
)

var (
	// ErrFormat is wrapped by errors about the contents of a file.
	ErrFormat = torchzip.ErrFormat
	// ErrCycle is wrapped when a list or tuple contains itself with no dict between.
	ErrCycle = errors.New("list or tuple within itself")
	// ErrDepth is wrapped when values are nested too deep to be saved or loaded.
	ErrDepth = errors.New("nested too deep")
	// ErrNotData is wrapped when a file holds objects of classes, whose code a Go program cannot run.
	ErrNotData = errors.New("not data")
)

// maxDepth is how deep containers may be nested, in what is saved as in what is loaded. PyTorch stops earlier when it
// saves, at Python's limit of recursion.
const maxDepth = 1000

// path is where in a value an error is, as Python would index it.
type path []any

func (p *path) push(key any) { *p = append(*p, key) }
func (p *path) pop()         { *p = (*p)[:len(*p)-1] }

// String prints the path in full only where it is short.
func (p path) String() string {
	const most = 8
	var b strings.Builder
	for i, key := range p {
		if i >= most && i < len(p)-1 {
			if i == most {
				b.WriteString("[...]")
			}
			continue
		}
		s := text(key)
		if len(s) > 100 {
			s = s[:100] + "..."
		}
		b.WriteString("[" + s + "]")
	}
	return b.String()
}

// errorf is an error with the path before it.
func (p path) errorf(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if len(p) == 0 {
		return fmt.Errorf("serialize: %w", err)
	}
	return fmt.Errorf("serialize: at %s: %w", p, err)
}

// tupleID tells tuples of a file apart.
type tupleID struct {
	p *pickle.Value
	n int
}

func idOf(t pickle.Tuple) tupleID { return tupleID{unsafe.SliceData(t), len(t)} }

// cycles looks for lists and tuples that contain themselves with no dict or object between. Go's lists are slices; a
// slice within itself sends fmt and other packages into endless recursion. A *Dict or *Object stops them: it prints
// itself.
type cycles struct {
	state map[any]bool // false while a list or tuple is being walked, then true
	seen  map[any]bool // dicts and objects
	todo  []todo
	path  path
}

// todo is a dict or object whose contents are still to be walked, and where it is.
type todo struct {
	v  pickle.Value
	at path
}

// checkCycles walks each container of a value once, by depth-first search over lists and tuples alone: a search through
// dicts as well could come back to a list through a dict and never try the way without.
func checkCycles(root pickle.Value) error {
	c := cycles{state: map[any]bool{}, seen: map[any]bool{}}
	if err := c.walk(root); err != nil {
		return err
	}
	for len(c.todo) > 0 {
		t := c.todo[len(c.todo)-1]
		c.todo = c.todo[:len(c.todo)-1]
		var err error
		each := func(key any, v pickle.Value) {
			if err == nil {
				c.path = append(t.at, key)
				err = c.walk(v)
			}
		}
		switch x := t.v.(type) {
		case *pickle.Dict:
			for _, e := range x.Entries() {
				each(e.Key, e.Value)
			}
		case *pickle.Object:
			each("class", x.Class)
			each("arguments", x.Args)
			if x.Kwargs != nil {
				each("arguments", x.Kwargs)
			}
			for i, v := range x.ListItems {
				each(i, v)
			}
			for _, e := range x.DictItems {
				each("key", e.Key)
				each(e.Key, e.Value)
			}
			each("state", x.State)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *cycles) walk(v pickle.Value) error {
	if len(c.path) > maxDepth {
		return c.path.errorf("%w: more than %d containers", ErrDepth, maxDepth)
	}
	var id any
	var items []pickle.Value
	switch x := v.(type) {
	case *pickle.Dict, *pickle.Object:
		if !c.seen[x] {
			c.seen[x] = true
			c.todo = append(c.todo, todo{x, slices.Clone(c.path)})
		}
		return nil
	case *pickle.List:
		id, items = x, x.Items
	case pickle.Tuple:
		id, items = idOf(x), x
	}
	if len(items) == 0 {
		return nil
	}
	if done, seen := c.state[id]; done {
		return nil
	} else if seen {
		return c.path.errorf("%w, with no dict between", ErrCycle)
	}
	c.state[id] = false
	for i, e := range items {
		c.path.push(i)
		if err := c.walk(e); err != nil {
			return err
		}
		c.path.pop()
	}
	c.state[id] = true
	return nil
}
