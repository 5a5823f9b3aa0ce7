// Package term is what the command needs of a terminal: whether there is one and how
// wide it is, and small grey pictures. Without a terminal they become ASCII, so that
// logs stay readable.
package term

import (
	"fmt"
	"image"
	"os"
	"runtime"
	"strings"

	"golang.org/x/term"
)

// IsTerminal reports whether f is a terminal.
func IsTerminal(f *os.File) bool { return f != nil && term.IsTerminal(int(f.Fd())) }

// IsColor reports whether f is a terminal that shows colours and moves its cursor. It
// heeds NO_COLOR (no-color.org) and TERM=dumb.
func IsColor(f *os.File) bool {
	if !IsTerminal(f) || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	// The old Windows console prints escape sequences as they are; Windows Terminal sets
	// WT_SESSION, and the Unix-like shells set TERM.
	return runtime.GOOS != "windows" || os.Getenv("WT_SESSION") != "" || os.Getenv("TERM") != ""
}

// Width returns the number of columns of the terminal f, or 80 if f is not one.
func Width(f *os.File) int {
	if f != nil {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
	}
	return 80
}

// Picture returns img as lines of text, bright pixels for bright ones.
//
// With color, a character cell is an upper half block that shows two pixels above one
// another in 24 shades of the 256-colour palette: 28x28 pixels take 28 columns and 14
// lines. Without, a pixel is two ASCII characters wide, which makes it about square:
// 56 columns and 28 lines.
func Picture(img *image.Gray, color bool) string {
	b := img.Bounds()
	var s strings.Builder
	if !color {
		const ramp = " .:-=+*#%@" // from dark to bright, on a dark background
		for y := b.Min.Y; y < b.Max.Y; y++ {
			var line strings.Builder
			for x := b.Min.X; x < b.Max.X; x++ {
				c := ramp[int(img.GrayAt(x, y).Y)*len(ramp)/256]
				line.WriteByte(c)
				line.WriteByte(c)
			}
			s.WriteString(strings.TrimRight(line.String(), " "))
			s.WriteByte('\n')
		}
		return s.String()
	}
	// Colours 232 … 255 are the grey ramp.
	shade := func(x, y int) int { return 232 + int(img.GrayAt(x, y).Y)*24/256 }
	for y := b.Min.Y; y < b.Max.Y; y += 2 {
		lastTop, lastBottom := -1, -1
		for x := b.Min.X; x < b.Max.X; x++ {
			top, bottom := shade(x, y), 232
			if y+1 < b.Max.Y {
				bottom = shade(x, y+1)
			}
			// Most neighbours are alike: say a colour only when it changes.
			if top != lastTop || bottom != lastBottom {
				fmt.Fprintf(&s, "\x1b[38;5;%d;48;5;%dm", top, bottom)
				lastTop, lastBottom = top, bottom
			}
			s.WriteString("▀")
		}
		s.WriteString("\x1b[0m\n")
	}
	return s.String()
}
