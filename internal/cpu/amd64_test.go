package cpu

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Instructions that Go's assembler does not know stand in the amd64 assembly as bytes with their name in a comment.
// GNU's assembler, where it is there, makes the same bytes of these names in the VEX encoding. The processors that have
// them are not the ones that the tests run on.
func TestBytesOfAMD64(t *testing.T) {
	files, err := filepath.Glob("*/*_amd64.s")
	if err != nil || len(files) == 0 {
		t.Fatalf("no assembly: %v", err)
	}
	line := regexp.MustCompile(`\t((?:BYTE \$0x[0-9a-f]{2}(?:; )?)+) // (.*)`)
	hex := regexp.MustCompile(`0x[0-9a-f]{2}`)
	var names []string
	var want []byte
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range line.FindAllStringSubmatch(string(text), -1) {
			names = append(names, "{vex} "+m[2])
			for _, h := range hex.FindAllString(m[1], -1) {
				b, _ := strconv.ParseUint(h, 0, 8) // the expression has two digits
				want = append(want, byte(b))
			}
		}
	}
	if len(names) == 0 {
		t.Fatal("no bytes in the assembly")
	}
	if _, err := exec.LookPath("as"); err != nil {
		t.Skip("no assembler (as, package binutils) to compare with")
	}
	object := filepath.Join(t.TempDir(), "bytes.o")
	cmd := exec.Command("as", "--64", "-o", object)
	cmd.Stdin = strings.NewReader(".intel_syntax noprefix\n" + strings.Join(names, "\n") + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("as does not know the instructions: %v\n%s", err, out)
	}
	f, err := elf.Open(object)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	code, err := f.Section(".text").Data()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(code, want) {
		t.Errorf("%d instructions: the assembly has\n%x\nwant\n%x", len(names), want, code)
	}
}
