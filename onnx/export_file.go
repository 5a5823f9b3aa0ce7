package onnx

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/gotorch-dev/torch/internal/atomicfile"
	"github.com/gotorch-dev/torch/internal/onnxpb"
)

const (
	// smallest is the size in bytes from which on a weight goes into the file of the weights, where there is one.
	smallest = 1 << 10
	// aligned is what offsets in that file are a multiple of, so that it can be mapped into memory.
	aligned = 4096
)

// sizeOf is about how long the model's file is.
func sizeOf(m *onnxpb.Model) int {
	n := 1 << 20
	for _, t := range m.Graph.Initializers {
		n += len(t.Raw) + len(t.Name) + 64
	}
	return n + 256*len(m.Graph.Nodes)
}

// writeModel writes a model, and its weights beside it where it is too large for one file. The weights are written
// first: who finds the model finds them, too.
func writeModel(path string, m *onnxpb.Model, external bool) error {
	if external || sizeOf(m) > maxMessage {
		if err := writeWeights(path+".data", m); err != nil {
			return err
		}
	}
	return atomicfile.Write(path, func(w io.Writer) error { return m.Write(w) })
}

// writeWeights moves the larger initializers into a file of their own.
// https://onnx.ai/onnx/repo-docs/ExternalData.html
func writeWeights(path string, m *onnxpb.Model) error {
	var offset int64
	var moved []*onnxpb.Tensor
	err := atomicfile.Write(path, func(w io.Writer) error {
		for _, t := range m.Graph.Initializers {
			if len(t.Raw) < smallest {
				continue
			}
			if pad := -offset & (aligned - 1); pad > 0 {
				if _, err := w.Write(make([]byte, pad)); err != nil {
					return err
				}
				offset += pad
			}
			if _, err := w.Write(t.Raw); err != nil {
				return err
			}
			t.External = []onnxpb.Entry{{Key: "location", Value: filepath.Base(path)},
				{Key: "offset", Value: strconv.FormatInt(offset, 10)},
				{Key: "length", Value: strconv.Itoa(len(t.Raw))}}
			moved = append(moved, t)
			offset += int64(len(t.Raw))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("weights: %w", err)
	}
	for _, t := range moved {
		t.Raw, t.HasRaw, t.IsExtern = nil, false, true
	}
	return nil
}
