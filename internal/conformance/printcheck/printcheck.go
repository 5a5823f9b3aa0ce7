// Package printcheck compares the text of tensors, modules and other objects with Python's, to the byte.
package printcheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/conformance/opcheck"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// Options choose what runs.
type Options struct {
	Only    *regexp.Regexp
	Verbose func(format string, args ...any)
	// Module checks one record of the modules; nil when there are no modules. ok is false when the class is not there.
	Module func(d *golden.Decoder, raw json.RawMessage) (ok bool, err error)
	// Object is what Python shows of the value of an expression; nil when there is no Python.
	Object func(expression string) (string, error)
}

type tensorRecord struct {
	ID    int
	Note  string
	Value json.RawMessage
	Expr  *struct {
		Op     string
		Args   []json.RawMessage
		Kwargs json.RawMessage
	}
	Parameter    bool
	Options      map[string]any
	DefaultDType string `json:"default_dtype"`
	Text         string
}

// Run checks dir's index.json.
func Run(dir string, o Options) ([]golden.Result, error) {
	var index struct {
		Tensors []tensorRecord
		Objects []struct{ What, Text string }
		Modules []json.RawMessage
	}
	if err := golden.ReadJSON(filepath.Join(dir, "index.json"), &index); err != nil {
		return nil, err
	}
	d, err := golden.NewDecoder(filepath.Join(dir, "print.npz"))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	d.Sizes = true
	t := &golden.Tally{Verbose: o.Verbose}
	count := func(name, id, what string, ok bool, err error) {
		switch {
		case err != nil && !ok:
			err = golden.Skip(fmt.Sprintf("(%s) %v", what, err))
		case err != nil:
			err = fmt.Errorf("(%s) %w", what, err)
		}
		t.Add(name, id, err)
	}
	for i := range index.Tensors {
		r := &index.Tensors[i]
		if o.Only == nil || o.Only.MatchString("tensors") || o.Only.MatchString(r.Note) {
			ok, err := checkTensor(d, r)
			count("tensors", strconv.Itoa(r.ID), r.Note, ok, err)
		}
	}
	if o.Only == nil || o.Only.MatchString("objects") {
		for i, r := range index.Objects {
			got, ok, err := object(r.What, o)
			if err == nil {
				err = equal(got, r.Text)
			}
			count("objects", strconv.Itoa(i), r.What, ok, err)
		}
	}
	if o.Only == nil || o.Only.MatchString("modules") {
		for i, m := range index.Modules {
			if o.Module == nil {
				count("modules", strconv.Itoa(i), "module", false, fmt.Errorf("no modules"))
				continue
			}
			ok, err := try(func() (bool, error) { return o.Module(d, m) })
			count("modules", strconv.Itoa(i), "module", ok, err)
		}
	}
	return t.Results(), nil
}

func equal(got, want string) error {
	if got != want {
		return fmt.Errorf("got\n%s\nwant\n%s", got, want)
	}
	return nil
}

func try(f func() (bool, error)) (ok bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			ok, err = true, golden.Recovered(r)
		}
	}()
	return f()
}

func checkTensor(d *golden.Decoder, r *tensorRecord) (bool, error) {
	return try(func() (bool, error) {
		d.Reset()
		var t *tensor.Tensor
		if r.Expr != nil {
			args, err := d.Args(r.Expr.Args)
			if err != nil {
				return true, err
			}
			kwargs, err := d.Kwargs(r.Expr.Kwargs)
			if err != nil {
				return true, err
			}
			t, err = opcheck.CallTensor([]string{"torch::" + r.Expr.Op, "aten::" + r.Expr.Op, "F::" + r.Expr.Op}, args,
				kwargs)
			if err != nil {
				return false, err
			}
		} else {
			v, err := d.Decode(r.Value)
			if err != nil {
				return true, err
			}
			if u, ok := v.(golden.Unsupported); ok {
				return false, fmt.Errorf("not supported: %s", string(u))
			}
			t = v.(*tensor.Tensor)
		}
		if r.Parameter {
			t.SetParameter()
		}
		if r.Options != nil {
			defer tensor.SetPrintOptions(tensor.SetPrintOptions(options(r.Options)))
		}
		if r.DefaultDType != "" {
			defer tensor.SetDefaultDType(tensor.DefaultDType())
			tensor.SetDefaultDType(dtype.Parse(r.DefaultDType))
		}
		if t.Device().Type == tensor.MetaDevice {
			return false, fmt.Errorf("the elements are not there")
		}
		text := t.String()
		if t.Device() != (tensor.Device{}) { // what is recorded was printed on the CPU
			text = strings.Join(strings.Fields(onCPU.ReplaceAllString(text, "")), " ")
			return true, equal(text, strings.Join(strings.Fields(r.Text), " "))
		}
		return true, equal(text, r.Text)
	})
}

// onCPU matches what a tensor on another device prints more than one on the CPU does, also where a line was broken for
// it. Lines may be broken elsewhere then, and are not compared.
var onCPU = regexp.MustCompile(`,\s+device='\w+:\d+'|device='\w+:\d+', `)

func options(m map[string]any) tensor.PrintOptions {
	var o tensor.PrintOptions
	for key, dst := range map[string]*tensor.Opt[int]{"precision": &o.Precision, "threshold": &o.Threshold,
		"edgeitems": &o.EdgeItems, "linewidth": &o.LineWidth} {
		if f, ok := m[key].(float64); ok {
			*dst = tensor.Some(int(f))
		}
	}
	if b, ok := m["sci_mode"].(bool); ok {
		o.SciMode = tensor.Some(b)
	}
	switch m["profile"] {
	case "default":
		o.Profile = tensor.DefaultProfile
	case "short":
		o.Profile = tensor.ShortProfile
	case "full":
		o.Profile = tensor.FullProfile
	}
	return o
}

// object is the text of what an expression stands for, or of one of the things that the data describe in words.
func object(what string, o Options) (string, bool, error) {
	one := tensor.FromSlice([]float32{1}, []int{}...)
	switch what {
	case "torch.Generator() device":
		return fmt.Sprint(tensor.Device{}), true, nil
	case "list of tensors":
		return serialize.Repr([]any{one, tensor.FromSlice([]int64{2, 3})}), true, nil
	case "dict of tensors":
		d := serialize.NewDict()
		d.Set("a", one)
		return serialize.Repr(d), true, nil
	}
	if o.Object == nil {
		return "", false, errors.New("no objects")
	}
	text, err := o.Object(what)
	var skip golden.Skip
	return text, !errors.As(err, &skip), err
}
