package nn

// DataParallel runs a module, as Python's class of that name does where there are no GPUs to share a batch between. Its
// state dict has "module." in front of each key, as files have that were saved from such a wrapper; to load these into
// the module itself, rename their keys.
// https://pytorch.org/docs/stable/generated/torch.nn.DataParallel.html
type DataParallel struct {
	Base
	Module Layer
}

// NewDataParallel wraps a module.
func NewDataParallel(module Layer) *DataParallel {
	refuseNil("module", module)
	return New(&DataParallel{Module: module})
}

// Forward is the wrapped module's.
func (d *DataParallel) Forward(x *Tensor) *Tensor { return d.Run(d, x, d.Module.Forward) }
