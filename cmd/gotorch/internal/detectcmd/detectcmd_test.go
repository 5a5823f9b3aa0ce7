package detectcmd

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/cli"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/serialize"
	visionio "github.com/gotorch-dev/torch/vision/io"
	"github.com/gotorch-dev/torch/vision/models/detection"
)

func command(args ...string) (string, error) {
	root := cli.Root(Command())
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(append([]string{"detect"}, args...))
	err := root.Execute()
	return out.String(), err
}

func TestDetect(t *testing.T) {
	const arch = "ssdlite320_mobilenet_v3_large"
	dir := t.TempDir()
	picture, weights, labels := filepath.Join(dir, "a.png"), filepath.Join(dir, "w.pt"), filepath.Join(dir, "classes.txt")
	m := image.NewRGBA(image.Rect(0, 0, 80, 60))
	for i := range 80 * 60 {
		m.Set(i%80, i/80, color.RGBA{uint8(i), uint8(i / 80), 90, 255})
	}
	f, err := os.Create(picture)
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, m); err != nil {
		t.Fatal(err)
	}
	f.Close()
	torch.ManualSeed(1)
	net, err := detection.GetModel(arch, detection.Options{NumClasses: 3})
	if err != nil {
		t.Fatal(err)
	}
	if err := serialize.SaveFile(weights, nn.StateDict(net)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(labels, []byte("background\ncat\ndog\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{"--arch", arch, "--weights", weights, "--labels", labels, "--score", "0.3", "--json"}
	text, err := command(append(args, picture)...)
	if err != nil {
		t.Fatal(text, err)
	}
	var r struct {
		Out     string
		Objects []object
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil || len(r.Objects) == 0 {
		t.Fatalf("detect prints %s, %v", text, err)
	}
	for _, o := range r.Objects {
		if o.Label != []string{"background", "cat", "dog"}[o.Class] || o.Score < 0.3 || o.Box[2] > 80 || o.Box[3] > 60 {
			t.Errorf("object %+v", o)
		}
	}
	if r.Out != filepath.Join(dir, "a.detected.png") {
		t.Errorf("it is written to %s", r.Out)
	}
	before, err := visionio.ReadImage(picture)
	if err != nil {
		t.Fatal(err)
	}
	after, err := visionio.ReadImage(r.Out)
	if err != nil || after.Equal(before) {
		t.Errorf("nothing was drawn (%v)", err)
	}
	for name, args := range map[string][]string{
		"no network": {"--arch", "resnet18", picture},
		"score":      {"--score", "2", picture},
		"no file":    {"--weights", filepath.Join(dir, "none.pt"), picture},
		"classes":    {"--arch", arch, "--weights", weights, picture},
		"one name":   {"--out", "x.png", picture, picture},
		"no picture": append(args, filepath.Join(dir, "b.png")),
	} {
		if text, err := command(args...); err == nil {
			t.Errorf("%s: no error, %s", name, text)
		}
	}
}
