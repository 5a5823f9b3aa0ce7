// Package boardcmd is the board command of gotorch: a web page that shows
// TensorBoard logs.
package boardcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch/cmd/gotorch/internal/cli"
	"github.com/gotorch-dev/torch/tensorboard/board"
)

type flags struct {
	logdir, addr, title string
	hosts               []string
	interval            time.Duration
	wait                bool
}

// Command returns "gotorch board".
func Command() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "board --logdir DIR",
		Short: "Show training runs in the browser",
		Long: `Serves a web page with the runs below a log directory: scalars, images, audio,
histograms, text, graphs, precision-recall curves, hyperparameters and
embeddings, from the event files of gotorch, PyTorch or TensorFlow. The page
follows runs that are still being written. Files are only read.

The page needs nothing from the internet. It can be reached from this machine
alone unless --addr says otherwise; there is no password, so whoever can reach
the address can see the logs.`,
		Example: `  gotorch board --logdir runs
  gotorch board --logdir runs --addr 127.0.0.1:7007 --title "Flowers"
  gotorch board --logdir runs --addr 0.0.0.0:6006 --allow-host trainer.example.org`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 1 && f.logdir == "":
				f.logdir = args[0]
			case len(args) > 0:
				return fmt.Errorf("board takes one log directory, with --logdir; got %q besides", args)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.logdir, "logdir", "", "directory with event files, or with runs in directories below it")
	fl.StringVar(&f.addr, "addr", "127.0.0.1:6006", "address and port to listen on; port 0 takes any free one")
	fl.StringVar(&f.title, "title", "", "a name for the page")
	fl.StringSliceVar(&f.hosts, "allow-host", nil, "host names, besides localhost, that the page may be reached by")
	fl.DurationVar(&f.interval, "interval", 2*time.Second, "how often to look for new data while the page is open")
	fl.BoolVar(&f.wait, "wait", false, "start even if the log directory does not exist yet")
	_ = cmd.MarkFlagDirname("logdir")
	return cmd
}

func (f *flags) run(ctx context.Context, out, errOut io.Writer) error {
	if f.logdir == "" {
		return errors.New("which logs? Give the directory that the runs are in: " + cli.Line("board", "--logdir", "runs"))
	}
	if f.interval < 100*time.Millisecond {
		return fmt.Errorf("--interval %v is too short, want at least 100ms", f.interval)
	}
	host, _, err := net.SplitHostPort(f.addr)
	if err != nil {
		return fmt.Errorf("--addr %q is no address: want host:port, such as 127.0.0.1:6006", f.addr)
	}
	hosts := f.hosts
	if host != "" {
		hosts = append(hosts[:len(hosts):len(hosts)], host)
	}
	logger := log.New(errOut, "board: ", log.LstdFlags)
	h, err := board.New(f.logdir, board.Options{Hosts: hosts, Interval: f.interval, AllowMissing: f.wait,
		Title: f.title, ErrorLog: logger})
	if errors.Is(err, fs.ErrNotExist) {
		abs, e := filepath.Abs(f.logdir)
		if e != nil {
			abs = f.logdir
		}
		return fmt.Errorf("the log directory %s does not exist; check --logdir, or give --wait to start before the "+
			"first run", abs)
	}
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.addr)
	if err != nil {
		return listenError(ctx, f.addr, err)
	}
	fmt.Fprintf(out, "Board of %s: http://%s/ (stop with Ctrl-C)\n", f.logdir, shownAddr(l.Addr().String()))
	if a, err := netip.ParseAddrPort(l.Addr().String()); err == nil && !a.Addr().IsLoopback() {
		fmt.Fprintln(errOut, "Anyone who can reach this address can see the logs: there is no password.")
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 256 << 10, ErrorLog: logger}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		end, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if srv.Shutdown(end) != nil {
			_ = srv.Close()
		}
		return nil
	}
}

// shownAddr is an address that a browser can open.
func shownAddr(addr string) string {
	if a, err := netip.ParseAddrPort(addr); err == nil && a.Addr().IsUnspecified() {
		return net.JoinHostPort("localhost", strconv.Itoa(int(a.Port())))
	}
	return addr
}

// listenError says what to do when a port is taken: it looks for a free one near by.
func listenError(ctx context.Context, addr string, err error) error {
	// Windows has a number of its own for this, and words that differ as well.
	const wsaAddrInUse = syscall.Errno(10048)
	if !errors.Is(err, syscall.EADDRINUSE) && !errors.Is(err, wsaAddrInUse) &&
		!strings.Contains(err.Error(), "in use") {
		return fmt.Errorf("cannot listen on %s: %w", addr, err)
	}
	host, port, e := net.SplitHostPort(addr)
	n, e2 := net.DefaultResolver.LookupPort(ctx, "tcp", port)
	if e == nil && e2 == nil {
		for p := n + 1; p <= min(n+100, 65535); p++ {
			free := net.JoinHostPort(host, strconv.Itoa(p))
			if l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", free); err == nil {
				_ = l.Close() // it only showed that the port is free
				return fmt.Errorf("port %s is in use, perhaps by another board; try --addr %s", port, free)
			}
		}
	}
	return fmt.Errorf("port %s is in use, perhaps by another board; try --addr with another port", port)
}
