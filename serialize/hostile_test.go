package serialize_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// container is a file of torch.save with the given pickle and storages 0, 1, ….
func container(pickle string, storages ...string) []byte {
	var buf bytes.Buffer
	zw := zip.NewWriter(&buf)
	add := func(name, data string) {
		w, err := zw.CreateRaw(&zip.FileHeader{Name: "archive/" + name, CRC32: crc32.ChecksumIEEE([]byte(data)),
			CompressedSize64: uint64(len(data)), UncompressedSize64: uint64(len(data))})
		if err == nil {
			_, err = w.Write([]byte(data))
		}
		if err != nil {
			panic(err)
		}
	}
	add("data.pkl", "\x80\x02"+pickle+".")
	for i, s := range storages {
		add(fmt.Sprintf("data/%d", i), s)
	}
	add("version", "3\n")
	if err := zw.Close(); err != nil {
		panic(err)
	}
	return buf.Bytes()
}

// The operations of a pickle that the attacks are made of.

func pyInt(n int64) string {
	return "\x8a\x08" + string(binary.LittleEndian.AppendUint64(nil, uint64(n)))
}

func pyStr(s string) string {
	return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
}

func pyInts(n ...int64) string {
	s := "("
	for _, v := range n {
		s += pyInt(v)
	}
	return s + "t"
}

// pyTensor is a call of _rebuild_tensor_v2 with one storage.
func pyTensor(class, location string, elements int64, shape, stride, requiresGrad, metadata string) string {
	id := "(" + pyStr("storage") + "ctorch\n" + class + "\n" + pyStr("0") + pyStr(location) + pyInt(elements) + "tQ"
	if metadata != "" {
		metadata = "}" + pyStr(metadata) + "\x88s"
	}
	return "ctorch._utils\n_rebuild_tensor_v2\n(" + id + "K\x00" + shape + stride + requiresGrad +
		"ccollections\nOrderedDict\n)R" + metadata + "tR"
}

// doubled is an empty container that is put into a new one twice, again and again.
func doubled(empty, put string) string {
	s := empty + "q\x00"
	for range 40 {
		s += "0" + empty + fmt.Sprintf(put, "h\x00", "h\x00") + "q\x00"
	}
	return s
}

func deflated(name string, data []byte, claim uint64) []byte {
	var body bytes.Buffer
	fw, err := flate.NewWriter(&body, flate.BestCompression)
	if err == nil {
		_, err = fw.Write(data)
	}
	if err != nil || fw.Close() != nil {
		panic(err)
	}
	var buf bytes.Buffer
	zw := zip.NewWriter(&buf)
	w, err := zw.CreateRaw(&zip.FileHeader{Name: "archive/" + name, Method: zip.Deflate,
		CRC32:            crc32.ChecksumIEEE(data),
		CompressedSize64: uint64(body.Len()), UncompressedSize64: max(claim, uint64(len(data)))})
	if err == nil {
		_, err = w.Write(body.Bytes())
	}
	if err != nil || zw.Close() != nil {
		panic(err)
	}
	return buf.Bytes()
}

// storageBomb has one deflated storage, of 32 GB as its pickle, the directory and Deflate's ratio have it. That the
// bytes are no such stream would only come out behind the allocation.
func storageBomb() []byte {
	var buf bytes.Buffer
	zw := zip.NewWriter(&buf)
	pickle := "\x80\x02" + pyTensor("ByteStorage", "cpu", 1<<35, pyInts(1<<35), pyInts(1), "\x89", "") + "."
	w, err := zw.CreateRaw(&zip.FileHeader{Name: "archive/data.pkl", CRC32: crc32.ChecksumIEEE([]byte(pickle)),
		CompressedSize64: uint64(len(pickle)), UncompressedSize64: uint64(len(pickle))})
	if err == nil {
		_, err = w.Write([]byte(pickle))
	}
	body := make([]byte, 1<<35/1030)
	h := &zip.FileHeader{Name: "archive/data/0", Method: zip.Deflate, CompressedSize64: uint64(len(body)),
		UncompressedSize64: 1 << 35}
	if err == nil {
		w, err = zw.CreateRaw(h)
	}
	if err == nil {
		_, err = w.Write(body)
	}
	if err != nil || zw.Close() != nil {
		panic(err)
	}
	return buf.Bytes()
}

// TestHostile gives Load what a hostile file may hold. Each file ends in an error or in a value, within the time and
// with memory in proportion to the file; so do the functions that walk the value.
func TestHostile(t *testing.T) {
	million := strings.Repeat("K\x01", 1<<20)
	nested := func(n int) string { return strings.Repeat("]", n) + strings.Repeat("a", n-1) }
	for _, c := range []struct {
		name string
		file []byte
		err  error  // that is wrapped, nil where the file loads
		says string // what the error says
	}{
		{"a list doubled 40 times", container(doubled("]", "(%s%se")), nil, ""},
		{"a dict doubled 40 times", container(doubled("}", "(K\x00%sK\x01%su")), nil, ""},
		{"a tuple doubled 40 times", container(")q\x00" + strings.Repeat("0h\x00h\x00\x86q\x00", 40)), nil, ""},
		{"a dict within itself", container("}q\x00K\x01h\x00s"), nil, ""},
		{"a list within itself", container("]q\x00h\x00a"), serialize.ErrCycle, "at [0]"},
		{"a tuple within its list", container("]q\x00h\x00\x85a"), serialize.ErrCycle, "[0][0]"},
		{"a list within itself and within a dict", container("]q\x00(}q\x01K\x00]q\x02h\x00ash\x02e"),
			serialize.ErrCycle, ""},
		{"lists 300 deep", container(nested(300)), nil, ""},
		{"lists 100,000 deep", container(nested(100000)), serialize.ErrDepth, "more than 1000"},
		{"dicts 100,000 deep", container(strings.Repeat("}K\x00", 100000) + "N" + strings.Repeat("s", 100000)),
			serialize.ErrDepth, "more than 1000"},
		{"a meta tensor of 2^40 bytes", container(pyTensor("ByteStorage", "meta", 1<<40, pyInts(1<<40), pyInts(1),
			"\x89", "")), nil, ""},
		{"a negative meta tensor of 2^40 bytes", container(pyTensor("FloatStorage", "meta", 1<<38, pyInts(1<<38),
			pyInts(1), "\x89", "neg")), nil, ""},
		{"a meta tensor of 2^61 bytes", container(pyTensor("ByteStorage", "meta", 1<<61, pyInts(1<<61), pyInts(1),
			"\x89", "")), nil, ""},
		{"a meta tensor of 2^64 bytes", container(pyTensor("DoubleStorage", "meta", 1<<61, pyInts(1<<61), pyInts(1),
			"\x89", "")), serialize.ErrFormat, ""},
		{"a negative view of 256 GB", container(pyTensor("FloatStorage", "cpu", 1, pyInts(1<<18, 1<<18), pyInts(0, 0),
			"\x89", "neg"), "\x00\x00\x80\x3f"), nil, ""},
		{"a conjugate view of 256 GB", container(pyTensor("ComplexFloatStorage", "cpu", 1, pyInts(1<<18, 1<<17),
			pyInts(0, 0), "\x89", "conj"), "\x00\x00\x80\x3f\x00\x00\x80\x3f"), nil, ""},
		{"a view of one element in 40 dimensions", container("]"+pyTensor("FloatStorage", "cpu", 1,
			pyInts(slices.Repeat([]int64{2}, 40)...), pyInts(make([]int64, 40)...), "\x89", "")+"a", "abcd"), nil, ""},
		{"integers that require gradients",
			container(pyTensor("LongStorage", "cpu", 1, pyInts(1), pyInts(1), "\x88", ""),
				"01234567"), tensor.ErrAutograd, "only Tensors of floating point"},
		{"a negative view of bools", container(pyTensor("BoolStorage", "cpu", 1, pyInts(1), pyInts(1), "\x89", "neg"),
			"\x01"), tensor.ErrDType, ""},
		{"an integer of 16 MB", container("\x8b\x00\x00\x00\x01" + strings.Repeat("\xfe", 1<<24)), serialize.ErrFormat,
			"at most 4096"},
		{"digits, a million", container("L" + strings.Repeat("7", 1<<20) + "L\n"), serialize.ErrFormat, "integer"},
		{"a shape of a million", container("](ctorch\nSize\n(" + million + "tq\x00\x85R"), serialize.ErrFormat,
			"at most 64"},
		{"a set of a million, a million times", container("]((" + million + "lq\x000" +
			strings.Repeat("c__builtin__\nset\nh\x00\x85R", 1<<16) + "e"), serialize.ErrFormat, "too much work"},
		{"one call, a million times", container("](ctorch._utils\n_rebuild_tensor_v2\nq\x00(("+pyStr("storage")+
			"ctorch\nFloatStorage\n"+pyStr("0")+pyStr("cpu")+"K\x01tQK\x00"+pyInts(make([]int64, 64)...)+
			pyInts(make([]int64, 64)...)+"\x89Ntq\x010"+strings.Repeat("h\x00h\x01R", 1<<20)+"e", "abcd"),
			serialize.ErrFormat, "too much work"},
		{"one key of a thousand values, in a million dicts", container("]((" + strings.Repeat("K\x01", 1000) +
			"tq\x000" + strings.Repeat("}h\x00Ns", 1<<20) + "e"), serialize.ErrFormat, "too much work"},
		{"text of 2^40 bytes", container("\x8d\x00\x00\x00\x00\x00\x01\x00\x00abc"), serialize.ErrFormat, "EOF"},
		{"a frame of 2^60 bytes", container("\x95\x00\x00\x00\x00\x00\x00\x00\x10N"), nil, ""},
		{"memo entry 2^40", container("Np1099511627776\n0g1099511627776\n"), nil, ""},
		{"memo entry 2^62 that is not there", container("g4611686018427387904\n"), serialize.ErrFormat, "no entry"},
		{"a storage named by a number", container("K\x01Q"), serialize.ErrFormat, "persistent id 1"},
		{"a storage named by itself", container("]q\x00h\x00aQ"), serialize.ErrFormat, "persistent id"},
		{"a storage of -1 elements", container(pyTensor("FloatStorage", "cpu", -1, pyInts(1), pyInts(1), "\x89", "")),
			serialize.ErrFormat, "persistent id"},
		{"a shape of -1", container(pyTensor("FloatStorage", "cpu", 1, pyInts(-1), pyInts(1), "\x89", ""), "abcd"),
			serialize.ErrFormat, "non-negative"},
		{"a shape that overflows", container(pyTensor("FloatStorage", "cpu", 1, pyInts(1<<32, 1<<32), pyInts(0, 0),
			"\x89", ""), "abcd"), serialize.ErrFormat, "reach past"},
		{"a stride that overflows", container(pyTensor("FloatStorage", "cpu", 1, pyInts(3), pyInts(1<<62), "\x89", ""),
			"abcd"), serialize.ErrFormat, "reach past"},
		{"a pickle that inflates from 64 KB to 64 MB", deflated("data.pkl", bytes.Repeat([]byte("]0"), 1<<25), 0),
			serialize.ErrFormat, "inflates to"},
		{"a storage that claims 32 GB", storageBomb(), serialize.ErrFormat, "uncompressed"},
		{"a member that claims 32 GB", deflated("data.pkl", []byte("N."), 1<<35), serialize.ErrFormat, "claims"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var v any
			var err error
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			within(t, func() { v, err = serialize.LoadBytes(c.file) })
			runtime.ReadMemStats(&after)
			if n, most := after.TotalAlloc-before.TotalAlloc, uint64(1<<20+200*len(c.file)); n > most {
				t.Errorf("%d bytes allocated for a file of %d, want at most %d", n, len(c.file), most)
			}
			if !errors.Is(err, c.err) || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got the error %.300v, want %v: %s", err, c.err, c.says)
			}
			if c.err != nil {
				if len(err.Error()) > 4096 {
					t.Errorf("an error of %d bytes", len(err.Error()))
				}
				return
			}
			within(t, func() {
				if s := serialize.Repr(v); len(s) > 2<<20 {
					t.Errorf("prints %d bytes", len(s))
				}
			})
			var buf bytes.Buffer
			within(t, func() { err = serialize.Save(&buf, v) })
			if err != nil || buf.Len() > 2*len(c.file)+4096 {
				t.Fatalf("saved in %d bytes: %v; the file has %d", buf.Len(), err, len(c.file))
			}
			within(t, func() {
				back, err := serialize.LoadBytes(buf.Bytes())
				if err != nil {
					t.Error(err)
					return
				}
				if same := (same{seen: map[[2]any]bool{}}); !same.value(v, back) {
					t.Errorf("saved and loaded: %.300s", serialize.Repr(back))
				}
			})
		})
	}
}

// within fails the test where f does not end. The limit is far above what f takes on a busy machine.
func within(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("not done after 30 s")
	}
}
