package torchtest_test

import (
	"flag"
	"regexp"
	"slices"
	"strings"
	"testing"

	_ "github.com/gotorch-dev/torch"            // links the operators
	_ "github.com/gotorch-dev/torch/ops/vision" // and those of torchvision
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/torchtest"
)

var (
	only   = flag.String("op", "", "run only the operators that match")
	checks = flag.String("checks", "", "run only these checks, separated by commas")
)

// TestOperators runs the suite over every operator of the library.
func TestOperators(t *testing.T) {
	o := torchtest.Options{Short: testing.Short()}
	if *only != "" {
		o.Only = regexp.MustCompile(*only)
	}
	if *checks != "" {
		o.Checks = strings.Split(*checks, ",")
	}
	rep := torchtest.Run(t, o)
	t.Logf("%d operators, %d samples, %v", rep.Operators, rep.Samples, rep.Checks)
}

// TestEveryOperatorHasSamples keeps operators from being added untested.
func TestEveryOperatorHasSamples(t *testing.T) {
	names := map[string]bool{}
	for _, op := range tensor.Ops() {
		names[op.FullName()] = true
		n := 0
		if err := tensor.Try(func() { n = len(op.Samples()) }); err != nil {
			t.Error(err)
			continue
		}
		if op.IsVariant() || n > 0 || op.NoSamples() != "" {
			continue
		}
		t.Errorf("%s has neither samples nor a reason (samples.None); see docs/adding-an-operator.md", op.FullName())
	}
	missing := tensor.SampleNames()
	missing = slices.DeleteFunc(missing, func(n string) bool { return names[n] })
	slices.Sort(missing)
	if len(missing) > 0 {
		t.Errorf("samples of unknown operators: %s", strings.Join(missing, " "))
	}
}
