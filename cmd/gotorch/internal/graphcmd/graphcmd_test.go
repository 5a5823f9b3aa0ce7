package graphcmd

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch/cmd/gotorch/internal/modelfile"
)

func command(c *cobra.Command, args ...string) (string, error) {
	var b bytes.Buffer
	c.SetOut(&b)
	c.SetErr(&b)
	c.SetArgs(args)
	err := c.Execute()
	return b.String(), err
}

// TestExport writes a network in each format, then one format from the other, and draws all of them.
func TestExport(t *testing.T) {
	dir := t.TempDir()
	onnx, script, again := filepath.Join(dir, "a.onnx"), filepath.Join(dir, "a.pt"), filepath.Join(dir, "b.onnx")
	for _, args := range [][]string{
		{"--arch", "squeezenet1_1", "--size", "32", "--classes", "5", "--dynamic-batch", "-o", onnx},
		{"--arch", "squeezenet1_1", "--size", "32", "--classes", "5", "-o", script},
		{"--arch", "squeezenet1_1", "--size", "32", "--classes", "5", "--dynamic-batch", "-o",
			filepath.Join(dir, "a.pt2")},
		{script, "--input", "input=rand(1,3,32,32)", "--opset", "15", "-o", again},
	} {
		out, err := command(exportCommand(), args...)
		if err != nil || !strings.Contains(out, "wrote "+args[len(args)-1]) {
			t.Fatalf("%v: %s, %v", args, out, err)
		}
	}
	for path, want := range map[string]string{onnx: "float32[batch, 5]", again: "float32[1, 5]"} {
		m, err := modelfile.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Outputs()[0].String(); !strings.HasSuffix(got, want) {
			t.Errorf("%s: output %s, want %s", path, got, want)
		}
		_ = m.Close()
	}
	for _, path := range []string{onnx, script} {
		out, err := command(graphCommand(), path, "-o", path+".svg")
		if err != nil || !strings.Contains(out, "operators") {
			t.Fatalf("%s: %s, %v", path, out, err)
		}
		b, err := os.ReadFile(path + ".svg")
		if err != nil {
			t.Fatal(err)
		}
		for d := xml.NewDecoder(bytes.NewReader(b)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if !strings.Contains(strings.ToLower(string(b)), ">conv") || !strings.Contains(string(b), ">features.3<") {
			t.Errorf("%s: no convolution or no frame of a module in the picture", path)
		}
	}
}

func TestMistakes(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("no model"), 0o600); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, "x.onnx")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--arch", "squeezenet1_1"}, "--output"},
		{[]string{"--arch", "squeezenet1_1", "-o", filepath.Join(dir, "x.tflite")}, ".onnx or .pt or .pt2"},
		{[]string{"-o", to}, "--arch"},
		{[]string{text, "-o", to}, "expected a model"},
		{[]string{"--arch", "nonesuch", "-o", to}, "nonesuch"},
		{[]string{"--arch", "squeezenet1_1", "--opset", "7", "-o", to}, "opset 7"},
	} {
		if _, err := command(exportCommand(), c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q", c.args, err, c.want)
		}
		if _, err := os.Stat(to); err == nil {
			t.Fatalf("%v wrote a file", c.args)
		}
	}
	if _, err := command(graphCommand(), text); err == nil {
		t.Error("a text was drawn")
	}
}

// TestLayout lays out a diamond with a long line: no two boxes of a layer lie on each other, and all lines go down.
func TestLayout(t *testing.T) {
	d := &drawing{}
	for range 6 {
		d.operator("Add", "", "")
	}
	for _, e := range [][2]int{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {0, 4}, {4, 5}, {0, 5}} {
		d.edge(e[0], e[1], "")
	}
	if err := d.layout(); err != nil {
		t.Fatal(err)
	}
	for _, l := range d.layers {
		for i, b := range l {
			if i > 0 && b.x-b.w/2 < l[i-1].x+l[i-1].w/2 {
				t.Errorf("boxes at %v and %v overlap", l[i-1].x, b.x)
			}
		}
	}
	for _, e := range d.edges {
		for i, b := range e.path[1:] {
			if b.y <= e.path[i].y {
				t.Errorf("a line goes up from %v to %v", e.path[i].y, b.y)
			}
		}
	}
}
