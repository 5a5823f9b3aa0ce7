package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"time"
)

// loadTest runs the service in this process and asks it from clients that send one request after the other.
func loadTest(ctx context.Context, s *server, clients int, length time.Duration) error {
	if err := s.warmUp(); err != nil {
		return err
	}
	h := httptest.NewServer(s)
	defer func() {
		h.Close()
		s.batcher.Close()
	}()
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	body := noise(s.size)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	var took latencies
	errs := make([]error, clients)
	before := s.batcher.Stats()
	start := time.Now()
	var wg sync.WaitGroup
	for i := range clients {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for ctx.Err() == nil && errs[i] == nil {
				t := time.Now()
				if errs[i] = ask(client, h.URL+"/predict", body); errs[i] == nil {
					took.add(time.Since(t))
				}
			}
		}()
	}
	wg.Wait()
	spent := time.Since(start)
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	after := s.batcher.Stats()
	p50, p99, n := took.quantiles()
	if n == 0 || after.Batches == before.Batches {
		return fmt.Errorf("no request was answered in %v", length)
	}
	fmt.Printf("clients %d, requests/s %.1f, p50 %.1f ms, p99 %.1f ms, mean batch %.1f, peak RSS %s\n", clients,
		float64(n)/spent.Seconds(), ms(p50), ms(p99),
		float64(after.Requests-before.Requests)/float64(after.Batches-before.Batches), peakRSS())
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// ask sends one picture.
func ask(c *http.Client, url string, body []byte) error {
	r, err := c.Post(url, "image/png", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", r.Status, text)
	}
	return err
}

// noise is a picture in PNG.
func noise(size int) []byte {
	rnd := rand.New(rand.NewSource(1))
	img := image.NewRGBA(image.Rect(0, 0, size, size))
	for y := range size {
		for x := range size {
			img.Set(x, y, color.RGBA{uint8(rnd.Intn(256)), uint8(x), uint8(y), 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
}

// peakRSS is the most memory that the process has had, where the system tells.
func peakRSS() string {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			return strings.TrimSpace(v)
		}
	}
	return "unknown"
}
