package safetensors

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"unicode/utf8"
)

// entry is a tensor as the header has it.
type entry struct {
	name, dtype string
	shape       []int
	from, to    uint64
}

// parseHeader reads the JSON token by token: a decoder of maps would take the last of two tensors of one name, and
// would follow values of any depth.
func parseHeader(text []byte) (entries []entry, meta map[string]string, err error) {
	if len(text) == 0 || text[0] != '{' || !utf8.Valid(text) {
		return nil, nil, formatErr("the header is no JSON object in UTF-8")
	}
	p := &parser{d: json.NewDecoder(bytes.NewReader(text))}
	p.d.UseNumber()
	p.object(func(name string) {
		if name == "__metadata__" {
			if meta != nil {
				p.fail("two entries __metadata__")
				return
			}
			meta = map[string]string{}
			p.object(func(k string) {
				if _, dup := meta[k]; dup {
					p.fail("__metadata__ has %q twice", cut(k))
				}
				meta[k] = p.text()
			})
			return
		}
		e := entry{name: name}
		seen := 0
		p.object(func(k string) {
			switch k {
			case "dtype":
				e.dtype, seen = p.text(), seen|1
			case "shape":
				for _, n := range p.numbers(64) {
					e.shape = append(e.shape, int(n))
				}
				seen |= 2
			case "data_offsets":
				if n := p.numbers(2); len(n) == 2 {
					e.from, e.to, seen = n[0], n[1], seen|4
				}
			default:
				p.fail("tensor %q has the unknown entry %q", cut(name), cut(k))
			}
		})
		if seen != 7 {
			p.fail("tensor %q lacks dtype, shape or data_offsets", cut(name))
		}
		if e.shape == nil {
			e.shape = []int{}
		}
		entries = append(entries, e)
	})
	if p.err == nil {
		if _, err := p.d.Token(); err != io.EOF {
			p.fail("text behind the header's object")
		}
	}
	return entries, meta, p.err
}

// parser keeps the first error.
type parser struct {
	d   *json.Decoder
	err error
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = formatErr("header: "+format, args...)
	}
}

func (p *parser) token() json.Token {
	if p.err != nil {
		return nil
	}
	t, err := p.d.Token()
	if err != nil {
		p.fail("%v", err)
		return nil
	}
	return t
}

// object calls f for each key; f must read the value.
func (p *parser) object(f func(key string)) {
	if p.token() != json.Delim('{') {
		p.fail("expected an object")
	}
	for p.err == nil && p.d.More() {
		if key, ok := p.token().(string); ok {
			f(key)
		}
	}
	if p.token() != json.Delim('}') {
		p.fail("expected the end of an object")
	}
}

func (p *parser) text() string {
	s, ok := p.token().(string)
	if !ok {
		p.fail("expected text")
	}
	return s
}

// numbers reads an array of at most so many sizes.
func (p *parser) numbers(most int) (out []uint64) {
	if p.token() != json.Delim('[') {
		p.fail("expected an array")
	}
	for p.err == nil && p.d.More() {
		n, ok := p.token().(json.Number)
		v, err := strconv.ParseUint(string(n), 10, 64)
		if !ok || err != nil || v > math.MaxInt64 {
			p.fail("expected sizes, got %q", cut(string(n)))
		}
		if out = append(out, v); len(out) > most {
			p.fail("more than %d sizes", most)
		}
	}
	if p.token() != json.Delim(']') {
		p.fail("expected the end of an array")
	}
	return out
}
