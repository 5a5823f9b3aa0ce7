package einopscheck

import (
	"testing"

	_ "github.com/gotorch-dev/torch" // links the operators
	"github.com/gotorch-dev/torch/internal/conformance/golden"
)

// A runner that cannot fail proves nothing.
func TestWrongRecordsFail(t *testing.T) {
	dec, err := golden.NewDecoder("")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []record{
		{Fn: "nothing", Pattern: "a"},
		{Fn: "rearrange", Pattern: "a -> a", Error: &struct{ Type, Message string }{"EinopsError", "another message"}},
	} {
		r.X = []byte(`{"l":[]}`)
		if r.check(dec) == "" {
			t.Errorf("%s %q passed", r.Fn, r.Pattern)
		}
	}
	if sortSets("{'b', 'a'} {'h': 2}") != "{'a', 'b'} {'h': 2}" {
		t.Error("sortSets")
	}
}
