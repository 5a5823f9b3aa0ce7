// Package recordio reads and writes MXNet's RecordIO files (.rec), their
// text indexes (.idx), the image records packed into them and the protobuf
// records that SageMaker stores in the same container.
//
// Five names carry most of the package:
//
//   - [Reader] and [Writer] walk or produce a .rec file in order.
//   - [IndexedReader] and [IndexedWriter] add the .idx file: random access by
//     integer key, safe for any number of goroutines.
//   - [IRHeader] with [Pack], [Unpack], [PackImg] and [UnpackImg] is what MXNet
//     puts into a record: label(s), two ids and an encoded image.
//   - [Dataset] turns an indexed file into Len/Get for a data loader; decoding
//     happens in Get and therefore in the loader's workers.
//   - [ProtoRecord] is one SageMaker RecordIO-protobuf record.
//
// # File layout
//
// A record is one or more parts. Each part is the little-endian word
// 0xced7230a, a second word holding a 3-bit continuation flag and a 29-bit
// length, the bytes, and zero padding up to a multiple of four:
//
//	flag 0  the whole record
//	flag 1  first part,  flag 2  middle part,  flag 3  last part
//
// A record is split exactly where the magic word occurs in its payload at a
// multiple of four from the start; the word itself is not stored and comes
// back between two parts. So no aligned word of a file equals the magic except
// at a header, which is what makes recovery after damage possible.
//
// # Differences from MXNet
//
// MXNet aborts the process on a damaged file; here every failure is a
// [CorruptError] with the byte offset, and [ReaderOptions].SkipBad goes on with
// the next readable record, also where lost or added bytes have moved all later
// headers off their multiples of four. A length that covers another record is
// damage too. MXNet accepts any continuation flag in any order;
// here a sequence no writer produces is an error. JPEG and PNG files written by
// [PackImg] hold the same pictures as OpenCV's but not the same bytes, because
// the encoders differ; payloads stored as they are ([Pack], im2rec
// --pass-through) are byte-identical.
package recordio
