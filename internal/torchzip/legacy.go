package torchzip

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/big"
	"strconv"

	"github.com/gotorch-dev/torch/internal/pickle"
)

// Before the zip container a file was a row of pickles: a magic number, a
// protocol version, facts about the machine, the value, and the keys of the
// storages, followed by the storages' bytes, each with its count of elements.
const (
	magicNumber     = "119547037146038801333356"
	protocolVersion = 1001
)

// cursor reads pickles and raw bytes in turn from a file.
type cursor struct {
	r    io.ReaderAt
	off  int64
	end  int64
	opts pickle.DecodeOptions
}

func (c *cursor) pickle() (Value, error) {
	d := pickle.NewDecoder(io.NewSectionReader(c.r, c.off, c.end-c.off), c.opts)
	v, err := d.Decode()
	if err != nil {
		return nil, fmt.Errorf("at offset %d: %w", c.off, wrapPickle(err))
	}
	c.off += d.Offset()
	return v, nil
}

func (c *cursor) int64() (int64, error) {
	var b [8]byte
	if c.end-c.off < 8 {
		return 0, formatErr("file ends at %d", c.end)
	}
	if _, err := c.r.ReadAt(b[:], c.off); err != nil && err != io.EOF {
		return 0, fmt.Errorf("torchzip: %w", err)
	}
	c.off += 8
	return int64(binary.LittleEndian.Uint64(b[:])), nil
}

// data connects a storage with the bytes at the cursor and skips them. The count
// of elements before them must agree with what the storage's id says, if it is known.
func (c *cursor) data(s *StorageRef, known bool) error {
	n, err := c.int64()
	if err != nil {
		return err
	}
	elem := int64(s.ElementSize())
	if n < 0 || n > (c.end-c.off)/elem {
		return formatErr("storage %q claims %d elements, %d bytes are left", cut(s.Key), n, c.end-c.off)
	}
	if known && n != int64(s.NumElements) {
		return formatErr("storage %q has %d elements, expected %d", cut(s.Key), n, s.NumElements)
	}
	s.NumElements = int(n)
	off, size := c.off, n*elem
	open := sectionAt(c.r, off, size)
	attach(s, false, func(dst []byte) error {
		if m, err := c.r.ReadAt(dst, off); m < len(dst) {
			return fmt.Errorf("torchzip: storage %q: %w", s.Key, err)
		}
		return nil
	}, open, func() (int64, bool) { return off, true })
	c.off += size
	return nil
}

func loadLegacy(r io.ReaderAt, size int64, opts LoadOptions) (Value, error) {
	c := &cursor{r: r, end: size}
	magic, err := c.pickle()
	if err != nil {
		return nil, err
	}
	if m, ok := magic.(*big.Int); !ok || m.String() != magicNumber {
		return nil, formatErr("neither a zip archive nor the magic number of older files, but %s",
			cut(pickle.Repr(magic)))
	}
	version, err := c.pickle()
	if err != nil {
		return nil, err
	}
	if version != Value(int64(protocolVersion)) {
		return nil, formatErr("protocol version %s, expected %d", cut(pickle.Repr(version)), protocolVersion)
	}
	if _, err := c.pickle(); err != nil { // facts about the machine; data is always little-endian
		return nil, err
	}
	storages := map[string]*StorageRef{}
	done := map[string]bool{}
	c.opts = pickle.DecodeOptions{
		FindClass: opts.find,
		PersistentLoad: func(id Value) (Value, error) {
			// ("module", class, source file, source) brings along the text of a class.
			if t, ok := id.(pickle.Tuple); ok && len(t) == 4 {
				if kind, _ := text(t[0]); kind == "module" {
					return t[1], nil
				}
			}
			s, rest, err := storageID(id, 6, 6)
			if err != nil {
				return nil, err
			}
			if have := storages[s.Key]; have != nil {
				s = have
			} else {
				storages[s.Key] = s
				opts.storage(s)
			}
			if rest[0] == nil {
				return s, nil
			}
			view, ok := rest[0].(pickle.Tuple)
			if !ok || len(view) != 3 {
				return nil, formatErr("storage view %s", pickle.Repr(rest[0]))
			}
			return newView(opts, s, view[1], view[2])
		},
	}
	v, err := c.pickle()
	if err != nil {
		return nil, err
	}
	c.opts = pickle.DecodeOptions{}
	k, err := c.pickle()
	if err != nil {
		return nil, err
	}
	keys, ok := k.(*pickle.List)
	if !ok {
		return nil, formatErr("storage keys are %s", cut(pickle.Repr(k)))
	}
	for _, k := range keys.Items {
		key, _ := text(k)
		s := storages[key]
		if s == nil || done[key] {
			return nil, formatErr("data of unknown or repeated storage %s", cut(pickle.Repr(k)))
		}
		done[key] = true
		if err := c.data(s, true); err != nil {
			return nil, err
		}
	}
	for key := range storages {
		if !done[key] {
			return nil, formatErr("no data for storage %q", cut(key))
		}
	}
	return v, nil
}

// newView returns a storage that is a window of another one. A tensor that uses it
// becomes a tensor of the whole storage; only a window that is saved by itself
// remains as such, and then as a copy.
func newView(opts LoadOptions, root *StorageRef, offset, size Value) (*StorageRef, error) {
	off, err := toInt(offset)
	if err != nil {
		return nil, err
	}
	n, err := toInt(size)
	if err != nil {
		return nil, err
	}
	if root.root != nil || off > root.NumElements || n > root.NumElements-off {
		return nil, formatErr("view of %d elements at %d of a storage of %d", n, off, root.NumElements)
	}
	if off == 0 && n == root.NumElements {
		return root, nil
	}
	elem := root.ElementSize()
	v := &StorageRef{Key: root.Key, DType: root.DType, NumElements: n, Location: root.Location, root: root, base: off}
	v.Source = func(w io.Writer) error {
		all, err := root.Bytes()
		if err != nil {
			return err
		}
		_, err = w.Write(all[off*elem : (off+n)*elem])
		return err
	}
	return v, nil
}

// The first format of all was a tar archive with the members storages, tensors
// and pickle.

func isTar(r io.ReaderAt, size int64) bool {
	var b [512]byte
	if size < 512 {
		return false
	}
	if _, err := r.ReadAt(b[:], 0); err != nil && err != io.EOF {
		return false
	}
	// The marker of POSIX tar. Older tars lack it, but Python never wrote those.
	return string(b[257:262]) == "ustar"
}

func loadTar(r io.ReaderAt, size int64, opts LoadOptions) (Value, error) {
	parts, err := tarMembers(r, size)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"storages", "tensors", "pickle"} {
		if parts[name] == nil {
			return nil, formatErr("tar archive without the member %q", name)
		}
	}
	objects := map[string]Value{}
	if err := tarStorages(parts["storages"], objects, opts); err != nil {
		return nil, err
	}
	if err := tarTensors(parts["tensors"], objects); err != nil {
		return nil, err
	}
	c := parts["pickle"]
	c.opts = pickle.DecodeOptions{
		FindClass: opts.find,
		PersistentLoad: func(id Value) (Value, error) {
			if t, ok := id.(pickle.Tuple); ok && len(t) > 0 {
				return t[0], nil // a class with its source
			}
			key, _ := text(id)
			v, ok := objects[key]
			if !ok {
				return nil, formatErr("unknown object %s", cut(pickle.Repr(id)))
			}
			return v, nil
		},
	}
	return c.pickle()
}

// tarMembers finds the three members of the archive. This is all of tar that such files need; the standard library's
// package asks for the users of the system, for which it links the C library where there is one.
func tarMembers(r io.ReaderAt, size int64) (map[string]*cursor, error) {
	const block = 512
	parts := map[string]*cursor{}
	for off := int64(0); off+block <= size; {
		var h [block]byte
		if n, err := r.ReadAt(h[:], off); n < block {
			return nil, err
		}
		if h == [block]byte{} { // the end
			break
		}
		sum := int64(0)
		for i, c := range h {
			if i >= 148 && i < 156 { // where the sum stands counts as blanks
				c = ' '
			}
			sum += int64(c)
		}
		want, ok := tarNumber(h[148:156])
		length, known := tarNumber(h[124:136])
		if off += block; !ok || want != sum || !known || length > size-off {
			return nil, formatErr("tar: bad header at offset %d", off-block)
		}
		name, _, _ := bytes.Cut(h[:100], []byte{0})
		switch n := string(name); n {
		case "storages", "tensors", "pickle":
			if kind := h[156]; kind != '0' && kind != 0 || parts[n] != nil {
				return nil, formatErr("tar member %q is not a plain file within the archive", n)
			}
			parts[n] = &cursor{r: r, off: off, end: off + length}
		}
		off += (length + block - 1) &^ (block - 1)
	}
	return parts, nil
}

// tarNumber is a number of a header: octal digits, or, where it is too large for them, bytes behind a marker.
func tarNumber(b []byte) (n int64, ok bool) {
	if b[0] == 0x80 {
		for _, c := range b[1:] {
			if n >= 1<<55 {
				return 0, false
			}
			n = n<<8 | int64(c)
		}
		return n, true
	}
	u, err := strconv.ParseUint(string(bytes.Trim(b, " \x00")), 8, 63)
	return int64(u), err == nil
}

func (c *cursor) count() (int, error) {
	v, err := c.pickle()
	if err != nil {
		return 0, err
	}
	n, err := toInt(v)
	if err != nil {
		return 0, formatErr("count: %v", err)
	}
	return n, nil
}

// triple reads a pickled (key, a, b) with a fresh key.
func (c *cursor) triple(objects map[string]Value) (key string, t pickle.Tuple, err error) {
	v, err := c.pickle()
	if err != nil {
		return "", nil, err
	}
	t, ok := v.(pickle.Tuple)
	if !ok || len(t) != 3 {
		return "", nil, formatErr("expected a tuple of 3, got %s", cut(pickle.Repr(v)))
	}
	key, ok = text(t[0])
	if _, dup := objects[key]; !ok || dup {
		return "", nil, formatErr("bad or repeated key %s", cut(pickle.Repr(t[0])))
	}
	return key, t, nil
}

func tarStorages(c *cursor, objects map[string]Value, opts LoadOptions) error {
	n, err := c.count()
	if err != nil {
		return err
	}
	for range n { // every round consumes bytes, so that a false count fails soon
		key, t, err := c.triple(objects)
		if err != nil {
			return err
		}
		loc, _ := text(t[1])
		g, _ := t[2].(*pickle.Global)
		if g == nil || storageClasses[g.Name].size == 0 {
			return formatErr("unknown storage class %s", cut(pickle.Repr(t[2])))
		}
		s := &StorageRef{Key: key, DType: g.Name, Location: loc}
		if err := c.data(s, false); err != nil {
			return err
		}
		objects[key] = s
		opts.storage(s)
	}
	v, err := c.pickle()
	if err != nil {
		return err
	}
	views, ok := v.(*pickle.List)
	if !ok {
		return formatErr("storage views are %s", cut(pickle.Repr(v)))
	}
	for _, v := range views.Items {
		t, ok := v.(pickle.Tuple)
		if !ok || len(t) != 4 {
			return formatErr("storage view %s", cut(pickle.Repr(v)))
		}
		key, _ := text(t[0])
		rootKey, _ := text(t[1])
		root, ok := objects[rootKey].(*StorageRef)
		if !ok {
			return formatErr("view of unknown storage %q", cut(rootKey))
		}
		if objects[key], err = newView(opts, root, t[2], t[3]); err != nil {
			return err
		}
	}
	return nil
}

func tarTensors(c *cursor, objects map[string]Value) error {
	n, err := c.count()
	if err != nil {
		return err
	}
	for range n {
		key, t, err := c.triple(objects)
		if err != nil {
			return err
		}
		storageKey, _ := text(t[1])
		dims, err := c.int64() // four bytes of it count, the others were never set
		if err != nil {
			return err
		}
		dims = int64(int32(dims))
		if dims < 0 || dims > maxDims {
			return formatErr("tensor of %d dimensions", dims)
		}
		read := func(n int64) (pickle.Tuple, error) {
			out := make(pickle.Tuple, n)
			for i := range out {
				if out[i], err = c.int64(); err != nil {
					return nil, err
				}
			}
			return out, nil
		}
		shape, err := read(dims)
		if err != nil {
			return err
		}
		stride, err := read(dims)
		if err != nil {
			return err
		}
		offset, err := read(1)
		if err != nil {
			return err
		}
		v, err := rebuildTensor(pickle.Tuple{objects[storageKey], offset[0], shape, stride})
		if err != nil {
			return formatErr("tensor %q: %v", cut(key), err)
		}
		objects[key] = v
	}
	return nil
}
