// Package conformance holds the gates: every case of the reference data passes, or stands in known.tsv with the reason
// why it does not. The gates run over the data that is kept beside the repository, and over the small sample in
// sample/, which every clone has.
package conformance

import (
	"regexp"

	_ "github.com/gotorch-dev/torch" // links the operators
	"github.com/gotorch-dev/torch/internal/conformance/ampcheck"
	"github.com/gotorch-dev/torch/internal/conformance/ckptcheck"
	"github.com/gotorch-dev/torch/internal/conformance/cococheck"
	"github.com/gotorch-dev/torch/internal/conformance/distcheck"
	"github.com/gotorch-dev/torch/internal/conformance/einopscheck"
	"github.com/gotorch-dev/torch/internal/conformance/filecheck"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/conformance/modcheck"
	"github.com/gotorch-dev/torch/internal/conformance/namedcheck"
	"github.com/gotorch-dev/torch/internal/conformance/onnxcheck"
	"github.com/gotorch-dev/torch/internal/conformance/opcheck"
	"github.com/gotorch-dev/torch/internal/conformance/optcheck"
	"github.com/gotorch-dev/torch/internal/conformance/printcheck"
	"github.com/gotorch-dev/torch/internal/conformance/programs"
	"github.com/gotorch-dev/torch/internal/conformance/pt2check"
	"github.com/gotorch-dev/torch/internal/conformance/quantcheck"
	"github.com/gotorch-dev/torch/internal/conformance/recordiocheck"
	"github.com/gotorch-dev/torch/internal/conformance/rngcheck"
	"github.com/gotorch-dev/torch/internal/conformance/tbcheck"
	"github.com/gotorch-dev/torch/internal/conformance/torchvisioncheck"
	"github.com/gotorch-dev/torch/internal/conformance/tscheck"
	"github.com/gotorch-dev/torch/internal/conformance/visioncheck"
)

// Gate runs the cases of one kind.
type Gate struct {
	Kind string
	// Folder is where the reference data has the cases, relative to its root, with slashes.
	Folder string
	// Run runs the cases of a directory of this kind. only, if not nil, chooses by name; verbose, if not nil, is told
	// of what fails.
	Run func(dir string, only *regexp.Regexp, verbose func(string, ...any)) ([]golden.Result, error)
}

// Gates are all gates, sorted by kind.
var Gates = []Gate{
	{"amp", "golden/amp", ampcheck.Run},
	{"checkpoint", "golden/checkpoint", ckptcheck.Run},
	{"coco", "golden/coco", whole(cococheck.Run)},
	{"distributions", "golden/distributions", distcheck.Run},
	{"einops", "golden/einops", einopscheck.Run},
	{"modules", "golden/modules", modcheck.Run},
	{"named", "golden/named", namedcheck.Run},
	{"onnx", "golden/graphs/onnx", func(dir string, only *regexp.Regexp, verbose func(string, ...any)) ([]golden.Result,
		error) {
		return onnxcheck.Run(dir, onnxcheck.Options{Only: only, Verbose: verbose, Files: golden.Files})
	}},
	{"npy", "testdata/npy", filecheck.Run},
	{"opinfo", "golden/opinfo", func(dir string, only *regexp.Regexp, verbose func(string, ...any)) ([]golden.Result,
		error) {
		return opcheck.Run(dir, opcheck.Options{Only: only, Verbose: verbose})
	}},
	{"optim", "golden/optim", func(dir string, only *regexp.Regexp, verbose func(string, ...any)) ([]golden.Result,
		error) {
		return optcheck.Run(dir, optcheck.Options{Only: only, Verbose: verbose})
	}},
	{"pickle", "testdata/pickle", filecheck.Run},
	{"print", "golden/print", func(dir string, only *regexp.Regexp, verbose func(string, ...any)) ([]golden.Result,
		error) {
		return printcheck.Run(dir, printcheck.Options{Only: only, Verbose: verbose, Module: modcheck.PrintRecord,
			Object: programs.Repr})
	}},
	{"pt2", "golden/graphs/pt2", func(dir string, only *regexp.Regexp, verbose func(string, ...any)) ([]golden.Result,
		error) {
		return pt2check.Run(dir, pt2check.Options{Only: only, Verbose: verbose})
	}},
	{"quantization", "golden/quantization", quantcheck.Run},
	{"recordio", "testdata/recordio", whole(recordiocheck.Run)},
	{"rng", "golden/rng", func(dir string, only *regexp.Regexp, verbose func(string, ...any)) ([]golden.Result, error) {
		return rngcheck.Run(dir, rngcheck.Options{Only: only, Verbose: verbose, Module: modcheck.Call,
			Init: modcheck.Init, InitProgram: modcheck.InitProgram})
	}},
	{"tensorboard", "golden/tensorboard", whole(tbcheck.Run)},
	{"torchscript", "golden/graphs/torchscript", func(dir string, only *regexp.Regexp,
		verbose func(string, ...any)) ([]golden.Result, error) {
		return tscheck.Run(dir, tscheck.Options{Only: only, Verbose: verbose, Files: golden.Files})
	}},
	{"torchvision", "golden/torchvision", torchvisioncheck.Run},
	{"vision_ops", "golden/vision_ops", visioncheck.Run},
	{"weights", "testdata/weights", filecheck.RunWeights},
}

// samples run some of the cases of a kind, for the test of the gates, where all take too long.
var samples = map[string]func(dir string) ([]golden.Result, error){"torchvision": torchvisioncheck.Sample}

// whole adapts a runner that has no options.
func whole(run func(dir string) ([]golden.Result, error)) func(string, *regexp.Regexp,
	func(string, ...any)) ([]golden.Result, error) {
	return func(dir string, _ *regexp.Regexp, _ func(string, ...any)) ([]golden.Result, error) { return run(dir) }
}

// Kinds lists the kinds of the gates.
func Kinds() []string {
	var out []string
	for _, g := range Gates {
		out = append(out, g.Kind)
	}
	return out
}

// GateOf finds the gate of a kind; nil if there is none.
func GateOf(kind string) *Gate {
	for i := range Gates {
		if Gates[i].Kind == kind {
			return &Gates[i]
		}
	}
	return nil
}
