package board

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// browser speaks the WebDriver protocol: plain HTTP with JSON.
type browser struct {
	t       *testing.T
	session string
}

// startBrowser starts a headless Chromium with an empty profile, or skips.
func startBrowser(t *testing.T, dark bool) *browser {
	t.Helper()
	driver, err1 := exec.LookPath("chromedriver")
	var chrome string
	var err2 error
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if chrome, err2 = exec.LookPath(name); err2 == nil {
			break
		}
	}
	if err1 != nil || err2 != nil {
		t.Skip("needs chromium and chromedriver")
	}
	profile, err := os.MkdirTemp("", "board-browser")
	if err != nil {
		t.Skip(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, driver, fmt.Sprintf("--port=%d", port))
	if err := cmd.Start(); err != nil {
		cancel()
		t.Skip(err)
	}
	b := &browser{t: t}
	t.Cleanup(func() {
		if b.session != "" {
			_, _ = b.try(http.MethodDelete, "", nil)
		}
		cancel()
		_ = cmd.Wait()
		// The browser's processes end a moment after it has answered.
		for range 50 {
			if os.RemoveAll(profile) == nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	base := fmt.Sprintf("http://127.0.0.1:%d", port)
	for range 100 {
		r, err := http.Get(base + "/status")
		if err == nil {
			r.Body.Close()
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	args := []string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--window-size=1440,900",
		"--user-data-dir=" + profile}
	if dark {
		args = append(args, "--force-dark-mode")
	}
	b.session = base
	v, err := b.try(http.MethodPost, "/session",
		map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
			"goog:chromeOptions": map[string]any{"binary": chrome, "args": args},
			"goog:loggingPrefs":  map[string]string{"browser": "ALL"},
		}}})
	if err != nil {
		b.session = ""
		t.Skipf("the browser does not start: %v", err)
	}
	b.session = base + "/session/" + v.(map[string]any)["sessionId"].(string)
	return b
}

func (b *browser) try(method, path string, body any) (any, error) {
	var r io.Reader
	if method == http.MethodPost {
		if body == nil {
			body = struct{}{}
		}
		j, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		r = bytes.NewReader(j)
	}
	q, err := http.NewRequest(method, b.session+path, r)
	if err != nil {
		return nil, err
	}
	resp, err := (&http.Client{Timeout: 60 * time.Second}).Do(q)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var v struct{ Value any }
	if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
		return nil, err
	}
	if m, ok := v.Value.(map[string]any); ok && m["error"] != nil {
		return nil, errors.New(fmt.Sprint(m["error"], ": ", m["message"]))
	}
	return v.Value, nil
}

func (b *browser) do(method, path string, body any) any {
	b.t.Helper()
	v, err := b.try(method, path, body)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

func (b *browser) open(url string) { b.do(http.MethodPost, "/url", map[string]string{"url": url}) }

// js runs the body of a function.
func (b *browser) js(body string, args ...any) any {
	b.t.Helper()
	if args == nil {
		args = []any{}
	}
	return b.do(http.MethodPost, "/execute/sync", map[string]any{"script": body, "args": args})
}

// wait waits until an expression is true.
func (b *browser) wait(expr string) {
	b.t.Helper()
	for range 150 {
		if b.js("return Boolean("+expr+")") == true {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	b.shot("failed")
	b.t.Fatalf("never became true: %s\nconsole: %v\npage: %.2000s", expr, b.console(),
		b.js("return document.body.innerText"))
}

// console returns the browser's messages since the last call.
func (b *browser) console() []string {
	v, err := b.try(http.MethodPost, "/se/log", map[string]string{"type": "browser"})
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range v.([]any) {
		m := e.(map[string]any)
		out = append(out, fmt.Sprint(m["level"], " ", m["message"]))
	}
	return out
}

// shot saves a picture if BOARD_SHOTS names a directory.
func (b *browser) shot(name string) {
	dir := os.Getenv("BOARD_SHOTS")
	if dir == "" {
		return
	}
	v, err := b.try(http.MethodGet, "/screenshot", nil)
	if err != nil {
		b.t.Log(err)
		return
	}
	png, err := base64.StdEncoding.DecodeString(v.(string))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
	}
	if err != nil {
		b.t.Log(err)
	}
}

func (b *browser) noErrors() {
	b.t.Helper()
	for _, m := range b.console() {
		if strings.HasPrefix(m, "SEVERE") {
			b.t.Errorf("console: %s", m)
		}
	}
}

func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a browser and half a minute")
	}
	b := startBrowser(t, false)
	dir := t.TempDir()
	s, err := New(dir, Options{Interval: 300 * time.Millisecond, Title: "Flowers <1>"})
	must(t, err)
	srv := httptest.NewServer(s)
	defer srv.Close()

	// An empty directory gets a page that waits.
	b.open(srv.URL)
	b.wait(`document.querySelector(".empty h2")?.textContent === "No data yet"`)
	b.shot("empty")
	writeSample(t, dir)
	b.wait(`document.querySelectorAll(".runlist li").length >= 9`)
	b.wait(`document.querySelectorAll(".card canvas").length >= 2`)

	// Curves, their values under the cursor.
	const chart = `document.querySelectorAll("article.card")`
	find := func(tag string) string {
		return fmt.Sprintf(`[...%s].find((c) => c.querySelector("h3").textContent === %q)`, chart, tag)
	}
	b.wait(find("loss/train"))
	b.js(find("loss/train") + `.scrollIntoView({block: "center"})`) // cards out of sight are not drawn
	b.wait(find("loss/train") + `.querySelector("canvas")`)
	time.Sleep(300 * time.Millisecond) // scrolling hides what is shown under the cursor
	b.js(`const c = ` + find("loss/train") + `;
		const o = c.querySelector(".u-over"), r = o.getBoundingClientRect();
		for (const t of ["mouseenter", "mousemove"]) o.dispatchEvent(new MouseEvent(t, {clientX: r.left + r.width / 2, clientY: r.top + r.height / 2, bubbles: true}));`)
	b.wait(`document.querySelector(".tip:not([hidden])")?.textContent.includes("lr=0.003")`)
	b.shot("scalars-hover")

	// Smoothing changes the picture.
	pixels := `(() => { const c = ` + find("loss/train") + `.querySelector("canvas"); return c.toDataURL(); })()`
	before := b.js("return " + pixels)
	b.js(`const r = document.getElementById("smoothing"); r.value = "0.95"; r.dispatchEvent(new Event("input", {bubbles: true}));`)
	b.wait(pixels + " !== " + quote(before.(string)))

	// The logarithmic axis, the keys, the zoom.
	b.js(find("loss/train") + `.querySelector("[aria-label^=Logarithmic]").click()`)
	b.wait(find("loss/train") + `.querySelector("[aria-label^=Logarithmic]").getAttribute("aria-pressed") === "true"`)
	b.js(`const p = ` + find("loss/train") +
		`.querySelector(".plot"); p.focus(); p.dispatchEvent(new KeyboardEvent("keydown", {key: "+", bubbles: true}));`)
	b.wait(`!` + find("loss/train") + `.querySelector("[aria-label^='Show all']").disabled`)
	b.js(`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "0", bubbles: true}))`)
	b.wait(find("loss/train") + `.querySelector("[aria-label^='Show all']").disabled`)
	for _, axis := range []string{"relative", "wall", "step"} {
		b.js(`document.querySelector(".seg [data-value=` + axis + `]").click()`)
		time.Sleep(200 * time.Millisecond)
		b.shot("axis-" + axis)
	}

	// Runs can be switched off, and filtered.
	drawn := b.js("return " + pixels)
	b.js(`[...document.querySelectorAll(".runlist li")].find((l) => l.textContent.includes("sgd/lr=0.1")).querySelector("input").click()`)
	b.wait(pixels + " !== " + quote(drawn.(string)))
	b.js(`const f = document.getElementById("runfilter"); f.value = "adam"; f.dispatchEvent(new Event("input", {bubbles: true}));`)
	b.wait(`document.querySelectorAll(".runlist li").length === 4`)
	b.js(`const f = document.getElementById("runfilter"); f.value = ""; f.dispatchEvent(new Event("input", {bubbles: true}));`)
	b.wait(`document.querySelectorAll(".runlist li").length === 9`)
	b.js(`document.querySelector(".runhead input").click()`)
	b.wait(`document.querySelector(".runhead .count").textContent.startsWith("9")`)

	// A running program's points arrive by themselves.
	w := writer(t, filepath.Join(dir, "live"))
	must(t, w.AddScalar("live/loss", 1, 0))
	must(t, w.Flush())
	b.wait(find("live/loss"))
	b.js(find("live/loss") + `.scrollIntoView({block: "center"})`)
	b.wait(find("live/loss") + `.querySelector("canvas")`)
	live := strings.ReplaceAll(pixels, "loss/train", "live/loss")
	was := b.js("return " + live)
	for i := range 20 {
		must(t, w.AddScalar("live/loss", 1/float64(i+2), int64(i+1)))
	}
	must(t, w.Flush())
	b.wait(live + " !== " + quote(was.(string)))
	must(t, w.Close())

	// Every page, and nothing hostile runs on any of them.
	for _, p := range []struct{ id, ready string }{
		{"scalars", `document.querySelectorAll(".card canvas").length > 1`},
		{"images", `document.querySelector(".imgbox img")?.naturalWidth === 96`},
		{"audio", `document.querySelector("audio")?.readyState > 0`},
		{"histograms", `document.querySelectorAll(".card canvas").length > 1`},
		{"text", `document.querySelectorAll(".md").length >= 3`},
		{"graph", `document.querySelectorAll(".node").length > 4`},
		{"pr", `document.querySelector(".card canvas")`},
		{"hparams", `document.querySelectorAll(".hp tbody tr").length === 4`},
		{"embeddings", `document.querySelector(".panel h3")?.textContent.includes("features")`},
		{"mesh", `(() => {
			const shown = [...document.querySelectorAll(".meshbox canvas")].filter((c) => new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer).filter((v) => v).length > 2000);
			return shown.length === 2 && document.querySelector("main").innerText.includes("1,200 vertices, 2,304 faces"); })()`},
		{"custom", `document.querySelectorAll(".card canvas").length >= 3`},
	} {
		b.wait(`document.getElementById("tab-` + p.id + `")`) // it comes with the first data of its kind
		b.js(`document.getElementById("tab-` + p.id + `").click()`)
		b.wait(`document.querySelector("#tab-` + p.id + `").getAttribute("aria-selected") === "true"`)
		b.wait(p.ready)
		time.Sleep(400 * time.Millisecond)
		b.shot(p.id)
		if p.id == "hparams" {
			b.js(`document.querySelector(".seg [data-value=parallel]").click()`)
			b.wait(`document.querySelectorAll(".pc .line").length === 4`)
			b.shot("hparams-parallel")
			b.js(`document.querySelector(".seg [data-value=table]").click()`)
		}
		if p.id == "histograms" {
			b.js(`document.querySelector(".seg [data-value=overlay]").click()`)
			time.Sleep(300 * time.Millisecond)
			b.shot("histograms-overlay")
			b.js(`document.querySelector(".seg [data-value=offset]").click()`)
		}
		if p.id == "graph" {
			b.js(`[...document.querySelectorAll(".toolbar .link")].find((x) => x.textContent === "Open all").click(); document.querySelector(".node").dispatchEvent(new MouseEvent("click", {bubbles: true}))`)
			time.Sleep(200 * time.Millisecond)
			b.shot("graph-open")
		}
		if p.id == "embeddings" {
			b.js(`[...document.querySelectorAll(".seg button")].find((x) => x.dataset.value === "tsne").click()`)
			b.wait(`document.querySelector(".panel").textContent.includes("step 700 of 700")`)
			b.shot("embeddings-tsne")
			b.js(`[...document.querySelectorAll(".seg button")].find((x) => x.dataset.value === "pca").click()`)
			b.wait(`document.querySelector(".panel").textContent.includes("% of the variance")`)
		}
		if p.id == "text" {
			got := b.js(`return {scripts: document.querySelectorAll(".md script, .md img, .md iframe, .md [onerror], .md [onclick]").length,
				links: [...document.querySelectorAll(".md a")].map((a) => a.protocol), tables: document.querySelectorAll(".md table").length}`).(map[string]any)
			if got["scripts"] != 0.0 || got["tables"] != 2.0 {
				t.Errorf("rendered text: %v", got)
			}
			for _, l := range got["links"].([]any) {
				if l != "http:" && l != "https:" {
					t.Errorf("a link with %v", l)
				}
			}
		}
		if title := b.js("return document.title"); title != "Flowers <1> – GoTorch Board" {
			t.Fatalf("%s: the title became %q", p.id, title)
		}
		b.js(`document.documentElement.dataset.theme = "dark"; document.querySelector("[aria-label='Dark or light']").click(); document.querySelector("[aria-label='Dark or light']").click()`)
		time.Sleep(300 * time.Millisecond)
		b.shot(p.id + "-dark")
		b.js(`document.querySelector("[aria-label='Dark or light']").click()`)
	}
	b.noErrors()

	// The policy forbids what is not from here, should anything slip through.
	if v := b.js(`const s = document.createElement("script"); try { s.textContent = "document.title = 'owned'"; document.head.append(s); } catch { return "refused"; } return document.title;`); v == "owned" {
		t.Error("an inline script ran")
	}
}

func quote(s string) string { b, _ := json.Marshal(s); return string(b) }

func TestBrowserManyPoints(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a browser")
	}
	b := startBrowser(t, true)
	dir := t.TempDir()
	for r := range 100 {
		w := writer(t, filepath.Join(dir, fmt.Sprintf("run%02d", r)))
		for i := range 10000 {
			must(t, w.AddScalar("loss", 100/float64(r+10)+math.Sin(float64(i)/300)/float64(r+3), int64(i)))
		}
		must(t, w.Close())
	}
	s, err := New(dir, Options{Interval: time.Second})
	must(t, err)
	must(t, s.Wait())
	srv := httptest.NewServer(s)
	defer srv.Close()
	start := time.Now()
	b.open(srv.URL)
	b.wait(`document.querySelector(".card canvas")`)
	t.Logf("drawn after %v", time.Since(start))
	// Moving the slider draws a frame each time.
	ms := b.js(`const r = document.getElementById("smoothing"), t = performance.now();
		const c = document.querySelector("article.card").card;
		for (let i = 0; i < 10; i++) { r.value = String(i / 10); r.dispatchEvent(new Event("input")); c.render(); }
		return (performance.now() - t) / 10;`).(float64)
	t.Logf("%.1f ms a frame", ms)
	// Zooming brings back the points that were left out.
	b.js(`document.querySelector("article.card").card.chart.setZoom([2000, 2400])`)
	b.wait(`(() => { const c = document.querySelector("article.card").card, x = c.chart.curves.find((c) => c.hover).xs; return x.filter((v) => v >= 2000 && v <= 2400).length > 300; })()`)
	b.shot("many-runs-zoomed")
	if ms > 500 {
		t.Errorf("a redraw of 100 runs takes %.0f ms", ms)
	}
	b.shot("many-runs")
	b.noErrors()
}
