package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
)

// tiny is a network with the input and output of the real one.
func tiny() nn.Layer {
	torch.ManualSeed(1)
	m := nn.NewSequential(nn.NewConv2d(3, 4, 3), nn.NewReLU(), nn.NewAdaptiveAvgPool2d(nn.Size{1, 1}), nn.NewFlatten(),
		nn.NewLinear(4, 10))
	nn.Eval(m)
	return m
}

func settings() config { return config{size: 32, batch: 4, queue: 16, timeout: 10 * time.Second} }

func TestServer(t *testing.T) {
	s := newServer(tiny(), settings())
	h := httptest.NewServer(s)
	defer h.Close()
	get := func(path string) (int, string) {
		r, err := http.Get(h.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, _ := io.ReadAll(r.Body)
		return r.StatusCode, string(b)
	}
	if code, _ := get("/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("ready before it is warm: %d", code)
	}
	if err := s.warmUp(); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"/readyz", "/healthz"} {
		if code, text := get(p); code != http.StatusOK {
			t.Errorf("%s: %d %s", p, code, text)
		}
	}
	for name, c := range map[string]struct {
		kind, body string
		code       int
	}{
		"png":   {"image/png", string(noise(40)), 200},
		"json":  {"application/json", `{"shape": [3, 1, 2], "pixels": [0, 1, 0.5, 0.5, 0, 1]}`, 200},
		"shape": {"application/json", `{"shape": [3, 1, 3], "pixels": [0, 1, 0.5, 0.5, 0, 1]}`, 400},
		"huge":  {"application/json", `{"shape": [3, 4611686018427387904, 4], "pixels": []}`, 400},
		"text":  {"application/json", `{`, 400},
		"kind":  {"text/plain", `cat`, 400},
		"none":  {"", `cat`, 400},
		"cut":   {"image/png", string(noise(40))[:100], 400},
		"large": {"image/png", strings.Repeat("x", maxBody+1), 413},
	} {
		r, err := http.Post(h.URL+"/predict", c.kind, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(r.Body)
		r.Body.Close()
		if r.StatusCode != c.code {
			t.Errorf("%s: %d %s, want %d", name, r.StatusCode, b, c.code)
		}
		var a answer
		if c.code == 200 && (json.Unmarshal(b, &a) != nil || len(a.Classes) != 5 || !(a.Scores[0] >= a.Scores[4])) {
			t.Errorf("%s: %s", name, b)
		}
	}
	if _, text := get("/metrics"); !strings.Contains(text, "serve_requests_total 22\n") {
		t.Errorf("metrics: %s", text)
	}
	s.batcher.Close()
	r, err := http.Post(h.URL+"/predict", "image/png", strings.NewReader(string(noise(40))))
	if err != nil || r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("after closing: %v %v", r, err)
	}
}

func TestLoad(t *testing.T) {
	s := newServer(tiny(), settings())
	if err := loadTest(context.Background(), s, 4, 200*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if b := s.batcher.Stats(); b.Requests < 10 || b.Failed+b.Busy > 0 {
		t.Errorf("%+v", b)
	}
}

// listen ends when its context does, after what has begun.
func TestListen(t *testing.T) {
	s := newServer(tiny(), settings())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.listen(ctx, "localhost:0") }()
	for !s.ready.Load() {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
