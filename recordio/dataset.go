package recordio

import (
	"errors"
	"fmt"
	"os"
)

// A Dataset gives the records of an indexed file by position, decoded: the
// Len/Get pair that a data loader takes. Get is safe for any number of
// goroutines, so the loader's workers decode in parallel.
type Dataset[T any] struct {
	r      *IndexedReader
	decode func(record []byte) (T, error)
}

// NewDataset makes a dataset of r's records in the order of its index. decode
// turns one record into a sample; it is called from several goroutines at a time
// and may keep the slice it is given.
func NewDataset[T any](r *IndexedReader, decode func(record []byte) (T, error)) *Dataset[T] {
	return &Dataset[T]{r, decode}
}

// Len returns the number of records.
func (d *Dataset[T]) Len() int { return d.r.Len() }

// Get reads and decodes the i-th record of the index, 0 <= i < Len().
func (d *Dataset[T]) Get(i int) (T, error) {
	var zero T
	if i < 0 || i >= len(d.r.keys) {
		return zero, fmt.Errorf("recordio: dataset index %d, expected 0 to %d", i, len(d.r.keys)-1)
	}
	key := d.r.keys[i]
	b, err := d.r.ReadIdx(key)
	if err != nil {
		return zero, err
	}
	v, err := d.decode(b)
	if err != nil {
		off, _ := d.r.Offset(key)
		return zero, fmt.Errorf("recordio: record %d (key %d, offset %d): %w", i, key, off, err)
	}
	return v, nil
}

// Reader returns the file beneath the dataset.
func (d *Dataset[T]) Reader() *IndexedReader { return d.r }

// Close closes the file beneath the dataset.
func (d *Dataset[T]) Close() error { return d.r.Close() }

// ImageSample is one decoded image record.
type ImageSample struct {
	Header IRHeader
	Image  *Image
}

// OpenImages opens a .rec file of image records as a dataset, like
// gluon.data.vision.ImageRecordDataset. The index is looked for beside it (see
// [IndexPath]) and built in memory if there is none. iscolor is [Color] if not
// given.
func OpenImages(recPath string, iscolor ...ColorFlag) (*Dataset[ImageSample], error) {
	flag := Color
	if len(iscolor) > 0 {
		flag = iscolor[0]
	}
	r, err := OpenAuto(recPath)
	if err != nil {
		return nil, err
	}
	return NewDataset(r, func(record []byte) (ImageSample, error) {
		h, img, err := UnpackImg(record, flag)
		return ImageSample{h, img}, err
	}), nil
}

// OpenProto opens a file of SageMaker's protobuf records as a dataset. The index
// is built in memory if there is none beside it.
func OpenProto(recPath string) (*Dataset[*ProtoRecord], error) {
	r, err := OpenAuto(recPath)
	if err != nil {
		return nil, err
	}
	return NewDataset(r, ParseProto), nil
}

// OpenAuto opens a .rec file with the index beside it, or without one: then the
// file is walked once and its records get the keys 0, 1, 2 …. Under
// [ReaderOptions].SkipBad that walk leaves damaged records out.
func OpenAuto(recPath string, opts ...ReaderOptions) (*IndexedReader, error) {
	r, err := OpenIndexed(IndexPath(recPath), recPath, opts...)
	if err == nil || !errors.Is(err, os.ErrNotExist) {
		return r, err
	}
	rd, err := Open(recPath, opts...)
	if err != nil {
		return nil, err
	}
	entries, err := BuildIndex(rd)
	if err != nil {
		_ = rd.Close() // only read
		return nil, err
	}
	if err := rd.Reset(); err != nil {
		_ = rd.Close() // only read
		return nil, err
	}
	return NewIndexedReader(rd, entries)
}
