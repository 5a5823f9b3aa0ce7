package serialize_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/internal/pickle"
	"github.com/gotorch-dev/torch/internal/second"
	"github.com/gotorch-dev/torch/internal/torchzip"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// tags are the locations of the storages in a saved file, in order.
func tags(t *testing.T, file []byte) (out []string) {
	t.Helper()
	v, err := torchzip.Load(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range v.(*pickle.List).Items {
		out = append(out, e.(*torchzip.TensorRef).Storage.Location)
	}
	return out
}

func TestDevices(t *testing.T) {
	x := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	far := x.To(second.Device)
	meta := tensor.NewOn(tensor.Device{Type: tensor.MetaDevice}, []int{4}, nil, tensor.Float32)
	var buf bytes.Buffer
	if err := serialize.Save(&buf, []*tensor.Tensor{x, far, far.Transpose(0, 1), meta}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(tags(t, buf.Bytes()), " "); got != "cpu second:0 second:0 meta" {
		t.Fatalf("the file says that the storages were on %s", got)
	}
	load := func(o ...serialize.LoadOptions) []*tensor.Tensor {
		t.Helper()
		v, err := serialize.LoadBytes(buf.Bytes(), o...)
		if err != nil {
			t.Fatal(err)
		}
		var out []*tensor.Tensor
		for _, e := range v.([]any) {
			out = append(out, e.(*tensor.Tensor))
		}
		return out
	}
	check := func(what string, got []*tensor.Tensor, want ...tensor.Device) {
		t.Helper()
		for i, g := range got {
			if g.Device() != want[i] {
				t.Errorf("%s: tensor %d is on %s, want %s", what, i, g.Device(), want[i])
			} else if i < 2 && !g.CPU().Equal(x) || i == 2 && !g.CPU().Equal(x.Transpose(0, 1)) {
				t.Errorf("%s: tensor %d is %v", what, i, g.CPU())
			}
		}
		if got[1].Storage() != got[2].Storage() {
			t.Errorf("%s: views no longer share memory", what)
		}
	}
	cpu, other := tensor.Device{}, tensor.Device{Type: second.Device.Type, Index: 1}
	check("as saved", load(), cpu, second.Device, second.Device, meta.Device())
	check("to the CPU", load(serialize.LoadOptions{MapLocation: serialize.ToDevice(cpu)}), cpu, cpu, cpu, meta.Device())
	check("by a function", load(serialize.LoadOptions{MapLocation: func(tag string) (tensor.Device,
		bool) {
		return other, tag == "second:0"
	}}),
		cpu, other, other, meta.Device())
}

func TestMissingDevice(t *testing.T) {
	for tag, want := range map[string]string{
		"cuda:1":   "Attempting to deserialize object on a CUDA device but",
		"second:7": "Attempting to deserialize object on SECOND device 7",
	} {
		ref := &torchzip.StorageRef{DType: "FloatStorage", NumElements: 1, Location: tag, Data: make([]byte, 4)}
		var buf bytes.Buffer
		if err := torchzip.Save(&buf, &torchzip.TensorRef{Storage: ref, DType: "float32", Shape: []int{1},
			Stride: []int{1}}, torchzip.SaveOptions{}); err != nil {
			t.Fatal(err)
		}
		_, err := serialize.LoadBytes(buf.Bytes())
		if !errors.Is(err, tensor.ErrDevice) || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "map_location") {
			t.Errorf("%s: got %v, want an error that says %q and names map_location", tag, err, want)
		}
		v, err := serialize.LoadBytes(buf.Bytes(),
			serialize.LoadOptions{MapLocation: serialize.ToDevice(tensor.Device{})})
		if err != nil || v.(*tensor.Tensor).Device() != (tensor.Device{}) {
			t.Errorf("%s mapped to the CPU: got %v, %v", tag, v, err)
		}
		_, err = serialize.LoadBytes(buf.Bytes(),
			serialize.LoadOptions{MapLocation: serialize.ToDevice(tensor.Device{Type: tensor.CUDADevice})})
		if !errors.Is(err, tensor.ErrDevice) {
			t.Errorf("%s mapped to a missing device: got %v", tag, err)
		}
	}
}
