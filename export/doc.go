// Package export loads, runs, trains and writes the programs of torch.export: archives with the extension .pt2.
//
//	p, err := export.LoadFile("model.pt2")
//	…
//	y, err := p.Forward(x)                                             // one tensor in, one out
//	out, err := p.Run(ctx, map[string]*torch.Tensor{"x": x})           // for serving, from any number of goroutines
//	v, err := p.Call(ctx, []tensor.Value{…}, map[string]tensor.Value{…}) // any structure of arguments and results
//
// The types to know: a [Program] is a [graph.Model] with parameters, buffers, guards and a graph; [LoadFile], [Load]
// and [LoadFS] read one from a path, an io.ReaderAt and an fs.FS; [Export] makes one of a module written in Go;
// [Program.Save] writes it, and PyTorch's torch.export.load opens the file.
//
// # What is read
//
// Archives of schema version 8, also in the layout that PyTorch had before 2.8, with all kinds of graphs: for training,
// for inference, decomposed to core operators, joint graphs of forward and backward ([Program.CallGrads]). Arguments
// and results are trees of tuples, lists, dictionaries, named tuples and data classes. Sizes may vary; what the
// exporter found out about them (ranges, equal and derived sizes, conditions in the code) is checked before a call, in
// PyTorch's order and with its texts ([ErrGuard], [ErrInput]). Of the higher-order operators there are cond,
// while_loop, map, scan, associative_scan, checkpoints, regions of autocast and no_grad, invoke_subgraph, with_effects,
// auto_functionalized, and regions of torch.vmap, which are computed one element after the other. An operator of a
// library of one's own is found if Go code has registered it ([tensor.Register], [graph.Register]) under its name
// before the archive is loaded.
//
// Not read are objects of classes of C++, tensors in other layouts than strided, and code that AOTInductor has
// compiled. A program for another device runs on the CPU.
//
// # How it runs
//
// A program is translated once into a function of package graph, whose operators are those of package torch. Nothing of
// the file is executed but registered operators; guards and sizes are expressions of a small language that expr.go
// reads and guard.go computes.
//
// https://docs.pytorch.org/docs/stable/export.html
package export

import (
	_ "github.com/gotorch-dev/torch/ops/all" // links the operators
)
