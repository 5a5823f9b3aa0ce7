package cpu

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestCap(t *testing.T) {
	all := Features{AVX2FMA: true, AVX512: true, VNNI: true, BF16: true, AVXVNNI: true, NEON: true, DotProd: true}
	for _, c := range []struct {
		level string
		want  Features
		bad   bool
	}{
		{"", all, false},
		{"avx512", all, false},
		{"AVX2", Features{AVX2FMA: true}, false},
		{"generic", Features{}, false},
		{"sse9", all, true},
	} {
		got, err := all.cap(c.level)
		if got != c.want || (err != nil) != c.bad {
			t.Errorf("cap(%q): got %+v, %v; expected %+v, error %v", c.level, got, err, c.want, c.bad)
		}
		// A level never adds anything.
		if got, _ := (Features{}).cap(c.level); got != (Features{}) {
			t.Errorf("cap(%q) of nothing: got %+v", c.level, got)
		}
	}
}

func TestSet(t *testing.T) {
	before := Current()
	restore := Set(Features{})
	if Current() != (Features{}) || !strings.HasSuffix(Description(), " generic") {
		t.Errorf("after Set(nothing): %+v, %s", Current(), Description())
	}
	restore()
	if Current() != before {
		t.Errorf("after restore: got %+v, expected %+v", Current(), before)
	}
	defer Set(Features{AVX2FMA: true, AVX512: true, VNNI: true, BF16: true, AVXVNNI: true, NEON: true, DotProd: true})()
	if Current() != detected {
		t.Errorf("Set(everything): got %+v, expected what the processor has, %+v", Current(), detected)
	}
}

func TestLevels(t *testing.T) {
	ls := Levels()
	if ls[len(ls)-1] != (Level{Name: "generic"}) {
		t.Errorf("the last level is %+v, expected generic", ls[len(ls)-1])
	}
	seen := map[Features]bool{}
	for _, l := range ls {
		restore := Set(l.Features)
		if Current() != l.Features {
			t.Errorf("level %s: got %+v, expected %+v", l.Name, Current(), l.Features)
		}
		restore()
		if seen[l.Features] {
			t.Errorf("level %s repeats another", l.Name)
		}
		seen[l.Features] = true
	}
}

// The environment variable works in a real process.
func TestEnvironment(t *testing.T) {
	if os.Getenv("GOTORCH_CPU_PRINT") != "" {
		os.Stdout.WriteString(Description())
		os.Exit(0)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestEnvironment$")
	cmd.Env = append(os.Environ(), "GOTORCH_CPU=generic", "GOTORCH_CPU_PRINT=1")
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("cannot run the test binary again: %v", err)
	}
	if !strings.HasSuffix(string(out), " generic") {
		t.Errorf("got %q, expected it to end in generic", out)
	}
}
