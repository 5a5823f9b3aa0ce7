package serialize

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gotorch-dev/torch/internal/filekind"
	"github.com/gotorch-dev/torch/internal/torchzip"
)

// ErrKind is wrapped by errors about files that are not checkpoints of torch.save at all.
var ErrKind = errors.New("not a checkpoint of torch.save")

const (
	resave = "In Python, torch.save(model.state_dict(), \"weights.pt\") writes a file that serialize.LoadStateDict " +
		"reads"
	again = "Download or copy the file again"
)

// advice is what to do with a file of another kind.
var advice = map[filekind.Kind]string{
	filekind.Empty:           again,
	filekind.Zeros:           again,
	filekind.TorchScript:     "serialize.LoadStateDict reads its weights",
	filekind.ExportedProgram: "export.LoadFile of package export loads the program and its weights",
	filekind.TorchPackage:    "Packages are not supported. " + resave,
	filekind.Pickle:          "serialize.LoadPickle and serialize.LoadStateDict read it",
	filekind.SafeTensors:     "serialize.LoadStateDict reads it, and so does package serialize/safetensors",
	filekind.ONNX:            "onnx.Open of package onnx loads the program and its weights",
	filekind.GGUF:            "serialize.LoadStateDict reads it, and so does package serialize/gguf",
	filekind.HDF5: "HDF5 is not supported. In Python, save its arrays by numpy.savez and read them by " +
		"npy.OpenNPZ",
	filekind.Keras: "Keras is not supported. In Python, save its arrays by numpy.savez and read them by " +
		"npy.OpenNPZ",
	filekind.TensorFlowIndex: "TensorFlow is not supported. In Python, save its arrays by numpy.savez and read them " +
		"by npy.OpenNPZ",
	filekind.TensorFlowModel: "TensorFlow is not supported. In Python, save its arrays by numpy.savez and read them " +
		"by npy.OpenNPZ",
	filekind.TFLite:     "TensorFlow Lite is not supported",
	filekind.TFRecord:   "Package tensorboard reads event files: tensorboard.Open(folder)",
	filekind.RecordIO:   "Package recordio reads it: recordio.Open(path)",
	filekind.NPY:        "Package serialize/npy reads it: npy.ReadFile(path)",
	filekind.NPZ:        "serialize.LoadStateDict reads it, and so does package serialize/npy: npy.ReadNPZ(path)",
	filekind.Zip:        "It may hold a checkpoint: unpack it first",
	filekind.ZipCut:     again,
	filekind.Compressed: "Unpack it first",
	filekind.HTML: "The address of a page was downloaded where that of the file was meant, or a server " +
		"sent an error",
	filekind.XML:    "A server may have sent an error in place of the file",
	filekind.GitLFS: "git lfs pull fetches the file",
	filekind.JSON: "It may be the index of a model in several files, which serialize.LoadStateDict reads, or its " +
		"configuration",
}

// explain makes the error for a file that did not load. What a file is that holds no checkpoint matters more than where
// the decoder of checkpoints stumbled over it.
func explain(err error, r io.ReaderAt, size int64) error {
	info := filekind.Of(r, size)
	switch info.Kind {
	case filekind.Unknown, filekind.Checkpoint, filekind.CheckpointLegacy, filekind.CheckpointTar:
		return err
	case filekind.Zip:
		if info.Detail != "" { // its directory is wrong, as err says
			return err
		}
	case filekind.ZipCut:
		info.Missing = torchzip.Missing(r, size)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "this is %s", info.Kind)
	if info.Detail != "" {
		fmt.Fprintf(&b, " (%s)", info.Detail)
	}
	switch {
	case info.Missing > 0 && info.Kind == filekind.GitLFS:
		fmt.Fprintf(&b, " (of %d bytes)", info.Missing)
	case info.Missing > 0 && info.Kind == filekind.ZipCut:
		fmt.Fprintf(&b, "; of its data at least %d bytes are missing", info.Missing)
	case info.Missing > 0:
		fmt.Fprintf(&b, ", of which %d bytes are missing", info.Missing)
	}
	if a := advice[info.Kind]; a != "" {
		b.WriteString(". " + a)
	}
	return &foreignError{b.String(), err}
}

// foreignError is ErrKind, and ErrFormat where the decoder's error was.
type foreignError struct {
	msg   string
	cause error
}

func (e *foreignError) Error() string   { return "serialize: " + ErrKind.Error() + ": " + e.msg }
func (e *foreignError) Unwrap() []error { return []error{ErrKind, e.cause} }

// notData is the error for an object where a tensor should be. A pickled module is one whose state has parameters and
// children.
func notData(o *Object) error {
	class := "an unnamed class"
	if o.Callee == nil {
		class = "class " + cut(o.Class.String())
	}
	return fmt.Errorf("%w: an object of %s, and no code of a file is ever run. In Python, save what is in it as "+
		"numbers, "+
		"text, tensors, and dicts, lists and tuples of them (vars(object) is a dict of its attributes)", ErrNotData,
		class)
}

func cut(s string) string {
	if len(s) > 100 {
		return s[:100] + "..."
	}
	return s
}
