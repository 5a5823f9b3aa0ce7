package train

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// trainingDevice reads the value of --device. A device that this program lacks is an error that lists those it has.
func trainingDevice(name string) (torch.Device, error) {
	d, err := tensor.ParseDevice(name)
	switch {
	case err != nil:
		return d, fmt.Errorf("--device %s: %w", name, err)
	case d.Type == tensor.MetaDevice:
		return d, fmt.Errorf("--device %s: its tensors have no data, so that nothing can be learned there", name)
	}
	return d, nil
}

// to is the batch on a device.
func (b batch) to(d torch.Device) batch { return batch{b.x.To(d), b.y.To(d)} }

// onHost is a value for a file: tensors on other devices, also those in dictionaries and lists, are replaced by copies
// in host memory, so that the file can be read where there is no such device.
func onHost(v any) any {
	switch x := v.(type) {
	case *torch.Tensor:
		return x.CPU()
	case *torch.StateDict:
		out := &torch.StateDict{Metadata: x.Metadata}
		for k, t := range x.All() {
			out.Set(k, t.CPU())
		}
		return out
	case *serialize.Dict:
		out := serialize.NewDict()
		for k, e := range x.All() {
			out.Set(k, onHost(e))
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = onHost(e)
		}
		return out
	}
	return v
}
