// Package pickle reads and writes Python's pickle streams as plain data.
//
// A pickle is a program for a small stack machine, and Python's own loader lets
// that program import and call anything. This package never does: a class or
// function named in the stream becomes a [Global], a call of it becomes an
// [Object] that describes the call, and only names that the caller resolves
// through [DecodeOptions.FindClass] run Go code of the caller's choosing.
//
// The types to know are [Decoder] and [Encoder] and the value model:
//
//	Python                      Go
//	None                        nil
//	bool, float, str            bool, float64, string
//	int                         int64, or *big.Int beyond 64 bits
//	complex                     complex128
//	bytes, bytearray            []byte, ByteArray
//	list, tuple                 *List, Tuple
//	dict, OrderedDict,
//	defaultdict, Counter        *Dict (its Class tells them apart)
//	set, frozenset              *Set
//	a class or function         *Global
//	anything else               *Object
//
// Shared and recursive structures keep their sharing: a list that appears twice
// in the stream is one *List, and a list may contain itself. Code that walks
// decoded values must therefore bound its depth; [Repr] and [Encoder.Encode] do.
//
// Reading is safe on hostile input: memory and time are bounded by a multiple of
// the bytes read, and a mistake is an [*Error] that carries the offset of the opcode.
//
// Writing uses protocol 2 with the opcode choices, memo numbering and batching
// of CPython's C pickler, because that is what torch.save emits; a file written
// here compares equal to the file Python writes for the same value, as far as
// object identity in Python can be guessed from the Go value.
package pickle
