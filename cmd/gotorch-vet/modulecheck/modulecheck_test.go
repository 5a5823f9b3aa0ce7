package modulecheck

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/gotorch-dev/torch/nn"
)

func TestAnalyzer(t *testing.T) { analysistest.Run(t, analysistest.TestData(), Analyzer, "a") }

func TestNamesAreThoseOfTheStateDict(t *testing.T) {
	for _, s := range []string{"FC1", "Fc1", "InProjWeight", "Conv1", "BatchNorm2d", "A", "ReLU", "MaxPool", "X1Y"} {
		if got, want := snakeCase(s), nn.SnakeCase(s); got != want {
			t.Errorf("%s is called %s, the state dict says %s", s, got, want)
		}
	}
}
