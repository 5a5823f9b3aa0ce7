package tensor

import "bytes"

// RunOnHost computes a call of an operator for another device with the operator's CPU kernel: it copies the storages of
// the arguments to the host, runs the kernel there, and copies what the kernel has written back. For backends that lack
// a kernel, and for tests.
func RunOnHost(c *Ctx) {
	if c.op.CPU == nil {
		c.Fail(ErrNotImpl, "%s has no kernel for the CPU either", c.op.full)
	}
	m := &mirrors{dev: c.dev, storages: map[*Storage]*mirror{}, tensors: map[*Tensor]*Tensor{}}
	h := ctxPool.Get().(*Ctx)
	h.op, h.mode, h.user = c.op, c.mode, m.user(c.user, m.host)
	h.inplace, h.copyBack, h.outForm = c.inplace, c.copyBack, c.outForm
	h.args = append(h.argBuf[:0], c.args...)
	for i := range h.args {
		switch v := &h.args[i]; v.K {
		case KTensor:
			v.T = m.host(v.T)
		case KTensors:
			v.X = m.list(v.X.([]*Tensor), m.host)
		}
	}
	h.given, h.outs = m.list(c.given, m.host), append(h.outBuf[:0], m.list(c.outs, m.host)...)
	c.op.CPU(h)
	m.writeBack()
	c.copyBack, c.ret, c.user = h.copyBack, h.ret, m.user(h.user, m.device)
	c.outs = append(c.outs[:0], m.list(h.outs, m.device)...)
	h.free()
}

// mirrors are the copies of one call.
type mirrors struct {
	dev      Device
	storages map[*Storage]*mirror
	tensors  map[*Tensor]*Tensor // by tensor on the device
}

// mirror is a copy of a storage on the host.
type mirror struct {
	st   *Storage
	orig []byte
}

// host is the mirror of a tensor. Views of one storage become views of one storage.
func (m *mirrors) host(t *Tensor) *Tensor {
	if t == nil || t.dev.Type == CPUDevice {
		return t
	}
	if h := m.tensors[t]; h != nil {
		return h
	}
	s := m.storages[t.st]
	if s == nil {
		s = &mirror{st: newStorage(t.st.n), orig: make([]byte, t.st.n)}
		if t.st.n > 0 {
			t.st.ext.b.Read(s.orig, t.st.Memory(), 0)
			copy(s.st.Bytes(), s.orig)
		}
		m.storages[t.st] = s
	}
	h := &Tensor{st: s.st, ver: &s.st.version, off: t.off, dt: t.dt,
		flags: t.flags & (flagWrapped | flagParam | lazyBits)}
	if t.RequiresGrad() {
		h.flags |= flagRequiresGrad
	}
	h.setDims(t.shape, t.stride)
	m.tensors[t] = h
	return h
}

// device is the tensor that a tensor of the kernel's stands for.
func (m *mirrors) device(h *Tensor) *Tensor {
	if h == nil {
		return nil
	}
	for t, x := range m.tensors {
		if x == h {
			return t
		}
	}
	for st, s := range m.storages {
		if s.st == h.st { // a new view of an argument
			t := &Tensor{st: st, ver: &st.version, off: h.off, dt: h.dt, dev: m.dev}
			t.setDims(h.shape, h.stride)
			return t
		}
	}
	t := NewOn(m.dev, h.shape, h.stride, h.dt)
	copyAcross(t, h)
	return t
}

func (m *mirrors) list(l []*Tensor, f func(*Tensor) *Tensor) []*Tensor {
	if l == nil {
		return nil
	}
	out := make([]*Tensor, len(l))
	for i, t := range l {
		out[i] = f(t)
	}
	return out
}

// user is what a kernel keeps for the gradient rule, with its tensors on the other side.
func (m *mirrors) user(x any, f func(*Tensor) *Tensor) any {
	switch x := x.(type) {
	case *Tensor:
		return f(x)
	case []*Tensor:
		return m.list(x, f)
	}
	return x
}

// writeBack copies the storages that the kernel has changed.
func (m *mirrors) writeBack() {
	for t, h := range m.tensors {
		if !SameShape(t.shape, h.shape) {
			t.resizeRaw(h.shape)
		}
		if !SameShape(t.stride, h.stride) {
			t.setDims(h.shape, h.stride)
		}
	}
	for st, s := range m.storages {
		now := s.st.Bytes()
		if !bytes.Equal(now[:len(s.orig)], s.orig) || len(now) > len(s.orig) {
			st.resize(len(now), []int{len(now)}, Uint8)
			st.ext.b.Write(st.Memory(), 0, now)
		}
		if v := s.st.version.Load(); v != 0 {
			st.version.Add(v)
		}
	}
}
