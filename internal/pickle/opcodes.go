package pickle

// Opcodes of the protocols 0 to 5, named as in Python's pickletools.
const (
	opMark            = '('
	opStop            = '.'
	opPop             = '0'
	opPopMark         = '1'
	opDup             = '2'
	opFloat           = 'F'
	opInt             = 'I'
	opBinInt          = 'J'
	opBinInt1         = 'K'
	opLong            = 'L'
	opBinInt2         = 'M'
	opNone            = 'N'
	opPersID          = 'P'
	opBinPersID       = 'Q'
	opReduce          = 'R'
	opString          = 'S'
	opBinString       = 'T'
	opShortBinString  = 'U'
	opUnicode         = 'V'
	opBinUnicode      = 'X'
	opAppend          = 'a'
	opBuild           = 'b'
	opGlobal          = 'c'
	opDict            = 'd'
	opEmptyDict       = '}'
	opAppends         = 'e'
	opGet             = 'g'
	opBinGet          = 'h'
	opInst            = 'i'
	opLongBinGet      = 'j'
	opList            = 'l'
	opEmptyList       = ']'
	opObj             = 'o'
	opPut             = 'p'
	opBinPut          = 'q'
	opLongBinPut      = 'r'
	opSetItem         = 's'
	opTuple           = 't'
	opEmptyTuple      = ')'
	opSetItems        = 'u'
	opBinFloat        = 'G'
	opProto           = 0x80
	opNewObj          = 0x81
	opExt1            = 0x82
	opExt2            = 0x83
	opExt4            = 0x84
	opTuple1          = 0x85
	opTuple2          = 0x86
	opTuple3          = 0x87
	opNewTrue         = 0x88
	opNewFalse        = 0x89
	opLong1           = 0x8a
	opLong4           = 0x8b
	opBinBytes        = 'B'
	opShortBinBytes   = 'C'
	opShortBinUnicode = 0x8c
	opBinUnicode8     = 0x8d
	opBinBytes8       = 0x8e
	opEmptySet        = 0x8f
	opAddItems        = 0x90
	opFrozenSet       = 0x91
	opNewObjEx        = 0x92
	opStackGlobal     = 0x93
	opMemoize         = 0x94
	opFrame           = 0x95
	opByteArray8      = 0x96
	opNextBuffer      = 0x97
	opReadonlyBuffer  = 0x98
)

// The highest protocol that the decoder knows.
const highestProtocol = 5

// Python 3 pickles for protocol 2 under the names of Python 2. Only the names
// that data uses are here; others are left as they are.
var toPython3 = map[[2]string][2]string{
	{"__builtin__", "xrange"}:  {"builtins", "range"},
	{"__builtin__", "unicode"}: {"builtins", "str"},
	{"__builtin__", "long"}:    {"builtins", "int"},
	{"__builtin__", "reduce"}:  {"functools", "reduce"},
}

var toPython2 = map[[2]string][2]string{
	{"builtins", "range"}:   {"__builtin__", "xrange"},
	{"builtins", "str"}:     {"__builtin__", "unicode"},
	{"builtins", "int"}:     {"__builtin__", "long"},
	{"functools", "reduce"}: {"__builtin__", "reduce"},
}

func python3Name(module, name string) (string, string) {
	if to, ok := toPython3[[2]string{module, name}]; ok {
		return to[0], to[1]
	}
	switch module {
	case "__builtin__":
		module = "builtins"
	case "copy_reg":
		module = "copyreg"
	}
	return module, name
}

func python2Name(module, name string) (string, string) {
	if to, ok := toPython2[[2]string{module, name}]; ok {
		return to[0], to[1]
	}
	switch module {
	case "builtins":
		module = "__builtin__"
	case "copyreg":
		module = "copy_reg"
	}
	return module, name
}
