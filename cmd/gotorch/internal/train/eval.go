package train

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/cli"
	F "github.com/gotorch-dev/torch/nn/functional"
	textmodels "github.com/gotorch-dev/torch/text/models"
	"github.com/gotorch-dev/torch/vision/datasets/mnist"
)

// partNames are the parts of a text that eval measures.
var partNames = []string{"val", "all"}

type evalFlags struct {
	checkpoint, data, root, text, part string
	batch, threads                     int
	json                               bool
}

func evalCommand() *cobra.Command {
	var f evalFlags
	cmd := &cobra.Command{
		Use: "eval [CHECKPOINT]", Short: "Measure a trained model on a test part", Args: cobra.ArbitraryArgs,
		Long: "eval measures a model on what it was not trained on.\n\nA classifier: loss, accuracy, precision and " +
			"recall of each class, and which classes are taken for which.\nA language model: the mean loss per " +
			"character in nats, the perplexity (its exponential), and the number of characters.",
		Example: "  gotorch eval --checkpoint runs/digits-lenet\n  gotorch eval --checkpoint runs/digits-lenet " +
			"--data mnist --root DIR\n  gotorch eval --checkpoint runs/charlm-gpt --text FILE",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneCheckpoint(&f.checkpoint, args); err != nil {
				return err
			}
			if err := errors.Join(setThreads(f.threads), checkRange("batch-size", f.batch, 1, maxBatch)); err != nil {
				return err
			}
			t, err := open(f.checkpoint)
			if err != nil {
				return err
			}
			if t.cfg.Task == "charlm" {
				return f.language(cmd, t)
			}
			return f.classes(cmd, t)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.checkpoint, "checkpoint", "", "checkpoint file, or the folder of a run")
	fl.StringVar(&f.data, "data", "", "digits, mnist, or the folder of images of a network of finetune (default: what the "+
		"model was trained on)")
	fl.StringVar(&f.root, "root", "", "folder of the mnist files")
	fl.StringVar(&f.text, "text", "", "text file that a language model is measured on")
	fl.StringVar(&f.part, "part", "val", "part of the text: val (the last tenth, which training leaves out), all")
	fl.IntVar(&f.batch, "batch-size", 256, "pictures, or stretches of text, that are computed at once")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	fl.IntVar(&f.threads, "threads", 0, "threads of the operators (default: all cores)")
	return cmd
}

// classes measures a classifier.
func (f *evalFlags) classes(cmd *cobra.Command, t *trained) error {
	if f.text != "" || cmd.Flags().Changed("part") {
		return errors.New("--text and --part belong to language models; this model classifies pictures")
	}
	net, err := t.classifier()
	if err != nil {
		return err
	}
	if t.cfg.Task == finetuning {
		return f.folder(cmd, t, net)
	}
	if f.data != "" {
		if err := cli.Choose("--data", f.data, dataNames); err != nil {
			return err
		}
		t.cfg.Data = f.data
		if f.data == "mnist" && f.root == "" {
			return errors.New("--data mnist needs the folder of its files: --root DIR")
		}
	}
	if err := t.cfg.permitted("", f.root); err != nil {
		return err
	}
	set, err := loadImages(t.cfg.Data, t.cfg.Root, false)
	if err != nil {
		return err
	}
	e, err := evaluateImages(cmd.Context(), net, mnist.Classes, torch.Device{}, testLoader(set, 1, f.batch))
	if err != nil {
		return err
	}
	if f.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(evalReport(t.cfg.Data, e))
	}
	printEvaluation(cmd.OutOrStdout(), e)
	return nil
}

// folder measures a network of finetune on the test part of a folder of images.
func (f *evalFlags) folder(cmd *cobra.Command, t *trained, net classifier) error {
	if err := t.cfg.permitted("", cmp.Or(f.data, f.root)); err != nil {
		return err
	}
	_, test, err := openFolder(t.cfg.Root)
	if err != nil {
		return err
	}
	if !slices.Equal(test.Classes, t.names) {
		return fmt.Errorf("%s has the classes %s, the model %s", t.cfg.Root, strings.Join(test.Classes, ", "),
			strings.Join(t.names, ", "))
	}
	set := &folder{ImageFolder: test, p: preparationOf(t.cfg.Model, t.cfg.ImageSize)}
	e, err := evaluateImages(cmd.Context(), net, len(t.names), torch.Device{}, testLoader(set, 1, f.batch))
	if err != nil {
		return err
	}
	if f.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(evalReport(t.cfg.Root, e))
	}
	printEvaluation(cmd.OutOrStdout(), e)
	return nil
}

// textReport is what eval --json prints of a language model.
type textReport struct {
	Text       string `json:"text"`
	Part       string `json:"part"`
	Loss       any    `json:"loss"` // nats per character
	Perplexity any    `json:"perplexity"`
	Tokens     int    `json:"tokens"`
}

// language measures a language model.
func (f *evalFlags) language(cmd *cobra.Command, t *trained) error {
	if f.data != "" || f.root != "" {
		return errors.New("--data and --root belong to classifiers; this is a language model: give --text FILE")
	}
	if err := cli.Choose("--part", f.part, partNames); err != nil {
		return err
	}
	if err := t.cfg.permitted(f.text, ""); err != nil {
		return err
	}
	net, err := t.language()
	if err != nil {
		return err
	}
	b, err := os.ReadFile(f.text)
	if err != nil {
		return err
	}
	tokens, err := t.vocab.Encode(string(b))
	if err != nil {
		return fmt.Errorf("%s: %w, which the model was trained with", f.text, err)
	}
	if f.part == "val" { // as chartext.New cuts it
		tokens = tokens[len(tokens)-(len(tokens)+9)/10:]
	}
	if len(tokens) < 2 {
		return fmt.Errorf("%s: %d characters are too few: there must be one to predict the next one from", f.text,
			len(tokens))
	}
	loss, n, err := textLoss(cmd.Context(), net, tokens, t.cfg.Context, f.batch)
	if err != nil {
		return err
	}
	r := textReport{f.text, f.part, jsonFloat(loss), jsonFloat(math.Exp(loss)), n}
	if f.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(r)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "perplexity %.4f, loss %.4f per character, %d characters\n", math.Exp(loss), loss, n)
	return nil
}

// textLoss is the mean loss over all tokens but the first. The text is cut into stretches of the model's context; each
// token is predicted once, from those before it in its stretch.
func textLoss(ctx context.Context, net *textmodels.GPT, tokens []int64, context, batch int) (loss float64, n int,
	err error) {
	batch = max(1, min(batch, maxTokens/context))
	add := func(rows, length int) { // of the next tokens
		x := torch.FromSlice(tokens[n:n+rows*length], rows, length)
		y := torch.FromSlice(tokens[n+1:n+1+rows*length], rows*length)
		logits := net.Forward(x)
		loss += itemOf(F.CrossEntropy(logits.View([]int{-1, logits.Size(-1)}), y)) * float64(rows*length)
		n += rows * length
	}
	total := len(tokens) - 1
	e := torch.Try(func() {
		torch.NoGrad(func() {
			for n < total {
				if err = ctx.Err(); err != nil {
					return
				}
				torch.Tidy(func() {
					if rows := min(batch, (total-n)/context); rows > 0 {
						add(rows, context)
					} else {
						add(1, total-n)
					}
				})
			}
		})
	})
	if err == nil {
		err = e
	}
	return loss / float64(max(1, n)), n, err
}
