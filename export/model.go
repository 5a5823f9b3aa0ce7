package export

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// The types of this file are the messages of model.json, with PyTorch's names (torch/_export/serde/schema.py).

// programJSON is the whole file.
type programJSON struct {
	GraphModule graphModuleJSON      `json:"graph_module"`
	Opsets      map[string]int       `json:"opset_version"`
	Ranges      map[string]rangeJSON `json:"range_constraints"`
	Schema      versionJSON          `json:"schema_version"`
	Verifiers   []string             `json:"verifiers"`
	Torch       string               `json:"torch_version"`
	Guards      []string             `json:"guards_code"`
}

type versionJSON struct {
	Major int `json:"major"`
	Minor int `json:"minor"`
}

type rangeJSON struct {
	Min *json.Number `json:"min_val"`
	Max *json.Number `json:"max_val"`
}

type graphModuleJSON struct {
	Graph       graphJSON             `json:"graph"`
	Signature   signatureJSON         `json:"signature"`
	Calls       []moduleCallJSON      `json:"module_call_graph"`
	Metadata    map[string]string     `json:"metadata"`
	NamedTuples map[string]fieldsJSON `json:"treespec_namedtuple_fields"` // by the registered name
}

type fieldsJSON struct {
	Fields []string `json:"field_names"`
}

type graphJSON struct {
	Inputs  []argument                 `json:"inputs"`
	Outputs []argument                 `json:"outputs"`
	Nodes   []json.RawMessage          `json:"nodes"` // a nodeJSON each, read when it is translated
	Tensors map[string]json.RawMessage `json:"tensor_values"`
	Ints    map[string]json.RawMessage `json:"sym_int_values"`
	Bools   map[string]json.RawMessage `json:"sym_bool_values"`
	Single  bool                       `json:"is_single_tensor_return"`
	Objects map[string]json.RawMessage `json:"custom_obj_values"`
	Floats  map[string]json.RawMessage `json:"sym_float_values"`
}

type nodeJSON struct {
	Target   string            `json:"target"`
	Inputs   []namedArgument   `json:"inputs"`
	Outputs  []argument        `json:"outputs"`
	Metadata map[string]string `json:"metadata"`
	HOP      *bool             `json:"is_hop_single_tensor_return"`
	Name     string            `json:"name"`
}

// The kinds of arguments.
const (
	positional = 1
	keywordArg = 2
)

type namedArgument struct {
	Name string   `json:"name"`
	Arg  argument `json:"arg"`
	Kind int      `json:"kind"`
}

// argument is a union: one key, which says what the value is.
type argument struct {
	key string
	raw json.RawMessage
}

func (a *argument) UnmarshalJSON(b []byte) error {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	if len(m) != 1 {
		return fmt.Errorf("an argument with %d kinds, want one", len(m))
	}
	for k, v := range m {
		a.key, a.raw = k, v
	}
	return nil
}

func (a argument) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]json.RawMessage{a.key: a.raw})
}

// read reads the value of an argument.
func (a *argument) read(v any) error {
	if err := json.Unmarshal(a.raw, v); err != nil {
		return fmt.Errorf("%s: %w", a.key, err)
	}
	return nil
}

// arg makes an argument.
func arg(key string, v any) argument {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // the values are this package's own
	}
	return argument{key, b}
}

type nameJSON struct {
	Name string `json:"name"`
}

func tensorArg(name string) argument { return arg("as_tensor", nameJSON{name}) }

// number is a float, which stands in quotes when it is infinite or no number.
type number float64

func (n *number) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) != nil {
		s = string(b)
	}
	f, err := strconv.ParseFloat(s, 64)
	*n = number(f)
	return err
}

func (n number) MarshalJSON() ([]byte, error) {
	switch f := float64(n); {
	case math.IsInf(f, 1):
		return []byte(`"Infinity"`), nil
	case math.IsInf(f, -1):
		return []byte(`"-Infinity"`), nil
	case math.IsNaN(f):
		return []byte(`"NaN"`), nil
	case f == math.Trunc(f) && math.Abs(f) < 1e15:
		return strconv.AppendFloat(nil, f, 'f', 1, 64), nil
	default:
		return json.Marshal(f)
	}
}

type deviceJSON struct {
	Type  string `json:"type"`
	Index *int   `json:"index"`
}

type tensorMetaJSON struct {
	DType   int        `json:"dtype"`
	Sizes   []sizeJSON `json:"sizes"`
	Grad    bool       `json:"requires_grad"`
	Device  deviceJSON `json:"device"`
	Strides []sizeJSON `json:"strides"`
	Offset  sizeJSON   `json:"storage_offset"`
	Layout  int        `json:"layout"`
}

// sizeJSON is a SymInt: a number or an expression.
type sizeJSON struct {
	Expr *sizeExprJSON `json:"as_expr,omitempty"`
	Int  *int          `json:"as_int,omitempty"`
}

type sizeExprJSON struct {
	Text string    `json:"expr_str"`
	Hint *hintJSON `json:"hint"`
}

type hintJSON struct {
	Int *int `json:"as_int,omitempty"`
}

func sizeOfInt(n int) sizeJSON { return sizeJSON{Int: &n} }

type signatureJSON struct {
	Inputs  []argument `json:"input_specs"`
	Outputs []argument `json:"output_specs"`
}

// inputSpecJSON is what any kind of input_specs holds.
type inputSpecJSON struct {
	Arg        json.RawMessage `json:"arg"` // a name, or an argument for user_input
	Parameter  string          `json:"parameter_name,omitempty"`
	Buffer     string          `json:"buffer_name,omitempty"`
	Persistent *bool           `json:"persistent,omitempty"`
	Constant   string          `json:"tensor_constant_name,omitempty"`
	Object     string          `json:"custom_obj_name,omitempty"`
	Name       string          `json:"name,omitempty"` // of constant_input
	Value      *argument       `json:"value,omitempty"`
}

// outputSpecJSON is what any kind of output_specs holds.
type outputSpecJSON struct {
	Arg       json.RawMessage `json:"arg"`
	Buffer    string          `json:"buffer_name,omitempty"`
	Parameter string          `json:"parameter_name,omitempty"`
	Input     string          `json:"user_input_name,omitempty"`
}

type moduleCallJSON struct {
	FQN       string                   `json:"fqn"`
	Signature *moduleCallSignatureJSON `json:"signature"`
}

type moduleCallSignatureJSON struct {
	Inputs  []argument `json:"inputs"`
	Outputs []argument `json:"outputs"`
	In      string     `json:"in_spec"`
	Out     string     `json:"out_spec"`
	Names   []string   `json:"forward_arg_names"`
}

// payloadsJSON says where the tensors of the state dict, or the constants, are.
type payloadsJSON struct {
	Config map[string]*payloadJSON `json:"config"`
}

type payloadJSON struct {
	Path   string          `json:"path_name"`
	Param  bool            `json:"is_param"`
	Pickle bool            `json:"use_pickle"`
	Meta   *tensorMetaJSON `json:"tensor_meta"`
}
