package hub_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/gotorch-dev/torch/hub"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/serialize"
)

// A program knows its models; a repository names their weights.
func Example() {
	hub.Register("example/classifier", hub.EntryPoint{
		Doc: "A classifier of four numbers.",
		New: func(hub.Args) (nn.Module, error) { return nn.NewLinear(4, 3), nil },
	})

	// Stands for a server.
	dir, err := os.MkdirTemp("", "hub")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	hub.SetDir(filepath.Join(dir, "cache"))
	defer hub.SetDir("")
	if err := serialize.SaveFile(filepath.Join(dir, "iris.pt"), nn.NewLinear(4, 3).StateDict()); err != nil {
		panic(err)
	}
	const conf = `{"models": {"iris": {"entry": "example/classifier", "default": "v1",
		"weights": {"v1": {"file": "iris.pt"}}}}}`
	if err := os.WriteFile(filepath.Join(dir, hub.ManifestName), []byte(conf), 0o600); err != nil {
		panic(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()

	ctx := context.Background()
	names, err := hub.List(ctx, server.URL)
	fmt.Println(names, err)
	help, err := hub.Help(ctx, server.URL, "iris")
	fmt.Println(help, err)
	m, err := hub.Load(ctx, server.URL, "iris")
	fmt.Println(nn.Repr(m), err)
	// Output:
	// [iris] <nil>
	// A classifier of four numbers.
	// weights "v1": iris.pt (default) <nil>
	// Linear(in_features=4, out_features=3, bias=True) <nil>
}
