package graph

import (
	"os"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/internal/shared"
)

// TestHelperSchemas: a helper of the namespaces aten and prim has exactly the schema that PyTorch has.
func TestHelperSchemas(t *testing.T) {
	b, err := os.ReadFile(shared.Path(t, "golden/schemas.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]*Schema{}
	for _, line := range strings.Split(string(b), "\n")[1:] {
		col := strings.Split(line, "\t")
		if len(col) < 3 {
			continue
		}
		s, err := ParseSchema(col[2])
		if err == nil { // those of helpers can all be read
			want[s.FullName()] = s
		}
	}
	for name, o := range helpers.byFull {
		if !strings.HasPrefix(name, "aten::") && !strings.HasPrefix(name, "prim::") {
			continue
		}
		w := want[name]
		if w == nil {
			t.Errorf("PyTorch has no operator %s", name)
			continue
		}
		if got, want := o.String(), w.String(); got != want {
			t.Errorf("%s: schema %s, PyTorch has %s", name, got, want)
		}
	}
}

func TestParseSchema(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"aten::x.y(t[](a!) self, *, int[2]? n=None, str s=\"a b\") -> (Tensor, int)",
			"aten::x.y(t[] self, int[]? n=None, str s='a b') -> (Tensor, int)"},
		{"aten::items(Dict(str, t) self) -> ((str, t)[])", "aten::items(Dict(str, t) self) -> ((str, t)[])"},
	} {
		s, err := ParseSchema(c.in)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if got := s.String(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.in, got, c.want)
		}
	}
	for _, bad := range []string{"", "x", "x(", "x(int)", "x(int a) ->", "x(Dict(str) d) -> int", "x(int a",
		"x(int[ a) -> int",
		strings.Repeat("(", 500), "x(" + strings.Repeat("Dict(str, ", 500) + "int"} {
		if _, err := ParseSchema(bad); err == nil {
			t.Errorf("%.40q: no error", bad)
		}
	}
}

func FuzzParseSchema(f *testing.F) {
	f.Add("aten::x.y(t[](a!) self, *, int[2]? n=None, str s=\"a b\") -> (Tensor, int)")
	f.Add("aten::items(Dict(str, t) self) -> ((str, t)[])")
	f.Fuzz(func(t *testing.T, s string) {
		if p, err := ParseSchema(s); err == nil {
			_ = p.String()
		}
	})
}
