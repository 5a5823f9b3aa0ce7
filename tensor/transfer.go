package tensor

import "unsafe"

// This file moves elements between the host's memory and that of other devices.

// bytesOf sees the elements of a CPU tensor, from the first to the last one in memory, as bytes.
func (t *Tensor) bytesOf() []byte {
	if t.numel == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(Ptr(t)), storageLen(t.shape, t.stride)*t.dt.Size())
}

// HostCopy is a copy of t in the host's memory, with t's strides, from offset 0; not recorded. A tensor on the CPU is
// returned itself.
func HostCopy(t *Tensor) *Tensor {
	if t.dev.Type == CPUDevice {
		return t
	}
	if t.dev.Type == MetaDevice {
		Fail(ErrDevice, "Cannot copy out of meta tensor; no data!")
	}
	if witnesses.Load() != 0 {
		t.st.looked()
	}
	h := NewStrided(t.shape, t.stride, t.dt)
	h.flags = t.flags & lazyBits
	if b := h.bytesOf(); len(b) > 0 {
		m := t.st.Memory()
		t.st.ext.b.Read(b, m, t.off*t.dt.Size())
	}
	return h
}

// HostWrite writes the elements of h, a CPU tensor with t's shape, strides and dtype, over those of t, a tensor on
// another device. Where strides leave gaps between the elements, h must hold what lies there: it is made by HostCopy.
func HostWrite(t, h *Tensor) {
	if t.dev.Type == MetaDevice {
		return
	}
	if b := h.bytesOf(); len(b) > 0 {
		m := t.st.Memory()
		t.st.ext.b.Write(m, t.off*t.dt.Size(), b)
	}
}

// StorageOn is a copy of a storage on another device.
func StorageOn(s *Storage, d Device) *Storage {
	host := s
	if s.ext != nil {
		host = newStorage(s.n)
		s.ext.b.Read(host.Bytes(), s.Memory(), 0)
	}
	if d.Type == CPUDevice {
		if host == s {
			host = newStorage(s.n)
			copy(host.Bytes(), s.Bytes())
		}
		return host
	}
	n := newForeign(d, s.n)
	if d.Type != MetaDevice && s.n > 0 {
		n.ext.b.Write(n.Memory(), 0, host.Bytes())
	}
	return n
}

// copyAcross is copyRaw for tensors of which one at least is not on the CPU.
func copyAcross(dst, src *Tensor) {
	switch {
	case dst.dev.Type == MetaDevice:
	case src.dev.Type == MetaDevice:
		Fail(ErrDevice, "Cannot copy out of meta tensor; no data!")
	case dst.dev.Type == CPUDevice:
		copyRaw(dst, HostCopy(src))
	case src.dev == dst.dev:
		with(func(m *mode) { m.noGrad, m.layers = true, nil }, func() {
			k := NewCall(opCopy, 3)
			*k.Arg(0), *k.Arg(1), *k.Arg(2) = TensorValue(dst.Detach()), TensorValue(src.Detach()), BoolValue(false)
			k.Do1()
		})
	default:
		var h *Tensor
		if dst.IsDense() {
			h = NewStrided(dst.shape, dst.stride, dst.dt)
		} else {
			h = HostCopy(dst)
		}
		copyRaw(h, HostCopy(src))
		HostWrite(dst, h)
	}
}
