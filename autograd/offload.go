package autograd

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// SaveOnCPU runs f such that what operators save for Backward on another device is kept in the memory of the CPU, and
// copied back when a gradient rule reads it.
// https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.graph.save_on_cpu
func SaveOnCPU(f func()) {
	type kept struct {
		t   *Tensor
		dev tensor.Device
	}
	SavedTensorsHooks(func(t *Tensor) any {
		return kept{t.To(tensor.Device{Type: tensor.CPUDevice}), t.Device()}
	}, func(x any) *Tensor {
		k := x.(kept)
		return k.t.To(k.dev)
	}, f)
}

// SaveOnDisk runs f such that what operators save for Backward is kept in files of dir, a folder that exists, and read
// when a gradient rule wants it: for networks whose activations do not fit into memory. Parameters stay in memory, and
// so do tensors of fewer than 4096 bytes. The files are removed by cleanup, which is to be called when the backward
// pass is over, or when there will be none. A tensor that cannot be written or read is an error (ErrValue) of the
// operator, or of Backward.
func SaveOnDisk(dir string, f func()) (cleanup func() error) {
	const least = 4096
	type file struct {
		path string
		dev  tensor.Device
	}
	own, err := os.MkdirTemp(dir, "saved-tensors-")
	if err != nil {
		tensor.Fail(tensor.ErrValue, "SaveOnDisk: %v", err)
	}
	var mu sync.Mutex
	n := 0
	SavedTensorsHooks(func(t *Tensor) any {
		if t.RequiresGrad() && t.IsLeaf() || t.Numel()*t.DType().Size() < least || t.IsSparse() {
			return t.Detach()
		}
		mu.Lock()
		n++
		path := filepath.Join(own, fmt.Sprintf("%d.pt", n))
		mu.Unlock()
		if err := torch.Save(path, t.Detach().Contiguous()); err != nil {
			tensor.Fail(tensor.ErrValue, "SaveOnDisk: %v", err)
		}
		return file{path, t.Device()}
	}, func(x any) *Tensor {
		k, ok := x.(file)
		if !ok {
			return x.(*Tensor)
		}
		v, err := torch.Load(k.path)
		if err != nil {
			tensor.Fail(tensor.ErrValue, "SaveOnDisk: %v", err)
		}
		t, ok := v.(*Tensor)
		if !ok {
			tensor.Fail(tensor.ErrValue, "SaveOnDisk: %s holds no tensor", k.path)
		}
		return t.To(k.dev)
	}, f)
	return func() error { return os.RemoveAll(own) }
}
