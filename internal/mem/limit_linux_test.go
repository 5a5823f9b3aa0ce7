package mem

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestGroupLimit(t *testing.T) {
	root := t.TempDir()
	for name, s := range map[string]string{
		"memory.max": "max\n", "a/memory.max": "4096000\n", "a/b/memory.max": "8192000\n",
		"memory/memory.limit_in_bytes": "9223372036854771712\n", "memory/old/memory.limit_in_bytes": "12288000\n",
	} {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for groups, want := range map[string]uint64{
		"0::/\n":                         math.MaxInt,
		"0::/a\n":                        4096000,
		"0::/a/b\n":                      4096000, // the group above allows less
		"0::/a/unseen/c\n":               4096000,
		"4:memory:/old\n1:cpu:/a\n":      12288000,
		"4:cpu,memory:/old\n0::/a\n":     4096000,
		"4:memory:/\n":                   9223372036854771712,
		"":                               math.MaxInt,
		"nonsense\n0:\n":                 math.MaxInt,
		"0::/../../etc\n0::/a/../a/./b ": 4096000,
	} {
		if got := groupLimit(groups, root); got != want {
			t.Errorf("%q: %d, want %d", groups, got, want)
		}
	}
	if n := systemMemory(); n < 1<<20 {
		t.Errorf("the machine has %d bytes", n)
	}
}
