package tensor_test

import (
	"os"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/internal/shared"
	"github.com/gotorch-dev/torch/tensor"
)

const schema = `aten::x_y.out_1(Tensor(a!) self, Tensor?[] l, int[2] k=1, *, str m="a, b", ` +
	`bool[3] o=[True, False, True], ` +
	`Scalar s=1.5, ScalarType? dtype=None, Tensor(a -> *)[] r) -> (Tensor(a!) first, Tensor[])`

// TestParseSchemaCut parses each beginning and each end of a schema, and it with each byte in turn left out. There is
// an error or a schema, which prints as text that parses to the same.
func TestParseSchemaCut(t *testing.T) {
	if _, err := tensor.ParseSchema(schema); err != nil {
		t.Fatal(err)
	}
	for i := range len(schema) {
		checkSchema(t, schema[:i])
		checkSchema(t, schema[i:])
		checkSchema(t, schema[:i]+schema[i+1:])
	}
	for _, bad := range []string{"x(Tensor( a) -> Tensor", "x(Tensor)( a) -> Tensor", "x(int[ a) -> Tensor",
		"x(int a=) -> Tensor",
		"x(int[2] a=[) -> Tensor", `x(str a=") -> Tensor`, "x(int[1000000000000] a=1) -> Tensor",
		"x(int[-1] a=1) -> Tensor",
		"(Tensor a) -> Tensor", "x.(Tensor ?) -> Tensor", "x(Tensor a) -> Tensor(", ") -> (", ""} {
		if s, err := tensor.ParseSchema(bad); err == nil {
			t.Errorf("%q parses to %v", bad, s)
		}
	}
}

func checkSchema(t *testing.T, text string) {
	t.Helper()
	s, err := tensor.ParseSchema(text)
	if err != nil {
		return
	}
	again, err := tensor.ParseSchema(s.String())
	if err != nil || again.String() != s.String() {
		t.Fatalf("%q prints as %q, which gives %v, %v", text, s, again, err)
	}
}

// TestParseSchemaAll parses the schemas of all of PyTorch's operators. Those of TorchScript's dicts and the like have
// types that no tensor operator has.
func TestParseSchemaAll(t *testing.T) {
	b, err := os.ReadFile(shared.Path(t, "golden", "schemas.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var bad []string
	for line := range strings.Lines(string(b)) {
		cells := strings.Split(line, "\t")
		if len(cells) < 3 || !strings.HasPrefix(cells[2], "aten::") {
			continue
		}
		if _, err := tensor.ParseSchema(cells[2]); err != nil && !strings.Contains(err.Error(), ": unknown ") {
			bad = append(bad, err.Error())
		}
		checkSchema(t, cells[2])
	}
	if len(bad) > 0 {
		t.Errorf("%d schemas do not parse, among them %s", len(bad), bad[0])
	}
}

func FuzzParseSchema(f *testing.F) {
	f.Add(schema)
	f.Add("relu(Tensor self) -> Tensor")
	f.Add("aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")
	f.Fuzz(func(t *testing.T, text string) { checkSchema(t, text) })
}
