package vetcmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A package with a private layer must be reported, and a mended one must pass.
func TestVet(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	const source = "package p\n\nimport \"github.com/gotorch-dev/torch/nn\"\n\ntype Net struct {\n\tnn.Base\n\tfc " +
		"*nn.Linear TAG\n}\n\n" +
		"func (n *Net) Layer() *nn.Linear { return n.fc }\n"
	dir, err := os.MkdirTemp(filepath.Join(root, "cmd", "gotorch", "internal", "vetcmd"), "testnet")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Chdir(root)
	for tag, bad := range map[string]bool{"": true, "`torch:\"-\"`": false} {
		if err := os.WriteFile(filepath.Join(dir, "net.go"), []byte(strings.Replace(source, "TAG", tag, 1)),
			0o644); err != nil {
			t.Fatal(err)
		}
		if err := run(t.Context(), []string{"./cmd/gotorch/internal/vetcmd/" +
			filepath.Base(dir)}); (err != nil) != bad {
			t.Errorf("with the tag %q: %v", tag, err)
		}
	}
}
