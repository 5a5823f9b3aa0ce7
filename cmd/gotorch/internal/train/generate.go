package train

import (
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch"
	textmodels "github.com/gotorch-dev/torch/text/models"
)

func generateCommand() *cobra.Command {
	var checkpoint, prompt string
	var tokens, topk, seed int
	var temperature float64
	cmd := &cobra.Command{
		Use: "generate [CHECKPOINT]", Short: "Continue a text with a trained language model", Args: cobra.ArbitraryArgs,
		Example: "  gotorch generate --checkpoint runs/charlm-gpt --prompt \"ROMEO:\" --tokens 300 --temperature 0.8",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneCheckpoint(&checkpoint, args); err != nil {
				return err
			}
			if err := checkRange("tokens", tokens, 1, maxSteps); err != nil {
				return err
			}
			switch {
			case !(temperature >= 0 && temperature <= math.MaxFloat64):
				return fmt.Errorf("--temperature %g: want 0 (always the likeliest) or more", temperature)
			case topk < 0:
				return fmt.Errorf("--top-k %d: want 0 (all) or more", topk)
			case prompt == "":
				return errors.New("--prompt is empty: give it at least one character")
			}
			t, err := open(checkpoint)
			if err != nil {
				return err
			}
			net, err := t.language()
			if err != nil {
				return err
			}
			vocab := t.vocab
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
	return cmd
}
