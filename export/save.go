package export

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/internal/atomicfile"
	"github.com/gotorch-dev/torch/internal/torchzip"
	"github.com/gotorch-dev/torch/tensor"
)

// Save writes the program as torch.export.save does: with the parameters and buffers as they are now, so that a
// program can be loaded, trained and saved. PyTorch's torch.export.load opens the file. The file appears under its name
// only when it is complete and on disk.
func (p *Program) Save(name string) error {
	folder := strings.TrimSuffix(filepath.Base(name), ".pt2")
	err := atomicfile.Write(name, func(w io.Writer) error { return p.write(w, folder) })
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// SaveTo is Save to a writer.
func (p *Program) SaveTo(w io.Writer) error { return p.write(w, "archive") }

func (p *Program) write(w io.Writer, folder string) error {
	bw := bufio.NewWriterSize(w, 1<<16)
	zw, err := torchzip.NewWriter(bw, folder)
	if err != nil {
		return err
	}
	for _, part := range []struct {
		dir, kind, config string
		constants         bool
	}{{"data/weights/", "weight_", "_weights_config.json", false},
		{"data/constants/", "tensor_", "_constants_config.json", true}} {
		config, err := p.writeTensors(zw, part.dir, part.kind, part.constants)
		if err != nil {
			return err
		}
		if err := zw.Record(part.dir+p.name+part.config, config); err != nil {
			return err
		}
	}
	records := []struct {
		name string
		data []byte
	}{{"models/" + p.name + ".json", p.model}, {"data/sample_inputs/" + p.name + ".pt", p.samples},
		{"archive_format", []byte("pt2")}, {"archive_version", []byte("0")}, {".data/version", []byte("6\n")}}
	for _, r := range records {
		if r.data == nil {
			continue
		}
		if err := zw.Record(r.name, r.data); err != nil {
			return err
		}
	}
	if err := zw.Close(); err != nil {
		return err
	}
	return bw.Flush()
}

// writeTensors writes the storages of the weights, or of the constants, each once, and returns their description.
func (p *Program) writeTensors(zw *torchzip.Writer, dir, kind string, constants bool) ([]byte, error) {
	files := map[*tensor.Storage]string{}
	list := payloadsJSON{Config: map[string]*payloadJSON{}}
	for _, name := range slices.Sorted(maps.Keys(p.state)) {
		w := p.state[name]
		if w.constant != constants || w.Tensor == nil {
			continue
		}
		t := w.Tensor
		if t.Device().Type != tensor.CPUDevice || t.IsConj() || t.IsNeg() {
			t = t.Detach().ResolveConj().ResolveNeg().To(tensor.Device{})
		}
		st := t.Storage()
		path := files[st]
		if path == "" {
			path = kind + strconv.Itoa(len(files))
			files[st] = path
			if err := zw.Record(dir+path, st.Bytes()); err != nil {
				return nil, err
			}
		}
		meta, err := metaOf(t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		meta.Grad = w.Tensor.RequiresGrad()
		list.Config[name] = &payloadJSON{Path: path, Param: w.Parameter, Meta: meta}
	}
	return json.Marshal(list)
}

// metaOf describes a tensor whose sizes do not vary.
func metaOf(t *tensor.Tensor) (*tensorMetaJSON, error) {
	m := &tensorMetaJSON{DType: dtypeNumber(t.DType()), Sizes: []sizeJSON{}, Strides: []sizeJSON{},
		Device: deviceJSON{Type: "cpu"}, Offset: sizeOfInt(t.StorageOffset()), Layout: stridedLayout}
	if m.DType == 0 || t.IsSparse() {
		return nil, fmt.Errorf("%w: a tensor of dtype %s", ErrUnsupported, t.DType().Name())
	}
	for i, n := range t.Shape() {
		m.Sizes = append(m.Sizes, sizeOfInt(n))
		m.Strides = append(m.Strides, sizeOfInt(t.Stride(i)))
	}
	return m, nil
}
