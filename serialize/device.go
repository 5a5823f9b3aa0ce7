package serialize

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/internal/torchzip"
	"github.com/gotorch-dev/torch/tensor"
)

// LoadOptions are the options of the functions that read files.
type LoadOptions struct {
	// MapLocation says on which device a storage is to be, given the tag of the device that it was saved from ("cpu",
	// "cuda:0", "meta"). Where it is nil or answers false the storage goes to the device of its tag, which must be
	// there. It is map_location of torch.load.
	// https://pytorch.org/docs/stable/generated/torch.load.html
	MapLocation func(location string) (d tensor.Device, ok bool)
	// MMap maps a file into memory instead of reading it, as mmap=True of torch.load: opening a file of any size takes
	// milliseconds, and each page is read when it is first used. The tensors can be written to; the file stays as it
	// is. It must not be cut short while its tensors are in use. Checksums of the storages are not compared. Where a
	// file cannot be mapped (other systems than Linux, macOS and the BSDs) and for readers it is read; so is a storage
	// that is compressed or does not lie at a multiple of its elements' size.
	MMap bool
	// Entry says under which keys of a larger checkpoint LoadStateDict finds the state dict: {"state_dict"}, or
	// {"ema", "model"} for one two levels deep.
	Entry []string
}

// ToDevice is a MapLocation that puts everything on one device.
func ToDevice(d tensor.Device) func(location string) (tensor.Device, bool) {
	return func(string) (tensor.Device, bool) { return d, true }
}

// deviceOf finds the device for a storage of a file.
func (d *decoder) deviceOf(location string) (dev tensor.Device, err error) {
	if location == "" {
		location = "cpu"
	}
	if d.opts.MapLocation != nil {
		if dev, ok := d.opts.MapLocation(location); ok {
			return dev, tensor.Try(dev.Check)
		}
	}
	if dev, err = tensor.ParseDevice(location); err == nil {
		return dev, nil
	}
	kind, number, numbered := strings.Cut(location, ":")
	if !numbered {
		number = "0"
	}
	if _, missing := tensor.ParseDevice(kind); missing == nil {
		return dev, &tensor.Error{Err: tensor.ErrDevice,
			Msg: fmt.Sprintf("Attempting to deserialize object on %s device %s, which this machine does not have. "+
				"Please use LoadOptions.MapLocation (map_location) to map your storages to an existing device.",
				strings.ToUpper(kind), number)}
	}
	return dev, &tensor.Error{Err: tensor.ErrDevice,
		Msg: fmt.Sprintf("Attempting to deserialize object on a %s device but no such device is available: %v. "+
			"If you are running on a CPU-only machine, please use LoadOptions.MapLocation (map_location), such as "+
			"serialize.ToDevice(torch.CPU), "+
			"to map your storages to the CPU.", strings.ToUpper(kind), errors.Unwrap(err))}
}

// storage reads a storage and puts it on its device.
func (d *decoder) storage(r *torchzip.StorageRef) (st *tensor.Storage, err error) {
	if st = d.storages[r]; st != nil {
		return st, nil
	}
	n := int(r.NumBytes())
	// there is nothing to read: it stays a meta tensor, whatever it is mapped to, as in PyTorch
	if r.Location == "meta" {
		meta := tensor.Device{Type: tensor.MetaDevice}
		err := tensor.Try(func() { st = tensor.NewOn(meta, []int{n}, nil, tensor.Uint8).Storage() })
		if err == nil {
			d.storages[r] = st
		}
		return st, err
	}
	dev, err := d.deviceOf(r.Location)
	if err != nil {
		return nil, err
	}
	if st = d.lent(r, n); st == nil {
		if err := tensor.Try(func() { st = tensor.NewStorage(n) }); err != nil {
			return nil, err
		}
		if err := r.ReadInto(bytesOf(st)); err != nil {
			return nil, err
		}
	}
	if dev.Type != tensor.CPUDevice {
		host := tensor.FromStorage(st, tensor.Uint8, []int{n}, []int{1}, 0)
		if err := tensor.Try(func() { st = host.To(dev).Storage() }); err != nil {
			return nil, err
		}
	}
	d.storages[r] = st
	return st, nil
}

// lent is a storage in the mapped file itself, nil where that cannot be.
func (d *decoder) lent(r *torchzip.StorageRef, n int) *tensor.Storage {
	if d.mapped == nil || n == 0 {
		return nil
	}
	off, ok := r.Offset()
	if !ok || off < 0 || off > int64(len(d.mapped)-n) || off%16 != 0 && off%int64(r.ElementSize()) != 0 {
		return nil
	}
	return tensor.LentStorage(d.mapped[off : off+int64(n) : off+int64(n)])
}

// describe is a storage as the file has it: with the tag of its device, and the elements copied to the host.
func describe(st *tensor.Storage, dt torchzip.DType, size int) *torchzip.StorageRef {
	class := dt.StorageClass()
	if class == "UntypedStorage" { // of bytes
		size = 1
	}
	n := st.NumBytes() / size
	ref := &torchzip.StorageRef{DType: class, NumElements: n}
	switch dev := st.Device(); dev.Type {
	case tensor.CPUDevice:
		ref.Data = bytesOf(st)[:n*size]
	case tensor.MetaDevice:
		ref.Location = "meta"
	default:
		ref.Location = fmt.Sprintf("%s:%d", dev.Type, dev.Index)
		all := tensor.FromStorage(st, tensor.Uint8, []int{n * size}, []int{1}, 0)
		ref.Data = tensor.HostCopy(all).Storage().Bytes()[:n*size]
	}
	return ref
}

// bytesOf is a storage's memory for reading and writing within a call: unlike the slice that Bytes gives, it does not
// keep Tidy from freeing the memory at once.
func bytesOf(st *tensor.Storage) []byte {
	return tensor.Data[uint8](tensor.FromStorage(st, tensor.Uint8, []int{st.NumBytes()}, []int{1}, 0))
}
