package jit

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/graph/trace"
	"github.com/gotorch-dev/torch/internal/atomicfile"
	"github.com/gotorch-dev/torch/internal/pickle"
	"github.com/gotorch-dev/torch/internal/torchzip"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// SaveOptions are the options of Save and SaveTo.
type SaveOptions struct {
	// Extra are files that the archive holds beside the program, by name. LoadFile gives them as metadata.
	Extra map[string]string
}

// Save writes the module as a TorchScript archive, which LoadFile and Python's torch.jit.load read: its code, its
// parameters, buffers and attributes. The file appears under its name only when it is complete and on disk.
// https://pytorch.org/docs/stable/generated/torch.jit.save.html
func (m *Module) Save(path string, opts ...SaveOptions) error {
	var inner error
	err := atomicfile.Write(path, func(w io.Writer) error {
		inner = m.saveTo(w, torchzip.ArchiveName(path), opts)
		return inner
	})
	if err != nil && inner == nil {
		err = fmt.Errorf("jit: save: %w", err)
	}
	return err
}

// SaveTo is Save to a writer.
func (m *Module) SaveTo(w io.Writer, opts ...SaveOptions) error { return m.saveTo(w, "archive", opts) }

func (m *Module) saveTo(w io.Writer, name string, opts []SaveOptions) error {
	s := &archiver{refs: serialize.NewReferences(), registered: map[any]*pickle.Object{},
		objects: map[*graph.Object]*pickle.Object{},
		lists:   map[*graph.List]*pickle.List{}, dicts: map[*graph.Dict]*pickle.Dict{}}
	if err := tensor.Try(func() { s.link(m.unit) }); err != nil {
		return err
	}
	if s.err != nil {
		return fmt.Errorf("jit: save: %w", s.err)
	}
	root, err := s.value(graph.Box(m.obj), nil, 0)
	if err != nil {
		return fmt.Errorf("jit: save: %w", err)
	}
	consts := pickle.Tuple{}
	constRefs := s.refs // constants are a file of their own
	s.refs, s.registered = serialize.NewReferences(), map[any]*pickle.Object{}
	for _, c := range s.constants {
		v, err := s.value(c, nil, 0)
		if err != nil {
			return fmt.Errorf("jit: save: %w", err)
		}
		consts = append(consts, v)
	}
	s.refs = constRefs

	bw := bufio.NewWriterSize(w, 1<<16)
	zw, err := torchzip.NewWriter(bw, name)
	if err != nil {
		return err
	}
	if len(opts) > 0 {
		for _, k := range sortedNames(opts[0].Extra) {
			if err := zw.Record("extra/"+k, []byte(opts[0].Extra[k])); err != nil {
				return err
			}
		}
	}
	if err := zw.Pickle("data", root); err != nil {
		return err
	}
	for _, f := range s.order {
		if err := zw.Record(f, []byte(s.files[f])); err != nil {
			return err
		}
		debug, err := pickle.Marshal(noRanges(), pickle.EncodeOptions{})
		if err != nil {
			return err
		}
		if err := zw.Record(f+".debug_pkl", debug); err != nil {
			return err
		}
	}
	if err := zw.Pickle("constants", consts); err != nil {
		return err
	}
	if m.traced != nil {
		in, err := tracedInputs(m.traced)
		if err != nil {
			return fmt.Errorf("jit: save: %w", err)
		}
		if err := zw.Pickle("traced_inputs", in); err != nil {
			return err
		}
	}
	if err := zw.Record("version", []byte(strconv.Itoa(s.version)+"\n")); err != nil {
		return err
	}
	if err := zw.Close(); err != nil {
		return err
	}
	return bw.Flush()
}

func sortedNames(m map[string]string) []string {
	var l []string
	for k := range m {
		l = append(l, k)
	}
	slices.Sort(l)
	return l
}

// noRanges says of a file's code that nothing is known of its source.
func noRanges() pickle.Value {
	none := pickle.Tuple{&pickle.Object{Class: &pickle.Global{Module: "torch.jit._pickle", Name: "build_intlist"},
		Args: pickle.Tuple{pickle.NewList()}}, int64(0), int64(0)}
	return pickle.Tuple{"FORMAT_WITH_STRING_TABLE", pickle.Tuple{""},
		pickle.Tuple{pickle.Tuple{int64(0), pickle.Tuple{none, int64(0), int64(0)}, int64(0)}}}
}

func tagged(v pickle.Value, t string) pickle.Value {
	return &pickle.Object{Class: &pickle.Global{Module: "torch.jit._pickle", Name: "restore_type_tag"},
		Args: pickle.Tuple{v, t}}
}

// tracedInputs are the inputs that a module was recorded with.
func tracedInputs(p *trace.Program) (pickle.Value, error) {
	s := &archiver{refs: serialize.NewReferences(), registered: map[any]*pickle.Object{},
		objects: map[*graph.Object]*pickle.Object{},
		lists:   map[*graph.List]*pickle.List{}, dicts: map[*graph.Dict]*pickle.Dict{}}
	l := pickle.NewList()
	for _, f := range p.In {
		if f.Kind == trace.None {
			continue
		}
		v, err := s.value(valueOf(f, p.Example), nil, 0)
		if err != nil {
			return nil, err
		}
		l.Items = append(l.Items, v)
	}
	d := pickle.NewDict(pickle.PlainDict)
	if err := d.Set("forward", tagged(l, "List[Any]")); err != nil {
		return nil, err
	}
	return tagged(d, "Dict[str, List[Any]]"), nil
}

// archiver gathers what an archive holds.
type archiver struct {
	refs       *serialize.References
	objects    map[*graph.Object]*pickle.Object
	lists      map[*graph.List]*pickle.List
	dicts      map[*graph.Dict]*pickle.Dict
	files      map[string]string
	order      []string
	names      map[*graph.Class]string // of classes that have another name in this archive
	registered map[any]*pickle.Object  // packed parameters
	constants  []tensor.Value
	version    int
	err        error
}

// firstVersion is the version of the format that PyTorch writes where no operator asks for a newer one.
const firstVersion = 3

// changedIn are the operators whose meaning is another one from a version on; see upgrade.go.
var changedIn = map[string]int{"aten::div": lastOldDiv + 1, "aten::div_": lastOldDiv + 1, "aten::full": lastOldFull + 1,
	"aten::linspace": lastOldLinspace + 1, "aten::logspace": lastOldLogspace + 1, "aten::gelu": 10}

// link gathers the code of a unit and of those whose modules are part of it.
func (s *archiver) link(u *unit) {
	s.files, s.names = map[string]string{}, map[*graph.Class]string{}
	s.version = firstVersion
	if u.version > 0 && len(u.linked) == 0 && len(u.files) > 0 { // a loaded program, as it was
		s.version = u.version
	}
	taken := map[string]bool{}
	var all []*unit
	var gather func(u *unit)
	gather = func(u *unit) {
		if slices.Contains(all, u) {
			return
		}
		all = append(all, u)
		for _, v := range u.linked {
			gather(v)
		}
	}
	gather(u)
	for _, v := range all {
		if v.lite {
			s.err = fmt.Errorf("a program of the lite interpreter has no code that could be saved")
			return
		}
	}
	// names first, since classes refer to each other
	texts := map[*unit]map[string]string{} // new names of what code defines
	for _, v := range all {
		rename := map[string]string{}
		texts[v] = rename
		for _, old := range v.defined() {
			name := old
			at := strings.LastIndexByte(old, '.')
			for k := 0; taken[name]; k++ {
				name = fmt.Sprintf("%s.___torch_mangle_%d%s", old[:at], k, old[at:])
			}
			taken[name] = true
			if name != old {
				rename[old] = name
				if c := v.classes[old]; c != nil {
					s.names[c] = name
				}
			}
		}
	}
	for _, v := range all {
		s.code(v, texts[v])
	}
}

// defined are the names of the classes and functions of a unit, in order.
func (u *unit) defined() []string {
	var l []string
	for prefix, f := range u.files {
		if f != nil {
			for name := range f.defs {
				l = append(l, prefix+"."+name)
			}
		}
	}
	for name := range u.classes {
		if u.declared[name] == nil && !slices.Contains(l, name) {
			l = append(l, name)
		}
	}
	slices.Sort(l)
	return l
}

var qualifiedName = regexp.MustCompile(`__torch__(\.[A-Za-z_0-9]+)+`)
var constantName = regexp.MustCompile(`CONSTANTS\.c[0-9]+`)

// code adds the code of a unit.
func (s *archiver) code(u *unit, rename map[string]string) {
	if len(rename) == 0 && len(u.constants) == 0 || len(s.order) == 0 && len(s.constants) == 0 && len(rename) == 0 {
		// the numbers of its constants stay
		s.constants = append(s.constants, u.constants...)
		for prefix, f := range u.files {
			if f != nil {
				s.add(prefix, f.src)
			}
		}
	} else {
		base := len(s.constants)
		s.constants = append(s.constants, u.constants...)
		for prefix, f := range u.files {
			if f == nil {
				continue
			}
			for name, d := range f.defs {
				from, to := d.(interface{ Span() (start, end int) }).Span()
				text := strings.TrimRight(f.src[from:min(to, len(f.src))], " \n") + "\n"
				text = qualifiedName.ReplaceAllStringFunc(text, func(q string) string {
					for old := q; ; { // q may go on with an attribute
						if n, ok := rename[old]; ok {
							return n + q[len(old):]
						}
						i := strings.LastIndexByte(old, '.')
						if i < 0 {
							return q
						}
						old = old[:i]
					}
				})
				text = constantName.ReplaceAllStringFunc(text, func(c string) string {
					n, _ := strconv.Atoi(c[len("CONSTANTS.c"):])
					return "CONSTANTS.c" + strconv.Itoa(base+n)
				})
				q := prefix + "." + name
				if n, ok := rename[q]; ok {
					q = n
				}
				s.add(q[:strings.LastIndexByte(q, '.')], text)
			}
		}
	}
	var names []string
	for name := range u.classes {
		if u.declared[name] == nil && len(u.files) == 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	consts := &constants{values: s.constants}
	for _, name := range names {
		q := name
		if n, ok := rename[name]; ok {
			q = n
		}
		s.add(q[:strings.LastIndexByte(q, '.')], s.class(u.classes[name], q, consts))
	}
	s.constants = consts.values
	slices.Sort(s.order)
}

// add adds a definition to the file of a prefix.
func (s *archiver) add(prefix, text string) {
	f := "code/" + strings.ReplaceAll(prefix, ".", "/") + ".py"
	if _, ok := s.files[f]; !ok {
		s.order = append(s.order, f)
	}
	s.files[f] += text
}

// typeText is a type as code names it, with the names that classes have in this archive.
func (s *archiver) typeText(t *graph.Type) string {
	if t.Kind == graph.ClassType && s.names[t.Class] != "" {
		return s.names[t.Class]
	}
	return t.Annotation()
}

// class prints a recorded class.
func (s *archiver) class(c *graph.Class, name string, consts *constants) string {
	var b strings.Builder
	b.WriteString("class " + name[strings.LastIndexByte(name, '.')+1:] + "(Module):\n")
	var attrs strings.Builder
	for _, role := range []string{"__parameters__", "__buffers__"} {
		b.WriteString("  " + role + " = [")
		for _, a := range c.Attrs {
			if role == "__parameters__" && a.Parameter || role == "__buffers__" && a.Buffer {
				b.WriteString(strconv.Quote(a.Name) + ", ")
			}
		}
		b.WriteString("]\n")
	}
	for _, a := range c.Attrs {
		if validName(a.Name) {
			attrs.WriteString("  " + a.Name + " : " + s.typeText(a.Type) + "\n")
		} else {
			attrs.WriteString("  __annotations__[" + strconv.Quote(a.Name) + "] = " + s.typeText(a.Type) + "\n")
		}
	}
	b.WriteString(attrs.String())
	for _, m := range c.Order {
		b.WriteString(printFunction(c.Methods[m], 1, name, consts))
		s.needs(c.Methods[m].Body)
	}
	return b.String()
}

// needs raises the version to that from which the operators of a block have their meaning.
func (s *archiver) needs(b *graph.Block) {
	for _, n := range b.Nodes {
		if n.Operator != nil {
			s.version = max(s.version, changedIn[n.Operator.Name])
		}
		for _, c := range n.Blocks {
			s.needs(c)
		}
	}
}

// value turns a value into that of a pickle.
func (s *archiver) value(v tensor.Value, t *graph.Type, depth int) (pickle.Value, error) {
	if depth > maxPickleDepth {
		return nil, fmt.Errorf("values are nested more than %d deep", maxPickleDepth)
	}
	v = graph.Normal(v)
	switch v.K {
	case tensor.KNone:
		return nil, nil
	case tensor.KBool:
		return v.N != 0, nil
	case tensor.KInt:
		return v.N, nil
	case tensor.KFloat:
		return v.Float(), nil
	case tensor.KComplex:
		return v.X, nil
	case tensor.KStr:
		return v.X, nil
	case tensor.KTensor:
		ref, err := s.refs.Reference(v.T)
		if err != nil {
			return nil, err
		}
		return ref, nil
	case tensor.KDevice:
		d := v.X.(tensor.Device)
		kind, index, ok := strings.Cut(fmt.Sprint(d), ":")
		i := -1
		if ok {
			i, _ = strconv.Atoi(index)
		}
		return torchzip.Device{Type: kind, Index: i}, nil
	}
	switch x := v.X.(type) {
	case *graph.List:
		return s.list(x, v, depth)
	case *graph.Dict:
		return s.dict(x, v, depth)
	case *graph.Tuple:
		out := make(pickle.Tuple, len(x.Items))
		for i, e := range x.Items {
			var err error
			if out[i], err = s.value(e, nil, depth+1); err != nil {
				return nil, err
			}
		}
		if x.Type != nil && x.Type.Name != "" {
			return &pickle.Object{Class: classGlobal(x.Type.Name), Args: out}, nil
		}
		return out, nil
	case *graph.Enum:
		e, err := s.value(x.Value, nil, depth+1)
		return &pickle.Object{Class: classGlobal(x.Class.Name), Args: pickle.Tuple{e}, Bare: true}, err
	case *graph.Object:
		return s.object(x, depth)
	}
	if o, ok, err := s.packed(v, depth); ok || err != nil {
		return o, err
	}
	return nil, fmt.Errorf("a value of type %T cannot be saved", v.X)
}

func (s *archiver) list(x *graph.List, v tensor.Value, depth int) (pickle.Value, error) {
	text := s.typeText(graph.TypeOf(v))
	if l := s.lists[x]; l != nil {
		return tagged(l, text), nil
	}
	l := pickle.NewList()
	s.lists[x] = l
	for _, e := range x.Items {
		p, err := s.value(e, nil, depth+1)
		if err != nil {
			return nil, err
		}
		l.Items = append(l.Items, p)
	}
	return tagged(l, text), nil
}

func (s *archiver) dict(x *graph.Dict, v tensor.Value, depth int) (pickle.Value, error) {
	text := s.typeText(graph.TypeOf(v))
	if d := s.dicts[x]; d != nil {
		return tagged(d, text), nil
	}
	d := pickle.NewDict(pickle.PlainDict)
	s.dicts[x] = d
	var err error
	x.Each(func(k, e tensor.Value) {
		if err != nil {
			return
		}
		var a, b pickle.Value
		if a, err = s.value(k, nil, depth+1); err != nil {
			return
		}
		if b, err = s.value(e, nil, depth+1); err == nil {
			err = d.Set(a, b)
		}
	})
	return tagged(d, text), err
}

// classGlobal names a class of the archive.
func classGlobal(name string) *pickle.Global {
	i := strings.LastIndexByte(name, '.')
	return &pickle.Global{Module: name[:max(i, 0)], Name: name[i+1:]}
}

func (s *archiver) object(x *graph.Object, depth int) (pickle.Value, error) {
	if o := s.objects[x]; o != nil {
		return o, nil
	}
	name := x.Class.Name
	if n := s.names[x.Class]; n != "" {
		name = n
	}
	o := &pickle.Object{Class: classGlobal(name), Args: pickle.Tuple{}, New: true, HasState: true}
	s.objects[x] = o
	if f := x.Class.Methods["__getstate__"]; f != nil {
		res, err := f.RunWith(context.Background(), graph.Options{MaxSteps: 1 << 24}, graph.Box(x))
		if err != nil {
			return nil, fmt.Errorf("%s.__getstate__: %w", x.Class.Name, err)
		}
		o.State, err = s.value(res[0], nil, depth+1)
		return o, err
	}
	d := pickle.NewDict(pickle.PlainDict)
	for i, a := range x.Class.Attrs {
		if i >= len(x.Slots) {
			break
		}
		v, err := s.value(x.Slots[i], a.Type, depth+1)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", x.Class.Name, a.Name, err)
		}
		if err := d.Set(a.Name, v); err != nil {
			return nil, err
		}
	}
	o.State = d
	return o, nil
}
