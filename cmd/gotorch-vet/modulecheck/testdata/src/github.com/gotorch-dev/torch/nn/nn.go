// Package nn stands for the real one.
package nn

import "github.com/gotorch-dev/torch/tensor"

type Tensor = tensor.Tensor

type Base struct{ self Module }

func (b *Base) moduleBase() *Base { return b }

type Module interface{ moduleBase() *Base }

type Layer interface {
	Module
	Forward(x *Tensor) *Tensor
}

type Linear struct {
	Base
	Weight *Tensor
}

func (l *Linear) Forward(x *Tensor) *Tensor { return x }

type list struct{ mods []Module }

func (l *list) WalkOwn(child func(string, Module)) {}

type Sequential struct {
	Base
	list
}
