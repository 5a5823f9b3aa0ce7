package board

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// FuzzQuery asks the board anything. The answer is of the kind that its status says, and never a failure of the server.
func FuzzQuery(f *testing.F) {
	dir := f.TempDir()
	writeSample(f, dir)
	s := newServer(f, dir)
	endpoints := []string{"state", "scalars", "scalars.csv", "points", "image", "audio", "histograms", "text", "pr",
		"mesh",
		"graph", "hparams", "custom", "embeddings", "embedding", "sprite", "nothing"}
	for _, e := range endpoints {
		for _, q := range []string{"", "run=0&tag=loss",
			"runs=0,1&tag=loss&points=20&axis=wall&lo=1e3&hi=-inf&have=0:5:0",
			"run=1&i=0&step=3", "plugin=scalars&run=0&tag=loss&offset=-1&limit=99999999999", "boot=x&since=-1",
			"%zz=%"} {
			f.Add("/api/"+e, q)
		}
	}
	f.Fuzz(func(t *testing.T, path, query string) {
		w := ask(s, "/", func(r *http.Request) { r.URL = &url.URL{Path: path, RawQuery: query} })
		if w.Code >= 500 || w.Code < 200 {
			t.Fatalf("%d %.300s", w.Code, w.Body)
		}
		if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") && w.Code != http.StatusNotModified &&
			w.Header().Get("Content-Encoding") == "" && !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%d: not JSON: %.300s", w.Code, w.Body)
		}
		if w.Body.Len() > 32<<20 {
			t.Fatalf("an answer of %d bytes", w.Body.Len())
		}
	})
}

// FuzzProjection reads tables of points and of labels as the projector's page does.
func FuzzProjection(f *testing.F) {
	f.Add([]byte("1\t2\n3\t4\n-1\t0.5\n"), []byte("a\nb\nc\n"))
	f.Add([]byte("1e300\tnan\t\r\n\n inf\t1\tx\n"), []byte("name\tkind\na\t1\nb\n\xff\t2\n"))
	f.Fuzz(func(t *testing.T, table, labels []byte) {
		if len(table) > 1<<14 {
			return // projecting many dimensions takes a while
		}
		p := &projection{Header: []string{}, Labels: [][]string{}}
		rows, err := p.read(bytes.NewReader(table))
		if err != nil {
			return
		}
		p.readLabels(bytes.NewReader(labels))
		p.project(rows)
		if len(rows) != p.Rows || len(p.Index) != p.Rows || len(p.Labels) > p.Rows || p.Rows > p.Total {
			t.Fatalf("%d rows, %d of %d, %d labels", len(rows), p.Rows, p.Total, len(p.Labels))
		}
		for _, r := range rows {
			if len(r) != p.Dims {
				t.Fatalf("a row of %d numbers, %d dimensions", len(r), p.Dims)
			}
		}
		if b, err := marshal(p); err != nil || !json.Valid(b) {
			t.Fatalf("not JSON: %v", err)
		}
	})
}
