package serialize_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/internal/torchzip"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/serialize/npy"
	"github.com/gotorch-dev/torch/tensor"
)

// members is a zip archive with the given names.
func members(t *testing.T, folder string, names ...string) []byte {
	var buf bytes.Buffer
	w, err := torchzip.NewWriter(&buf, folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if err := w.Record(n, []byte("\x80\x02c__torch__\nNet\n)\x81.")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func saved(t *testing.T, v any) []byte {
	var buf bytes.Buffer
	if err := serialize.Save(&buf, v); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// module is the pickle of an nn.Module: an object with a state.
const module = "ctorch.nn.modules.linear\nLinear\n)\x81}(X\x0b\x00\x00\x00_parameters}X\x08\x00\x00\x00_modules}ub"

// TestForeignFiles gives Load what people have in place of a checkpoint. The error says what the file is and how to go
// on.
func TestForeignFiles(t *testing.T) {
	big := saved(t, serialize.NewDict("w", tensor.FromSlice(make([]float32, 5000), 5000)))
	header := `{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`
	safetensors := string(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))) + header
	var npz, record bytes.Buffer
	z := npy.NewNPZWriter(&npz, false)
	array := &npy.Array{DType: "uint8", Shape: []int{1}, Data: []byte{1}}
	if err := errors.Join(z.Write("a", array), z.Close(), npy.Write(&record, array)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		file string
		err  error
		says []string
	}{
		{"empty", "", serialize.ErrKind, []string{"an empty file", "again"}},
		{"zeros", strings.Repeat("\x00", 5000), serialize.ErrKind, []string{"zero bytes alone"}},
		{"cut short", string(big[:1000]), serialize.ErrKind, []string{"without its end", "bytes are missing"}},
		{"TorchScript", string(members(t, "m", "data.pkl", "code/__torch__.py", "constants.pkl")), serialize.ErrKind,
			[]string{"TorchScript", "serialize.LoadStateDict reads its weights"}},
		{"exported program", string(members(t, "m", "models/model.json", "archive_format")), serialize.ErrKind,
			[]string{"torch.export.save"}},
		{"package", string(members(t, "m", ".data/extern_modules", "m.pkl")), serialize.ErrKind,
			[]string{"torch.package"}},
		{"no pickle", string(members(t, "m", "data/0")), serialize.ErrFormat, []string{`no record "data.pkl"`}},
		{"an object", string(container("cargparse\nNamespace\n)\x81")), serialize.ErrNotData,
			[]string{"argparse.Namespace", "vars(object)"}},
		{"a function", string(container("cnumpy\nload\n")), serialize.ErrNotData, []string{"numpy.load"}},
		{"a pickle", "\x80\x04\x95\x02\x00\x00\x00\x00\x00\x00\x00K\x01.", serialize.ErrKind,
			[]string{"serialize.LoadPickle"}},
		{"safetensors", safetensors + "\x00\x00\x80\x3f\x00\x00\x80\x3f", serialize.ErrKind,
			[]string{"a safetensors file", "serialize.LoadStateDict reads it"}},
		{"safetensors cut short", safetensors + "\x00", serialize.ErrKind, []string{"7 bytes are missing"}},
		{"ONNX", "\x08\x09\x12\x07pytorch\x1a\x062.15.0", serialize.ErrKind, []string{"ONNX"}},
		{"SavedModel", "\x08\x01\x12\x04\x0a\x02\x08\x01", serialize.ErrKind, []string{"SavedModel"}},
		{"TensorFlow checkpoint", strings.Repeat("\x01", 48) + "\x57\xfb\x80\x8b\x24\x75\x47\xdb", serialize.ErrKind,
			[]string{"TensorFlow checkpoint"}},
		{"GGUF", "GGUF\x03\x00\x00\x00", serialize.ErrKind, []string{"GGUF"}},
		{"HDF5", "\x89HDF\r\n\x1a\n", serialize.ErrKind, []string{"HDF5"}},
		{"npy", record.String(), serialize.ErrKind, []string{"npy.ReadFile(path)"}},
		{"npz", npz.String(), serialize.ErrKind, []string{"npy.ReadNPZ(path)"}},
		{"gzip", "\x1f\x8b\x08\x00", serialize.ErrKind, []string{"gzip", "Unpack"}},
		{"a page", "\n<!DOCTYPE html>\n<html><head><title>404 Not Found</title>", serialize.ErrKind,
			[]string{"an HTML page", "404 Not Found"}},
		{"a server's error", `<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>`, serialize.ErrKind,
			[]string{"XML"}},
		{"a pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 123456\n", serialize.ErrKind,
			[]string{"Git LFS", "123456 bytes", "git lfs pull"}},
		{"JSON", `{"weight_map": {}}`, serialize.ErrKind, []string{"JSON", "index"}},
		{"text", "hello world", serialize.ErrKind, []string{"hello world"}},
		{"a picture", "\x89PNG\r\n\x1a\n", serialize.ErrKind, []string{"PNG"}},
		{"noise", "\x01\x02\x03\x04\x05", serialize.ErrFormat, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "weights.pt")
			if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			var err error
			if errors.Is(c.err, serialize.ErrKind) { // some of them LoadStateDict reads
				_, err = serialize.LoadFile(path)
			} else {
				_, err = serialize.LoadStateDict(path)
			}
			if !errors.Is(err, c.err) {
				t.Fatalf("got %v, want %v", err, c.err)
			}
			for _, s := range append(c.says, path) {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%v: does not say %q", err, s)
				}
			}
		})
	}
}

// TestMissingBytes cuts a checkpoint: what is said to be missing is close to what was cut off and no more than that.
func TestMissingBytes(t *testing.T) {
	b := saved(t, serialize.NewDict("v", tensor.FromSlice(make([]float32, 300), 300), "w",
		tensor.FromSlice(make([]float64, 5000), 5000)))
	for _, n := range []int{600, 2000, 30000} {
		got, cut := torchzip.Missing(bytes.NewReader(b[:n]), int64(n)), int64(len(b)-n)
		if got > cut || got < cut-2048 {
			t.Errorf("%d of %d bytes cut off, %d said to be missing", cut, len(b), got)
		}
	}
}

// TestWrappedStateDict asks for a state dict where a training script has put more into the file.
func TestWrappedStateDict(t *testing.T) {
	w := serialize.NewDict("w", tensor.FromSlice([]float32{1}, 1))
	for _, c := range []struct {
		name string
		v    any
		says string
	}{
		{"state_dict", serialize.NewDict("epoch", 3, "state_dict", w),
			`['state_dict'] (1 tensors). Take one out: v, err := serialize.LoadFile(path); sd, err := ` +
				`v.(*serialize.Dict).Get("state_dict").(*serialize.Dict).StateDict()`},
		{"two levels", serialize.NewDict("run", serialize.NewDict("model", w, "step", 1)),
			`v.(*serialize.Dict).Get("run").(*serialize.Dict).Get("model").(*serialize.Dict).StateDict()`},
		{"none within", serialize.NewDict("epoch", 3), "entry 'epoch' is a value of type int"},
		{"a list", []any{1}, "holds a list of 1 values, not a state dict"},
		{"a tensor", tensor.FromSlice([]float32{1}, 1), "holds a tensor of shape [1], not a state dict"},
	} {
		path := filepath.Join(t.TempDir(), "weights.pt")
		if err := serialize.SaveFile(path, c.v); err != nil {
			t.Fatal(err)
		}
		if _, err := serialize.LoadStateDict(path); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.says)
		}
	}
}
