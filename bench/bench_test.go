package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gotorch-dev/torch"
)

// fakeVar makes the test program answer as peer.py does.
const fakeVar = "GOTORCH_BENCH_FAKE"

func TestMain(m *testing.M) {
	if mode := os.Getenv(fakeVar); mode != "" {
		fakePeer(mode)
		return
	}
	if child() { // rows that start this program again start the tests
		return
	}
	os.Exit(m.Run())
}

// fakePeer speaks the protocol. Choice 1 of torch is the faster one. The mode makes it misbehave.
func fakePeer(mode string) {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var c struct {
			Cmd, Work string
			Choice    int
			Threads   int
			Seconds   float64
		}
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			panic(err)
		}
		switch c.Cmd {
		case "hello":
			switch mode {
			case "no-torch":
				fmt.Println(`{"torch":null,"onnxruntime":null}`)
			case "broken":
				fmt.Fprintln(os.Stderr, "ImportError: no such thing")
				return
			default:
				fmt.Println(`{"torch":"9.9","onnxruntime":"8.8"}`)
			}
		case "prepare":
			switch {
			case mode == "dies":
				fmt.Fprintln(os.Stderr, "Killed")
				return
			case mode == "garbage":
				fmt.Println("hello")
			case c.Work == "bmm" || c.Threads != 1:
				fmt.Println(`{"error":"cannot do that"}`)
			default:
				fmt.Println(`{"choices":[{"lib":"torch","name":"slow"},{"lib":"torch","name":"fast"},{"lib":"onnxruntime","name":"onnxruntime"}],"notes":[]}`)
			}
		case "window":
			if mode == "ways" && c.Choice != 1 {
				fmt.Println(`{"error":"not in this version"}`)
				continue
			}
			fmt.Printf(`{"ns":%d}`+"\n", []int{4_000_000, 2_000_000, 1_000_000}[c.Choice])
		case "drop":
			fmt.Println(`{}`)
		}
	}
}

// fake starts the test program as a peer.
func fake(t *testing.T, mode string) (*peer, error) {
	t.Helper()
	t.Setenv(fakeVar, mode)
	p, err := startPeer(context.Background(), os.Args[0], 1)
	if err == nil {
		t.Cleanup(p.stop)
	}
	return p, err
}

func TestPeer(t *testing.T) {
	p, err := fake(t, "good")
	if err != nil {
		t.Fatal(err)
	}
	c := &config{windows: 3, window: time.Millisecond, tiny: true}
	r := gemmRows(c)[0]
	res := measure(context.Background(), c, r, 1, []*peer{p})
	if len(res.Notes) > 0 || res.NS == nil || *res.NS <= 0 {
		t.Fatalf("%+v", res)
	}
	if res.Peers["torch"] != 2e6 || res.Peers["onnxruntime"] != 1e6 || *res.TorchNS != 2e6 {
		t.Errorf("peers %v, torch_ns %g: want the faster way of torch, and onnxruntime beside it", res.Peers,
			*res.TorchNS)
	}
	if want := 1e6 / *res.NS; *res.Ratio != want {
		t.Errorf("ratio %g, want that of the fastest peer, %g", *res.Ratio, want)
	}
	// A peer that cannot do one kind of work goes on with the next.
	r.peer = "bmm"
	if res := measure(context.Background(), c, r, 1, []*peer{p}); len(res.Notes) != 1 ||
		res.Notes[0] != "torch: cannot do that" || res.NS == nil {
		t.Errorf("%+v", res)
	}
	r.peer = "matmul"
	if res := measure(context.Background(), c, r, 1, []*peer{p}); len(res.Notes) != 0 || res.Ratio == nil {
		t.Errorf("after an error: %+v", res)
	}
}

// A way, or a library, that fails leaves the others their place.
func TestPeerWays(t *testing.T) {
	p, err := fake(t, "ways")
	if err != nil {
		t.Fatal(err)
	}
	c := &config{windows: 1, window: time.Millisecond, tiny: true}
	res := measure(context.Background(), c, gemmRows(c)[0], 1, []*peer{p})
	want := []string{"torch: slow: not in this version", "torch: onnxruntime: not in this version"}
	if !slices.Equal(res.Notes, want) || len(res.Peers) != 1 || res.Peers["torch"] != 2e6 {
		t.Errorf("notes %q, peers %v", res.Notes, res.Peers)
	}
}

func TestPeerFailures(t *testing.T) {
	for _, x := range []struct{ mode, want string }{
		{"no-torch", "this Python has no torch"},
		{"broken", "it ended: ImportError: no such thing"},
	} {
		if _, err := fake(t, x.mode); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", x.mode, err, x.want)
		}
	}
	if _, err := startPeer(context.Background(), filepath.Join(t.TempDir(), "python"), 1); err == nil ||
		!strings.Contains(err.Error(), "-torch") {
		t.Errorf("missing program: %v", err)
	}
	c := &config{windows: 1, window: time.Millisecond, tiny: true}
	for _, x := range []struct{ mode, want string }{
		{"dies", "torch: the Python process failed: it ended: Killed"},
		{"garbage", `torch: the Python process failed: answer "hello\n" to prepare`},
	} {
		p, err := fake(t, x.mode)
		if err != nil {
			t.Fatal(err)
		}
		res := measure(context.Background(), c, gemmRows(c)[0], 1, []*peer{p})
		if len(res.Notes) != 1 || !strings.HasPrefix(res.Notes[0], x.want) || res.NS == nil {
			t.Errorf("%s: %+v", x.mode, res)
		}
		if res := measure(context.Background(), c, gemmRows(c)[0], 1, []*peer{p}); res.NS == nil ||
			len(res.Notes) != 0 {
			t.Errorf("%s, next row: %+v", x.mode, res)
		}
	}
}

func TestPeerEnv(t *testing.T) {
	t.Setenv("OPENBLAS_CORETYPE", "Haswell")
	t.Setenv("OPENBLAS_L2_SIZE", "1")
	t.Setenv("BENCH_KEPT", "yes")
	env := peerEnv()
	for _, v := range env {
		if strings.HasPrefix(v, "OPENBLAS_") {
			t.Error(v)
		}
	}
	if !slices.Contains(env, "BENCH_KEPT=yes") {
		t.Error("other variables are gone")
	}
}

// TestRows runs every kind of row at a small size and checks the report, the records and the table.
func TestRows(t *testing.T) {
	defer torch.SetNumThreads(torch.NumThreads())
	dir := t.TempDir()
	md := filepath.Join(dir, "p.md")
	if err := os.WriteFile(md, []byte("# Title\n"+markBegin+"\nold\n"+markEnd+"\nend\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	c, err := parse([]string{"-threads", "1,2", "-windows", "1", "-json", filepath.Join(dir, "out.json"), "-md", md},
		os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	c.tiny, c.window = true, time.Millisecond
	if testing.Short() {
		c.threads = c.threads[:1]
	}
	var out bytes.Buffer
	if err := run(context.Background(), c, &out); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(c.json)
	if err != nil {
		t.Fatal(err)
	}
	var recs []map[string]any
	if err := json.Unmarshal(b, &recs); err != nil {
		t.Fatal(err)
	}
	if want := len(c.threads) * len(choose(c)); len(recs) != want {
		t.Errorf("%d records, want %d", len(recs), want)
	}
	seen := map[string]bool{}
	for _, r := range recs {
		seen[r["suite"].(string)] = true
		for _, k := range []string{"suite", "name", "threads", "ns", "gflops", "gbps", "peak_share", "torch_ns",
			"ratio"} {
			if _, ok := r[k]; !ok {
				t.Errorf("record %v lacks %s", r, k)
			}
		}
		if r["notes"] != nil && !strings.Contains(fmt.Sprint(r["notes"]), "garbage collector") {
			t.Errorf("%s/%s: %v", r["suite"], r["name"], r["notes"])
		}
		if ns, ok := r["ns"].(float64); ok && ns <= 0 {
			t.Errorf("%s/%s: %g ns", r["suite"], r["name"], ns)
		} else if !ok && runtime.GOOS == "linux" && !(r["bytes"].(float64) > 1e6) {
			t.Errorf("%s/%s: bytes %v", r["suite"], r["name"], r["bytes"])
		}
	}
	for _, s := range suiteNames() {
		if !seen[s] && s != sweepName {
			t.Errorf("no row of suite %s", s)
		}
	}
	b, _ = os.ReadFile(md)
	if s := string(b); !strings.HasPrefix(s, "# Title\n"+markBegin) || !strings.HasSuffix(s, markEnd+"\nend\n") ||
		strings.Contains(s, "old") ||
		!strings.Contains(s, "### 1 thread\n") ||
		!strings.Contains(s, "| gemm | GoTorch | ratio | rate | share |\n|---|--:|--:|--:|--:|\n| sgemm 32³ |") {
		t.Error(s)
	}
}

// TestPicture draws the ratios of two sections beside the table that names the picture.
func TestPicture(t *testing.T) {
	md := filepath.Join(t.TempDir(), "p.md")
	if err := os.WriteFile(md, []byte(markBegin+markEnd), 0o666); err != nil {
		t.Fatal(err)
	}
	one := &section{threads: 1, results: []result{{Suite: "gemm", Name: "a", Ratio: ptr(1.5)},
		{Suite: "io", Name: "b"}}}
	two := &section{threads: 2, results: []result{{Suite: "gemm", Name: "a", Ratio: ptr(0.5)},
		{Suite: "conv", Name: "c", Ratio: ptr(40.0)}}}
	picture, err := drawPicture(md, []*section{one, two})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(picture)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := png.Decode(f); err != nil {
		t.Error(err)
	}
	if err := writeMarkdown(md, picture, []*section{one, two}, nil); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(md); !strings.Contains(string(b), "](p.png)\n") {
		t.Errorf("%s", b)
	}
	if picture, err := drawPicture(md, []*section{{results: one.results[1:]}}); picture != "" || err != nil {
		t.Errorf("without ratios: %q, %v", picture, err)
	}
}

// TestScriptKnowsTheRows checks that every row has its counterpart, with the arguments that it names.
func TestScriptKnowsTheRows(t *testing.T) {
	for _, tiny := range []bool{false, true} {
		names := map[string]bool{}
		for _, r := range choose(&config{suite: "all", tiny: tiny}) {
			if names[r.name] {
				t.Errorf("two rows %q", r.name)
			}
			names[r.name] = true
			if r.peer == "" {
				if r.theirs == nil {
					t.Errorf("%s: no peer", r.name)
				}
				continue
			}
			_, rest, ok := strings.Cut(script, "\n@work\ndef "+r.peer+"(")
			if !ok {
				t.Errorf("%s: peer.py has no work %s", r.name, r.peer)
				continue
			}
			if id, ok := r.args["name"].(string); ok && r.peer == "network" &&
				!strings.Contains(script, "\n@kind\ndef "+id+"(batch, put)") {
				t.Errorf("%s: peer.py has no network %s", r.name, id)
			}
			params, _, _ := strings.Cut(rest, ")")
			for k := range r.args {
				if !strings.Contains(", "+params, ", "+k) {
					t.Errorf("%s: %s(%s) has no parameter %s", r.name, r.peer, params, k)
				}
			}
		}
	}
}

func TestFlags(t *testing.T) {
	for _, x := range []struct{ args, want string }{
		{"-suite nosuch", "-suite nosuch: expected all, gemm, conv"},
		{"-only (", "-only: error parsing regexp"},
		{"-threads 0", "-threads 0: expected a number of at least 1"},
		{"-threads 1,", "-threads 1,: expected a number"},
		{"-threads x", "-threads x: expected a number"},
		{"-torch a,,b", "a name is empty"},
		{"-windows 0", "-windows 0: expected at least 1"},
		{"-nosuch", "flag provided but not defined"},
		{"gemm", `unexpected argument "gemm"`},
	} {
		if _, err := parse(strings.Fields(x.args), new(bytes.Buffer)); err == nil ||
			!strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", x.args, err, x.want)
		}
	}
	c, err := parse(strings.Fields("-suite io -only load.*resnet18 -threads 3 -torch a,b -json x"), new(bytes.Buffer))
	if err != nil || c.suite != "io" || c.threads[0] != 3 || len(c.pythons) != 2 || len(choose(c)) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	for _, x := range []struct{ args, want string }{
		{"-suite io -only nosuch", "no row matches"},
		{"-suite io -md /nonexistent/file", "-md: open"},
		{"-suite io -json /nonexistent/x.json", "-json: stat /nonexistent"},
		{"-suite io -json main.go/x.json", "-json main.go/x.json: "},
		{"-suite io -md main.go", "lacks the lines"},
		{"-suite io -torch /nonexistent/python", "-torch /nonexistent/python"},
	} {
		c, err := parse(strings.Fields(x.args), new(bytes.Buffer))
		if err != nil {
			t.Fatal(err)
		}
		c.tiny = true
		if err := run(context.Background(), c, new(bytes.Buffer)); err == nil ||
			!strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", x.args, err, x.want)
		}
	}
}

func TestFigures(t *testing.T) {
	for _, x := range []struct{ got, want string }{
		{duration(5.128), "5.13 ns"}, {duration(51_280), "51.3 µs"}, {duration(512.8e6), "513 ms"},
		{duration(2e9), "2.00 s"},
		{size(47_100_000), "47.1 MB"}, {count(1_000_000), "1e6"}, {count(12), "12"},
		{fmt.Sprint(median(nil), median([]float64{3, 1}), median([]float64{9, 1, 2})), "0 2 2"},
		{libOf("onnxruntime2"), "onnxruntime"},
	} {
		if x.got != x.want {
			t.Errorf("%q, want %q", x.got, x.want)
		}
	}
}

// TestLoop checks that the time of a call does not depend on how many make a group.
func TestLoop(t *testing.T) {
	n := 0
	ns := loop(func() { n++; time.Sleep(2 * time.Millisecond) }, 10*time.Millisecond)
	if ns < 2e6 || n < 3 {
		t.Errorf("%g ns, %d calls", ns, n)
	}
	n = 0
	ns = loop(func() { n++ }, time.Millisecond)
	if ns > 1e5 || n < 100 {
		t.Errorf("%g ns, %d calls", ns, n)
	}
	n = 0
	loop(func() { n++; time.Sleep(time.Millisecond) }, 0)
	if n != 1 {
		t.Errorf("%d calls in an empty window", n)
	}
}

func TestProcessor(t *testing.T) {
	for _, c := range [][2]string{
		{"processor\t: 0\nvendor_id\t: X\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: X EPYC\n\nprocessor\t: " +
			"1\nmodel name\t: other\n", "X EPYC (family 25, model 17)"},
		{"processor\t: 0\nBogoMIPS\t: 50.00\n", "arm64"},
		{"", "arm64"},
	} {
		if got := processor(strings.NewReader(c[0]), "arm64"); got != c[1] {
			t.Errorf("%q: %q, want %q", c[0], got, c[1])
		}
	}
}
