package onnx

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/internal/onnxpb"
)

// ErrUnsupported is wrapped by the errors of [Open], [OpenFS] and [Read] about programs that are well-formed but use
// something that this package has not: an operator, a type of elements, a form of an operator.
var ErrUnsupported = onnxpb.ErrUnsupported

// ErrInput is wrapped by the errors of Run about its inputs: one that is missing, one too many, a wrong dtype or shape.
var ErrInput = errors.New("input does not fit")

// NodeError says which node of a program could not be translated.
type NodeError struct {
	Name   string // of the node, "" where it has none
	Op     string // with the domain, unless it is that of ONNX itself
	Opset  int
	Output string // the first output, which tells nodes without a name apart
	Err    error
}

// Error names the node, its operator and the version of the operator set.
func (e *NodeError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "node %q: %s", e.Name, e.Op)
	if e.Opset > 0 {
		fmt.Fprintf(&b, " (opset %d)", e.Opset)
	}
	if e.Name == "" {
		fmt.Fprintf(&b, " that computes %q", e.Output)
	}
	return b.String() + ": " + e.Err.Error()
}

func (e *NodeError) Unwrap() error { return e.Err }
