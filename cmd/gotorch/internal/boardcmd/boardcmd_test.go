package boardcmd

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// buffer is a bytes.Buffer for two goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestErrors(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "--logdir runs"},
		{[]string{"--logdir", filepath.Join(dir, "nowhere")}, "does not exist; check --logdir"},
		{[]string{"--logdir", dir, "--addr", l.Addr().String()},
			"is in use, perhaps by another board; try --addr 127.0.0.1:"},
		{[]string{"--logdir", dir, "--addr", "6006"}, "want host:port"},
		{[]string{"--logdir", dir, "--interval", "1ms"}, "too short"},
		{[]string{"--logdir", dir, "more"}, "one log directory"},
	} {
		cmd := Command()
		cmd.SetArgs(c.args)
		cmd.SetOut(io.Discard)
		cmd.SetErr(io.Discard)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		err := cmd.ExecuteContext(ctx)
		cancel()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want an error with %q", c.args, err, c.want)
		}
	}
}

func TestServes(t *testing.T) {
	cmd := Command()
	cmd.SetArgs([]string{"--logdir", filepath.Join(t.TempDir(), "later"), "--wait", "--addr", "127.0.0.1:0"})
	var out buffer
	cmd.SetOut(&out)
	cmd.SetErr(io.Discard)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- cmd.ExecuteContext(ctx) }()
	var url string
	for range 200 {
		if url = regexp.MustCompile(`http://\S+`).FindString(out.String()); url != "" {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusOK || r.Header.Get("Content-Security-Policy") == "" {
		t.Errorf("got %s, %v", r.Status, r.Header)
	}
	cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the server does not stop")
	}
}
