package files_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/hub"
	"github.com/gotorch-dev/torch/internal/shared"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/serialize/safetensors"
	"github.com/gotorch-dev/torch/vision/datasets/mnist"
)

// check stops on an error that nobody expects.
func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused looks for texts in an error.
func refused(t *testing.T, err error, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want one with %q", err, text)
		}
	}
}

// Save the weights of a network, not the network itself, and load them into another one.
func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "xxx.pth")
	model := nn.NewLinear(3, 2)
	check(t, torch.Save(path, model.StateDict()))

	other := nn.NewLinear(3, 2)
	sd, err := torch.LoadStateDict(path)
	check(t, err)
	check(t, other.LoadStateDict(sd)) // nil: all keys matched
	if !torch.Equal(model.Weight, other.Weight) || !torch.Equal(model.Bias, other.Bias) {
		t.Error("the weights differ")
	}
}

// The file is the zip archive that torch.save writes and torch.load opens, weights_only included.
func TestFileIsPyTorchs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "xxx.pth")
	check(t, torch.Save(path, nn.NewLinear(3, 2).StateDict()))
	z, err := zip.OpenReader(path)
	check(t, err)
	defer z.Close()
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	want := []string{"xxx/data.pkl", "xxx/.format_version", "xxx/.storage_alignment", "xxx/byteorder", "xxx/data/0",
		"xxx/data/1", "xxx/version",
		"xxx/.data/serialization_id"}
	if !slices.Equal(names, want) {
		t.Errorf("members %v, want %v", names, want)
	}
}

// A whole checkpoint is a dict; Load gives it back with its kinds of values.
func TestCheckpoint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint.pt")
	model := nn.NewLinear(2, 1)
	check(t, torch.Save(path, serialize.NewDict("epoch", 3, "loss", 0.5, "model", model.StateDict())))
	v, err := torch.Load(path)
	check(t, err)
	d := v.(*serialize.Dict)
	if d.Get("epoch") != 3 || d.Get("loss") != 0.5 {
		t.Errorf("epoch %v, loss %v", d.Get("epoch"), d.Get("loss"))
	}
	sd, err := d.Get("model").(*serialize.Dict).StateDict()
	check(t, err)
	check(t, nn.NewLinear(2, 1).LoadStateDict(sd))
	// Modules are code, not data: they are not saved as a whole.
	if err := torch.Save(path, model); err == nil {
		t.Error("a module was saved")
	}
}

// Loading part of a network: names that do not match are reported, other shapes are still an error.
func TestPartialLoad(t *testing.T) {
	model := nn.NewSequential(nn.NewLinear(2, 2))
	sd := &torch.StateDict{}
	sd.Set("0.weight", torch.Ones([]int{2, 2}))
	sd.Set("x", torch.Ones([]int{1}))
	refused(t, model.LoadStateDict(sd), `Missing key(s) in state_dict: "0.bias"`,
		`Unexpected key(s) in state_dict: "x"`)

	var res nn.LoadResult
	check(t, model.LoadStateDict(sd, nn.LoadOptions{NonStrict: true, Result: &res}))
	if fmt.Sprint(res) != "_IncompatibleKeys(missing_keys=['0.bias'], unexpected_keys=['x'])" {
		t.Errorf("result %v", res)
	}
	sd.Set("0.weight", torch.Ones([]int{3, 2}))
	refused(t, model.LoadStateDict(sd, nn.LoadOptions{NonStrict: true}),
		"size mismatch for 0.weight: copying a param with shape torch.Size([3, 2]) from checkpoint, the shape in "+
			"current model is torch.Size([2, 2]).")
}

// Wrapper holds another module, as DataParallel does in Python.
type Wrapper struct {
	nn.Base
	Module nn.Module
}

// Weights that were saved inside a wrapper are called "module.weight". They fit a wrapped network, or lose the prefix.
func TestPrefix(t *testing.T) {
	sd := nn.New(&Wrapper{Module: nn.NewLinear(2, 1)}).StateDict()
	bare := nn.NewLinear(2, 1)
	refused(t, bare.LoadStateDict(sd), `"weight", "bias"`, `"module.weight", "module.bias"`)

	check(t, nn.New(&Wrapper{Module: nn.NewLinear(2, 1)}).LoadStateDict(sd)) // wrap again …
	check(t, bare.LoadStateDict(sd.StripPrefix("module.")))                  // … or rename

	// Only the beginning of a name is cut; replacing "module." everywhere would make "subweight" of this one.
	deep := &torch.StateDict{}
	deep.Set("module.submodule.weight", torch.Ones([]int{1}))
	if got := deep.StripPrefix("module.").Keys(); got[0] != "submodule.weight" {
		t.Errorf("keys %v", got)
	}
}

// Tensors of a file that was written on a GPU come to the CPU when they are mapped there; otherwise, as in PyTorch, the
// error says so.
func TestLoadToCPU(t *testing.T) {
	model := nn.NewLinear(2, 1)
	var cpu, gpu bytes.Buffer
	check(t, serialize.Save(&cpu, model.StateDict()))
	// the same file as a GPU would have written it: every storage's place is a string in the pickle
	z, err := zip.NewReader(bytes.NewReader(cpu.Bytes()), int64(cpu.Len()))
	check(t, err)
	w := zip.NewWriter(&gpu)
	for _, f := range z.File {
		r, err := f.Open()
		check(t, err)
		b, err := io.ReadAll(r)
		check(t, err)
		if strings.HasSuffix(f.Name, "/data.pkl") {
			was := b
			if b = bytes.ReplaceAll(b, []byte("X\x03\x00\x00\x00cpu"),
				[]byte("X\x06\x00\x00\x00cuda:1")); bytes.Equal(b, was) {
				t.Fatal("the pickle names no place")
			}
		}
		m, err := w.CreateHeader(&zip.FileHeader{Name: f.Name, Method: zip.Store})
		check(t, err)
		_, err = m.Write(b)
		check(t, err)
	}
	check(t, w.Close())

	if _, err := serialize.LoadBytes(gpu.Bytes()); err == nil || !strings.Contains(err.Error(), "map_location") {
		t.Errorf("without a GPU: got %v, want an error that names map_location", err)
	}
	v, err := serialize.LoadBytes(gpu.Bytes(), serialize.LoadOptions{MapLocation: serialize.ToDevice(torch.CPU)})
	check(t, err)
	sd, err := v.(*serialize.Dict).StateDict()
	check(t, err)
	for k, x := range sd.All() {
		if x.Device() != torch.CPU || !torch.Equal(x, model.StateDict().Get(k)) {
			t.Errorf("%s is on %s: %v", k, x.Device(), x)
		}
	}
	check(t, nn.NewLinear(2, 1).LoadStateDict(sd))
}

// The handwritten digits, from their original files.
func TestMNIST(t *testing.T) {
	root := shared.Path(t, "data/mnist")
	for train, want := range map[bool]int{true: 60000, false: 10000} {
		s, err := mnist.Load(root, train)
		check(t, err)
		if s.Len() != want {
			t.Errorf("%d samples, want %d", s.Len(), want)
		}
	}
}

// Published weights start a network with a head of one's own: what fits is loaded, the rest is frozen but for the head,
// and the head learns faster.
func TestSurgery(t *testing.T) {
	published := nn.NewSequential(nn.NewLinear(4, 3), nn.NewLinear(3, 1000)).StateDict().AddPrefix("module.")
	path := filepath.Join(t.TempDir(), "published.safetensors")
	check(t, safetensors.Save(path, published, nil))

	model := nn.NewSequential(nn.NewLinear(4, 3), nn.NewLinear(3, 2))
	sd, err := serialize.LoadStateDict(path, serialize.LoadOptions{MMap: true})
	check(t, err)
	report, err := nn.LoadMatching(model, sd.StripPrefix("module."))
	check(t, err)
	if len(report.Mismatched) != 2 || len(report.MissingKeys) != 0 {
		t.Errorf("report %v", report)
	}
	check(t, nn.Freeze(model, "1"))
	opt := optim.NewSGDGroups(optim.GroupNamed(nn.NamedParameters(model),
		optim.NamedGroup{Names: []string{"1"}, Group: optim.Group{LR: torch.Some(0.1)}}), 0.01)
	if g := opt.ParamGroups(); len(g) != 1 || len(g[0].Params) != 2 || g[0].LR() != 0.1 {
		t.Errorf("%d groups", len(g))
	}
}

// torch.save(model) pickles the module with the names of its classes. Python has to import them; here the tensors come
// out, by their names in the state dict, and no code runs.
func TestWholeModel(t *testing.T) {
	path := filepath.Join("testdata", "whole.pth")
	v, err := serialize.LoadFile(path)
	check(t, err)
	if o, ok := v.(*serialize.Object); !ok || !o.IsModule() ||
		o.Class.String() != "torch.nn.modules.container.Sequential" {
		t.Errorf("the file holds a %T", v)
	}

	sd, err := torch.LoadStateDict(path)
	check(t, err)
	model := nn.NewSequential(nn.NewLinear(3, 2), nn.NewReLU(), nn.NewLinear(2, 1))
	check(t, model.LoadStateDict(sd))
	y := model.Forward(torch.Ones([]int{1, 3})).Item()
	if math.Abs(y-(-0.213696912)) > 1e-6 {
		t.Errorf("the network gives %v", y)
	}
}

// Weights that were published before PyTorch 1.6 may lie in a zip archive of one file, those since then are archives of
// their own: hub reads both, and refuses other archives as torch.hub does.
func TestHubZip(t *testing.T) {
	model := nn.NewLinear(3, 2)
	var weights bytes.Buffer
	check(t, serialize.Save(&weights, model.StateDict()))
	archive := func(names ...string) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, n := range names {
			w, err := z.Create(n)
			check(t, err)
			_, err = w.Write(weights.Bytes())
			check(t, err)
		}
		check(t, z.Close())
		return b.Bytes()
	}
	files := map[string][]byte{"/one.zip": archive("one.pth"), "/two.zip": archive("a.pth", "b.pth"),
		"/new.pth": func() []byte {
			var b bytes.Buffer
			check(t, serialize.Save(&b, model.StateDict()))
			return b.Bytes()
		}()}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(files[r.URL.Path])
	}))
	defer server.Close()
	o := hub.LoadOptions{Dir: t.TempDir()}
	for _, name := range []string{"/one.zip", "/new.pth"} {
		sd, err := hub.LoadStateDictFromURL(context.Background(), server.URL+name, o)
		check(t, err)
		if !torch.Equal(sd.Get("weight"), model.Weight) {
			t.Errorf("%s: other weights", name)
		}
	}
	_, err := hub.LoadStateDictFromURL(context.Background(), server.URL+"/two.zip", o)
	refused(t, err, "Only one file(not dir) is allowed in the zipfile")
}
