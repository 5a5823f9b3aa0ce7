package progress

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/gotorch-dev/torch/internal/term"
)

// talk is the time between two lines of a Count that is not on a terminal.
const talk = 5 * time.Second

// Count shows how many of a number of things are done: as a bar on a terminal, and elsewhere as a line every few
// seconds. It may only be used by one goroutine at a time. A nil Count is silent.
type Count struct {
	w     io.Writer
	bar   *progressbar.ProgressBar
	what  string
	done  int
	total int
	last  time.Time
	now   func() time.Time
}

// NewCount begins to count, from start on. It is nil, and so silent, if quiet is set or there is nothing to count.
func NewCount(w io.Writer, what string, start, total int, quiet bool) *Count {
	if quiet || total <= 0 {
		return nil
	}
	c := newCount(w, what, start, total, time.Now)
	if f, ok := w.(*os.File); ok && term.IsTerminal(f) {
		c.draw()
	}
	return c
}

func newCount(w io.Writer, what string, start, total int, now func() time.Time) *Count {
	return &Count{w: w, what: what, done: start, total: total, last: now(), now: now}
}

func (c *Count) draw() {
	c.bar = progressbar.NewOptions(c.total,
		progressbar.OptionSetWriter(c.w),
		progressbar.OptionSetDescription(c.what),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(redraw),
		progressbar.OptionOnCompletion(func() { fmt.Fprintln(c.w) }),
	)
	_ = c.bar.Set(c.done)
}

// Add counts n more things.
func (c *Count) Add(n int) {
	if c == nil {
		return
	}
	c.done += n
	if c.bar != nil {
		_ = c.bar.Add(n)
		return
	}
	if now := c.now(); now.Sub(c.last) >= talk {
		c.last = now
		fmt.Fprintf(c.w, "%s: %d of %d\n", c.what, c.done, c.total)
	}
}

// Note prints a line to w without tearing the bar apart.
func (c *Count) Note(w io.Writer, format string, args ...any) {
	if c != nil && c.bar != nil {
		_ = c.bar.Clear()
	}
	fmt.Fprintf(w, format+"\n", args...)
}

// Done takes a bar off the screen that has not come to its end.
func (c *Count) Done() {
	if c != nil && c.bar != nil && c.done < c.total {
		_ = c.bar.Clear()
	}
}
