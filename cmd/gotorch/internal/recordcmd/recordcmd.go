// Package recordcmd holds the command lines that make and unpack RecordIO files, im2rec and rec2im, and what inspect
// says about such files.
package recordcmd

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch/internal/term"

	// What cv2.imread opens beside JPEG and PNG, for im2rec without --pass-through.
	_ "image/gif"

	_ "golang.org/x/image/bmp"
	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"
)

// Commands returns the commands of this package, to be added to the root command.
func Commands() []*cobra.Command {
	return []*cobra.Command{im2recCommand(), rec2imCommand()}
}

// progress is a bar on a terminal and a line every few seconds elsewhere.
type progress struct {
	w     io.Writer
	bar   *progressbar.ProgressBar
	what  string
	done  int
	total int
	last  time.Time
}

func newProgress(w io.Writer, what string, start, total int, quiet bool) *progress {
	if quiet {
		return nil
	}
	p := &progress{w: w, what: what, done: start, total: total, last: time.Now()}
	if f, ok := w.(*os.File); ok && term.IsTerminal(f) {
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(w),
			progressbar.OptionSetDescription(what),
			progressbar.OptionShowCount(),
			progressbar.OptionShowIts(),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionOnCompletion(func() { fmt.Fprintln(w) }),
		)
		_ = p.bar.Set(start)
	}
	return p
}

func (p *progress) add() {
	if p == nil {
		return
	}
	p.done++
	if p.bar != nil {
		_ = p.bar.Add(1)
		return
	}
	if now := time.Now(); now.Sub(p.last) >= 5*time.Second {
		p.last = now
		fmt.Fprintf(p.w, "%s: %d of %d\n", p.what, p.done, p.total)
	}
}

// note prints a line without tearing the bar apart.
func (p *progress) note(w io.Writer, format string, args ...any) {
	if p != nil && p.bar != nil {
		_ = p.bar.Clear()
	}
	fmt.Fprintf(w, format+"\n", args...)
}
