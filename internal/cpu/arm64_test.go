package cpu

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Instructions that Go's assembler does not know stand in the arm64 assembly as words with their name in a comment.
// GNU's assembler, where it is there, makes the same words of these names. R18 belongs to the system on some platforms.
func TestWordsOfARM64(t *testing.T) {
	files, err := filepath.Glob("*/*_arm64.s")
	if err != nil || len(files) == 0 {
		t.Fatalf("no assembly: %v", err)
	}
	word := regexp.MustCompile(`WORD \$(0x[0-9a-f]{8}) // (.*)`)
	system := regexp.MustCompile(`\bR18\b`)
	words := map[string]uint32{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if system.Match(text) {
			t.Errorf("%s uses R18", f)
		}
		for _, m := range word.FindAllStringSubmatch(string(text), -1) {
			w, err := strconv.ParseUint(m[1], 0, 32)
			if old, ok := words[m[2]]; err != nil || ok && old != uint32(w) {
				t.Errorf("%s: %q is %s and %#x (%v)", f, m[2], m[1], old, err)
			}
			words[m[2]] = uint32(w)
		}
	}
	const as = "aarch64-linux-gnu-as"
	if _, err := exec.LookPath(as); err != nil {
		t.Skipf("no %s (package binutils-aarch64-linux-gnu) to compare with", as)
	}
	var names []string
	for n := range words {
		names = append(names, n)
	}
	slices.Sort(names)
	object := filepath.Join(t.TempDir(), "words.o")
	cmd := exec.Command(as, "-march=armv8.2-a+dotprod", "-o", object)
	cmd.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", as, err, out)
	}
	f, err := elf.Open(object)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	code, err := f.Section(".text").Data()
	if err != nil || len(code) != 4*len(names) {
		t.Fatalf("%d bytes for %d words (%v)", len(code), len(names), err)
	}
	for i, n := range names {
		if got := binary.LittleEndian.Uint32(code[4*i:]); got != words[n] {
			t.Errorf("%s is %#08x, the assembly has %#08x", n, got, words[n])
		}
	}
}
