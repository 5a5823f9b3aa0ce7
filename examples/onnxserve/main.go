// Command onnxserve answers HTTP requests with an ONNX model.
//
//	go run ./examples/onnxserve -model model.onnx [-addr localhost:8080]
//
//	curl -s localhost:8080/model                                      # inputs, outputs, metadata
//	curl -s localhost:8080/predict -d '{"shape": [2], "data": [1, 2]}' # one row of a batch
//
// Requests that wait are computed together where the model's first size is open; package serve does that. SIGTERM lets
// what has begun be answered, and ends.
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gotorch-dev/torch/onnx"
)

func main() {
	addr := flag.String("addr", "localhost:8080", "address to listen on")
	path := flag.String("model", "", "the ONNX file")
	batch := flag.Int("batch", 8, "requests in a batch at most")
	queue := flag.Int("queue", 64, "requests that wait at most; more are refused with 503")
	timeout := flag.Duration("timeout", 5*time.Second, "time for a request")
	flag.Parse()
	m, err := onnx.Open(*path)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	s, err := newServer(m, *batch, *queue, *timeout)
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("%s on http://%s", m.Inputs()[0], l.Addr())
	if err := s.serve(ctx, l); err != nil {
		log.Fatal(err)
	}
}

// serve answers requests until ctx is done, then those that have begun, and returns.
func (s *server) serve(ctx context.Context, l net.Listener) error {
	h := &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	err := h.Shutdown(end)
	s.batcher.Close()
	return err
}
