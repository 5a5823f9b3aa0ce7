// Package filekind tells what a file is from its bytes, whatever its name says.
//
// People give a loader what they have: a model where it wants weights, another library's format, or the page that a
// server sent in place of the file. [Of] finds out which, so that the error can say so and name the way on.
package filekind

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/internal/pickle"
	"github.com/gotorch-dev/torch/internal/safezip"
)

// Kind is a kind of file.
type Kind uint8

// The kinds that are told apart.
const (
	Unknown          Kind = iota
	Empty                 // no bytes
	Zeros                 // nothing but zero bytes: a download that reserved its space and stopped
	Checkpoint            // torch.save, a zip archive
	CheckpointLegacy      // torch.save before PyTorch 1.6, a row of pickles
	CheckpointTar         // torch.save before PyTorch 0.1.10
	TorchScript           // torch.jit.save
	ExportedProgram       // torch.export.save
	TorchPackage          // torch.package
	Pickle                // a pickle that torch.save did not write
	SafeTensors           // Hugging Face's safetensors
	ONNX                  // an ONNX model
	GGUF                  // llama.cpp's models
	HDF5                  // HDF5, among them the older files of Keras
	Keras                 // Keras 3, a zip archive
	TensorFlowIndex       // the index of a TensorFlow checkpoint
	TensorFlowModel       // a SavedModel
	TFLite                // TensorFlow Lite
	TFRecord              // records of TensorFlow, among them event files of TensorBoard
	RecordIO              // records of MXNet
	NPY                   // an array of NumPy
	NPZ                   // arrays of NumPy, a zip archive
	Zip                   // another zip archive
	ZipCut                // a zip archive without its end
	Compressed            // gzip, bzip2, xz, Zstandard, 7-Zip or RAR
	HTML                  // a page
	XML                   // a page or a server's error message
	GitLFS                // the pointer that stands for a file in a Git repository
	JSON                  // JSON
	Picture               // PNG, JPEG or GIF
	Executable            // a program or library
	Text                  // other text
)

var names = [...]string{
	Unknown: "a file of unknown kind", Empty: "an empty file", Zeros: "a file of zero bytes alone",
	Checkpoint:       "a PyTorch checkpoint (torch.save)",
	CheckpointLegacy: "a PyTorch checkpoint in the format before PyTorch 1.6",
	CheckpointTar:    "a PyTorch checkpoint in the format before PyTorch 0.1.10",
	TorchScript:      "a TorchScript archive (torch.jit.save)",
	ExportedProgram:  "an exported program (torch.export.save, .pt2)", TorchPackage: "a package of torch.package",
	Pickle: "a Python pickle that torch.save did not write", SafeTensors: "a safetensors file",
	ONNX: "an ONNX model", GGUF: "a GGUF model (llama.cpp)", HDF5: "an HDF5 file, such as a Keras model",
	Keras: "a Keras model (.keras)", TensorFlowIndex: "the index of a TensorFlow checkpoint",
	TensorFlowModel: "a TensorFlow SavedModel", TFLite: "a TensorFlow Lite model",
	TFRecord: "a TFRecord file, such as TensorBoard's event files", RecordIO: "a RecordIO file (MXNet)",
	NPY: "an array of NumPy (.npy)", NPZ: "an archive of NumPy arrays (.npz)",
	Zip:        "a zip archive that is no checkpoint",
	ZipCut:     "a zip archive without its end, as a download leaves it that stopped early",
	Compressed: "a compressed file",
	HTML:       "an HTML page", XML: "an XML document, such as the error message of a server",
	GitLFS: "a Git LFS pointer, which stands for the file in a Git repository", JSON: "a JSON file",
	Picture:    "a picture",
	Executable: "a program or library", Text: "a text file",
}

// String says what the kind is in words, with an article.
func (k Kind) String() string {
	if int(k) < len(names) {
		return names[k]
	}
	return names[Unknown]
}

// Info is what is known about a file.
type Info struct {
	Kind Kind
	// Detail is more about it, such as "gzip" or the first words of a page; empty if there is nothing to say.
	Detail string
	// Missing counts the bytes that a file cut short lacks, or that a pointer stands for; 0 where that is unknown.
	Missing int64
}

// headBytes is how much of a file's beginning is looked at.
const headBytes = 4096

// magics are the kinds that begin with fixed bytes.
var magics = []struct {
	at     int
	magic  string
	kind   Kind
	detail string
}{
	{0, "GGUF", GGUF, ""}, {0, "\x89HDF\r\n\x1a\n", HDF5, ""}, {4, "TFL3", TFLite, ""}, {0, "\x93NUMPY", NPY, ""},
	{0, "\x0a\x23\xd7\xce", RecordIO, ""}, {257, "ustar", CheckpointTar, ""},
	{0, "\x1f\x8b", Compressed, "gzip"}, {0, "BZh", Compressed, "bzip2"}, {0, "\xfd7zXZ\x00", Compressed, "xz"},
	{0, "\x28\xb5\x2f\xfd", Compressed, "Zstandard"}, {0, "7z\xbc\xaf\x27\x1c", Compressed, "7-Zip"},
	{0, "Rar!", Compressed, "RAR"},
	{0, "\x89PNG\r\n", Picture, "PNG"}, {0, "\xff\xd8\xff", Picture, "JPEG"}, {0, "GIF8", Picture, "GIF"},
	{0, "\x7fELF", Executable, "ELF"}, {0, "MZ\x90", Executable, "Windows"},
	{0, "\xcf\xfa\xed\xfe", Executable, "macOS"},
}

// Of looks at a file of the given size. It reads some kilobytes, and the directory of a zip archive.
func Of(r io.ReaderAt, size int64) Info {
	if size <= 0 {
		return Info{Kind: Empty}
	}
	head := make([]byte, min(size, headBytes))
	if n, err := r.ReadAt(head, 0); n < len(head) && err != nil {
		head = head[:n]
	}
	if bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06")) {
		return ofZip(r, size)
	}
	for _, m := range magics {
		if len(head) >= m.at && bytes.HasPrefix(head[m.at:], []byte(m.magic)) {
			return Info{Kind: m.kind, Detail: m.detail}
		}
	}
	for _, is := range []func(r io.ReaderAt, size int64, head []byte) (Info, bool){
		isPickle, isSafeTensors, isRecords, isProtobuf, isIndex, isOldPickle, isText,
	} {
		if info, ok := is(r, size, head); ok {
			return info
		}
	}
	if len(head) > 0 && len(bytes.Trim(head, "\x00")) == 0 {
		return Info{Kind: Zeros}
	}
	return Info{}
}

// ofZip tells archives apart by the names of their members.
func ofZip(r io.ReaderAt, size int64) Info {
	zr, err := safezip.NewReader(r, size)
	if err != nil {
		// The end of an archive is found by its mark in the last 64 KB.
		tail := make([]byte, min(size, 1<<16+22))
		n, _ := r.ReadAt(tail, size-int64(len(tail)))
		if !bytes.Contains(tail[:n], []byte("PK\x05\x06")) {
			return Info{Kind: ZipCut}
		}
		return Info{Kind: Zip, Detail: err.Error()}
	}
	has := map[string]bool{}
	arrays := 0
	for _, f := range zr.File {
		if strings.HasSuffix(f.Name, ".npy") {
			arrays++
		}
		_, record, _ := strings.Cut(f.Name, "/")
		has[record] = true
		has["/"+f.Name] = true
	}
	switch {
	case has["constants.pkl"]:
		return Info{Kind: TorchScript}
	case has["archive_format"] || has["/serialized_exported_program.json"] || has["serialized_exported_program.json"]:
		return Info{Kind: ExportedProgram}
	case has[".data/extern_modules"]:
		return Info{Kind: TorchPackage}
	// torch.save that failed leaves no data.pkl
	case has["data.pkl"] || has["version"] && has[".data/serialization_id"]:
		return Info{Kind: Checkpoint}
	case has["/model.weights.h5"]:
		return Info{Kind: Keras}
	case arrays > 0 && arrays == len(zr.File):
		return Info{Kind: NPZ}
	}
	return Info{Kind: Zip}
}

// legacyMagic is the pickle that files of torch.save began with before PyTorch 1.6.
const legacyMagic = "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."

func isPickle(_ io.ReaderAt, _ int64, head []byte) (Info, bool) {
	if len(head) < 3 || head[0] != 0x80 || head[1] < 2 || head[1] > 5 {
		return Info{}, false
	}
	if bytes.HasPrefix(head[2:], []byte(legacyMagic)) {
		return Info{Kind: CheckpointLegacy}, true
	}
	return Info{Kind: Pickle}, true
}

// mostOldPickle is the size up to which a file is decoded to see whether it is a pickle.
const mostOldPickle = 64 << 20

// isOldPickle knows pickles of the protocols 0 and 1, which begin with no mark: they are what decodes up to the last
// byte, the opcode that ends them.
func isOldPickle(r io.ReaderAt, size int64, head []byte) (Info, bool) {
	var last [1]byte
	if n, _ := r.ReadAt(last[:], size-1); size < 3 || size > mostOldPickle || n < 1 || last[0] != '.' ||
		strings.IndexByte("(])}IJKLMFGSTUVXcN", head[0]) < 0 {
		return Info{}, false
	}
	d := pickle.NewDecoder(io.NewSectionReader(r, 0, size), pickle.DecodeOptions{})
	_, err := d.Decode()
	return Info{Kind: Pickle}, err == nil && d.Offset() == size
}

// isSafeTensors knows the header, JSON behind its length; the offsets in it tell how long the file must be.
func isSafeTensors(r io.ReaderAt, size int64, head []byte) (Info, bool) {
	const most = 100 << 20 // the format's own limit
	if len(head) < 10 || head[8] != '{' {
		return Info{}, false
	}
	n := binary.LittleEndian.Uint64(head)
	if n < 2 || n > most {
		return Info{}, false
	}
	if n > uint64(size-8) {
		return Info{Kind: SafeTensors, Missing: int64(n) - (size - 8)}, true
	}
	text := make([]byte, n)
	if m, _ := r.ReadAt(text, 8); m < len(text) {
		return Info{}, false
	}
	var tensors map[string]struct {
		Offsets []int64 `json:"data_offsets"`
	}
	if json.Unmarshal(text, &tensors) != nil {
		return Info{}, false
	}
	end := int64(0)
	for _, t := range tensors {
		for _, o := range t.Offsets {
			if o > 0 && o < math.MaxInt64/2 {
				end = max(end, o)
			}
		}
	}
	return Info{Kind: SafeTensors, Missing: max(0, 8+int64(n)+end-size)}, true
}

// isRecords knows TFRecord by the checksum of the first length.
func isRecords(_ io.ReaderAt, _ int64, head []byte) (Info, bool) {
	if len(head) < 12 {
		return Info{}, false
	}
	c := crc32.Checksum(head[:8], crc32.MakeTable(crc32.Castagnoli))
	ok := (c>>15|c<<17)+0xa282ead8 == binary.LittleEndian.Uint32(head[8:])
	return Info{Kind: TFRecord}, ok
}

// isProtobuf knows the two kinds of models that are protocol buffers. Both begin with their version, field 1. The one
// of ONNX is 3 or higher in every file of use, and a text or a message follows; that of a SavedModel is 1, and a graph
// with its own description follows.
func isProtobuf(_ io.ReaderAt, size int64, head []byte) (Info, bool) {
	if len(head) < 4 || head[0] != 0x08 {
		return Info{}, false
	}
	length, n := binary.Uvarint(head[3:])
	if n <= 0 || length > uint64(size) {
		return Info{}, false
	}
	switch v := head[1]; {
	case v == 1 && head[2] == 0x12 && len(head) > 3+n && head[3+n] == 0x0a:
		return Info{Kind: TensorFlowModel}, true
	case v >= 3 && v <= 30 && (head[2] == 0x12 || head[2] == 0x1a || head[2] == 0x22 || head[2] == 0x3a ||
		head[2] == 0x42):
		return Info{Kind: ONNX}, true
	}
	return Info{}, false
}

// isIndex knows a table of LevelDB by its last bytes.
func isIndex(r io.ReaderAt, size int64, _ []byte) (Info, bool) {
	var end [8]byte
	if size < 48 {
		return Info{}, false
	}
	n, _ := r.ReadAt(end[:], size-8)
	return Info{Kind: TensorFlowIndex}, n == 8 && binary.LittleEndian.Uint64(end[:]) == 0xdb4775248b80fb57
}

var (
	lfsSize = regexp.MustCompile(`(?m)^size (\d+)$`)
	title   = regexp.MustCompile(`(?is)<title[^>]*>\s*([^<]{1,200}?)\s*</title>`)
)

func isText(_ io.ReaderAt, size int64, head []byte) (Info, bool) {
	for i, c := range head {
		if c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && !(i > 0 && c == 0x1b) {
			return Info{}, false
		}
	}
	s := strings.TrimSpace(strings.TrimPrefix(string(head), "\ufeff"))
	lower := strings.ToLower(s[:min(len(s), 200)])
	first, _, _ := strings.Cut(s, "\n")
	first = strings.ToValidUTF8(strings.TrimSpace(first[:min(len(first), 80)]), "")
	switch {
	case strings.HasPrefix(s, "version https://git-lfs.github.com/spec/"):
		info := Info{Kind: GitLFS}
		if m := lfsSize.FindStringSubmatch(strings.ReplaceAll(s, "\r", "")); m != nil {
			info.Missing, _ = strconv.ParseInt(m[1], 10, 64)
		}
		return info, true
	case strings.HasPrefix(lower, "<!doctype html") || strings.Contains(lower, "<html"):
		info := Info{Kind: HTML}
		if m := title.FindStringSubmatch(s); m != nil {
			info.Detail = strconv.Quote(strings.ToValidUTF8(m[1], ""))
		}
		return info, true
	case strings.HasPrefix(lower, "<?xml"):
		return Info{Kind: XML}, true
	case strings.HasPrefix(s, "{") || strings.HasPrefix(s, "["):
		return Info{Kind: JSON}, true
	case s == "":
		return Info{}, false
	}
	return Info{Kind: Text, Detail: strconv.Quote(first)}, true
}
