// Package npy reads and writes NumPy's files: .npy, which holds one array, and
// .npz, a zip archive of them.
//
// An [Array] is raw: a dtype by NumPy's name, a shape and little-endian bytes.
// [Read] and [Write] handle .npy in all three versions of the format; [ReadNPZ],
// [OpenNPZ] and [NPZWriter] handle archives, stored or deflated. Arrays of Python
// objects are pickles and are refused with [ErrObject].
//
// The header of a file is a Python literal; it is parsed, never evaluated. Memory
// is only allocated for data that is really there, so that a header that lies
// about the shape costs nothing.
package npy
