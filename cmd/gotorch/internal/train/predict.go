package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch/cmd/gotorch/internal/cli"
	"github.com/gotorch-dev/torch/internal/term"
	"github.com/gotorch-dev/torch/vision/datasets/digits"
)

// samples is the number of embedded pictures that predict shows when it is given none.
const samples = 3

func predictCommand() *cobra.Command {
	var checkpoint string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "predict --checkpoint CHECKPOINT [IMAGE|DIR]…", Short: "Classify pictures (PNG or JPEG, any size)",
		Long: "predict classifies pictures, and all PNG and JPEG files of a folder. Without any it takes a few of the " +
			"embedded test digits.",
		Example: "  gotorch predict --checkpoint runs/digits-lenet three.png\n" +
			"  gotorch predict --checkpoint runs/digits-lenet pictures/\n" +
			"  gotorch predict --checkpoint runs/digits-lenet",
		RunE: func(cmd *cobra.Command, args []string) error {
			if checkpoint == "" {
				_, err := open("")
				return fmt.Errorf("%w\n\nUsage:\n  %s\n\nExamples:\n%s", err,
					strings.Replace(cmd.UseLine(), "gotorch", cli.Invocation(), 1), cmd.Example)
			}
			t, err := open(checkpoint)
			if err != nil {
				return err
			}
			net, err := t.classifier()
			if err != nil {
				return err
			}
			show := func(name string, img *image.Gray) error {
				return printPrediction(cmd, name, img, classProbabilities(net, img, normalisation[t.cfg.Data]), asJSON)
			}
			if len(args) == 0 {
				set := digits.Load(digits.Test)
				for i := range samples {
					if err := show(fmt.Sprintf("embedded digit %d (a %d)", i, set.Labels[i]), set.Image(i)); err != nil {
						return err
					}
				}
				return nil
			}
			paths, err := pictures(args)
			if err != nil {
				return err
			}
			var bad []error
			for _, path := range paths {
				img, err := readGray(path)
				if err == nil {
					err = show(path, img)
				}
				if err != nil { // the others of a folder are worth seeing
					bad = append(bad, err)
				}
				if err := cmd.Context().Err(); err != nil {
					return err
				}
			}
			return errors.Join(bad...)
		},
	}
	cmd.Flags().StringVar(&checkpoint, "checkpoint", "", "checkpoint file, or the folder of a run")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object per picture")
	return cmd
}

// pictures puts the files of a folder in its place.
func pictures(args []string) ([]string, error) {
	var out []string
	for _, arg := range args {
		st, err := os.Stat(arg)
		if err != nil {
			return nil, err
		}
		if !st.IsDir() {
			out = append(out, arg)
			continue
		}
		entries, err := os.ReadDir(arg) // in the order of names
		if err != nil {
			return nil, err
		}
		before := len(out)
		for _, e := range entries {
			ext := strings.ToLower(filepath.Ext(e.Name()))
			if !e.IsDir() && slices.Contains([]string{".png", ".jpg", ".jpeg"}, ext) {
				out = append(out, filepath.Join(arg, e.Name()))
			}
		}
		if len(out) == before {
			return nil, fmt.Errorf("the folder %s holds no PNG or JPEG pictures", arg)
		}
	}
	return out, nil
}

// printPrediction prints a picture with its likeliest classes.
func printPrediction(cmd *cobra.Command, name string, img *image.Gray, p []float64, asJSON bool) error {
	w, top := cmd.OutOrStdout(), topK(p, 3)
	if asJSON {
		type guess struct {
			Class       int     `json:"class"`
			Probability float64 `json:"probability"`
		}
		var gs []guess
		for _, k := range top {
			gs = append(gs, guess{k, p[k]})
		}
		return json.NewEncoder(w).Encode(map[string]any{"image": name, "top": gs})
	}
	if _, err := fmt.Fprintf(w, "%s\n%s", name, term.Picture(img, term.IsColor(os.Stdout))); err != nil {
		return err
	}
	for _, k := range top {
		if _, err := fmt.Fprintf(w, "  %d  %6.2f %%  %s\n", k, 100*p[k], strings.Repeat("█", int(30*p[k]+0.5))); err != nil {
			return err
		}
	}
	return nil
}
