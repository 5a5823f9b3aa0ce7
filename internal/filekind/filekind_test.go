package filekind

import (
	"bytes"
	"strings"
	"testing"
)

// TestEnds cuts the beginnings of all kinds at each byte: Of answers, and an answer has words.
func TestEnds(t *testing.T) {
	for _, m := range magics {
		whole := append(make([]byte, m.at), m.magic...)
		for n := range len(whole) + 1 {
			if got := Of(bytes.NewReader(whole[:n]), int64(n)).Kind; n == len(whole) && got != m.kind {
				t.Errorf("%q at %d is %v, want %v", m.magic, m.at, got, m.kind)
			}
		}
	}
	for k := Unknown; k <= Text; k++ {
		if s := k.String(); !strings.HasPrefix(s, "a ") && !strings.HasPrefix(s, "an ") &&
			!strings.HasPrefix(s, "the ") {
			t.Errorf("kind %d is %q", k, s)
		}
	}
}

// TestWrongSize tells of a file that is shorter than its size, as one is that is being written.
func TestWrongSize(t *testing.T) {
	for _, c := range []struct {
		text string
		want Kind
	}{{"GGUF", GGUF}, {"", Unknown}, {"PK\x03\x04", ZipCut}, {"<html>", HTML}} {
		if got := Of(strings.NewReader(c.text), 1<<40).Kind; got != c.want {
			t.Errorf("%q is %v, want %v", c.text, got, c.want)
		}
	}
}

func FuzzOf(f *testing.F) {
	for _, m := range magics {
		f.Add(append(make([]byte, m.at), m.magic...))
	}
	for _, s := range []string{"\x80\x02" + legacyMagic, "\x02\x00\x00\x00\x00\x00\x00\x00{}", "\x08\x08\x12\x01a",
		"<!doctype html><title>x",
		"version https://git-lfs.github.com/spec/v1\nsize 5\n", "PK\x03\x04", "\x00\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		info := Of(bytes.NewReader(data), int64(len(data)))
		if info.Missing < 0 || len(info.Detail) > 4096 || len(data) == 0 != (info.Kind == Empty) {
			t.Fatalf("%+v", info)
		}
	})
}
