package tensor

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// DeviceMemory is a block of memory as a backend knows it: only the backend looks inside.
type DeviceMemory any

// Backend owns the memory of one kind of device. Kernels for it are added with RegisterKernel; an operator without one
// runs its body, or, if the backend is a Runner, is left to Run. Offsets and sizes are in bytes. Methods may be called
// from several goroutines.
//
// The CPU's memory is not behind this interface: its storages are blocks of the allocator in internal/mem, which Go
// code reads in place.
type Backend interface {
	// Devices is the number of devices of this kind that the machine has.
	Devices() int
	// Alloc returns n bytes that are not cleared.
	Alloc(d Device, n int) (DeviceMemory, error)
	// Free gives memory back that nothing refers to any more. It is called at most once, and not at all for memory that
	// the garbage collector finds unreachable: a backend whose memory lies outside the Go heap attaches a cleanup.
	Free(m DeviceMemory)
	// Fill sets n bytes to one value.
	Fill(m DeviceMemory, off, n int, b byte)
	// Write copies from the host, Read to the host. Both return when the bytes have arrived.
	Write(m DeviceMemory, off int, src []byte)
	Read(dst []byte, m DeviceMemory, off int)
	// Copy copies within the devices of this kind.
	Copy(dst DeviceMemory, doff int, src DeviceMemory, soff, n int)
	// Synchronize waits for everything that was started on a device.
	Synchronize(d Device)
}

// Runner is a Backend that can compute operators for which it has no kernel of their own, as a backend does that falls
// back to another one.
type Runner interface {
	Backend
	// Run computes the outputs of a call whose shape rule has run.
	Run(c *Ctx)
}

// maxDeviceTypes is the number of kinds of device that a program can have.
const maxDeviceTypes = 16

// backendEntry is one kind of device.
type backendEntry struct {
	name string
	b    Backend // nil for the CPU, and where no driver is linked
}

var backends = struct {
	sync.Mutex
	list atomic.Pointer[[]backendEntry] // by DeviceType
}{}

func init() {
	backends.list.Store(&[]backendEntry{{name: "cpu"}, {name: "cuda"}, {name: "meta", b: metaBackend{}}})
}

// RegisterBackend makes a kind of device available under a name ("cuda"), as database/sql does with drivers: a package
// that is imported for this effect calls it in its init function. It panics when the name is taken.
func RegisterBackend(name string, b Backend) DeviceType {
	backends.Lock()
	defer backends.Unlock()
	old := *backends.list.Load()
	list := append([]backendEntry(nil), old...)
	for i := range list {
		if list[i].name == name {
			if list[i].b != nil || i == int(CPUDevice) {
				panic("tensor.RegisterBackend: there is a backend " + name + " already")
			}
			list[i].b = b
			backends.list.Store(&list)
			return DeviceType(i)
		}
	}
	if len(list) == maxDeviceTypes {
		panic("tensor.RegisterBackend: too many kinds of device")
	}
	list = append(list, backendEntry{name, b})
	backends.list.Store(&list)
	return DeviceType(len(list) - 1)
}

// BackendNames lists the kinds of device that this program has, the CPU first.
func BackendNames() []string {
	names := []string{"cpu"}
	for _, e := range *backends.list.Load() {
		if e.b != nil {
			names = append(names, e.name)
		}
	}
	return names
}

func (d DeviceType) entry() backendEntry {
	list := *backends.list.Load()
	if int(d) >= len(list) {
		return backendEntry{name: "device type " + strconv.Itoa(int(d))}
	}
	return list[d]
}

// String is the name of the kind of device: "cpu".
func (d DeviceType) String() string { return d.entry().name }

// backend is the backend of a device that is not the CPU; a device that is not there is an error.
func (d Device) backend() Backend {
	e := d.Type.entry()
	switch {
	case e.b == nil:
		Fail(ErrDevice, "device %s is not available in this program: no backend %q is linked (linked are %s)", d,
			e.name, strings.Join(BackendNames(), ", "))
	case int(d.Index) >= e.b.Devices() || d.Index < 0:
		Fail(ErrDevice, "device %s is not available: there are %d devices of this kind", d, e.b.Devices())
	}
	return e.b
}

// Check panics with ErrDevice when there is no such device.
func (d Device) Check() {
	if d.Type != CPUDevice {
		d.backend()
	}
}

// ParseDevice reads "cpu", "cuda", "cuda:1" or "meta", the names of torch.device. It is an error when the text is no
// such name or the device is not there.
func ParseDevice(s string) (Device, error) {
	d, err := DeviceNamed(s)
	if err != nil {
		return d, err
	}
	return d, Try(d.Check)
}

// DeviceNamed is ParseDevice for a device that need not be there: a program may compare it with others.
func DeviceNamed(s string) (Device, error) {
	name, num, numbered := strings.Cut(s, ":")
	var d Device
	if numbered {
		n, err := strconv.ParseInt(num, 10, 8)
		if err != nil || n < 0 {
			return d, &Error{Err: ErrDevice, Msg: fmt.Sprintf("Invalid device string: '%s'", s)}
		}
		d.Index = int8(n)
	}
	for i, e := range *backends.list.Load() {
		if e.name == name {
			d.Type = DeviceType(i)
			if d.Type == CPUDevice || d.Type == MetaDevice {
				d.Index = 0
			}
			return d, nil
		}
	}
	return d, &Error{Err: ErrDevice, Msg: fmt.Sprintf("Expected one of %s device type at start of device string: %s",
		strings.Join(BackendNames(), ", "), name)}
}

// NewOn returns an uninitialised tensor on a device, with the given strides in elements (nil: contiguous).
func NewOn(d Device, shape, stride []int, dt DType) *Tensor {
	if d.Type == CPUDevice {
		return NewStrided(shape, stride, dt)
	}
	n := storageSize(shape, stride, dt)
	s := newForeign(d, n)
	t := &Tensor{st: s, ver: &s.version, dt: dt, dev: d}
	t.setDims(shape, stride)
	return t
}

// foreign is the memory of a storage that lies on another device than the CPU.
type foreign struct {
	b   Backend
	mem DeviceMemory
	dev Device
}

func newForeign(d Device, n int) *Storage {
	b := d.backend()
	m, err := b.Alloc(d, n)
	if err != nil {
		Fail(ErrMemory, "%d bytes on device %s: %v", n, d, err)
	}
	s := &Storage{n: n, ext: &foreign{b, m, d}}
	s.bits.Store(stForeign)
	s.entered()
	return s
}

// Device is where the storage's memory lies.
func (s *Storage) Device() Device {
	if s.ext != nil {
		return s.ext.dev
	}
	return Device{}
}

// Memory is the block that a backend allocated for a storage of one of its devices, nil for the CPU. For kernels of the
// backend.
func (s *Storage) Memory() DeviceMemory {
	if s.bits.Load()&stReleased != 0 {
		s.panicReleased()
	}
	if s.ext == nil {
		return nil
	}
	return s.ext.mem
}

// noHostMemory panics: Go code asked for the memory of a storage that is not the CPU's.
func (s *Storage) noHostMemory() {
	d := s.ext.dev
	if d.Type == MetaDevice {
		Fail(ErrDevice, "a meta tensor has no data: only its shape, strides and dtype are known")
	}
	Fail(ErrDevice, "can't read the memory of a tensor on device %s from Go: use Tensor.CPU() to copy it to host "+
		"memory first.", d)
}

// findDevice is the device that a call runs on: the device of its tensors, or the one that a device argument names.
// Tensors of different devices are an error, but for the operators that copy between devices and for numbers on the
// CPU.
func (c *Ctx) findDevice() Device {
	op := c.op
	for i := range c.args {
		if t := c.args[i].T; t != nil {
			if t.dev.Type != CPUDevice {
				return c.mixedDevice()
			}
			c.unusual = c.unusual || t.unusual()
		}
	}
	if op.devArg >= 0 && (c.args[op.devArg].K != KNone || c.mode != nil && c.mode.hasDevice ||
		programDevice.Load() != nil) {
		return c.mixedDevice()
	}
	if op.lists {
		for i := range c.args {
			if c.args[i].K != KTensors {
				continue
			}
			for _, t := range c.args[i].X.([]*Tensor) {
				if t != nil {
					if t.dev.Type != CPUDevice {
						return c.mixedDevice()
					}
					c.unusual = c.unusual || t.unusual()
				}
			}
		}
	}
	for _, t := range c.given {
		if t.dev.Type != CPUDevice {
			return c.mixedDevice()
		}
		c.unusual = c.unusual || t.unusual()
	}
	return Device{}
}

func (c *Ctx) mixedDevice() Device {
	op := c.op
	var dev Device
	found, number := false, false
	if op.devArg >= 0 {
		dev, found = c.DeviceArg(op.devArg)
	}
	named := found
	see := func(t *Tensor) {
		if t != nil && t.unusual() {
			c.unusual = true
		}
		switch {
		case t == nil || named || t.flags&flagWrapped != 0 && t.dev.Type == CPUDevice:
		case !found || number && t.dev.Type != CPUDevice:
			dev, found = t.dev, true
			number = t.dev.Type == CPUDevice && len(t.shape) == 0 && !op.CrossDevice
		case t.dev == dev || op.CrossDevice || t.dev.Type == CPUDevice && len(t.shape) == 0:
		default:
			c.Fail(ErrDevice, "Expected all tensors to be on the same device, but found at least two devices, %s and "+
				"%s!", dev, t.dev)
		}
	}
	for i := range c.args {
		switch v := &c.args[i]; v.K {
		case KTensor:
			see(v.T)
		case KTensors:
			for _, t := range v.X.([]*Tensor) {
				see(t)
			}
		}
	}
	for _, t := range c.given {
		see(t)
	}
	if !found && op.devArg >= 0 {
		return DefaultDevice()
	}
	return dev
}

// DeviceArg is device argument i, a Device or its name, and whether it was given. A device that is not there is an
// error.
func (c *Ctx) DeviceArg(i int) (d Device, given bool) {
	switch x := c.args[i].X.(type) {
	case Device:
		x.Check()
		return x, true
	case string:
		d, err := ParseDevice(x)
		if err != nil {
			panic(err)
		}
		return d, true
	}
	return d, false
}

// Device is the device that the call runs on, in kernels and shape rules.
func (c *Ctx) Device() Device { return c.dev }

// kernelFor is the kernel of a device's backend, nil when there is none.
func (c *Ctx) kernelFor(d Device) func(c *Ctx) {
	if d.Type == CPUDevice {
		return c.op.CPU
	}
	return c.op.others[d.Type]
}

// hasKernel reports that a device's backend computes the operator in one go. The meta device runs bodies: they say what
// is computed.
func (c *Ctx) hasKernel(d Device) bool {
	if c.kernelFor(d) != nil {
		return true
	}
	if d.Type == CPUDevice || d.Type == MetaDevice {
		return false
	}
	_, ok := d.backend().(Runner)
	return ok
}

// foreignKernel computes the outputs on a device that is not the CPU.
func (c *Ctx) foreignKernel() {
	if k := c.kernelFor(c.dev); k != nil {
		k(c)
		return
	}
	if c.dev.Type != CPUDevice {
		if r, ok := c.dev.backend().(Runner); ok {
			r.Run(c)
			return
		}
	}
	c.Fail(ErrNotImpl, "Could not run '%s' with arguments from the '%s' backend", c.op.full, c.dev.Type)
}

// metaBackend is PyTorch's meta device: tensors have a shape, strides and a dtype, and no memory.
// https://pytorch.org/docs/stable/meta.html
type metaBackend struct{}

func (metaBackend) Devices() int                            { return 1 }
func (metaBackend) Alloc(Device, int) (DeviceMemory, error) { return nil, nil }
func (metaBackend) Free(DeviceMemory)                       {}
func (metaBackend) Fill(DeviceMemory, int, int, byte)       {}
func (metaBackend) Write(DeviceMemory, int, []byte)         {}
func (metaBackend) Copy(DeviceMemory, int, DeviceMemory, int, int) {
}
func (metaBackend) Synchronize(Device) {}

func (metaBackend) Read([]byte, DeviceMemory, int) {
	Fail(ErrDevice, "Cannot copy out of meta tensor; no data!")
}

// Run has nothing to compute: the shape rule has said it all, unless sizes depend on the data.
func (metaBackend) Run(c *Ctx) {
	tensors := 0
	for _, r := range c.op.Sch.Results {
		if r.Kind != KTensor && r.Kind != KTensors {
			c.Fail(ErrDevice, "Cannot run %s on meta tensors: its result is a value that depends on their elements",
				c.op.full)
		}
		tensors++
	}
	if len(c.outs) < tensors {
		c.Fail(ErrNotImpl, "Cannot run %s on meta tensors: the size of its result depends on their elements", c.op.full)
	}
}
