// Package torchzip reads and writes the files of torch.save, without any notion
// of a tensor beyond its description.
//
// Since PyTorch 1.6 such a file is a zip archive whose members are stored
// uncompressed and aligned to 64 bytes, so that a program can map tensor data
// straight from the file:
//
//	name/data.pkl                 the object, pickled; tensors refer to storages by key
//	name/.format_version          "1"
//	name/.storage_alignment       "64"
//	name/byteorder                "little" or "big"
//	name/data/0, name/data/1, …   the bytes of the storages
//	name/version                  "3\n"
//	name/.data/serialization_id   a fingerprint of names and checksums
//
// [Load] gives the pickled value with *[TensorRef] in the place of tensors; the
// bytes of a storage stay in the file until [StorageRef.ReadInto] or
// [StorageRef.Bytes] asks for them. It also reads both formats that came before
// the zip container. [Save] and [SaveFile] write the file that PyTorch 2.15
// writes for the same value, down to the byte.
//
// Nothing in a file is ever executed: see package pickle. A file that lies about
// sizes, offsets or checksums gives an error.
//
// [Reader] and [Writer] give access to the members of the container by name;
// TorchScript archives use the same container with other members.
package torchzip
