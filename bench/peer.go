package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// script is the program that a peer runs: the same work in PyTorch and ONNX Runtime.
//
//go:embed peer.py
var script string

// peer is a Python process that measures on command. Commands and answers are lines of JSON:
//
//	{"cmd":"hello"}                                       → {"torch":"2.15.0", "onnxruntime":"1.31.1" or null}
//	{"cmd":"prepare","work":"bmm","args":{…},"threads":1} → {"choices":[{"lib":"torch","name":"eager"}, …], "notes":["fused: …", …]}
//	{"cmd":"window","choice":0,"seconds":0.1}             → {"ns":1234.5}
//	{"cmd":"drop"}                                        → {}
//
// An answer {"error":"…"} is the failure of that command alone.
type peer struct {
	name   string // of the column: torch, or torch2 … when there are several
	python string
	libs   map[string]string // library → version

	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *tail
	dead   error // why the process answers no more
}

// startLimit bounds the time that Python takes to import its libraries, answerLimit the time of one command: a compiler
// is at work in some.
const (
	startLimit  = 2 * time.Minute
	answerLimit = 10 * time.Minute
)

// peerEnv is our environment without the variables that hold OpenBLAS, and with it PyTorch, back.
func peerEnv() []string {
	var env []string
	for _, v := range os.Environ() {
		if k, _, _ := strings.Cut(v, "="); k != "OPENBLAS_CORETYPE" && k != "OPENBLAS_L2_SIZE" {
			env = append(env, v)
		}
	}
	return env
}

// startPeer starts python and asks what it has. More than one peer is numbered.
func startPeer(ctx context.Context, python string, number int) (*peer, error) {
	p := &peer{name: "torch", python: python}
	if number > 1 {
		p.name = fmt.Sprintf("torch%d", number)
	}
	return p, p.start(exec.CommandContext(ctx, python, "-u", "-c", script))
}

func (p *peer) start(cmd *exec.Cmd) (err error) {
	p.cmd, p.stderr = cmd, &tail{}
	cmd.Env = peerEnv()
	if len(cmd.Env) == 0 {
		cmd.Env = []string{"PYTHONUNBUFFERED=1"} // an empty list would mean ours
	}
	cmd.Stderr = p.stderr
	if p.in, err = cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	p.out = bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("-torch %s: %w", p.python, err)
	}
	var libs map[string]*string
	if err := p.ask(map[string]any{"cmd": "hello"}, &libs, startLimit); err != nil {
		p.stop()
		return fmt.Errorf("-torch %s: %w", p.python, err)
	}
	p.libs = map[string]string{}
	for k, v := range libs {
		if v != nil {
			p.libs[k] = *v
		}
	}
	if p.libs["torch"] == "" {
		p.stop()
		return fmt.Errorf("-torch %s: this Python has no torch", p.python)
	}
	return nil
}

// ask sends a command and decodes the answer.
func (p *peer) ask(cmd map[string]any, answer any, limit time.Duration) error {
	if p.dead != nil {
		return p.dead
	}
	fail := func(err error) error {
		p.dead = fmt.Errorf("the Python process failed: %w%s", err, p.stderr.last())
		_ = p.cmd.Process.Kill()
		return p.dead
	}
	line, err := json.Marshal(cmd)
	if err != nil {
		return err
	}
	type read struct {
		line []byte
		err  error
	}
	got := make(chan read, 1)
	go func() {
		if _, err := p.in.Write(append(line, '\n')); err != nil {
			got <- read{nil, err}
			return
		}
		l, err := p.out.ReadBytes('\n')
		got <- read{l, err}
	}()
	var r read
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case r = <-got:
	case <-timer.C:
		return fail(fmt.Errorf("no answer to %s within %s", cmd["cmd"], limit))
	}
	if r.err != nil {
		if errors.Is(r.err, io.EOF) {
			r.err = errors.New("it ended")
		}
		return fail(r.err)
	}
	var failed struct{ Error string }
	if err := json.Unmarshal(r.line, &failed); err != nil {
		return fail(fmt.Errorf("answer %.200q to %s: %w", r.line, cmd["cmd"], err))
	}
	if failed.Error != "" {
		return errors.New(failed.Error)
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(r.line, answer); err != nil {
		return fail(fmt.Errorf("answer %.200q to %s: %w", r.line, cmd["cmd"], err))
	}
	return nil
}

// prepare sets a row's work up and returns a side for each library that can do it, in the best of the ways that the
// library has, with notes on the ways that failed.
func (p *peer) prepare(r *row, threads int) (sides []*side, notes []string) {
	var got struct {
		Choices []struct{ Lib, Name string }
		Notes   []string
	}
	note := func(format string, args ...any) { notes = append(notes, p.name+": "+fmt.Sprintf(format, args...)) }
	err := p.ask(map[string]any{"cmd": "prepare", "work": r.peer, "args": r.args, "threads": threads}, &got,
		answerLimit)
	if err != nil {
		note("%v", err)
		return nil, notes
	}
	for _, n := range got.Notes {
		note("%s", n)
	}
	type best struct {
		ns     float64
		choice int
	}
	fastest := map[string]best{}
	var libs []string
	for i, c := range got.Choices {
		if _, ok := fastest[c.Lib]; !ok {
			libs = append(libs, c.Lib)
			fastest[c.Lib] = best{choice: i}
		}
	}
	if len(libs) < len(got.Choices) { // something to choose from
		for k := range fastest {
			fastest[k] = best{}
		}
		for i, c := range got.Choices {
			ns, err := p.window(i, 0)
			if err == nil {
				ns, err = p.window(i, 30*time.Millisecond)
			}
			if err != nil {
				note("%s: %v", c.Name, err)
				continue
			}
			if b := fastest[c.Lib]; b.ns == 0 || ns < b.ns {
				fastest[c.Lib] = best{ns, i}
			}
		}
		libs = slices.DeleteFunc(libs, func(l string) bool { return fastest[l].ns == 0 })
	}
	for _, l := range libs {
		i := fastest[l].choice
		name := p.name
		if l != "torch" {
			name = strings.Replace(p.name, "torch", l, 1)
		}
		sides = append(sides, &side{name: name,
			window: func(d time.Duration) (float64, error) { return p.window(i, d) }})
	}
	return sides, notes
}

// settle is how long a peer is left alone behind its window. The threads of PyTorch's OpenMP poll for some 10 ms after
// their last loop: they would take a core from the window that follows.
const settle = 15 * time.Millisecond

func (p *peer) window(choice int, d time.Duration) (float64, error) {
	var got struct{ NS float64 }
	err := p.ask(map[string]any{"cmd": "window", "choice": choice, "seconds": d.Seconds()}, &got, answerLimit)
	time.Sleep(settle)
	return got.NS, err
}

// drop frees the work.
func (p *peer) drop() {
	if p.dead == nil {
		_ = p.ask(map[string]any{"cmd": "drop"}, nil, answerLimit)
	}
}

// stop ends the process: it leaves its loop when the input ends.
func (p *peer) stop() {
	_ = p.in.Close()
	done := make(chan struct{})
	go func() {
		_ = p.cmd.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		_ = p.cmd.Process.Kill()
		<-done
	}
	if p.dead == nil {
		p.dead = errors.New("stopped")
	}
}

// String names the process and what it runs.
func (p *peer) String() string {
	s := fmt.Sprintf("%s: PyTorch %s", p.name, p.libs["torch"])
	if v := p.libs["onnxruntime"]; v != "" {
		s += ", ONNX Runtime " + v
	}
	return s + " (" + filepath.Base(p.python) + ")"
}

// libOf is the library of a side's name.
func libOf(name string) string { return strings.TrimRight(name, "0123456789") }

// tail keeps the end of what a process writes, for error messages.
type tail struct {
	mu sync.Mutex
	b  []byte
}

// Write keeps the end of b.
func (t *tail) Write(b []byte) (int, error) {
	const most = 2000
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b...)
	t.b = t.b[max(0, len(t.b)-most):]
	return len(b), nil
}

// last returns the last lines, to be added to a message.
func (t *tail) last() string {
	time.Sleep(20 * time.Millisecond) // let what the process wrote arrive
	t.mu.Lock()
	defer t.mu.Unlock()
	s := strings.TrimSpace(string(t.b))
	if s == "" {
		return ""
	}
	lines := strings.Split(s, "\n")
	return ": " + strings.Join(lines[max(0, len(lines)-3):], " | ")
}
