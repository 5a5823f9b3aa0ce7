package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gotorch-dev/torch/cmd/gotorch/internal/cli"
)

// TestMain lets this program stand for gotorch, for tests that need a process of their own.
func TestMain(m *testing.M) {
	switch os.Getenv("GOTORCH_TEST_MAIN") {
	case "":
	case "stuck": // a command that writes a byte before each Ctrl-C and never ends by itself
		ctx, _ := cli.Signals(context.Background())
		fmt.Print(".")
		<-ctx.Done()
		fmt.Print(".")
		select {}
	default:
		main()
	}
	os.Exit(m.Run())
}

// gotorch is a process that runs a command line in a folder.
func gotorch(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOTORCH_TEST_MAIN=1")
	return cmd
}

// TestCommandLines tries what people type. Each line runs in a folder that holds a trained classifier (runs/c), a
// language model (runs/g) with its text (text.txt), and a folder of pictures (pictures).
func TestCommandLines(t *testing.T) {
	t.Chdir(t.TempDir())
	run := func(line string) (string, int) {
		var out bytes.Buffer
		code := cli.Run(context.Background(), root(), strings.Fields(line), &out, &out)
		return out.String(), code
	}
	if err := os.WriteFile("text.txt", []byte(strings.Repeat("the cat sat on the mat. ", 60)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"train --model mlp --steps 2 --quiet --out runs/c",
		"train --text text.txt --steps 2 --context 8 --width 8 --layers 1 --heads 1 --quiet --out runs/g",
		"coco show --help",
	} {
		if out, code := run(line); code != 0 {
			t.Fatalf("gotorch %s: status %d\n%s", line, code, out)
		}
	}
	picture, err := os.ReadFile("runs/c/loss.png")
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"pictures/a.png": picture, "pictures/b.PNG": picture,
		"pictures/notes.txt": nil,
		"broken/a.png":       picture[:100], "broken/b.png": picture, "empty/x.txt": nil, "other.txt": []byte("XYZ XYZ")} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, b, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		line string
		want string // regular expression
		code int
	}{
		{"", `Available Commands`, 0},
		{"--version", `^gotorch version \S+, go1\.\S+, \w+/\w+ \w+`, 0},
		{"version", `cpu kernels`, 0},
		{"trian", `no command "trian".*did you mean train\?`, 1},
		{"frobnicate", `no command "frobnicate".*want one of board, `, 1},
		{"help train", `--batch-size`, 0},
		{"help coco eval", `--gt`, 0},
		{"help trian", `did you mean train\?`, 1},
		{"help coco evl", `did you mean eval\?`, 1},
		{"coco evl", `no command "evl" in gotorch coco; did you mean eval\?`, 1},
		{"coco", `Available Commands`, 0},
		{"train --modle mlp", `did you mean --model\?`, 1},
		{"coco eval --dtt x", `did you mean --dt\?`, 1},
		{"board --logdr x", `did you mean --logdir\?`, 1},
		{"ops --frobnicate", `gotorch ops --help lists the flags`, 1},
		{"board", `gotorch board --logdir runs`, 1},
		{"inspect", `inspect takes FILE, got nothing; usage: gotorch inspect FILE`, 1},
		{"convert a.pt", `convert takes IN OUT, got one word; usage: gotorch convert IN OUT`, 1},
		{"detect", `detect takes IMAGE…, got nothing`, 1},
		{"env all", `env takes flags only, got "all"`, 1},
		{"detect missing.png broken", `missing.png: no such file.*\n.*broken is a folder`, 1},

		{"train --batch-size 99999999999", `--batch-size 99999999999: want at least 1 and at most 65536`, 1},
		{"train --batch 99999999999", `--batch-size 99999999999: want`, 1},
		{"train --batch 0", `--batch-size 0: want at least 1`, 1},
		{"train --epochs -1", `--epochs -1: want at least 1`, 1},
		{"train --epochs 99999999999", `--epochs 99999999999: want`, 1},
		{"train --steps 0", `--steps 0: want at least 1`, 1},
		{"train --lr nan", `--lr NaN: want a number above 0`, 1},
		{"train --lr 0", `--lr 0: want a number above 0`, 1},
		{"train --lr 1e300", `--lr 1e\+300: want`, 1},
		{"train --weight-decay nan", `--weight-decay NaN: want`, 1},
		{"train --clip-norm inf", `--clip-norm \+Inf: want .* finite`, 1},
		{"train --threads 99999999999", `--threads 99999999999: want`, 1},
		{"train --workers -1", `--workers -1: want`, 1},
		{"train --text text.txt --width 1000000000", `--width 1000000000: want`, 1},
		{"train --text text.txt --width 65536 --layers 1024", `parameters, want at most`, 1},
		{"train --text text.txt --batch 65536 --context 65536", `tokens, want at most`, 1},
		{"train --text text.txt --heads 5", `multiple of the 5 heads`, 1},
		{"train --text text.txt --dropout 1", `--dropout 1: want`, 1},
		{"train --out runs/c", `already holds a run: go on with gotorch train --resume runs/c`, 1},
		{"train --resume runs/c --epochs -1", `--epochs -1: want`, 1},
		{"train --resume runs/c --steps 1", `--steps 1 would shorten the run`, 1},
		{"train --resume runs/c --steps 4 --epochs 1", `give one of them`, 1},
		{"train --resume runs/g", `only opened when you give it with --text: --text text.txt`, 1},

		{"eval", `--checkpoint FILE.*the latest is --checkpoint runs/`, 1},
		{"eval runs/c", `accuracy .* of 2000`, 0},
		{"eval --checkpoint runs/c --batch 50 --json", `"total":2000`, 0},
		{"eval runs/c runs/g", `give one checkpoint`, 1},
		{"eval runs/c --batch -1", `--batch-size -1: want`, 1},
		{"eval runs/c --text text.txt", `belong to language models`, 1},
		{"eval runs/c --data mnist", `--root DIR`, 1},
		{"eval runs/g", `only opened when you give it with --text`, 1},
		{"eval runs/g --text text.txt", `^perplexity \d+\.\d+, loss \d\.\d+ per character, 143 characters`, 0},
		{"eval runs/g --text text.txt --part all --batch 7 --json", `"tokens":1439`, 0},
		{"eval runs/g --text text.txt --part vall", `did you mean --part val\?`, 1},
		{"eval runs/g --text other.txt", `not among the`, 1},
		{"eval runs/g --text none.txt", `none.txt`, 1},
		{"eval runs/g --data digits", `this is a language model`, 1},

		{"predict", `(?s)the latest is --checkpoint runs/.*Usage:.*Examples:\n  gotorch predict --checkpoint`, 1},
		{"predict --checkpoint runs/c", `embedded digit 0 \(a \d\)`, 0},
		{"predict --checkpoint runs/c pictures", `(?s)^pictures/a.png.*pictures/b.PNG`, 0},
		{"predict --checkpoint runs/c --json pictures", `(?s)^{"image":"pictures/a.png".*{"image":"pictures/b.PNG"`, 0},
		{"predict --checkpoint runs/c broken", `(?s)broken/b.png.*gotorch: broken/a.png`, 1},
		{"predict --checkpoint runs/c empty", `folder empty holds no PNG or JPEG`, 1},
		{"predict --checkpoint runs/c none.png", `none.png`, 1},
		{"predict --checkpoint runs/g", `language model: use gotorch generate --checkpoint runs/g`, 1},

		{"quantize", `which checkpoint`, 1},
		{"quantize runs/c --samples 20 -o c.onnx", `(?s)^c, quantized \(static, x86\), is in c.onnx.*top-1.*agree on`,
			0},
		{"quantize runs/c --samples 20 -o c.pt2 --engine qnnpack --json", `"engine":"qnnpack".*"agreement":`, 0},
		{"quantize runs/c --samples 20 -o c.pt --mode dynamic", `(?s)dynamic, x86.*top-5`, 0},
		{"quantize c.onnx --mode dynamic -o d.pt2", `only models of pictures`, 1},
		{"quantize runs/c --samples 20 -o c.pt --mode weight-only --bits 4 --group 16", `weight-only.*c.pt`, 0},
		{"quantize runs/c --calibrate pictures --eval pictures -o c.pt2",
			`(?s)calibrated with 2 pictures.*time per picture`, 0},
		{"quantize runs/c -o c.pt", `a state dict is what --mode dynamic`, 1},
		{"quantize runs/c -o c.onnx --mode weight-only", `ONNX has no form`, 1},
		{"quantize runs/c -o c.zip", `--out c.zip: expected a name`, 1},
		{"quantize runs/c --mode statik", `did you mean --mode static\?`, 1},
		{"quantize runs/c --engine x87", `--engine`, 1},
		{"quantize runs/c --bits 4", `belong to --mode weight-only`, 1},
		{"quantize runs/c --calibrate empty", `folder empty holds no PNG or JPEG`, 1},
		{"quantize runs/c/model.pt", `holds only weights: give the network as well`, 1},
		{"quantize resnet18 -o x.pt2", `which weights`, 1},
		{"quantize runs/g", `language model`, 1},
		{"quantize runs/c --arch resnet18", `all name a model`, 1},

		{"generate runs/g --prompt the --tokens 5", `^the.{5}\n$`, 0},
		{"generate runs/g --tokens 0", `--tokens 0: want`, 1},
		{"generate runs/g --temperature nan", `--temperature NaN: want`, 1},
		{"generate runs/c", `classifies pictures: use gotorch predict --checkpoint runs/c`, 1},

		{"summary", `takes one model or file, got 0: models are mlp`, 1},
		{"summary resnet19", `did you mean model resnet\d`, 1},
		{"summary lenet --batch 2", `\[2, 10\]`, 0},
		{"summary lenet --batch-size 99999999999", `--batch-size 99999999999: want`, 1},
		{"summary runs/c", `(?s)^mlp, trained on the embedded digits for 2 steps.*535,818`, 0},
		{"summary runs/g/checkpoint.pt --ops --device meta", `aten`, 0},
		{"summary runs/c/model.pt", `(?s)1.weight +\[512 784\].*6 tensors, 535818 numbers`, 0},
		{"summary none.pt", `none.pt`, 1},
		{"summary empty", `folder empty holds no checkpoint.pt`, 1},
		{"summary text.txt", `text.txt`, 1},
		{"inspect", `inspect takes|accepts 1 arg`, 1},
	} {
		out, code := run(c.line)
		if code != c.code || !regexp.MustCompile(c.want).MatchString(strings.ReplaceAll(out, `\`, "/")) {
			t.Errorf("gotorch %s: status %d, want %d and %q in\n%.600s", c.line, code, c.code, c.want, out)
		}
	}
}

// TestNextLine types the line that train proposes.
func TestNextLine(t *testing.T) {
	t.Chdir(t.TempDir())
	var out bytes.Buffer
	if code := cli.Run(context.Background(), root(), []string{"train", "--model", "mlp", "--steps", "1", "--out",
		"my run"}, &out, &out); code != 0 {
		t.Fatal(out.String())
	}
	_, next, _ := strings.Cut(out.String(), "next: ")
	line, _, _ := strings.Cut(next, "\n")
	if want := "gotorch eval --checkpoint " + cli.Quote("my run"); line != want {
		t.Fatalf("the next line is %q, want %q", line, want)
	}
	out.Reset()
	if code := cli.Run(context.Background(), root(), []string{"eval", "--checkpoint", "my run"}, &out,
		&out); code != 0 {
		t.Errorf("status %d: %s", code, out.String())
	}
}

// TestFolderInUse starts a second run in the folder of a first one, while that lives and after it was killed.
func TestFolderInUse(t *testing.T) {
	if runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		t.Skip("no processes")
	}
	dir := t.TempDir()
	first := gotorch(dir, "train", "--model", "mlp", "--epochs", "1000", "--batch-size", "8", "--quiet", "--out", "r",
		"--tensorboard=false", "--threads", "1")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Process.Kill() }()
	waitFor(t, filepath.Join(dir, "r", "checkpoint.pt"))
	for _, args := range [][]string{{"train", "--out", "r"}, {"train", "--resume", "r"}} {
		out, err := gotorch(dir, args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "another run is at work in r") {
			t.Errorf("%q beside a living run: %v %s", args, err, out)
		}
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait()
	stale := filepath.Join(dir, "r", ".checkpoint.pt.0123abcd.tmp")
	if err := os.WriteFile(stale, []byte("half"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := gotorch(dir, "train", "--resume", "r", "--epochs", "1").CombinedOutput() // refused, but not by the lock
	if err == nil || !strings.Contains(string(out), "would shorten the run") {
		t.Errorf("after kill -9: %v %s", err, out)
	}
	if _, err := os.Stat(stale); err == nil {
		t.Error("the stale temporary file is still there")
	}
}

// TestCtrlC stops a run, which saves it, and something that only a second Ctrl-C stops.
func TestCtrlC(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		t.Skip("no way to send Ctrl-C to one process")
	}
	dir := t.TempDir()
	run := gotorch(dir, "train", "--model", "mlp", "--epochs", "1000", "--batch-size", "8", "--quiet", "--out", "r",
		"--tensorboard=false", "--threads", "1")
	var errOut bytes.Buffer
	run.Stderr = &errOut
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = run.Process.Kill() }()
	waitFor(t, filepath.Join(dir, "r", "checkpoint.pt"))
	interrupt(t, run)
	if code := wait(t, run); code != cli.Interrupted || !strings.Contains(errOut.String(), "everything is saved") {
		t.Errorf("one Ctrl-C: status %d, %s", code, errOut.String())
	}
	if !strings.Contains(errOut.String(), "gotorch train --resume r\n") {
		t.Errorf("no way to go on: %s", errOut.String())
	}

	// a command that never looks at its context ends at the second one
	stuck := gotorch(dir, "stuck")
	stuck.Env = append(stuck.Env, "GOTORCH_TEST_MAIN=stuck")
	out, err := stuck.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := stuck.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stuck.Process.Kill() }()
	for range 2 {
		b := make([]byte, 1)
		if _, err := out.Read(b); err != nil { // it is ready for the next Ctrl-C
			t.Fatal(err)
		}
		interrupt(t, stuck)
	}
	if code := wait(t, stuck); code != cli.Interrupted {
		t.Errorf("two Ctrl-C: status %d", code)
	}
}

func interrupt(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
}

// wait returns the status of a process that should end soon.
func wait(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	timer := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

func waitFor(t *testing.T, path string) {
	t.Helper()
	for range 600 {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s does not appear", path)
}
