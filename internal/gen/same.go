package main

import (
	"strings"

	"github.com/gotorch-dev/torch/tensor"
)

// sameOperators finds the functions of torch.nn.functional that are operators under another name, as F.conv2d is
// aten::conv2d: there is one of the same name and overload, or with the overload "input", whose parameters have the
// same types and defaults. Their Go functions call the operator itself.
func sameOperators(defs []*def) map[*def]*tensor.Schema {
	aten := map[string]*tensor.Schema{}
	for _, d := range defs {
		if d.sch.Namespace == "aten" {
			aten[d.sch.Name+"."+d.sch.Overload] = d.sch
		}
	}
	same := map[*def]*tensor.Schema{}
	for _, d := range defs {
		if d.sch.Namespace != "F" {
			continue
		}
		for _, overload := range []string{d.sch.Overload, "input"} {
			if a := aten[d.sch.Name+"."+overload]; a != nil && sameCall(d.sch, a) {
				same[d] = a
				break
			}
		}
	}
	return same
}

func sameCall(f, a *tensor.Schema) bool {
	if len(f.Params) != len(a.Params) || len(f.Results) != len(a.Results) {
		return false
	}
	for i := range f.Params {
		p, q := &f.Params[i], &a.Params[i]
		if p.Kind != q.Kind || p.Optional != q.Optional || p.Writes != q.Writes || p.Required() != q.Required() ||
			defaultOf(p) != defaultOf(q) {
			return false
		}
	}
	return true
}

// defaultOf is the text of a default in which the elements of a list are written once where they are all the same: 1
// for [1, 1].
func defaultOf(p *tensor.Param) string {
	t := strings.Trim(p.DefText, "[]")
	if p.Kind == tensor.KInts {
		l := strings.Split(strings.ReplaceAll(t, " ", ""), ",")
		for _, x := range l {
			if x != l[0] {
				return t
			}
		}
		return l[0]
	}
	return strings.ReplaceAll(t, "'", "\"")
}
