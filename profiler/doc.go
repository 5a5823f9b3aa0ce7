// Package profiler measures what a program does: which operators it calls, how long each takes, with which shapes, how
// much memory, in which module and from which line of the program. It is torch.profiler for Go.
//
// [Profile] runs a function under a profiler and returns a [Trace]. [Trace.KeyAverages] sums the calls up by operator,
// and [Averages.Table] prints the sums as PyTorch does. [Trace.ExportChromeTrace] writes the calls as a file for
// chrome://tracing, https://ui.perfetto.dev and TensorBoard; [TensorBoardTraceHandler] writes such files as
// TensorBoard's profile plugin looks for them. [RecordFunction] names a part of the program. A [Schedule] measures some
// steps of a long training only.
//
// A profiler is a layer of package tensor: while none is set, operators cost what they always do.
// https://docs.pytorch.org/docs/stable/profiler.html
package profiler
