package board_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/gotorch-dev/torch/tensorboard"
	"github.com/gotorch-dev/torch/tensorboard/board"
)

func ExampleNew() {
	dir, err := os.MkdirTemp("", "runs")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	w, err := tensorboard.NewSummaryWriter(dir)
	if err != nil {
		panic(err)
	}
	_ = w.AddScalar("loss", 0.5, 1)
	if err := w.Close(); err != nil {
		panic(err)
	}

	s, err := board.New(dir, board.Options{})
	if err != nil {
		panic(err)
	}
	// Usually: http.ListenAndServe("127.0.0.1:6006", s)
	if err := s.Wait(); err != nil {
		panic(err)
	}
	r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
	page := httptest.NewRecorder()
	s.ServeHTTP(page, r)
	fmt.Println(page.Code, page.Header().Get("Content-Type"))
	// Output: 200 text/html; charset=utf-8
}
