package term

import (
	"image"
	"image/color"
	"os"
	"path/filepath"
	"testing"
)

func picture() *image.Gray {
	img := image.NewGray(image.Rect(2, 5, 5, 8)) // 3x3, not at the origin
	img.SetGray(2, 5, color.Gray{Y: 255})
	img.SetGray(3, 6, color.Gray{Y: 128})
	img.SetGray(4, 7, color.Gray{Y: 30})
	return img
}

func TestPicture(t *testing.T) {
	if got, want := Picture(picture(), false), "@@\n  ++\n    ..\n"; got != want {
		t.Errorf("ASCII: %q, want %q", got, want)
	}
	got := Picture(picture(), true)
	want := "\x1b[38;5;255;48;5;232m▀\x1b[38;5;232;48;5;244m▀\x1b[38;5;232;48;5;232m▀\x1b[0m\n" +
		"\x1b[38;5;232;48;5;232m▀▀\x1b[38;5;234;48;5;232m▀\x1b[0m\n"
	if got != want {
		t.Errorf("colour: %q, want %q", got, want)
	}
}

func TestNotATerminal(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if IsTerminal(f) || IsColor(f) || IsTerminal(nil) {
		t.Error("a file is taken for a terminal")
	}
	if Width(f) != 80 || Width(nil) != 80 {
		t.Errorf("width %d, want 80", Width(f))
	}
}
