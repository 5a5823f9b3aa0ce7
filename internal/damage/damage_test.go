package damage

import (
	"bytes"
	"testing"

	"github.com/gotorch-dev/torch/internal/torchzip"
)

// The same seed gives the same damages, each of which changes the file.
func TestSource(t *testing.T) {
	var buf bytes.Buffer
	w, err := torchzip.NewWriter(&buf, "m")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if err := w.Record(name, []byte("1234567890 of "+name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	one, two := New(1), New(1)
	kinds := map[string]bool{}
	for range 200 {
		a, what, err := one.Archive(buf.Bytes())
		if err != nil || what == "" {
			t.Fatal(what, err)
		}
		b, same, _ := two.Archive(buf.Bytes())
		if !bytes.Equal(a, b) || what != same {
			t.Fatalf("%s and %s for one seed", what, same)
		}
		kinds[what] = true
	}
	if len(kinds) < 60 {
		t.Errorf("only %d different damages", len(kinds))
	}
}
