// Command chargpt trains a small GPT on the characters of a text file and lets it continue a prompt.
//
//	go run ./examples/chargpt -text FILE [-steps 500] [-prompt "Once upon"]
package main

import (
	"flag"
	"fmt"
	"log"

	"github.com/gotorch-dev/torch"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/nn/utils"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/optim/lr"
	"github.com/gotorch-dev/torch/text/models"
	"github.com/gotorch-dev/torch/vision/datasets/chartext"
)

func main() {
	path := flag.String("text", "", "text file to learn from")
	steps := flag.Int("steps", 500, "training steps")
	prompt := flag.String("prompt", "", "text to continue (the first characters of the file if empty)")
	flag.Parse()
	if *path == "" {
		log.Fatal("chargpt: give a text file: -text FILE")
	}
	text, err := chartext.Load(*path)
	if err != nil {
		log.Fatal(err)
	}
	const batch, window = 32, 64
	if text.Train.Windows(window) <= 0 {
		log.Fatalf("chargpt: %s is too short for windows of %d characters", *path, window)
	}
	ids, err := text.Vocab.Encode(*prompt) // before the training, in case the file lacks a character
	if err != nil {
		log.Fatal(err)
	}
	if len(ids) == 0 {
		ids, _ = text.Train.Window(0, 8)
	}

	torch.ManualSeed(0)
	net := models.NewGPT(models.GPTConfig{Vocab: text.Vocab.Len(), Context: window, Layers: 3, Heads: 4, Width: 96})
	opt := optim.NewAdamW(net.Parameters(), 3e-3)
	schedule := lr.NewCosineAnnealingLR(opt, *steps)
	for step := range *steps {
		var x, y []int64
		for _, start := range torch.Data[int64](torch.Randint(text.Train.Windows(window), []int{batch})) {
			a, b := text.Train.Window(int(start), window)
			x, y = append(x, a...), append(y, b...)
		}
		opt.ZeroGrad()
		logits := net.Forward(torch.FromSlice(x, batch, window))
		loss := F.CrossEntropy(logits.View([]int{batch * window, -1}), torch.FromSlice(y))
		loss.Backward()
		utils.ClipGradNorm(net.Parameters(), 1)
		opt.Step()
		schedule.Step()
		if step%50 == 0 || step == *steps-1 {
			fmt.Printf("step %d: loss %.4f\n", step, loss.Num().F)
		}
	}
	out, err := text.Vocab.Decode(net.Generate(ids, 300, models.Sampling{Temperature: 0.8}, nil))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out)
}
