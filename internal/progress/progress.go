// Package progress draws the progress bar of a training on a terminal. It stands apart from package term, because the
// library behind it takes a web server along.
package progress

import (
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/gotorch-dev/torch/internal/term"
)

// redraw is the shortest time between two drawings: ten a second look smooth, and
// formatting more of them would cost more than a step of a small model.
const redraw = 100 * time.Millisecond

// Bar shows the progress of one epoch on one line of a terminal:
//
//	epoch 2/5  loss 0.1234  acc 97.5%  12.3k/s  45% |███   | (71/157) [3s:4s]
//
// with the samples per second, the steps, the time taken and the time left. It may
// only be used by one goroutine at a time. A nil Bar is silent.
type Bar struct {
	bar     *progressbar.ProgressBar
	width   int
	label   string
	samples int
	pending int // steps since the last drawing
	start   time.Time
	last    time.Time
	now     func() time.Time
}

// NewBar returns the bar for an epoch (counted from 1) of the given number of steps,
// drawn on f, which is usually os.Stderr. It is nil, and so silent, if quiet is set,
// if f is not a terminal, or if there are no steps.
func NewBar(f *os.File, epoch, epochs, steps int, quiet bool) *Bar {
	if quiet || !term.IsTerminal(f) {
		return nil
	}
	return newBar(f, term.Width(f), epoch, epochs, steps, time.Now)
}

func newBar(w io.Writer, width, epoch, epochs, steps int, now func() time.Time) *Bar {
	if steps <= 0 {
		return nil
	}
	b := &Bar{width: width, label: fmt.Sprintf("epoch %d/%d", epoch, epochs), now: now}
	b.start = now()
	b.last = b.start // a rate over the first microseconds would mean nothing
	// The part after the bar: "100% |" … "| (157/157) [12m34s:12m34s]".
	digits := len(fmt.Sprint(steps))
	rest := len("  100% || (/) [12m34s:12m34s]") + 2*digits
	room := width - rest - len(b.describe(math.Pi, 1)) - 1
	b.bar = progressbar.NewOptions(steps,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(b.label),
		progressbar.OptionSetWidth(min(max(room, 3), 30)),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetTheme(progressbar.Theme{Saucer: "█", SaucerHead: "█", SaucerPadding: " ", BarStart: "|",
			BarEnd: "|"}),
	)
	return b
}

// Step counts one step over the given number of samples. The accuracy, in [0, 1], is
// left out if it is NaN.
func (b *Bar) Step(samples int, loss, accuracy float64) {
	if b == nil {
		return
	}
	b.samples += samples
	b.pending++
	if now := b.now(); now.Sub(b.last) >= redraw {
		b.last = now
		b.bar.Describe(b.describe(loss, accuracy))
		// An error here is a terminal that went away: training goes on without it.
		_ = b.bar.Add(b.pending)
		b.pending = 0
	}
}

// Done takes the bar off the screen, whether or not all steps were made, and leaves
// the cursor at the start of its line.
func (b *Bar) Done() {
	if b == nil {
		return
	}
	_ = b.bar.Clear()
}

// describe returns the text before the bar, in columns that do not jump about. A
// narrow terminal gets less of it, because a line that wraps cannot be drawn over.
func (b *Bar) describe(loss, accuracy float64) string {
	s := fmt.Sprintf("%s  loss %-6.4f", b.label, loss)
	if !math.IsNaN(accuracy) && b.width >= 72 {
		s += fmt.Sprintf("  acc %5.1f%%", 100*accuracy)
	}
	if b.width >= 90 {
		rate := 0.0
		if t := b.now().Sub(b.start).Seconds(); t > 0 {
			rate = float64(b.samples) / t
		}
		s += fmt.Sprintf("  %7s", Rate(rate))
	}
	return s
}

// Rate returns a number of things per second in a few characters, such as "12.3k/s".
func Rate(perSecond float64) string {
	switch {
	case perSecond >= 999_950:
		return fmt.Sprintf("%.1fM/s", perSecond/1e6)
	case perSecond >= 999.5:
		return fmt.Sprintf("%.1fk/s", perSecond/1e3)
	case perSecond >= 99.95:
		return fmt.Sprintf("%.0f/s", perSecond)
	}
	return fmt.Sprintf("%.1f/s", perSecond)
}
