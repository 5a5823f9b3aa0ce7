package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/serve"
)

const maxBody = 64 << 20 // bytes of a request

// server answers requests with a model of one input and one output.
type server struct {
	http.ServeMux
	batcher *serve.Batcher
	in, out graph.Port
	timeout time.Duration
}

// tensorJSON is a tensor in a request or an answer.
type tensorJSON struct {
	Shape []int     `json:"shape"`
	Data  []float32 `json:"data"`
}

func newServer(m graph.Model, batch, queue int, timeout time.Duration) (*server, error) {
	if len(m.Inputs()) != 1 || len(m.Outputs()) != 1 {
		return nil, fmt.Errorf("the model has %d inputs and %d outputs, expected one each", len(m.Inputs()),
			len(m.Outputs()))
	}
	s := &server{in: m.Inputs()[0], out: m.Outputs()[0], timeout: timeout}
	if s.in.DType != torch.Float32 || s.in.AnyShape || len(s.in.Shape) == 0 {
		return nil, fmt.Errorf("the input is %s, expected float32 with a batch as its first dimension", s.in)
	}
	if d := s.in.Shape[0]; d.Name == "" && d.Size >= 0 {
		batch = d.Size // the model takes batches of one size only
		if batch != 1 {
			return nil, fmt.Errorf("the input is %s, expected an open first size, or 1", s.in)
		}
	}
	s.batcher = serve.New(func(x *torch.Tensor) *torch.Tensor {
		out, err := m.Run(context.Background(), map[string]*torch.Tensor{s.in.Name: x})
		if err != nil {
			panic(asTorch(err))
		}
		return out[s.out.Name]
	}, serve.Options{MaxBatch: torch.Some(batch), Queue: torch.Some(queue)})
	s.HandleFunc("POST /predict", s.predict)
	s.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "alive") })
	s.HandleFunc("GET /model", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]any{"input": s.in.String(), "output": s.out.String(), "metadata": m.Metadata()})
	})
	return s, nil
}

// asTorch is the error of an operator inside err, which is what package serve expects of a model.
func asTorch(err error) *torch.Error {
	if e, ok := errors.AsType[*torch.Error](err); ok {
		return e
	}
	return &torch.Error{Msg: err.Error(), Err: err}
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (s *server) predict(w http.ResponseWriter, r *http.Request) {
	var in tensorJSON
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := s.check(in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.timeout)
	defer cancel()
	y, err := s.batcher.Do(ctx, torch.FromSlice(in.Data, in.Shape...))
	switch {
	case errors.Is(err, serve.ErrBusy) || errors.Is(err, serve.ErrClosed):
		w.Header().Set("Retry-After", "1")
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	case errors.Is(err, context.DeadlineExceeded):
		http.Error(w, err.Error(), http.StatusGatewayTimeout)
	case errors.Is(err, context.Canceled): // nobody reads an answer
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		reply(w, tensorJSON{y.Shape(), torch.Data[float32](y.Float().Contiguous())})
	}
}

// check compares a row with the input's shape without its first size.
func (s *server) check(in tensorJSON) error {
	n := 1
	ok := len(in.Shape) == len(s.in.Shape)-1
	for i, d := range in.Shape {
		if d < 0 || d > maxBody || n > maxBody/max(d, 1) {
			ok = false
			break
		}
		n *= d
		if ok {
			want := s.in.Shape[i+1]
			ok = want.Name != "" || want.Size < 0 || want.Size == d
		}
	}
	if !ok || n != len(in.Data) {
		return fmt.Errorf("a row of shape %v with %d numbers, expected one of %s without the first size", in.Shape,
			len(in.Data), s.in)
	}
	return nil
}
