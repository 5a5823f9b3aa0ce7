package train

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/serialize"
)

// colours makes a folder with a folder of small images of a colour each.
func colours(t *testing.T, n int) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "colours")
	for k, name := range []string{"blue", "green", "red"} {
		if err := os.MkdirAll(filepath.Join(root, name), 0o777); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			m := image.NewRGBA(image.Rect(0, 0, 40, 36))
			for p := range 40 * 36 {
				rgb := [3]uint8{uint8(p * i % 60), uint8(p * 7 % 50), uint8(p % 40)}
				rgb[2-k] += 190
				m.Set(p%40, p/40, color.RGBA{rgb[0], rgb[1], rgb[2], 255})
			}
			f, err := os.Create(filepath.Join(root, name, fmt.Sprintf("%02d.png", i)))
			if err != nil {
				t.Fatal(err)
			}
			if err := png.Encode(f, m); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
	}
	return root
}

// smallNet is a network that is trained fast.
const smallNet = "squeezenet1_1"

// weightsFile is a file of random weights of a network, and the weights.
func weightsFile(t *testing.T, arch string, classes int) (string, *torch.StateDict) {
	t.Helper()
	torch.ManualSeed(5)
	sd := nn.StateDict(newArchitecture(arch, classes))
	path := filepath.Join(t.TempDir(), "weights.pt")
	if err := serialize.SaveFile(path, sd); err != nil {
		t.Fatal(err)
	}
	return path, sd
}

func TestFinetune(t *testing.T) {
	const arch = "resnet18"
	data, out := colours(t, 10), filepath.Join(t.TempDir(), "run")
	file, before := weightsFile(t, arch, 1000)
	text, err := command(context.Background(), "finetune", "--arch", arch, "--weights", file, "--data", data,
		"--freeze-backbone", "--epochs", "4", "--batch-size", "6", "--lr", "0.02", "--image-size", "32", "--out", out)
	if err != nil {
		t.Fatal(text, err)
	}
	for _, name := range []string{checkpointFile, modelFile, curveFile, confusionFile, classesFile} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Error(err)
		}
	}
	if logs, _ := filepath.Glob(filepath.Join(out, "events.*")); len(logs) == 0 {
		t.Error("no TensorBoard logs")
	}
	after, err := serialize.LoadStateDict(filepath.Join(out, modelFile))
	if err != nil {
		t.Fatal(err)
	}
	head := headOf(arch, 3)
	for name, want := range before.All() {
		got := after.Get(name)
		if slices.Contains(head, name) {
			if got.Size(0) != 3 {
				t.Errorf("%s has shape %v", name, got.Shape())
			}
		} else if !got.Equal(want) {
			t.Errorf("%s of the frozen backbone has changed", name)
		}
	}
	if len(head) != 2 {
		t.Errorf("the head is %v, want a weight and a bias", head)
	}
	// the checkpoint classifies, and is measured
	picture := filepath.Join(data, "red", "04.png")
	text, err = command(context.Background(), "predict", "--checkpoint", out, "--json", picture)
	var guess struct {
		Top []struct {
			Label       string
			Probability float64
		}
	}
	if err != nil || json.Unmarshal([]byte(text), &guess) != nil || len(guess.Top) != 3 || guess.Top[0].Label != "red" {
		t.Errorf("predict prints %s, %v", text, err)
	}
	text, err = command(context.Background(), "eval", "--checkpoint", out, "--data", data, "--json")
	var e struct {
		Total     int
		Accuracy  float64
		Confusion [][]int
	}
	if err != nil || json.Unmarshal([]byte(text), &e) != nil || e.Total != 6 || len(e.Confusion) != 3 || e.Accuracy < 0.6 {
		t.Errorf("eval prints %s, %v", text, err)
	}
	// the weights do so by the network's name as well
	text, err = command(context.Background(), "predict", "--arch", arch, "--weights", filepath.Join(out, modelFile),
		"--labels", filepath.Join(out, classesFile), "--image-size", "32", "--top", "1", filepath.Join(data, "blue"))
	if err != nil || strings.Count(text, "\n") != 20 || !strings.Contains(text, "blue") {
		t.Errorf("predict --arch prints %s, %v", text, err)
	}
}

// A run that was stopped ends with the identical model, whatever was drawn for its pictures.
func TestFinetuneResume(t *testing.T) {
	data, dir := colours(t, 5), t.TempDir()
	args := []string{"--arch", smallNet, "--data", data, "--epochs", "2", "--batch-size", "4", "--image-size", "32",
		"--head-lr", "0.01", "--quiet", "--tensorboard=false", "--checkpoint-every", "1"}
	run := func(ctx context.Context, more ...string) error {
		_, err := command(ctx, append(append([]string{"finetune"}, args...), more...)...)
		return err
	}
	ref, out := filepath.Join(dir, "ref"), filepath.Join(dir, "out")
	if err := run(context.Background(), "--out", ref, "--workers", "2"); err != nil {
		t.Fatal(err)
	}
	if err := run(&stopping{context.Background(), 5}, "--out", out, "--workers", "0"); err == nil {
		t.Fatal("the run was not stopped")
	}
	if err := run(context.Background(), "--resume", out, "--workers", "1"); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(ref, modelFile))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(out, modelFile)); err != nil || !slices.Equal(got, want) {
		t.Errorf("the resumed run has another model (%v)", err)
	}
	if _, err := command(context.Background(), "train", "--resume", out); err == nil || !strings.Contains(err.Error(),
		"finetune") {
		t.Errorf("train --resume of such a run: %v", err)
	}
}

func TestFinetuneRefuses(t *testing.T) {
	data := colours(t, 1)
	file, _ := weightsFile(t, smallNet, 7)
	other := filepath.Join(t.TempDir(), "other.pt")
	if err := serialize.SaveFile(other, nn.StateDict(newArchitecture("mobilenet_v3_small", 3))); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"finetune", "--data", data}, "--arch"},
		{[]string{"finetune", "--arch", "resnet19", "--data", data}, "did you mean"},
		{[]string{"finetune", "--arch", "fasterrcnn_resnet50_fpn", "--data", data}, "--arch"},
		{[]string{"finetune", "--arch", smallNet}, "--data"},
		{[]string{"finetune", "--arch", smallNet, "--data", filepath.Join(data, "red")}, "class folder"},
		{[]string{"finetune", "--arch", smallNet, "--data", data, "--weights", "nothing.pt"}, "no such file"},
		{[]string{"finetune", "--arch", smallNet, "--data", data, "--weights", "IMAGENET9"}, "DEFAULT"},
		{[]string{"finetune", "--arch", smallNet, "--data", data, "--weights", other}, "are not those of"},
		{[]string{"finetune", "--arch", smallNet, "--data", data, "--image-size", "3"}, "image-size"},
		{[]string{"finetune", "--arch", smallNet, "--data", data, "--head-lr", "1", "--scheduler", "onecycle"}, "onecycle"},
		{[]string{"predict", "--arch", smallNet, data}, "--weights"},
		{[]string{"predict", "--arch", smallNet, "--weights", file}, "which pictures"},
		{[]string{"predict", "--arch", smallNet, "--weights", file, "--labels", filepath.Join(data, "none"), data}, "none"},
		{[]string{"predict", "--arch", smallNet, "--weights", other, data}, "none of the parameters"},
	} {
		args := tc.args
		if args[0] == "finetune" {
			args = append(args, "--out", filepath.Join(t.TempDir(), "run"))
		}
		if text, err := command(context.Background(), args...); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v: %v %s, want an error with %q", tc.args, err, text, tc.want)
		}
	}
}
