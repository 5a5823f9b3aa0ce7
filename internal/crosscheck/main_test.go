package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A small module with files for one system each: what is wrong for the other system is found by its check alone.
func TestCheck(t *testing.T) {
	base := map[string]string{
		"go.mod":     "module example.com/m\n\ngo 1.26\n",
		"m.go":       "package m\n\nimport \"math\"\n\nvar V = name() + int(math.Sqrt(4))\n",
		"m_linux.go": "package m\n\nfunc name() int { return 1 }\n",
		"m_js.go":    "package m\n\nfunc name() int { return 2 }\n",
	}
	for _, c := range []struct {
		name, target string
		change       map[string]string
		want         string // in the error; none for no error
	}{
		{"right", "linux/arm64", nil, ""},
		{"right", "js/wasm", nil, ""},
		{"a function that another system has", "windows/amd64", nil, "undefined: name"},
		{"a wrong type for one system", "js/wasm", map[string]string{
			"m_js.go": "package m\n\nfunc name() int { return \"2\" }\n"}, "m_js.go:3:26: cannot use \"2\""},
		{"a wrong type for one system, seen from another", "linux/amd64", map[string]string{
			"m_js.go": "package m\n\nfunc name() int { return \"2\" }\n"}, ""},
		{"a constant that is too large", "linux/386", map[string]string{
			"big.go": "package m\n\nvar Big int = 1 << 40\n"}, "big.go:3:15: cannot use 1 << 40"},
		{"assembly for one architecture", "linux/amd64", map[string]string{
			"asm.go": "package m\n\nfunc fast()\n", "asm_amd64.s": "TEXT ·fast(SB), 4, $0-0\n\tRET\n"}, ""},
		{"assembly for one architecture", "linux/arm64", map[string]string{
			"asm.go": "package m\n\nfunc fast()\n", "asm_amd64.s": "TEXT ·fast(SB), 4, $0-0\n\tRET\n"},
			"asm.go:3:1: fast has neither a body nor assembly"},
		{"no target", "linux", nil, "want GOOS/GOARCH"},
	} {
		t.Run(c.name+" on "+c.target, func(t *testing.T) {
			dir := t.TempDir()
			for _, files := range []map[string]string{base, c.change} {
				for name, text := range files {
					if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
			t.Chdir(dir)
			n, err := check(c.target, []string{"./..."})
			if c.want == "" {
				if err != nil || n != 1 {
					t.Errorf("%d packages, error %v; want 1 package", n, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v; want one with %q", err, c.want)
			}
		})
	}
}
