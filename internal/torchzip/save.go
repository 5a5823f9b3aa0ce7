package torchzip

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/internal/atomicfile"
	"github.com/gotorch-dev/torch/internal/pickle"
)

// SaveOptions configures [Save].
type SaveOptions struct {
	// ArchiveName is the folder inside the archive. Empty means "archive", which is
	// what torch.save uses for anything but a named file; [SaveFile] then takes the
	// name of the file without its extension, as torch.save does.
	ArchiveName string
	// Reduce describes values of further Go types; see [pickle.EncodeOptions].
	Reduce func(v Value) (Value, error)
}

// Save writes a value in the format of torch.save. The bytes of storages are
// streamed, so that nothing is copied; each storage is written once, however many
// tensors are views of it. The same value gives the same bytes each time.
func Save(w io.Writer, root Value, opts SaveOptions) error {
	if opts.ArchiveName == "" {
		opts.ArchiveName = "archive"
	}
	s := &saver{opts: opts, keys: map[*StorageRef]*pickle.Text{}}
	data, err := pickle.Marshal(root, pickle.EncodeOptions{PersistentID: s.persistentID, Reduce: s.reduce})
	if err != nil {
		return fmt.Errorf("torchzip: save: %w", err)
	}
	bw := bufio.NewWriterSize(w, 1<<16)
	zw, err := NewWriter(bw, opts.ArchiveName)
	if err != nil {
		return err
	}
	// The order of torch.save; the writer adds the rest when it is closed.
	for _, r := range []struct{ name, data string }{
		{"data.pkl", string(data)},
		{".format_version", "1"},
		{".storage_alignment", strconv.Itoa(alignment)},
		{"byteorder", "little"},
	} {
		if err := zw.Record(r.name, []byte(r.data)); err != nil {
			return err
		}
	}
	for i, st := range s.storages {
		if st.Location == "meta" {
			continue // it has no data
		}
		if err := zw.RecordFrom("data/"+strconv.Itoa(i), st.NumBytes(), st.writeTo); err != nil {
			return err
		}
	}
	if err := zw.Close(); err != nil {
		return err
	}
	return bw.Flush()
}

// SaveFile is [Save] to a file. The file appears under its name only when it is
// complete and on disk; a failure leaves what was there before.
func SaveFile(path string, root Value, opts SaveOptions) error {
	if opts.ArchiveName == "" {
		opts.ArchiveName = ArchiveName(path)
	}
	// The two kinds of errors differ: those of Save already name the package.
	var inner error
	err := atomicfile.Write(path, func(w io.Writer) error { inner = Save(w, root, opts); return inner })
	if err != nil && inner == nil {
		err = fmt.Errorf("torchzip: save: %w", err)
	}
	return err
}

// ArchiveName is the base name of a file without its last extension.
func ArchiveName(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		name = name[:i]
	}
	if name == "" {
		name = "archive"
	}
	return name
}

// Pickle writes a value as the record NAME.pkl and the bytes of its storages as NAME/0, NAME/1, …, in the order of
// TorchScript archives: storages first.
func (w *Writer) Pickle(name string, root Value) error {
	s := &saver{keys: map[*StorageRef]*pickle.Text{}}
	data, err := pickle.Marshal(root, pickle.EncodeOptions{PersistentID: s.persistentID, Reduce: s.reduce,
		MemoAfterBuild: true})
	if err != nil {
		return fmt.Errorf("torchzip: save: %w", err)
	}
	for i, st := range s.storages {
		if err := w.RecordFrom(name+"/"+strconv.Itoa(i), st.NumBytes(), st.writeTo); err != nil {
			return err
		}
	}
	return w.Record(name+".pkl", data)
}

type saver struct {
	opts     SaveOptions
	storages []*StorageRef
	keys     map[*StorageRef]*pickle.Text
}

func global(module, name string) *pickle.Global { return &pickle.Global{Module: module, Name: name} }

// persistentID refers to storages by number, in the order in which they occur.
func (s *saver) persistentID(v Value) (Value, bool, error) {
	st, ok := v.(*StorageRef)
	if !ok {
		return nil, false, nil
	}
	if st == nil {
		return nil, false, fmt.Errorf("storage is nil")
	}
	if st.ElementSize() == 0 {
		return nil, false, fmt.Errorf("storage %q has the unknown class %q", st.Key, st.DType)
	}
	if st.NumElements < 0 || st.Data != nil && int64(len(st.Data)) != st.NumBytes() {
		return nil, false, fmt.Errorf("storage %q has %d elements of %d bytes, but %d bytes of data",
			st.Key, st.NumElements, st.ElementSize(), len(st.Data))
	}
	key := s.keys[st]
	if key == nil {
		// The number is text of its own: an equal string elsewhere is another object.
		key = &pickle.Text{S: strconv.Itoa(len(s.storages))}
		s.keys[st] = key
		s.storages = append(s.storages, st)
	}
	module := "torch"
	if st.DType == "UntypedStorage" {
		module = "torch.storage"
	}
	loc := st.Location
	if loc == "" {
		loc = "cpu"
	}
	return pickle.Tuple{"storage", global(module, st.DType), key, loc, int64(st.NumElements)}, true, nil
}

func (s *saver) reduce(v Value) (Value, error) {
	switch v := v.(type) {
	case *TensorRef:
		return reduceTensor(v)
	case DType:
		return global("torch", string(v)), nil
	case Device:
		args := pickle.Tuple{&pickle.Text{S: v.Type}}
		if v.Index >= 0 {
			args = append(args, int64(v.Index))
		}
		return &pickle.Object{Class: global("torch", "device"), Args: args}, nil
	case Size:
		return &pickle.Object{Class: global("torch", "Size"), Args: pickle.Tuple{intTuple(v)}}, nil
	}
	if s.opts.Reduce != nil {
		return s.opts.Reduce(v)
	}
	return nil, nil
}

func intTuple(dims []int) pickle.Tuple {
	t := make(pickle.Tuple, len(dims))
	for i, d := range dims {
		t[i] = int64(d)
	}
	return t
}

func reduceTensor(t *TensorRef) (Value, error) {
	if t == nil {
		return nil, fmt.Errorf("tensor is nil")
	}
	if t.Storage == nil {
		return nil, fmt.Errorf("tensor without a storage")
	}
	full := *t
	if full.DType == "" {
		full.DType = storageClasses[t.Storage.DType].dtype
	}
	if err := full.check(); err != nil {
		return nil, err
	}
	class := full.DType.StorageClass()
	typed := t.Storage.DType == class && class != "UntypedStorage"
	if !typed && t.Storage.DType != "UntypedStorage" {
		return nil, fmt.Errorf("tensor of dtype %s is a view of a %s", full.DType, t.Storage.DType)
	}
	hooks := t.BackwardHooks
	if hooks == nil {
		hooks = pickle.NewDict(pickle.OrderedDict)
	}
	inner := hooks
	if t.Parameter {
		inner = pickle.NewDict(pickle.OrderedDict)
	}
	args := pickle.Tuple{t.Storage, int64(t.Offset), intTuple(t.Shape), intTuple(t.Stride),
		t.RequiresGrad && !t.Parameter, inner}
	fn := global("torch._utils", "_rebuild_tensor_v2")
	if t.Quantizer != nil {
		fn = global("torch._utils", "_rebuild_qtensor")
		args = slices.Insert(args, 4, Value(t.Quantizer))
	} else if !typed {
		fn = global("torch._utils", "_rebuild_tensor_v3")
		args = append(args, global("torch", string(full.DType)))
	}
	if t.Metadata != nil {
		args = append(args, t.Metadata)
	}
	if t.Storage.Location == "meta" { // without a storage, as PyTorch
		fn = global("torch._utils", "_rebuild_meta_tensor_no_storage")
		args = pickle.Tuple{global("torch", string(full.DType)), intTuple(t.Shape), intTuple(t.Stride),
			t.RequiresGrad && !t.Parameter}
	}
	data := &pickle.Object{Class: fn, Args: args}
	switch {
	case t.Parameter && t.State != nil:
		return &pickle.Object{Class: global("torch._utils", "_rebuild_parameter_with_state"),
			Args: pickle.Tuple{data, t.RequiresGrad, hooks, t.State}}, nil
	case t.Parameter:
		return &pickle.Object{Class: global("torch._utils", "_rebuild_parameter"),
			Args: pickle.Tuple{data, t.RequiresGrad, hooks}}, nil
	case t.State != nil:
		return &pickle.Object{Class: global("torch._tensor", "_rebuild_from_type_v2"),
			Args: pickle.Tuple{fn, global("torch", "Tensor"), args, t.State}}, nil
	}
	return data, nil
}
