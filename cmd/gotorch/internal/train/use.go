package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // decodes the pictures of predict
	_ "image/png"
	"io"
	"math"
	"os"
	"sort"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/image/draw"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/term"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/serialize"
	textmodels "github.com/gotorch-dev/torch/text/models"
	"github.com/gotorch-dev/torch/vision/datasets/chartext"
)

// open loads the configuration and weights of a checkpoint.
func open(path string) (Config, *serialize.Dict, *torch.StateDict, error) {
	var c Config
	if path == "" {
		return c, nil, nil, errors.New("which checkpoint? give --checkpoint FILE (or the folder of a run)")
	}
	d, err := loadCheckpoint(path)
	if err != nil {
		return c, nil, nil, err
	}
	bad := func(what string) error { return fmt.Errorf("%s: %s", path, what) }
	cd, ok := d.Get("config").(*serialize.Dict)
	if !ok {
		return c, nil, nil, bad("no configuration")
	}
	if c, err = configFrom(cd); err != nil {
		return c, nil, nil, bad(err.Error())
	}
	md, ok := d.Get("model").(*serialize.Dict)
	if !ok {
		return c, nil, nil, bad("no model")
	}
	sd, err := md.StateDict()
	if err != nil {
		return c, nil, nil, bad(err.Error())
	}
	return c, d, sd, nil
}

func openClassifier(path string) (Config, classifier, error) {
	c, _, sd, err := open(path)
	if err != nil {
		return c, nil, err
	}
	if c.Task != "classify" {
		return c, nil, fmt.Errorf("%s is a language model: use gotorch generate", path)
	}
	net := newClassifier(c.Model)
	if err := nn.LoadStateDict(net, sd); err != nil {
		return c, nil, fmt.Errorf("%s: %w", path, err)
	}
	nn.Eval(net)
	return c, net, nil
}

func evalCommand() *cobra.Command {
	var checkpoint, dataFlag, root string
	var asJSON bool
	var threads int
	cmd := &cobra.Command{
		Use: "eval", Short: "Measure a trained model on a test part", Args: cobra.NoArgs,
		Example: "  gotorch eval --checkpoint runs/digits-lenet\n  gotorch eval --checkpoint runs/digits-lenet " +
			"--data mnist --root DIR",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if threads < 0 {
				return fmt.Errorf("--threads %d: want 0 (all cores) or more", threads)
			}
			if threads > 0 {
				torch.SetNumThreads(threads)
			}
			c, net, err := openClassifier(checkpoint)
			if err != nil {
				return err
			}
			if dataFlag == "" {
				dataFlag = c.Data
			}
			if err := choose("data", dataFlag, dataNames); err != nil {
				return err
			}
			if root == "" {
				root = c.Root
			}
			if dataFlag == "mnist" && root == "" {
				return errors.New("--data mnist needs the folder of its files: --root DIR")
			}
			set, err := loadImages(dataFlag, root, false)
			if err != nil {
				return err
			}
			e, err := evaluateImages(cmd.Context(), net, torch.Device{}, testLoader(set, 1))
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(evalReport(dataFlag, e))
			}
			printEvaluation(cmd.OutOrStdout(), e)
			return nil
		},
	}
	cmd.Flags().StringVar(&checkpoint, "checkpoint", "", "checkpoint file, or the folder of a run")
	cmd.Flags().StringVar(&dataFlag, "data", "", "digits or mnist (default: what the model was trained on)")
	cmd.Flags().StringVar(&root, "root", "", "folder of the mnist files")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().IntVar(&threads, "threads", 0, "threads of the operators")
	cmd.SetFlagErrorFunc(flagError)
	return cmd
}

type classReport struct {
	Class     int     `json:"class"`
	Samples   int     `json:"samples"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
}

func perClass(confusion [][]int) []classReport {
	var out []classReport
	for k := range confusion {
		r := classReport{Class: k}
		predicted := 0
		for j := range confusion {
			r.Samples += confusion[k][j]
			predicted += confusion[j][k]
		}
		tp := float64(confusion[k][k])
		r.Precision, r.Recall = tp/math.Max(1, float64(predicted)), tp/math.Max(1, float64(r.Samples))
		if r.Precision+r.Recall > 0 {
			r.F1 = 2 * r.Precision * r.Recall / (r.Precision + r.Recall)
		}
		out = append(out, r)
	}
	return out
}

func evalReport(data string, e evaluation) any {
	return map[string]any{"data": data, "accuracy": e.accuracy(), "loss": jsonFloat(e.loss), "correct": e.correct,
		"total":   e.total,
		"classes": perClass(e.confusion), "confusion": e.confusion}
}

func printEvaluation(w io.Writer, e evaluation) {
	fmt.Fprintf(w, "accuracy %.2f %% (%d of %d), loss %.4f\n\n", 100*e.accuracy(), e.correct, e.total, e.loss)
	fmt.Fprintf(w, "%5s %8s %10s %8s %8s\n", "class", "samples", "precision", "recall", "f1")
	for _, r := range perClass(e.confusion) {
		fmt.Fprintf(w, "%5d %8d %9.2f%% %7.2f%% %8.4f\n", r.Class, r.Samples, 100*r.Precision, 100*r.Recall, r.F1)
	}
	fmt.Fprintf(w, "\nconfusion (rows: true class, columns: predicted)\n     ")
	for j := range e.confusion {
		fmt.Fprintf(w, "%6d", j)
	}
	fmt.Fprintln(w)
	for i, row := range e.confusion {
		fmt.Fprintf(w, "%5d", i)
		for _, n := range row {
			if n == 0 {
				fmt.Fprintf(w, "%6s", ".")
			} else {
				fmt.Fprintf(w, "%6d", n)
			}
		}
		fmt.Fprintln(w)
	}
}

func predictCommand() *cobra.Command {
	var checkpoint string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "predict IMAGE…", Short: "Classify pictures (PNG or JPEG, any size)", Args: cobra.MinimumNArgs(1),
		Example: "  gotorch predict --checkpoint runs/digits-lenet three.png",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, net, err := openClassifier(checkpoint)
			if err != nil {
				return err
			}
			for _, path := range args {
				img, err := readGray(path)
				if err != nil {
					return err
				}
				p := classProbabilities(net, img, normalisation[c.Data])
				top := topK(p, 3)
				if asJSON {
					type guess struct {
						Class       int     `json:"class"`
						Probability float64 `json:"probability"`
					}
					var gs []guess
					for _, k := range top {
						gs = append(gs, guess{k, p[k]})
					}
					if err := json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{"image": path,
						"top": gs}); err != nil {
						return err
					}
					continue
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s", path, term.Picture(img, term.IsColor(os.Stdout)))
				for _, k := range top {
					fmt.Fprintf(cmd.OutOrStdout(), "  %d  %6.2f %%  %s\n", k, 100*p[k],
						strings.Repeat("█", int(30*p[k]+0.5)))
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&checkpoint, "checkpoint", "", "checkpoint file, or the folder of a run")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object per picture")
	cmd.SetFlagErrorFunc(flagError)
	return cmd
}

// maxPixels bounds what predict decodes: a small file can claim to be a huge picture.
const maxPixels = 100 << 20

// readGray reads a picture as the models were trained to see them: 28x28, light strokes on a dark ground.
func readGray(path string) (*image.Gray, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cfg, _, err := image.DecodeConfig(f)
	if err != nil {
		return nil, fmt.Errorf("%s: not a PNG or JPEG picture: %w", path, err)
	}
	if cfg.Width <= 0 || cfg.Height <= 0 || cfg.Width > maxPixels/cfg.Height {
		return nil, fmt.Errorf("%s: %d x %d pixels are too many", path, cfg.Width, cfg.Height)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	src, _, err := image.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	// the longer side fills the 28 pixels, the picture lies in the middle on its own ground
	const size = 28
	b, ground := src.Bounds(), border(src)
	out := image.NewGray(image.Rect(0, 0, size, size))
	draw.Draw(out, out.Bounds(), image.NewUniform(color.Gray{ground}), image.Point{}, draw.Src)
	side := max(b.Dx(), b.Dy())
	w, h := max(1, (b.Dx()*size+side/2)/side), max(1, (b.Dy()*size+side/2)/side)
	at := image.Pt((size-w)/2, (size-h)/2)
	draw.CatmullRom.Scale(out, image.Rectangle{at, at.Add(image.Pt(w, h))}, src, b, draw.Over, nil)
	if ground > 127 { // dark on light: turn it round
		for i, v := range out.Pix {
			out.Pix[i] = 255 - v
		}
	}
	return out, nil
}

// border is the mean grey along the edge, which tells the ground from the strokes.
func border(img image.Image) uint8 {
	b := img.Bounds()
	sum, n := 0, 0
	add := func(x, y int) {
		r, g, bl, a := img.At(x, y).RGBA()
		if a == 0 {
			r, g, bl = 0, 0, 0
		}
		sum += int((299*r + 587*g + 114*bl) / 1000 >> 8)
		n++
	}
	for x := b.Min.X; x < b.Max.X; x++ {
		add(x, b.Min.Y)
		add(x, b.Max.Y-1)
	}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		add(b.Min.X, y)
		add(b.Max.X-1, y)
	}
	return uint8(sum / n)
}

func classProbabilities(net classifier, img *image.Gray, norm [2]float32) []float64 {
	x := make([]float32, 28*28)
	for i := range x {
		x[i] = (float32(img.Pix[i])/255 - norm[0]) / norm[1]
	}
	var out []float64
	torch.NoGrad(func() {
		p := net.Forward(torch.FromSlice(x, 1, 1, 28, 28)).Softmax(-1)
		for _, v := range torch.Data[float32](p.Contiguous()) {
			out = append(out, float64(v))
		}
	})
	return out
}

func topK(p []float64, k int) []int {
	ix := make([]int, len(p))
	for i := range ix {
		ix[i] = i
	}
	sort.SliceStable(ix, func(a, b int) bool { return p[ix[a]] > p[ix[b]] })
	return ix[:min(k, len(ix))]
}

func generateCommand() *cobra.Command {
	var checkpoint, prompt string
	var tokens, topk, seed int
	var temperature float64
	cmd := &cobra.Command{
		Use: "generate", Short: "Continue a text with a trained language model", Args: cobra.NoArgs,
		Example: "  gotorch generate --checkpoint runs/charlm-gpt --prompt \"ROMEO:\" --tokens 300 --temperature 0.8",
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case tokens < 1:
				return fmt.Errorf("--tokens %d: want at least 1", tokens)
			case !(temperature >= 0):
				return fmt.Errorf("--temperature %g: want 0 (always the likeliest) or more", temperature)
			case topk < 0:
				return fmt.Errorf("--top-k %d: want 0 (all) or more", topk)
			case prompt == "":
				return errors.New("--prompt is empty: give it at least one character")
			}
			c, d, sd, err := open(checkpoint)
			if err != nil {
				return err
			}
			ts, _ := d.Get("task_state").(*serialize.Dict)
			if c.Task != "charlm" || ts == nil {
				return fmt.Errorf("%s classifies pictures: use gotorch predict", checkpoint)
			}
			text, ok := ts.Get("vocab").(string)
			if !ok {
				return fmt.Errorf("%s holds no vocabulary", checkpoint)
			}
			vocab, err := chartext.NewVocab(text)
			if err != nil {
				return fmt.Errorf("%s: %w", checkpoint, err)
			}
			net := newGPT(&c, vocab.Len())
			if err := nn.LoadStateDict(net, sd); err != nil {
				return fmt.Errorf("%s: %w", checkpoint, err)
			}
			ids, err := vocab.Encode(prompt)
			if err != nil {
				return fmt.Errorf("--prompt: %w", err)
			}
			g := torch.NewGenerator()
			g.ManualSeed(int64(seed))
			w := cmd.OutOrStdout()
			fmt.Fprint(w, prompt)
			net.Generate(ids, tokens, textmodels.Sampling{Temperature: temperature, TopK: topk, Generator: g},
				func(id int64) bool {
					s, err := vocab.Decode([]int64{id})
					if err == nil {
						fmt.Fprint(w, s)
					}
					return err == nil && cmd.Context().Err() == nil
				})
			fmt.Fprintln(w)
			return nil
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&checkpoint, "checkpoint", "", "checkpoint file, or the folder of a run")
	fl.StringVar(&prompt, "prompt", "\n", "text to continue")
	fl.IntVar(&tokens, "tokens", 200, "number of characters to add")
	fl.Float64Var(&temperature, "temperature", 0.8, "0 takes the likeliest character; higher is freer")
	fl.IntVar(&topk, "top-k", 0, "choose among the k likeliest; 0: all")
	fl.IntVar(&seed, "seed", 0, "seed of the choices")
	cmd.SetFlagErrorFunc(flagError)
	return cmd
}
