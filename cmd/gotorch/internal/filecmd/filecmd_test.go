package filecmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/cli"
	"github.com/gotorch-dev/torch/export"
	"github.com/gotorch-dev/torch/internal/shared"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/serialize/npy"
	"github.com/gotorch-dev/torch/serialize/safetensors"
)

// run runs a command line and returns what it printed.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	root := &cobra.Command{Use: "gotorch", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(Commands()...)
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

// says checks what a command prints, or its error.
func says(t *testing.T, wantErr bool, args []string, want ...string) {
	t.Helper()
	out, err := run(t, args...)
	if (err != nil) != wantErr {
		t.Errorf("%v: error %v", args, err)
	}
	if err != nil {
		out += err.Error()
	}
	narrow := strings.Join(strings.Fields(out), " ") // columns are as wide as they need be
	for _, w := range want {
		if !strings.Contains(narrow, strings.Join(strings.Fields(w), " ")) {
			t.Errorf("%v printed\n%s\nwithout %q", args, out, w)
		}
	}
}

func write(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// weights is a file with some tensors.
func weights(t *testing.T, dir string) (path string, sd *torch.StateDict) {
	t.Helper()
	sd = &torch.StateDict{}
	sd.Set("module.fc.weight", torch.Arange(6).Reshape([]int{2, 3}).To(torch.Float32))
	sd.Set("module.fc.bias", torch.FromSlice([]float32{0.5, -1.25}, 2))
	sd.Set("module.count", torch.FromSlice([]int64{7}))
	path = filepath.Join(dir, "w.pt")
	if err := serialize.SaveFile(path, sd); err != nil {
		t.Fatal(err)
	}
	return path, sd
}

func TestInspect(t *testing.T) {
	dir := t.TempDir()
	path, sd := weights(t, dir)
	says(t, false, []string{"inspect", path}, "a PyTorch checkpoint (torch.save)", "sha256: ", "version: 3",
		"module.fc.weight  float32            [2, 3]", "24 B", "3 tensors, 9 numbers", `all keys begin with "module."`)
	st := filepath.Join(dir, "w.safetensors")
	if err := safetensors.Save(st, sd, map[string]string{"format": "pt"}); err != nil {
		t.Fatal(err)
	}
	says(t, false, []string{"inspect", st}, "a safetensors file", "format: pt", "module.count      int64    [1]")
	if err := safetensors.SaveSharded(filepath.Join(dir, "shards"), sd, 20, nil); err != nil {
		t.Fatal(err)
	}
	says(t, false, []string{"inspect", filepath.Join(dir, "shards")}, "the index of weights in 2 files",
		"total_size: 40",
		"model-00001-of-00002.safetensors")

	// Everything that a checkpoint may hold beside tensors.
	big := torch.Zeros([]int{10000})
	nan := torch.FromSlice([]float32{float32(inf()), 1}, 2)
	odd := filepath.Join(dir, "odd.pt")
	list := []any{1, []any{2.5}}
	if err := serialize.SaveFile(odd, serialize.NewDict("epoch", 3, "lr", serialize.Tuple{0.9, 0.999}, "list", list,
		"view", big.Narrow(0, 5, 2), "nan", nan, "shared", nan.Narrow(0, 0, 1), "t",
		torch.Ones([]int{2, 3}).Transpose(0, 1),
		"array", &npy.Array{DType: "int16", Shape: []int{2}, Data: make([]byte, 4)}, "dt", torch.Float16)); err != nil {
		t.Fatal(err)
	}
	says(t, false, []string{"inspect", odd}, "epoch", "(0.9, 0.999)", "list of 2", "2.5", "strides [1 3]",
		"shares memory with nan", "array  int16", "torch.dtype",
		"view is a view of 8 B of a storage of 40.0 kB", "nan has 1 element that are not finite")

	evil := write(t, dir, "evil.pkl", "\x80\x02cos\nsystem\n(X\x04\x00\x00\x00truetR0}.")
	says(t, false, []string{"inspect", evil}, "UNSAFE: refers to os.system", "dict of 0")
	ns := write(t, dir, "ns.pkl", "\x80\x02cargparse\nNamespace\n)\x81}X\x01\x00\x00\x00aK\x01sb.")
	says(t, false, []string{"inspect", ns}, "object of argparse.Namespace", ".a",
		"unusual: refers to argparse.Namespace")
	says(t, false, []string{"inspect", write(t, dir, "cut.pt", "PK\x03\x04")}, "a zip archive without its end")
	says(t, false, []string{"inspect", write(t, dir, "x.html", "<!doctype html><title>No</title>")}, "an HTML page")
	says(t, false, []string{"inspect", write(t, dir, "x.json", `{"a": 1}`)}, "a JSON file")
	says(t, true, []string{"inspect", filepath.Join(dir, "nothing")}, "no such file")
	says(t, true, []string{"inspect", dir}, "holds no weights")
	says(t, false, []string{"inspect", write(t, dir, "x.lst", "0\t1\ta.png\n")}, "image list, 1 images")

	out, err := run(t, "inspect", odd, "--json")
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if r.Tensors != 5 || len(r.SHA256) != 64 || r.Entries[1].Path[0] != "epoch" || r.Entries[1].Value != "3" {
		t.Errorf("%+v", r)
	}
	// A broken file gives what is known of it, and an error.
	header := `{"w":{"dtype":"F32","shape":[9],"data_offsets":[0,8]}}`
	st2 := write(t, dir, "bad.safetensors", string(rune(len(header)))+"\x00\x00\x00\x00\x00\x00\x00"+header+"01234567")
	out, err = run(t, "inspect", st2, "--json")
	if err == nil || !strings.Contains(out, `"error": "`) {
		t.Errorf("%v: %s", err, out)
	}
}

func inf() float64 {
	zero := 0.0
	return 1 / zero
}

func TestConvert(t *testing.T) {
	dir := t.TempDir()
	path, sd := weights(t, dir)
	at := func(name string) string { return filepath.Join(dir, name) }
	from := path
	for _, to := range []string{"a.safetensors", "b.npz", "c.pth", "d.safetensors", "e.pt", "f.npz"} {
		says(t, false, []string{"convert", from, at(to)}, "3 tensors, 40 B")
		from = at(to)
	}
	says(t, false, []string{"diff", path, from}, "0 of 3 tensors differ")
	says(t, false, []string{"convert", path, at("half.pt"), "--dtype", "bfloat16", "--strip-prefix", "module.",
		"--exclude",
		"count", "--rename", `^fc\.(.*)=head.$1`, "--add-prefix", "m."}, "2 tensors, 16 B")
	got, err := serialize.LoadStateDict(at("half.pt"))
	if err != nil {
		t.Fatal(err)
	}
	if w := got.Get("m.head.weight"); got.Len() != 2 || w == nil || w.DType() != torch.BFloat16 ||
		!w.To(torch.Float32).Equal(sd.Get("module.fc.weight")) {
		t.Errorf("%v", got.Keys())
	}
	says(t, false, []string{"convert", path, at("shards"), "--shard-size", "1"}, "3 tensors")
	wrapped := at("wrapped.pt")
	if err := serialize.SaveFile(wrapped, serialize.NewDict("epoch", 1, "state_dict", sd)); err != nil {
		t.Fatal(err)
	}
	says(t, true, []string{"convert", wrapped, at("x.pt")}, "['state_dict'] (3 tensors)", "--entry KEY")
	says(t, false, []string{"convert", wrapped, at("x.pt"), "--entry", "state_dict"}, "3 tensors")
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{path, at("x.onnx")}, "unknown extension"},
		{[]string{path, at("x.npz"), "--dtype", "bfloat16"}, "NumPy has no bfloat16"},
		{[]string{path, at("x.pt"), "--dtype", "int8"}, "--dtype"},
		{[]string{path, at("x.pt"), "--include", "("}, "--include"},
		{[]string{path, at("x.pt"), "--rename", "a"}, "REGEXP=TEXT"},
		{[]string{path, at("x.pt"), "--rename", ".*=a"}, "would become a"},
		{[]string{path, at("x.pt"), "--include", "nothing"}, "no tensors are left"},
	} {
		says(t, true, append([]string{"convert"}, c.args...), c.says)
	}
	if _, err := os.Stat(at("x.npz")); err == nil {
		t.Error("an error left a file behind")
	}
}

func TestDiff(t *testing.T) {
	dir := t.TempDir()
	path, sd := weights(t, dir)
	other := sd.Filter(func(k string) bool { return k != "module.count" })
	other.Set("module.fc.bias", torch.FromSlice([]float32{0.5, -1.5}, 2))
	other.Set("module.fc.weight", torch.Ones([]int{3, 2}))
	other.Set("extra", torch.Ones([]int{1}))
	b := filepath.Join(dir, "b.safetensors")
	if err := safetensors.Save(b, other, nil); err != nil {
		t.Fatal(err)
	}
	out, err := run(t, "diff", path, b)
	var code cli.ExitCode
	if !errors.As(err, &code) || code != 1 {
		t.Errorf("got %v, want status 1", err)
	}
	for _, w := range []string{"module.fc.bias    values     float32 [2]", "max difference 0.25",
		"module.fc.weight  shape",
		"module.count      only in A  int64 [1]", "extra             only in B  float32 [1]", "4 of 4 tensors differ"} {
		if !strings.Contains(out, w) {
			t.Errorf("printed\n%s\nwithout %q", out, w)
		}
	}
	half := filepath.Join(dir, "half.pt")
	says(t, false, []string{"convert", path, half, "--dtype", "float64"})
	says(t, true, []string{"diff", path, half, "--all"}, "dtype", "module.count      equal", "2 of 3 tensors differ")
	says(t, true, []string{"diff", path, filepath.Join(dir, "x")}, "no such file")
	var list []difference
	out, _ = run(t, "diff", path, b, "--json")
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) != 4 {
		t.Errorf("%v: %s", err, out)
	}
	// Equal NaN are no difference, others are an infinite one.
	nan := &torch.StateDict{}
	nan.Set("w", torch.FromSlice([]float32{float32(inf() - inf()), 1}, 2))
	num := &torch.StateDict{}
	num.Set("w", torch.FromSlice([]float32{0, 1}, 2))
	wide := &torch.StateDict{}
	wide.Set("w", nan.Get("w").To(torch.Float64))
	for _, c := range []struct {
		b    *torch.StateDict
		want string
	}{{nan, "equal"}, {num, "values"}, {wide, "dtype"}} {
		if list, _, err := compare(nan, c.b, 1e30); err != nil || list[0].How != c.want {
			t.Errorf("%v, %v, want %s", list, err, c.want)
		}
	}
}

// TestWild inspects every file of the reference data.
func TestWild(t *testing.T) {
	if testing.Short() {
		t.Skip("reads hundreds of files")
	}
	for _, dir := range []string{shared.Path(t, "testdata", "weights"), shared.Path(t, "testdata", "npy")} {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if out, err := run(t, "inspect", path); err != nil && !strings.Contains(err.Error(), "Python objects") ||
				!strings.Contains(out, "sha256: ") {
				t.Errorf("%s: %v\n%s", path, err, out)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestInspectExported looks at a program of torch.export.
func TestInspectExported(t *testing.T) {
	p, err := export.Export(nn.NewLinear(3, 2), []any{torch.Zeros([]int{2, 3})}, export.Options{
		Dynamic: map[string]map[int]string{"x": {0: "n"}}, Ranges: map[string]export.Range{"n": {Max: 9}}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.pt2")
	if err := p.Save(path); err != nil {
		t.Fatal(err)
	}
	says(t, false, []string{"inspect", path}, "exported program", "schema_version: 8.20", "bias float32 [2]",
		"input x: float32[s0, 3]", "output output: float32[s0, 2]", "guard x.size()[0] <= 9", "calls aten::linear ×1")
}
