package text

import "testing"

func TestPack(t *testing.T) {
	const in = "#include \"textflag.h\"\n\n" +
		"TEXT ·f(SB), NOSPLIT, $0-8\n" +
		"\tMOVQ a+0(FP), AX\n" +
		"\tADDQ $1, AX\n" +
		"\tVADDPS Y0, Y1, Y2\n" +
		"loop:\n" +
		"\tSUBQ $1, AX\n" +
		"\tJNE loop\n" +
		"\tADDQ $1, AX\n" +
		"\tLONG $1 // an instruction\n" +
		"\tADDQ $2, AX\n" +
		"\tMOVQ AX, 8(SP)\n" +
		"\tRET\n"
	const want = "#include \"textflag.h\"\n\n" +
		"TEXT ·f(SB), NOSPLIT, $0-8\n" +
		"\tMOVQ a+0(FP), AX\n" +
		"\tADDQ $1, AX; VADDPS Y0, Y1, Y2\n" +
		"loop:\n" +
		"\tSUBQ $1, AX; JNE loop\n" +
		"\tADDQ $1, AX\n" +
		"\tLONG $1 // an instruction\n" +
		"\tADDQ $2, AX\n" +
		"\tMOVQ AX, 8(SP)\n" +
		"\tRET\n"
	if got := string(Pack([]byte(in))); got != want {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
	// A line ends by column 120.
	for n := range 200 {
		var in string
		for range n {
			in += "\tVADDPS Y0, Y1, Y2\n"
		}
		col := 0
		for _, r := range string(Pack([]byte(in))) {
			if col++; r == '\n' {
				col = 0
			}
			if col > packWidth {
				t.Fatalf("%d instructions make a line of more than %d columns", n, packWidth)
			}
		}
	}
}
