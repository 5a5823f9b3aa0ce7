package train

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/cli"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/modelfile"
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/progress"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/quantization"
	"github.com/gotorch-dev/torch/quantization/pt2e"
	"github.com/gotorch-dev/torch/serialize"
)

// The words of --mode and --engine.
var (
	quantizeModes = []string{"static", "dynamic", "weight-only"}
	engineNames   = []string{"x86", "fbgemm", "onednn", "qnnpack"}
)

type quantizeFlags struct {
	checkpoint, arch, weights, labels string
	calibrate, eval, out              string
	mode, engine                      string
	bits, group                       int
	imageSize, samples, batch         int
	threads                           int
	json                              bool
}

func quantizeCommand() *cobra.Command {
	var f quantizeFlags
	cmd := &cobra.Command{
		Use:   "quantize [MODEL] [--calibrate FOLDER] [-o OUT]",
		Short: "Make a classifier compute with bytes, and report what it costs in accuracy",
		Long: "quantize rounds the numbers of a network that classifies pictures to bytes. MODEL is a checkpoint of " +
			"gotorch " +
			"train or finetune, a network by torchvision's name (with --weights), or a model in ONNX, TorchScript or " +
			"torch.export.\n\n--mode static (the default) rounds weights and what flows between the layers; the " +
			"pictures of " +
			"--calibrate show how large that gets. dynamic rounds weights, and inputs of layers as they come; " +
			"weight-only " +
			"rounds weights alone. Neither needs pictures.\n\nOUT ends in .pt2 (torch.export), .onnx (QuantizeLinear " +
			"and " +
			"DequantizeLinear), or for dynamic and weight-only also in .pt: the state dict that torch.ao or torchao " +
			"loads.\n\nThe report compares the model before and after on the pictures of --eval, or else of " +
			"--calibrate: " +
			"the share of pictures whose class is first (top-1), or among the first five (top-5), how often both " +
			"models " +
			"agree, how far their outputs are apart, sizes of the files and the time per picture. Classes are known " +
			"where " +
			"folders are called like them, or by their numbers. A model of digits has the embedded pictures.",
		Example: "  gotorch quantize runs/digits-lenet -o digits.onnx\n" +
			"  gotorch quantize resnet18 --weights DEFAULT --calibrate pictures/ -o resnet18-int8.onnx\n" +
			"  gotorch quantize resnet18.pt2 --calibrate pictures/ --engine qnnpack -o resnet18-int8.pt2\n" +
			"  gotorch quantize runs/flowers-resnet18 --mode weight-only --bits 4 -o flowers.pt",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.checkpoint, "checkpoint", "", "checkpoint file, or the folder of a run")
	fl.StringVar(&f.arch, "arch", "", "network, by torchvision's name")
	fl.StringVar(&f.weights, "weights", "", "file of its state dict, or published weights: DEFAULT, IMAGENET1K_V1, …")
	fl.StringVar(&f.labels, "labels", "", "file with the names of the classes, a line each (default ImageNet's where "+
		"there are 1000)")
	fl.StringVar(&f.calibrate, "calibrate", "", "folder of pictures that show what the model will see")
	fl.StringVar(&f.eval, "eval", "", "folder of pictures to measure on (default those of --calibrate)")
	fl.StringVarP(&f.out, "out", "o", "", "file to write: .pt2, .onnx, or a state dict .pt (default MODEL-int8.pt2)")
	fl.StringVar(&f.mode, "mode", "static", "static, dynamic, weight-only")
	fl.StringVar(&f.engine, "engine", "x86",
		"whose rules and ranges hold: x86, fbgemm (activations of 7 bits), onednn, "+
			"qnnpack (signed activations, one scale for each weight)")
	fl.IntVar(&f.bits, "bits", 8, "bits of the weights of weight-only: 2 to 8")
	fl.IntVar(&f.group, "group", 0, "columns of a weight that share a scale, of weight-only (default the whole row)")
	fl.IntVar(&f.imageSize, "image-size", 0,
		"height and width of the images that the network sees (default that of the "+
			"published weights)")
	fl.IntVar(&f.samples, "samples", 256, "the most pictures that are used for each of calibration and measuring")
	fl.IntVar(&f.batch, "batch-size", 8, "pictures that are computed at once")
	fl.IntVar(&f.threads, "threads", 0, "threads of the operators (default: all cores)")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

// subject is a model to be quantized.
type subject struct {
	name    string
	net     nn.Module // nil of a model from a file
	forward func(x *torch.Tensor) *torch.Tensor
	bytes   int64 // of its weights
	shape   []int // of an input without the batch
	fixed   int   // the only batch size that the model takes, 0 for any
	names   []string
	read    func(path string) (*torch.Tensor, error) // a picture as the model sees it, without a batch
	data    string                                   // a built-in data set that the model was trained on
}

func (f *quantizeFlags) run(cmd *cobra.Command, args []string) error {
	if err := errors.Join(setThreads(f.threads), checkRange("batch-size", f.batch, 1, maxBatch),
		checkRange("samples", f.samples, 1, maxSteps), checkRange("bits", f.bits, 2, 8), checkRange("group", f.group, 0,
			maxBatch), cli.Choose("--mode", f.mode, quantizeModes),
		cli.Choose("--engine", f.engine, engineNames)); err != nil {
		return err
	}
	set := cmd.Flags().Changed
	if f.mode != "weight-only" && (set("bits") || set("group")) {
		return errors.New("--bits and --group belong to --mode weight-only")
	}
	s, err := f.subject(cmd, args)
	if err != nil {
		return err
	}
	if f.out == "" {
		f.out = s.name + "-int8.pt2"
	}
	ext := filepath.Ext(f.out)
	switch {
	case ext != ".pt2" && ext != ".onnx" && ext != ".pt" && ext != ".pth":
		return fmt.Errorf("--out %s: expected a name that ends in .pt2, .onnx or .pt", f.out)
	case ext != ".pt2" && ext != ".onnx" && (f.mode == "static" || s.net == nil):
		return fmt.Errorf("--out %s: a state dict is what --mode dynamic and weight-only give of a network; write "+
			".pt2 or "+
			".onnx", f.out)
	case f.mode == "weight-only" && ext == ".onnx":
		return fmt.Errorf("--out %s: ONNX has no form for weights alone that are bytes; write .pt or .pt2", f.out)
	case f.mode == "weight-only" && s.net == nil:
		return errors.New("--mode weight-only wants a checkpoint, or a network by name: a model from a file has no " +
			"layers")
	}
	calibration, err := f.pictures(s, f.calibrate, true)
	if err != nil {
		return err
	}
	if f.mode == "static" && len(calibration) == 0 {
		return errors.New("which pictures show what the model will see? Give --calibrate FOLDER")
	}
	test, err := f.pictures(s, cmp.Or(f.eval, f.calibrate), false)
	if err != nil {
		return err
	}
	r := quantizeReport{Model: s.name, Mode: f.mode, Engine: f.engine, File: f.out, Calibration: len(calibration),
		Pictures: len(test)}
	r.Before.Bytes = s.bytes
	before, err := f.measure(cmd, "measuring the model", &r.Before, s, s.forward, test)
	if err != nil {
		return err
	}
	after, err := f.quantize(cmd, s, calibration)
	if err != nil {
		return err
	}
	st, err := os.Stat(f.out)
	if err != nil {
		return err
	}
	r.After.Bytes = st.Size()
	outputs, err := f.measure(cmd, "measuring what is quantized", &r.After, s, after, test)
	if err != nil {
		return err
	}
	r.compare(before, outputs)
	if f.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(r)
	}
	r.print(cmd.OutOrStdout())
	return nil
}

// quantize makes the quantized model, writes it, and returns what computes as the file does.
func (f *quantizeFlags) quantize(cmd *cobra.Command, s *subject, calibration []picture) (
	func(x *torch.Tensor) *torch.Tensor, error) {
	engine, err := quantization.ParseEngine(f.engine)
	if err != nil {
		return nil, err
	}
	defer quantization.SetEngine(quantization.SetEngine(engine))
	ext := filepath.Ext(f.out)
	example := f.example(s)
	var module nn.Layer
	switch {
	case f.mode == "weight-only":
		m, err := quantization.QuantizeInPlace(s.net, f.weightConfig(), f.weightLayers())
		if err != nil {
			return nil, err
		}
		module = m.(nn.Layer)
	case f.mode == "dynamic" && ext != ".pt2" && ext != ".onnx":
		m, err := quantization.QuantizeDynamic(s.net)
		if err != nil {
			return nil, err
		}
		module = m.(nn.Layer)
	default:
		if module, err = f.recorded(cmd, s, example, calibration); err != nil {
			return nil, err
		}
	}
	nn.Eval(module)
	if ext != ".pt2" && ext != ".onnx" {
		if !changed(module) {
			return nil, fmt.Errorf("--mode %s: %s has no layer that it quantizes", f.mode, s.name)
		}
		return module.Forward, serialize.SaveFile(f.out, quantization.StateDict(module))
	}
	format, err := modelfile.FormatFor(f.out)
	if err != nil {
		return nil, err
	}
	if err := format.Write(f.out, module, []*torch.Tensor{example},
		modelfile.WriteOptions{Batch: s.fixed == 0}); err != nil {
		return nil, err
	}
	m, err := modelfile.Open(f.out)
	if err != nil {
		return nil, err
	}
	return runner(cmd.Context(), m), nil
}

// changed reports a model with a quantized layer.
func changed(m nn.Module) bool {
	for c := range nn.Modules(m) {
		switch c.(type) {
		case *quantization.Weighted, *quantization.Linear, *quantization.RNN, *quantization.Embedding:
			return true
		}
	}
	return false
}

// example is an input for recording. Two pictures, so that a size of 1 is not taken for a constant.
func (f *quantizeFlags) example(s *subject) *torch.Tensor {
	n := s.fixed
	if n == 0 {
		n = 2
	}
	return torch.Zeros(append([]int{n}, s.shape...))
}

// recorded quantizes the operators of a model by the rules of the engine.
func (f *quantizeFlags) recorded(cmd *cobra.Command, s *subject, example *torch.Tensor, calibration []picture) (
	nn.Layer, error) {
	var module any = s.net
	if s.net == nil {
		module = s.forward
	}
	m, err := pt2e.Capture(module, []any{example})
	if err != nil {
		return nil, err
	}
	dynamic := f.mode == "dynamic"
	var q pt2e.Quantizer
	if f.engine == "qnnpack" {
		q = pt2e.NewXNNPACKQuantizer().SetGlobal(pt2e.SymmetricConfig(pt2e.SymmetricOptions{IsDynamic: dynamic}))
	} else {
		q = pt2e.NewX86InductorQuantizer().SetGlobal(pt2e.X86InductorConfig(pt2e.X86InductorOptions{IsDynamic: dynamic,
			ReduceRange: f.engine == "fbgemm"}))
	}
	if err := pt2e.PreparePT2E(m, q); err != nil {
		return nil, err
	}
	if dynamic { // the weights alone are observed
		calibration = []picture{{x: example.Select(0, 0)}}
	}
	err = f.batches(cmd, "calibrating", s, calibration, func(x *torch.Tensor, _ []picture) { m.Forward(x) })
	if err != nil {
		return nil, err
	}
	return m, pt2e.ConvertPT2E(m)
}

func (f *quantizeFlags) weightConfig() quantization.WeightConfig {
	g := quantization.PerRow
	if f.group > 0 {
		g = quantization.PerGroup(f.group)
	}
	return quantization.IntxWeightOnlyConfig{Bits: f.bits, Granularity: g}
}

// weightLayers chooses linear layers whose columns the group divides.
func (f *quantizeFlags) weightLayers() quantization.QuantizeOptions {
	return quantization.QuantizeOptions{Filter: func(m nn.Module, _ string) bool {
		l, ok := m.(*nn.Linear)
		return ok && (f.group == 0 || l.InFeatures%f.group == 0)
	}}
}

// batches calls do with the pictures, some at a time. A model for one batch size gets copies of the last picture.
func (f *quantizeFlags) batches(cmd *cobra.Command, what string, s *subject, all []picture,
	do func(x *torch.Tensor, part []picture)) error {
	size := f.batch
	if s.fixed > 0 {
		size = s.fixed
	}
	bar := progress.NewCount(cmd.ErrOrStderr(), what, 0, len(all), f.json)
	defer bar.Done()
	for part := range slices.Chunk(all, size) {
		if err := cmd.Context().Err(); err != nil {
			return err
		}
		var list []*torch.Tensor
		for _, p := range part {
			x := p.x
			if x == nil {
				var err error
				if x, err = s.read(p.path); err != nil {
					return err
				}
			}
			list = append(list, x)
		}
		for len(list) < s.fixed {
			list = append(list, list[len(list)-1])
		}
		if err := torch.Try(func() { torch.NoGrad(func() { do(torch.Stack(list), part) }) }); err != nil {
			return err
		}
		bar.Add(len(part))
	}
	return nil
}

// runner computes with a model from a file, which has one input and whose first output counts.
func runner(ctx context.Context, m graph.Model) func(x *torch.Tensor) *torch.Tensor {
	in, out := m.Inputs()[0].Name, m.Outputs()[0].Name
	return func(x *torch.Tensor) *torch.Tensor {
		r, err := m.Run(ctx, map[string]*torch.Tensor{in: x})
		if err != nil {
			panic(asTorchError(err))
		}
		return r[out]
	}
}

func asTorchError(err error) *torch.Error {
	var e *torch.Error
	if errors.As(err, &e) {
		return e
	}
	return &torch.Error{Op: "quantize", Msg: err.Error(), Err: err}
}

// measure runs a model over the pictures and returns its outputs, a row for each.
func (f *quantizeFlags) measure(cmd *cobra.Command, what string, m *measured, s *subject,
	forward func(x *torch.Tensor) *torch.Tensor, test []picture) (rows [][]float32, err error) {
	var took time.Duration
	runs, known := 0, 0
	err = f.batches(cmd, what, s, test, func(x *torch.Tensor, part []picture) {
		if runs == 0 {
			forward(x) // what is prepared in the first run is not counted
		}
		begin := time.Now()
		y := forward(x)
		took += time.Since(begin)
		runs += x.Size(0)
		y = y.Detach().Float().Reshape([]int{x.Size(0), -1}).Contiguous()
		flat, k := torch.Data[float32](y), y.Size(1)
		for i, p := range part {
			row := slices.Clone(flat[i*k : (i+1)*k])
			rows = append(rows, row)
			if p.label < 0 {
				continue
			}
			known++
			for place, class := range best(row, 5) {
				if class == p.label {
					m.hits5++
					if place == 0 {
						m.hits1++
					}
				}
			}
		}
	})
	if runs > 0 {
		m.Milliseconds = float64(took.Microseconds()) / 1000 / float64(runs)
	}
	if known > 0 {
		one, five := float64(m.hits1)/float64(known), float64(m.hits5)/float64(known)
		m.Top1, m.Top5 = &one, &five
	}
	return rows, err
}

// best are the numbers of the largest elements.
func best(row []float32, k int) []int {
	p := make([]float64, len(row))
	for i, v := range row {
		p[i] = float64(v)
	}
	return topK(p, k)
}

// nameOf is the name of a model by its file or folder.
func nameOf(path string) string {
	base := filepath.Base(filepath.Clean(path))
	return strings.TrimSuffix(base, filepath.Ext(base))
}
