package export_test

import (
	"bytes"
	"os"
	"testing"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/export"
	"github.com/gotorch-dev/torch/internal/damage"
)

// Damaged archives give an error or a program that ends, without a panic and without more memory than is allowed.
func TestDamagedArchives(t *testing.T) {
	defer torch.SetMemoryLimit(torch.SetMemoryLimit(256 << 20))
	old, err := os.ReadFile("testdata/old_layout.pt2")
	if err != nil {
		t.Fatal(err)
	}
	programs := append(seeds(t), old)
	for n, b := range programs {
		s := damage.New(uint64(n))
		for i := range 300 {
			damaged, what := s.Bytes(b)
			if i%4 != 0 && n < len(programs)-1 { // the old layout is no torch file
				if damaged, what, err = s.Archive(b); err != nil {
					t.Fatal(err)
				}
			}
			func() {
				defer func() {
					if r := recover(); r != nil {
						t.Errorf("program %d with %s: panic %v", n, what, r)
					}
				}()
				p, err := export.Load(bytes.NewReader(damaged), int64(len(damaged)), export.LoadOptions{MaxSteps: 1000})
				if err == nil {
					use(p)
				}
			}()
		}
	}
}
