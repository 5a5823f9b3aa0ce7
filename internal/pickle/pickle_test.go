package pickle

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"
)

func TestDecode(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"none", "N.", "None"},
		{"proto0 dict", "(dp0\nVa\np1\nI1\nsVb\np2\n(lp3\nI2\naF1.5\nas.", "{'a': 1, 'b': [2, 1.5]}"},
		{"bools", "(I00\nI01\n\x88\x89t.", "(False, True, True, False)"},
		{"ints", "(I-5\nL123456789012345678901L\nK\xffM\xff\xffJ\xff\xff\xff\xff\x8a\x00\x8a\x01\x80\x8a\x02\xff\x00t.",
			"(-5, 123456789012345678901, 255, 65535, -1, 0, -128, 255)"},
		{"long4", "\x8b\x09\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x40.", "1180591620717411303424"},
		{"negative big", "\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\xff.", "-18446744073709551616"},
		{"floats", "(Finf\nFnan\nG\x40\x04\x00\x00\x00\x00\x00\x00t.", "(inf, nan, 2.5)"},
		{"strings", "(S'a\\x41\\n\\101'\nU\x02hiT\x01\x00\x00\x00zX\x02\x00\x00\x00\xc3\xa9\x8c\x01yV\\u00e9x\nt.",
			"('aA\\nA', 'hi', 'z', 'é', 'y', 'éx')"},
		{"py2 bytes", "U\x02\xff\x80.", `b'\xff\x80'`},
		{"bytes", "(C\x01aB\x01\x00\x00\x00b\x8e\x01\x00\x00\x00\x00\x00\x00\x00c\x96\x01\x00\x00\x00\x00\x00\x00\x00dt.", "(b'a', b'b', b'c', bytearray(b'd'))"},
		{"tuples", "()K\x01\x85K\x01K\x02\x86K\x01K\x02K\x03\x87t.", "((), (1,), (1, 2), (1, 2, 3))"},
		{"appends", "](K\x01K\x02e.", "[1, 2]"},
		{"key equality", "}(K\x01U\x01aG\x3f\xf0\x00\x00\x00\x00\x00\x00U\x01b\x88U\x01cu.", "{1: 'c'}"},
		{"tuple keys", "}((K\x01U\x01atK\x02(K\x01U\x01atK\x03u.", "{(1, 'a'): 3}"},
		{"sets", "(\x8f(K\x01K\x02K\x01\x90(K\x03\x91t.", "({1, 2}, frozenset({3}))"},
		{"memo", "]q\x00h\x00\x86.", "([], [])"},
		{"memo text", "]p7\ng7\n\x86.", "([], [])"},
		{"memoize", "\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00]\x94h\x00\x86.", "([], [])"},
		{"pop", "(K\x01K\x020t.", "(1,)"},
		{"pop mark", "K\x05(K\x01K\x021.", "5"},
		{"dup", "K\x052\x86.", "(5, 5)"},
		{"global", "c__builtin__\nlist\n.", "builtins.list"},
		{"stack global", "\x8c\x01m\x8c\x01n\x93.", "m.n"},
		{"reduce", "cposix\nsystem\nU\x02ls\x85R.", "posix.system('ls')"},
		{"newobj build", "cm\nC\n)\x81}U\x01aK\x01sb.", "m.C() state={'a': 1}"},
		{"newobj ex", "cm\nC\n)}\x92.", "m.C()"},
		{"inst", "(K\x01im\nC\n.", "m.C(1)"},
		{"obj", "(cm\nC\nK\x01o.", "m.C(1)"},
		{"object items", "cm\nC\n)R(K\x01K\x02eK\x03K\x04s.", "m.C()[1, 2]{3: 4}"},
		{"ordered", "ccollections\nOrderedDict\n)R(U\x01aK\x01U\x01bK\x02u.", "OrderedDict({'a': 1, 'b': 2})"},
		{"ordered from pairs", "ccollections\nOrderedDict\n](](U\x01aK\x01ee\x85R.", "OrderedDict({'a': 1})"},
		{"defaultdict", "ccollections\ndefaultdict\nc__builtin__\nint\n\x85R.", "defaultdict(builtins.int, {})"},
		{"codecs", "c_codecs\nencode\nX\x02\x00\x00\x00\xc3\xbfU\x06latin1\x86R.", `b'\xff'`},
		{"complex", "c__builtin__\ncomplex\nF1\nF-2\n\x86R.", "(1-2i)"},
		{"set call", "c__builtin__\nset\n](K\x01K\x02e\x85R.", "{1, 2}"},
		{"recursive", "]q\x00h\x00a.", "[[[[[[[[[[[[[[[[[[[[[...]]]]]]]]]]]]]]]]]]]]]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := Unmarshal([]byte(tt.in), DecodeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := Repr(v); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestDecodeErrors(t *testing.T) {
	tests := []struct {
		name, in string
		offset   int64
		text     string
	}{
		{"underflow", "K\x01a.", 2, "stack underflow"},
		{"below mark", "](a.", 2, "stack underflow"},
		{"stop on empty", ".", 0, "stack underflow"},
		{"truncated", "(K\x01", 3, "unexpected EOF"},
		{"truncated text", "NX\xff\xff\xff\x7fab", 1, "unexpected EOF"},
		{"truncated bytes8", "\x8e\xff\xff\xff\xff\xff\xff\xff\x7f", 0, "unexpected EOF"},
		{"huge length", "\x8e\xff\xff\xff\xff\xff\xff\xff\xff", 0, "length"},
		{"no mark", "Nt.", 1, "no mark"},
		{"memo", "h\x05.", 0, "memo has no entry 5"},
		{"unknown opcode", "N\xf0", 1, "unknown opcode"},
		{"protocol", "\x80\x09N.", 0, "protocol 9"},
		{"unhashable", "}]Ns.", 3, "unhashable key of type list"},
		{"odd items", "}(Nu.", 3, "without a value"},
		{"append to int", "K\x01Na.", 3, "APPEND to a int"},
		{"call of int", "K\x01)R.", 3, "call of a int"},
		{"args", "cm\nC\nNR.", 6, "must be a tuple, got NoneType"},
		{"persid", "Nq\x00Q.", 3, "persistent id None"},
		{"ext", "\x82\x01.", 0, "extension"},
		{"utf8", "X\x01\x00\x00\x00\xff.", 0, "not UTF-8"},
		{"buffer", "\x97.", 0, "out-of-band"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Unmarshal([]byte(tt.in), DecodeOptions{})
			var pe *Error
			if !errors.As(err, &pe) {
				t.Fatalf("error %v is not an *Error", err)
			}
			if pe.Offset != tt.offset || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %v, want offset %d and %q", err, tt.offset, tt.text)
			}
		})
	}
	if _, err := Unmarshal(nil, DecodeOptions{}); err != io.EOF {
		t.Errorf("empty input: %v, want io.EOF", err)
	}
}

// TestHostile runs streams that ask for far more work than they are long.
func TestHostile(t *testing.T) {
	pairs := []byte("K\x01\x85q\x00") // tuples that each hold the previous one twice
	for i := 1; i < 200; i++ {
		pairs = append(pairs, 'h', byte(i-1), 'h', byte(i-1), 0x86, 'q', byte(i))
	}
	pairs = append(pairs, "0}h\xc7Ns."...)

	// One long text, used as a key over and over.
	keys := append([]byte("X\x00\x00\x10\x00"), bytes.Repeat([]byte("a"), 1<<20)...)
	keys = append(keys, "q\x000}q\x01"...)
	keys = append(keys, bytes.Repeat([]byte("h\x00Ns"), 1<<18)...)
	keys = append(keys, '.')

	// One long text, turned into bytes over and over.
	enc := append([]byte("X\x00\x00\x10\x00"), bytes.Repeat([]byte("a"), 1<<20)...)
	enc = append(enc, "q\x000c_codecs\nencode\nq\x010(U\x06latin1q\x02"...)
	enc = append(enc, bytes.Repeat([]byte("h\x01h\x00h\x02\x86R"), 1<<16)...)
	enc = append(enc, "t."...)

	for name, in := range map[string][]byte{
		"exponential key": pairs, "rehashed key": keys, "repeated encoding": enc,
		"marks":  bytes.Repeat([]byte("("), 1<<20),
		"digits": append(append([]byte("L"), bytes.Repeat([]byte("9"), 1<<20)...), "L\n."...),
	} {
		start := time.Now()
		if _, err := Unmarshal(in, DecodeOptions{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("%s: took %v", name, d)
		}
	}

	deep := append(bytes.Repeat([]byte("]"), 1<<20), bytes.Repeat([]byte("a"), 1<<20-1)...)
	v, err := Unmarshal(append(deep, '.'), DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Marshal(v, EncodeOptions{}); !errors.Is(err, ErrDepth) {
		t.Errorf("writing a deep list: %v, want ErrDepth", err)
	}
}

// TestEncode compares with the bytes that Python's pickle.dumps(x, protocol=2) makes.
func TestEncode(t *testing.T) {
	big70 := new(big.Int).Lsh(big.NewInt(1), 70)
	shared := NewList(int64(1))
	od := NewDict(OrderedDict)
	od.Set("k", int64(1))
	od.Attrs = func() Value { d := NewDict(PlainDict); d.Set("m", nil); return d }()
	dd := NewDict(DefaultDict)
	dd.Factory = &Global{Module: "builtins", Name: "int"}
	dd.Set("a", 1.0)
	set, _ := NewSet(false, int64(3))
	tests := []struct {
		name string
		in   Value
		want string // hex, without the leading 8002 and the final 2e
	}{
		{"none", nil, "4e"},
		{"int 1", int64(255), "4bff"},
		{"int 2", int64(256), "4d0001"},
		{"int 4", int64(65536), "4a00000100"},
		{"negative", int64(-1), "4affffffff"},
		{"long", int64(1 << 40), "8a06000000000001"},
		{"long min", int64(math.MinInt64), "8a080000000000000080"},
		{"big", big70, "8a09000000000000000040"},
		{"big negative", new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), 71)), "8a09000000000000000080"},
		{"float", 1.5, "473ff8000000000000"},
		{"text", "é", "5802000000c3a97100"},
		{"bytes", []byte{0xff}, "635f636f646563730a656e636f64650a71005802000000c3bf710158060000006c6174696e3171028671035271" + "04"},
		{"empty bytes", []byte{}, "635f5f6275696c74696e5f5f0a62797465730a7100295271" + "01"},
		{"tuple", Tuple{int64(1), "a", "a"}, "4b01580100000061710068008771" + "01"},
		{"long tuple", Tuple{nil, nil, nil, nil}, "284e4e4e4e747100"},
		{"shared list", Tuple{shared, shared}, "5d71004b016168008671" + "01"},
		{"list", NewList(int64(1), int64(2)), "5d7100284b014b0265"},
		{"ordered", od, "63636f6c6c656374696f6e730a4f726465726564446963740a710029527101" + "58010000006b71024b0173" +
			"7d710358010000006d71044e7362"},
		{"defaultdict", dd, "63636f6c6c656374696f6e730a64656661756c74646963740a7100635f5f6275696c74696e5f5f0a6c6f6e670a710185710252710358010000006171" + "04473ff000000000000073"},
		{"set", set, "635f5f6275696c74696e5f5f0a7365740a71005d71014b036185710252" + "7103"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Marshal(tt.in, EncodeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if h := hex.EncodeToString(got); h != "8002"+tt.want+"2e" {
				t.Errorf("got  %s\nwant 8002%s2e", h, tt.want)
			}
			back, err := Unmarshal(got, DecodeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if Repr(back) != Repr(tt.in) {
				t.Errorf("read back as %s, want %s", Repr(back), Repr(tt.in))
			}
		})
	}
}

func TestEncodeBatches(t *testing.T) {
	// Marks, one-item and many-item opcodes for each size, as CPython emits them.
	count := func(b []byte) (s string) {
		for _, c := range b {
			if strings.IndexByte("(aesu", c) >= 0 {
				s += string(c)
			}
		}
		return s
	}
	for _, tt := range []struct {
		n                   int
		list, dict, ordered string
	}{
		{0, "", "", ""}, {1, "a", "s", "s"}, {2, "(e", "(u", "(u"},
		{1000, "(e", "(u(u", "(u"}, {1001, "(e(e", "(u(u", "(us"}, {2000, "(e(e", "(u(u(u", "(u(u"},
	} {
		l, d, o := &List{}, NewDict(PlainDict), NewDict(OrderedDict)
		for i := range tt.n {
			// Values whose bytes cannot be taken for the opcodes counted.
			l.Items = append(l.Items, nil)
			d.Set(int64(1<<40+i<<48), nil)
			o.Set(int64(1<<40+i<<48), nil)
		}
		for _, c := range []struct {
			v    Value
			want string
		}{{l, tt.list}, {d, tt.dict}, {o, tt.ordered}} {
			b, err := Marshal(c.v, EncodeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if c.v == Value(l) {
				if got := count(b); got != c.want {
					t.Errorf("list of %d: %s, want %s", tt.n, got, c.want)
				}
			}
			v, err := Unmarshal(b, DecodeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if m, ok := v.(*Dict); ok && m.Len() != tt.n {
				t.Errorf("dict of %d read back with %d entries", tt.n, m.Len())
			}
		}
	}
}

func TestRecursive(t *testing.T) {
	l := &List{}
	l.Items = []Value{Tuple{l}}
	tup := l.Items[0].(Tuple)
	for _, v := range []Value{l, tup} {
		b, err := Marshal(v, EncodeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		back, err := Unmarshal(b, DecodeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if bt, ok := back.(Tuple); ok {
			back = bt[0]
		}
		bl := back.(*List)
		if bl.Items[0].(Tuple)[0] != Value(bl) {
			t.Errorf("%T: the cycle was not kept", v)
		}
	}
}

func TestFindClass(t *testing.T) {
	opts := DecodeOptions{
		FindClass: func(module, name string) (Func, error) {
			switch module + "." + name {
			case "m.sum":
				return func(args Tuple) (Value, error) {
					var s int64
					for _, a := range args {
						n, ok := a.(int64)
						if !ok {
							return nil, errors.New("not an int")
						}
						s += n
					}
					return s, nil
				}, nil
			case "os.system":
				return nil, errors.New("refused")
			}
			return nil, nil
		},
		PersistentLoad: func(id Value) (Value, error) { return Tuple{"loaded", id}, nil },
	}
	for _, tt := range []struct{ in, want string }{
		{"cm\nsum\nK\x01K\x02\x86R.", "3"},
		{"cm\nsum\n.", "m.sum"},
		{"cm\nother\n)R.", "m.other()"},
		{"cm\nsum\nN\x85R.", "error: m.sum: not an int"},
		{"cos\nsystem\n)R.", "error: refused"},
		{"U\x01kQ.", "('loaded', 'k')"},
		{"Pkey\n.", "('loaded', 'key')"},
	} {
		v, err := Unmarshal([]byte(tt.in), opts)
		got := Repr(v)
		if err != nil {
			got = "error: " + errors.Unwrap(err).Error()
		}
		if got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestSeveralPickles(t *testing.T) {
	d := NewDecoder(strings.NewReader("K\x01.K\x02.rest"), DecodeOptions{})
	for want := int64(1); want <= 2; want++ {
		v, err := d.Decode()
		if err != nil || v != Value(want) || d.Offset() != 3*want {
			t.Fatalf("got %v, %v at %d", v, err, d.Offset())
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		"N.", "](K\x01K\x02e.", "ccollections\nOrderedDict\n)R(U\x01aK\x01u}b.", "}((K\x01tNu.",
		"\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00\x8f\x94(K\x01\x90.", "c__builtin__\nset\n]\x85R.",
		"(I1\nL5L\nF2\nS'a'\nVb\nt.", "\x8a\x0f\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff.",
		"U\x01aQ.",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		opts := DecodeOptions{PersistentLoad: func(id Value) (Value, error) { return id, nil }}
		v, err := Unmarshal(data, opts)
		if err != nil {
			return
		}
		// What was read can be written, but for the few things protocol 2 lacks,
		// and what was written reads back the same.
		text := Repr(v)
		b, err := Marshal(v, EncodeOptions{})
		if err != nil {
			return
		}
		back, err := Unmarshal(b, opts)
		if err != nil {
			t.Fatalf("%s: written, but not read: %v", text, err)
		}
		if got := Repr(back); got != text {
			t.Fatalf("got %s, want %s", got, text)
		}
	})
}

// TestMemory decodes streams whose opcodes of one byte make values of a hundred: the memory is limited beyond what the
// stream has earned.
func TestMemory(t *testing.T) {
	for _, unit := range []string{"}0", "]0", "K\x01", "]", "}K\x01K\x01s0", "\x8f0", ")0"} {
		p := []byte("(" + strings.Repeat(unit, 1<<20) + "l.")
		if _, err := Unmarshal(p, DecodeOptions{MaxMemory: 1 << 20}); err == nil ||
			!strings.Contains(err.Error(), "values of more than") {
			t.Errorf("%q a million times: got %v", unit, err)
		}
		if _, err := Unmarshal(p[:1000-1000%len(unit)+1], DecodeOptions{MaxMemory: 1 << 20}); err == nil ||
			strings.Contains(err.Error(), "values of more than") {
			t.Errorf("a thousand bytes: got %v, want the end of the input", err)
		}
	}
	// What is remembered costs no more each time than its place.
	long := "X\x00\x00\x10\x00" + strings.Repeat("x", 1<<20) + "q\x00"
	if _, err := Unmarshal([]byte("("+long+strings.Repeat("h\x00", 1000)+"l."),
		DecodeOptions{MaxMemory: 1 << 20}); err != nil {
		t.Error(err)
	}
}
