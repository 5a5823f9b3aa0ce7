package tensor

import (
	"fmt"
	"slices"
	"strings"
)

// Form is one operator among those that a Def gives: the one that its schema declares, or one derived from it.
type Form struct {
	Schema *Schema
	// Alias counts the Def's Aliases from 1; 0 is the name that the Def's schema gives.
	Alias int
	// InPlace and Out tell the variants.
	InPlace, Out bool
	// Number is the parameter that is a number here and a tensor in the Def's schema, -1 in other forms.
	Number int

	suffix string // the derived part of the name before FormNames is asked: the same for all aliases
}

// FormsOf derives the forms of a Def, each name's functional form first. The names of derived forms follow the rule
// that PyTorch mostly follows (add.Tensor gives add.Scalar, add_.Tensor, add_.Scalar, add.out and add.Scalar_out);
// FormNames holds the exceptions.
func FormsOf(d *Def) ([]Form, error) {
	sch, err := ParseSchema(d.Schema)
	if err != nil {
		return nil, err
	}
	number := -1
	if d.Scalar != "" {
		if number = sch.Index(d.Scalar); number < 0 {
			return nil, fmt.Errorf("schema %q: Scalar names no parameter", d.Schema)
		}
	}
	names, unused, err := parseFormNames(d.FormNames)
	if err != nil {
		return nil, fmt.Errorf("schema %q: %w", d.Schema, err)
	}
	var forms []Form
	for i, name := range append([]string{sch.Name}, d.Aliases...) {
		s := sch.clone()
		if ns, rest, ok := strings.Cut(name, "::"); ok { // a Python function: it has no derived forms
			s.Namespace, s.Name = ns, rest
			forms = append(forms, Form{Schema: s, Alias: i, Number: number})
			continue
		}
		s.Name = name
		declaredInPlace := len(s.Params) > 0 && s.Params[0].Writes // as copy_ is
		add := func(f Form) {
			f.Alias = i
			f.suffix = strings.TrimPrefix(f.Schema.FullName(), f.Schema.Namespace+"::"+name)
			f.Schema.Name = name
			for _, key := range []string{name + f.suffix, f.suffix} {
				if to, ok := names[key]; ok {
					delete(unused, key)
					if to.none {
						return
					}
					f.Schema.Overload = to.overload
					for k, arg := range to.args {
						f.Schema.Params[len(f.Schema.Params)-len(to.args)+k].Name = arg
					}
					break
				}
			}
			if f.InPlace && f.Schema.Name == name && !declaredInPlace {
				f.Schema.Name += "_"
			}
			forms = append(forms, f)
		}
		functional := []Form{{Schema: s, Number: -1, InPlace: declaredInPlace}}
		if d.Scalar != "" {
			functional = append(functional, Form{Schema: numberForm(s, number), Number: number})
		}
		for _, f := range functional {
			add(Form{Schema: f.Schema.clone(), Number: f.Number, InPlace: f.InPlace})
		}
		if d.InPlace && !strings.HasPrefix(name, "special_") { // torch.special has no functions that write in place
			for _, f := range functional {
				add(Form{Schema: inPlaceForm(f.Schema), Number: f.Number, InPlace: true})
			}
		}
		if d.Out {
			for _, f := range functional {
				add(Form{Schema: outForm(f.Schema), Number: f.Number, Out: true})
			}
		}
	}
	for key := range unused {
		return nil, fmt.Errorf("schema %q: FormNames renames %q, which is no form", d.Schema, key)
	}
	return forms, nil
}

// formName is what FormNames says about one form.
type formName struct {
	none     bool
	overload string
	args     []string // of the out arguments
}

// parseFormNames reads entries such as ".out=.dim_max(max,max_values)", "_.Tensor_Tensor=_.Tensor" and
// "divide.Scalar_out=-".
func parseFormNames(text string) (names map[string]formName, unused map[string]bool, err error) {
	if text == "" {
		return nil, nil, nil
	}
	names, unused = map[string]formName{}, map[string]bool{}
	for _, entry := range strings.Fields(text) {
		from, to, ok := strings.Cut(entry, "=")
		if !ok {
			return nil, nil, fmt.Errorf("cannot read FormNames %q", entry)
		}
		var n formName
		if to == "-" {
			n.none = true
		} else {
			name, args, has := strings.Cut(strings.TrimSuffix(to, ")"), "(")
			if has {
				n.args = strings.Split(args, ",")
			}
			n.overload = strings.TrimPrefix(strings.TrimPrefix(name, "_"), ".")
		}
		names[from], unused[from] = n, true
	}
	return names, unused, nil
}

func (s *Schema) clone() *Schema {
	c := *s
	c.Params, c.Results = slices.Clone(s.Params), slices.Clone(s.Results)
	return &c
}

// numberForm is a schema with a number for parameter i. PyTorch's add.Scalar and sub.Scalar take alpha by position too.
func numberForm(s *Schema, i int) *Schema {
	n := s.clone()
	n.Params[i].Kind = KScalar
	for k := range n.Params {
		if n.Params[k].Name == "alpha" {
			n.Params[k].KwOnly = false
		}
	}
	switch {
	case s.Overload == "Tensor" || s.Overload == "":
		n.Overload = "Scalar"
	case strings.Contains(s.Overload, "Tensor"):
		n.Overload = strings.Replace(s.Overload, "Tensor", "Scalar", 1)
	default:
		n.Overload += "_Scalar"
	}
	return n
}

// inPlaceForm is a schema that writes to its first argument, which PyTorch then calls self.
func inPlaceForm(s *Schema) *Schema {
	n := s.clone()
	n.Name += "_"
	n.Params[0].Name, n.Params[0].Writes, n.Params[0].Alias = "self", true, "a!"
	n.Results[0].Alias = "a!"
	return n
}

// outForm is a schema whose results are given as arguments. They bring their dtype and device with them: the options of
// functions that create tensors fall away.
func outForm(s *Schema) *Schema {
	n := s.clone()
	if at := n.options(); at >= 0 {
		n.Params = slices.Delete(n.Params, at, at+numOptions)
	}
	switch s.Overload {
	case "", "Tensor":
		n.Overload = "out"
	default:
		n.Overload += "_out"
	}
	for i := range n.Results {
		r := &n.Results[i]
		name := "out"
		if len(n.Results) > 1 {
			if name = r.Name; name == "" {
				name = fmt.Sprintf("out%d", i)
			}
		}
		r.Alias = string(rune('a'+i)) + "!"
		n.Params = append(n.Params, Param{Name: name, Kind: KTensor, KwOnly: true, Writes: true, Alias: r.Alias})
	}
	return n
}

// numOptions is the number of parameters that say what tensor to create: dtype, layout, device and pin_memory, in this
// order.
const numOptions = 4

// options is the place of the parameters dtype, layout, device and pin_memory, -1 without.
func (s *Schema) options() int {
	at := s.Index("dtype")
	if at >= 0 && s.Index("layout") == at+1 && s.Index("device") == at+2 && s.Index("pin_memory") == at+3 {
		return at
	}
	return -1
}
