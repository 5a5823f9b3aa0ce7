package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"io"
	"log"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/nn/utils"
	"github.com/gotorch-dev/torch/serve"
)

// config are the settings of a server.
type config struct {
	size, batch, queue int
	delay, timeout     time.Duration
}

const (
	maxBody   = 16 << 20 // bytes of a request
	maxPixels = 1 << 24  // of a picture, which a small file may claim more of
)

// server is the service: it decodes requests, has the batcher answer them and counts.
type server struct {
	http.ServeMux
	config
	batcher *serve.Batcher
	ready   atomic.Bool
	took    latencies
}

// newServer prepares a network in evaluation mode. The server is not ready before warmUp.
func newServer(net nn.Layer, c config) *server {
	s := &server{config: c}
	model := utils.OptimizeForInference(net)
	s.batcher = serve.New(model.Forward, serve.Options{MaxBatch: torch.Some(c.batch), Queue: torch.Some(c.queue),
		MaxDelay: c.delay})
	s.HandleFunc("POST /predict", s.predict)
	s.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "alive") })
	s.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !s.ready.Load() {
			http.Error(w, "not ready", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ready")
	})
	s.HandleFunc("GET /metrics", s.metrics)
	return s
}

// warmUp computes batches of every size, twice: the first time records what the network does, the second one packs its
// weights.
func (s *server) warmUp() error {
	for n := 1; n <= s.batch; n++ {
		for range 2 {
			var wg sync.WaitGroup
			errs := make([]error, n)
			for i := range n {
				wg.Add(1)
				go func() {
					defer wg.Done()
					_, errs[i] = s.batcher.Do(context.Background(), torch.Zeros([]int{3, s.size, s.size}))
				}()
			}
			wg.Wait()
			if err := errors.Join(errs...); err != nil {
				return err
			}
		}
	}
	s.ready.Store(true)
	return nil
}

// answer is what /predict gives.
type answer struct {
	Classes []int     `json:"classes"` // the likeliest five, or fewer
	Scores  []float64 `json:"scores"`  // their probabilities
}

func (s *server) predict(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		fail(w, http.StatusRequestEntityTooLarge, err)
		return
	}
	torch.Tidy(func() { s.answer(w, r, body, start) })
}

// answer computes the answer for a body. Its tensors are freed by the caller.
func (s *server) answer(w http.ResponseWriter, r *http.Request, body []byte, start time.Time) {
	var x *torch.Tensor
	var err error
	// Errors of operators are panics: Try makes errors of them.
	if e := torch.Try(func() { x, err = s.decode(r.Header.Get("Content-Type"), body) }); e != nil {
		err = e
	}
	if err != nil {
		fail(w, http.StatusBadRequest, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.timeout)
	defer cancel()
	y, err := s.batcher.Do(ctx, x)
	if err != nil {
		x.Keep() // a batch may be reading it
	}
	switch {
	case errors.Is(err, serve.ErrBusy) || errors.Is(err, serve.ErrClosed):
		w.Header().Set("Retry-After", "1")
		fail(w, http.StatusServiceUnavailable, err)
		return
	case errors.Is(err, context.DeadlineExceeded):
		fail(w, http.StatusGatewayTimeout, err)
		return
	case errors.Is(err, context.Canceled): // nobody reads an answer
		return
	case err != nil:
		log.Print(err)
		fail(w, http.StatusInternalServerError, errors.New("the model failed"))
		return
	}
	s.took.add(time.Since(start))
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(likeliest(y))
}

func fail(w http.ResponseWriter, status int, err error) { http.Error(w, err.Error(), status) }

// likeliest lists the classes of the largest logits.
func likeliest(logits *torch.Tensor) (a answer) {
	p := torch.Data[float32](logits.Softmax(-1))
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		switch {
		case p[i] > p[j]:
			return -1
		case p[i] < p[j]:
			return 1
		}
		return i - j
	})
	for _, i := range order[:min(5, len(order))] {
		a.Classes, a.Scores = append(a.Classes, i), append(a.Scores, float64(p[i]))
	}
	return a
}

// decode reads a picture (image/png, image/jpeg) or JSON: {"shape": [3, H, W], "pixels": […]} with numbers from 0 to 1.
func (s *server) decode(kind string, body []byte) (*torch.Tensor, error) {
	kind, _, err := mime.ParseMediaType(kind)
	if err != nil {
		return nil, fmt.Errorf("Content-Type: %w", err)
	}
	var x *torch.Tensor
	switch {
	case kind == "application/json":
		var in struct {
			Shape  []int     `json:"shape"`
			Pixels []float32 `json:"pixels"`
		}
		if err := json.Unmarshal(body, &in); err != nil {
			return nil, err
		}
		if len(in.Shape) != 3 || in.Shape[0] != 3 || in.Shape[1] < 1 || in.Shape[2] < 1 ||
			in.Shape[1] > maxPixels || in.Shape[2] > maxPixels || len(in.Pixels) != 3*in.Shape[1]*in.Shape[2] {
			return nil, fmt.Errorf("shape %v with %d pixels, want [3, H, W] with 3*H*W of them", in.Shape,
				len(in.Pixels))
		}
		x = torch.FromSlice(in.Pixels, in.Shape...)
	case strings.HasPrefix(kind, "image/"):
		if x, err = picture(body); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("Content-Type is %s, want application/json, image/png or image/jpeg", kind)
	}
	// torchvision's means and deviations of ImageNet
	mean, std := torch.FromSlice([]float32{0.485, 0.456, 0.406}, 3, 1, 1),
		torch.FromSlice([]float32{0.229, 0.224, 0.225}, 3, 1, 1)
	return torch.TidyReturn(func() *torch.Tensor {
		if x.Size(1) != s.size || x.Size(2) != s.size {
			x = F.Interpolate(x.Unsqueeze(0),
				F.InterpolateOptions{Size: []int{s.size, s.size}, Mode: "bilinear"}).Select(0, 0)
		}
		return x.Sub(mean).Div(std)
	}), nil
}

// picture is a picture as a tensor (3, H, W) of numbers from 0 to 1.
func picture(body []byte) (*torch.Tensor, error) {
	c, _, err := image.DecodeConfig(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if c.Width*c.Height > maxPixels || c.Width < 1 || c.Height < 1 {
		return nil, fmt.Errorf("the picture has %dx%d pixels, want at most %d", c.Width, c.Height, maxPixels)
	}
	img, _, err := image.Decode(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	b := img.Bounds()
	w, h := b.Dx(), b.Dy()
	t := torch.Empty([]int{3, h, w})
	p := torch.Data[float32](t)
	for y := range h {
		for x := range w {
			r, g, bl, _ := img.At(b.Min.X+x, b.Min.Y+y).RGBA()
			for i, v := range []uint32{r, g, bl} {
				p[i*w*h+y*w+x] = float32(v) / 0xffff
			}
		}
	}
	return t, nil
}

// metrics writes figures in the text format of Prometheus.
func (s *server) metrics(w http.ResponseWriter, _ *http.Request) {
	b, m := s.batcher.Stats(), torch.MemoryStats()
	p50, p99, _ := s.took.quantiles()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	for _, f := range []struct {
		name  string
		value float64
	}{
		{"serve_requests_total", float64(b.Requests)}, {"serve_batches_total", float64(b.Batches)},
		{"serve_busy_total", float64(b.Busy)}, {"serve_cancelled_total", float64(b.Cancelled)},
		{"serve_failed_total", float64(b.Failed)}, {"serve_waiting", float64(b.Waiting)},
		{"serve_model_seconds_total", b.Working.Seconds()},
		{"serve_latency_p50_seconds", p50.Seconds()}, {"serve_latency_p99_seconds", p99.Seconds()},
		{"torch_memory_allocated_bytes", float64(m.Allocated)}, {"torch_memory_reserved_bytes", float64(m.Reserved)},
		{"torch_memory_peak_bytes", float64(m.Peak)},
	} {
		fmt.Fprintf(w, "%s %g\n", f.name, f.value)
	}
}

// latencies keeps the times of the last requests.
type latencies struct {
	mu   sync.Mutex
	last [4096]time.Duration
	n    int
}

func (l *latencies) add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last[l.n%len(l.last)] = d
	l.n++
}

// quantiles gives the median, the 99th percentile and the number of all requests so far.
func (l *latencies) quantiles() (p50, p99 time.Duration, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := slices.Clone(l.last[:min(l.n, len(l.last))])
	if len(s) == 0 {
		return 0, 0, 0
	}
	slices.Sort(s)
	return s[len(s)/2], s[len(s)*99/100], l.n
}
