package onnx_test

import (
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/conformance/modcheck"
	"github.com/gotorch-dev/torch/internal/shared"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/onnx"
	"github.com/gotorch-dev/torch/tensor"
)

// TestRoundTripModules exports the modules of the reference data that compute with float32 in evaluation.
func TestRoundTripModules(t *testing.T) {
	dir := shared.Path(t, "golden/modules")
	var index struct {
		Modules []struct {
			Name, Cls, DType, File string
			Ctor                   json.RawMessage
			Cases                  []struct {
				Mode   string
				Args   []json.RawMessage
				Kwargs map[string]json.RawMessage
			}
		}
	}
	if err := golden.ReadJSON(filepath.Join(dir, "index.json"), &index); err != nil {
		t.Fatal(err)
	}
	exported, refused := 0, 0
	for _, r := range index.Modules {
		if r.DType != "float32" || !modcheck.Known(r.Cls) {
			continue
		}
		i := slices.IndexFunc(r.Cases, func(c struct {
			Mode   string
			Args   []json.RawMessage
			Kwargs map[string]json.RawMessage
		}) bool {
			return c.Mode != "train" && len(c.Kwargs) == 0
		})
		if i < 0 {
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			d, err := golden.NewDecoder(filepath.Join(dir, r.File))
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			ctor, err := d.Module(r.Ctor)
			if err != nil {
				t.Skip(err)
			}
			torch.ManualSeed(3)
			m, err := modcheck.Build(ctor)
			if err != nil {
				t.Skip(err)
			}
			args, err := d.Args(r.Cases[i].Args)
			if err != nil {
				t.Skip(err)
			}
			var inputs []*tensor.Tensor
			for _, a := range args {
				x, ok := a.(*tensor.Tensor)
				if !ok {
					t.Skipf("an input is a %T", a)
				}
				inputs = append(inputs, x.Detach())
			}
			if strings.HasPrefix(r.Cls, "Lazy") {
				t.Skip("each recording initialises it anew")
			}
			nn.Eval(m)
			want, err := recorded(m, inputs)
			if err != nil {
				t.Skip(err)
			}
			err = onnx.Export(filepath.Join(t.TempDir(), "m.onnx"), m, inputs)
			var missing *onnx.ExportError
			if errors.As(err, &missing) && len(missing.Missing) > 0 {
				for op := range missing.Missing {
					if withoutForm[op] == "" {
						t.Errorf("%s has no form", op)
					}
				}
				refused++
				return
			}
			if err != nil && slices.ContainsFunc(slices.Collect(maps.Keys(refusals)), func(s string) bool {
				return strings.Contains(err.Error(), s)
			}) {
				refused++
				return
			}
			roundTrip(t, "mod_"+t.Name(), m, inputs, onnx.ExportOptions{}, want)
			exported++
		})
	}
	t.Logf("%d exported, %d refused", exported, refused)
}

// withoutForm are operators without a form in ONNX, with the reason.
var withoutForm = map[string]string{
	"aten::ctc_loss.Tensor":   "a loss, which PyTorch has no form for either",
	"aten::ctc_loss.IntList":  "a loss, which PyTorch has no form for either",
	"aten::embedding_renorm_": "it writes the table",
}

// refusals are parts of errors about forms that ONNX has not, with the reason.
var refusals = map[string]string{
	"label smoothing":                "ONNX's loss has none",
	"targets that are probabilities": "ONNX's loss takes classes",
	"aten::ctc_loss":                 "a loss whose checks read the elements of its inputs",
}
