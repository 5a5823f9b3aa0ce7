package chartext

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/internal/shared"
)

func TestVocab(t *testing.T) {
	v, err := NewVocab("héllo, wörld\n€")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := v.String(), "\n ,dhlorwéö€"; got != want {
		t.Errorf("vocabulary %q, want %q", got, want)
	}
	again, err := NewVocab(v.String())
	if err != nil || again.String() != v.String() {
		t.Errorf("vocabulary of its own text: %q, %v", again, err)
	}
	ids, err := v.Encode("hö€\n")
	if err != nil || !slices.Equal(ids, []int64{4, 10, 11, 0}) {
		t.Errorf("Encode: %v, %v", ids, err)
	}
	if s, err := v.Decode(ids); err != nil || s != "hö€\n" {
		t.Errorf("Decode: %q, %v", s, err)
	}
}

func TestErrors(t *testing.T) {
	v, err := NewVocab("abc")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.txt")
	if err := os.WriteFile(bad, []byte("ab\xffc"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		f    func() error
		want []string
	}{
		{"outside the vocabulary", func() error { _, err := v.Encode("aäb"); return err },
			[]string{"'ä'", "U+00E4", "byte 1", "3 characters"}},
		{"encode bytes", func() error { _, err := v.Encode("a\xc3"); return err }, []string{"byte 1", "0xc3"}},
		{"decode above", func() error { _, err := v.Decode([]int64{0, 3}); return err },
			[]string{"number 3", "index 1", "[0, 3)"}},
		{"decode below", func() error { _, err := v.Decode([]int64{-1}); return err }, []string{"-1"}},
		{"empty", func() error { _, err := New(""); return err }, []string{"empty"}},
		{"file", func() error { _, err := Load(bad); return err }, []string{"UTF-8", "byte 2", "0xff", bad}},
		{"no file", func() error { _, err := Load(filepath.Join(dir, "none")); return err }, []string{"none"}},
	} {
		err := c.f()
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: error %q lacks %q", c.name, err, w)
			}
		}
	}
	// A U+FFFD that is really in the text is a character like any other.
	if _, err := NewVocab("a\uFFFD"); err != nil {
		t.Errorf("U+FFFD: %v", err)
	}
}

func TestSplit(t *testing.T) {
	for _, n := range []int{1, 2, 9, 10, 11, 19, 100, 105} {
		text, err := New(strings.Repeat("x", n))
		if err != nil {
			t.Fatal(err)
		}
		if len(text.Train) != n*9/10 || len(text.Train)+len(text.Val) != n {
			t.Errorf("%d characters: split %d + %d", n, len(text.Train), len(text.Val))
		}
	}
}

func TestWindow(t *testing.T) {
	tok := Tokens{0, 1, 2, 3, 4}
	if got := tok.Windows(3); got != 2 {
		t.Errorf("Windows(3) = %d, want 2", got)
	}
	x, y := tok.Window(1, 3)
	if !slices.Equal(x, []int64{1, 2, 3}) || !slices.Equal(y, []int64{2, 3, 4}) {
		t.Errorf("Window(1, 3) = %v, %v", x, y)
	}
	for _, c := range [][2]int{{2, 3}, {-1, 3}, {0, 5}, {0, 0}, {0, -1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Window(%d, %d) did not panic", c[0], c[1])
				}
			}()
			tok.Window(c[0], c[1])
		}()
	}
}

// The well-known facts about the Shakespeare text of character models.
func TestShakespeare(t *testing.T) {
	text, err := Load(shared.Path(t, "data/text/tinyshakespeare.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if text.Vocab.Len() != 65 || len(text.Train) != 1_003_854 || len(text.Val) != 111_540 {
		t.Errorf("%d characters, split %d + %d; want 65, 1003854 + 111540",
			text.Vocab.Len(), len(text.Train), len(text.Val))
	}
	x, _ := text.Train.Window(0, 14)
	if s, err := text.Vocab.Decode(x); err != nil || s != "First Citizen:" {
		t.Errorf("it begins with %q, %v", s, err)
	}
}

func ExampleNew() {
	text, err := New("to be, or not to be")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d characters: %q\n", text.Vocab.Len(), text.Vocab)
	x, y := text.Train.Window(3, 4)
	xs, _ := text.Vocab.Decode(x)
	ys, _ := text.Vocab.Decode(y)
	fmt.Printf("%v %q -> %q\n", x, xs, ys)
	// Output:
	// 8 characters: " ,benort"
	// [2 3 1 0] "be, " -> "e, o"
}

func FuzzVocab(f *testing.F) {
	f.Add("hello", "world")
	f.Add("a\uFFFD\xff", "\xe2\x82")
	f.Fuzz(func(t *testing.T, text, s string) {
		v, err := NewVocab(text)
		if err != nil {
			return
		}
		ids, err := v.Encode(text)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := v.Decode(ids); err != nil || back != text {
			t.Errorf("%q comes back as %q, %v", text, back, err)
		}
		if ids, err := v.Encode(s); err == nil {
			if back, err := v.Decode(ids); err != nil || back != s {
				t.Errorf("%q comes back as %q, %v", s, back, err)
			}
		}
	})
}
