// Package mapfile maps files into memory, so that a large file is open at once and its pages are read when they are
// used.
//
// A mapping lies in a block of Go's own heap: the pages of the block are replaced by those of the file. The garbage
// collector so sees every pointer into the mapping, from a tensor, a slice or a kernel's registers, and the mapping
// goes when there is none. Memory that a program maps elsewhere is unknown to the collector: whoever unmapped it on
// their own would have to know that no slice of it is left.
//
// Pages are copied when they are written to; the file never changes. A file that another process cuts short while it is
// mapped ends the program with SIGBUS when what is missing is read, as with every mapping.
//
// The block counts as Go heap, so a memory limit of the runtime (GOMEMLIMIT) below the size of the file makes the
// collector run all the time.
package mapfile

import "errors"

// ErrUnsupported says that files cannot be mapped here: on systems other than Linux, macOS and the BSDs, and where the
// file is none that can be mapped. Callers read the file instead.
var ErrUnsupported = errors.New("mapfile: not supported here")

// Tail is how many bytes behind the mapping can be read, as kernels do that read whole vectors.
const Tail = 64
