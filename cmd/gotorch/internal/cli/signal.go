package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Signals returns a context that ends at the first Ctrl-C or SIGTERM, so that a command can save its work. The second
// one ends the process at once: files are renamed into place only when they are whole, so nothing is damaged.
func Signals(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-c
		cancel()
		<-c
		os.Exit(Interrupted)
	}()
	return ctx, cancel
}
