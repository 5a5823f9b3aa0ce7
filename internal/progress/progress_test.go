package progress

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestSilentInFiles(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := NewBar(f, 1, 1, 10, false)
	b.Step(1, 0.5, 0.5)
	b.Done()
	if info, err := f.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("the bar wrote %d bytes to a file (%v)", info.Size(), err)
	}
}

func TestBar(t *testing.T) {
	for _, c := range []struct {
		width    int
		accuracy float64
		has, not []string // in what is drawn; the last drawing is at step 100
	}{
		{120, 0.9752, []string{"epoch 2/5", "loss 0.1234", "acc  97.5%", "64.0k/s", "(100/157)"}, nil},
		{80, 0.9752, []string{"epoch 2/5", "loss 0.1234", "acc  97.5%", "(100/157)"}, []string{"k/s"}},
		{120, math.NaN(), []string{"loss 0.1234"}, []string{"acc"}},
		{60, 1, []string{"loss 0.1234", "(100/157)"}, []string{"acc"}},
	} {
		var out bytes.Buffer
		clock := time.Unix(1000, 0)
		b := newBar(&out, c.width, 2, 5, 157, func() time.Time { return clock })
		for range 100 {
			clock = clock.Add(10 * time.Millisecond)
			b.Step(640, 0.12341, c.accuracy)
		}
		lines := strings.Split(out.String(), "\r")
		drawn := 0
		last := ""
		for _, l := range lines {
			if n := utf8.RuneCountInString(l); n > c.width {
				t.Errorf("width %d: a line of %d columns: %q", c.width, n, l)
			}
			if strings.TrimSpace(l) != "" {
				drawn++
				last = l
			}
		}
		// 100 steps in one second are 10 drawings, two writes each.
		if drawn > 20 {
			t.Errorf("width %d: drawn %d times in a second", c.width, drawn)
		}
		for _, w := range c.has {
			if !strings.Contains(out.String(), w) {
				t.Errorf("width %d: %q lacks %q", c.width, last, w)
			}
		}
		for _, w := range c.not {
			if strings.Contains(out.String(), w) {
				t.Errorf("width %d: %q has %q", c.width, last, w)
			}
		}
		out.Reset()
		b.Done()
		if s := out.String(); strings.TrimSpace(strings.ReplaceAll(s, "\x1b[2K", "")) != "" ||
			!strings.HasSuffix(s, "\r") {
			t.Errorf("width %d: Done leaves %q", c.width, s)
		}
	}
	if newBar(nil, 80, 1, 1, 0, time.Now) != nil {
		t.Error("a bar for no steps")
	}
}

func TestRate(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0.0/s", 9.96: "10.0/s", 99.94: "99.9/s", 99.96: "100/s", 999.4: "999/s", 999.6: "1.0k/s",
		12345: "12.3k/s", 999_940: "999.9k/s", 999_960: "1.0M/s", 2.5e6: "2.5M/s",
	} {
		if got := Rate(v); got != want {
			t.Errorf("Rate(%v) = %q, want %q", v, got, want)
		}
	}
}
