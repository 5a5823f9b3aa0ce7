package text

import "strings"

// packWidth is the column by which packed lines end; the tab before them counts as one column.
const packWidth = 120

// Pack writes neighbouring instructions on one line, separated by semicolons. The tables of a program that map
// instructions to lines (the runtime's pclntab and DWARF) hold an entry for each change of the line: with four
// instructions on a line they take a third of the room, which saves more than a megabyte in a program that has all
// kernels. A jump ends its line. Labels, directives, comments, returns, and instructions that touch arguments or the
// frame have lines of their own, so that go vet reads them.
func Pack(assembly []byte) []byte {
	var b strings.Builder
	b.Grow(len(assembly))
	width := 0 // of the line that is being filled; 0 when there is none
	end := func() {
		if width > 0 {
			b.WriteByte('\n')
		}
		width = 0
	}
	for line := range strings.Lines(string(assembly)) {
		line = strings.TrimSuffix(line, "\n")
		if !packs(line) {
			end()
			b.WriteString(line + "\n")
			continue
		}
		code := line[1:]
		if width > 0 && width+len("; ")+len(code) <= packWidth {
			b.WriteString("; " + code)
			width += len("; ") + len(code)
		} else {
			end()
			b.WriteString(line)
			width = len(line)
		}
		if code[0] == 'J' || code[0] == 'B' && !strings.HasPrefix(code, "BT") {
			end()
		}
	}
	end()
	return []byte(b.String())
}

// packs reports whether a line is an instruction that may share its line with others.
func packs(line string) bool {
	if len(line) < 2 || line[0] != '\t' || line[1] < 'A' || line[1] > 'Z' || strings.HasPrefix(line, "\tRET") {
		return false
	}
	for _, s := range []string{"//", "/*", "\\", "(FP)", "(SP)"} {
		if strings.Contains(line, s) {
			return false
		}
	}
	return true
}
