// Command gotorch-vet finds mistakes in modules before a program runs: private fields that hold layers, fields of one
// name, types that a walk over a module cannot reach. It is a tool for go vet:
//
//	go install github.com/gotorch-dev/torch/cmd/gotorch-vet@latest
//	go vet -vettool=$(which gotorch-vet) ./...
//
// "gotorch vet ./..." does the same. It is a program of its own because the machinery of analysis would make the
// command gotorch larger for everybody.
package main

import (
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/gotorch-dev/torch/cmd/gotorch-vet/modulecheck"
)

func main() { unitchecker.Main(modulecheck.Analyzer) }
