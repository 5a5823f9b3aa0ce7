package board

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gotorch-dev/torch/tensorboard"
)

// newServer is a board that looks for new data at every request.
func newServer(t testing.TB, dir string) *Server {
	t.Helper()
	s, err := New(dir, Options{Interval: -time.Second, ErrorLog: log.New(io.Discard, "", 0)})
	must(t, err)
	must(t, s.Wait())
	return s
}

func ask(s http.Handler, path string, set ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = "127.0.0.1:6006"
	for _, f := range set {
		f(r)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func header(k, v string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(k, v) }
}

func askJSON[T any](t testing.TB, s http.Handler, path string, args url.Values) T {
	t.Helper()
	w := ask(s, path+"?"+args.Encode())
	var v T
	if w.Code != http.StatusOK {
		t.Fatalf("%s?%s: %d %s", path, args.Encode(), w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("%s: %v in %.300s", path, err, w.Body)
	}
	return v
}

func runID(t testing.TB, s http.Handler, name string) string {
	t.Helper()
	for _, r := range askJSON[stateReply](t, s, "/api/state", nil).Runs {
		if r.Name == name {
			return fmt.Sprint(r.ID)
		}
	}
	t.Fatalf("no run %q", name)
	return ""
}

func TestNewErrors(t *testing.T) {
	if _, err := New(filepath.Join(t.TempDir(), "none"), Options{}); err == nil ||
		!strings.Contains(err.Error(), "does not exist") {
		t.Errorf("missing directory: %v", err)
	}
	if _, err := New("", Options{}); err == nil {
		t.Error("an empty name is taken")
	}
}

func TestWhoMayAsk(t *testing.T) {
	s, err := New(t.TempDir(), Options{Hosts: []string{"trainer.example.org"}})
	must(t, err)
	must(t, s.Wait())
	for host, ok := range map[string]bool{
		"127.0.0.1:6006": true, "localhost:6006": true, "LOCALHOST": true, "[::1]:6006": true, "[::1]": true,
		"192.168.1.7:80":           true,
		"trainer.example.org:6006": true, "Trainer.Example.Org.": true,
		"evil.example": false, "evil.example:6006": false, "localhost.evil.example": false,
		"127.0.0.1.evil.example": false, "": false,
	} {
		for _, path := range []string{"/", "/api/state"} {
			w := ask(s, path, func(r *http.Request) { r.Host = host })
			if (w.Code == http.StatusOK) != ok {
				t.Errorf("Host %q, %s: %d", host, path, w.Code)
			}
		}
	}
	for _, c := range []struct {
		path string
		set  []func(*http.Request)
		ok   bool
	}{
		{"/api/state", []func(*http.Request){header("Origin", "http://127.0.0.1:6006")}, true},
		{"/api/state", []func(*http.Request){header("Origin", "http://127.0.0.1:7000")}, false},
		{"/api/state", []func(*http.Request){header("Origin", "https://evil.example")}, false},
		{"/api/state", []func(*http.Request){header("Origin", "null")}, false},
		{"/api/state", []func(*http.Request){header("Sec-Fetch-Site", "same-origin")}, true},
		{"/api/state", []func(*http.Request){header("Sec-Fetch-Site", "cross-site")}, false},
		{"/api/state", []func(*http.Request){header("Sec-Fetch-Site", "cross-site"),
			header("Sec-Fetch-Mode", "navigate"), header("Sec-Fetch-Dest", "document")}, false},
		{"/", []func(*http.Request){header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "navigate"),
			header("Sec-Fetch-Dest", "document")}, true},
		{"/", []func(*http.Request){header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "navigate"),
			header("Sec-Fetch-Dest", "iframe")}, false},
		{"/", []func(*http.Request){func(r *http.Request) { r.Method = http.MethodPost }}, false},
		{"/api/state", []func(*http.Request){func(r *http.Request) { r.Method = http.MethodDelete }}, false},
	} {
		if w := ask(s, c.path, c.set...); (w.Code == http.StatusOK) != c.ok {
			t.Errorf("%+v: %d %s", c, w.Code, w.Body)
		}
	}
}

func TestHeaders(t *testing.T) {
	s := newServer(t, t.TempDir())
	for _, p := range []string{"/", "/app.js", "/api/state", "/nothing"} {
		w := ask(s, p)
		policy := w.Header().Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", p, policy)
		}
		if w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: no nosniff", p)
		}
	}
	page := ask(s, "/").Body.String()
	for _, bad := range []string{"<script>", "onload=", "onclick=", "style=", "http://", "https://"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
}

func TestStatic(t *testing.T) {
	s := newServer(t, t.TempDir())
	w := ask(s, "/app.js")
	etag := w.Header().Get("ETag")
	if w.Code != http.StatusOK || etag == "" || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/javascript") {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	plain := w.Body.Bytes()
	if w := ask(s, "/app.js", header("If-None-Match", etag)); w.Code != http.StatusNotModified || w.Body.Len() > 0 {
		t.Errorf("with the ETag: %d", w.Code)
	}
	w = ask(s, "/app.js", header("Accept-Encoding", "br, gzip"))
	z, err := gzip.NewReader(w.Body)
	must(t, err)
	if b, err := io.ReadAll(z); err != nil || !bytes.Equal(b, plain) {
		t.Errorf("compressed: %v", err)
	}
	if w := ask(s, "/app.js", header("Accept-Encoding", "gzip;q=0")); w.Header().Get("Content-Encoding") != "" {
		t.Error("compressed although the client refuses that")
	}
}

// Nothing outside the page's own files is served, and no answer names a path.
func TestTraversalAndLeaks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "secretplace")
	w := writer(t, filepath.Join(dir, "run"))
	must(t, w.AddScalar("a", 1, 0))
	must(t, w.AddHistogram("h", tensorboard.Of([]float64{1, 2}), 0))
	must(t, w.AddImage("img", tensorboard.Of([]uint8{1, 2, 3, 4}, 1, 2, 2), 0))
	must(t, w.Close())
	must(t, os.WriteFile(filepath.Join(dir, "private.txt"), []byte("private words"), 0o600))
	// An embedding whose file is a link out of the run, and one that is missing.
	must(t, os.WriteFile(filepath.Join(dir, "run", "projector_config.pbtxt"),
		[]byte(`embeddings { tensor_name: "x" tensor_path: "link.tsv" metadata_path: "link.tsv" sprite { image_path: "link.tsv" single_image_dim: 1 single_image_dim: 1 } } embeddings { tensor_name: "y" tensor_path: "none.tsv" }`), 0o600))
	if err := os.Symlink(filepath.Join(dir, "private.txt"), filepath.Join(dir, "run", "link.tsv")); err != nil {
		t.Log(err)
	}
	s := newServer(t, dir)
	id := runID(t, s, "run")
	// Damage what was read, so that reading it again fails.
	files, err := filepath.Glob(filepath.Join(dir, "run", "*tfevents*"))
	must(t, err)
	for _, f := range files {
		b, err := os.ReadFile(f)
		must(t, err)
		for i := range b {
			b[i] ^= 0x55
		}
		must(t, os.WriteFile(f, b, 0o600))
	}
	for _, p := range []string{
		"/../private.txt", "/..%2fprivate.txt", "/static/index.html", "/%2e%2e/%2e%2e/etc/passwd",
		"/vendor/../../server.go", "/board.go", "//etc/passwd",
		"/api/../private.txt", "/api/image?run=" + id +
			"&tag=../private.txt", "/api/image?run=../..&tag=a", "/api/image?run=-1&tag=img",
		"/api/image?run=99999999999999999999&tag=img", "/api/image?run=" + id + "&tag=img", "/api/image?run=" + id +
			"&tag=img&i=x",
		"/api/histograms?run=" + id + "&tag=h", "/api/scalars?tag=none&runs=" +
			id, "/api/scalars?tag=a&runs=7", "/api/scalars?tag=a&runs=0&have=1",
		"/api/scalars?tag=a&runs=0&axis=z", "/api/scalars?tag=a&runs=0&lo=x", "/api/text?run=" + id +
			"&tag=a", "/api/graph?run=" + id, "/api/points?plugin=scalars&run=0&tag=a",
		"/api/embedding?run=" + id + "&i=0", "/api/embedding?run=" + id + "&i=1", "/api/embedding?run=" + id +
			"&i=2", "/api/sprite?run=" + id + "&i=0", "/api/nothing", "/api/",
	} {
		w := ask(s, "/", func(r *http.Request) {
			path, query, _ := strings.Cut(p, "?")
			plain, err := url.PathUnescape(path)
			must(t, err)
			r.URL.Path, r.URL.RawQuery = plain, query
		})
		body := w.Body.String()
		if w.Code < 300 {
			t.Errorf("%s: %d %.100s", p, w.Code, body)
		}
		for _, leak := range []string{"secretplace", "private words", "root:", dir, "tfevents", "no such file"} {
			if strings.Contains(body, leak) || strings.Contains(fmt.Sprint(w.Header()), leak) {
				t.Errorf("%s tells %q: %s %v", p, leak, body, w.Header())
			}
		}
	}
	if body := ask(s, "/api/state").Body.String(); strings.Contains(body, "secretplace") {
		t.Errorf("the state tells where the logs are: %s", body)
	}
}

func TestSample(t *testing.T) {
	v := make([]float64, 100000)
	for i := range v {
		v[i] = math.Sin(float64(i) / 5000)
	}
	v[12345], v[54321], v[70000] = 99, -99, math.NaN()
	idx := sample(v, 500)
	if len(idx) > 502 || len(idx) < 400 || idx[0] != 0 || idx[len(idx)-1] != len(v)-1 {
		t.Errorf("%d points from %d to %d", len(idx), idx[0], idx[len(idx)-1])
	}
	if !slices.IsSorted(idx) || len(slices.Compact(slices.Clone(idx))) != len(idx) {
		t.Error("points are out of order or twice")
	}
	for _, must := range []int{12345, 54321, 70000} {
		if !slices.Contains(idx, must) {
			t.Errorf("point %d is gone", must)
		}
	}
	if sample(v[:500], 500) != nil {
		t.Error("a short curve is thinned out")
	}
	for n := range 20 { // tiny curves
		for want := 4; want < 12; want++ {
			if got := sample(v[:n], want); got != nil &&
				(got[0] != 0 || got[len(got)-1] != n-1 || len(got) > want+want/2) {
				t.Errorf("sample of %d to %d: %v", n, want, got)
			}
		}
	}
}

type series struct {
	Series []struct {
		Run, N, From, Purged int
		I                    []int
		Step                 []int64
		Value                []any
	}
}

func TestScalarsLive(t *testing.T) {
	dir := t.TempDir()
	w := writer(t, filepath.Join(dir, "a"))
	for i := range 5000 {
		must(t, w.AddScalar("loss", float64(i), int64(i)))
	}
	must(t, w.Flush())
	s := newServer(t, dir)
	first := askJSON[stateReply](t, s, "/api/state", nil)
	get := func(more url.Values) series {
		q := url.Values{"tag": {"loss"}, "runs": {"0"}, "points": {"200"}}
		for k, v := range more {
			q[k] = v
		}
		return askJSON[series](t, s, "/api/scalars", q)
	}
	all := get(nil).Series[0]
	if all.N != 5000 || len(all.Step) > 202 || len(all.I) != len(all.Step) || all.Step[len(all.Step)-1] != 4999 {
		t.Fatalf("%d points, %d sent", all.N, len(all.Step))
	}
	// Nothing new: nothing sent, neither of the state nor of the curve.
	state := func() stateReply {
		return askJSON[stateReply](t, s, "/api/state",
			url.Values{"boot": {first.Boot}, "since": {fmt.Sprint(first.Version)}})
	}
	if r := state(); len(r.Runs) != 0 || r.Version != first.Version {
		t.Errorf("nothing is new, but: %+v", r)
	}
	have := url.Values{"have": {"0:5000:0"}}
	if r := get(have); len(r.Series) != 0 {
		t.Errorf("nothing is new, but: %+v", r)
	}
	// Three more points are sent alone.
	for i := range 3 {
		must(t, w.AddScalar("loss", math.Inf(i-1), int64(5000+i)))
	}
	must(t, w.AddScalar("loss", math.NaN(), 5003))
	must(t, w.Flush())
	if r := state(); len(r.Runs) != 1 || r.Runs[0].Tags["scalars"][0].N != 5004 {
		t.Errorf("the run changed, but: %+v", r)
	}
	more := get(have).Series[0]
	if more.From != 5000 || more.N != 5004 || !slices.Equal(more.Step, []int64{5000, 5001, 5002, 5003}) ||
		fmt.Sprint(more.Value) != "[-Infinity Infinity Infinity NaN]" {
		t.Errorf("new points: %+v", more)
	}
	// A stretch comes at full detail, with a neighbour at either side.
	part := get(url.Values{"lo": {"100"}, "hi": {"150"}}).Series[0]
	if len(part.Step) != 53 || part.Step[0] != 99 || part.I[0] != 99 {
		t.Errorf("part: %+v", part)
	}
	// After a restart from a checkpoint the client's points are void.
	must(t, w.Close())
	purge := int64(1000)
	w, err := tensorboard.NewSummaryWriter(filepath.Join(dir, "a"), tensorboard.SummaryWriterOptions{PurgeStep: &purge})
	must(t, err)
	must(t, w.AddScalar("loss", -1, 1000))
	must(t, w.Close())
	state()
	if r := get(url.Values{"have": {"0:5004:0"}}).Series[0]; r.From != 0 || r.N != 1001 || r.Purged == 0 {
		t.Errorf("after a restart: from %d, n %d, purged %d", r.From, r.N, r.Purged)
	}
	// Another server's numbers mean nothing here.
	if r := askJSON[stateReply](t, s, "/api/state", url.Values{"boot": {"other"}, "since": {"99"}}); len(r.Runs) != 1 {
		t.Errorf("another boot: %+v", r)
	}
}

func TestWaitsForDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	s, err := New(dir, Options{Interval: -1, AllowMissing: true})
	must(t, err)
	must(t, s.Wait())
	if r := askJSON[stateReply](t, s, "/api/state", nil); len(r.Runs) != 0 {
		t.Errorf("%+v", r)
	}
	w := writer(t, filepath.Join(dir, "x"))
	must(t, w.AddScalar("a", 1, 0))
	must(t, w.Close())
	if r := askJSON[stateReply](t, s, "/api/state", nil); len(r.Runs) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestEveryEndpoint(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a large sample")
	}
	dir := t.TempDir()
	writeSample(t, dir)
	s := newServer(t, dir)
	sgd, bad := runID(t, s, "sgd/lr=0.1"), runID(t, s, evilRun)
	at := func(run, tag string) url.Values { return url.Values{"run": {run}, "tag": {tag}} }
	type object = map[string]any

	h := askJSON[object](t, s, "/api/histograms", at(sgd, "fc1/weight"))
	for _, p := range h["points"].([]any) {
		sum := 0.0
		for _, c := range p.(object)["counts"].([]any) {
			sum += c.(float64)
		}
		if math.Abs(sum-3000) > 0.5 {
			t.Errorf("a histogram of 3000 values has %v", sum)
		}
	}
	w := ask(s, "/api/image?"+at(sgd, "samples/digits").Encode())
	if w.Header().Get("Content-Type") != "image/png" ||
		!strings.Contains(w.Header().Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("image: %d %v", w.Code, w.Header())
	}
	if w := ask(s, "/api/image?"+at(sgd, "samples/digits").Encode(),
		header("If-None-Match", w.Header().Get("ETag"))); w.Code != http.StatusNotModified {
		t.Errorf("image again: %d", w.Code)
	}
	w = ask(s, "/api/audio?"+at(sgd, "speech/sample").Encode(), header("Range", "bytes=0-3"))
	if w.Code != http.StatusPartialContent || w.Body.String() != "RIFF" ||
		w.Header().Get("Content-Type") != "audio/wave" {
		t.Errorf("audio: %d %v %q", w.Code, w.Header(), w.Body)
	}
	if g := askJSON[object](t, s, "/api/graph", url.Values{"run": {sgd}}); g["total"] != 14.0 {
		t.Errorf("graph of %v nodes", g["total"])
	}
	hp := askJSON[object](t, s, "/api/hparams", nil)
	if fmt.Sprint(hp["params"], hp["metrics"],
		len(hp["sessions"].([]any))) != "[batch lr optimizer] [hparam/accuracy hparam/loss] 4" {
		t.Errorf("hparams: %v", hp)
	}
	c := askJSON[struct{ Categories []categoryReply }](t, s, "/api/custom", nil)
	if len(c.Categories) != 1 || !slices.Equal(c.Categories[0].Charts[0].Tags,
		[]string{"loss/train", "loss/validation"}) {
		t.Errorf("custom: %+v", c)
	}
	if pr := askJSON[object](t, s, "/api/pr", at(sgd, "pr/cats")); len(pr["points"].([]any)) != 6 {
		t.Errorf("pr: %v", pr["n"])
	}
	type mesh struct {
		Step, Batch, Total int
		Vertices           []any
		Colors, Faces      []int
	}
	ball := askJSON[mesh](t, s, "/api/mesh", at(sgd, "shapes/sphere"))
	// without the wrong face
	if ball.Batch != 1 || ball.Total != 1200 || len(ball.Vertices) != 3600 || len(ball.Colors) != 3600 ||
		len(ball.Faces) != 3*2304 {
		t.Errorf("sphere: batch %d, total %d, %d coordinates, %d colours, %d corners", ball.Batch, ball.Total,
			len(ball.Vertices), len(ball.Colors), len(ball.Faces))
	}
	q := at(sgd, "shapes/cloud")
	q.Set("k", "1")
	dots := askJSON[mesh](t, s, "/api/mesh", q)
	if dots.Step != 10 || dots.Batch != 2 || dots.Total != 3000 || dots.Colors != nil || dots.Faces != nil {
		t.Errorf("cloud: %+v", dots)
	}
	q.Set("k", "0")
	q.Set("i", "0")
	if dots = askJSON[mesh](t, s, "/api/mesh", q); dots.Step != 0 || dots.Vertices[0] != "NaN" {
		t.Errorf("cloud at the first step: step %d, %v", dots.Step, dots.Vertices[0])
	}
	for _, bad := range []string{"k=2", "i=2", "i=x"} {
		if w := ask(s, "/api/mesh?"+at(sgd, "shapes/cloud").Encode()+"&"+bad); w.Code != http.StatusNotFound &&
			w.Code != http.StatusBadRequest {
			t.Errorf("mesh with %s: %d %s", bad, w.Code, w.Body)
		}
	}
	if p := askJSON[object](t, s, "/api/points",
		url.Values{"run": {sgd}, "tag": {"shapes/cloud"}, "plugin": {"mesh"}}); p["n"] != 2.0 {
		t.Errorf("points of the cloud: %v", p)
	}
	e := askJSON[projection](t, s, "/api/embedding", url.Values{"run": {sgd}})
	if e.Rows != 600 || e.Dims != 16 || len(e.Labels) != 600 || !slices.Equal(e.Header, []string{"class", "id"}) ||
		e.Labels[7][1] != "7" {
		t.Errorf("embedding: %d rows, %d dims, %v", e.Rows, e.Dims, e.Header)
	}
	if !slices.IsSortedFunc(e.Variance, func(a,
		b float64) int {
		return int(math.Copysign(1, b-a)) * boolInt(a != b)
	}) {
		t.Errorf("components out of order: %v", e.Variance)
	}
	// Hostile names come through whole, as JSON.
	v := askJSON[series](t, s, "/api/scalars", url.Values{"runs": {bad}, "tag": {evilTag}})
	if fmt.Sprint(v.Series[0].Value) != "[1 NaN Infinity 3]" {
		t.Errorf("%v", v)
	}
	w = ask(s, "/api/scalars.csv?"+at(bad, evilTag).Encode())
	if d := w.Header().Get("Content-Disposition"); w.Code != http.StatusOK || strings.Count(d, `"`) != 2 ||
		strings.ContainsAny(d, "<>'\r\n") {
		t.Errorf("csv: %d %s", w.Code, d)
	}
	if lines := strings.Split(strings.TrimSpace(w.Body.String()), "\r\n"); len(lines) != 5 ||
		!strings.HasSuffix(lines[4], ",3,3") {
		t.Errorf("csv: %q", lines)
	}
	if w := ask(s, "/api/text?"+at(bad, evilTag+"/text_summary").Encode()); strings.Contains(w.Body.String(),
		"\\u003cscript") || strings.Contains(w.Body.String(), "javascript:") {
		t.Errorf("text: %s", w.Body)
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestMarkdown(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"**a** _b_", "<p><strong>a</strong> <em>b</em></p>\n"},
		{"<img src=x onerror=alert(1)>", ""},
		{"a <b onclick=x()>c</b>", "<p>a c</p>\n"},
		{"[x](javascript:alert(1))", "<p>x</p>\n"},
		{"[x](JaVaScRiPt&colon;alert(1))", "<p>x</p>\n"},
		{"[x](data:text/html,x)", "<p>x</p>\n"},
		{"[x](vbscript:x)", "<p>x</p>\n"},
		{"[x](/api/state)", "<p>x</p>\n"},
		{"[x](https://e.com/)", `<p><a href="https://e.com/" rel="nofollow noreferrer noopener" target="_blank">x</a></p>` + "\n"},
		{"![p](http://e.com/i.png)", `<p><a href="http://e.com/i.png" rel="nofollow noreferrer noopener" target="_blank">p</a></p>` + "\n"},
		{"![](javascript:x)", "<p>image</p>\n"},
		{"<script>x</script>", ""},
		{"| a |\n|--:|\n| 1 |", "<table>\n<thead>\n<tr>\n<th align=\"right\">a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td align=\"right\">1</td>\n</tr>\n</tbody>\n</table>\n"},
		{"`<b>`", "<p><code>&lt;b&gt;</code></p>\n"},
	} {
		got := renderMarkdown(c.in)
		if strings.TrimSpace(got) != strings.TrimSpace(c.want) {
			t.Errorf("%q:\n got %q\nwant %q", c.in, got, c.want)
		}
	}
	if got := renderTexts([]int64{2, 2}, []string{"a", "b", "<c>", "d"}); strings.Count(got, "<tr>") != 2 ||
		strings.Contains(got, "<c>") {
		t.Errorf("table: %s", got)
	}
	long := renderMarkdown(strings.Repeat("é", maxMarkdown))
	if !strings.Contains(long, "too long") {
		t.Error("a long text is not cut")
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add(evilText)
	f.Add("[a](<javascript:x>) <svg/onload=x> ![b](x \"y\")")
	f.Fuzz(func(t *testing.T, s string) {
		got := strings.ToLower(renderMarkdown(s))
		for _, bad := range []string{"<script", "<img", "<iframe", "<svg", "<style", `href="javascript`, `href="data`} {
			if strings.Contains(got, bad) {
				t.Errorf("%q gives %q", s, got)
			}
		}
	})
}

func TestRebin(t *testing.T) {
	b := []tensorboard.Bucket{{Left: 0, Right: 1, Count: 4}, {Left: 1, Right: 3, Count: 2},
		{Left: 3, Right: 3, Count: 1}, {Left: math.Inf(-1), Right: 0, Count: 9}}
	if got := rebin(b, 0, 4, 4); !slices.Equal(got, numbers{4, 1, 1, 1}) {
		t.Errorf("%v", got)
	}
	if got := rebin([]tensorboard.Bucket{{Left: -math.MaxFloat64, Right: math.MaxFloat64, Count: 1}}, -math.MaxFloat64,
		math.MaxFloat64, 3); len(got) != 3 {
		t.Errorf("%v", got)
	}
}

func TestEmbeddingRows(t *testing.T) {
	var b strings.Builder
	for i := range 25000 {
		fmt.Fprintf(&b, "%d\t1\tx\n", i)
	}
	p := &projection{}
	rows, err := p.read(strings.NewReader(b.String()))
	must(t, err)
	if p.Total != 25000 || len(rows) > maxRows || len(rows) < maxRows/2 || p.Index[1] != 4 || rows[1][0] != 4 ||
		rows[1][2] != 0 {
		t.Errorf("%d of %d rows, index %v", len(rows), p.Total, p.Index[:3])
	}
	p.project(rows)
	if math.Abs(p.Variance[0]-1) > 1e-4 {
		t.Errorf("variance %v", p.Variance)
	}
	for _, bad := range []string{"", "\n\n", "1\t2\n3\n"} {
		if _, err := (&projection{}).read(strings.NewReader(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func BenchmarkScalars(b *testing.B) {
	dir := b.TempDir()
	w := writer(b, dir)
	for i := range 100000 {
		must(b, w.AddScalar("loss", math.Sin(float64(i)), int64(i)))
	}
	must(b, w.Close())
	s := newServer(b, dir)
	ask(s, "/api/state")
	b.Run("cached", func(b *testing.B) {
		for b.Loop() {
			ask(s, "/api/scalars?tag=loss&runs=0&points=1000")
		}
	})
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			s.curves = sampleCache{}
			ask(s, "/api/scalars?tag=loss&runs=0&points=1000")
		}
	})
}
