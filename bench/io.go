package main

import (
	"os"
	"path/filepath"

	"github.com/gotorch-dev/torch"
)

// ioRows write and read the weights of a resnet18, 47 MB, in PyTorch's format.
func ioRows(c *config) []row {
	net := "resnet18"
	if c.tiny {
		net = "mlp"
	}
	file := func(name string, load bool) row {
		return row{
			name: name, bytes: 4 * 11.7e6, peer: "state_dict", args: arg{"load": load},
			prepare: func() work {
				dir, err := os.MkdirTemp("", "bench")
				check(err)
				sd := newModel(net).StateDict()
				path := filepath.Join(dir, "resnet18.pt")
				check(torch.Save(path, sd))
				w := work{grad: true, close: func() { _ = os.RemoveAll(dir) }}
				if load {
					w.step = func() {
						torch.Tidy(func() {
							_, err := torch.LoadStateDict(path)
							check(err)
						})
					}
				} else {
					w.step = func() { check(torch.Save(path, sd)) }
				}
				return w
			},
		}
	}
	return []row{file("save the weights of resnet18", false), file("load the weights of resnet18", true)}
}
