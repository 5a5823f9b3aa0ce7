package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/gotorch-dev/torch"
)

// childVar makes this program do one thing and end, instead of measuring: the start of a process and its memory can
// only be seen from outside.
const childVar = "GOTORCH_BENCH_CHILD"

// child does what childVar asks for; false: nothing.
func child() bool {
	c := &config{}
	what := os.Getenv(childVar)
	switch what {
	case "start":
		x := torch.Ones([]int{3}).AddScalar(1)
		fmt.Println(memoryOf("VmRSS"), x.Numel())
	case "memory", "memory-tiny":
		c.tiny = what == "memory-tiny"
		n, err := strconv.Atoi(os.Getenv(childVar + "_THREADS"))
		check(err)
		torch.SetNumThreads(n)
		w := resnetTrain(c)()
		for range 3 {
			w.step()
		}
		fmt.Println(memoryOf("VmHWM"))
	default:
		path, ok := strings.CutPrefix(what, "onnx ")
		if !ok {
			return false
		}
		n, err := strconv.Atoi(os.Getenv(childVar + "_THREADS"))
		check(err)
		torch.SetNumThreads(n)
		serveOnce(path)
	}
	return true
}

// memoryOf reads a figure of this process in bytes, 0 where the system does not tell.
func memoryOf(key string) int {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for _, l := range strings.Split(string(b), "\n") {
		if rest, ok := strings.CutPrefix(l, key+":"); ok {
			kb, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			return kb << 10
		}
	}
	return 0
}

// firstLine runs a process, and returns the time until its first line of output and the number at its beginning.
func firstLine(cmd *exec.Cmd) (ns, number float64, err error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	line, readErr := bufio.NewReader(out).ReadString('\n')
	ns = float64(time.Since(start))
	if err := cmd.Wait(); err != nil {
		return 0, 0, fmt.Errorf("%w: %.300s", err, stderr.String())
	}
	if readErr != nil {
		return 0, 0, readErr
	}
	number, err = strconv.ParseFloat(strings.Fields(line + " 0")[0], 64)
	return ns, number, err
}

// oneself is this program as a child.
func oneself(ctx context.Context, what string, threads int) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), childVar+"="+what, fmt.Sprintf("%s_THREADS=%d", childVar, threads))
	return cmd, nil
}

// python is peer.py as a program of its own.
func python(ctx context.Context, exe string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, exe, append([]string{"-u", "-c", script}, args...)...)
	cmd.Env = peerEnv()
	return cmd
}

// startRows are what a process costs before it has done anything.
func startRows(*config) []row {
	ours := func(memory bool) func(context.Context) (float64, error) {
		return func(ctx context.Context) (float64, error) {
			cmd, err := oneself(ctx, "start", 1)
			if err != nil {
				return 0, err
			}
			return pick(memory)(firstLine(cmd))
		}
	}
	theirs := func(memory bool) func(context.Context, string, int) (float64, error) {
		return func(ctx context.Context, exe string, _ int) (float64, error) {
			return pick(memory)(firstLine(python(ctx, exe, "start")))
		}
	}
	return []row{
		{name: "process start to first tensor", ours: ours(false), theirs: theirs(false)},
		{name: "resident memory at first tensor", unit: bytesUsed, ours: ours(true), theirs: theirs(true)},
	}
}

// pick chooses the time or the number of firstLine.
func pick(number bool) func(ns, n float64, err error) (float64, error) {
	return func(ns, n float64, err error) (float64, error) {
		if number {
			return n, err
		}
		return ns, err
	}
}

// memoryRow is the peak of the resident memory of a process that trains a resnet18 for some steps.
func memoryRow(c *config) row {
	what := "memory"
	if c.tiny {
		what = "memory-tiny"
	}
	return row{
		name: "peak memory of the resnet18 train step", unit: bytesUsed,
		ours: func(ctx context.Context) (float64, error) {
			cmd, err := oneself(ctx, what, torch.NumThreads())
			if err != nil {
				return 0, err
			}
			return pick(true)(firstLine(cmd))
		},
		theirs: func(ctx context.Context, exe string, threads int) (float64, error) {
			return pick(true)(firstLine(python(ctx, exe, "memory", strconv.Itoa(threads))))
		},
	}
}
