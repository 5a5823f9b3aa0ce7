// Package second is a device for tests: importing it registers the backend "second", whose memory Go code cannot reach
// and whose kernels are the CPU's with copies around them. What runs on it unchanged keeps to the rules for other
// devices.
package second

import (
	"fmt"
	"sync/atomic"

	"github.com/gotorch-dev/torch/tensor"
)

// Device is the first device of this kind.
var Device = tensor.Device{Type: tensor.RegisterBackend("second", &backend{})}

// Runs counts the calls that were computed on the device.
func Runs() int { return int(runs.Load()) }

// Live is the number of bytes that are allocated and were not freed. Memory that the garbage collector has taken counts
// as allocated.
func Live() int { return int(live.Load()) }

var runs, live atomic.Int64

// poison hides the contents: whoever reads the bytes past the backend gets other numbers.
const poison = 0x5a

// block is the device's memory. Every byte is stored with its bits changed by poison.
type block struct{ hidden []byte }

type backend struct{}

func (*backend) Devices() int { return 2 }

func (*backend) Alloc(_ tensor.Device, n int) (tensor.DeviceMemory, error) {
	if n > 1<<34 {
		return nil, fmt.Errorf("the device has %d bytes", 1<<34)
	}
	live.Add(int64(n))
	b := &block{make([]byte, n)}
	for i := range b.hidden {
		b.hidden[i] = 0xff // NaN in all floating-point types once shown: memory is not cleared
	}
	return b, nil
}

func (*backend) Free(m tensor.DeviceMemory) {
	b := m.(*block)
	live.Add(-int64(len(b.hidden)))
	b.hidden = nil
}

func (*backend) Fill(m tensor.DeviceMemory, off, n int, v byte) {
	d := m.(*block).hidden[off:][:n]
	for i := range d {
		d[i] = v ^ poison
	}
}

func (*backend) Write(m tensor.DeviceMemory, off int, src []byte) {
	d := m.(*block).hidden[off:][:len(src)]
	for i, v := range src {
		d[i] = v ^ poison
	}
}

func (*backend) Read(dst []byte, m tensor.DeviceMemory, off int) {
	s := m.(*block).hidden[off:][:len(dst)]
	for i, v := range s {
		dst[i] = v ^ poison
	}
}

func (*backend) Copy(dst tensor.DeviceMemory, doff int, src tensor.DeviceMemory, soff, n int) {
	copy(dst.(*block).hidden[doff:][:n], src.(*block).hidden[soff:][:n])
}

func (*backend) Synchronize(tensor.Device) {}

func (*backend) Run(c *tensor.Ctx) {
	runs.Add(1)
	tensor.RunOnHost(c)
}
