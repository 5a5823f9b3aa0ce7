// Package weights finds the weights that a command is told to use: a file, or published ones, which it downloads.
package weights

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gotorch-dev/torch/hub"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/models"
)

// Find finds the weights of an architecture that spec names: a file, or the name of published ones such as DEFAULT. The
// second result is nil for a file.
func Find(arch, spec string) (file string, published *models.Weights, err error) {
	if _, err := os.Stat(spec); err == nil {
		return spec, nil, nil
	}
	e, err := models.GetModelWeights(arch)
	if err == nil {
		if w, err := e.Get(spec); err == nil {
			return "", w, nil
		}
	}
	if strings.ContainsAny(spec, "./\\") || e == nil {
		return "", nil, fmt.Errorf("--weights %s: there is no such file", spec)
	}
	var names []string
	for _, w := range e.Entries {
		names = append(names, w.Name)
	}
	return "", nil, fmt.Errorf("--weights %s: there is no such file, and the published weights of %s are DEFAULT, %s", spec,
		arch, strings.Join(names, ", "))
}

// Load reads weights that Find has found. Published ones are downloaded into the cache of torch.hub unless they are
// there; log is told so.
func Load(ctx context.Context, file string, published *models.Weights, log io.Writer) (*tensor.StateDict, error) {
	onCPU := serialize.LoadOptions{MapLocation: serialize.ToDevice(tensor.Device{})}
	if published == nil {
		sd, err := serialize.LoadStateDict(file, onCPU)
		if err != nil {
			return nil, fmt.Errorf("cannot read the weights %s: %w", file, err)
		}
		return sd, nil
	}
	o := hub.LoadOptions{CheckHash: true, Load: onCPU}
	said := int64(-1)
	o.Progress = func(done, total int64) {
		if total <= 0 {
			return
		}
		if p := 10 * done / total; p != said { // a line for each tenth
			said = p
			fmt.Fprintf(log, "%s: %d of %d MB\n", published.URL, done>>20, total>>20)
		}
	}
	return hub.LoadStateDictFromURL(ctx, published.URL, o)
}

// Labels reads the names of classes, a line each.
func Labels(path string) ([]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line != "" {
			names = append(names, line)
		}
	}
	if len(names) == 0 {
		return nil, errors.New(path + " holds no names of classes")
	}
	return names, nil
}
