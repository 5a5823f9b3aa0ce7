package serialize

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gotorch-dev/torch/internal/filekind"
	"github.com/gotorch-dev/torch/internal/torchzip"
	"github.com/gotorch-dev/torch/serialize/gguf"
	"github.com/gotorch-dev/torch/serialize/npy"
	"github.com/gotorch-dev/torch/serialize/safetensors"
	"github.com/gotorch-dev/torch/tensor"
)

// LoadStateDict reads a state dict from a file of any format that holds one:
//
//   - torch.save: a dict of tensors, or a model that was saved whole
//   - pickle.dump: a dict of tensors or NumPy's arrays
//   - torch.jit.save: the tensors among the attributes of the modules
//   - safetensors, .npz, and GGUF, whose quantized tensors become float32
//   - a folder, or its index (model.safetensors.index.json, pytorch_model.bin.index.json): a state dict in several
//     files
//
// A file that holds a state dict inside a larger checkpoint is an error that names the call to use, unless
// [LoadOptions.Entry] leads to it.
func LoadStateDict(path string, opts ...LoadOptions) (*tensor.StateDict, error) {
	var o LoadOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	sd, err := loadWeights(path, o, true)
	if err != nil {
		return nil, err
	}
	return sd, nil
}

func loadWeights(path string, o LoadOptions, index bool) (*tensor.StateDict, error) {
	kind, err := kindOf(path)
	if err != nil {
		return nil, err
	}
	if kind == folder && index {
		if path, err = weightsIn(path); err != nil {
			return nil, err
		}
		return loadWeights(path, o, true)
	}
	var sd *tensor.StateDict
	switch kind {
	case filekind.SafeTensors:
		sd, err = safetensors.Load(path, safetensors.Options{MMap: o.MMap})
	case filekind.GGUF:
		sd, err = gguf.Load(path)
	case filekind.NPZ:
		sd, err = loadNPZ(path)
	case filekind.JSON:
		if !index {
			return nil, fmt.Errorf("%s: serialize: %w: an index names an index", path, ErrFormat)
		}
		sd, err = loadShards(path, o)
	default:
		load := LoadFile
		switch kind {
		case filekind.Pickle:
			load = LoadPickle
		case filekind.TorchScript:
			load = loadScript
		}
		v, err := load(path, o)
		if err != nil {
			return nil, err
		}
		if sd, err = stateDictOf(v, o.Entry); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return sd, nil
	}
	if err != nil {
		return nil, err
	}
	if len(o.Entry) > 0 {
		return nil, fmt.Errorf("%s: there is no entry %q: the file holds tensors alone", path, cut(o.Entry[0]))
	}
	return moved(sd, o)
}

// loadScript reads the objects of a TorchScript archive, whose code is not run.
func loadScript(path string, opts ...LoadOptions) (any, error) {
	return openFile(path, opts, func(r io.ReaderAt, size int64, mapped []byte, opts []LoadOptions) (any, error) {
		root, err := torchzip.Load(r, size)
		if err != nil {
			return nil, err
		}
		return decode(root, mapped, opts)
	})
}

// moved puts the tensors where MapLocation says; files other than PyTorch's do not tell a device, which is "cpu" then.
func moved(sd *tensor.StateDict, o LoadOptions) (*tensor.StateDict, error) {
	if o.MapLocation == nil {
		return sd, nil
	}
	d, ok := o.MapLocation("cpu")
	if !ok || d == (tensor.Device{}) {
		return sd, nil
	}
	out := &tensor.StateDict{}
	err := tensor.Try(func() {
		for k, t := range sd.All() {
			out.Set(k, t.To(d))
		}
	})
	return out, err
}

// folder is the kind of a folder.
const folder = ^filekind.Kind(0)

func kindOf(path string) (filekind.Kind, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if st.IsDir() {
		return folder, nil
	}
	return filekind.Of(f, st.Size()).Kind, nil
}

// weightsIn finds the weights in a folder by the names that Hugging Face gives them.
func weightsIn(dir string) (string, error) {
	names := []string{"model.safetensors.index.json", "model.safetensors", "pytorch_model.bin.index.json",
		"pytorch_model.bin"}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "", fmt.Errorf("the folder %s holds no weights: none of %q", dir, names)
}

// loadShards reads the files that an index names, each one once.
func loadShards(path string, o LoadOptions) (*tensor.StateDict, error) {
	index, err := safetensors.ReadIndex(path)
	if err != nil {
		return nil, err
	}
	out := &tensor.StateDict{}
	for _, file := range index.Files() {
		sd, err := loadWeights(filepath.Join(filepath.Dir(path), file), o, false)
		if err != nil {
			return nil, err
		}
		for k, t := range sd.All() {
			if index.WeightMap[k] == file {
				out.Set(k, t)
			}
		}
	}
	for _, name := range index.Names() {
		if !out.Has(name) {
			return nil, fmt.Errorf("%s: the file %s lacks %q, which the index says it has", path, index.WeightMap[name],
				cut(name))
		}
	}
	return out, nil
}

func loadNPZ(path string) (*tensor.StateDict, error) {
	arrays, err := npy.ReadNPZ(path)
	if err != nil {
		return nil, err
	}
	z, err := npy.OpenNPZ(path)
	if err != nil {
		return nil, err
	}
	names := z.Names()
	if err := z.Close(); err != nil {
		return nil, err
	}
	sd := &tensor.StateDict{}
	for _, name := range names {
		t, err := arrays[name].Tensor()
		if err != nil {
			return nil, fmt.Errorf("%s: array %q: %w", path, cut(name), err)
		}
		sd.Set(name, t)
	}
	return sd, nil
}
