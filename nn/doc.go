// Package nn holds the building blocks of networks: layers, containers, losses, and what works on any module.
//
// A module is a pointer to a struct that embeds Base and has a Forward method. Its parameters are its fields that hold
// tensors made by NewParameter, its buffers those tagged `torch:",buffer"`, its children those that are modules, or
// slices of modules. Nothing is registered: the fields are walked when they are needed. The name of a field in the
// state dict is the field's name in snake_case (InProjWeight is in_proj_weight, FC1 is fc1); a tag `torch:"name"` gives
// another one, `torch:"-"` hides the field.
//
//	type Net struct {
//		nn.Base
//		Conv1 *nn.Conv2d
//		FC    *nn.Linear
//	}
//
//	net := nn.New(&Net{Conv1: nn.NewConv2d(1, 32, 3), FC: nn.NewLinear(128, 10)})
package nn
