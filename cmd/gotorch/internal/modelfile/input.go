package modelfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/serialize/npy"
	"github.com/gotorch-dev/torch/tensor"
)

// MakeInput reads a file, or makes a tensor by a word such as rand(1,3,224,224). dt is the dtype that the model wants.
func MakeInput(what string, dt tensor.DType) (*torch.Tensor, error) {
	if kind, sizes, ok := strings.Cut(what, "("); ok && strings.HasSuffix(sizes, ")") {
		var shape []int
		for _, s := range strings.Split(strings.TrimSuffix(sizes, ")"), ",") {
			if s = strings.TrimSpace(s); s == "" {
				continue
			}
			n, err := strconv.Atoi(s)
			if err != nil || n < 0 || n > 1<<40 {
				return nil, fmt.Errorf("size %q", s)
			}
			shape = append(shape, n)
		}
		return Filled(kind, shape, dt)
	}
	if filepath.Ext(what) == ".npy" {
		a, err := npy.ReadFile(what)
		if err != nil {
			return nil, err
		}
		a = a.RowMajor()
		d := dtype.Parse(a.DType)
		if d == dtype.Invalid {
			return nil, fmt.Errorf("an array of %s", a.DType)
		}
		t := tensor.New(a.Shape, d)
		if t.Numel() > 0 {
			copy(unsafe.Slice((*byte)(tensor.Ptr(t)), len(a.Data)), a.Data)
		}
		return t, nil
	}
	v, err := torch.Load(what)
	if err != nil {
		return nil, err
	}
	t, ok := v.(*torch.Tensor)
	if !ok {
		return nil, fmt.Errorf("the file holds no tensor but a %T", v)
	}
	return t, nil
}

// Filled makes a tensor. Random integers are 0 or 1.
func Filled(kind string, shape []int, dt tensor.DType) (t *torch.Tensor, err error) {
	if dt == 0 {
		dt = torch.Float32
	}
	tryErr := torch.Try(func() {
		switch kind {
		case "rand":
			t = torch.Rand(shape)
			if !dt.IsFloat() {
				t = t.Round()
			}
		case "randn":
			t = torch.Randn(shape)
		case "zeros":
			t = torch.Zeros(shape)
		case "ones":
			t = torch.Ones(shape)
		default:
			err = fmt.Errorf("%q makes no tensor: expected rand, randn, zeros or ones", kind)
			return
		}
		t = t.ToDType(dt)
	})
	if tryErr != nil {
		err = tryErr
	}
	return t, err
}

// Save writes a tensor as a .npy file.
func Save(path string, t *torch.Tensor) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	t = t.Contiguous()
	dt := t.DType()
	if dt == torch.BFloat16 {
		t, dt = t.Float(), torch.Float32
	}
	a := &npy.Array{DType: dt.Name(), Shape: t.Shape()}
	if t.Numel() > 0 {
		a.Data = unsafe.Slice((*byte)(tensor.Ptr(t)), t.NBytes())
	}
	return npy.WriteFile(path, a)
}
