package serialize

import (
	"fmt"
	"iter"
	"strings"

	"github.com/gotorch-dev/torch/internal/pickle"
	"github.com/gotorch-dev/torch/internal/torchzip"
	"github.com/gotorch-dev/torch/tensor"
)

// The small types of PyTorch and Python that a file can hold beside tensors and Go's own kinds of values.
type (
	// Size is a torch.Size.
	Size = torchzip.Size
	// Device is a torch.device as it was saved. The machine need not have it.
	Device = torchzip.Device
	// Set is a Python set or frozenset.
	Set = pickle.Set
	// ByteArray is a Python bytearray; []byte is bytes.
	ByteArray = pickle.ByteArray
)

// Global names a class or function that a file refers to, such as "torch.nn.modules.linear.Linear". It is a name and
// nothing else: nothing is imported and nothing runs.
type Global struct{ Module, Name string }

// String is the name with its module.
func (g Global) String() string { return g.Module + "." + g.Name }

// Object describes an object of a class that is not data: what Python's pickle would call to make it, and what it would
// fill it with. It is inert, for a Go program to look at; Save refuses what Load has read, since Python would import
// and run what it names. An object that [NewObject] makes is written.
type Object struct {
	// Class is the class or function that Python would call.
	Class Global
	// Callee is what would be called where that is no class or function by name, but another object; nil otherwise.
	Callee any
	Args   Tuple
	Kwargs *Dict // nil if none
	// Items and Entries are what would be appended to it, and set in it by key.
	Items   []any
	Entries [][2]any
	// State is what would become its attributes, as a rule a *Dict; nil if there is none.
	State any
	// New says that the object is made by Class.__new__(Class, *Args) instead of Class(*Args).
	New bool

	own bool // made by NewObject
}

// NewObject describes an object for Save to write: the program that calls it answers for the class, which Python
// imports and calls when it loads the file, and for the references ([Global]) among args and state. Python loads such a
// file with weights_only=True only where it knows the class as safe.
func NewObject(class Global, args Tuple, state any) *Object {
	return &Object{Class: class, Args: args, State: state, own: true}
}

// Attr is an attribute of the object, nil if there is none of that name.
func (o *Object) Attr(name string) any {
	if d, ok := o.State.(*Dict); ok {
		return d.Get(name)
	}
	return nil
}

// String prints the class, the arguments and the state, in bounded text; see [Dict.String].
func (o *Object) String() string { return text(o) }

// namedResults are the results of an operator, with their names in its schema, where the object is one of
// torch.return_types, as torch.max(x, 1) gives one; nil for all other objects and where no such operator is known.
func (o *Object) namedResults() (names []string, results Tuple) {
	if o.Class.Module != "torch.return_types" || len(o.Args) == 0 {
		return nil, nil
	}
	results, _ = o.Args[0].(Tuple)
	for _, op := range tensor.Overloads("aten::" + o.Class.Name) {
		if op.IsOut() || len(op.Sch.Results) != len(results) || len(results) < 2 {
			continue
		}
		for _, r := range op.Sch.Results {
			if r.Name != "" {
				names = append(names, r.Name)
			}
		}
		if len(names) == len(results) {
			return names, results
		}
		names = nil
	}
	return nil, nil
}

// script reports a module of a TorchScript archive, whose class is code of the archive.
func (o *Object) script() bool {
	_, ok := o.State.(*Dict)
	return ok && (o.Class.Module == "__torch__" || strings.HasPrefix(o.Class.Module, "__torch__."))
}

// IsModule reports whether the object is an nn.Module that was pickled whole: its state has parameters and children. So
// is a module of a TorchScript archive.
func (o *Object) IsModule() bool {
	if o.script() {
		return true
	}
	_, ok1 := o.Attr("_parameters").(*Dict)
	_, ok2 := o.Attr("_modules").(*Dict)
	return ok1 && ok2
}

// mostEntries bounds the state dict of an object: modules that share children could have exponentially many names.
const mostEntries = 1 << 17

// StateDict is what state_dict() of the module is in Python that was pickled whole, by torch.save(model): its
// parameters and persistent buffers under their names. The class of the module is neither needed nor run. Metadata has
// no versions, which the file does not tell. Of a module of a TorchScript archive it is the tensors among the
// attributes.
func (o *Object) StateDict() (*tensor.StateDict, error) {
	if !o.IsModule() {
		return nil, fmt.Errorf("serialize: %w: an object of class %s is no module: it has no parameters and children",
			ErrNotData, cut(o.Class.String()))
	}
	sd := &tensor.StateDict{}
	visits := 0
	var walk func(o *Object, prefix string, depth int) error
	walk = func(o *Object, prefix string, depth int) error {
		if visits++; visits > mostEntries || depth > maxDepth {
			return fmt.Errorf("serialize: %w: modules within modules at %q", ErrDepth, cut(prefix))
		}
		if o.script() {
			for name, v := range o.State.(*Dict).All() {
				name, _ := name.(string)
				switch x := v.(type) {
				case *tensor.Tensor:
					sd.Set(prefix+name, x)
				case *Object:
					if x.script() {
						if err := walk(x, prefix+name+".", depth+1); err != nil {
							return err
						}
					}
				}
			}
			return nil
		}
		hidden, _ := o.Attr("_non_persistent_buffers_set").(*Set)
		for _, part := range []string{"_parameters", "_buffers"} {
			for name, v := range attrs(o, part) {
				if v == nil || part == "_buffers" && hidden != nil && hidden.Has(name) {
					continue
				}
				t, ok := v.(*tensor.Tensor)
				if !ok {
					return fmt.Errorf("serialize: %q is %s, not a tensor", cut(prefix+name), describeValue(v))
				}
				if sd.Set(prefix+name, t); sd.Len() > mostEntries {
					return fmt.Errorf("serialize: %w: more than %d names", ErrDepth, mostEntries)
				}
			}
		}
		for name, v := range attrs(o, "_modules") {
			if child, ok := v.(*Object); ok {
				if err := walk(child, prefix+name+".", depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return sd, walk(o, "", 0)
}

// attrs walks a dict among the attributes of an object, of which the keys are text.
func attrs(o *Object, name string) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		d, _ := o.Attr(name).(*Dict)
		if d == nil {
			return
		}
		for k, v := range d.All() {
			if s, ok := k.(string); ok && !yield(s, v) {
				return
			}
		}
	}
}

// object decodes an object that is not one of the data types of PyTorch.
func (d *decoder) object(x *pickle.Object) (any, error) {
	if v, ok, err := d.numpy(x); ok || err != nil {
		return v, err
	}
	out := d.objects[x]
	if out != nil {
		return out, nil
	}
	out = &Object{New: x.New}
	d.objects[x] = out // it may contain itself
	var err error
	if g := x.Global(); g != nil {
		out.Class = Global{g.Module, g.Name}
	} else if out.Callee, err = d.at("class", x.Class); err != nil {
		return nil, err
	}
	if x.Args != nil {
		out.Args = make(Tuple, len(x.Args))
		if err = d.items(out.Args, x.Args); err != nil {
			return nil, err
		}
	}
	if x.Kwargs != nil {
		if out.Kwargs, err = d.dict(x.Kwargs); err != nil {
			return nil, err
		}
	}
	if x.ListItems != nil {
		out.Items = make([]any, len(x.ListItems))
		if err = d.items(out.Items, x.ListItems); err != nil {
			return nil, err
		}
	}
	for _, e := range x.DictItems {
		var kv [2]any
		if kv[0], err = d.at("key", e.Key); err == nil {
			kv[1], err = d.at(kv[0], e.Value)
		}
		if err != nil {
			return nil, err
		}
		out.Entries = append(out.Entries, kv)
	}
	if x.HasState {
		out.State, err = d.at("state", x.State)
	}
	return out, err
}
