package safetensors

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/internal/atomicfile"
	"github.com/gotorch-dev/torch/tensor"
)

// Save writes a state dict to a file, which appears under its name when it is complete. meta is noted beside the
// tensors; Hugging Face's own programs write {"format": "pt"} for weights of PyTorch. Tensors that share memory are
// written each in full.
func Save(path string, sd *tensor.StateDict, meta map[string]string) error {
	if err := atomicfile.Write(path, func(w io.Writer) error { return Write(w, sd, meta) }); err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	return nil
}

// Write writes a state dict, with the bytes that safetensors.torch.save gives for the same tensors.
func Write(w io.Writer, sd *tensor.StateDict, meta map[string]string) error {
	type item struct {
		name string
		t    *tensor.Tensor
		rank int
	}
	var items []item
	for name, t := range sd.All() {
		rank := slices.IndexFunc(dtypes, func(d struct {
			name, torch string
			bits        int
		}) bool {
			return d.torch == t.DType().Name()
		})
		if rank < 0 || name == "__metadata__" {
			return fmt.Errorf("safetensors: tensor %q of dtype %s cannot be written: the format has no such dtype or "+
				"name",
				cut(name), t.DType())
		}
		items = append(items, item{name, t, rank})
	}
	// The format's own writer sorts by the size of the elements, so that all of them are aligned, and then by name.
	slices.SortFunc(items, func(a, b item) int {
		return cmp.Or(cmp.Compare(b.rank, a.rank),
			cmp.Compare(a.name, b.name))
	})
	var head strings.Builder
	head.WriteByte('{')
	comma := func() {
		if head.Len() > 1 {
			head.WriteByte(',')
		}
	}
	if meta != nil {
		head.WriteString(`"__metadata__":{`)
		for i, k := range slices.Sorted(maps.Keys(meta)) {
			if i > 0 {
				head.WriteByte(',')
			}
			head.WriteString(quote(k) + ":" + quote(meta[k]))
		}
		head.WriteByte('}')
	}
	at := 0
	for _, it := range items {
		comma()
		n := it.t.Numel() * it.t.ElementSize()
		shape := strings.ReplaceAll(tensor.ShapeString(it.t.Shape()), " ", "")
		fmt.Fprintf(&head, `%s:{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}`, quote(it.name), dtypes[it.rank].name,
			shape, at, at+n)
		at += n
	}
	head.WriteByte('}')
	for head.Len()%8 != 0 {
		head.WriteByte(' ')
	}
	if head.Len() > maxHeader {
		return fmt.Errorf("safetensors: a header of %d bytes, the format allows %d", head.Len(), maxHeader)
	}
	bw := bufio.NewWriterSize(w, 1<<16)
	if err := binary.Write(bw, binary.LittleEndian, uint64(head.Len())); err != nil {
		return err
	}
	if _, err := bw.WriteString(head.String()); err != nil {
		return err
	}
	for _, it := range items {
		var b []byte
		err := tensor.Try(func() { b = bytesOf(it.t) })
		if err == nil {
			_, err = bw.Write(b)
		}
		if err != nil {
			return fmt.Errorf("safetensors: tensor %q: %w", cut(it.name), err)
		}
	}
	return bw.Flush()
}

// bytesOf are the elements in row-major order.
func bytesOf(t *tensor.Tensor) []byte {
	d := tensor.Dense(tensor.HostCopy(tensor.Resolved(t.Detach())))
	n := d.Numel() * d.ElementSize()
	if n == 0 {
		return nil
	}
	all := tensor.FromStorage(d.Storage(), tensor.Uint8, []int{n}, []int{1}, d.StorageOffset()*d.ElementSize())
	return tensor.Data[uint8](all)
}

// quote writes text as JSON without the escapes that HTML needs.
func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}
