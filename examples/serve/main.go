// Command serve answers HTTP requests with a resnet18: an example of a service around a model, and a load test of it.
//
//	go run ./examples/serve [-addr :8080] [-weights FILE]   # a service; without weights, a random network
//	go run ./examples/serve -load [-clients 8] [-time 10s]  # the service under load, in the same process
//
//	curl -s --data-binary @cat.jpg -H 'Content-Type: image/jpeg' localhost:8080/predict
//	curl -s localhost:8080/metrics
//
// docs/serving.md says what each of its settings is for.
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/vision/models"
)

func main() {
	addr := flag.String("addr", "localhost:8080", "address to listen on")
	weights := flag.String("weights", "", "state dict of torchvision's resnet18 (.pt or .pth); random if empty")
	size := flag.Int("size", 224, "pictures are scaled to this width and height")
	batch := flag.Int("batch", 8, "requests in a batch at most")
	delay := flag.Duration("delay", 0, "how long a request waits for others")
	queue := flag.Int("queue", 64, "requests that wait at most; more are refused with 503")
	timeout := flag.Duration("timeout", 5*time.Second, "time for a request")
	threads := flag.Int("threads", 0, "threads of a batch (0: all cores)")
	load := flag.Bool("load", false, "run a load test against the service, and end")
	clients := flag.Int("clients", 8, "load: clients that ask one request after the other")
	duration := flag.Duration("time", 10*time.Second, "load: how long")
	flag.Parse()
	if os.Getenv("GOGC") == "" { // see Memory in docs/serving.md
		debug.SetGCPercent(30)
	}
	if *threads > 0 {
		torch.SetNumThreads(*threads)
	}

	net, err := network(*weights)
	if err != nil {
		log.Fatal(err)
	}
	s := newServer(net, config{size: *size, batch: *batch, delay: *delay, queue: *queue, timeout: *timeout})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *load {
		err = loadTest(ctx, s, *clients, *duration)
	} else {
		err = s.listen(ctx, *addr)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// network is a resnet18 in evaluation mode.
func network(weights string) (nn.Layer, error) {
	m := models.NewResNet18()
	if weights != "" {
		sd, err := torch.LoadStateDict(weights)
		if err != nil {
			return nil, err
		}
		if err := nn.LoadStateDict(m, sd); err != nil {
			return nil, err
		}
	}
	nn.Eval(m)
	return m, nil
}

// listen serves until ctx is done, then answers what has begun, and returns.
func (s *server) listen(ctx context.Context, addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	h := &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(l) }()
	log.Printf("listening on http://%s", l.Addr())
	if err := s.warmUp(); err != nil {
		return err
	}
	log.Print("ready")
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	// First /readyz says no, so that a balancer sends nobody any more; then what has begun is answered.
	s.ready.Store(false)
	log.Print("shutting down")
	end, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	err = h.Shutdown(end)
	s.batcher.Close()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}
