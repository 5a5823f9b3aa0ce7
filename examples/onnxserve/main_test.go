package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/onnx"
)

// model is y = relu(x) for x of shape size, 2; size is open where it is 0.
func model(t *testing.T, size int64) *onnx.Model {
	t.Helper()
	first := onnxpb.Dim{Value: size}
	if size == 0 {
		first = onnxpb.Dim{Value: -1, Param: "N"}
	}
	port := func(name string) []onnxpb.Info {
		return []onnxpb.Info{{Name: name, Type: &onnxpb.Type{Kind: onnxpb.KindTensor, DataType: onnxpb.Float,
			HasShape: true, Shape: []onnxpb.Dim{first, {Value: 2}}}}}
	}
	b := (&onnxpb.Model{Opsets: []onnxpb.Opset{{Version: 17}},
		Graph: &onnxpb.Graph{Inputs: port("x"), Outputs: port("y"),
			Nodes: []*onnxpb.Node{{Op: "Relu", Inputs: []string{"x"}, Outputs: []string{"y"}}}}}).Bytes()
	m, err := onnx.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func post(url, body string) (int, string) {
	r, err := http.Post(url+"/predict", "application/json", strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	defer r.Body.Close()
	b, _ := io.ReadAll(r.Body)
	return r.StatusCode, string(b)
}

// TestServe asks from many goroutines, sends mistakes, and ends the server.
func TestServe(t *testing.T) {
	for _, size := range []int64{0, 1} {
		s, err := newServer(model(t, size), 4, 64, 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", "localhost:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- s.serve(ctx, l) }()
		url := "http://" + l.Addr().String()
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				want := fmt.Sprintf(`{"shape":[2],"data":[%d,0]}`, i+1)
				if code, got := post(url, fmt.Sprintf(`{"shape": [2], "data": [%d, -1]}`, i+1)); code != 200 ||
					strings.TrimSpace(got) != want {
					t.Errorf("got %d %s, want %s", code, got, want)
				}
			})
		}
		wg.Wait()
		for _, bad := range []string{`{`, `{"shape": [3], "data": [1, 2, 3]}`, `{"shape": [2], "data": [1]}`,
			`{"shape": [9223372036854775807, 2], "data": []}`} {
			if code, got := post(url, bad); code != http.StatusBadRequest {
				t.Errorf("%s: got %d %s", bad, code, got)
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if _, err := newServer(model(t, 3), 4, 64, time.Second); err == nil {
		t.Error("a model for batches of 3 was taken")
	}
}
